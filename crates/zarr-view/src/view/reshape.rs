use super::{Dims, View};
use crate::ViewError;

impl View {
    /// The view that reads the same elements in the same C order, in another shape; `None` if no
    /// single view does.
    ///
    /// The answer is complete: whenever a view of `shape` with these elements exists, masked ones
    /// at the same places, it is returned. Where the answer is `None`,
    /// [`ViewStack`](crate::ViewStack) and [`common_shape`](crate::common_shape) do without it.
    ///
    /// The method is one pass over the old dimensions and one over the new; `docs/view.md` has
    /// the argument why it is complete.
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
    /// The sketch of a proof in tinygrad's pull request 2218, completed where it stops (SD-62).
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
