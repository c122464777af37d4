//! Descriptions, checks and pictures of Zarr arrays whose bytes JavaScript fetches.
//!
//! Each function is a step over the [answers](Fetched) of a store, as those of `zarr-wasm` are: an error
//! or a result counts only if there are no new needs.
//!
//! # Non-goals
//! - Input and output, threads; checks of elements.

#![forbid(unsafe_code)]

mod nodes;

use std::num::NonZeroUsize;

use serde_json::json;
use wasm_bindgen::prelude::{JsError, wasm_bindgen};
use zarr_array::store::Prefix;
use zarr_array::{Array, ChunkLayout, Selection, open_node};
use zarr_check::CheckOptions;
use zarr_metadata::{ArrayMetadata, NodeMetadata};
use zarr_report::Table;
use zarr_report::draw::{ChunkPicture, ChunksToDraw, SVG_CELLS, divided_axes};
use zarr_report::info::{ArrayInfo, attribute_rows};
use zarr_wasm::{Fetched, shown};

/// The document of an array.
fn document(fetched: &Fetched, prefix: &Prefix) -> Result<ArrayMetadata, JsError> {
    match open_node(&fetched.store(), prefix).map_err(shown)? {
        NodeMetadata::Array(metadata) => Ok(metadata),
        NodeMetadata::Group(_) => Err(shown(format_args!("{prefix}: is a group, not an array"))),
    }
}

/// The description of a node as JSON, with its text for people in the member `text`.
///
/// # Errors
/// If there is no node.
#[wasm_bindgen]
pub fn info(fetched: &Fetched, path: &str) -> Result<String, JsError> {
    let prefix = Prefix::new(path).map_err(shown)?;
    let store = fetched.store();
    let metadata = match open_node(&store, &prefix).map_err(shown)? {
        NodeMetadata::Array(metadata) => metadata,
        NodeMetadata::Group(group) => {
            let mut table = Table::default();
            attribute_rows(&group.attribute_texts(), &mut table);
            return Ok(json!({"node_type": "group", "text": table.text()}).to_string());
        }
    };
    let bound = Array::open(store.clone(), &prefix);
    let bound = bound.map(|array| array.with_threads(NonZeroUsize::MIN));
    let layout = ChunkLayout::new(&prefix, &metadata).ok();
    let info = ArrayInfo::new(&store, metadata, bound, layout, false);
    let mut json = serde_json::to_value(info.json()).map_err(shown)?;
    if let Some(members) = json.as_object_mut() {
        members.insert("text".to_owned(), info.table().text().into());
    }
    Ok(json.to_string())
}

/// The findings in documents and keys of a node and all below it, and their numbers, as JSON.
///
/// # Errors
/// If there is no node.
#[wasm_bindgen]
pub fn check(fetched: &Fetched, path: &str) -> Result<String, JsError> {
    let prefix = Prefix::new(path).map_err(shown)?;
    let options = CheckOptions::new().threads(NonZeroUsize::MIN);
    let mut findings = Vec::new();
    let summary = zarr_check::check(fetched.store(), &prefix, &options, &mut |finding| {
        findings.push(json!({
            "id": finding.id(), "severity": finding.severity().to_string(), "key": finding.key(),
            "path": finding.path(), "message": finding.message(), "rule": finding.rule().text(),
        }));
    });
    let summary = summary.map_err(shown)?;
    Ok(json!({
        "findings": findings, "groups": summary.groups, "arrays": summary.arrays,
        "chunks": summary.chunks, "errors": summary.errors, "warnings": summary.warnings,
        "notes": summary.notes,
    })
    .to_string())
}

/// The chunks of an array as SVG, with a region in numpy's notation.
///
/// # Errors
/// If there is no array with a chunk grid, or it has no such region.
#[wasm_bindgen]
pub fn draw(fetched: &Fetched, path: &str, region: Option<String>) -> Result<String, JsError> {
    let prefix = Prefix::new(path).map_err(shown)?;
    let metadata = &document(fetched, &prefix)?;
    let layout = &ChunkLayout::new(&prefix, metadata).map_err(shown)?;
    let region = region.map(|text| Selection::parse(&text, metadata.shape())).transpose();
    let region = region.map_err(shown)?;
    let (axes, most) = (divided_axes(layout), (SVG_CELLS, SVG_CELLS));
    let chunks = ChunksToDraw { metadata, layout, axes, marked: region.as_ref(), most };
    let name = path.rsplit('/').find(|name| !name.is_empty()).unwrap_or("/");
    let picture = ChunkPicture::new(name, &fetched.store(), &chunks).map_err(shown)?;
    Ok(picture.svg(&|_, _| None))
}
