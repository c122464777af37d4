//! Ranges of numbers in C order, as boxes.

use alloc::vec::Vec;
use core::ops::Range;

use crate::grid::product;

/// The elements of a box of this shape with these numbers, counted in C order, as boxes: at most
/// two for each axis. One box after the other, each in C order, they are the elements in the order
/// of their numbers. Numbers that the shape does not have are left out.
///
/// # Examples
/// A piece of the first row, whole rows, and a piece of the last row:
/// ```
/// let boxes = zarr_grid::boxes(3..14, &[4, 4]);
/// assert_eq!(boxes, [[0..1, 3..4], [1..3, 0..4], [3..4, 0..2]]);
/// ```
#[must_use]
pub fn boxes(numbers: Range<u64>, shape: &[u64]) -> Vec<Vec<Range<u64>>> {
    let end = product(shape).map_or(numbers.end, |count| numbers.end.min(count));
    let mut boxes = Vec::new();
    cut(shape, numbers.start..end, &mut Vec::new(), &mut boxes);
    boxes
}

/// Cuts the piece of the first row, the whole rows and the piece of the last row. The pieces are cut
/// in the same way. `outer` are the ranges of the axes before.
fn cut(
    shape: &[u64],
    range: Range<u64>,
    outer: &mut Vec<Range<u64>>,
    boxes: &mut Vec<Vec<Range<u64>>>,
) {
    if range.is_empty() {
        return;
    }
    let Some((_, inner)) = shape.split_first() else {
        boxes.push(outer.clone());
        return;
    };
    // Not 0, since there are elements; where all are too many to count, one row may be, too.
    let row = inner.iter().fold(1_u64, |row, count| row.saturating_mul(*count));
    let (first, last) = (range.start / row, range.end / row);
    let (head, tail) = (range.start % row, range.end % row);
    let mut piece = |at: u64, range: Range<u64>| {
        outer.push(at..at.saturating_add(1));
        cut(inner, range, outer, boxes);
        outer.pop();
    };
    if first == last {
        return piece(first, head..tail);
    }
    let whole = match head {
        0 => first..last,
        head => {
            piece(first, head..row);
            first.saturating_add(1)..last
        }
    };
    if !whole.is_empty() {
        let rest = inner.iter().map(|count| 0..*count);
        boxes.push(outer.iter().cloned().chain([whole]).chain(rest).collect());
    }
    if tail > 0 {
        outer.push(last..last.saturating_add(1));
        cut(inner, 0..tail, outer, boxes);
        outer.pop();
    }
}
