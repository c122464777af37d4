//! `zarr-kit rearrange` of a group: all its arrays with a dimension together.

use serde_json::json;
use zarr_kit::join::rearrange::{GroupRearrangement, dimension_length};
use zarr_kit::join::{GroupMember, check_group_insertion, names_of_other_objects};
use zarr_kit::metadata::Printable;
use zarr_kit::report::words;
use zarr_kit::{Group, Prefix};

use super::moving::{Said, execute, is_regular, parts, verb};
use super::order::check_order;
use super::spans::Axis;
use crate::args::Rearrange;
use crate::commands::join::note_left_out;
use crate::commands::nodes::resize::policy;
use crate::error::CliError;
use crate::notation::chunks::chunk_counts;
use crate::output::print::done;
use crate::stores::node_store::NodeStore;

const SAID: Said = Said {
    interrupted: "interrupted; `zarr-kit check --repair` undoes or completes this",
    unfinished: "not finished; `zarr-kit check --repair` undoes or completes this",
};

pub(super) fn run(args: &Rearrange, place: &NodeStore) -> Result<(), CliError> {
    let group = Group::open(place.store.clone(), &Prefix::root());
    let group = group.map_err(|cause| place.failed(cause))?;
    let group = group.with_update_policy(policy(args.sole_writer));
    let length = dimension_length(&group, &args.axis).map_err(|cause| place.failed(cause))?;
    let mut inserted = Vec::new();
    let spans = Axis::of_group(args, length)?.spans(args, |from| {
        let other = Group::open(from.store.clone(), &Prefix::root());
        let other = other.map_err(|cause| from.failed(cause))?;
        inserted.push(GroupMember::new(from.shown.as_str(), other.clone()));
        Ok(other)
    })?;
    let names: Vec<String> = inserted.iter().map(|member| member.name().to_owned()).collect();
    let plan = GroupRearrangement::plan(&group, &args.axis, spans, args.promote);
    let plan = plan.map_err(|cause| place.failed(cause))?;
    check_group_insertion(&plan, &place.shown, &names)?;
    let left_out = names_of_other_objects(&inserted)?;
    check_order(args, plan.dimension(), inserted)?;
    if !args.dry_run {
        execute(place, &SAID, |report| plan.execute(report))?;
    }
    note_left_out(&left_out, &place.shown);
    report(args, place, &plan, length)
}

fn report(
    args: &Rearrange,
    place: &NodeStore,
    plan: &GroupRearrangement,
    length: u64,
) -> Result<(), CliError> {
    let counts = plan.counts();
    let dimension = match plan.dimension() {
        name if name == args.axis => name.to_owned(),
        name => format!("{name} ({})", args.axis),
    };
    let after = plan
        .arrays()
        .first()
        .and_then(|array| array.rearranged().shape().get(array.axis()).copied());
    let after = after.unwrap_or(length);
    let mut text = format!(
        "{} {}: {} from {} to {} in {} ({}); {}",
        verb(args),
        place.shown,
        Printable(&dimension),
        words::count(length),
        words::count(after),
        words::counted(plan.arrays().len(), "array"),
        Printable(&plan.paths().join(", ")),
        parts(args, "stored chunk", [counts.kept, counts.removed, counts.inserted]),
    );
    let each = || plan.arrays().iter().zip(plan.paths());
    let becomes =
        each().filter(|(array, _)| is_regular(array.array()) && !is_regular(array.rearranged()));
    let becomes: Vec<&str> = becomes.map(|(_, path)| path.as_str()).collect();
    if !becomes.is_empty() {
        let becomes = becomes.join(", ");
        text.push_str(&format!("; these grids become rectilinear: {}", Printable(&becomes)));
    }
    if args.dry_run {
        text.push_str(&format!("; objects are copied {} times", words::count(counts.copies)));
    }
    done(args.json, text, || {
        let arrays = each().map(|(array, path)| {
            let (counts, to) = (array.counts(), array.rearranged());
            json!({
                "path": path, "axis": array.axis(),
                "from": array.array().shape(), "to": to.shape(),
                "kept": counts.kept, "removed": counts.removed, "inserted": counts.inserted,
                "regular": is_regular(to), "chunks": chunk_counts(to.grid()),
            })
        });
        json!({
            "group": place.shown, "dimension": plan.dimension(), "from": length, "to": after,
            "arrays": arrays.collect::<Vec<_>>(),
            "kept": counts.kept, "removed": counts.removed, "inserted": counts.inserted,
            "copies": counts.copies, "dry_run": args.dry_run,
        })
    })
}
