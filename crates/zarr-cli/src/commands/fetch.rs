//! Which bytes of a stored chunk a read takes.

use std::ops::Range;
use std::sync::Arc;

use zarr_kit::array::store::{ByteRange, Key};
use zarr_kit::codec::{ChunkCodec, Need, Scratch, Slice};
use zarr_kit::view::{CopyError, View};
use zarr_kit::{Array, ArrayError};

/// What is asked of the store for a part of one chunk.
#[derive(Debug, Default)]
pub(super) struct Fetch {
    /// The index of a shard, which comes first.
    pub(super) index: Option<Range<u64>>,
    /// The bytes with elements: inner chunks of a shard, parts of other chunks, or all of one.
    pub(super) elements: Vec<Range<u64>>,
}

impl Fetch {
    /// All of an object.
    pub(super) fn whole(size: u64) -> Self {
        let all = 0..size;
        Self { index: None, elements: vec![all] }
    }

    /// Of a region of a chunk of `size` bytes, if ranges `range_cost` bytes apart are read as one.
    ///
    /// Reads the index of a shard: nothing else says where its inner chunks are.
    pub(super) fn of(
        array: &Array,
        (key, size): (&Key, u64),
        codec: &ChunkCodec,
        region: &[Slice],
        range_cost: u64,
    ) -> Result<Self, ArrayError> {
        let counts: Vec<usize> = region.iter().map(|slice| slice.count).collect();
        let view = View::contiguous(&counts).map_err(CopyError::from)?;
        let mut reader = codec.reader(region, &view, range_cost);
        let Need::Ranges(ranges) = reader.need() else { return Ok(Self::whole(size)) };
        let Some(shard) = codec.shard() else {
            return Ok(Self { index: None, elements: within(ranges, size) });
        };
        let index = within(ranges, size).pop();
        let mut bytes = Vec::new();
        if array.store().get_ranges(key, ranges, &mut bytes)?.is_none() {
            return Ok(Self::default());
        }
        // What follows the shard in the object may have come along.
        let length = usize::try_from(shard.index_len()).unwrap_or(usize::MAX);
        let index_bytes = bytes.get(..length).unwrap_or(&bytes);
        let parsed = shard
            .parse_index(index_bytes, None, &mut Scratch::new())
            .map_err(|source| ArrayError::Chunk { key: key.to_string(), source })?;
        reader.use_index(Arc::new(parsed));
        let elements = match reader.need() {
            Need::Ranges(ranges) => within(ranges, size),
            Need::All | Need::Nothing => Vec::new(),
        };
        Ok(Self { index, elements })
    }

    /// All that is asked for, the index first.
    pub(super) fn ranges(&self) -> impl Iterator<Item = &Range<u64>> {
        self.index.iter().chain(&self.elements)
    }

    /// How many bytes that is.
    pub(super) fn bytes(&self) -> u64 {
        let lengths = self.ranges().map(|range| range.end.saturating_sub(range.start));
        lengths.fold(0, u64::saturating_add)
    }
}

fn within(ranges: &[ByteRange], size: u64) -> Vec<Range<u64>> {
    ranges.iter().filter_map(|range| range.within(size)).collect()
}
