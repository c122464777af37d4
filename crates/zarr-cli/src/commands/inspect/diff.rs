//! `zarr-kit diff`.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use zarr_kit::report::diff::{DiffError, DiffEvent, DiffNode, Difference, diff};
use zarr_kit::{ArrayMetadata, Prefix, Selection};

use crate::args::Diff;
use crate::error::CliError;
use crate::notation::region;
use crate::output::print::{self, Out, note};
use crate::output::progress::Bar;
use crate::stores::node_store::NodeStore;

/// Exit status if the two have different content.
const DIFFERENT: u8 = 1;

/// Exit status if something could not be compared, as after any error.
const NOT_COMPARED: u8 = 2;

pub(crate) fn run(args: &Diff) -> Result<u8, CliError> {
    let (one, other) = (NodeStore::open(&args.one)?, NodeStore::open(&args.other)?);
    let found = RefCell::new(BTreeSet::new());
    let regions = [&one, &other].map(|place| regions(place, args.region.as_deref(), &found));
    let coordinates = [&one, &other].map(|place| |name: &str| place.opened.neighbour(name));
    let [ours, theirs] = [(&one, 0), (&other, 1)].map(|(place, at)| {
        let node = DiffNode::new(&place.store, Prefix::root(), &place.shown);
        let node = node.coordinates(&coordinates[at]);
        if args.region.is_some() { node.regions(&regions[at]) } else { node }
    });
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
    if let Some(region) = &args.region {
        refuse_unknown(region, &found.borrow())?;
    }
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

/// What `--region` selects of each array at a place: of arrays in a group, the entries of the axes that
/// they have, whose names are added to `found`.
fn regions<'a>(
    place: &'a NodeStore,
    text: Option<&'a str>,
    found: &'a RefCell<BTreeSet<String>>,
) -> impl Fn(&str, &ArrayMetadata) -> Result<Option<Selection>, String> + 'a {
    move |path, metadata| {
        let Some(text) = text else { return Ok(None) };
        let of_array = |place: &NodeStore, text: &str| {
            region::region(place, metadata, Some(text)).map_err(|cause| cause.to_string())
        };
        if path.is_empty() {
            found.borrow_mut().extend(region::names(text));
            return of_array(place, text).map(Some);
        }
        let text = region::entries_of(text, metadata)?;
        found.borrow_mut().extend(region::names(&text));
        if text.is_empty() {
            return Ok(None);
        }
        let below =
            NodeStore::open(&place.opened.below(path)).map_err(|cause| cause.to_string())?;
        of_array(&below, &text).map(Some)
    }
}

/// Refuses a region with an axis that no array has.
fn refuse_unknown(region: &str, found: &BTreeSet<String>) -> Result<(), CliError> {
    match region::names(region).find(|name| !found.contains(name)) {
        Some(name) => {
            let reason = format!("no compared array has an axis {name:?}");
            Err(CliError::argument("--region", region, reason))
        }
        None => Ok(()),
    }
}
