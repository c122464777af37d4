//! `zarr-kit append`.

use std::path::Path;

use serde_json::json;
use zarr_kit::grid::Run;
use zarr_kit::report::format::npy::Npy;
use zarr_kit::report::words;
use zarr_kit::{Array, Selection};

use super::input::{Entry, Input, shown};
use super::variable_length;
use super::write::writer;
use crate::args::Append;
use crate::commands::nodes::resize::{policy, runs};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::notation::chunks::{self, chunk_counts};
use crate::output::print::done;
use crate::output::progress::{Bar, Moved, Work};
use crate::stores::node_store::NodeStore;

/// The new length is the last thing that is stored.
const INTERRUPTED: &str =
    "interrupted; nothing was appended, unless `zarr-kit info` shows the new length";

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
            .map_err(|cause| CliError::argument("--edges", text, cause))?,
        None => Vec::new(),
    };
    let bar = Bar::new();
    let interrupt = Interrupt::saying(|_| INTERRUPTED, &bar);
    let input = Input::open(file, args.reading.format)?;
    let entry = Entry::of(args.reading, args.writing);
    let before = array.shape().to_vec();
    let array = match array.data_type().is_variable_length() {
        true => variable_length::append(input, &place, &array, axis, &edges, &bar)?,
        false => append(input, entry, &place, &array, axis, &edges, &bar)?,
    };
    drop(interrupt);
    drop(bar);
    place.finish()?;
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

/// The shape of elements that are appended, as far as it is known.
pub(super) fn grown(array: &Array, axis: usize) -> Vec<Option<u64>> {
    let lengths = array.shape().iter().enumerate();
    lengths.map(|(other, length)| (other != axis).then_some(*length)).collect()
}

fn append(
    mut input: Input<'_>,
    entry: Entry,
    place: &NodeStore,
    array: &Array,
    axis: usize,
    edges: &[Run],
    bar: &Bar,
) -> Result<Array, CliError> {
    let data_type = array.data_type();
    let (header, elements) = match entry.cast && input.is_npy() {
        true => {
            let (elements, shape) = input.converted(data_type, entry.loss)?;
            (Some(Npy { shape, fortran: false, big_endian: false }), Some(elements))
        }
        false => (input.header(data_type, grown(array, axis), entry)?, None),
    };
    let elements = match (&header, elements) {
        (_, Some(elements)) => elements,
        (Some(header), None) => {
            let elements = input.take(&Selection::whole(&header.shape), array.element_size())?;
            input.end()?;
            elements
        }
        (None, None) => input.rest()?,
    };
    let units = (elements.len(), array.element_size(), "byte");
    let found = header.as_ref().map(|header| header.shape.as_slice());
    let shape = input.appended(array, axis, found, units)?;
    let count = shape.get(axis).copied().unwrap_or(0);
    let elements = input.in_memory(elements, header.as_ref(), &shape, data_type)?;
    // The elements become visible together: no part of them is done before the others.
    let array = Moved::show(array, Work::appending(array, axis, count, edges), bar);
    array.append(axis, (count, edges), &elements).map_err(|cause| place.failed(cause))
}
