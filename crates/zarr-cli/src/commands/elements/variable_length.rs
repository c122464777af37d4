//! Elements of variable length that are read from files.

use zarr_kit::array::ByteStrings;
use zarr_kit::grid::Run;
use zarr_kit::metadata::{DataType, Loss};
use zarr_kit::{Array, Selection};

use super::append::grown;
use super::input::Input;
use crate::args::ReadFormat;
use crate::error::CliError;
use crate::output::progress::{Bar, Moved, Work};
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

/// Reads the elements of a text, and the shape that it gives them. `shape` is theirs, as far as it is
/// known.
fn from_file(
    input: &mut Input<'_>,
    data_type: &DataType,
    shape: Vec<Option<u64>>,
) -> Result<(ByteStrings, Option<Vec<u64>>), CliError> {
    let mut elements = ByteStrings::new();
    let take = &mut |element: &[u8]| elements.push(element);
    let shape = input.text(data_type, shape, Loss::Refuse, take)?;
    Ok((elements, shape))
}

/// Writes a region from a file.
pub(super) fn write(
    mut input: Input<'_>,
    place: &NodeStore,
    array: &Array,
    region: &Selection,
    bar: &Bar,
) -> Result<(), CliError> {
    let shape = region.shape().into_iter().map(Some).collect();
    let (elements, shape) = from_file(&mut input, array.data_type(), shape)?;
    if let Some(shape) = shape {
        input.check_shape(&shape, region)?;
    }
    let elements: Vec<&[u8]> = elements.iter().collect();
    let array = Moved::show(array, Work::writing(array, region), bar);
    array.write_as(region, &elements).map_err(|cause| place.failed(cause))
}

/// Appends to an axis from a file; returns the array with its new shape.
pub(super) fn append(
    mut input: Input<'_>,
    place: &NodeStore,
    array: &Array,
    axis: usize,
    edges: &[Run],
    bar: &Bar,
) -> Result<Array, CliError> {
    let (elements, shape) = from_file(&mut input, array.data_type(), grown(array, axis))?;
    let units = (elements.len(), 1, "element");
    let shape = input.appended(array, axis, shape.as_deref(), units)?;
    let count = shape.get(axis).copied().unwrap_or(0);
    let elements: Vec<&[u8]> = elements.iter().collect();
    let array = Moved::show(array, Work::appending(array, axis, count, edges), bar);
    array.append_as(axis, (count, edges), &elements).map_err(|cause| place.failed(cause))
}
