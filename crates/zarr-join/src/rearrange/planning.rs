//! Plans a rearrangement: looks at everything, and changes nothing.

use std::ops::Range;

use serde_json::Value;
use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::edges_of;
use zarr_array::node;
use zarr_grid::{Axis, GridErrorKind};
use zarr_metadata::{ArrayMetadata, ChunkEdges, ChunkGrid, MetadataError};

use crate::conventions;
use crate::values::attributes::differences;

use super::cuts::cut;
use super::refill::{MOST, refilled};
use super::steps::refuse_unfinished;
use super::{Placed, RearrangeCounts, Rearrangement, Span};
use crate::error::rearrange::{RearrangeError, consists_of_others, refused};

impl Rearrangement {
    /// Plans to make an axis of these spans, one after another: parts of the array, which begin and
    /// end at edges of chunks or of inner chunks of shards, and other arrays. Indices that no span keeps
    /// are removed. [`Rearrangement::execute`] carries the plan out.
    ///
    /// Objects are moved, and no chunk is decoded; absent chunks stay absent. Only if arrays are appended
    /// after a chunk that is not full, this chunk and all elements after it get new chunks of its length,
    /// in memory: inner chunks of shards move as they are stored if they can, and other elements are
    /// encoded anew. A shard that is cut becomes a shard for each part, whose inner chunks move as they are
    /// stored, in memory; it counts as removed, and the parts as inserted. A regular axis stays regular if
    /// all chunks still have one length, otherwise it becomes rectilinear. An inserted array has the same data type, codecs, fill value, and the same chunks on the other axes. Its
    /// attributes are not compared.
    ///
    /// # Errors
    /// [`ArrayError::Refused`] if a span cuts what is encoded as a whole, an inserted array does
    /// not fit, or an earlier rearrangement was interrupted; [`ArrayError::Axis`],
    /// [`ArrayError::Version2`]; [`ArrayError::Chain`] if the codecs do not fit the new grid; or an
    /// error of a store. Nothing is changed.
    ///
    /// # Examples
    /// A rolling archive: January is dropped, and April follows March.
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// use zarr_join::rearrange::{Rearrangement, Span};
    /// # let of = |days, edges: &[u64]| {
    /// #     let metadata = ArrayBuilder::new([days], DataType::Uint8).chunks([edges.into()]).build()?;
    /// #     Ok::<_, Box<dyn std::error::Error>>(Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?)
    /// # };
    /// let archive: Array = // January, February and March
    /// #     of(90, &[31, 28, 31])?;
    /// # archive.write(31..33, &[2, 2])?;
    /// let april: Array = // ...
    /// #     of(30, &[30])?;
    /// # april.write(0..1, &[4])?;
    /// let spans = [Span::Kept(31..90), Span::Inserted(april)];
    /// let archive = Rearrangement::plan(&archive, 0, spans)?.execute(&|_| {})?;
    /// assert_eq!(archive.shape(), [28 + 31 + 30]);
    /// assert_eq!(archive.read(0..3)?, [2, 2, 0]);
    /// assert_eq!(archive.read(58..61)?, [0, 4, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plan(
        array: &Array,
        axis: usize,
        spans: impl IntoIterator<Item = Span>,
    ) -> Result<Self, ArrayError> {
        if let Some(reason) = conventions::refused_alone(array) {
            return Err(refused(array.prefix(), reason));
        }
        // Before chunks are decoded.
        node::refuse_unfinished_above(array.store(), [array.prefix()])?;
        let mut room = MOST;
        Self::planned(array, axis, spans, true, &mut room)
    }

    /// As [`plan`](Self::plan), also while a copy or join still makes the array. The bytes that are held
    /// in memory are taken from `room`.
    pub(super) fn planned(
        array: &Array,
        axis: usize,
        spans: impl IntoIterator<Item = Span>,
        alone: bool,
        room: &mut u64,
    ) -> Result<Self, ArrayError> {
        node::refuse_version_2(array.metadata().is_version_2(), array.prefix())?;
        if array.members().is_some() {
            return Err(consists_of_others(array));
        }
        let rank = array.shape().len();
        let own = array.grid().axes().get(axis).ok_or(ArrayError::Axis { axis, rank })?;
        refuse_unfinished(array)?;
        let spans = joined(own, axis, spans).map_err(|cause| refused(array.prefix(), cause))?;
        let (spans, refill) = match refilled(array, axis, own, spans, room)? {
            (spans, None) => cut(array, axis, own, spans, room)?,
            refilled => refilled,
        };
        let lengths = spans.iter().map(|span| match span {
            Span::Kept(range) => Span::Kept(range.clone()),
            Span::Inserted(other) => Span::Inserted(other.shape().get(axis).copied().unwrap_or(0)),
        });
        let lengths = lengths.collect();
        let (placed, joined) = place(array, axis, own, spans)?;
        let metadata = with_axis(array.metadata(), axis, joined.extent(), edges_of(&joined));
        let metadata = metadata.map_err(|cause| ArrayError::Metadata {
            key: node::metadata_key(array.prefix()),
            cause,
        })?;
        let rearranged = array.with_document(metadata)?;
        let counts = RearrangeCounts::default();
        let (array, spans) = (array.clone(), lengths);
        let mut plan = Self { array, axis, placed, rearranged, counts, spans, refill };
        let moves = if alone { plan.moves_alone()? } else { plan.moves()? };
        plan.counts = moves.counts(plan.is_in_place());
        Ok(plan)
    }
}

/// The chunks of the spans, and the axis that they make.
fn place(
    array: &Array,
    axis: usize,
    own: &Axis,
    spans: impl IntoIterator<Item = Span>,
) -> Result<(Vec<Placed>, Axis), ArrayError> {
    let grid = |cause: zarr_grid::GridError| ArrayError::Grid {
        key: node::metadata_key(array.prefix()),
        cause: cause.on_axis(axis),
    };
    let refused = |cause: RearrangeError| refused(array.prefix(), cause);
    let mut placed: Vec<Placed> = Vec::new();
    for span in spans {
        match span {
            Span::Kept(range) => {
                let chunks = whole_chunks(own, axis, &range, "chunk").map_err(refused)?;
                match placed.last_mut().filter(|last| last.is_own()) {
                    _ if chunks.is_empty() => continue,
                    Some(last) if last.chunks.end == chunks.start => {
                        last.chunks.end = chunks.end;
                    }
                    _ => placed.push(Placed { inserted: None, chunks, at: 0 }),
                }
            }
            Span::Inserted(other) => {
                check_inserted(array, axis, &other).map_err(refused)?;
                let occupied = other.grid().occupied()[axis];
                if occupied > 0 {
                    let inserted = Some(other);
                    placed.push(Placed { inserted, chunks: 0..occupied, at: 0 });
                }
            }
        }
    }
    let mut pieces = Vec::with_capacity(placed.len());
    let mut at = 0_u64;
    for Placed { inserted, chunks, at: slot } in &mut placed {
        *slot = at;
        let count = chunks.end - chunks.start;
        at = at.checked_add(count).ok_or_else(|| grid(GridErrorKind::EdgeOverflow.into()))?;
        pieces.push(match inserted {
            Some(other) => other.grid().axes().get(axis).cloned(),
            // Chunks declared past the end stay declared.
            None if chunks.end == own.occupied() => {
                Some(own.skip_chunks(chunks.start).map_err(grid)?)
            }
            None => Some(own.take_chunks(std::slice::from_ref(&*chunks)).map_err(grid)?),
        });
    }
    let pieces: Vec<&Axis> = pieces.iter().flatten().collect();
    if pieces.is_empty() {
        return Err(refused(RearrangeError::new(format_args!(
            "axis {axis}: no elements would remain: delete the array, or resize it"
        ))));
    }
    let joined = Axis::concat(&pieces).map_err(|error| match *error.kind() {
        GridErrorKind::ClippedAxis { member, extent, end } => {
            let is_own = placed.get(member).is_some_and(Placed::is_own);
            let what = if is_own { "the kept part" } else { "the inserted array" };
            refused(RearrangeError::overhang(axis, what, extent, end))
        }
        _ => grid(error),
    })?;
    Ok((placed, joined))
}

/// Refuses an array whose elements cannot be written after those of this array. Only their chunks and
/// codecs may differ.
pub(super) fn check_refilled(
    array: &Array,
    axis: usize,
    other: &Array,
) -> Result<(), RearrangeError> {
    if other.members().is_some() {
        return Err(RearrangeError::joined("the inserted array"));
    }
    check_elements(array, axis, other)?;
    check_fill(array, other)
}

/// Refuses an array with elements that cannot be elements of this array.
fn check_elements(array: &Array, axis: usize, other: &Array) -> Result<(), RearrangeError> {
    let same = |what: &'static str, found: String, expected: String| match found == expected {
        true => Ok(()),
        false => Err(RearrangeError::inserted(what, &found, &expected)),
    };
    let rank = |array: &Array| array.shape().len().to_string();
    same("number of axes", rank(other), rank(array))?;
    let data_type = |array: &Array| array.data_type().to_string();
    same("data type", data_type(other), data_type(array))?;
    let lengths = other.shape().iter().zip(array.shape()).enumerate();
    let mut lengths = lengths.filter(|(number, _)| *number != axis);
    lengths.try_for_each(|(number, (found, expected))| {
        same("length on another axis", on(number, *found), on(number, *expected))
    })
}

/// Refuses an array with chunks that cannot be chunks of this array.
fn check_inserted(array: &Array, axis: usize, other: &Array) -> Result<(), RearrangeError> {
    if other.members().is_some() {
        return Err(RearrangeError::joined("the inserted array"));
    }
    check_elements(array, axis, other)?;
    let (theirs, ours) = (other.metadata(), array.metadata());
    if theirs.codecs() != ours.codecs() {
        let codecs = |metadata: &ArrayMetadata| {
            let names = metadata.codecs().iter().map(zarr_metadata::Codec::name);
            names.collect::<Vec<_>>().join(", ")
        };
        let (found, expected) = (codecs(theirs), codecs(ours));
        // The names may be equal, and the configurations not.
        let (found, expected) = match found == expected {
            true => configured_otherwise(theirs, ours).unwrap_or((found, expected)),
            false => (found, expected),
        };
        return Err(RearrangeError::inserted("codecs", &found, &expected));
    }
    check_fill(array, other)?;
    let axes = other.grid().axes().iter().zip(array.grid().axes()).enumerate();
    for (number, (found, expected)) in axes.filter(|(number, _)| *number != axis) {
        if !found.same_chunks(expected) {
            let what = "chunks on another axis";
            let edges = |axis: &Axis| {
                let edges: Vec<String> = axis
                    .runs()
                    .take(8)
                    .map(|run| format!("{} x {}", run.count, run.edge))
                    .collect();
                format!("{} on axis {number}", edges.join(", "))
            };
            let (found, expected) = (edges(found), edges(expected));
            return Err(RearrangeError::inserted(what, &found, &expected));
        }
    }
    Ok(())
}

/// Refuses an array whose absent elements have another value.
fn check_fill(array: &Array, other: &Array) -> Result<(), RearrangeError> {
    if other.fill() == array.fill() {
        return Ok(());
    }
    let fill = |array: &Array| array.metadata().fill_value().json().to_owned();
    Err(RearrangeError::inserted("fill value", &fill(other), &fill(array)))
}

/// The first member in which the codecs of two documents differ, with both values.
fn configured_otherwise(theirs: &ArrayMetadata, ours: &ArrayMetadata) -> Option<(String, String)> {
    let codecs = |of: &ArrayMetadata| {
        serde_json::from_str::<Value>(of.json()).ok()?.get_mut("codecs").map(Value::take)
    };
    let (found, expected) = (codecs(theirs)?, codecs(ours)?);
    let mut differing = Vec::new();
    differences("codecs".to_owned(), Some(&found), Some(&expected), &mut differing);
    let (path, found, expected) = differing.into_iter().next()?;
    let text = |value: Option<&Value>| value.map_or("no such member".to_owned(), Value::to_string);
    Some((format!("{} in {path}", text(found)), text(expected)))
}

fn on(axis: usize, length: u64) -> String {
    format!("{length} on axis {axis}")
}

/// Refuses a range that is not within the axis with this number.
fn check_within(own: &Axis, axis: usize, range: &Range<u64>) -> Result<(), RearrangeError> {
    let (extent, start, stop) = (own.extent(), range.start, range.end);
    match start > stop || stop > extent {
        true => Err(RearrangeError::new(format_args!(
            "axis {axis}: found {start}:{stop}, expected a range within 0:{extent}"
        ))),
        false => Ok(()),
    }
}

/// The spans with ranges that follow each other as one, and without empty ones unless the axis is empty.
fn joined(
    own: &Axis,
    axis: usize,
    spans: impl IntoIterator<Item = Span>,
) -> Result<Vec<Span>, RearrangeError> {
    let (mut joined, mut kept) = (Vec::new(), Vec::new());
    for span in spans {
        if let Span::Kept(range) = &span {
            check_within(own, axis, range)?;
            kept.push(range.clone());
        }
        match (joined.last_mut(), span) {
            (_, Span::Kept(range)) if range.is_empty() && own.extent() > 0 => {}
            (Some(Span::Kept(last)), Span::Kept(range)) if last.end == range.start => {
                last.end = range.end;
            }
            (_, span) => joined.push(span),
        }
    }
    check_kept_once(axis, &kept)?;
    Ok(joined)
}

/// The chunks of a range of the axis with this number; none for an empty range. The error of a range
/// that cuts a chunk calls it `what`, such as `"member"` if each is a member of a virtual join.
///
/// # Errors
/// [`RearrangeError`] for a range that is not within the axis, or cuts a chunk.
pub fn whole_chunks(
    own: &Axis,
    axis: usize,
    range: &Range<u64>,
    what: &'static str,
) -> Result<Range<u64>, RearrangeError> {
    check_within(own, axis, range)?;
    let (extent, start, stop) = (own.extent(), range.start, range.end);
    if start == stop {
        return Ok(0..0);
    }
    let number = |index: u64| match own.chunk_of(index) {
        None => Ok(own.occupied()),
        Some((chunk, 0)) => Ok(chunk),
        Some((chunk, within)) => {
            let before = index - within;
            let after = own.clipped(chunk).map_or(extent, |range| range.end);
            Err(RearrangeError::unaligned(what, axis, index, [before, after]))
        }
    };
    Ok(number(start)?..number(stop)?)
}

/// Refuses ranges of the axis with this number if an index is in two of them.
///
/// # Errors
/// [`RearrangeError`], which names the first such index.
pub fn check_kept_once<'a>(
    axis: usize,
    kept: impl IntoIterator<Item = &'a Range<u64>>,
) -> Result<(), RearrangeError> {
    let mut kept: Vec<&Range<u64>> = kept.into_iter().filter(|range| !range.is_empty()).collect();
    kept.sort_by_key(|range| range.start);
    match kept.iter().zip(kept.iter().skip(1)).find(|(a, b)| a.end > b.start) {
        Some((_, twice)) => Err(RearrangeError::new(format_args!(
            "axis {axis}: index {} is kept twice",
            twice.start
        ))),
        None => Ok(()),
    }
}

/// The document with another axis, of this length and these edges. Unchanged parts keep their spelling, and
/// a regular grid stays regular if it can.
pub(super) fn with_axis(
    metadata: &ArrayMetadata,
    axis: usize,
    length: u64,
    edges: ChunkEdges,
) -> Result<ArrayMetadata, MetadataError> {
    let mut shape = metadata.shape().to_vec();
    shape[axis] = length;
    let mut chunk_shapes: Vec<ChunkEdges> = match metadata.chunk_grid() {
        ChunkGrid::Regular { chunk_shape } => {
            let shapes = chunk_shape.iter().map(|edge| ChunkEdges::Regular(*edge));
            let shapes: Vec<_> = shapes.collect();
            if shapes.get(axis) == Some(&edges) {
                return metadata.with_shape(&shape);
            }
            shapes
        }
        ChunkGrid::Rectilinear { chunk_shapes } => chunk_shapes.clone(),
        // Such an array does not open.
        ChunkGrid::Unknown(_) => Vec::new(),
    };
    chunk_shapes[axis] = edges;
    metadata.with_shape_and_grid(&shape, &ChunkGrid::Rectilinear { chunk_shapes })
}
