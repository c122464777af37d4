//! `zarr-kit attrs`.

use std::collections::HashSet;

use serde_json::value::RawValue;
use zarr_kit::Prefix;
use zarr_kit::array::store::UpdatePolicy;
use zarr_kit::array::{node, update_attributes, update_dimension_names};
use zarr_kit::metadata::NodeMetadata;
use zarr_kit::report::format::pretty::raw;
use zarr_kit::report::words;

use crate::args::{Attrs, dimension_names};
use crate::error::CliError;
use crate::output::print::{self, note};
use crate::stores::node_store::NodeStore;

pub(crate) fn run(args: &Attrs) -> Result<(), CliError> {
    if let Some(text) = &args.dims {
        return rename(text, &NodeStore::to_change(&args.path)?);
    }
    if !args.set.is_empty() || !args.remove.is_empty() {
        return change(args, &NodeStore::to_change(&args.path)?);
    }
    let place = NodeStore::open(&args.path)?;
    let node = place.node()?;
    let attributes = match &node {
        NodeMetadata::Array(array) => array.attributes(),
        NodeMetadata::Group(group) => group.attributes(),
    };
    let Some(name) = &args.name else { return print::json(&raw(attributes)) };
    print::json(&raw(attribute(&node, "NAME", name)?))
}

/// The attribute that an argument names.
fn attribute<'n>(
    node: &'n NodeMetadata,
    argument: &'static str,
    name: &str,
) -> Result<&'n str, CliError> {
    let value = match node {
        NodeMetadata::Array(array) => array.attribute(name),
        NodeMetadata::Group(group) => group.attribute(name),
    };
    value.ok_or_else(|| CliError::argument(argument, name, "there is no such attribute"))
}

fn rename(text: &str, place: &NodeStore) -> Result<(), CliError> {
    let wrong = |reason: String| Err(CliError::argument("--dims", text, reason));
    let node = place.node()?;
    let NodeMetadata::Array(array) = &node else {
        let reason = "it is a group; its arrays have axes, and `copy --dims` names those of all";
        return wrong(reason.to_owned());
    };
    let (names, rank) = (dimension_names(text).collect::<Vec<_>>(), array.shape().len());
    if names.len() != rank {
        let names = words::counted(names.len(), "name");
        return wrong(format!("{names}, but the array has {}", words::axes(rank)));
    }
    let failed = |cause| place.failed(cause);
    let root = Prefix::root();
    node::refuse_version_2(node.is_version_2(), &root).map_err(failed)?;
    update_dimension_names(&place.store, &root, UpdatePolicy::default(), &names).map_err(failed)?;
    place.finish()?;
    note(format_args!("named {} of {}", words::axes(rank), place.shown));
    Ok(())
}

fn change(args: &Attrs, place: &NodeStore) -> Result<(), CliError> {
    let mut changes: Vec<(&str, Option<&str>)> = Vec::new();
    for text in &args.set {
        let Some((name, json)) = text.split_once('=') else {
            return Err(CliError::argument("--set", text, "NAME=JSON is allowed: units='\"K\"'"));
        };
        if serde_json::from_str::<&RawValue>(json).is_err() {
            let quoted = serde_json::Value::from(json);
            let reason = format!("{json:?} is not JSON; a text is in quotes: '{quoted}'");
            return Err(CliError::argument("--set", text, reason));
        }
        changes.push((name, Some(json.trim())));
    }
    changes.extend(args.remove.iter().map(|name| (name.as_str(), None)));
    let mut names = HashSet::new();
    if let Some((name, _)) = changes.iter().find(|(name, _)| !names.insert(*name)) {
        return Err(CliError::argument("--set", name, "this attribute is named twice"));
    }
    let node = place.node()?;
    for name in &args.remove {
        attribute(&node, "--remove", name)?;
    }
    let failed = |cause| place.failed(cause);
    let root = Prefix::root();
    node::refuse_version_2(node.is_version_2(), &root).map_err(failed)?;
    update_attributes(&place.store, &root, UpdatePolicy::default(), &changes).map_err(failed)?;
    place.finish()?;
    let count = words::counted(changes.len(), "attribute");
    note(format_args!("changed {count} of {}", place.shown));
    Ok(())
}
