use crate::ViewError;
use crate::view::View;

impl View {
    /// Reverses one dimension.
    ///
    /// # Errors
    /// [`ViewError::Axis`], and [`ViewError::Offset`] in the rare case that the offset of a masked
    /// view cannot be represented.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// let view = View::contiguous(&[4])?.flip(0)?;
    /// assert_eq!((view.strides(), view.offset()), (&[-1][..], 3));
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    pub fn flip(&self, axis: usize) -> Result<Self, ViewError> {
        self.check_axis(axis)?;
        let size = self.shape[axis];
        let last = crate::view::signed(size).saturating_sub(1);
        self.restride(axis, size, last, -1)
    }
}
