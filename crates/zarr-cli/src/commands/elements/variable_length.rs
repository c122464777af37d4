//! Elements of variable length that are read from files.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use serde_json::Value;
use zarr_kit::array::ByteStrings;
use zarr_kit::grid::Run;
use zarr_kit::metadata::DataType;
use zarr_kit::report::format::{json, npy};
use zarr_kit::report::words;
use zarr_kit::{Array, Selection};

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

/// Elements from a file, and their shape if it is a JSON document.
pub(super) struct Elements {
    pub(super) elements: ByteStrings,
    pub(super) shape: Option<Vec<u64>>,
}

/// Reads a file of lines, each the JSON of an element, or a file of one JSON array that is nested
/// like the elements of an array or region of this rank.
pub(super) fn from_file(
    path: &Path,
    data_type: &DataType,
    rank: usize,
) -> Result<Elements, CliError> {
    let name = if path == Path::new("-") { Path::new("standard input") } else { path };
    let wrong = |reason: String| CliError::Input { path: name.to_owned(), reason };
    let failed = |cause| CliError::File { path: name.to_owned(), cause };
    let mut bytes = Vec::new();
    match path == Path::new("-") {
        true => io::stdin().lock().read_to_end(&mut bytes).map(drop).map_err(failed)?,
        false => bytes = fs::read(path).map_err(failed)?,
    }
    // A .npy file of no bytes, or of zeros, would be text.
    let text = String::from_utf8(bytes).ok().filter(|_| !npy::is_named(path)).ok_or_else(|| {
        wrong(format!("no text; elements of type {data_type} are given as lines or as JSON"))
    })?;
    let mut elements = ByteStrings::new();
    let take = &mut |element: &[u8]| elements.push(element);
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let levels = match (data_type, extension.as_str()) {
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
    let shape = shape.map_err(wrong)?;
    Ok(Elements { elements, shape })
}

/// Whether lists of this shape have the elements of a region of another: within an empty list there
/// is none that could have a size.
pub(super) fn fits(found: &[u64], region: &[u64]) -> bool {
    found == region || found.ends_with(&[0]) && region.starts_with(found)
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
    path: &Path,
    place: &NodeStore,
    array: &Array,
    region: &Selection,
) -> Result<(), CliError> {
    let rank = region.shape().len();
    let Elements { elements, shape } = from_file(path, array.data_type(), rank)?;
    if let Some(shape) = shape
        && !fits(&shape, &region.shape())
    {
        let reason =
            format!("an array of shape {shape:?}, but the region has shape {:?}", region.shape());
        return Err(CliError::Input { path: path.to_owned(), reason });
    }
    let elements: Vec<&[u8]> = elements.iter().collect();
    let (array, _bar) = Moved::show(array, Work::writing(array, region));
    array.write_as(region, &elements).map_err(|cause| place.failed(cause))
}

/// Appends to an axis from a file; returns the array with its new shape.
pub(super) fn append(
    path: &Path,
    place: &NodeStore,
    array: &Array,
    axis: usize,
    edges: &[Run],
) -> Result<Array, CliError> {
    let Elements { elements, shape } = from_file(path, array.data_type(), array.shape().len())?;
    let wrong = |reason: String| CliError::Input { path: path.to_owned(), reason };
    let others = array.shape().iter().enumerate().filter(|(other, _)| *other != axis);
    let row = others.fold(1_u64, |product, (_, length)| product.saturating_mul(*length));
    let found = u64::try_from(elements.len()).unwrap_or(u64::MAX);
    let (Some(count), Some(0)) = (found.checked_div(row), found.checked_rem(row)) else {
        let found = words::counted(found, "element");
        return Err(wrong(format!("{found}, but one index of axis {axis} has {row}")));
    };
    let mut expected = array.shape().to_vec();
    if let Some(length) = expected.get_mut(axis) {
        *length = count;
    }
    if let Some(shape) = shape
        && !fits(&shape, &expected)
    {
        return Err(wrong(format!(
            "an array of shape {shape:?}, but the data appended to {} has the shape {expected:?}",
            words::shape(array.shape())
        )));
    }
    let elements: Vec<&[u8]> = elements.iter().collect();
    let (array, _bar) = Moved::show(array, Work::appending(array, axis, count, edges));
    array.append_as(axis, count, &elements, edges).map_err(|cause| place.failed(cause))
}
