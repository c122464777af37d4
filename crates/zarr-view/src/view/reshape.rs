use super::{Dims, View, signed};
use crate::ViewError;

impl View {
    /// The view that reads the same elements in the same C order, in another shape; `None` if no
    /// single view does.
    ///
    /// The answer is complete: if a view of `shape` exists with these elements and with masked
    /// ones at the same places, it is returned. If the answer is `None`, use
    /// [`ViewStack`](crate::ViewStack).
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
        if self.mask.is_none() {
            return Ok(self.reshape_whole(shape));
        }
        self.progressions().realize(shape.into())
    }

    /// The result of the general way, in one pass. Without a mask, the entries of the relation have
    /// no gaps between them, and each divides into new dimensions without a remainder.
    ///
    /// The shape must hold as many elements as this view, at least one, which has no mask.
    fn reshape_whole(&self, shape: &[usize]) -> Option<Self> {
        let mut strides: Dims<isize> = Dims::repeat(0, shape.len());
        let mut new = shape.iter().zip(&mut strides).rev();
        let mut old = self.shape.iter().zip(&self.strides).rev();
        // The dimension that the last entry did not continue in.
        let mut held = None;
        while let Some((&size, &stride)) = held.take().or_else(|| old.next()) {
            let (mut extent, mut stride) = (size, stride);
            for above in old.by_ref() {
                // The product may exceed the last position by one stride; then no stride equals it.
                if extent == 1 {
                    (extent, stride) = (*above.0, *above.1);
                } else if stride.checked_mul(signed(extent)) == Some(*above.1) {
                    extent *= above.0;
                } else if *above.0 > 1 {
                    held = Some(above);
                    break;
                }
            }
            while extent > 1 {
                let (&size, to) = new.next()?;
                if size == 1 {
                    continue;
                }
                *to = stride;
                if !extent.is_multiple_of(size) {
                    return None;
                }
                // The stride of the next dimension, unless this was the last; then it may wrap.
                (extent, stride) = (extent / size, stride.wrapping_mul(signed(size)));
            }
        }
        Some(Self { shape: shape.into(), strides, offset: self.offset, mask: None })
    }
}
