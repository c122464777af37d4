use core::ops::Range;

use super::{Dims, View, signed};
use crate::ViewError;

impl View {
    /// Keeps a box: `ranges[d]` of each dimension, which starts at index 0 again.
    ///
    /// # Errors
    /// [`ViewError::Rank`] or [`ViewError::Range`] if the box is not within the shape.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// let view = View::contiguous(&[4, 5])?.shrink(&[1..3, 2..5])?;
    /// assert_eq!((view.shape(), view.offset()), (&[2, 3][..], 7));
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    pub fn shrink(&self, ranges: &[Range<usize>]) -> Result<Self, ViewError> {
        self.check_rank(ranges.len())?;
        for (axis, (range, &size)) in ranges.iter().zip(&self.shape).enumerate() {
            let &Range { start, end } = range;
            if start > end || end > size {
                return Err(ViewError::Range { axis, start, end, size });
            }
        }
        let shape: Dims<usize> = ranges.iter().map(|range| range.end - range.start).collect();
        if shape.contains(&0) {
            return Ok(Self::without_elements(shape));
        }
        if self.is_masked_out() {
            return Ok(Self::masked_out(shape));
        }
        let mask = self.mask.as_ref().map(|mask| -> Dims<(usize, usize)> {
            let cut = |(range, &(lo, hi)): (&Range<usize>, &(usize, usize))| {
                let lo = lo.clamp(range.start, range.end);
                (lo - range.start, hi.clamp(lo, range.end) - range.start)
            };
            ranges.iter().zip(mask).map(cut).collect()
        });
        let mut offset = self.offset;
        for (range, &stride) in ranges.iter().zip(&self.strides) {
            let moved = signed(range.start).checked_mul(stride);
            offset = moved.and_then(|moved| offset.checked_add(moved)).ok_or(ViewError::Offset)?;
        }
        Self::build(shape, self.strides.clone(), offset, mask)
    }
}
