//! `zarr-kit join --virtual`.

use serde_json::json;
use zarr_kit::array::store::{StoreOptions, shown_url};
use zarr_kit::join::{Join, LinkError, Missing};

use super::arrange;
use super::members::Opened;
use crate::args;
use crate::error::CliError;
use crate::print::done;
use crate::words::counted;

pub(super) fn run(args: &args::Join, members: Opened) -> Result<(), CliError> {
    let output = args.output.as_deref().unwrap_or_default();
    let Opened::Arrays(members) = members else {
        let message = "--virtual joins arrays: name one in each group, as 2015-*.zarr/temp";
        return Err(CliError::Usage { message: message.to_owned() });
    };
    let count = u64::try_from(members.len()).unwrap_or(u64::MAX);
    let arrangement = arrange::arrays(args, &members)?;
    let mut join = Join::new(members, arrangement).attributes(arrange::combine(args.combine_attrs));
    if let Some(name) = &args.new_axis {
        join = join.new_axis_name(name.clone());
    }
    let missing = if args.fill_missing { Missing::Fill } else { Missing::Error };
    let document = join.link(output, missing).map_err(failed)?;
    document.write(output, &StoreOptions::new()).map_err(failed)?;
    let (target, names) = (shown_url(output), counted(count, "member"));
    let text = format!("{target}: a virtual join of {names}");
    done(args.json, text, || json!({"target": target, "members": count}))
}

fn failed(error: LinkError) -> CliError {
    match error {
        LinkError::Join(cause) => CliError::Join(cause),
        error => CliError::VirtualJoin(error),
    }
}
