//! The public behaviour of the crate, against brute force.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod compose;
mod copy;
mod generators;
mod laws;
mod oracle;
mod output;
mod owned;
mod reshape;
mod rng;
mod shuffle;
mod traits;

use zarr_view::CopyElement;

/// Elements of `size` bytes.
fn element(size: usize) -> CopyElement {
    CopyElement::try_from(size).unwrap()
}

/// Elements of `size` bytes, with the bytes reversed.
fn swapped(size: usize) -> CopyElement {
    CopyElement::swapped_in_units(size, size).unwrap()
}
