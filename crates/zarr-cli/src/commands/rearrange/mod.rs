//! `zarr-kit rearrange`.

mod group;
mod moving;
mod order;
mod spans;
mod virtual_join;

use serde_json::json;
use zarr_kit::Array;
use zarr_kit::array::store::shown_url;
use zarr_kit::join::rearrange::{MOST_PROMOTED, Rearrangement};
use zarr_kit::join::{Member, check_insertion};
use zarr_kit::metadata::NodeMetadata;
use zarr_kit::report::words;
use zarr_kit::virtual_join::is_virtual_join;

use self::moving::{Said, execute, is_regular, parts, verb};
use self::spans::Axis;
use super::nodes::resize::policy;
use crate::args::{Append, Rearrange};
use crate::error::CliError;
use crate::notation::chunks::{self, chunk_counts};
use crate::output::print::done;
use crate::stores::node_store::{NodeStore, is_in_file};

const SAID: Said = Said {
    interrupted: "interrupted; the array is whole, and `zarr-kit check --repair` undoes or completes \
                  this",
    unfinished: "not finished; the array is whole, and `zarr-kit check --repair` undoes or completes \
                 this",
};

/// Nothing marks an array at whose end chunks only come or go.
const IN_PLACE: Said = Said {
    interrupted: "interrupted; the array is whole; if `zarr-kit info` shows the old length, repeat the \
                  command",
    ..SAID
};

/// `zarr-kit append` of arrays or groups: they are inserted at the end.
pub(super) fn append(args: &Append) -> Result<(), CliError> {
    run(&Rearrange {
        array: args.array.clone(),
        axis: args.axis.clone(),
        remove: None,
        order: None,
        insert: args.more.clone(),
        promote: args.promote,
        at: Some("end".to_owned()),
        sole_writer: args.sole_writer,
        dry_run: false,
        json: args.json,
        appends: true,
    })
}

pub(super) fn run(args: &Rearrange) -> Result<(), CliError> {
    if is_virtual_join(&args.array) {
        return virtual_join::run(args);
    }
    if is_in_file(&args.array) {
        let message = format!(
            "{}: chunks are not moved within a file; `zarr-kit copy` it into a folder, and repeat this \
             there",
            shown_url(&args.array)
        );
        return Err(CliError::Usage { message });
    }
    let place = NodeStore::to_change(&args.array)?;
    if let NodeMetadata::Group(_) = place.node()? {
        return group::run(args, &place);
    }
    let array = place.array()?.with_update_policy(policy(args.sole_writer));
    let names = array.metadata().dimension_names().unwrap_or_default();
    let axis = chunks::axis_of(&args.axis, array.shape().len(), names)
        .map_err(|cause| CliError::argument("--axis", &args.axis, cause))?;
    let length = array.shape().get(axis).copied().unwrap_or(0);
    let whole = Member::new(place.shown.as_str(), array.clone());
    let mut room = MOST_PROMOTED;
    let spans = Axis::of_array(args, axis, names, length)?.spans(args, |from| {
        let part = Member::new(from.shown.as_str(), from.array()?);
        let promote = args.promote.then_some(&mut room);
        Ok(check_insertion(&whole, &part, axis, promote)?)
    })?;
    let plan = Rearrangement::plan(&array, axis, spans).map_err(|cause| place.failed(cause))?;
    if !args.dry_run {
        let said = if plan.is_in_place() { &IN_PLACE } else { &SAID };
        execute(&place, said, |report| plan.execute(report).map(drop))?;
    }
    report(args, &place, &array, axis, &plan)
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
    let parts = parts(args, "stored chunk", [counts.kept, counts.removed, counts.inserted]);
    let mut text = format!("{} {}: {from} to {to}; {parts}", verb(args), place.shown);
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
