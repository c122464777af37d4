//! The reasons why the chunks of an axis cannot be rearranged.

use zarr_array::store::{Prefix, Remedy};
use zarr_array::{Array, ArrayError, node};
use zarr_metadata::Printable;

use crate::error::Known;

/// The reason why the chunks along an axis cannot be rearranged: the cause of an
/// [`ArrayError::Refused`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct RearrangeError(#[from] Refusal);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// A cut through a chunk, which would have to be decoded, or through a member of a virtual join.
    #[error(
        "axis {axis}: index {index} is inside {} {what}, and {what}s are only moved whole: the \
         nearest edges are {before} and {after}", if what.starts_with('i') { "an" } else { "a" }
    )]
    Unaligned {
        /// What is cut: a chunk, an inner chunk or a member.
        what: &'static str,
        /// The axis.
        axis: usize,
        /// The index of the cut.
        index: u64,
        /// The edge before it.
        before: u64,
        /// The edge after it.
        after: u64,
    },
    /// A range that is not within the axis, or ends before it starts.
    #[error("axis {axis}: found {start}:{stop}, expected a range within 0:{extent}")]
    Range {
        /// The axis.
        axis: usize,
        /// The first index of the range.
        start: u64,
        /// The index after its last.
        stop: u64,
        /// The length of the axis.
        extent: u64,
    },
    /// An index in two spans.
    #[error("axis {axis}: index {index} is kept twice")]
    KeptTwice {
        /// The axis.
        axis: usize,
        /// The first such index.
        index: u64,
    },
    /// No span with an element.
    #[error("axis {axis}: no elements would remain: delete the array, or resize it")]
    Nothing {
        /// The axis.
        axis: usize,
    },
    /// A chunk that reaches past the end of its array would no longer be the last.
    #[error(
        "axis {axis}: nothing can come after {what}, whose last chunk reaches to {end} and is \
         stored whole, past its end at {extent}"
    )]
    Overhang {
        /// The axis.
        axis: usize,
        /// The array with that chunk.
        what: &'static str,
        /// Its length on the axis.
        extent: u64,
        /// The end of the chunk on the axis.
        end: u64,
    },
    /// Too many elements get new chunks.
    #[error(
        "axis {axis}: {bytes} bytes of chunks that are cut or filled would be held in memory, where {room} \
         are left of 4 GiB for all arrays: change it in parts, or copy or join it instead"
    )]
    Refill {
        /// The axis.
        axis: usize,
        /// The bytes of the elements.
        bytes: u64,
        /// The bytes that are left.
        room: u64,
    },
    /// Elements that would change when their chunk is encoded again.
    #[error(
        "axis {axis}: the last chunk is not full, and its codecs do not keep its elements when it is \
         encoded again with others after them"
    )]
    Lossy {
        /// The axis.
        axis: usize,
    },
    /// An array with chunks that differ in form from chunks of this array.
    #[error(
        "the inserted array differs in its {what}: found {}, expected {}",
        Printable(found),
        Printable(expected)
    )]
    Inserted {
        /// The property that differs.
        what: &'static str,
        /// The value of the inserted array.
        found: String,
        /// The value of the array.
        expected: String,
    },
    /// Inserted times that have no exact number in the units of the group's own, or numbers of another type.
    #[error("{cause}")]
    Values {
        /// The values.
        cause: String,
    },
    /// An array that consists of others.
    #[error("{what} consists of other arrays, and has no chunks of its own: copy it first")]
    Joined {
        /// The array with the members.
        what: &'static str,
    },
    /// Elements past the array's end would be lost or appear in another place.
    #[error(
        "chunk {} is past the array's end: discard it first, by a resize to the array's own shape",
        Printable(key)
    )]
    PastEnd {
        /// The chunk's key.
        key: String,
    },
    /// An object that is not the array's has a key that chunks need meanwhile.
    #[error("{} is in the way: chunks have such keys while they are moved", Printable(key))]
    InTheWay {
        /// The object's key.
        key: String,
    },
    /// An earlier rearrangement was interrupted.
    #[error("a rearrangement of its chunks was interrupted: repair it first")]
    Unfinished,
    /// Some arrays of a group may be rearranged and others not, because the rearrangement was
    /// interrupted.
    #[error(
        "rearranging its arrays was interrupted, and some may be rearranged while others are not: \
         repair it first"
    )]
    Half,
    /// An interrupted rearrangement of a group that the store of this array does not contain.
    #[error(
        "a rearrangement of its chunks together with other arrays was interrupted: \
         repair the group, which is {levels} level{} above it", if *levels == 1 { "" } else { "s" }
    )]
    WithGroup {
        /// The number of levels from the array up to the group.
        levels: usize,
    },
    /// An array was changed after the rearrangement of its group was interrupted, so that the
    /// rearrangement cannot be completed.
    #[error(
        "{what} was changed after a rearrangement of the group was interrupted, so the \
         rearrangement cannot be completed: change it back first"
    )]
    Changed {
        /// The changed part.
        what: &'static str,
    },
    /// By a convention the array or group cannot be changed so: see [`zarr_cf::GroupMeaning`].
    #[error("{}", Printable(reason))]
    Convention {
        /// The reason and the way out.
        reason: String,
    },
    /// No array has a dimension of this name.
    #[error("no array in it has the dimension {}{}", Printable(dimension), Known(known))]
    NoDimension {
        /// The name.
        dimension: String,
        /// The names of all dimensions, each once.
        known: Vec<String>,
    },
    /// Two axes of one array have this dimension.
    #[error("two axes have the dimension {}", Printable(dimension))]
    TwoAxes {
        /// The name.
        dimension: String,
    },
    /// Arrays have different lengths on the dimension that they share.
    #[error(
        "has the length {found} on the dimension {}, and {} has {expected}",
        Printable(dimension),
        Printable(other)
    )]
    Lengths {
        /// The name of the dimension.
        dimension: String,
        /// The length in this array.
        found: u64,
        /// The path of another array in the group.
        other: String,
        /// The length in that array.
        expected: u64,
    },
    /// An inserted group has other arrays.
    #[error("the inserted group {what} an array {} {which} this dimension", Printable(path))]
    InsertedPaths {
        /// Whether the inserted group lacks the array.
        what: &'static str,
        /// Whether the array is with the dimension, or without.
        which: &'static str,
        /// The path of the array in the group.
        path: String,
    },
    /// A marker that this library did not write.
    #[error(
        "{} is not understood: the array was rearranged by another version, or something else \
         has this name",
        Printable(key)
    )]
    Marker {
        /// The marker's key.
        key: String,
    },
    /// A marker of an unknown version.
    #[error(
        "{} has version {found}, and version {allowed} is known: repair it with the release that \
         began to rearrange it",
        Printable(key)
    )]
    MarkerVersion {
        /// The marker's key.
        key: String,
        /// The marker's version.
        found: u64,
        /// The known version.
        allowed: u64,
    },
    /// A chunk was written while it was copied; the array is unchanged.
    #[error("{} was written or removed meanwhile: nothing is changed", Printable(key))]
    Written {
        /// The chunk's key.
        key: String,
    },
}

/// The error of a node that cannot be rearranged, or is being rearranged.
pub(crate) fn refused(prefix: &Prefix, cause: impl Into<RearrangeError>) -> ArrayError {
    refused_unless(prefix, cause, None)
}

/// The same, with what would allow it.
pub(crate) fn refused_unless(
    prefix: &Prefix,
    cause: impl Into<RearrangeError>,
    remedy: Option<Remedy>,
) -> ArrayError {
    ArrayError::Refused { path: node::display(prefix), cause: Box::new(cause.into()), remedy }
}

/// The error of an array that consists of others where one with own chunks is needed.
pub(crate) fn consists_of_others(array: &Array) -> ArrayError {
    refused(array.prefix(), Refusal::Joined { what: "the array" })
}
