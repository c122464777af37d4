//! Indices in C order.

use super::Dims;

/// The index of element `element` of `shape` in C order, below the number of
/// elements.
pub(crate) fn unravel(mut element: usize, shape: &[usize]) -> Dims<usize> {
    let mut index: Dims<usize> = Dims::repeat(0, shape.len());
    if let ([first, inner @ ..], [_, sizes @ ..]) = (&mut index[..], shape) {
        for (i, &size) in inner.iter_mut().zip(sizes).rev() {
            *i = element % size;
            element /= size;
        }
        *first = element;
    }
    index
}

/// Advances to the next index of a shape in C order; false at the end.
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

/// Advances to the next index of a box in C order; false at the end.
pub(super) fn advance_between(index: &mut [usize], start: &[usize], end: &[usize]) -> bool {
    for ((i, &start), &end) in index.iter_mut().zip(start).zip(end).rev() {
        *i += 1;
        if *i < end {
            return true;
        }
        *i = start;
    }
    false
}
