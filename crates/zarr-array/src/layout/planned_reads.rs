//! The bytes of stored chunks that a read requests, before any element is read.

use std::ops::Range;

use zarr_codec::{Need, Scratch, Slice};
use zarr_grid::GridErrorKind;

use crate::array::Array;
use crate::array::read::region_reader::read_range;
use crate::error::{ArrayError, chunk_error};
use crate::layout::PlannedChunk;
use crate::selection::gather::slice_of;
use crate::store::{ReadRange, StoreExt as _};

/// The bytes of a stored chunk that a read requests.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PlannedReads {
    /// Bytes of the whole object.
    pub stored_bytes: u64,
    /// The index of a shard, which is read first.
    pub index: Option<Range<u64>>,
    /// The bytes with elements: inner chunks of a shard or parts of them, parts of other chunks, or
    /// a whole chunk.
    pub ranges: Vec<Range<u64>>,
}

impl PlannedChunk {
    /// The bytes that a read of this chunk of `array` requests; `None` if the chunk is not stored.
    ///
    /// Requests the size of the object, and reads the index of a shard, since only that tells
    /// where its inner chunks are. Ranges no further apart than the array's [range
    /// cost](Array::with_range_cost) are read as one.
    ///
    /// # Errors
    /// [`ArrayError`] if the store fails, if the index is damaged, or if the chunk belongs to
    /// another array.
    pub fn reads(&self, array: &Array) -> Result<Option<PlannedReads>, ArrayError> {
        if let Some(reads) = array.planned_reads_of_member(self)? {
            return Ok(reads);
        }
        let key = array.layout().key(&self.chunk)?;
        let Some(stored_bytes) = array.store().size(&key)? else { return Ok(None) };
        let all = 0..stored_bytes;
        let whole = || PlannedReads { stored_bytes, index: None, ranges: vec![all.clone()] };
        if self.is_whole {
            return Ok(Some(whole()));
        }
        let (expected, found) = (self.chunk_shape.len(), self.in_chunk.len());
        if expected != found {
            let cause = GridErrorKind::Rank { what: "indices", found, rank: expected }.into();
            return Err(ArrayError::Selection { cause });
        }
        let codec = array.chunk_codec(&self.chunk_shape)?;
        let slices: Vec<Slice> = self.in_chunk.iter().map(slice_of).collect();
        let failed = |cause| chunk_error(&key, cause);
        let mut needs = codec.needs(&slices, array.range_cost()).map_err(failed)?;
        let within = |need: Need<'_>| -> Vec<Range<u64>> {
            match need {
                Need::Ranges(ranges) => {
                    ranges.iter().filter(|range| range.end <= stored_bytes).cloned().collect()
                }
                Need::Suffix(len) => stored_bytes
                    .checked_sub(len)
                    .map(|start| start..stored_bytes)
                    .into_iter()
                    .collect(),
                Need::All | Need::Nothing => Vec::new(),
            }
        };
        let Some(range @ (ReadRange::Ranges(_) | ReadRange::Suffix(_))) = read_range(needs.need())
        else {
            return Ok(Some(whole()));
        };
        let mut index = None;
        if needs.is_index() {
            let mut bytes = Vec::new();
            if array.get_object(&key, range, &mut bytes)?.is_none() {
                return Ok(Some(whole()));
            }
            index = within(needs.need()).pop();
            needs.supply_index(&bytes, Some(stored_bytes), &mut Scratch::new()).map_err(failed)?;
        }
        let ranges = within(needs.need());
        Ok(Some(PlannedReads { stored_bytes, index, ranges }))
    }
}

impl PlannedReads {
    /// Adds the reads of another object, counted as if its bytes followed.
    pub(crate) fn append(&mut self, other: Self) {
        let start = self.stored_bytes;
        let moved =
            |range: Range<u64>| range.start.saturating_add(start)..range.end.saturating_add(start);
        self.ranges.extend(other.index.into_iter().chain(other.ranges).map(moved));
        self.stored_bytes = start.saturating_add(other.stored_bytes);
    }

    /// The number of bytes to read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let lengths = self.index.iter().chain(&self.ranges);
        lengths.fold(0, |sum, range| sum.saturating_add(range.end.saturating_sub(range.start)))
    }

    /// The number of requests: one for all ranges of an object, and one before for an index.
    #[must_use]
    pub fn requests(&self) -> u64 {
        u64::from(self.index.is_some()).saturating_add(u64::from(!self.ranges.is_empty()))
    }
}
