use crate::ViewError;
use crate::view::View;

impl View {
    /// Repeats dimensions of size 1 so that the result has `shape`, of the same rank.
    ///
    /// Dimensions that keep their size stay as they are. To repeat along a new dimension, reshape
    /// first.
    ///
    /// # Errors
    /// [`ViewError::Expand`] if a size other than 1 changes; [`ViewError::Rank`] if the rank
    /// differs; [`ViewError::TooLarge`] if the sizes multiply to more than `isize::MAX`.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// let view = View::contiguous(&[1, 3])?.expand(&[2, 3])?;
    /// assert_eq!(view.strides(), [0, 1]);
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    pub fn expand(&self, shape: &[usize]) -> Result<Self, ViewError> {
        self.check_rank(shape.len())?;
        for (axis, (&size, &wanted)) in self.shape.iter().zip(shape).enumerate() {
            if size != wanted && size != 1 {
                return Err(ViewError::Expand { axis, size, wanted });
            }
        }
        if crate::view::count_elements(shape)? == 0 {
            return Ok(Self::without_elements(shape.into()));
        }
        if self.is_masked_out() {
            return Ok(Self::masked_out(shape.into()));
        }
        let mut mask = self.mask.clone();
        if let Some(mask) = &mut mask {
            for (valid, (&size, &wanted)) in mask.iter_mut().zip(self.shape.iter().zip(shape)) {
                // A view that is not masked out has (0, 1) in a dimension of size 1.
                if size != wanted {
                    *valid = (0, wanted);
                }
            }
        }
        // Size 1 has stride 0 already (invariant 3), and no position is new.
        Ok(Self { shape: shape.into(), strides: self.strides.clone(), offset: self.offset, mask })
    }
}
