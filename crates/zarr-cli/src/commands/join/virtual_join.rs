//! `zarr-kit join --virtual`.

use serde_json::json;
use zarr_kit::array::store::shown_url;
use zarr_kit::join::{NodeMembers, names_of_other_objects};
use zarr_kit::report::words::counted;
use zarr_kit::virtual_join::{Document, Missing, VirtualJoinError};

use super::{arrange, errors, note_left_out};
use crate::args;
use crate::error::CliError;
use crate::output::print::{done, note};
use crate::stores::access::{outside_members, store_options};

pub(super) fn run(args: &args::Join, members: NodeMembers) -> Result<(), CliError> {
    let output = args.output.as_deref().unwrap_or_default();
    let missing = if args.fill_missing { Missing::Fill } else { Missing::Error };
    let (count, kind, document) = match members {
        NodeMembers::Arrays(members) => {
            let count = members.len();
            (count, "array", Document::of_join(arrange::arrays(args, members)?, output, missing))
        }
        NodeMembers::Groups(members) => {
            let count = members.len();
            note_left_out(&names_of_other_objects(&members)?, "the join");
            (count, "group", Document::of_groups(&arrange::groups(args, members)?, output, missing))
        }
    };
    let mut document = document.map_err(|error| failed(error, args))?;
    if args.chunks_may_change {
        document = document.chunks_may_change();
    }
    document.write(output, &store_options()).map_err(|error| failed(error, args))?;
    if let Some(member) = document.members().find(|member| is_outside(&member.location))
        && !outside_members()
    {
        note(format_args!(
            "{}: the member {} lies outside of its folder: commands that open it need \
             --outside-members, other programs its like",
            shown_url(output),
            shown_url(&member.location)
        ));
    }
    let (target, names) = (shown_url(output), counted(count, kind));
    let text = format!("{target}: a virtual join of {names}");
    done(args.json, text, || json!({"target": target, "members": count}))
}

/// Whether a member is not in the folder of the document or below it.
fn is_outside(location: &str) -> bool {
    location.starts_with("..") || location.starts_with('/') || location.contains(':')
}

fn failed(error: VirtualJoinError, args: &args::Join) -> CliError {
    match error {
        VirtualJoinError::Join(cause) => errors::failed(*cause, args),
        error => CliError::VirtualJoin(error),
    }
}
