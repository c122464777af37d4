//! `zarr-kit rearrange` of a group: all its arrays with a dimension together.

use serde_json::json;
use zarr_kit::array::{GroupRearrangement, GroupSpan, REARRANGE_MARKER};
use zarr_kit::join::{Member, check_insertion};
use zarr_kit::metadata::Printable;
use zarr_kit::{Array, Group, Prefix};

use super::{Asked, asked, is_regular};
use crate::args::Rearrange;
use crate::commands::chunk_counts;
use crate::commands::resize::policy;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::node_store::{Around, NodeStore};
use crate::print::{done, note};
use crate::progress::Bar;
use crate::words;

const INTERRUPTED: &str = "interrupted; `zarr-kit check --repair` undoes or completes this";
const UNFINISHED: &str = "not finished; `zarr-kit check --repair` undoes or completes this";

pub(super) fn run(args: &Rearrange, place: &NodeStore) -> Result<(), CliError> {
    let (store, prefix) = match place.around()? {
        Some(Around { store, prefix }) => (store, prefix),
        None => (place.store.clone(), Prefix::root()),
    };
    let group = Group::open(store, &prefix).map_err(|cause| place.failed(cause))?;
    let group = group.with_update_policy(policy(args.sole_writer));
    let length = group.dimension_length(&args.axis).map_err(|cause| place.failed(cause))?;
    let (spans, inserted) = match asked(args, length)? {
        Asked::Kept(ranges) => (ranges.into_iter().map(GroupSpan::Kept).collect(), None),
        Asked::Inserted { path, at } => {
            let from = NodeStore::open(path)?;
            let other = Group::open(from.store.clone(), &Prefix::root());
            let other = other.map_err(|cause| from.failed(cause))?;
            let spans = vec![
                GroupSpan::Kept(0..at),
                GroupSpan::Inserted(other.clone()),
                GroupSpan::Kept(at..length),
            ];
            (spans, Some((from, other)))
        }
    };
    let plan = group.rearrange(&args.axis, spans).map_err(|cause| place.failed(cause))?;
    if let Some((from, other)) = &inserted {
        for array in plan.arrays() {
            let path = path_in(&group, array.array());
            let inserted = other.array(path).map_err(|cause| from.failed(cause))?;
            let member = |place: &NodeStore, array: &Array| {
                Member::new(format!("{}/{path}", place.shown), array.clone())
            };
            let (whole, part) = (member(place, array.array()), member(from, &inserted));
            check_insertion(&whole, &part, array.axis())
                .map_err(|cause| CliError::Join(Box::new(cause)))?;
        }
    }
    if !args.dry_run {
        execute(place, &group, &plan)?;
    }
    report(args, place, &group, &plan, length)
}

fn execute(place: &NodeStore, group: &Group, plan: &GroupRearrangement) -> Result<(), CliError> {
    let bar = Bar::new();
    let interrupt = Interrupt::saying(INTERRUPTED, &bar);
    let executed = plan.execute(&|at| bar.chunks("moving", at.done, at.total, 0));
    drop(interrupt);
    drop(bar);
    if let Err(cause) = executed {
        let marker = group.prefix().key(REARRANGE_MARKER);
        // If this cannot be found out, it is not said.
        if marker.is_ok_and(|key| matches!(group.store().head(&key), Ok(Some(_)))) {
            note(UNFINISHED);
        }
        return Err(place.failed(cause));
    }
    place.finish()
}

/// The path of an array from the group.
fn path_in<'a>(group: &Group, array: &'a Array) -> &'a str {
    let path = array.prefix().as_str();
    path.strip_prefix(group.prefix().as_str()).unwrap_or(path).trim_start_matches('/')
}

fn report(
    args: &Rearrange,
    place: &NodeStore,
    group: &Group,
    plan: &GroupRearrangement,
    length: u64,
) -> Result<(), CliError> {
    let counts = plan.counts();
    let after = plan
        .arrays()
        .first()
        .and_then(|array| array.rearranged().shape().get(array.axis()).copied());
    let after = after.unwrap_or(length);
    let verb = if args.dry_run { "would rearrange" } else { "rearranged" };
    let paths: Vec<&str> =
        plan.arrays().iter().map(|array| path_in(group, array.array())).collect();
    let arrays = u64::try_from(paths.len()).unwrap_or(u64::MAX);
    let mut text = format!(
        "{verb} {}: {} from {} to {} in {} ({}); {} kept, {} removed, {} inserted",
        place.shown,
        Printable(&args.axis),
        words::count(length),
        words::count(after),
        words::counted(arrays, "array"),
        Printable(&paths.join(", ")),
        words::counted(counts.kept, "stored chunk"),
        words::count(counts.removed),
        words::count(counts.inserted),
    );
    let becomes = plan
        .arrays()
        .iter()
        .filter(|array| is_regular(array.array()) && !is_regular(array.rearranged()));
    let becomes: Vec<&str> = becomes.map(|array| path_in(group, array.array())).collect();
    if !becomes.is_empty() {
        let becomes = becomes.join(", ");
        text.push_str(&format!("; these grids become rectilinear: {}", Printable(&becomes)));
    }
    if args.dry_run {
        text.push_str(&format!("; objects are copied {} times", words::count(counts.copies)));
    }
    done(args.json, text, || {
        let arrays = plan.arrays().iter().map(|array| {
            let (counts, to) = (array.counts(), array.rearranged());
            json!({
                "path": path_in(group, array.array()), "axis": array.axis(),
                "from": array.array().shape(), "to": to.shape(),
                "kept": counts.kept, "removed": counts.removed, "inserted": counts.inserted,
                "regular": is_regular(to), "chunks": chunk_counts(to.grid()),
            })
        });
        json!({
            "group": place.shown, "dimension": args.axis, "from": length, "to": after,
            "arrays": arrays.collect::<Vec<_>>(),
            "kept": counts.kept, "removed": counts.removed, "inserted": counts.inserted,
            "copies": counts.copies, "dry_run": args.dry_run,
        })
    })
}
