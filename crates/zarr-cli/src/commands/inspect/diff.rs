//! `zarr-kit diff`.

use std::ops::ControlFlow;

use zarr_kit::Prefix;
use zarr_kit::report::diff::{DiffError, DiffEvent, DiffNode, Difference, diff};

use crate::args::Diff;
use crate::error::CliError;
use crate::output::print::{self, Out, note};
use crate::output::progress::Bar;
use crate::stores::node_store::NodeStore;

/// Exit status if the two have different content.
const DIFFERENT: u8 = 1;

/// Exit status if something could not be compared, as after any error.
const NOT_COMPARED: u8 = 2;

pub(crate) fn run(args: &Diff) -> Result<u8, CliError> {
    let (one, other) = (NodeStore::open(&args.one)?, NodeStore::open(&args.other)?);
    let ours = DiffNode::new(&one.store, Prefix::root(), &one.shown);
    let theirs = DiffNode::new(&other.store, Prefix::root(), &other.shown);
    // The command words errors with the place and a hint.
    let failed = |error: DiffError| {
        let place = if error.name == one.shown { &one } else { &other };
        place.not_reported(error.cause)
    };
    let worded = |error: DiffError| failed(error).to_string();
    let (mut out, mut documents, mut written) = (Out::stdout(), Vec::new(), Ok(()));
    let bar = Bar::new();
    let mut tell = |difference: Difference<'_>| {
        if args.json {
            documents.push(difference.json(worded));
            return Ok(());
        }
        let line = difference.line(worded);
        bar.beside(|| out.line(line))
    };
    let summary = diff(&ours, &theirs, args.metadata_only, &mut |event| {
        match event {
            DiffEvent::Difference(difference) => written = print::unless_closed(tell(difference)),
            DiffEvent::Progress { path, bytes } => {
                bar.bytes(if path.is_empty() { "comparing" } else { path }, bytes, None);
            }
            _ => {}
        }
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    bar.clear();
    written?;
    let summary = summary.map_err(failed)?;
    if args.json {
        print::unless_closed(out.json(&summary.json(&one.shown, &other.shown, &documents)))?;
    }
    print::unless_closed(out.finish())?;
    if !args.json {
        note(summary.line());
    }
    Ok(match (summary.not_compared, summary.different) {
        (0, 0) => 0,
        (0, _) => DIFFERENT,
        _ => NOT_COMPARED,
    })
}
