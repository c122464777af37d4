//! Reads chunks of an array that consists of others, from the member that holds them.

use std::num::NonZeroUsize;
use std::ops::Range;

use zarr_codec::{ByteStrings, Slice};
use zarr_grid::{AxisPart, AxisSelection, ChunkPart, PartIndices};
use zarr_view::Output;

use super::Array;
use super::worker::{ChunkBuffers, Worker};
use crate::error::ArrayError;
use crate::members::Members;
use crate::plan::PlannedChunk;
use crate::planned_reads::PlannedReads;
use crate::selection::Selection;
use crate::transfer::{Part, Selected, Transfer};

/// The elements of a chunk in the member that holds them.
struct InMember<'a> {
    members: &'a Members,
    number: Vec<u64>,
    /// `None` if there is no member.
    array: Option<Array>,
    /// Index in the member of the chunk's first element.
    start: Vec<u64>,
}

impl InMember<'_> {
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

impl Array {
    /// The arrays of which this one consists, if it does.
    #[must_use]
    pub fn members(&self) -> Option<&Members> {
        self.shared.extension.as_ref()?.downcast_ref()
    }

    /// Where a chunk lies in the members; `None` if the array has chunks of its own.
    fn in_member(&self, chunk: &[u64]) -> Result<Option<InMember<'_>>, ArrayError> {
        let Some(members) = self.members() else { return Ok(None) };
        let mut origin = vec![0; self.grid().rank()];
        self.grid()
            .chunk_origin(chunk, &mut origin)
            .map_err(|cause| ArrayError::Selection { cause })?;
        let (number, start) = members.locate(&origin)?;
        let array = members.open(&number)?;
        Ok(Some(InMember { members, number, array, start }))
    }

    /// Reads a box of a chunk from the chunks of the member that holds it; false if the array has
    /// chunks of its own.
    pub(super) fn read_box_of_member(
        &self,
        part: &Part<'_>,
        out: &mut Output<'_>,
        buffers: &mut ChunkBuffers,
    ) -> Result<bool, ArrayError> {
        let Some(place) = self.in_member(part.chunk)? else { return Ok(false) };
        let members = place.members;
        let axes = part.in_chunk.iter().map(stepped);
        let read = place.with(axes, |member, selection| {
            let selected = Selected::new(member, &selection)?;
            let length = selected.length;
            let transfer = Transfer::new(selected, length)?;
            let shape = members.without_new_axis(out.view().shape().to_vec());
            let out = out.reshape(&shape)?.expect("an axis of length 1 fits into every view");
            let places = transfer.cut_output(out)?;
            let mut worker = Worker::with_buffers(member, std::mem::take(buffers));
            transfer.for_each_part(0..transfer.parts(), |part| {
                let place = places.take(part.number);
                let mut place =
                    place.expect("each part is visited once, so that its place is there");
                member.read_part(part, &mut place, &mut worker)
            })?;
            *buffers = worker.buffers;
            Ok(())
        })?;
        if read.is_none() {
            out.fill(self.fill())?;
        }
        Ok(true)
    }

    /// The elements of variable length of a part of a chunk, in C order of the part, from the member
    /// that holds it. `None` if the array has chunks of its own, `Some(None)` where there is no member.
    pub(super) fn read_variable_of_member(
        &self,
        part: &ChunkPart<'_>,
    ) -> Result<Option<Option<ByteStrings>>, ArrayError> {
        let Some(place) = self.in_member(part.chunk())? else { return Ok(None) };
        let axes = part.axes().iter().map(indices);
        let read = |member: &Self, selection| {
            let alone = member.clone().with_threads(NonZeroUsize::MIN);
            alone.read_variable(&selection)
        };
        place.with(axes, read).map(Some)
    }

    /// As [`read_variable_of_member`](Self::read_variable_of_member), at points of a chunk, whose
    /// indices on each axis count from the chunk's first element.
    pub(super) fn read_variable_points_of_member(
        &self,
        chunk: &[u64],
        points: impl FnOnce() -> Vec<Vec<u64>>,
    ) -> Result<Option<Option<ByteStrings>>, ArrayError> {
        let Some(place) = self.in_member(chunk)? else { return Ok(None) };
        let axes = points().into_iter().map(AxisSelection::Indices);
        let read = |member: &Self, selection: Selection| {
            let listed =
                |axis: &AxisSelection| (0..axis.len()).filter_map(|at| axis.get(at)).collect();
            let points: Vec<Vec<u64>> = selection.axes().iter().map(listed).collect();
            member.clone().with_threads(NonZeroUsize::MIN).read_points_byte_strings(points)
        };
        place.with(axes, read).map(Some)
    }

    /// The requests for a planned chunk, made to the member that holds it: those for all chunks of the
    /// member in it, as if their objects lay one behind the other.
    pub(crate) fn planned_reads_of_member(
        &self,
        chunk: &PlannedChunk,
    ) -> Result<Option<Option<PlannedReads>>, ArrayError> {
        let Some(place) = self.in_member(&chunk.chunk)? else { return Ok(None) };
        let reads = place.with(chunk.in_chunk.iter().cloned(), |member, selection| {
            let plan = member.plan(selection)?;
            let mut all: Option<PlannedReads> = None;
            for chunk in plan.chunks(0..plan.len())? {
                let Some(reads) = member.planned_reads(&chunk)? else { continue };
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

/// The indices of a slice.
fn stepped(slice: &Slice) -> AxisSelection {
    let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let (start, step) = (wide(slice.start), wide(slice.step));
    // Up to the last index and no further, which may be the end of the member.
    let last = wide(slice.count).saturating_sub(1).saturating_mul(step).saturating_add(start);
    let range = if slice.count == 0 { start..start } else { start..last.saturating_add(1) };
    AxisSelection::Step { range, step: i64::try_from(step).unwrap_or(i64::MAX).max(1) }
}

/// The indices of a part within its chunk.
fn indices(axis: &AxisPart<'_>) -> AxisSelection {
    match axis.indices {
        PartIndices::Step { step, .. } => AxisSelection::Step {
            range: axis.in_chunk(),
            step: i64::try_from(step).unwrap_or(i64::MAX),
        },
        PartIndices::List { in_chunk, .. } => in_chunk.into(),
    }
}

/// The same indices, moved by `start`.
fn moved(axis: AxisSelection, start: u64) -> AxisSelection {
    let ahead =
        |range: Range<u64>| range.start.saturating_add(start)..range.end.saturating_add(start);
    match axis {
        AxisSelection::Range(range) => AxisSelection::Range(ahead(range)),
        AxisSelection::Step { range, step } => AxisSelection::Step { range: ahead(range), step },
        axis => {
            let indices = (0..axis.len()).filter_map(|position| axis.get(position));
            AxisSelection::Indices(indices.map(|index| index.saturating_add(start)).collect())
        }
    }
}
