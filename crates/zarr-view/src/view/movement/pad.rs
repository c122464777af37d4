use crate::ViewError;
use crate::view::{Dims, View, signed};

impl View {
    /// Adds masked indices: `margins[d].0` before and `margins[d].1` after each dimension.
    ///
    /// # Errors
    /// If the padded shape is too large, or its offset, which may be negative, too far from zero.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// let view = View::contiguous(&[3])?.pad(&[(2, 1)])?;
    /// assert_eq!((view.shape(), view.offset()), (&[6][..], -2));
    /// assert_eq!(view.mask(), Some(&[(2, 5)][..]));
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    pub fn pad(&self, margins: &[(usize, usize)]) -> Result<Self, ViewError> {
        self.check_rank(margins.len())?;
        let mut shape = self.shape.clone();
        for (axis, (size, &(before, after))) in shape.iter_mut().zip(margins).enumerate() {
            let padded = size.checked_add(before).and_then(|size| size.checked_add(after));
            *size = padded.ok_or(ViewError::TooLarge { axis })?;
        }
        crate::view::count_elements(&shape)?;
        if self.is_masked_out() {
            return Ok(if shape.contains(&0) {
                Self::without_elements(shape)
            } else {
                Self::masked_out(shape)
            });
        }
        let mut offset = self.offset;
        let mut mask = Dims::new();
        for (axis, &(before, _)) in margins.iter().enumerate() {
            let (lo, hi) = self.valid(axis);
            mask.push((lo + before, hi + before));
            let moved = signed(before).checked_mul(self.strides[axis]);
            offset = moved.and_then(|moved| offset.checked_sub(moved)).ok_or(ViewError::Offset)?;
        }
        Self::build(shape, self.strides.clone(), offset, Some(mask))
    }
}
