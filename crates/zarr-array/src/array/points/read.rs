//! Reading single elements.

use std::sync::Arc;

use zarr_codec::{ReadUnits, Slice};
use zarr_view::{CopyError, Output, View};

use super::PointChunk;
use crate::array::Array;
use crate::array::worker::Worker;
use crate::counts::{PerAxis, bytes_of, narrow, wide};
use crate::error::ArrayError;
use crate::parallel;
use crate::selection::index_moves::IndexMoves;
use crate::selection::pieces::{Pieces, PointBox};
use crate::selection::points::{Groups, Points};
use crate::transfer::ChunkRegion;

/// The bytes of a box per point, up to which points of uncompressed elements are read with the box
/// around them.
const NEAR: usize = 3 << 10;

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
        let groups = Groups::by_chunk(self.grid(), points)?;
        if groups.order().is_sorted() {
            return self.read_groups(points, &groups, out);
        }
        let mut by_group = zarr_view::zeroed(out.len())?;
        self.read_groups(points, &groups, &mut by_group)?;
        let size = self.element_size();
        for (position, element) in groups.order().iter().zip(by_group.chunks_exact(size)) {
            let start = position * size;
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

    /// Reads points of one chunk.
    fn read_group(
        &self,
        points: &Points,
        group: &[usize],
        out: &mut [u8],
        worker: &mut Worker<'_>,
    ) -> Result<(), ArrayError> {
        let Some(first) = group.first() else { return Ok(()) };
        let place = PointChunk::of(self, points, *first)?;
        if self.read_points_of_member(&place.chunk, || place.indices(points, group), out)? {
            return Ok(());
        }
        let codec = worker.codecs.of(&place.shape)?;
        let size = self.element_size();
        let pieces = Arc::new(place.pieces(points, group, &codec.units(), size));
        let around = pieces.region(0);
        let mut axes = around.iter().zip(&place.shape);
        let is_whole = pieces.len() == 1 && axes.all(|(slice, edge)| slice.count == narrow(*edge));
        let part = ChunkRegion::of_points(&place.chunk, &place.shape, &pieces, is_whole);
        let view = View::contiguous(&[group.len()]).map_err(CopyError::from)?;
        self.read_part(&part, &mut Output::new(out, &view, size)?, worker)
    }
}

impl PointChunk {
    /// The box of the chunk around points.
    fn around(
        &self,
        points: &Points,
        group: impl Iterator<Item = usize> + Clone,
    ) -> PerAxis<Slice> {
        let axes = points.axes().iter().zip(&self.origin);
        axes.map(|(axis, origin)| {
            let indices = || group.clone().map(|position| axis[position]);
            let start = indices().min().unwrap_or_default() - origin;
            let last = indices().max().unwrap_or_default() - origin;
            (narrow(start)..narrow(last + 1)).into()
        })
        .collect()
    }

    /// Boxes around the points that are read together: those of one inner chunk of a shard, or all
    /// of a chunk that is read whole. Of uncompressed elements, all if their box is small, else
    /// those of an edge of this many bytes.
    fn pieces(
        &self,
        points: &Points,
        group: &[usize],
        units: &ReadUnits,
        element_size: usize,
    ) -> Pieces {
        let around = self.around(points, group.iter().copied());
        let counts: PerAxis<usize> = around.iter().map(|slice| slice.count).collect();
        let is_small = bytes_of(&counts, element_size)
            .is_some_and(|bytes| bytes <= group.len().saturating_mul(NEAR));
        let unit: Option<Vec<usize>> = match units {
            ReadUnits::InnerChunks { shape, .. } => Some(shape.clone()),
            ReadUnits::Elements { .. } if !is_small => Some(vec![1; counts.len()]),
            _ => None,
        };
        // Each point, by the number of its unit.
        let number = |position: usize| {
            let Some(unit) = &unit else { return 0 };
            let axes = self.within(points, position).zip(unit).zip(&self.shape);
            axes.fold(0_usize, |number, ((index, size), edge)| {
                let count = narrow(*edge).div_ceil(*size);
                number * count + index / size
            })
        };
        let numbers = group.iter().map(|position| number(*position));
        let mut numbered: Vec<(usize, usize)> = numbers.zip(0..).collect();
        if !numbered.is_sorted() {
            numbered.sort_unstable();
        }
        let boxes = numbered.chunk_by(|(a, _), (b, _)| a == b).map(|together| {
            let positions: Vec<usize> = together.iter().map(|(_, at)| group[*at]).collect();
            let region = self.around(points, positions.iter().copied());
            let starts: PerAxis<usize> = region.iter().map(|slice| slice.start).collect();
            let shape: PerAxis<usize> = region.iter().map(|slice| slice.count).collect();
            let from = self.in_box(points, &positions, &starts, &shape);
            let pairs = from.into_iter().zip(together.iter().map(|(_, at)| *at)).collect();
            let elements = shape.iter().fold(1_usize, |all, n| all.saturating_mul(*n));
            let moves = IndexMoves::new(&[pairs], &[elements], &[group.len()], element_size);
            PointBox { region, moves }
        });
        Pieces::Points { boxes: boxes.collect(), shape: [group.len()] }
    }
}
