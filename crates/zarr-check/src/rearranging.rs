//! The remains of an interrupted rearrangement.

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
            zarr_store::reached!("check: an array before its rearrangement");
            "the array is as it was before, and has leftovers"
        }
        Interrupted::InGroup(_) => {
            zarr_store::reached!("check: an array that a group rearranges");
            "the array is as it was before; a repair of its group undoes or completes the \
             rearrangement of all arrays"
        }
        Interrupted::After(_) => {
            zarr_store::reached!("check: an array after its rearrangement");
            "the array is rearranged, and has leftovers"
        }
        Interrupted::Away(_) => {
            zarr_store::reached!("check: an array with keys of another encoding");
            "the array is rearranged, with keys of another encoding until it is repaired"
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
            zarr_store::reached!("check: a group before its rearrangement");
            (REARRANGING, "all are as they were before, and there are leftovers")
        }
        InterruptedGroup::Half => {
            zarr_store::reached!("check: a half rearranged group");
            (HALF, "some may be rearranged and others not, until a repair completes it")
        }
        InterruptedGroup::After => {
            zarr_store::reached!("check: a group after its rearrangement");
            (REARRANGING, "all are rearranged, and there are leftovers")
        }
        _ => (REARRANGING, NOT_UNDERSTOOD),
    };
    let message = format!("rearranging its arrays was interrupted: {message}");
    Ok(Finding::new(rule, message).with_key(marker.as_str()))
}
