//! Moves whole chunks along an axis: removes, reorders, and inserts chunks of another array. No
//! chunk is decoded; objects get other keys. Shards can be cut where inner chunks end.
//!
//! The keys of an array and its document cannot change in one step, and stores have no rename. So
//! the chunks are first copied to keys of another encoding (`c.0.1` for `c/0/1`), where no reader of
//! the array looks. One put of a document that names this encoding and the new grid makes the new
//! array of them. Then they are copied back in the same way, to the keys that the array had before.
//! At each moment the document belongs to a whole array, the old or the new one.

mod array_marker;
mod cuts;
mod group;
mod interrupted;
mod marker_json;
mod moved_units;
mod moves;
mod planning;
mod refill;
mod renumber;
mod repair;
mod run;
mod steps;

use std::ops::Range;

use zarr_array::Array;

pub use crate::error::rearrange::RearrangeError;
pub use group::{GroupRearrangement, dimension_length, refuse_half_rearranged, repair_group};
pub use interrupted::{Interrupted, InterruptedGroup};
pub use planning::{check_kept_once, whole_chunks};
pub use refill::MOST as MOST_PROMOTED;
use refill::Refill;
pub use repair::repair;

/// A part of the new axis: see [`Rearrangement::plan`]. An array is inserted into
/// an array, and a group into a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span<T = Array> {
    /// Indices of the axis itself. Both ends are edges of chunks, or of inner chunks of shards, or the
    /// axis's end.
    Kept(Range<u64>),
    /// All of another array, or of the arrays of another group, in the same or another store.
    Inserted(T),
}

/// A planned rearrangement: the new array, and the number of moved chunks.
#[derive(Clone, Debug)]
pub struct Rearrangement {
    array: Array,
    axis: usize,
    placed: Vec<Placed>,
    rearranged: Array,
    counts: RearrangeCounts,
    /// The kept and the inserted parts; of an inserted part, its length.
    spans: Vec<Span<u64>>,
    refill: Option<Refill>,
}

/// Chunks of one array that lie next to each other on the axis, before and after.
#[derive(Clone, Debug)]
struct Placed {
    /// The array, unless it is the rearranged one.
    inserted: Option<Array>,
    /// Their numbers on the axis.
    chunks: Range<u64>,
    /// The number of the first of them in the rearranged array.
    at: u64,
}

impl Placed {
    fn is_own(&self) -> bool {
        self.inserted.is_none()
    }
}

/// The moves of the stored chunks in a rearrangement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RearrangeCounts {
    /// Chunks of the array that stay in it.
    pub kept: u64,
    /// Chunks of the array that are removed.
    pub removed: u64,
    /// Chunks of inserted arrays.
    pub inserted: u64,
    /// Copies of objects: two per chunk, or one per inserted chunk if it is [in
    /// place](Rearrangement::is_in_place). On a local file system they are links.
    pub copies: u64,
}

/// The result of repairing an interrupted rearrangement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// The array is unchanged.
    Undone,
    /// The array is rearranged.
    Completed,
}

/// The progress of a rearrangement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RearrangeProgress {
    /// Copies that are done.
    pub done: u64,
    /// All copies.
    pub total: u64,
}

impl Rearrangement {
    /// The array that is rearranged.
    #[must_use]
    pub fn array(&self) -> &Array {
        &self.array
    }

    /// The axis along which it is rearranged.
    #[must_use]
    pub fn axis(&self) -> usize {
        self.axis
    }

    /// The rearranged array; its chunks do not exist before the execution.
    #[must_use]
    pub fn rearranged(&self) -> &Array {
        &self.rearranged
    }

    /// The counts of the chunks that were stored when it was planned.
    #[must_use]
    pub fn counts(&self) -> RearrangeCounts {
        self.counts
    }

    /// Whether the array's own chunks keep their keys: chunks are only removed from the end or
    /// inserted at the end. Then no chunk is moved.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        let Some((first, rest)) = self.placed.split_first() else { return false };
        let occupied = self.array.grid().occupied().get(self.axis);
        let all_is_kept = occupied == Some(&first.chunks.end);
        first.is_own()
            && first.chunks.start == 0
            && rest.iter().all(|placed| !placed.is_own())
            && (rest.is_empty() || all_is_kept)
    }
}
