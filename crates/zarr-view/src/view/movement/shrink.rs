use core::ops::Range;

use crate::ViewError;
use crate::view::{Dims, View, signed};

impl View {
    /// Keeps a box: the indices `ranges[d]` of each dimension, renumbered from 0.
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
        let Some(mask) = &self.mask else { return Ok(self.full_box(shape, ranges)) };
        let mask: Dims<(usize, usize)> = {
            let cut = |(range, &(lo, hi)): (&Range<usize>, &(usize, usize))| {
                let lo = lo.clamp(range.start, range.end);
                (lo - range.start, hi.clamp(lo, range.end) - range.start)
            };
            ranges.iter().zip(mask).map(cut).collect()
        };
        let mut offset = self.offset;
        for (range, &stride) in ranges.iter().zip(&self.strides) {
            let moved = signed(range.start).checked_mul(stride);
            offset = moved.and_then(|moved| offset.checked_add(moved)).ok_or(ViewError::Offset)?;
        }
        Self::build(shape, self.strides.clone(), offset, Some(mask))
    }

    /// A non-empty box of a view without a mask. The result is the same as from `build`, but
    /// without its checks: all positions are among the view's.
    fn full_box(&self, shape: Dims<usize>, ranges: &[Range<usize>]) -> Self {
        let axes = ranges.iter().zip(&self.strides);
        // Partial sums may wrap; the position of the first index does not (invariant 2).
        let offset = axes.fold(self.offset, |offset, (range, &stride)| {
            offset.wrapping_add(signed(range.start).wrapping_mul(stride))
        });
        let axes = shape.iter().zip(&self.strides);
        let strides = axes.map(|(&size, &stride)| if size == 1 { 0 } else { stride }).collect();
        Self { shape, strides, offset, mask: None }
    }
}
