//! Arrays that are appended after a chunk that is not full: this chunk and all elements after it are
//! encoded anew.

use std::ops::Range;
use std::sync::Arc;

use zarr_array::store::{Key, MemoryStore, ObjectMeta, Prefix, Store as _};
use zarr_array::{Array, ArrayError, AxisSelection, Selection, node};
use zarr_grid::Axis;
use zarr_metadata::{ArrayMetadata, ChunkEdges, ChunkGrid, MetadataError};

use super::Span;
use super::error::{Refusal, refused};
use super::planning::check_elements;

/// The most bytes of elements that are encoded anew, since their chunks are held in memory.
const MOST: u64 = 4 << 30;

/// The bytes of elements that are read at once.
const PIECE: u64 = 16 << 20;

/// Spans of whole chunks.
pub(super) struct Refilled {
    pub(super) spans: Vec<Span>,
    /// The stored chunks of the array that were read for them; `None` if it was not necessary.
    pub(super) read: Option<Vec<(Key, ObjectMeta)>>,
}

/// The spans as they are or, if they append arrays after a chunk that is not full, the array up to this
/// chunk, and an array in memory of all elements from there on.
pub(super) fn refilled(
    array: &Array,
    axis: usize,
    own: &Axis,
    spans: Vec<Span>,
) -> Result<Refilled, ArrayError> {
    let axis_of = |array: &Array| array.grid().axes().get(axis).cloned();
    let appended = appended(own, &spans).unwrap_or_default();
    let before = appended.split_last().map(|(_, before)| before);
    let fits = |other: &&Array| axis_of(other).is_none_or(|axis| is_full(&axis));
    if before.is_none_or(|before| is_full(own) && before.iter().all(fits)) {
        return Ok(Refilled { spans, read: None });
    }
    let full = match own.occupied().checked_sub(1) {
        Some(chunk) if !is_full(own) => own.start(chunk).unwrap_or(0),
        _ => own.extent(),
    };
    let mut parts = vec![(array, full..own.extent())];
    for other in appended {
        check_elements(array, axis, other).map_err(|cause| refused(array.prefix(), cause))?;
        parts.push((other, 0..other.shape()[axis]));
    }
    let total = parts.iter().map(|(_, range)| range.end.saturating_sub(range.start));
    let total = total.fold(0, u64::saturating_add);
    let wrong = |cause| ArrayError::Metadata { key: node::metadata_key(array.prefix()), cause };
    let document = document(array.metadata(), axis, own, total).map_err(wrong)?;
    let size = match array.element_size() {
        0 => 64,
        size => u64::try_from(size).unwrap_or(u64::MAX),
    };
    let bytes = document.shape().iter().fold(size, |bytes, length| bytes.saturating_mul(*length));
    if bytes > MOST {
        return Err(refused(array.prefix(), Refusal::Refill { axis, bytes, most: MOST }));
    }
    let mut read = Vec::new();
    for chunk in array.stored_chunks() {
        let chunk = chunk?;
        let is_refilled = own.start(chunk.index[axis]).is_some_and(|start| start >= full);
        if chunk.occupied
            && is_refilled
            && let Some(meta) = array.store().head(&chunk.key)?
        {
            read.push((chunk.key, meta));
        }
    }
    let (store, options) = (Arc::new(MemoryStore::new()), array.options().clone());
    let rest = Array::with_metadata(store, &Prefix::root(), document, options)?;
    let mut at = 0_u64;
    for (part, range) in parts {
        copy(part, axis, range.clone(), &rest, at)?;
        at = at.saturating_add(range.end.saturating_sub(range.start));
    }
    Ok(Refilled { spans: vec![Span::Kept(0..full), Span::Inserted(rest)], read: Some(read) })
}

/// The arrays that spans put after the whole array; `None` if they do anything else.
fn appended<'s>(own: &Axis, spans: &'s [Span]) -> Option<Vec<&'s Array>> {
    let (Span::Kept(kept), rest) = spans.split_first()? else { return None };
    let all = rest.iter().map(|span| match span {
        Span::Inserted(other) => Some(Some(other)),
        Span::Kept(range) => range.is_empty().then_some(None),
    });
    let all = all.collect::<Option<Vec<_>>>()?;
    (*kept == (0..own.extent())).then(|| all.into_iter().flatten().collect())
}

/// Whether the last chunk ends where the axis ends.
fn is_full(axis: &Axis) -> bool {
    let Some(last) = axis.occupied().checked_sub(1) else { return true };
    axis.start(last)
        .zip(axis.edge(last))
        .is_none_or(|(start, edge)| start.saturating_add(edge) <= axis.extent())
}

/// The document of an array of this length, in chunks like the last one.
fn document(
    metadata: &ArrayMetadata,
    axis: usize,
    own: &Axis,
    length: u64,
) -> Result<ArrayMetadata, MetadataError> {
    let mut shape = metadata.shape().to_vec();
    shape[axis] = length;
    let ChunkGrid::Rectilinear { chunk_shapes } = metadata.chunk_grid() else {
        return metadata.with_shape(&shape);
    };
    let mut chunk_shapes = chunk_shapes.clone();
    let last = own.occupied().checked_sub(1).and_then(|last| own.edge(last));
    chunk_shapes[axis] = ChunkEdges::Regular(last.unwrap_or_else(|| own.max_edge()).max(1));
    metadata.with_shape_and_grid(&shape, &ChunkGrid::Rectilinear { chunk_shapes })
}

/// Copies the elements of a range of the axis to another array, where they begin at `at`.
fn copy(
    from: &Array,
    axis: usize,
    range: Range<u64>,
    to: &Array,
    at: u64,
) -> Result<(), ArrayError> {
    let mut region: Vec<AxisSelection> = from.shape().iter().map(|end| (0..*end).into()).collect();
    region[axis] = range.clone().into();
    for piece in from.batches(Selection::new(region), PIECE)? {
        let mut axes = piece.axes().to_vec();
        let begin = axes[axis].get(0).unwrap_or(range.start).saturating_sub(range.start);
        let begin = begin.saturating_add(at);
        axes[axis] = (begin..begin.saturating_add(axes[axis].len())).into();
        let place = Selection::new(axes);
        if from.data_type().is_variable_length() {
            let elements = from.read_as::<Vec<u8>>(piece)?;
            let elements: Vec<Vec<u8>> = elements.iter().map(<[u8]>::to_vec).collect();
            to.write_as(place, &elements)?;
        } else {
            to.write(place, &from.read(piece)?)?;
        }
    }
    Ok(())
}
