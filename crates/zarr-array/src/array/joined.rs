//! Reads chunks of an array that consists of others, from the member that holds them.

use std::iter;
use std::num::NonZeroUsize;
use std::ops::Range;

use zarr_codec::{ByteStrings, Slice};
use zarr_grid::{AxisSelection, ChunkPart};
use zarr_view::{CopyError, Output, View};

use crate::array::Array;
use crate::array::PlannedReads;
use crate::array::worker::{ChunkBuffers, Worker};
use crate::counts::{narrow, wide};
use crate::error::ArrayError;
use crate::hierarchy::Hierarchy;
use crate::hierarchy::Members;
use crate::layout::PlannedChunk;
use crate::layout::in_chunk;
use crate::selection::Points;
use crate::selection::Selection;
use crate::selection::pieces::AxisIndices;
use crate::transfer::{ChunkRegion, OwnedRegion, Selected, Transfer};

/// The elements of a chunk in the member that holds them.
pub(super) struct InMember<'a> {
    pub(super) members: &'a Members,
    pub(super) number: Vec<u64>,
    /// `None` if there is no member.
    pub(super) array: Option<Array>,
    /// Index in the member of the chunk's first element.
    start: Vec<u64>,
}

impl InMember<'_> {
    /// The member, and its only chunk with elements of a part, given by indices within
    /// the chunk of the joined array. `None` if there are several, or no member.
    ///
    /// Most boxes are such: the joined array has the members' chunks. They are read without a
    /// selection of the member, which would cost as much as reading a small chunk.
    pub(super) fn in_one_chunk(&self, part: &ChunkRegion<'_>) -> Option<(&Array, OwnedRegion)> {
        let array = self.array.as_ref()?;
        let slices = self.members.without_new_axis(part.in_chunk.to_vec());
        let axes = array.grid().axes();
        let mut found = OwnedRegion {
            chunk: Vec::with_capacity(axes.len()),
            chunk_shape: Vec::with_capacity(axes.len()),
            in_chunk: slices,
            is_whole: true,
            lists: Vec::new(),
        };
        let mut moved = Vec::with_capacity(axes.len());
        for ((slice, start), axis) in found.in_chunk.iter_mut().zip(&self.start).zip(axes) {
            let (chunk, within) = axis.chunk_of(start.checked_add(wide(slice.start))?)?;
            let clipped = axis.clipped(chunk)?;
            let length = clipped.end - clipped.start;
            let steps = wide(slice.count).checked_sub(1)?;
            if steps.checked_mul(wide(slice.step))?.checked_add(within)? >= length {
                return None;
            }
            found.is_whole &= within == 0 && slice.step == 1 && wide(slice.count) == length;
            found.chunk.push(chunk);
            found.chunk_shape.push(axis.edge(chunk)?);
            moved.push((wide(slice.start), within));
            slice.start = narrow(within);
        }
        if part.has_lists() {
            let lists = self.members.without_new_axis(part.indices().collect::<Vec<_>>());
            let lists = lists.into_iter().zip(moved).map(|(axis, (before, after))| match axis {
                AxisIndices::Slice(_) => None,
                AxisIndices::List(list) => {
                    let moved = |index: &u64| index - before + after;
                    Some(list.iter().map(moved).collect())
                }
            });
            found.lists = lists.collect();
            found.is_whole = false;
        }
        Some((array, found))
    }

    /// Runs `work` on the member with a selection of it, or gives `None` if there is no member. `axes`
    /// are indices within the chunk.
    fn with<T>(
        &self,
        axes: impl Iterator<Item = AxisSelection>,
        work: impl FnOnce(&Array, Selection) -> Result<T, ArrayError>,
    ) -> Result<Option<T>, ArrayError> {
        let Some(array) = &self.array else { return Ok(None) };
        let axes = self.members.without_new_axis(axes.collect());
        let axes = axes.into_iter().zip(&self.start);
        let selection = axes.map(|(axis, start)| moved(axis, *start)).collect();
        let failed = |cause| self.members.failed(&self.number, cause);
        work(array, selection).map(Some).map_err(failed)
    }
}

impl Members {
    /// Whether elements of this shape have those of a member several times.
    pub(super) fn repeats(&self, shape: &[usize], axis: usize) -> bool {
        self.new_axis == Some(axis) && shape.get(axis).is_some_and(|count| *count > 1)
    }

    /// Runs `work` on the memory of a part of the array, with the axes that members have.
    pub(super) fn with_output<T>(
        &self,
        out: &mut Output<'_>,
        work: impl FnOnce(Output<'_>) -> Result<T, ArrayError>,
    ) -> Result<T, ArrayError> {
        if self.new_axis.is_none() {
            return work(out.lend());
        }
        let shape = self.without_new_axis(out.view().shape().to_vec());
        work(out.reshape(&shape)?.expect("an axis of length 1 fits into every view"))
    }
}

impl Array {
    /// The store, and the members of its arrays that consist of others.
    #[must_use]
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// The member arrays of a joined array.
    #[must_use]
    pub fn members(&self) -> Option<&Members> {
        self.shared.members.as_deref()
    }

    /// Where a chunk lies in the members; `None` if the array has its own chunks.
    pub(super) fn in_member(&self, chunk: &[u64]) -> Result<Option<InMember<'_>>, ArrayError> {
        let Some(members) = self.members() else { return Ok(None) };
        let (number, start) = self.place_in_member(members, chunk)?;
        let array = members.open(&number)?;
        Ok(Some(InMember { members, number, array, start }))
    }

    /// As [`in_member`](Self::in_member) if the member is kept open, so that this waits for nothing.
    #[cfg(feature = "async")]
    pub(super) fn in_kept_member(&self, chunk: &[u64]) -> Result<Option<InMember<'_>>, ArrayError> {
        let Some(members) = self.members() else { return Ok(None) };
        let (number, start) = self.place_in_member(members, chunk)?;
        let kept = members.kept(&number);
        Ok(kept.map(|array| InMember { members, number, array, start }))
    }

    fn place_in_member(
        &self,
        members: &Members,
        chunk: &[u64],
    ) -> Result<(Vec<u64>, Vec<u64>), ArrayError> {
        let mut origin = vec![0; self.grid().rank()];
        self.grid()
            .chunk_origin(chunk, &mut origin)
            .map_err(|cause| ArrayError::Selection { cause })?;
        members.locate(&origin)
    }

    /// Reads a part of a chunk from the chunks of the member that holds it; false if the array has
    /// its own chunks.
    pub(super) fn read_part_of_member(
        &self,
        part: &ChunkRegion<'_>,
        out: &mut Output<'_>,
        buffers: &mut ChunkBuffers,
    ) -> Result<bool, ArrayError> {
        let Some(place) = self.in_member(part.chunk)? else { return Ok(false) };
        let members = place.members;
        let repeats = members.new_axis.filter(|axis| members.repeats(out.view().shape(), *axis));
        if let Some(axis) = repeats {
            // A member has the elements once, and a list may repeat the index of a new axis.
            let mut shape = out.view().shape().to_vec();
            let count = shape.get_mut(axis).map_or(0, |count| std::mem::replace(count, 1));
            let view = View::contiguous(&shape).map_err(CopyError::from)?;
            let mut once = zarr_view::zeroed(view.len().saturating_mul(out.element_size()))?;
            let mut to = Output::new(&mut once, &view, out.element_size())?;
            self.read_part_of_member(part, &mut to, buffers)?;
            for at in 0..count {
                let mut ranges: Vec<Range<usize>> = shape.iter().map(|size| 0..*size).collect();
                if let Some(range) = ranges.get_mut(axis) {
                    *range = at..at + 1;
                }
                let element = out.element();
                out.shrink(&ranges)?.copy_from(&view, &once, element, &[])?;
            }
            return Ok(true);
        }
        if let Some((member, found)) = place.in_one_chunk(part) {
            let failed = |cause| members.failed(&place.number, cause);
            let mut worker = Worker::with_buffers(member, std::mem::take(buffers));
            let read = members.with_output(out, |mut out| {
                member.read_part(&found.region(), &mut out, &mut worker)
            });
            *buffers = worker.buffers;
            return read.map(|()| true).map_err(failed);
        }
        let axes = part.indices().map(|axis| match axis {
            AxisIndices::Slice(slice) => stepped(&slice),
            AxisIndices::List(list) => list.into(),
        });
        let read = place.with(axes, |member, selection| {
            let selected = Selected::new(member, &selection)?;
            let length = selected.length;
            if let Some(order) = selected.order() {
                // A list goes back and forth between chunks of the member.
                let mut elements = selected.zeroed()?;
                member.read_and_order(selected, &order, &mut elements, NonZeroUsize::MIN)?;
                return members.with_output(out, |mut out| {
                    let view = View::contiguous(out.view().shape()).map_err(CopyError::from)?;
                    Ok(out.copy_from(&view, &elements, out.element(), &[])?)
                });
            }
            let transfer = Transfer::new(selected, length)?;
            let mut worker = Worker::with_buffers(member, std::mem::take(buffers));
            members.with_output(out, |out| {
                let places = transfer.cut(out)?;
                transfer.for_each_part(0..transfer.parts(), |part| {
                    let place = places.take(part.number);
                    let mut place =
                        place.expect("each part is visited once, so that its place is there");
                    member.read_part(part, &mut place, &mut worker)
                })
            })?;
            *buffers = worker.buffers;
            Ok(())
        })?;
        if read.is_none() {
            out.fill(self.fill())?;
        }
        Ok(true)
    }

    /// The elements of variable length of a part of a chunk, in C order of the part, from the
    /// member that holds it. `None` if the array has its own chunks, `Some(None)` where there is no
    /// member.
    pub(super) fn read_variable_of_member(
        &self,
        part: &ChunkPart<'_>,
    ) -> Result<Option<Option<ByteStrings>>, ArrayError> {
        let Some(place) = self.in_member(part.chunk())? else { return Ok(None) };
        let axes = part.axes().iter().map(in_chunk);
        let read = |member: &Self, selection: Selection| {
            let alone = member.clone().with_threads(NonZeroUsize::MIN);
            alone.read_variable(&selection.into())
        };
        let Some(read) = place.with(axes, read)? else { return Ok(Some(None)) };
        let from_new = place.members.new_axis.and_then(|axis| part.axes().get(axis..));
        let Some([new, inner @ ..]) = from_new else { return Ok(Some(Some(read))) };
        let inner = inner.iter().fold(1_u64, |count, axis| count.saturating_mul(axis.len()));
        Ok(Some(Some(repeated(read, narrow(inner), narrow(new.len())))))
    }

    /// As [`read_variable_of_member`](Self::read_variable_of_member), at points of a chunk; their
    /// indices on each axis count from the chunk's first element.
    pub(super) fn read_variable_points_of_member(
        &self,
        chunk: &[u64],
        points: impl FnOnce() -> Vec<Vec<u64>>,
    ) -> Result<Option<Option<ByteStrings>>, ArrayError> {
        let Some(place) = self.in_member(chunk)? else { return Ok(None) };
        let points = points();
        let count = points.first().map_or(1, Vec::len);
        let axes = points.into_iter().map(AxisSelection::Indices);
        let read = |member: &Self, selection: Selection| {
            let indices = selection.axes().iter().map(|axis| axis.indices().collect());
            let points: Vec<Vec<u64>> = indices.collect();
            let points = Points::new(points);
            let read =
                member.clone().with_threads(NonZeroUsize::MIN).read_variable_points(&points)?;
            // Points of an array without axes are one.
            Ok(if points.axes().is_empty() { repeated(read, 1, count) } else { read })
        };
        place.with(axes, read).map(Some)
    }

    /// Reads points of a chunk from the member that holds it, in the order of the points; their
    /// indices on each axis count from the chunk's first element. False if the array has its own
    /// chunks.
    pub(super) fn read_points_of_member(
        &self,
        chunk: &[u64],
        points: impl FnOnce() -> Vec<Vec<u64>>,
        out: &mut [u8],
    ) -> Result<bool, ArrayError> {
        let Some(place) = self.in_member(chunk)? else { return Ok(false) };
        let axes = points().into_iter().map(AxisSelection::Indices);
        let read = place.with(axes, |member, selection| {
            let indices = selection.axes().iter().map(|axis| axis.indices().collect());
            let points = Points::new(indices.collect::<Vec<Vec<u64>>>());
            let alone = member.clone().with_threads(NonZeroUsize::MIN);
            if !points.axes().is_empty() {
                return alone.read_points_in_order(&points, out);
            }
            // Points of an array without axes are one.
            let element = alone.read(Selection::new(Vec::new()))?;
            out.chunks_exact_mut(element.len().max(1)).for_each(|to| to.copy_from_slice(&element));
            Ok(())
        })?;
        if read.is_none() {
            let size = self.element_size().max(1);
            out.chunks_exact_mut(size).for_each(|to| to.copy_from_slice(self.fill()));
        }
        Ok(true)
    }

    /// The requests for a planned chunk, which is a member: the requests for all chunks of the member,
    /// counted as one object after the other.
    pub(crate) fn planned_reads_of_member(
        &self,
        chunk: &PlannedChunk,
    ) -> Result<Option<Option<PlannedReads>>, ArrayError> {
        let Some(place) = self.in_member(&chunk.chunk)? else { return Ok(None) };
        let reads = place.with(chunk.in_chunk.iter().cloned(), |member, selection| {
            let plan = member.layout().plan(selection)?;
            let mut all: Option<PlannedReads> = None;
            for chunk in plan.chunks(0..plan.len())? {
                let Some(reads) = chunk.reads(member)? else { continue };
                match &mut all {
                    None => all = Some(reads),
                    Some(before) => before.append(reads),
                }
            }
            Ok(all)
        })?;
        Ok(Some(reads.flatten()))
    }
}

/// The elements with each block of `length` repeated: a member has them once, and the indices of a new
/// axis may repeat.
fn repeated(elements: ByteStrings, length: usize, times: usize) -> ByteStrings {
    if times == 1 {
        return elements;
    }
    let elements: Vec<&[u8]> = elements.iter().collect();
    let blocks = elements.chunks(length.max(1));
    blocks.flat_map(|block| iter::repeat_n(block, times).flatten()).collect()
}

/// The indices of a slice.
fn stepped(slice: &Slice) -> AxisSelection {
    let step = i64::try_from(slice.step).unwrap_or(i64::MAX).max(1);
    // Up to the last index and no further, which may be the end of the member.
    AxisSelection::steps(wide(slice.start), wide(slice.count), step)
}

/// The same indices, moved by `start`.
fn moved(axis: AxisSelection, start: u64) -> AxisSelection {
    let ahead = |range: Range<u64>| range.start + start..range.end + start;
    match axis {
        AxisSelection::Range(range) => AxisSelection::Range(ahead(range)),
        AxisSelection::Step { range, step } => AxisSelection::Step { range: ahead(range), step },
        axis => {
            let indices = axis.indices().map(|index| index + start);
            AxisSelection::Indices(indices.collect())
        }
    }
}
