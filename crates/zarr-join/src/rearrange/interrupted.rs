//! The remains of an interrupted rearrangement, for reports.

use zarr_array::store::{Prefix, Store};
use zarr_array::{ArrayError, ChunkLayout};
use zarr_metadata::ChunkKeyEncoding;

use super::array_marker::{ArrayMarker, Step, away};
use super::group::GroupMarker;

/// The remains of an interrupted rearrangement in an array that has the marker
/// [`REARRANGE_MARKER`](zarr_array::unfinished::REARRANGE_MARKER).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interrupted {
    /// The array is unchanged. Chunks with keys of this encoding are leftovers.
    Before(ChunkKeyEncoding),
    /// As [`Before`](Self::Before). The other arrays of a group decide whether a repair undoes or
    /// completes the rearrangement.
    InGroup(ChunkKeyEncoding),
    /// The array is rearranged. Chunks with keys of this encoding are leftovers.
    After(ChunkKeyEncoding),
    /// The array is rearranged, and has keys of another encoding for now. Before, it had keys of
    /// this encoding.
    Away(ChunkKeyEncoding),
    /// The marker is not understood, or was removed meanwhile.
    Unknown,
}

impl Interrupted {
    /// Reads the marker of the array with these chunks.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn of(store: &dyn Store, layout: &ChunkLayout) -> Result<Self, ArrayError> {
        let now = layout.key_encoding();
        Ok(match understood(ArrayMarker::at(store, layout.prefix()))? {
            Some(ArrayMarker { home, step, share }) if *now == home => match (step, share) {
                (Step::Leaving, Some(_)) => Self::InGroup(away(&home)),
                (Step::Leaving, None) => Self::Before(away(&home)),
                (Step::Returning, _) => Self::After(away(&home)),
            },
            Some(ArrayMarker { home, .. }) if *now == away(&home) => Self::Away(home),
            _ => Self::Unknown,
        })
    }

    /// The key encoding of the leftover chunks.
    #[must_use]
    pub fn other_keys(self) -> Option<ChunkKeyEncoding> {
        match self {
            Self::Before(keys) | Self::InGroup(keys) | Self::After(keys) | Self::Away(keys) => {
                Some(keys)
            }
            Self::Unknown => None,
        }
    }
}

/// The remains of an interrupted rearrangement in the arrays of a group that has the marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InterruptedGroup {
    /// All arrays are unchanged.
    Before,
    /// Some may be rearranged and others not.
    Half,
    /// All are rearranged.
    After,
    /// The marker is not understood, or was removed meanwhile.
    Unknown,
}

impl InterruptedGroup {
    /// Reads the marker of the group at `prefix`.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn of(store: &dyn Store, prefix: &Prefix) -> Result<Self, ArrayError> {
        Ok(match understood(GroupMarker::at(store, prefix))? {
            Some(GroupMarker::Leaving) => Self::Before,
            Some(GroupMarker::Switching) => Self::Half,
            Some(GroupMarker::Returning) => Self::After,
            None => Self::Unknown,
        })
    }
}

/// A marker that was read; `None` if it is not understood, or was removed meanwhile.
fn understood<M>(marker: Result<Option<M>, ArrayError>) -> Result<Option<M>, ArrayError> {
    match marker {
        Err(ArrayError::Refused { .. }) => Ok(None),
        marker => marker,
    }
}
