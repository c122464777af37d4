//! The bytes of stored chunks that a read requests, before any element is read.

use std::ops::Range;

use zarr_codec::{AnyChunkCodec, ChunkCodec, Need, Scratch, Slice};
use zarr_grid::{AxisSelection, GridErrorKind};
use zarr_view::{CopyError, View};

use crate::array::Array;
use crate::array::read::region_reader::{new_readers, read_range};
use crate::counts::narrow;
use crate::error::{ArrayError, chunk_error};
use crate::layout::PlannedChunk;
use crate::selection::gather::slice_of;
use crate::store::{Key, ReadRange, StoreExt as _};
use crate::transfer::OwnedRegion;

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
    /// The number of requests for these ranges: one, or several if they are too much for the memory of
    /// one.
    requests: u64,
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
        let (expected, found) = (self.chunk_shape.len(), self.in_chunk.len());
        if expected != found {
            let cause = GridErrorKind::Rank { what: "indices", found, rank: expected }.into();
            return Err(ArrayError::Selection { cause });
        }
        match array.chunk_codec(&self.chunk_shape)? {
            AnyChunkCodec::Fixed(codec) => self.reads_of_pieces(array, &key, &codec, stored_bytes),
            codec @ AnyChunkCodec::Variable(_) => {
                if self.is_whole {
                    return Ok(Some(PlannedReads::of_all(stored_bytes)));
                }
                self.reads_of_elements(array, &key, &codec, stored_bytes)
            }
        }
    }

    /// As [`reads`](Self::reads), for elements of one size.
    fn reads_of_pieces(
        &self,
        array: &Array,
        key: &Key,
        codec: &ChunkCodec,
        stored_bytes: u64,
    ) -> Result<Option<PlannedReads>, ArrayError> {
        let failed = |cause| chunk_error(key, cause);
        let whole = || Ok(Some(PlannedReads::of_all(stored_bytes)));
        let slices: Vec<Slice> = self.in_chunk.iter().map(slice_of).collect();
        let lists = self.in_chunk.iter().map(|axis| match axis {
            AxisSelection::Indices(list) => Some(list.clone()),
            _ => None,
        });
        let region = OwnedRegion {
            chunk: self.chunk.clone(),
            chunk_shape: self.chunk_shape.clone(),
            in_chunk: slices,
            is_whole: self.is_whole,
            lists: lists.collect(),
        };
        let part = region.region();
        let counts: Vec<usize> = self.in_chunk.iter().map(|axis| narrow(axis.len())).collect();
        let view = View::contiguous(&counts).map_err(CopyError::from)?;
        let mut readers = new_readers(array, &part, codec, false);
        readers.begin(&part, &view, None)?;
        let mut planned = PlannedReads { stored_bytes, index: None, ranges: vec![], requests: 0 };
        let mut known = None;
        if readers.needs_index() {
            let mut bytes = Vec::new();
            let Some(range) = read_range(readers.need()) else { return whole() };
            if array.get_object(key, range, &mut bytes)?.is_none() {
                return whole();
            }
            planned.index = within(readers.need(), stored_bytes).pop();
            known =
                readers.supply_index(&bytes, stored_bytes, &mut Scratch::new()).map_err(failed)?;
            readers.begin(&part, &view, known.as_ref())?;
        }
        while !readers.is_done() {
            if readers.need() == Need::All {
                planned.ranges.push(0..stored_bytes);
                planned.requests += 1;
            } else if !readers.is_free() {
                planned.ranges.extend(within(readers.need(), stored_bytes));
                planned.requests += 1;
            }
            readers.begin(&part, &view, known.as_ref())?;
        }
        Ok(Some(planned))
    }

    /// As [`reads`](Self::reads), for elements of variable length.
    fn reads_of_elements(
        &self,
        array: &Array,
        key: &Key,
        codec: &AnyChunkCodec,
        stored_bytes: u64,
    ) -> Result<Option<PlannedReads>, ArrayError> {
        let failed = |cause| chunk_error(key, cause);
        let whole = || Ok(Some(PlannedReads::of_all(stored_bytes)));
        let slices: Vec<Slice> = self.in_chunk.iter().map(slice_of).collect();
        let mut needs = codec.needs(&slices, array.range_cost()).map_err(failed)?;
        let Some(range @ (ReadRange::Ranges(_) | ReadRange::Suffix(_))) = read_range(needs.need())
        else {
            return whole();
        };
        let mut index = None;
        if needs.is_index() {
            let mut bytes = Vec::new();
            if array.get_object(key, range, &mut bytes)?.is_none() {
                return whole();
            }
            index = within(needs.need(), stored_bytes).pop();
            needs.supply_index(&bytes, Some(stored_bytes), &mut Scratch::new()).map_err(failed)?;
        }
        let ranges = within(needs.need(), stored_bytes);
        let requests = u64::from(!ranges.is_empty());
        Ok(Some(PlannedReads { stored_bytes, index, ranges, requests }))
    }
}

/// The bytes of a need that an object of this length has.
fn within(need: Need<'_>, stored_bytes: u64) -> Vec<Range<u64>> {
    match need {
        Need::Ranges(ranges) => {
            ranges.iter().filter(|range| range.end <= stored_bytes).cloned().collect()
        }
        Need::Suffix(len) => {
            let start = stored_bytes.checked_sub(len);
            start.map(|start| start..stored_bytes).into_iter().collect()
        }
        Need::All | Need::Nothing => Vec::new(),
    }
}

impl PlannedReads {
    /// All bytes of an object, by one request.
    fn of_all(stored_bytes: u64) -> Self {
        let all = 0..stored_bytes;
        Self { stored_bytes, index: None, ranges: vec![all], requests: 1 }
    }

    /// Adds the reads of another object, counted as if its bytes followed.
    pub(crate) fn append(&mut self, other: Self) {
        let start = self.stored_bytes;
        let moved =
            |range: Range<u64>| range.start.saturating_add(start)..range.end.saturating_add(start);
        self.requests += other.requests();
        self.ranges.extend(other.index.into_iter().chain(other.ranges).map(moved));
        self.stored_bytes = start.saturating_add(other.stored_bytes);
    }

    /// The number of bytes to read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let lengths = self.index.iter().chain(&self.ranges);
        lengths.fold(0, |sum, range| sum.saturating_add(range.end.saturating_sub(range.start)))
    }

    /// The number of requests: one for all ranges of a chunk, and one before for an index. The
    /// ranges of a large part take one for each 4 MiB, or 16 MiB of a remote store.
    #[must_use]
    pub fn requests(&self) -> u64 {
        u64::from(self.index.is_some()).saturating_add(self.requests)
    }
}
