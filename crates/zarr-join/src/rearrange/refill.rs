//! Arrays that are appended after a chunk that is not full: this chunk and all elements after it get
//! new chunks. Encoded chunks within them, such as those of shards, move as they are stored; other
//! elements are encoded anew.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use zarr_array::store::{Key, MemoryStore, ObjectMeta, Store as _};
use zarr_array::{Array, ArrayError, AxisSelection, Selection, node, parallel};
use zarr_grid::Axis;
use zarr_metadata::ChunkEdges;

use super::Span;
use super::moved_units::{Part, Targets, move_units};
use super::planning::{check_refilled, with_axis};
use crate::error::rearrange::{RearrangeError, refused};

/// The most bytes of elements in new chunks, in all arrays of a change, since these are held in memory,
/// with one chunk more: 4 GiB.
pub const MOST: u64 = 4 << 30;

/// The bytes of elements that are read at once.
const PIECE: u64 = 16 << 20;

/// Indices of the axis whose elements are in new chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remade {
    pub(super) range: Range<u64>,
    /// The index that the first of them gets.
    pub(super) at: u64,
}

/// The chunks whose elements are in new ones, because other elements come after them in the same chunk,
/// or some of theirs go elsewhere.
#[derive(Clone, Debug)]
pub(super) struct Refill {
    /// The array's own elements.
    pub(super) remade: Vec<Remade>,
    /// The array's own chunks.
    pub(super) own: Vec<(Key, ObjectMeta)>,
    /// Those of the appended arrays.
    pub(super) others: Vec<(Array, Key, ObjectMeta)>,
}

impl Refill {
    /// Of these elements of a stored array, each once.
    pub(super) fn of(
        array: &Array,
        axis: usize,
        mut remade: Vec<Remade>,
    ) -> Result<Self, ArrayError> {
        remade.sort_unstable_by_key(|part| part.range.start);
        let own = stored(array, axis, &remade)?;
        Ok(Self { remade, own, others: Vec::new() })
    }

    /// The indices of the array's own chunks, [by their number](by_number) on the axis.
    pub(super) fn own_by_number(&self, array: &Array, axis: usize) -> BTreeMap<u64, Vec<Vec<u64>>> {
        by_number(self.own.iter().filter_map(|(key, _)| array.layout().chunk_of_key(key)), axis)
    }
}

/// Chunks by their number on the axis, which their indices have no more: it becomes 0.
pub(super) fn by_number(
    chunks: impl IntoIterator<Item = Vec<u64>>,
    axis: usize,
) -> BTreeMap<u64, Vec<Vec<u64>>> {
    let mut by_number: BTreeMap<u64, Vec<Vec<u64>>> = BTreeMap::new();
    for mut index in chunks {
        let number = std::mem::take(&mut index[axis]);
        by_number.entry(number).or_default().push(index);
    }
    by_number
}

/// Whether a chunk with this number on the axis has some of these elements, which are in order.
pub(super) fn is_remade(axis: &Axis, chunk: u64, remade: &[Remade]) -> bool {
    let Some(of) = axis.clipped(chunk) else { return false };
    let after = remade.partition_point(|part| part.range.end <= of.start);
    remade.get(after).is_some_and(|part| part.range.start < of.end)
}

/// The spans as they are or, if they append arrays after a chunk that is not full, the array up to this
/// chunk, and an array in memory of all elements from there on, whose bytes are taken from `room`.
pub(super) fn refilled(
    array: &Array,
    axis: usize,
    own: &Axis,
    spans: Vec<Span>,
    room: &mut u64,
) -> Result<(Vec<Span>, Option<Refill>), ArrayError> {
    let axis_of = |array: &Array| array.grid().axes().get(axis).cloned();
    let appended = appended(own, &spans).unwrap_or_default();
    let before = appended.split_last().map(|(_, before)| before);
    let fits = |other: &&Array| axis_of(other).is_none_or(|axis| is_full(&axis));
    if before.is_none_or(|before| is_full(own) && before.iter().all(fits)) {
        return Ok((spans, None));
    }
    let full = match own.occupied().checked_sub(1) {
        Some(chunk) if !is_full(own) => own.start(chunk).unwrap_or(0),
        _ => own.extent(),
    };
    let length = own.extent() - full;
    let mut parts = vec![Part { array, range: full..own.extent(), at: 0, inner: false }];
    let mut total = length;
    for other in appended {
        check_refilled(array, axis, other).map_err(|cause| refused(array.prefix(), cause))?;
        let range = 0..other.shape()[axis];
        parts.push(Part { array: other, range: range.clone(), at: total, inner: false });
        total = total.saturating_add(range.end);
    }
    let wrong = |cause| ArrayError::Metadata { key: node::metadata_key(array.prefix()), cause };
    // In chunks like the last one.
    let last = own.occupied().checked_sub(1).and_then(|last| own.edge(last));
    let edges = ChunkEdges::Regular(last.unwrap_or_else(|| own.max_edge()).max(1));
    let document = with_axis(array.metadata(), axis, total, edges).map_err(wrong)?;
    let mut take = |bytes: u64| match room.checked_sub(bytes) {
        Some(left) => {
            *room = left;
            Ok(())
        }
        None => Err(refused(array.prefix(), RearrangeError::refill(axis, bytes, *room))),
    };
    // Elements of variable length have a length each; their bytes are counted as they are read.
    let size = match array.element_size() {
        0 => 8,
        size => wide(size),
    };
    take(document.shape().iter().fold(size, |bytes, length| bytes.saturating_mul(*length)))?;
    let own = Remade { range: full..own.extent(), at: full };
    let mut refill = Refill::of(array, axis, vec![own])?;
    for Part { array: other, range, .. } in parts.iter().skip(1) {
        let chunks = stored(other, axis, &[Remade { range: range.clone(), at: 0 }])?.into_iter();
        refill.others.extend(chunks.map(|(key, meta)| ((*other).clone(), key, meta)));
    }
    // Its errors name the array.
    let (store, options) = (Arc::new(MemoryStore::new()), array.options().clone());
    let rest = Array::with_metadata(store, array.prefix(), document, options)?;
    let moved = move_units(&parts, axis, &rest, Targets::All, Some(MOST))?;
    if array.data_type().is_variable_length() {
        take(moved.bytes)?;
    }
    for (part, edge) in parts.iter().zip(&moved.edges) {
        if edge.is_none() {
            copy(part.array, axis, part.range.clone(), &rest, part.at, &mut take)?;
        }
    }
    // Of chunks that move, the last alone may get elements after its own.
    let kept = moved.edges.first().copied().flatten().map_or(0, |edge| length - length % edge);
    if !same_elements(array, axis, full + kept..full + length, &rest, kept)? {
        let reason = format!(
            "axis {axis}: the last chunk is not full, and its codecs do not keep its elements when it \
             is encoded again with others after them"
        );
        return Err(refused(array.prefix(), reason));
    }
    Ok((vec![Span::Kept(0..full), Span::Inserted(rest)], Some(refill)))
}

/// The stored chunks with some of these elements.
fn stored(
    array: &Array,
    axis: usize,
    remade: &[Remade],
) -> Result<Vec<(Key, ObjectMeta)>, ArrayError> {
    let mut keys = Vec::new();
    for chunk in array.stored_chunks() {
        let chunk = chunk?;
        if chunk.occupied && is_remade(&array.grid().axes()[axis], chunk.index[axis], remade) {
            keys.push(chunk.key);
        }
    }
    let found = parallel::map(&keys, array.threads_to_move(), |key| array.store().head(key))?;
    Ok(keys.into_iter().zip(found).filter_map(|(key, meta)| Some((key, meta?))).collect())
}

/// The arrays that spans put after the whole array; `None` if they do anything else.
fn appended<'s>(own: &Axis, spans: &'s [Span]) -> Option<Vec<&'s Array>> {
    let (Span::Kept(kept), rest) = spans.split_first()? else { return None };
    let all = rest.iter().map(|span| match span {
        Span::Inserted(other) => Some(other),
        Span::Kept(_) => None,
    });
    let all = all.collect::<Option<Vec<_>>>()?;
    (*kept == (0..own.extent())).then_some(all)
}

/// Whether the last chunk ends where the axis ends.
fn is_full(axis: &Axis) -> bool {
    let Some(last) = axis.occupied().checked_sub(1) else { return true };
    axis.start(last)
        .zip(axis.edge(last))
        .is_none_or(|(start, edge)| start.saturating_add(edge) <= axis.extent())
}

/// Copies the elements of a range of the axis to another array, where they begin at `at`.
pub(super) fn copy(
    from: &Array,
    axis: usize,
    range: Range<u64>,
    to: &Array,
    at: u64,
    take: &mut dyn FnMut(u64) -> Result<(), ArrayError>,
) -> Result<(), ArrayError> {
    for piece in from.batches(along(from, axis, &range), PIECE)? {
        let place = moved(&piece, axis, range.start, at);
        if from.data_type().is_variable_length() {
            let elements = from.read_as::<Vec<u8>>(piece)?;
            let elements: Vec<Vec<u8>> = elements.iter().map(<[u8]>::to_vec).collect();
            take(elements.iter().fold(0, |sum, element| sum.saturating_add(wide(element.len()))))?;
            to.write_as(place, &elements)?;
        } else {
            to.write(place, &from.read(piece)?)?;
        }
    }
    Ok(())
}

/// Whether the elements of an array in a range of the axis are those of another array, where they begin
/// at `at`.
fn same_elements(
    one: &Array,
    axis: usize,
    range: Range<u64>,
    other: &Array,
    at: u64,
) -> Result<bool, ArrayError> {
    for piece in one.batches(along(one, axis, &range), PIECE)? {
        let place = moved(&piece, axis, range.start, at);
        let is_same = match one.data_type().is_variable_length() {
            true => {
                one.read_as::<Vec<u8>>(piece)?.iter().eq(other.read_as::<Vec<u8>>(place)?.iter())
            }
            false => one.read(piece)? == other.read(place)?,
        };
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A part of an axis that begins at `start`, where it begins at `at`.
fn moved(piece: &Selection, axis: usize, start: u64, at: u64) -> Selection {
    let mut axes = piece.axes().to_vec();
    let begin = axes[axis].get(0).unwrap_or(start).saturating_sub(start).saturating_add(at);
    axes[axis] = (begin..begin + axes[axis].len()).into();
    Selection::new(axes)
}

/// All elements in a range of an axis.
fn along(array: &Array, axis: usize, range: &Range<u64>) -> Selection {
    let mut region: Vec<AxisSelection> = array.shape().iter().map(|end| (0..*end).into()).collect();
    region[axis] = range.clone().into();
    Selection::new(region)
}

fn wide(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
