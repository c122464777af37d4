//! Moving the chunks, with a progress bar and the message about an interruption.

use zarr_kit::array::unfinished::REARRANGE_MARKER;
use zarr_kit::join::rearrange::RearrangeProgress;
use zarr_kit::metadata::ChunkGrid;
use zarr_kit::report::words;
use zarr_kit::{Array, ArrayError, Prefix};

use crate::args::Rearrange;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::output::print::note;
use crate::output::progress::Bar;
use crate::stores::node_store::NodeStore;

/// The message when chunks could not all be moved.
pub(super) struct Said {
    pub(super) interrupted: &'static str,
    pub(super) unfinished: &'static str,
}

/// Moves the chunks of a node, and names the remains if that fails.
pub(super) fn execute(
    place: &NodeStore,
    said: &Said,
    run: impl FnOnce(&(dyn Fn(RearrangeProgress) + Sync)) -> Result<(), ArrayError>,
) -> Result<(), CliError> {
    let bar = Bar::new();
    let interrupted = said.interrupted;
    let interrupt = Interrupt::saying(move |_| interrupted, &bar);
    let executed = run(&|at| bar.chunks("moving", at.done, at.total, 0));
    drop(interrupt);
    drop(bar);
    if let Err(cause) = executed {
        let marker = Prefix::root().key(REARRANGE_MARKER);
        // If this cannot be found out, it is not said.
        if marker.is_ok_and(|key| matches!(place.store.head(&key), Ok(Some(_)))) {
            note(said.unfinished);
        }
        return Err(place.failed(cause));
    }
    place.finish()
}

pub(super) fn is_regular(array: &Array) -> bool {
    matches!(array.metadata().chunk_grid(), ChunkGrid::Regular { .. })
}

/// The changes that were made, or would be made, and their node.
pub(super) fn verb(args: &Rearrange) -> &'static str {
    match (args.appends, args.dry_run) {
        (true, _) => "appended to",
        (false, true) => "would rearrange",
        (false, false) => "rearranged",
    }
}

/// The numbers of kept, removed and inserted parts of a node. To append keeps all of them.
pub(super) fn parts<N: TryInto<u128>>(
    args: &Rearrange,
    what: &str,
    [kept, removed, inserted]: [N; 3],
) -> String {
    match args.appends {
        true => format!("{} moved in", words::counted(inserted, what)),
        false => format!(
            "{} kept, {} removed, {} inserted",
            words::counted(kept, what),
            words::count(removed),
            words::count(inserted)
        ),
    }
}
