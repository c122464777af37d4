//! The copy engine: from one view to another, each element moved once.

#[cfg(feature = "count")]
mod count;
mod disjoint;
mod element;
mod grid;
mod instructions;
mod kernel;
mod memory;
mod nest;
mod output;
mod owned;
mod plan;
mod range;

#[cfg(feature = "count")]
pub use count::bytes_written;
pub use element::Element;
pub use grid::OutputGrid;
pub use instructions::InstructionSet;
pub use memory::zeroed;
pub use output::Output;
pub use owned::{OwnedGrid, OwnedOutput};
pub use plan::CopyPlan;
pub use range::{gather, scatter};

use alloc::vec;
use core::ops::Range;

use crate::{CopyError, View, common_shape};

/// Copies the elements of one view to another of the same shape.
///
/// Where the source is masked, `fill` (the bytes of one element, as they are to be written: they
/// are not swapped) goes to the destination; it may be empty if the source is not masked. Where the
/// destination is masked, nothing is written. If the destination has several indices with one
/// position, which of them is written there is unspecified. Buffers may have any alignment.
///
/// To copy a box only, [`shrink`](View::shrink) both views to it.
///
/// # Errors
/// [`CopyError`] if the shapes differ or a buffer ends before its view does. Nothing has been
/// written then.
///
/// # Examples
/// ```
/// use zarr_view::{Element, View, copy};
///
/// let from = View::contiguous(&[2, 2])?.permute(&[1, 0])?.pad(&[(0, 0), (0, 1)])?;
/// let mut to = [0; 6];
/// copy(&from, b"abcd", &View::contiguous(&[2, 3])?, &mut to, Element::new(1), b"-")?;
/// assert_eq!(&to, b"ac-bd-");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn copy(
    src_view: &View,
    src: &[u8],
    dst_view: &View,
    dst: &mut [u8],
    element: Element,
    fill: &[u8],
) -> Result<(), CopyError> {
    CopyPlan::new(src_view, dst_view, element)?.run(src, dst, fill)
}

/// As [`copy`], for views whose shapes may differ: the elements correspond in C order.
///
/// If there is a [common shape](common_shape), each element is moved once. Otherwise the elements
/// go through a small buffer that stays in the cache.
///
/// # Errors
/// As [`copy`], and [`ViewError::Elements`](crate::ViewError::Elements) if the numbers of elements
/// differ.
///
/// # Examples
/// ```
/// use zarr_view::{Element, View, copy_in_order};
///
/// let columns = View::contiguous(&[2, 3])?.permute(&[1, 0])?;
/// let mut flat = [0; 6];
/// copy_in_order(&columns, b"abcdef", &View::contiguous(&[6])?, &mut flat, Element::new(1), &[])?;
/// assert_eq!(&flat, b"adbecf");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn copy_in_order(
    src_view: &View,
    src: &[u8],
    dst_view: &View,
    dst: &mut [u8],
    element: Element,
    fill: &[u8],
) -> Result<(), CopyError> {
    if src_view.shape() == dst_view.shape() {
        return copy(src_view, src, dst_view, dst, element, fill);
    }
    element.check()?;
    if let Some((src_view, dst_view)) = common_shape(src_view, dst_view)? {
        return copy(&src_view, src, &dst_view, dst, element, fill);
    }
    // Check everything before the first byte is written.
    plan::check_source(src_view, src.len(), element)?;
    plan::check_destination(dst_view, dst.len(), element)?;
    plan::check_fill(src_view, fill, element)?;
    in_tiles(src_view.len(), element, |range, tile| {
        gather(src_view, src, range.clone(), tile, element, fill)?;
        scatter(tile, range, dst_view, dst, element.unswapped())
    })
}

/// Goes through the elements in tiles that stay in the cache.
fn in_tiles(
    elements: usize,
    element: Element,
    mut each: impl FnMut(Range<usize>, &mut [u8]) -> Result<(), CopyError>,
) -> Result<(), CopyError> {
    const TILE: usize = 16 << 10;
    let step = (TILE / element.size()).clamp(1, elements.max(1));
    let mut tile = vec![0; step * element.size()];
    let mut first = 0;
    while first < elements {
        let range = first..elements.min(first + step);
        first = range.end;
        let bytes = range.len() * element.size();
        each(range, &mut tile[..bytes])?;
    }
    Ok(())
}
