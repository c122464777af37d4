//! What reading a region takes, chunk by chunk, before any element is read.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use zarr_codec::{ByteRange, ChunkCodec, Need, Scratch, Slice};
use zarr_grid::{ChunkPart, GridErrorKind, PartIndices, SelectedChunks};
use zarr_view::{CopyError, View};

use crate::array::Array;
use crate::error::ArrayError;
use crate::region::Region;
use crate::store::Key;
use crate::transfer::narrow;

impl Array {
    /// Plans to read or write a region: which chunks it meets, and what of each. Nothing is read.
    ///
    /// For whoever shares the work between processes, prefetches, or wants to know what a read will
    /// cost. With the feature `serde`, what it gives can be sent to others.
    ///
    /// # Errors
    /// [`ArrayError::Region`] if the region does not lie within the array.
    ///
    /// # Examples
    /// ```
    /// # use std::num::NonZeroUsize;
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Region};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, Codec, DataType};
    /// # let metadata = ArrayBuilder::new([59, 100], DataType::Uint8)
    /// #     .chunks([[31, 28].into(), 100.into()])
    /// #     .codecs([Codec::bytes()])
    /// #     .build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// array.write(&Region::whole(&[59, 100]), &[1; 5900])?;
    /// let region = Region::parse("30:32", array.shape())?;
    /// let plan = array.plan(&region)?;
    /// let chunks = plan.chunks(0..plan.len())?;
    /// assert_eq!((chunks[1].key.as_str(), chunks[1].in_region[0]), ("c/1/0", [1, 2]));
    /// let reads = plan.reads(&chunks[1])?.ok_or("stored")?;
    /// assert_eq!((reads.ranges, reads.stored_bytes), (vec![0..100], 2800));
    /// // Two workers, who do not share a chunk.
    /// assert_eq!(plan.shares(NonZeroUsize::MIN.saturating_add(1)), [0..1, 1..2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plan(&self, region: &Region) -> Result<Plan<'_>, ArrayError> {
        region.check(self.shape())?;
        let selection = self
            .grid()
            .select(&region.selects())
            .map_err(|cause| ArrayError::Selection { cause })?;
        let backwards =
            region.axes().iter().map(|axis| (axis.step < 0).then_some(axis.count)).collect();
        Ok(Plan { array: self, selection, backwards })
    }
}

/// The chunks that a region meets, numbered in C order; see [`Array::plan`].
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    array: &'a Array,
    selection: SelectedChunks<'a>,
    /// For each axis that is gone through backwards, its number of indices.
    backwards: Vec<Option<u64>>,
}

/// What of one chunk belongs to a region.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PlannedChunk {
    /// Number of the chunk on each axis.
    pub chunk: Vec<u64>,
    /// Its key in the store.
    pub key: String,
    /// Its shape as it is stored (SD-05).
    pub chunk_shape: Vec<u64>,
    /// The elements within the chunk, on each axis first index, number of indices and step.
    pub in_chunk: Vec<PlannedIndices>,
    /// Their place in the region: on each axis the first position and the one after the last. An
    /// axis with a negative step meets them in reverse.
    pub in_region: Vec<[u64; 2]>,
    /// Whether they are all of the chunk that lies within the array.
    pub is_whole: bool,
    /// Bytes of these elements in memory.
    pub needed_bytes: u64,
}

/// Some indices of one axis of a chunk: `start`, `start + step`, ..., `count` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PlannedIndices {
    /// The first index, from the chunk's start.
    pub start: u64,
    /// How many indices.
    pub count: u64,
    /// From one index to the next, at least 1.
    pub step: u64,
}

/// Which bytes of a stored chunk a read takes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PlannedReads {
    /// Bytes of the whole object.
    pub stored_bytes: u64,
    /// The index of a shard, which is read first.
    pub index: Option<Range<u64>>,
    /// The bytes with elements: inner chunks of a shard, parts of other chunks, or all of one.
    pub ranges: Vec<Range<u64>>,
}

impl Plan<'_> {
    /// How many chunks the region meets.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.selection.len()
    }

    /// Whether the region is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.selection.is_empty()
    }

    /// The chunks of these numbers, clamped to those there are. Memory follows how many are asked
    /// for, so that a plan of very many chunks is gone through in steps.
    ///
    /// # Errors
    /// [`ArrayError`] for a chunk whose key would be too long.
    pub fn chunks(&self, numbers: Range<u64>) -> Result<Vec<PlannedChunk>, ArrayError> {
        let mut parts = self.selection.parts().range(numbers);
        let mut chunks = Vec::new();
        while let Some(part) = parts.next_part() {
            chunks.push(self.chunk(part)?);
        }
        Ok(chunks)
    }

    fn chunk(&self, part: &ChunkPart<'_>) -> Result<PlannedChunk, ArrayError> {
        let mut in_chunk = Vec::with_capacity(part.axes().len());
        let mut in_region = Vec::with_capacity(part.axes().len());
        for (axis, backwards) in part.axes().iter().zip(&self.backwards) {
            // A region selects with steps only.
            let PartIndices::Step { in_chunk: start, step, in_selection, len } = axis.indices
            else {
                continue;
            };
            in_chunk.push(PlannedIndices { start, count: len, step });
            let end = in_selection.saturating_add(len);
            in_region.push(match backwards {
                None => [in_selection, end],
                Some(all) => [all.saturating_sub(end), all.saturating_sub(in_selection)],
            });
        }
        let size = u64::try_from(self.array.element_size()).unwrap_or(u64::MAX);
        let needed_bytes =
            in_chunk.iter().fold(size, |bytes, axis| bytes.saturating_mul(axis.count));
        Ok(PlannedChunk {
            chunk: part.chunk().to_vec(),
            key: self.array.chunk_key(part.chunk())?.to_string(),
            chunk_shape: part.chunk_shape().to_vec(),
            in_chunk,
            in_region,
            is_whole: part.is_whole(),
            needed_bytes,
        })
    }

    /// Numbers of chunks for so many workers, one range for each that gets any: in C order, as
    /// equal as can be, and no chunk twice, so that all may write at once.
    #[must_use]
    pub fn shares(&self, workers: NonZeroUsize) -> Vec<Range<u64>> {
        let (all, workers) = (u128::from(self.len()), workers.get() as u128);
        let shares = workers.min(all);
        let cut = |share: u128| {
            let at = all.saturating_mul(share).checked_div(shares).unwrap_or(0);
            u64::try_from(at).unwrap_or(u64::MAX)
        };
        (0..shares).map(|share| cut(share)..cut(share.saturating_add(1))).collect()
    }

    /// Which bytes of the store a read of this chunk takes; `None` if the chunk is not stored.
    ///
    /// Asks for the size of the object, and reads the index of a shard: nothing else says where its
    /// inner chunks are. Ranges as near as the array's [range cost](Array::with_range_cost) says
    /// are read as one.
    ///
    /// # Errors
    /// [`ArrayError`] if the store fails, if the index is damaged, or if the chunk is of another
    /// array.
    pub fn reads(&self, chunk: &PlannedChunk) -> Result<Option<PlannedReads>, ArrayError> {
        let array = self.array;
        let key = array.chunk_key(&chunk.chunk)?;
        let Some(stored_bytes) = array.store().size(&key)? else { return Ok(None) };
        let all = 0..stored_bytes;
        let whole = || PlannedReads { stored_bytes, index: None, ranges: vec![all.clone()] };
        if chunk.is_whole {
            return Ok(Some(whole()));
        }
        let (expected, found) = (chunk.chunk_shape.len(), chunk.in_chunk.len());
        if expected != found {
            let cause = GridErrorKind::Rank { what: "indices", found, rank: expected }.into();
            return Err(ArrayError::Selection { cause });
        }
        let codec = array.chunk_codec(&chunk.chunk_shape)?;
        let slices: Vec<Slice> = chunk
            .in_chunk
            .iter()
            .map(|axis| Slice {
                start: narrow(axis.start),
                count: narrow(axis.count),
                step: narrow(axis.step),
            })
            .collect();
        Ok(self.partial(&key, stored_bytes, &codec, &slices)?.or_else(|| Some(whole())))
    }

    /// The reads of a part of a chunk that need not be read whole.
    fn partial(
        &self,
        key: &Key,
        stored_bytes: u64,
        codec: &ChunkCodec,
        slices: &[Slice],
    ) -> Result<Option<PlannedReads>, ArrayError> {
        let counts: Vec<usize> = slices.iter().map(|slice| slice.count).collect();
        let view = View::contiguous(&counts).map_err(CopyError::from)?;
        let mut reader = codec.reader(slices, &view, self.array.range_cost());
        let Need::Ranges(ranges) = reader.need() else { return Ok(None) };
        let within = |ranges: &[ByteRange]| -> Vec<Range<u64>> {
            ranges.iter().filter_map(|range| range.within(stored_bytes)).collect()
        };
        let Some(shard) = codec.shard() else {
            return Ok(Some(PlannedReads { stored_bytes, index: None, ranges: within(ranges) }));
        };
        let index = within(ranges).pop();
        let mut bytes = Vec::new();
        if self.array.store().get_ranges(key, ranges, &mut bytes)?.is_none() {
            return Ok(None);
        }
        // What follows the shard in the object may have come along.
        let bytes = bytes.get(..narrow(shard.index_len())).unwrap_or(&bytes);
        // No shard is longer than its object.
        let parsed = shard
            .parse_index(bytes, Some(stored_bytes), &mut Scratch::new())
            .map_err(|cause| ArrayError::Chunk { key: key.to_string(), cause })?;
        reader.use_index(Arc::new(parsed));
        let ranges = match reader.need() {
            Need::Ranges(ranges) => within(ranges),
            Need::All | Need::Nothing => Vec::new(),
        };
        Ok(Some(PlannedReads { stored_bytes, index, ranges }))
    }
}

impl PlannedReads {
    /// How many bytes are read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let lengths = self.index.iter().chain(&self.ranges);
        lengths.fold(0, |sum, range| sum.saturating_add(range.end.saturating_sub(range.start)))
    }

    /// In how many requests: all ranges of an object go into one, the index into one before.
    #[must_use]
    pub fn requests(&self) -> u64 {
        u64::from(self.index.is_some()).saturating_add(u64::from(!self.ranges.is_empty()))
    }
}
