//! What an interrupted rearrangement has left.

use zarr_array::ArrayError;
use zarr_array::ChunkLayout;
use zarr_array::{GroupMarker, RearrangeMarker, RearrangeStep, away};
use zarr_metadata::ChunkKeyEncoding;
use zarr_store::{Key, Prefix, Store};

use crate::finding::{Finding, HALF, REARRANGING};

const NOT_UNDERSTOOD: &str =
    "but the marker is not understood: another version or another program put it";

/// The finding of a rearrangement that was interrupted, and the encoding of the keys of chunks that
/// are not the array's because of it.
pub(crate) fn array_of(
    store: &dyn Store,
    layout: &ChunkLayout,
    key: &Key,
) -> Result<(Finding, Option<ChunkKeyEncoding>), ArrayError> {
    let marker = understood(RearrangeMarker::at(store, layout.prefix()))?;
    let now = layout.key_encoding();
    let (message, other) = match marker {
        // Whether it is undone or completed depends on the other arrays.
        Some(RearrangeMarker { home, step: RearrangeStep::Leaving, share: Some(_) })
            if now == home =>
        {
            let message = "with those of other arrays of a group: this one is as it was before, and \
                           --repair of the group undoes or completes it";
            (message, Some(away(home)))
        }
        Some(RearrangeMarker { home, step, .. }) if now == home => {
            let message = match step {
                RearrangeStep::Leaving => {
                    "the array is as it was before, and --repair removes what is left over"
                }
                RearrangeStep::Returning => {
                    "the array is rearranged, and --repair removes what is left over"
                }
            };
            (message, Some(away(home)))
        }
        Some(RearrangeMarker { home, .. }) if now == away(home) => {
            ("the array is rearranged, with keys of another encoding until --repair", Some(home))
        }
        _ => (NOT_UNDERSTOOD, None),
    };
    let message = format!("moving its chunks was interrupted: {message}");
    Ok((Finding::new(REARRANGING, message).with_key(key.as_str()), other))
}

/// The finding of a group with the marker of a rearrangement.
pub(crate) fn group_of(
    store: &dyn Store,
    prefix: &Prefix,
    marker: &Key,
) -> Result<Finding, ArrayError> {
    let (rule, message) = match understood(GroupMarker::at(store, prefix))? {
        Some(GroupMarker::Leaving) => {
            (REARRANGING, "all are as they were before, and --repair removes what is left over")
        }
        Some(GroupMarker::Switching) => {
            (HALF, "some may be rearranged and others not, until --repair completes it")
        }
        Some(GroupMarker::Returning) => {
            (REARRANGING, "all are rearranged, and --repair removes what is left")
        }
        None => (REARRANGING, NOT_UNDERSTOOD),
    };
    let message = format!("rearranging its arrays was interrupted: {message}");
    Ok(Finding::new(rule, message).with_key(marker.as_str()))
}

/// A marker that was read; `None` if it is not understood, or was removed meanwhile.
fn understood<M>(marker: Result<Option<M>, ArrayError>) -> Result<Option<M>, ArrayError> {
    match marker {
        Err(ArrayError::Rearrange { .. }) => Ok(None),
        marker => marker,
    }
}
