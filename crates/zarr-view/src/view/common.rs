use alloc::vec::Vec;

use super::{Dims, View, progressions::Progressions};
use crate::ViewError;

/// Finds the coarsest shape in which both of two views with equally many elements are single
/// views, and writes both in it; `None` if there is no such shape.
///
/// Element `i` of one side still corresponds to element `i` of the other, in C order, for any
/// shapes. So a chain of `transpose` and `reshape` can be copied in one pass. One side is the
/// stored data, the other the caller's buffer. Either may have no single view in the shape of the
/// other.
///
/// A shape is a chain of index steps, each dividing the next: `[2, 3, 4]` has the steps 4 and 12
/// above the innermost 1. A view can be written as a single view in a shape exactly if two
/// conditions hold: the shape has a dimension at each step where the view changes its stride, and
/// the mask allows the cuts. So the steps of both views together, in order, are the only candidate
/// to try.
///
/// # Errors
/// [`ViewError::Elements`] if the views hold different numbers of elements, and
/// [`ViewError::Offset`] in the rare case that the offset of a masked view cannot be represented.
///
/// # Examples
/// ```
/// use zarr_view::{View, common_shape};
///
/// // An array of shape [4, 6], reshaped to [2, 12], transposed to [12, 2] and stored.
/// let stored = View::contiguous(&[12, 2])?.permute(&[1, 0])?;
/// assert_eq!(stored.reshape(&[4, 6])?, None); // no view of the array's own shape ...
/// let wanted = View::contiguous(&[4, 6])?;
/// let (from, to) = common_shape(&stored, &wanted)?.expect("... but the array can be split");
/// assert_eq!((from.shape(), to.shape()), (&[2, 12][..], &[2, 12][..]));
/// assert_eq!((from.strides(), to.strides()), (&[1, 2][..], &[12, 1][..]));
/// # Ok::<(), zarr_view::ViewError>(())
/// ```
pub fn common_shape(a: &View, b: &View) -> Result<Option<(View, View)>, ViewError> {
    let elements = a.len();
    if elements != b.len() {
        return Err(ViewError::Elements { expected: elements, found: b.len() });
    }
    let mut steps: Vec<usize> = Vec::with_capacity(a.rank() + b.rank() + 1);
    let mut shape = Vec::with_capacity(a.rank() + b.rank() + 1);
    if elements == 0 {
        shape.push(0);
    } else {
        for view in [a, b] {
            if view.is_masked_out() {
                steps.push(1);
            } else {
                let Progressions { list, .. } = view.progressions();
                steps.extend(list.iter().map(|run| run.step));
            }
        }
        steps.sort_unstable();
        steps.dedup();
        let mut below = 1;
        for step in steps.iter().copied().filter(|&step| step > 1).chain([elements]) {
            if step % below != 0 {
                return Ok(None);
            }
            shape.push(step / below);
            below = step;
        }
        shape.reverse();
        if elements == 1 && steps.is_empty() {
            shape.clear();
        }
    }
    Ok(match (a.reshape(&shape)?, b.reshape(&shape)?) {
        (Some(a), Some(b)) => Some((a, b)),
        _ => None,
    })
}

impl View {
    /// The same elements in the same C order, in the fewest possible dimensions.
    ///
    /// Two neighbouring dimensions are merged if one dimension can replace them: the outer one
    /// continues the inner one, and all of the inner one is valid. Dimensions of size 1 are
    /// dropped.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// let view = View::contiguous(&[2, 3, 1, 4])?.permute(&[3, 0, 2, 1])?;
    /// assert_eq!(view.coalesce().shape(), [4, 6]);
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    #[must_use]
    pub fn coalesce(&self) -> Self {
        let mut above = self.len();
        let mut shape: Dims<usize> = Dims::new();
        if self.is_masked_out() {
            shape.push(above);
            return if above == 0 {
                Self::without_elements(shape)
            } else {
                Self::masked_out(shape)
            };
        }
        let relation = self.progressions();
        if self.mask.is_none() {
            // Its entries are the dimensions.
            let entries = || relation.list.iter().rev();
            let shape = entries().map(|run| run.extent).collect();
            let strides = entries().map(|run| run.stride).collect();
            return Self { shape, strides, offset: self.offset, mask: None };
        }
        // One dimension at the step of each entry: steps divide each other, as in a shape.
        for step in relation.list.iter().rev().map(|run| run.step) {
            shape.push(above / step);
            above = step;
        }
        if above > 1 {
            shape.push(above);
        }
        // Only the offset of a masked view may not be representable; then the view is returned
        // unchanged.
        match relation.realize(shape) {
            Ok(Some(view)) => view,
            _ => self.clone(),
        }
    }
}
