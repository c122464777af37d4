//! Reading and writing single strings and byte strings.

use std::sync::{Mutex, PoisonError};

use zarr_codec::{ByteStrings, Slots};

use crate::array::Array;
use crate::array::points::PointChunk;
use crate::array::variable::{TYPICAL, Worker, finish_variable_read, set_all};
use crate::array::write::log::Log;
use crate::counts::{narrow, wide};
use crate::error::{ArrayError, check_count};
use crate::parallel;
use crate::selection::points::{Groups, Points};

impl Array {
    pub(in crate::array) fn read_variable_points(
        &self,
        points: &Points,
    ) -> Result<ByteStrings, ArrayError> {
        self.check_variable()?;
        let groups = Groups::by_chunk(self.grid(), points)?;
        let slots = Slots::filled_with(points.len(), self.fill());
        let slots = Mutex::new(slots.map_err(|_| ArrayError::SelectionTooLarge {
            elements: wide(points.len()).into(),
            element_size: TYPICAL,
        })?);
        let threads = self.threads_for(self.bytes_of_groups(groups.len(), TYPICAL));
        let work = |worker: &mut Worker, range: std::ops::Range<u64>| {
            for number in range.map(narrow) {
                self.check_wanted()?;
                let group = groups.group(number);
                let Some(decoded) = self.read_variable_group(points, group, worker)? else {
                    continue;
                };
                let mut slots = slots.lock().unwrap_or_else(PoisonError::into_inner);
                set_all(&mut slots, group, &decoded)?;
            }
            Ok::<(), ArrayError>(())
        };
        parallel::for_each(wide(groups.len()), threads, Worker::default, work)?;
        finish_variable_read(slots, &[wide(points.len())])
    }

    /// The elements at points of one chunk, `None` if the chunk is not stored.
    fn read_variable_group(
        &self,
        points: &Points,
        group: &[usize],
        worker: &mut Worker,
    ) -> Result<Option<ByteStrings>, ArrayError> {
        let Some(first) = group.first() else { return Ok(None) };
        let place = PointChunk::of(self, points, *first)?;
        let indices = || place.indices(points, group);
        if let Some(read) = self.read_variable_points_of_member(&place.chunk, indices)? {
            return Ok(read);
        }
        let elements = place.elements(points, group);
        self.read_variable_chunk(&place.chunk, &place.shape, elements, false, worker)
    }

    pub(in crate::array) fn write_variable_points(
        &self,
        points: &Points,
        elements: &[&[u8]],
    ) -> Result<(), ArrayError> {
        self.check_variable()?;
        self.check_codecs_write()?;
        let groups = Groups::by_chunk(self.grid(), points)?;
        check_count(elements.len(), &[wide(points.len())])?;
        let threads = self.threads_for(self.bytes_of_groups(groups.len(), TYPICAL));
        let log = Log::default();
        let work = |worker: &mut Worker, range: std::ops::Range<u64>| {
            let mut done = log.start(range.start);
            for number in range {
                self.check_wanted()?;
                self.write_variable_group(points, groups.group(narrow(number)), elements, worker)?;
                done.one_more();
            }
            Ok::<(), ArrayError>(())
        };
        parallel::for_each(wide(groups.len()), threads, Worker::default, work).map_err(|cause| {
            log.incomplete(self, self.touched(points, &groups), wide(groups.len()), cause)
        })
    }

    /// Writes the points of one chunk.
    fn write_variable_group(
        &self,
        points: &Points,
        group: &[usize],
        elements: &[&[u8]],
        worker: &mut Worker,
    ) -> Result<(), ArrayError> {
        let Some(first) = group.first() else { return Ok(()) };
        let place = PointChunk::of(self, points, *first)?;
        let Worker { codec: kept, encoded, scratch } = worker;
        let (key, codec) = (self.layout().key(&place.chunk)?, self.codec_of(&place.shape, kept)?);
        let new = group.iter().map(|position| elements[*position]);
        let new: Vec<(usize, &[u8])> = place.elements(points, group).into_iter().zip(new).collect();
        self.change_variable_chunk(&key, codec, self.policy, false, (encoded, scratch), &new)
    }
}
