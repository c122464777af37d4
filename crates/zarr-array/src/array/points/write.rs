//! Writing single elements.

use std::collections::BTreeMap;

use zarr_codec::{InnerChanges, Order};

use super::PointChunk;
use crate::array::Array;
use crate::array::worker::Worker;
use crate::array::write::log::Log;
use crate::counts::{bytes_of, narrow, wide};
use crate::error::{ArrayError, Touched};
use crate::parallel;
use crate::selection::index_moves::{IndexMoves, Pair};
use crate::selection::points::{Groups, Points};
use crate::transfer::check_length;

impl Array {
    /// Writes single elements. Each chunk that contains points is read, changed and written once,
    /// under the best exclusion of the store. So elements that others write between the points are
    /// kept.
    pub(in crate::array) fn write_points(
        &self,
        points: &Points,
        elements: &[u8],
    ) -> Result<(), ArrayError> {
        self.fixed_chain()?;
        let groups = Groups::by_chunk(self.grid(), points)?;
        let expected = bytes_of(&[points.len()], self.element_size());
        check_length(elements.len(), expected.unwrap_or(usize::MAX))?;
        self.check_codecs_write()?;
        let threads = self.threads_for(self.bytes_of_groups(groups.len(), self.element_size()));
        let log = Log::default();
        let work = |worker: &mut Worker<'_>, range: std::ops::Range<u64>| {
            let mut done = log.start(range.start);
            for number in range {
                self.check_wanted()?;
                self.write_group(points, groups.group(narrow(number)), elements, worker)?;
                done.one_more();
            }
            Ok(())
        };
        parallel::for_each(wide(groups.len()), threads, || Worker::new(self), work).map_err(
            |cause| {
                let index = |element| points.index(element).collect();
                let cause = self.explain_loss(cause, || Some(elements.into()), index);
                log.incomplete(self, self.touched(points, &groups), wide(groups.len()), cause)
            },
        )
    }

    /// Writes the points of one chunk.
    fn write_group(
        &self,
        points: &Points,
        group: &[usize],
        elements: &[u8],
        worker: &mut Worker<'_>,
    ) -> Result<(), ArrayError> {
        let Some(first) = group.first() else { return Ok(()) };
        let place = PointChunk::of(self, points, *first)?;
        let Worker { keys, codecs, buffers } = worker;
        let (key, codec) = (keys.of(&place.chunk)?, codecs.of(&place.shape)?);
        let size = self.element_size();
        if let Some(changes) = self.inner_changes(key, codec)? {
            let moves = place.moves_by_inner_chunk(points, group, &changes, size);
            return self.write_moves_to_shard(key, &changes, &moves, elements, buffers);
        }
        let places = place.elements(points, group);
        // In C order, in which the points count their elements.
        self.change_chunk(key, codec, Order::C, buffers, |_, decoded| {
            for (position, element) in group.iter().zip(&places) {
                let from = position * size;
                let to = element * size;
                let element = elements.get(from..from + size);
                let slot = decoded.get_mut(to..to + size);
                let (slot, element) = slot.zip(element).expect("points lie within their chunk");
                slot.copy_from_slice(element);
            }
            Ok(())
        })
    }

    /// The chunks of groups of points.
    pub(in crate::array) fn touched(&self, points: &Points, groups: &Groups) -> Touched {
        let firsts = (0..groups.len()).filter_map(|number| groups.group(number).first());
        let chunk = |first: &usize| PointChunk::of(self, points, *first).map(|place| place.chunk);
        Touched::Listed(firsts.map(|first| chunk(first).unwrap_or_default()).collect())
    }
}

impl PointChunk {
    /// The moves of the points to the elements of each inner chunk that holds some.
    fn moves_by_inner_chunk(
        &self,
        points: &Points,
        group: &[usize],
        changes: &InnerChanges<'_>,
        element_size: usize,
    ) -> BTreeMap<usize, IndexMoves> {
        let shape = changes.shape();
        let mut pairs: BTreeMap<usize, Vec<Pair>> = BTreeMap::new();
        for position in group {
            let mut unit = Vec::with_capacity(shape.len());
            let mut element = 0_usize;
            for (index, size) in self.within(points, *position).zip(shape) {
                unit.push(index / size);
                element = element * size + index % size;
            }
            pairs.entry(changes.number(&unit)).or_default().push((*position, element));
        }
        let elements = shape.iter().fold(1_usize, |all, n| all.saturating_mul(*n));
        let moves = pairs.into_iter().map(|(number, pairs)| {
            (number, IndexMoves::new(&[pairs], &[points.len()], &[elements], element_size))
        });
        moves.collect()
    }
}
