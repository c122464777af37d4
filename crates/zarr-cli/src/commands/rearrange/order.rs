//! The order of what is appended to groups.

use std::iter;

use zarr_kit::join::{GroupMember, JoinError};
use zarr_kit::{Group, Prefix};

use crate::args::Rearrange;
use crate::error::CliError;
use crate::stores::node_store::NodeStore;

/// Refuses groups to append whose coordinates do not follow, such as a month for the second time.
pub(super) fn check_order(args: &Rearrange) -> Result<(), CliError> {
    if !args.appends {
        return Ok(());
    }
    let member = |path: &String| {
        let place = NodeStore::open(path)?;
        let group = Group::open(place.store.clone(), &Prefix::root());
        let group = group.map_err(|cause| place.failed(cause))?;
        Ok(GroupMember::new(place.shown, group))
    };
    let members: Vec<GroupMember> =
        iter::once(&args.array).chain(&args.insert).map(member).collect::<Result<_, CliError>>()?;
    zarr_kit::join::check_order(&members, &args.axis).map_err(|cause| match cause {
        cause @ JoinError::Coordinates { .. } => {
            let message =
                format!("{cause}; `rearrange --insert .. --at end` inserts it all the same");
            CliError::Usage { message }
        }
        cause => CliError::Join(Box::new(cause)),
    })
}
