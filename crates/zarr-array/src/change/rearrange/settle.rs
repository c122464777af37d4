//! What is to be done about a rearrangement that was interrupted.

use zarr_metadata::ChunkKeyEncoding;

use super::marker::{MARKER, Marker, Step, away};
use super::steps::{Tally, checked, come_home, leave};
use super::together::settle_group_of;
use crate::array::Array;
use crate::change::document::{Document, Extent};
use crate::error::{ArrayError, RearrangeError};
use crate::node;

/// How an interrupted rearrangement was settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Settled {
    /// The array is as it was before.
    Undone,
    /// The array is rearranged.
    Completed,
}

impl Array {
    /// Undoes or completes a rearrangement of this array that was interrupted, `None` if there is
    /// none. It is undone if the array was still the old one. What was changed since then, by writes,
    /// appends or resizes, is kept. If it was rearranged together with other arrays of a group, this
    /// settles [the group](crate::Group::settle_rearrangement).
    ///
    /// This handle must be opened again afterwards.
    ///
    /// # Errors
    /// As [`Rearrangement::execute`](crate::Rearrangement::execute). It can be repeated.
    pub fn settle_rearrangement(&self) -> Result<Option<Settled>, ArrayError> {
        let Some(marker) = Marker::at(&**self.store(), self.prefix())? else { return Ok(None) };
        if let Some(share) = &marker.share
            && let Some(settled) = settle_group_of(self, share)?
        {
            return Ok(Some(settled));
        }
        let array = checked(self);
        let mut document = Document::lock(&array, Extent::Chunks)?;
        // Another process may have settled it before the lock was given.
        let Some(Marker { home, step, .. }) = Marker::at(&**array.store(), array.prefix())? else {
            return Ok(None);
        };
        let is_undone = step == Step::Leaving && array.layout().key_encoding() == home;
        settle_at(&array, &mut document, home)?;
        Ok(Some(if is_undone { Settled::Undone } else { Settled::Completed }))
    }
}

/// Removes what is left over of an array that has its own keys, or brings it back to them. `array` is
/// the one of `document`.
pub(super) fn settle_at(
    array: &Array,
    document: &mut Document<'_>,
    home: ChunkKeyEncoding,
) -> Result<(), ArrayError> {
    let now = array.layout().key_encoding();
    if now == home {
        return leave(array, away(home));
    }
    if now != away(home) {
        let key = array.prefix().key(MARKER)?.to_string();
        return Err(array.fault(RearrangeError::Marker { key }));
    }
    let metadata = document.current().with_chunk_key_encoding(&home);
    let metadata = metadata
        .map_err(|cause| ArrayError::Metadata { key: node::metadata_key(array.prefix()), cause })?;
    come_home(array, document, &metadata, home, &Tally::new(0, &|_| {}))
}
