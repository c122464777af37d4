//! A view as a relation between C-order indices and positions. In this form, views of different
//! shapes can be compared.
//!
//! Number the elements of a shape in C order. The valid indices of a view form a box. So the pairs
//! (C-order index, position) are a first pair plus all sums of multiples of a few fixed pairs:
//!
//! ```text
//! shape [4, 6], strides [1, 4], mask [(1, 3), (0, 6)]      first pair (6, 1)
//!     dimension 0: extent 2, index step 6, position step 1
//!     dimension 1: extent 6, index step 1, position step 4
//! ```
//!
//! A dimension with one valid index contributes nothing and is dropped. If an outer dimension
//! continues an inner one in both steps (outer = extent x inner), the two are merged. Because the
//! box is traversed in C order, each index step exceeds the whole range of the steps inside it. So
//! the merged list is unique: the innermost pair is the difference of the first two elements, its
//! extent is the number of times that this difference repeats, and so on outwards. Therefore two
//! views of any shapes are the same map on C-order indices exactly if their lists are equal.

use super::{Dims, View, signed};
use crate::ViewError;

/// One dimension of the relation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Progression {
    /// Number of steps, above 1.
    pub(super) extent: usize,
    /// Distance in C-order indices, above 0.
    pub(super) step: usize,
    /// Distance in positions.
    pub(super) stride: isize,
}

/// The relation of a view with at least one valid index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Progressions {
    /// C-order index of the first valid element.
    pub(super) first_index: usize,
    /// Its position.
    pub(super) first_position: isize,
    /// Innermost first, merged.
    pub(super) list: Dims<Progression>,
}

impl View {
    /// The relation of this view. Requires a valid index.
    #[inline]
    pub(super) fn progressions(&self) -> Progressions {
        let mut list: Dims<Progression> = Dims::new();
        let mut first_index = 0;
        let mut first_position = self.offset;
        let mut step = 1_usize;
        // Borrowed once as slices, because reshape is called for every chunk shape.
        let (shape, strides, mask) = (&self.shape[..], &self.strides[..], self.mask.as_deref());
        for (axis, (&size, &stride)) in shape.iter().zip(strides).enumerate().rev() {
            let (lo, hi) = mask.map_or((0, size), |mask| mask[axis]);
            let extent = hi - lo;
            if lo > 0 {
                // Partial sums of positions may wrap; the sum is a position.
                first_index += lo * step;
                first_position = first_position.wrapping_add(signed(lo).wrapping_mul(stride));
            }
            if extent > 1 {
                match list.last_mut() {
                    // The first product is within the C-order indices. The second may exceed the
                    // last position by one stride; then no outer stride equals it.
                    Some(inner)
                        if inner.step * inner.extent == step
                            && inner.stride.checked_mul(signed(inner.extent)) == Some(stride) =>
                    {
                        inner.extent *= extent;
                    }
                    _ => list.push(Progression { extent, step, stride }),
                }
            }
            step = step.wrapping_mul(size);
        }
        Progressions { first_index, first_position, list }
    }
}

impl Progressions {
    /// The view of `shape` that is this relation; `None` if there is no such view.
    ///
    /// The sizes must multiply to more than every C-order index of the relation.
    #[inline]
    pub(super) fn realize(&self, shape: Dims<usize>) -> Result<Option<View>, ViewError> {
        let mut strides: Dims<isize> = Dims::repeat(0, shape.len());
        let mut mask: Option<Dims<(usize, usize)>> = None;
        let mut offset = self.first_position;
        let mut runs = self.list.iter();
        let mut run = runs.next().copied();
        let mut rest = self.first_index;
        let mut step = 1_usize;
        for (axis, (&size, new_stride)) in shape.iter().zip(&mut strides).enumerate().rev() {
            if size == 1 {
                continue;
            }
            // The first valid element fixes every lower bound.
            let lo = if rest == 0 { 0 } else { rest % size };
            if rest != 0 {
                rest /= size;
            }
            let mut hi = lo + 1;
            if let Some(Progression { extent, step: wanted, stride }) = run
                && wanted <= step
            {
                if wanted < step {
                    return Ok(None);
                }
                *new_stride = stride;
                if extent > size {
                    if lo != 0 || extent % size != 0 {
                        return Ok(None);
                    }
                    hi = size;
                    run = Some(Progression {
                        extent: extent / size,
                        step: step * size,
                        // At least two steps remain, so the stride is within the range of
                        // positions.
                        stride: stride * signed(size),
                    });
                } else {
                    if extent > size - lo {
                        return Ok(None);
                    }
                    hi = lo + extent;
                    run = runs.next().copied();
                }
                if lo > 0 {
                    let moved = signed(lo).checked_mul(stride);
                    offset = moved
                        .and_then(|moved| offset.checked_sub(moved))
                        .ok_or(ViewError::Offset)?;
                }
            }
            if hi - lo < size {
                let whole = || shape.iter().map(|&size| (0, size)).collect();
                mask.get_or_insert_with(whole)[axis] = (lo, hi);
            }
            step = step.wrapping_mul(size);
        }
        if run.is_some() {
            return Ok(None);
        }
        Ok(Some(View { shape, strides, offset, mask }))
    }
}
