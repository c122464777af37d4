use super::{Dims, View};
use crate::ViewError;

/// The number of elements up to which the outer view of a composition is enumerated.
const ENUMERATED: usize = 4096;

impl View {
    /// The view that reads `inner` through `self`; `None` if no single view does, or none was
    /// found.
    ///
    /// The positions of `self` are C-order indices of `inner`: index `i` of the result has the
    /// position of `inner` at element `self.position(i)`, and is masked where either is.
    ///
    /// # Errors
    /// [`ViewError::Outer`] if `self` reaches past the elements of `inner`.
    pub fn compose(&self, inner: &Self) -> Result<Option<Self>, ViewError> {
        let elements = inner.len();
        let span = self.span();
        if span.end > elements {
            return Err(ViewError::Outer { position: span.end - 1, elements });
        }
        if self.is_masked_out() {
            return Ok(Some(self.clone()));
        }
        if inner.is_contiguous() {
            return Ok(Some(self.clone()));
        }
        if self.len() <= ENUMERATED { self.compose_enumerated(inner) } else { Ok(None) }
    }

    /// Composes by looking at every element: exact, in time proportional to their number.
    fn compose_enumerated(&self, inner: &Self) -> Result<Option<Self>, ViewError> {
        let shape: Dims<usize> = self.shape.clone();
        let at = |index: &[usize]| -> Option<usize> {
            inner.position(&unravel(self.position(index)?, &inner.shape))
        };
        // The bounding box of what is valid, and the position of its first corner.
        let rank = self.rank();
        let mut lo: Dims<usize> = shape.clone();
        let mut hi: Dims<usize> = smallvec::SmallVec::from_elem(0, rank);
        let mut count = 0_usize;
        let mut index: Dims<usize> = smallvec::SmallVec::from_elem(0, rank);
        loop {
            if at(&index).is_some() {
                count += 1;
                for axis in 0..rank {
                    lo[axis] = lo[axis].min(index[axis]);
                    hi[axis] = hi[axis].max(index[axis] + 1);
                }
            }
            if !advance(&mut index, &shape) {
                break;
            }
        }
        if count == 0 {
            return Ok(if rank == 0 { None } else { Some(Self::masked_out(shape)) });
        }
        let volume: usize = lo.iter().zip(&hi).map(|(lo, hi)| hi - lo).product();
        if volume != count {
            return Ok(None);
        }
        let Some(first) = at(&lo) else { return Ok(None) };
        let mut strides: Dims<isize> = smallvec::SmallVec::from_elem(0, rank);
        let mut offset = i128::from(first as u64);
        for axis in 0..rank {
            if hi[axis] - lo[axis] > 1 {
                let mut next = lo.clone();
                next[axis] += 1;
                let Some(next) = at(&next) else { return Ok(None) };
                strides[axis] = next.wrapping_sub(first).cast_signed();
                // Both factors are below 2^63 and the count of terms is small.
                offset -= strides[axis] as i128 * lo[axis] as i128;
            }
        }
        let offset = isize::try_from(offset).map_err(|_| ViewError::Offset)?;
        let mask = lo.iter().copied().zip(hi.iter().copied()).collect();
        let Ok(view) = Self::build(shape.clone(), strides, offset, Some(mask)) else {
            return Ok(None);
        };
        index.fill(0);
        loop {
            if at(&index) != view.position(&index) {
                return Ok(None);
            }
            if !advance(&mut index, &shape) {
                return Ok(Some(view));
            }
        }
    }
}

/// The index of element `element` of `shape` in C order.
pub(crate) fn unravel(mut element: usize, shape: &[usize]) -> Dims<usize> {
    let mut index: Dims<usize> = smallvec::SmallVec::from_elem(0, shape.len());
    for (i, &size) in index.iter_mut().zip(shape).rev() {
        *i = element % size;
        element /= size;
    }
    index
}

/// Steps to the next index in C order; false at the end.
pub(crate) fn advance(index: &mut [usize], shape: &[usize]) -> bool {
    for (i, &size) in index.iter_mut().zip(shape).rev() {
        *i += 1;
        if *i < size {
            return true;
        }
        *i = 0;
    }
    false
}
