//! The copy engine: from one view to another, each element moved once.

mod copy_plan;
#[cfg(feature = "count")]
mod count;
mod disjoint;
mod element;
mod grid;
mod instructions;
mod kernel;
mod memory;
mod nest;
mod one_loop;
mod output;
mod owned;
mod region;
#[cfg(all(feature = "std", target_os = "linux"))]
#[cfg(test)]
mod tests;

pub use copy_plan::CopyPlan;
#[cfg(feature = "count")]
pub use count::bytes_written;
pub use element::CopyElement;
pub use grid::OutputGrid;
pub use memory::{advise_huge_pages, zeroed};
pub use output::Output;
pub use owned::{OwnedGrid, OwnedOutput};

use crate::{CopyError, View};

/// Copies the elements of one view to another of the same shape.
///
/// If the source is masked at an index, `fill` is written to the destination. `fill` holds the
/// bytes of one element as they will be written (they are not swapped). It may be empty if the
/// source is not masked. If the destination is masked, nothing is written there. If several indices
/// of the destination share a position, it is unspecified which of them is written there. Buffers
/// may have any alignment.
///
/// To copy a box only, [`shrink`](View::shrink) both views to it.
///
/// # Errors
/// [`CopyError`] if the shapes differ or a buffer is too short for its view. Then nothing has
/// been written.
///
/// # Examples
/// ```
/// use zarr_view::{CopyElement, View, copy};
///
/// let from = View::contiguous(&[2, 2])?.permute(&[1, 0])?.pad(&[(0, 0), (0, 1)])?;
/// let mut to = [0; 6];
/// copy(&from, b"abcd", &View::contiguous(&[2, 3])?, &mut to, CopyElement::try_from(1)?, b"-")?;
/// assert_eq!(&to, b"ac-bd-");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn copy(
    src_view: &View,
    src: &[u8],
    dst_view: &View,
    dst: &mut [u8],
    element: CopyElement,
    fill: &[u8],
) -> Result<(), CopyError> {
    CopyPlan::new(src_view, dst_view, element)?.run(src, dst, fill)
}
