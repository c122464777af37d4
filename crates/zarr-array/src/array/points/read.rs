//! Reading single elements.

use zarr_codec::{ChunkCodec, Need, Slice};
use zarr_view::{CopyError, Output, View};

use super::PointChunk;
use crate::array::Array;
use crate::array::worker::{ChunkBuffers, Worker};
use crate::counts::{bytes_of, narrow, wide};
use crate::error::ArrayError;
use crate::parallel;
use crate::selection::points::{Groups, Points};
use crate::transfer::ChunkRegion;

/// Bytes that can be read in the time that one more request takes.
const REQUEST_COST: usize = 256 << 10;

impl Array {
    /// The bytes that the elements take.
    pub(in crate::array) fn bytes_of_points(&self, points: &Points) -> Result<usize, ArrayError> {
        let (count, element_size) = (points.len(), self.element_size());
        let too_large =
            || ArrayError::SelectionTooLarge { elements: wide(count).into(), element_size };
        bytes_of(&[count], element_size).ok_or_else(too_large)
    }

    /// Reads into memory of the right length.
    pub(in crate::array) fn read_points_in_order(
        &self,
        points: &Points,
        out: &mut [u8],
    ) -> Result<(), ArrayError> {
        let groups = self.divided(points, Groups::by_chunk(self, points)?)?;
        if groups.order().is_sorted() {
            return self.read_groups(points, &groups, out);
        }
        let mut by_group = zarr_view::zeroed(out.len())?;
        self.read_groups(points, &groups, &mut by_group)?;
        let size = self.element_size();
        for (position, element) in groups.order().iter().zip(by_group.chunks_exact(size)) {
            let start = position.saturating_mul(size);
            let slot = out.get_mut(start..start.saturating_add(size));
            slot.expect("there is a place for each point").copy_from_slice(element);
        }
        Ok(())
    }

    /// Reads the groups one after another, on several threads.
    fn read_groups(
        &self,
        points: &Points,
        groups: &Groups,
        out: &mut [u8],
    ) -> Result<(), ArrayError> {
        let size = self.element_size();
        let view = View::contiguous(&[points.len()]).map_err(CopyError::from)?;
        let places = Output::new(out, &view, size)?.grid(&[groups.cuts()])?;
        let threads = self.threads_for(self.bytes_of_groups(groups.len(), size));
        let work = |worker: &mut Worker<'_>, range: std::ops::Range<u64>| {
            for number in range.map(narrow) {
                self.check_wanted()?;
                let place = places.take(&[number]);
                let mut place =
                    place.expect("each group is visited once, so that its place is there");
                let out = place.as_mut_slice().expect("one axis without gaps");
                self.read_group(points, groups.group(number), out, worker)?;
            }
            Ok(())
        };
        parallel::for_each(wide(groups.len()), threads, || Worker::new(self), work)
    }

    /// Reads points of one chunk: the box around them, from which they are picked.
    fn read_group(
        &self,
        points: &Points,
        group: &[usize],
        out: &mut [u8],
        worker: &mut Worker<'_>,
    ) -> Result<(), ArrayError> {
        let Some(first) = group.first() else { return Ok(()) };
        let place = PointChunk::of(self, points, *first);
        let around = place.around(points, group);
        let starts: Vec<usize> = around.iter().map(|slice| slice.start).collect();
        let shape: Vec<usize> = around.iter().map(|slice| slice.count).collect();
        let size = self.element_size();
        let too_large = CopyError::Memory { bytes: usize::MAX };
        let length = bytes_of(&shape, size).ok_or(too_large)?;
        let view = View::contiguous(&shape).map_err(CopyError::from)?;
        let is_whole = shape.iter().zip(&place.shape).all(|(count, edge)| *count == narrow(*edge));
        let part = ChunkRegion::of_chunk(&place.chunk, &place.shape, &around, is_whole);
        let mut gathered = std::mem::take(&mut worker.buffers.gathered);
        let elements = gathered.room(length)?;
        self.read_box(&part, &mut Output::new(elements, &view, size)?, worker)?;
        let places = place.in_box(points, group, &starts, &shape);
        for (slot, number) in out.chunks_exact_mut(size).zip(places) {
            let from = number.saturating_mul(size);
            let element = elements.get(from..from.saturating_add(size));
            slot.copy_from_slice(element.expect("the box contains its points"));
        }
        worker.buffers = ChunkBuffers { gathered, ..std::mem::take(&mut worker.buffers) };
        Ok(())
    }

    /// Divides the groups in chunks where a read can be smaller than the box around the points.
    fn divided(&self, points: &Points, groups: Groups) -> Result<Groups, ArrayError> {
        // Members have their own chunks.
        if self.members().is_some() {
            return Ok(groups);
        }
        let mut worker = Worker::new(self);
        groups.divided(|group| {
            let [first, _, ..] = group else { return Ok(None) };
            let place = PointChunk::of(self, points, *first);
            let codec = worker.codecs.of(&place.shape)?;
            // Chunks that must be read whole are read once.
            let one = place.around(points, std::slice::from_ref(first));
            let view = View::contiguous(&vec![1; one.len()]).map_err(CopyError::from)?;
            if matches!(codec.reader(&one, &view, 0).need(), Need::All) {
                return Ok(None);
            }
            Ok(match codec.shard() {
                Some(_) => place.inner_chunks(codec, points, group),
                None => place.apart(points, group, self.element_size()),
            })
        })
    }
}

impl PointChunk {
    /// The box of the chunk around points.
    fn around(&self, points: &Points, group: &[usize]) -> Vec<Slice> {
        let axes = points.axes().iter().zip(&self.origin);
        axes.map(|(axis, origin)| {
            let indices = || group.iter().filter_map(|position| axis.get(*position).copied());
            let start = indices().min().unwrap_or_default().saturating_sub(*origin);
            let last = indices().max().unwrap_or_default().saturating_sub(*origin);
            (narrow(start)..narrow(last.saturating_add(1))).into()
        })
        .collect()
    }

    /// The element of each point, if reading each separately takes less than reading the box around
    /// them.
    fn apart(&self, points: &Points, group: &[usize], element_size: usize) -> Option<Vec<u64>> {
        let around = self.around(points, group);
        let counts: Vec<usize> = around.iter().map(|slice| slice.count).collect();
        let bytes = bytes_of(&counts, element_size).unwrap_or(usize::MAX);
        let is_wide = bytes > group.len().saturating_mul(REQUEST_COST);
        is_wide.then(|| self.elements(points, group).into_iter().map(wide).collect())
    }

    /// The inner chunk of each point, if reading these takes less than reading the box around all
    /// points.
    fn inner_chunks(
        &self,
        codec: &ChunkCodec,
        points: &Points,
        group: &[usize],
    ) -> Option<Vec<u64>> {
        let shard = codec.shard()?;
        let inner = |position: &usize| {
            let index: Vec<usize> = self.within(points, *position).collect();
            let stored = codec.transform().stored_position(&index)?;
            Some(wide(shard.locate(stored)?.0))
        };
        let numbers: Vec<u64> = group.iter().map(inner).collect::<Option<_>>()?;
        let mut distinct = numbers.clone();
        distinct.sort_unstable();
        distinct.dedup();
        // As many as the box would have if all were of equal size.
        let elements =
            |counts: &mut dyn Iterator<Item = usize>| counts.fold(1_usize, usize::saturating_mul);
        let around = elements(&mut self.around(points, group).iter().map(|slice| slice.count));
        let inner = elements(&mut shard.inner().shape().iter().copied()).max(1);
        let in_box = around.checked_div(inner).unwrap_or(0);
        (distinct.len().saturating_mul(2) < in_box).then_some(numbers)
    }
}
