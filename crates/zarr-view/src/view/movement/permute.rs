use crate::ViewError;
use crate::view::{Dims, View};

impl View {
    /// Reorders the dimensions: dimension `d` of the result is dimension `order[d]` of `self`.
    ///
    /// This is `numpy.transpose(a, order)`, and the encoding map of the `transpose` codec.
    ///
    /// # Errors
    /// If `order` does not name each axis exactly once.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// let view = View::contiguous(&[2, 3, 4])?.permute(&[2, 0, 1])?;
    /// assert_eq!((view.shape(), view.strides()), (&[4, 2, 3][..], &[1, 12, 4][..]));
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    pub fn permute(&self, order: &[usize]) -> Result<Self, ViewError> {
        self.check_rank(order.len())?;
        let mut seen: Dims<bool> = Dims::repeat(false, self.rank());
        for &axis in order {
            self.check_axis(axis)?;
            if core::mem::replace(&mut seen[axis], true) {
                return Err(ViewError::RepeatedAxis { axis });
            }
        }
        Ok(Self {
            shape: order.iter().map(|&axis| self.shape[axis]).collect(),
            strides: order.iter().map(|&axis| self.strides[axis]).collect(),
            offset: self.offset,
            mask: self.mask.as_ref().map(|mask| order.iter().map(|&axis| mask[axis]).collect()),
        })
    }
}
