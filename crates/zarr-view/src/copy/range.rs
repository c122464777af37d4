//! Copies between a view and a contiguous stretch of its elements.

use core::ops::Range;

use smallvec::SmallVec;

use super::{CopyPlan, Element};
use crate::CopyError;
use crate::view::{Dims, View, unravel};

/// Copies the elements of `range`, counted in C order, from a view to contiguous bytes.
///
/// With it an encoder packs a large strided source tile by tile: each tile is gathered into a
/// buffer that stays in the cache. Masked elements read as `fill`, as in [`copy`](crate::copy).
///
/// # Errors
/// [`CopyError::Run`] unless the range is within the view and `dst` has exactly its bytes, and as
/// [`copy`](crate::copy).
///
/// # Examples
/// ```
/// use zarr_view::{Element, View, gather};
///
/// let view = View::contiguous(&[3, 3])?.permute(&[1, 0])?; // adg beh cfi
/// let mut part = [0; 4];
/// gather(&view, b"abcdefghi", 2..6, &mut part, Element::new(1), &[])?;
/// assert_eq!(&part, b"gbeh");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gather(
    view: &View,
    src: &[u8],
    range: Range<usize>,
    dst: &mut [u8],
    element: Element,
    fill: &[u8],
) -> Result<(), CopyError> {
    check(view, &range, dst.len(), element)?;
    super::plan::check_source(view, src.len(), element)?;
    super::plan::check_fill(view, fill, element)?;
    let mut rest = dst;
    boxes(view.shape(), range, |part| {
        let from = view.shrink(part)?;
        let to = View::contiguous(from.shape())?;
        let (now, later) = core::mem::take(&mut rest).split_at_mut(from.len() * element.size());
        rest = later;
        CopyPlan::new(&from, &to, element)?.run(src, now, fill)
    })
}

/// Copies contiguous bytes to the elements of `range`, counted in C order, of a view.
///
/// The opposite of [`gather`]: a decoder unpacks tile by tile and each tile moves on while it is
/// in the cache. Where the view is masked nothing is written.
///
/// # Errors
/// [`CopyError::Run`] unless the range is within the view and `src` has exactly its bytes, and as
/// [`copy`](crate::copy).
///
/// # Examples
/// ```
/// use zarr_view::{Element, View, scatter};
///
/// let view = View::contiguous(&[3, 3])?.permute(&[1, 0])?;
/// let mut whole = *b".........";
/// scatter(b"gbeh", 2..6, &view, &mut whole, Element::new(1))?;
/// assert_eq!(&whole, b".b..e.gh.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn scatter(
    src: &[u8],
    range: Range<usize>,
    view: &View,
    dst: &mut [u8],
    element: Element,
) -> Result<(), CopyError> {
    super::plan::check_destination(view, dst.len(), element)?;
    scatter_with(src, range, view, element, |plan, part| plan.run(part, dst, &[]))
}

/// The boxes of a scatter, each with a plan from its contiguous part of `src`.
pub(super) fn scatter_with(
    src: &[u8],
    range: Range<usize>,
    view: &View,
    element: Element,
    mut run: impl FnMut(&CopyPlan, &[u8]) -> Result<(), CopyError>,
) -> Result<(), CopyError> {
    check(view, &range, src.len(), element)?;
    let mut rest = src;
    boxes(view.shape(), range, |part| {
        let to = view.shrink(part)?;
        let from = View::contiguous(to.shape())?;
        let (now, later) = rest.split_at(to.len() * element.size());
        rest = later;
        run(&CopyPlan::new(&from, &to, element)?, now)
    })
}

fn check(
    view: &View,
    range: &Range<usize>,
    bytes: usize,
    element: Element,
) -> Result<(), CopyError> {
    element.check()?;
    let &Range { start, end } = range;
    let elements = view.len();
    let count = end.checked_sub(start).filter(|_| end <= elements);
    if count.and_then(|count| count.checked_mul(element.size())) != Some(bytes) {
        return Err(CopyError::Run { start, end, elements, bytes });
    }
    Ok(())
}

/// Divides a range of C-order elements into boxes, in order: at most two for each dimension.
///
/// ```text
/// shape [3, 4], range 2..11:   . . a a
///                              b b b b
///                              c c c .
/// ```
fn boxes(
    shape: &[usize],
    range: Range<usize>,
    mut each: impl FnMut(&[Range<usize>]) -> Result<(), CopyError>,
) -> Result<(), CopyError> {
    let mut first = range.start;
    let mut part: Dims<Range<usize>> = SmallVec::new();
    while first < range.end {
        let left = range.end - first;
        let index = unravel(first, shape);
        let Some(mut axis) = shape.len().checked_sub(1) else { return each(&part) };
        // The outermost axis of which whole slices start here, and one at least fits.
        let mut slice = 1;
        while axis > 0 && index[axis] == 0 && slice * shape[axis] <= left {
            slice *= shape[axis];
            axis -= 1;
        }
        let count = (left / slice).min(shape[axis] - index[axis]);
        part.clear();
        part.extend(index[..axis].iter().map(|&i| i..i + 1));
        part.push(index[axis]..index[axis] + count);
        part.extend(shape[axis + 1..].iter().map(|&size| 0..size));
        each(&part)?;
        first += count * slice;
    }
    Ok(())
}
