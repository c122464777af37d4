//! `zarr-kit write`.

use serde_json::{Value, json};
use zarr_kit::codec::Options;
use zarr_kit::report::words;
use zarr_kit::{Array, ArrayError, AxisSelection, Selection};

use super::input::{Entry, Input};
use super::variable_length;
use crate::args::{Write, Writing};
use crate::commands::nodes::resize::policy;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::notation::region::region;
use crate::notation::size::PIECE;
use crate::output::print::done;
use crate::output::progress::{Bar, Moved, Work};
use crate::stores::node_store::NodeStore;

pub(crate) fn run(args: &Write) -> Result<(), CliError> {
    let place = NodeStore::to_change(&args.array)?;
    let array = writer(&place, args.writing)?.with_update_policy(policy(args.sole_writer));
    let region = region(&place, array.metadata(), args.region.as_deref())?;
    let bar = Bar::new();
    let interrupt = Interrupt::saying(interrupted(&array), &bar);
    write(args, &place, &array, &region, &bar)?;
    drop(interrupt);
    drop(bar);
    place.finish()?;
    // Writes of chunks do not read the document.
    if let Err(CliError::NotFound { place, .. }) = place.node() {
        let hint = "; it was deleted while it was written".to_owned();
        return Err(CliError::NotFound { place, hint });
    }
    let elements = words::counted(region.elements().unwrap_or(u64::MAX), "element");
    done(args.json, format_args!("wrote {elements} to {}", place.shown), || {
        let axes = region.axes().iter().map(axis_json);
        json!({
            "array": place.shown, "shape": region.shape(), "elements": region.elements(),
            "region": axes.collect::<Vec<_>>(),
        })
    })
}

/// The message when a write is interrupted. Of a session that was not complete nothing stays.
fn interrupted(array: &Array) -> impl Fn(Option<String>) -> String + use<> {
    let uncommitted = array.store().capabilities().uncommitted;
    move |said| match said.filter(|_| !uncommitted) {
        None => "interrupted; nothing was written".to_owned(),
        Some(said) => format!(
            "interrupted; {said} were written, and each chunk has its old or its new elements: run \
             the command again to write all"
        ),
    }
}

/// The indices of an axis as JSON: start, count and step, or the list.
fn axis_json(axis: &AxisSelection) -> Value {
    let step = match axis {
        AxisSelection::Indices(indices) => return json!({ "indices": indices }),
        AxisSelection::Step { step, .. } => *step,
        _ => 1,
    };
    json!({ "start": axis.get(0).unwrap_or(0), "count": axis.len(), "step": step })
}

/// The array at a place, opened for writing with these options.
pub(crate) fn writer(place: &NodeStore, writing: Writing) -> Result<Array, CliError> {
    let Writing { allow_loss, store_empty } = writing;
    let array = place.array_with(Options::new().allow_loss(allow_loss))?;
    Ok(array.with_empty_chunks_stored(store_empty))
}

fn write(
    args: &Write,
    place: &NodeStore,
    array: &Array,
    region: &Selection,
    bar: &Bar,
) -> Result<(), CliError> {
    let mut input = Input::open(&args.from, args.reading.format)?;
    let entry = Entry::of(args.reading, args.writing);
    if array.data_type().is_variable_length() {
        return variable_length::write(input, place, array, region, bar);
    }
    let failed = |cause| place.failed(cause);
    if entry.cast && input.is_npy() {
        let (elements, shape) = input.converted(array.data_type(), entry.loss)?;
        input.check_shape(&shape, region)?;
        let array = Moved::show(array, Work::writing(array, region), bar);
        return array.write(region, &elements).map_err(failed);
    }
    let shape = region.shape().into_iter().map(Some).collect();
    let header = input.header(array.data_type(), shape, entry)?;
    if let Some(header) = &header {
        input.check_shape(&header.shape, region)?;
    }
    let size = array.element_size();
    if let Some(header) = &header
        && header.fortran
    {
        // The elements of each piece are spread over the whole file: no piece can be read alone.
        let elements = input.take(region, size)?;
        input.end()?;
        let elements =
            input.in_memory(elements, Some(header), &region.shape(), array.data_type())?;
        let array = Moved::show(array, Work::writing(array, region), bar);
        return array.write(region, &elements).map_err(failed);
    }
    // Nothing is stored before all of it is known to fit.
    input.settle(bytes_of(region, size).unwrap_or(u64::MAX))?;
    if let Some(length) = input.length {
        input.check_length(length, array, region)?;
    }
    bar.bytes("writing", 0, bytes_of(region, size));
    let chunks = |part: &Selection| array.layout().plan(part).map_or(0, |plan| plan.len());
    // Pieces end where chunks end.
    let mut written = 0_u64;
    for piece in array.batches(region, PIECE).map_err(failed)? {
        let elements = input.take(&piece, size)?;
        let elements =
            input.in_memory(elements, header.as_ref(), &piece.shape(), array.data_type())?;
        array.write(&piece, &elements).map_err(|cause| {
            if array.store().capabilities().uncommitted {
                return place.failed(cause);
            }
            let (of_piece, cause) = match cause {
                ArrayError::Incomplete { written, cause } => (written.count(), *cause),
                cause => (0, cause),
            };
            let (written, total) = (written + of_piece, chunks(region));
            let cause = Box::new(match cause {
                cause @ ArrayError::Loss { .. } if piece.shape() != region.shape() => {
                    CliError::Loss { place: place.shown.clone(), cause }
                }
                cause => place.failed(cause),
            });
            CliError::Written { cause, written: written.min(total), total }
        })?;
        written += chunks(&piece);
        bar.bytes("writing", input.position, bytes_of(region, size));
    }
    input.end()
}

/// The bytes of all elements of a region, if a `u64` can hold them.
pub(crate) fn bytes_of(region: &Selection, size: usize) -> Option<u64> {
    region.elements()?.checked_mul(u64::try_from(size).ok()?)
}
