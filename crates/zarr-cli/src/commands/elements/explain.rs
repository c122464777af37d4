//! Lists the requests of a read on standard error, before it starts.

use std::ops::Range;

use zarr_kit::report::words;
use zarr_kit::{Array, Selection};

use crate::error::CliError;
use crate::output::print::note;
use crate::stores::node_store::NodeStore;

/// The most chunks that are listed.
const SHOWN: usize = 12;

pub(super) fn explain(
    place: &NodeStore,
    array: &Array,
    region: &Selection,
) -> Result<(), CliError> {
    let names = words::axis_names(array.metadata());
    note(format_args!("{}: {}", place.shown, array.data_type()));
    for (name, axis) in names.iter().zip(array.grid().axes()) {
        note(format_args!("  {name}: {}", words::axis(axis)));
    }
    note(format_args!("  codecs: {}", words::codecs(array.metadata().codecs(), array.data_type())));
    let outside = |cause| place.failed(zarr_kit::ArrayError::Selection { cause });
    let selected = array.grid().select(region.axes()).map_err(outside)?;
    let mut chunks = selected.parts();
    let total = chunks.len();
    note(format_args!("  reads from {}:", words::counted(total, "chunk")));
    let mut shown = 0;
    while let Some(part) = chunks.next_part() {
        if shown == SHOWN {
            note("    ...");
            break;
        }
        shown += 1;
        let key = array.layout().key(part.chunk()).map_err(|cause| place.failed(cause))?;
        let mut parts = Vec::new();
        for (axis, name) in part.axes().iter().zip(&names) {
            let (Range { start, end }, edge) = (axis.in_chunk(), axis.edge);
            parts.push(match (start, end) {
                (0, end) if end == edge => format!("{name} all {edge}"),
                _ => format!("{name} {start}:{end} of {edge}"),
            });
        }
        let codec = array.chunk_codec(part.chunk_shape()).map_err(|cause| place.failed(cause))?;
        note(format_args!("    {key}  {}; {}", parts.join(", "), words::transform(&codec)));
    }
    Ok(())
}
