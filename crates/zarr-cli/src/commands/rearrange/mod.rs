//! `zarr-kit rearrange`.

mod group;
mod linked;

use std::ops::Range;
use std::sync::Arc;

use serde_json::json;
use zarr_kit::array::{REARRANGE_MARKER, RearrangeProgress, Rearrangement, Span};
use zarr_kit::join::{Member, check_insertion, is_virtual_join};
use zarr_kit::metadata::{ChunkGrid, NodeMetadata};
use zarr_kit::{Array, ArrayError, AxisSelection, Prefix, Selection, Store};

use super::chunk_counts;
use super::resize::policy;
use crate::args::Rearrange;
use crate::chunks;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::node_store::{Around, NodeStore};
use crate::print::{done, note};
use crate::progress::Bar;
use crate::words;

/// What is said when chunks could not all be moved.
struct Said {
    interrupted: &'static str,
    unfinished: &'static str,
}

const SAID: Said = Said {
    interrupted: "interrupted; the array is whole, and `zarr-kit check --repair` undoes or completes \
                  this",
    unfinished: "not finished; the array is whole, and `zarr-kit check --repair` undoes or completes \
                 this",
};

pub(super) fn run(args: &Rearrange) -> Result<(), CliError> {
    if is_virtual_join(&args.array) {
        return linked::run(args);
    }
    let place = NodeStore::open(&args.array)?;
    if let NodeMetadata::Group(_) = place.node()? {
        return group::run(args, &place);
    }
    // Says what is not an array, and where.
    let array = place.array()?;
    // Groups above must follow before old chunks are removed, and not at the end.
    let array = match place.around()? {
        Some(Around { store, prefix }) => Array::open(store, &prefix),
        None => Array::open(array.store().clone(), &Prefix::root()),
    };
    let array = array.map_err(|cause| place.failed(cause))?;
    let array = array.with_update_policy(policy(args.sole_writer));
    let names = array.metadata().dimension_names().unwrap_or_default();
    let axis = chunks::axis_of(&args.axis, array.shape().len(), names)
        .map_err(|cause| CliError::argument("--axis", &args.axis, cause))?;
    let length = array.shape().get(axis).copied().unwrap_or(0);
    let spans = spans(args, &place, &array, axis, length)?;
    let plan = array.rearrange(axis, spans).map_err(|cause| place.failed(cause))?;
    if !args.dry_run {
        execute(&place, array.store(), array.prefix(), &SAID, |report| {
            plan.execute(report).map(drop)
        })?;
    }
    report(args, &place, &array, axis, &plan)
}

/// Moves the chunks of the node at `prefix`, and says what is left if that fails.
fn execute(
    place: &NodeStore,
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    said: &Said,
    run: impl FnOnce(&(dyn Fn(RearrangeProgress) + Sync)) -> Result<(), ArrayError>,
) -> Result<(), CliError> {
    let bar = Bar::new();
    let interrupt = Interrupt::saying(said.interrupted, &bar);
    let executed = run(&|at| bar.chunks("moving", at.done, at.total, 0));
    drop(interrupt);
    drop(bar);
    if let Err(cause) = executed {
        let marker = prefix.key(REARRANGE_MARKER);
        // If this cannot be found out, it is not said.
        if marker.is_ok_and(|key| matches!(store.head(&key), Ok(Some(_)))) {
            note(said.unfinished);
        }
        return Err(place.failed(cause));
    }
    place.finish()
}

/// What the arguments ask for.
enum Asked<'a> {
    /// These ranges, in this order.
    Kept(Vec<Range<u64>>),
    /// The array at a path, in front of an index.
    Inserted { path: &'a str, at: u64 },
}

fn asked(args: &Rearrange, length: u64) -> Result<Asked<'_>, CliError> {
    if let Some(text) = &args.remove {
        let mut removed = ranges("--remove", text, length)?;
        removed.sort_by_key(|range| range.start);
        let mut kept = Vec::new();
        let mut start = 0;
        for range in removed {
            if start < range.start {
                kept.push(start..range.start);
            }
            start = start.max(range.end);
        }
        kept.push(start..length);
        return Ok(Asked::Kept(kept));
    }
    if let Some(text) = &args.order {
        return Ok(Asked::Kept(ranges("--order", text, length)?));
    }
    let text = args.at.as_deref().unwrap_or_default();
    let path = args.insert.as_deref().unwrap_or_default();
    Ok(Asked::Inserted { path, at: index(text, length)? })
}

/// The spans of the new axis.
fn spans(
    args: &Rearrange,
    place: &NodeStore,
    array: &Array,
    axis: usize,
    length: u64,
) -> Result<Vec<Span>, CliError> {
    let (path, at) = match asked(args, length)? {
        Asked::Kept(ranges) => return Ok(ranges.into_iter().map(Span::Kept).collect()),
        Asked::Inserted { path, at } => (path, at),
    };
    let from = NodeStore::open(path)?;
    let inserted = from.array()?;
    let [whole, part] = [(place, array), (&from, &inserted)]
        .map(|(place, array)| Member::new(place.shown.as_str(), array.clone()));
    check_insertion(&whole, &part, axis).map_err(|cause| CliError::Join(Box::new(cause)))?;
    Ok(vec![Span::Kept(0..at), Span::Inserted(inserted), Span::Kept(at..length)])
}

/// Parses `0:31,59:`.
fn ranges(option: &'static str, text: &str, length: u64) -> Result<Vec<Range<u64>>, CliError> {
    text.split(',')
        .map(|range| {
            let wrong = |cause: &dyn std::fmt::Display| CliError::argument(option, text, cause);
            if !range.contains(':') {
                return Err(wrong(&format_args!(
                    "{:?} is no range: ranges are START:STOP",
                    range.trim()
                )));
            }
            let selection = Selection::parse(range, &[length]).map_err(|cause| wrong(&cause))?;
            match selection.axes() {
                [AxisSelection::Range(range) | AxisSelection::Step { range, step: 1 }] => {
                    Ok(range.clone())
                }
                _ => Err(wrong(&"ranges have no step")),
            }
        })
        .collect()
}

/// Parses the index of an edge: as of a slice, the axis's length is one too.
fn index(text: &str, length: u64) -> Result<u64, CliError> {
    let wrong = |cause: &dyn std::fmt::Display| CliError::argument("--at", text, cause);
    let number: i128 = text.trim().parse().map_err(|_| wrong(&"an index is an integer"))?;
    let wide = i128::from(length);
    let at = if number < 0 { number.saturating_add(wide) } else { number };
    match u64::try_from(at) {
        Ok(at) if at <= length => Ok(at),
        _ => Err(wrong(&format_args!("the axis has indices 0 to {length}, its end included"))),
    }
}

fn is_regular(array: &Array) -> bool {
    matches!(array.metadata().chunk_grid(), ChunkGrid::Regular { .. })
}

fn report(
    args: &Rearrange,
    place: &NodeStore,
    array: &Array,
    axis: usize,
    plan: &Rearrangement,
) -> Result<(), CliError> {
    let (counts, after) = (plan.counts(), plan.rearranged());
    let (from, to) = (words::shape(array.shape()), words::shape(after.shape()));
    let verb = if args.dry_run { "would rearrange" } else { "rearranged" };
    let mut text = format!(
        "{verb} {}: {from} to {to}; {} kept, {} removed, {} inserted",
        place.shown,
        words::counted(counts.kept, "stored chunk"),
        words::count(counts.removed),
        words::count(counts.inserted),
    );
    if is_regular(array) && !is_regular(after) {
        text.push_str("; the grid becomes rectilinear");
    }
    if args.dry_run {
        text.push_str(&format!("; objects are copied {} times", words::count(counts.copies)));
    }
    done(args.json, text, || {
        json!({
            "array": place.shown, "axis": axis, "from": array.shape(), "to": after.shape(),
            "kept": counts.kept, "removed": counts.removed, "inserted": counts.inserted,
            "copies": counts.copies, "in_place": plan.is_in_place(), "dry_run": args.dry_run,
            "regular": is_regular(after), "chunks": chunk_counts(after.grid()),
        })
    })
}
