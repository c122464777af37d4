//! The inner chunks that a region touches, and their bytes in the shard.

use std::ops::Range;
use std::slice::from_ref;
use std::sync::Arc;

use super::need::Need;
use crate::array_to_bytes::shard::{Available, IndexBytes, ShardCodec, ShardIndex};
use crate::error::ChunkError;
use crate::length::widen;
use crate::scratch::Scratch;
use crate::transform::Slice;

/// Inner chunks of a shard that a read touches.
pub(crate) trait InnerChunks {
    /// The bytes of the shard that hold the stored inner chunks, or the needed part of each.
    fn needed(&self, shard: &ShardCodec, index: &ShardIndex) -> impl Iterator<Item = Range<u64>>;
}

/// Those that a region touches. They are listed once the index is there, so that memory follows
/// bytes that exist.
impl InnerChunks for Vec<Slice> {
    fn needed(&self, shard: &ShardCodec, index: &ShardIndex) -> impl Iterator<Item = Range<u64>> {
        let touched = shard.chunks_of(self).into_iter().flatten();
        touched.filter_map(|touched| shard.needed(index, &touched))
    }
}

/// A read of some inner chunks: of the index, then of their bytes.
#[derive(Debug)]
pub(crate) struct ShardRead<T> {
    chunks: T,
    /// The bytes that hold the index.
    range: IndexBytes,
    /// Bytes of the object after the shard.
    after: u64,
    index: Option<Arc<ShardIndex>>,
    /// The byte ranges to fetch, ascending and disjoint, and the start of each in the fetched
    /// bytes.
    parts: Vec<(Range<u64>, usize)>,
    ranges: Vec<Range<u64>>,
    /// The number of inner chunks that are stored, and of their needed bytes; bytes shared by
    /// several of them count for each.
    found: u64,
    total: u64,
}

impl<T: InnerChunks> ShardRead<T> {
    /// A read of `count` inner chunks of a shard with `after` bytes after it in the object. `None`
    /// if there are so many that reading the others too costs no more than one range.
    pub(crate) fn new(
        shard: &ShardCodec,
        after: u64,
        chunks: T,
        count: usize,
        range_cost: u64,
    ) -> Option<Self> {
        let all = shard.grid_shape().iter().try_fold(1_usize, |n, count| n.checked_mul(*count))?;
        let others = widen(all.saturating_sub(count)).saturating_mul(shard.inner().bytes());
        if range_cost > 0 && others <= range_cost {
            return None;
        }
        let range = shard.index_bytes(after);
        let (parts, ranges) = (Vec::new(), Vec::new());
        Some(Self { chunks, range, after, index: None, parts, ranges, found: 0, total: 0 })
    }

    /// The bytes needed next.
    pub(crate) fn need(&self) -> Need<'_> {
        match (&self.index, &self.range) {
            (Some(_), _) => Need::Ranges(&self.ranges),
            (None, IndexBytes::Start(range)) => Need::Ranges(from_ref(range)),
            (None, IndexBytes::End(len)) => Need::Suffix(*len),
        }
    }

    /// The inner chunks.
    pub(crate) fn chunks(&self) -> &T {
        &self.chunks
    }

    /// The index, once it is known.
    pub(crate) fn index(&self) -> Option<&Arc<ShardIndex>> {
        self.index.as_ref()
    }

    /// Takes the bytes of the index. `object_len` is the length of the whole object, if known.
    pub(crate) fn supply_index(
        &mut self,
        shard: &ShardCodec,
        bytes: &[u8],
        object_len: Option<u64>,
        range_cost: u64,
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        // An index at the end was read together with the bytes that follow the shard.
        let shard_len = object_len.map(|length| length.saturating_sub(self.after));
        let index = shard.parse_index(shard.index_of(bytes), shard_len, scratch)?;
        self.use_index(shard, Arc::new(index), range_cost);
        Ok(())
    }

    /// Takes the needed bytes. Returns the bytes of the inner chunks; `None` if these were the index and
    /// the inner chunks are needed next.
    pub(crate) fn supply<'b>(
        &mut self,
        shard: &ShardCodec,
        bytes: &'b [u8],
        object_len: Option<u64>,
        range_cost: u64,
        scratch: &mut Scratch,
    ) -> Result<Option<&'b [u8]>, ChunkError> {
        if self.index.is_some() {
            return Ok(Some(bytes));
        }
        self.supply_index(shard, bytes, object_len, range_cost, scratch)?;
        Ok(self.ranges.is_empty().then_some(&[]))
    }

    /// Looks up the bytes of the inner chunks, and joins ranges no more than `range_cost` bytes
    /// apart.
    pub(crate) fn use_index(
        &mut self,
        shard: &ShardCodec,
        index: Arc<ShardIndex>,
        range_cost: u64,
    ) {
        let found = self.chunks.needed(shard, &index).filter(|range| !range.is_empty());
        self.parts.clear();
        self.parts.extend(found.map(|range| (range, 0)));
        self.found = widen(self.parts.len());
        let lengths = self.parts.iter().map(|(range, _)| range.end - range.start);
        self.total = lengths.fold(0, u64::saturating_add);
        self.parts.sort_by_key(|(range, _)| range.start);
        self.parts.dedup_by(|(range, _), (last, _)| {
            let joined = range.start <= last.end.saturating_add(range_cost);
            if joined {
                last.end = last.end.max(range.end);
            }
            joined
        });
        self.ranges.clear();
        self.ranges.extend(self.parts.iter().map(|(part, _)| part.clone()));
        let mut next = 0_usize;
        for (part, at) in &mut self.parts {
            let len = part.end - part.start;
            *at = next;
            // Ranges with a sum that exceeds the address space are never fetched.
            next = next.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
        }
        self.index = Some(index);
    }

    /// The bytes of the inner chunks, given the bytes of the ranges.
    pub(crate) fn available<'b>(
        &'b self,
        shard: &ShardCodec,
        bytes: &'b [u8],
    ) -> Result<Available<'b>, ChunkError> {
        // The index of a shard of unknown length may be wrong; the fetched bytes are a bound.
        shard.check_total(self.total.into(), self.found, widen(bytes.len()))?;
        Ok(Available::Parts { parts: &self.parts, bytes })
    }
}

impl ShardRead<Vec<Slice>> {
    /// A read of `region`, in the shard's own shape.
    pub(super) fn of_region(
        shard: &ShardCodec,
        after: u64,
        region: &[Slice],
        range_cost: u64,
    ) -> Option<Self> {
        let count = shard.count_of(region)?;
        Self::new(shard, after, region.to_vec(), count, range_cost)
    }
}
