use super::{Dims, View};
use crate::ViewError;

impl View {
    /// The view that reads the same elements in the same C order, in another shape; `None` if no
    /// single view does.
    ///
    /// The answer is complete: if a view of `shape` exists with these elements and with masked
    /// ones at the same places, it is returned. If the answer is `None`, use
    /// [`ViewStack`](crate::ViewStack) or [`common_shape`](crate::common_shape).
    /// The method is one pass over the old dimensions and one over the new ones; `docs/view.md`
    /// proves that it is complete.
    ///
    /// # Errors
    /// [`ViewError::Elements`] if the shapes hold different numbers of elements,
    /// [`ViewError::TooLarge`], and [`ViewError::Offset`] in the rare case that the offset of a
    /// masked view cannot be represented.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// let view = View::contiguous(&[4, 6])?.permute(&[1, 0])?;
    /// let split = view.reshape(&[2, 3, 4])?.expect("an axis can always be split");
    /// assert_eq!(split.strides(), [3, 1, 6]);
    /// assert_eq!(view.reshape(&[8, 3])?, None);
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    ///
    /// # Spec
    /// The proof sketched in tinygrad's pull request 2218, with the missing part added (SD-62).
    pub fn reshape(&self, shape: &[usize]) -> Result<Option<Self>, ViewError> {
        let (expected, found) = (self.len(), super::count_elements(shape)?);
        if expected != found {
            return Err(ViewError::Elements { expected, found });
        }
        if found == 0 {
            return Ok(Some(Self::without_elements(shape.into())));
        }
        if self.mask.is_some() && self.is_masked_out() {
            return Ok(if shape.is_empty() { None } else { Some(Self::masked_out(shape.into())) });
        }
        self.progressions().realize(Dims::from_slice(shape))
    }
}
