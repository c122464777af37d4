//! The order of members that are appended to groups.

use std::iter;

use zarr_kit::join::{GroupMember, JoinError};
use zarr_kit::{Group, Prefix};

use crate::args::Rearrange;
use crate::error::CliError;
use crate::stores::node_store::NodeStore;

/// Refuses groups to append whose coordinates do not follow, such as a month for the second time.
pub(super) fn check_order(
    args: &Rearrange,
    dimension: &str,
    inserted: impl IntoIterator<Item = GroupMember>,
) -> Result<(), CliError> {
    if !args.appends {
        return Ok(());
    }
    let place = NodeStore::open(&args.array)?;
    let group = Group::open(place.store.clone(), &Prefix::root());
    let group = group.map_err(|cause| place.failed(cause))?;
    let members: Vec<GroupMember> =
        iter::once(GroupMember::new(place.shown, group)).chain(inserted).collect();
    zarr_kit::join::check_order(&members, dimension).map_err(|cause| match cause {
        cause @ JoinError::Coordinates { .. } => {
            let message =
                format!("{cause}; `rearrange --insert .. --at end` inserts it all the same");
            CliError::Usage { message }
        }
        cause => cause.into(),
    })
}
