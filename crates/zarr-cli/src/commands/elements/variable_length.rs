//! Elements of variable length that are read from files.

use serde_json::Value;
use zarr_kit::array::ByteStrings;
use zarr_kit::grid::Run;
use zarr_kit::metadata::DataType;
use zarr_kit::report::format::json;
use zarr_kit::{Array, Selection};

use super::input::Input;
use crate::args::ReadFormat;
use crate::error::CliError;
use crate::output::progress::{Moved, Work};
use crate::stores::node_store::NodeStore;

/// The formats for elements of variable length.
const FORMATS: &str = "use text, lines, json or csv";

/// Refuses formats that need elements of one size.
pub(super) fn check_format(data_type: &DataType, format: ReadFormat) -> Result<(), CliError> {
    let name = match format {
        ReadFormat::Text | ReadFormat::Lines | ReadFormat::Json | ReadFormat::Csv => return Ok(()),
        ReadFormat::Npy => "npy",
        ReadFormat::Raw => "raw",
    };
    let reason = format!("elements of type {data_type} have no fixed size; {FORMATS}");
    Err(CliError::argument("--format", name, reason))
}

/// Reads lines, each the JSON of an element, or one JSON array that is nested like the elements of an
/// array or region of this rank. Returns the elements, and the shape of the JSON array.
fn from_file(
    input: &mut Input<'_>,
    data_type: &DataType,
    rank: usize,
) -> Result<(ByteStrings, Option<Vec<u64>>), CliError> {
    // A .npy file of no bytes, or of zeros, would be text.
    let text = String::from_utf8(input.rest()?).ok().filter(|_| !input.is_named_npy());
    let text = text.ok_or_else(|| {
        input.wrong(format!("no text; elements of type {data_type} are given as lines or as JSON"))
    })?;
    let mut elements = ByteStrings::new();
    let take = &mut |element: &[u8]| elements.push(element);
    let levels = match (data_type, input.extension().as_str()) {
        // An element may be a list itself: only where no name says what it is, it is guessed.
        (DataType::ZarrsOptional(_), "json") => Some(rank),
        (DataType::ZarrsOptional(_), "jsonl" | "ndjson") => None,
        (DataType::ZarrsOptional(_), _) => is_nested(&text, rank).then_some(rank),
        _ => text.trim_start().starts_with('[').then(|| json::rank(&text, data_type)),
    };
    let shape = match levels {
        Some(levels) => json::nested(&text, levels, data_type, take).map(Some),
        None => json::lines(&text, data_type, take).map(|()| None),
    };
    let shape = shape.map_err(|reason| input.wrong(reason))?;
    Ok((elements, shape))
}

/// Whether a text is one JSON document of arrays of so many levels, with elements that are `null`
/// or an array each.
fn is_nested(text: &str, rank: usize) -> bool {
    fn fits(value: &Value, rank: usize) -> bool {
        match (value, rank) {
            (Value::Array(members), 1..) => members.iter().all(|member| fits(member, rank - 1)),
            (value, rank) => rank == 0 && (value.is_null() || value.is_array()),
        }
    }
    serde_json::from_str(text).is_ok_and(|document| fits(&document, rank))
}

/// Writes a region from a file.
pub(super) fn write(
    mut input: Input<'_>,
    place: &NodeStore,
    array: &Array,
    region: &Selection,
) -> Result<(), CliError> {
    let (elements, shape) = from_file(&mut input, array.data_type(), region.shape().len())?;
    if let Some(shape) = shape {
        input.check_shape(&shape, region)?;
    }
    let elements: Vec<&[u8]> = elements.iter().collect();
    let (array, _bar) = Moved::show(array, Work::writing(array, region));
    array.write_as(region, &elements).map_err(|cause| place.failed(cause))
}

/// Appends to an axis from a file; returns the array with its new shape.
pub(super) fn append(
    mut input: Input<'_>,
    place: &NodeStore,
    array: &Array,
    axis: usize,
    edges: &[Run],
) -> Result<Array, CliError> {
    let (elements, shape) = from_file(&mut input, array.data_type(), array.shape().len())?;
    let units = (elements.len(), 1, "element");
    let shape = input.appended(array, axis, shape.as_deref(), units)?;
    let count = shape.get(axis).copied().unwrap_or(0);
    let elements: Vec<&[u8]> = elements.iter().collect();
    let (array, _bar) = Moved::show(array, Work::appending(array, axis, count, edges));
    array.append_as(axis, count, &elements, edges).map_err(|cause| place.failed(cause))
}
