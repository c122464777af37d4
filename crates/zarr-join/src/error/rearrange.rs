//! The reasons why the chunks of an axis cannot be rearranged.

use std::fmt::Display;

use zarr_array::store::{Prefix, Remedy};
use zarr_array::{Array, ArrayError, node};
use zarr_metadata::Printable;

/// The reason why the chunks along an axis cannot be rearranged: the cause of an
/// [`ArrayError::Refused`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", Printable(.0))]
pub struct RearrangeError(String);

zarr_array::store::debug_as_text!(RearrangeError);

impl RearrangeError {
    pub(crate) fn new(reason: impl Display) -> Self {
        Self(reason.to_string())
    }

    /// A cut through a chunk or an inner chunk, which would have to be decoded, or through a member of
    /// a virtual join, with the nearest edges.
    pub(crate) fn unaligned(
        what: &str,
        axis: usize,
        index: u64,
        [before, after]: [u64; 2],
    ) -> Self {
        let a = if what.starts_with('i') { "an" } else { "a" };
        Self::new(format_args!(
            "axis {axis}: index {index} is inside {a} {what}, and {what}s are only moved whole: the \
             nearest edges are {before} and {after}"
        ))
    }

    /// A chunk that reaches past the end of its array would no longer be the last.
    pub(crate) fn overhang(axis: usize, what: &str, extent: u64, end: u64) -> Self {
        Self::new(format_args!(
            "axis {axis}: nothing can come after {what}, whose last chunk reaches to {end} and is \
             stored whole, past its end at {extent}"
        ))
    }

    /// Too many elements get new chunks.
    pub(crate) fn refill(axis: usize, bytes: u64, room: u64) -> Self {
        Self::new(format_args!(
            "axis {axis}: {bytes} bytes of chunks that are cut or filled would be held in memory, where \
             {room} are left of 4 GiB for all arrays: change it in parts, or copy or join it instead"
        ))
    }

    /// An array with chunks that differ in form from chunks of this array.
    pub(crate) fn inserted(what: &str, found: &str, expected: &str) -> Self {
        Self::new(format_args!(
            "the inserted array differs in its {what}: found {found}, expected {expected}"
        ))
    }

    /// An array that consists of others.
    pub(crate) fn joined(what: &str) -> Self {
        Self::new(format_args!(
            "{what} consists of other arrays, and has no chunks of its own: copy it first"
        ))
    }

    /// A marker that this library did not write.
    pub(crate) fn marker(key: impl Display) -> Self {
        Self::new(format_args!(
            "{key} is not understood: the array was rearranged by another version, or something else \
             has this name"
        ))
    }

    /// A chunk was written while it was copied; the array is unchanged.
    pub(crate) fn written(key: impl Display) -> Self {
        Self::new(format_args!("{key} was written or removed meanwhile: nothing is changed"))
    }
}

/// An earlier rearrangement was interrupted.
pub(crate) const UNFINISHED: &str =
    "a rearrangement of its chunks was interrupted: repair it first";

/// The error of a node that cannot be rearranged, or is being rearranged.
pub(crate) fn refused(prefix: &Prefix, reason: impl Display) -> ArrayError {
    refused_unless(prefix, reason, None)
}

/// The same, with what would allow it.
pub(crate) fn refused_unless(
    prefix: &Prefix,
    reason: impl Display,
    remedy: Option<Remedy>,
) -> ArrayError {
    let cause = Box::new(RearrangeError::new(reason));
    ArrayError::Refused { path: node::display(prefix), cause, remedy }
}

/// The error of an array that consists of others where one with own chunks is needed.
pub(crate) fn consists_of_others(array: &Array) -> ArrayError {
    refused(array.prefix(), RearrangeError::joined("the array"))
}
