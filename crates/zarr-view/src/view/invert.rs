use super::{
    Dims, View,
    progressions::{Progression, Progressions},
    signed,
};
use crate::ViewError;

impl View {
    /// The view of `shape` that undoes `self`. If element `i` of `self` (in C order) has position
    /// `p`, then element `p` of the result has position `i`. Elements that `self` does not reach
    /// are masked. `None` if no single view undoes `self`, in particular if two indices of `self`
    /// share a position.
    ///
    /// `shape` describes the buffer that `self` reads, so [`span`](View::span)`().end` may not
    /// exceed its number of elements. Composing `self` with its inverse gives a contiguous view,
    /// masked where `self` is.
    ///
    /// # Errors
    /// [`ViewError::Outer`] if `self` reaches past the elements of `shape`; [`ViewError::TooLarge`]
    /// or [`ViewError::Offset`] if the result cannot be represented.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// let view = View::contiguous(&[2, 3, 4])?.permute(&[2, 0, 1])?;
    /// let inverse = view.invert(&[2, 3, 4])?.expect("a permutation has an inverse");
    /// assert_eq!(inverse, View::contiguous(&[4, 2, 3])?.permute(&[1, 2, 0])?);
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    pub fn invert(&self, shape: &[usize]) -> Result<Option<Self>, ViewError> {
        let elements = super::count_elements(shape)?;
        let span = self.span();
        if span.end > elements {
            return Err(ViewError::Outer { position: span.end - 1, elements });
        }
        if elements == 0 {
            return Ok(Some(Self::without_elements(shape.into())));
        }
        if self.is_masked_out() {
            return Ok(if shape.is_empty() { None } else { Some(Self::masked_out(shape.into())) });
        }
        // The relation with its two sides exchanged, each progression in ascending order.
        let Progressions { mut first_index, mut first_position, list } = self.progressions();
        let mut swapped: Dims<Progression> = Dims::new();
        for &Progression { extent, step, stride } in &list {
            if stride == 0 {
                return Ok(None);
            }
            let mut back = signed(step);
            if stride < 0 {
                first_index += step * (extent - 1);
                first_position += stride * signed(extent - 1);
                back = -back;
            }
            swapped.push(Progression { extent, step: stride.unsigned_abs(), stride: back });
        }
        swapped.sort_unstable_by_key(|run| run.step);
        let mut merged: Dims<Progression> = Dims::new();
        let mut reach = 0_usize;
        for &run in &swapped {
            if run.step <= reach {
                // Positions interleave or are shared: this is not a box of any shape in C order.
                return Ok(None);
            }
            reach += run.step * (run.extent - 1);
            match merged.last_mut() {
                Some(inner)
                    if inner.step.checked_mul(inner.extent) == Some(run.step)
                        && inner.stride.checked_mul(signed(inner.extent)) == Some(run.stride) =>
                {
                    inner.extent *= run.extent;
                }
                _ => merged.push(run),
            }
        }
        Progressions {
            first_index: first_position.cast_unsigned(),
            first_position: signed(first_index),
            list: merged,
        }
        .realize(shape.into())
    }
}
