//! What an interrupted rearrangement has left.

use zarr_array::ArrayError;
use zarr_array::ChunkLayout;
use zarr_join::rearrange::{Interrupted, InterruptedGroup};
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
    let state = Interrupted::of(store, layout)?;
    let message = match state {
        Interrupted::Before(_) => {
            "the array is as it was before, and --repair removes what is left over"
        }
        Interrupted::InGroup(_) => {
            "with those of other arrays of a group: this one is as it was before, and --repair of \
             the group undoes or completes it"
        }
        Interrupted::After(_) => "the array is rearranged, and --repair removes what is left over",
        Interrupted::Away(_) => {
            "the array is rearranged, with keys of another encoding until --repair"
        }
        _ => NOT_UNDERSTOOD,
    };
    let message = format!("moving its chunks was interrupted: {message}");
    Ok((Finding::new(REARRANGING, message).with_key(key.as_str()), state.other_keys()))
}

/// The finding of a group with the marker of a rearrangement.
pub(crate) fn group_of(
    store: &dyn Store,
    prefix: &Prefix,
    marker: &Key,
) -> Result<Finding, ArrayError> {
    let (rule, message) = match InterruptedGroup::of(store, prefix)? {
        InterruptedGroup::Before => {
            (REARRANGING, "all are as they were before, and --repair removes what is left over")
        }
        InterruptedGroup::Half => {
            (HALF, "some may be rearranged and others not, until --repair completes it")
        }
        InterruptedGroup::After => {
            (REARRANGING, "all are rearranged, and --repair removes what is left")
        }
        _ => (REARRANGING, NOT_UNDERSTOOD),
    };
    let message = format!("rearranging its arrays was interrupted: {message}");
    Ok(Finding::new(rule, message).with_key(marker.as_str()))
}
