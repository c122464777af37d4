//! Elements of variable length: printing them and reading them from files.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use serde_json::Value;
use zarr_kit::array::ByteStrings;
use zarr_kit::grid::Run;
use zarr_kit::metadata::{DataType, parse_element};
use zarr_kit::report::format::nested::Nested;
use zarr_kit::report::format::quoted::quoted;
use zarr_kit::report::format::text;
use zarr_kit::report::words;
use zarr_kit::{Array, AxisSelection, Selection};

use crate::args::{Read, ReadFormat};
use crate::error::CliError;
use crate::notation::size::PIECE;
use crate::output::print::Out;
use crate::output::progress::{Moved, Work};
use crate::stores::node_store::NodeStore;

/// How many bytes of text are collected before they are printed.
const TEXT: usize = 1 << 20;

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

/// The elements that a text shows.
pub(super) fn shown(
    place: &NodeStore,
    array: &Array,
    region: &Selection,
    shown: &text::Shown,
) -> Result<ByteStrings, CliError> {
    let kept = region.axes().iter().map(|axis| {
        let blocks = shown.blocks(axis.len());
        match blocks.as_slice() {
            [_] => axis.clone(),
            _ => blocks
                .into_iter()
                .flatten()
                .filter_map(|at| axis.get(at))
                .collect::<Vec<_>>()
                .into(),
        }
    });
    let kept: Vec<AxisSelection> = kept.collect();
    array.read_as::<Vec<u8>>(kept).map_err(|cause| place.failed(cause))
}

/// Prints lines or JSON.
pub(super) fn print(
    args: &Read,
    place: &NodeStore,
    array: &Array,
    region: &Selection,
    format: ReadFormat,
) -> Result<(), CliError> {
    let failed = |cause| place.failed(cause);
    let mut out = Out::to(args.output.as_deref())?;
    let mut nested = (format == ReadFormat::Json).then(|| Nested::new(&region.shape()));
    for piece in array.batches(region, PIECE).map_err(failed)? {
        let elements = array.read_as::<Vec<u8>>(&piece).map_err(failed)?;
        let mut text = String::new();
        for element in elements.iter() {
            let element = quoted(array.data_type(), element)?;
            match &mut nested {
                Some(nested) => nested.element(&element, &mut text),
                None => {
                    text.push_str(&element);
                    text.push('\n');
                }
            }
            // A chunk may hold many elements in few bytes.
            if text.len() >= TEXT {
                out.bytes(text.as_bytes())?;
                text.clear();
            }
        }
        out.bytes(text.as_bytes())?;
    }
    if let Some(nested) = nested {
        out.bytes(nested.end().as_bytes())?;
    }
    out.finish()
}

/// Elements from a file, and their shape if it is a JSON document.
pub(super) struct Elements {
    pub(super) elements: ByteStrings,
    pub(super) shape: Option<Vec<u64>>,
}

/// Reads a file of lines, each the JSON of an element, or of one JSON array that is nested like
/// the elements, which are of an array or region of this rank.
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
    let text = String::from_utf8(bytes).map_err(|_| {
        wrong(format!("no text; elements of type {data_type} are given as lines or as JSON"))
    })?;
    let mut elements = ByteStrings::new();
    // Elements that may be missing are arrays of one value themselves.
    let (is_document, levels) = match data_type {
        DataType::ZarrsOptional(_) => (is_nested(&text, rank), rank),
        _ => (text.trim_start().starts_with('['), usize::MAX),
    };
    if is_document {
        let document: Value =
            serde_json::from_str(&text).map_err(|error| wrong(format!("no JSON: {error}")))?;
        let mut shape = Vec::new();
        let mut level = &document;
        while let Value::Array(members) = level
            && shape.len() < levels
        {
            shape.push(u64::try_from(members.len()).unwrap_or(u64::MAX));
            match members.first() {
                Some(first) => level = first,
                None => break,
            }
        }
        collect(&document, &shape, data_type, &mut elements).map_err(wrong)?;
        return Ok(Elements { elements, shape: Some(shape) });
    }
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut element = Vec::new();
        parse_element(data_type, line, &mut element)
            .map_err(|error| wrong(format!("line {}: {error}", number.saturating_add(1))))?;
        elements.push(&element);
    }
    Ok(Elements { elements, shape: None })
}

/// Whether a text is one JSON document whose elements, `null` or an array each, are in arrays of so
/// many levels.
fn is_nested(text: &str, rank: usize) -> bool {
    fn fits(value: &Value, rank: usize) -> bool {
        match (value, rank) {
            (Value::Array(members), 1..) => members.iter().all(|member| fits(member, rank - 1)),
            (value, rank) => rank == 0 && (value.is_null() || value.is_array()),
        }
    }
    serde_json::from_str(text).is_ok_and(|document| fits(&document, rank))
}

/// The elements of nested arrays of this shape, in C order.
fn collect(
    value: &Value,
    shape: &[u64],
    data_type: &DataType,
    elements: &mut ByteStrings,
) -> Result<(), String> {
    match (shape.split_first(), value) {
        (Some((length, inner)), Value::Array(members)) => {
            let found = u64::try_from(members.len()).unwrap_or(u64::MAX);
            if found != *length {
                return Err(format!("an array of {found} next to one of {length}"));
            }
            members.iter().try_for_each(|member| collect(member, inner, data_type, elements))
        }
        (Some(_), other) => Err(format!("{other} next to arrays")),
        (None, value) => {
            let mut element = Vec::new();
            parse_element(data_type, &value.to_string(), &mut element)
                .map_err(|error| error.to_string())?;
            elements.push(&element);
            Ok(())
        }
    }
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
        && shape != region.shape()
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
        && shape != expected
    {
        return Err(wrong(format!(
            "an array of shape {shape:?}, but what is appended to {} has the shape {expected:?}",
            words::shape(array.shape())
        )));
    }
    let elements: Vec<&[u8]> = elements.iter().collect();
    let (array, _bar) = Moved::show(array, Work::appending(array, axis, count, edges));
    array.append_as(axis, count, &elements, edges).map_err(|cause| place.failed(cause))
}
