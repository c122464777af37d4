//! `zarr-kit append`.

use std::path::Path;

use serde_json::json;
use zarr_kit::Array;
use zarr_kit::grid::Run;
use zarr_kit::report::words;

use super::variable_length::{self, fits};
use super::write::{Input, shown, writer};
use crate::args::Append;
use crate::commands::nodes::resize::{policy, runs};
use crate::error::CliError;
use crate::notation::chunks::{self, chunk_counts};
use crate::output::print::done;
use crate::output::progress::{Moved, Work};
use crate::stores::node_store::NodeStore;

pub(crate) fn run(args: &Append) -> Result<(), CliError> {
    // Given, as there are no arrays to append.
    let file = args.from.as_deref().unwrap_or(Path::new("-"));
    let place = NodeStore::to_change(&args.array)?;
    let array = writer(&place, args.writing)?.with_update_policy(policy(args.sole_writer));
    let names = array.metadata().dimension_names().unwrap_or_default();
    let axis = chunks::axis_of(&args.axis, array.shape().len(), names)
        .map_err(|cause| CliError::argument("--axis", &args.axis, cause))?;
    let edges = match &args.edges {
        Some(text) => chunks::parse_edges(text)
            .map(runs)
            .map_err(|cause| CliError::Edges { text: text.clone(), cause })?,
        None => Vec::new(),
    };
    let before = array.shape().to_vec();
    let array = match array.data_type().is_variable_length() {
        true => variable_length::append(file, &place, &array, axis, &edges)?,
        false => append(args, file, &place, &array, axis, &edges)?,
    };
    place.changed(policy(args.sole_writer))?;
    let (from, to) = (words::shape(&before), words::shape(array.shape()));
    let text = match array.shape() == before {
        // Not an error: a script may append whatever came, which may be nothing.
        true => format!(
            "{} has no elements: nothing was appended to {}, which stays {from}",
            shown(file),
            place.shown
        ),
        false => format!("appended to {}: {from} to {to}", place.shown),
    };
    done(args.json, text, || {
        json!({
            "array": place.shown, "axis": axis, "from": before, "to": array.shape(),
            "chunks": chunk_counts(array.grid()),
        })
    })
}

fn append(
    args: &Append,
    file: &Path,
    place: &NodeStore,
    array: &Array,
    axis: usize,
    edges: &[Run],
) -> Result<Array, CliError> {
    let mut input = Input::open(file)?;
    let header = input.header(array.data_type())?;
    let elements = input.rest()?;
    let size = array.element_size();

    // The shape of the appended elements: the array's, except on the axis.
    let mut shape = array.shape().to_vec();
    let row = shape.iter().enumerate().filter(|(other, _)| *other != axis);
    let row = row.fold(u64::try_from(size).ok(), |bytes, (_, length)| bytes?.checked_mul(*length));
    let row = row.filter(|row| *row > 0).ok_or_else(|| {
        input.wrong("there is nothing to append: another axis of the array is empty")
    })?;
    let length = u64::try_from(elements.len()).unwrap_or(u64::MAX);
    let count = length.checked_div(row).unwrap_or(0);
    if let Some(slot) = shape.get_mut(axis) {
        *slot = count;
    }
    if length.checked_rem(row) != Some(0) {
        return Err(input.wrong(format!(
            "{} of elements, but one index of axis {} has {row}",
            words::counted(length, "byte"),
            args.axis
        )));
    }
    if let Some(header) = &header
        && !fits(&header.shape, &shape)
    {
        return Err(input.wrong(format!(
            "an array of shape {:?}, but the data appended to {} has the shape {shape:?}",
            header.shape,
            words::shape(array.shape())
        )));
    }
    let elements = input.in_memory(elements, header.as_ref(), &shape, array)?;
    // The elements become visible together: no part of them is done before the others.
    let (array, _bar) = Moved::show(array, Work::appending(array, axis, count, edges));
    array.append(axis, count, &elements, edges).map_err(|cause| place.failed(cause))
}
