//! `zarr-kit consolidate`.

use serde_json::json;
use zarr_kit::report::words;
use zarr_kit::{Group, Prefix};

use crate::args::Consolidate;
use crate::error::CliError;
use crate::output::print::done;
use crate::stores::node_store::NodeStore;

pub(crate) fn run(args: &Consolidate) -> Result<(), CliError> {
    let place = NodeStore::to_change(&args.path)?;
    let failed = |cause| place.failed(cause);
    let group = Group::open(place.store.clone(), &Prefix::root()).map_err(failed)?;
    if args.remove {
        let was_there = group.remove_consolidated().map_err(failed)?;
        place.finish()?;
        let message = match was_there {
            true => format!("removed the consolidated metadata of {}", place.shown),
            false => format!("{} has no consolidated metadata", place.shown),
        };
        return done(args.json, message, || json!({"group": place.shown, "removed": was_there}));
    }
    let group = group.consolidate().map_err(failed)?;
    place.finish()?;
    let nodes = group.metadata().consolidated_metadata().map_or(0, |nodes| nodes.paths().len());
    let message = format!("consolidated {}: {}", place.shown, words::counted(nodes, "node"));
    done(args.json, message, || json!({"group": place.shown, "nodes": nodes}))
}
