//! `zarr-kit rearrange` of a virtual join: its members are moved in the document.

use serde_json::json;
use zarr_kit::Prefix;
use zarr_kit::array::store::shown_url;
use zarr_kit::join::NodeMember;
use zarr_kit::join::rearrange::Span;
use zarr_kit::report::words;
use zarr_kit::virtual_join::{AxisOf, MemberRearrangement, StoredDocument};

use super::moving::{parts, verb};
use super::order::check_order;
use super::spans::Axis;
use crate::args::Rearrange;
use crate::commands::nodes::resize::policy;
use crate::error::CliError;
use crate::notation::chunks;
use crate::output::print::done;
use crate::stores::access::place_options;

pub(super) fn run(args: &Rearrange) -> Result<(), CliError> {
    let document = StoredDocument::open(&args.array, &place_options().of_joins())?;
    let names = document.array().and_then(|array| array.dimension_names()).unwrap_or_default();
    let axis = match document.array() {
        None => AxisOf::Named(&args.axis),
        Some(array) => {
            let axis = chunks::axis_of(&args.axis, array.shape().len(), names);
            AxisOf::Number(axis.map_err(|cause| CliError::argument("--axis", &args.axis, cause))?)
        }
    };
    let length = document.length(axis)?;
    let named = match axis {
        AxisOf::Number(number) => Axis::of_array(args, number, names, length),
        AxisOf::Named(_) => Axis::of_group(args, length),
    };
    let spans = named?.spans(args, |from| {
        let member = NodeMember::open(&from.shown, from.store.clone(), &Prefix::root());
        member.map_err(|cause| from.failed(cause))
    })?;
    let plan = document.rearrange(axis, &spans, args.promote)?;
    if document.array().is_none() {
        let inserted = spans.iter().filter_map(|span| match span {
            Span::Inserted(NodeMember::Group(member)) => Some(member.clone()),
            _ => None,
        });
        check_order(args, &args.axis, inserted)?;
    }
    if !args.dry_run {
        plan.write(policy(args.sole_writer))?;
    }
    report(args, document.array().is_some(), &plan)
}

fn report(
    args: &Rearrange,
    is_array: bool,
    plan: &MemberRearrangement<'_>,
) -> Result<(), CliError> {
    let shown = shown_url(&args.array);
    let each = plan.arrays().iter().map(|array| {
        let (from, to) = (words::shape(&array.from), words::shape(array.to.shape()));
        let counts = parts(args, "member", [array.kept, array.removed, array.inserted]);
        match is_array {
            true => format!("{from} to {to}; {counts}"),
            false => format!("{} from {from} to {to} ({counts})", array.path),
        }
    });
    let text = format!("{} {shown}: {}", verb(args), each.collect::<Vec<_>>().join(", "));
    done(args.json, text, || {
        let arrays = plan.arrays().iter().map(|array| {
            json!({
                "path": array.path, "axis": array.axis, "from": array.from, "to": array.to.shape(),
                "kept": array.kept, "removed": array.removed, "inserted": array.inserted,
            })
        });
        json!({
            "virtual_join": shown, "arrays": arrays.collect::<Vec<_>>(), "dry_run": args.dry_run,
        })
    })
}
