//! `zarr-kit attrs`.

use std::collections::HashSet;

use serde_json::value::RawValue;
use zarr_kit::metadata::NodeMetadata;
use zarr_kit::report::format::pretty::raw;
use zarr_kit::report::words;
use zarr_kit::{Array, Group, Prefix};

use crate::args::Attrs;
use crate::error::CliError;
use crate::output::print::{self, note};
use crate::stores::node_store::NodeStore;

pub(crate) fn run(args: &Attrs) -> Result<(), CliError> {
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
    let (store, root) = (place.store.clone(), Prefix::root());
    match node {
        NodeMetadata::Group(_) => {
            let group = Group::open(store, &root).map_err(failed)?;
            group.update_attributes(&changes).map_err(failed)?;
        }
        NodeMetadata::Array(metadata) => {
            let array =
                Array::with_metadata(store, &root, metadata, zarr_kit::codec::Options::new());
            array.map_err(failed)?.update_attributes(&changes).map_err(failed)?;
        }
    }
    place.finish()?;
    let count = words::counted(changes.len(), "attribute");
    note(format_args!("changed {count} of {}", place.shown));
    Ok(())
}
