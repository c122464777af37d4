//! The inner chunks that a region touches, and their bytes in the shard.

use std::ops::Range;

use zarr_view::Output;

use crate::array_to_bytes::shard::{Available, ShardCodec, ShardIndex, Touched};
use crate::chunk::ChunkCodec;
use crate::error::ChunkError;
use crate::length::widen;
use crate::scratch::Scratch;
use crate::transform::Slice;

/// Inner chunks to fetch.
#[derive(Debug, Default)]
pub(super) struct ShardChunks {
    /// The inner chunks that the region touches, in C order.
    touched: Vec<Touched>,
    /// Their byte ranges, ascending and disjoint, and the start of each in the fetched bytes.
    parts: Vec<(Range<u64>, usize)>,
    ranges: Vec<Range<u64>>,
    /// The number of inner chunks that are stored, and of their needed bytes; bytes shared by
    /// several of them count for each.
    found: u64,
    total: u64,
}

impl ShardChunks {
    /// The inner chunks that `region`, in the shard's own shape, touches. `None` if there are so
    /// many that reading the whole shard is faster than reading the index and then the chunks.
    pub(super) fn new(shard: &ShardCodec, region: &[Slice], range_cost: u64) -> Option<Self> {
        let touched = shard.chunks_of(region)?;
        let all = shard.grid_shape().iter().try_fold(1_usize, |n, count| n.checked_mul(*count))?;
        if range_cost > 0 && touched.len() > all / 2 {
            return None;
        }
        Some(Self { touched, parts: Vec::new(), ranges: Vec::new(), found: 0, total: 0 })
    }

    /// Looks up their ranges, and joins those no more than `range_cost` bytes apart.
    pub(super) fn locate(&mut self, shard: &ShardCodec, index: &ShardIndex, range_cost: u64) {
        let found = self.touched.iter().filter_map(|touched| shard.needed(index, touched));
        let found = found.filter(|range| !range.is_empty());
        self.parts.clear();
        self.parts.extend(found.map(|range| (range, 0)));
        self.found = widen(self.parts.len());
        let lengths = self.parts.iter().map(|(range, _)| range.end.saturating_sub(range.start));
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
            let len = part.end.saturating_sub(part.start);
            *at = next;
            // Ranges whose sum exceeds the address space are never fetched.
            next = next.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
        }
    }

    pub(super) fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// Decodes the region from the parts' bytes.
    #[expect(clippy::too_many_arguments, reason = "those of decode, and where the bytes lie")]
    pub(super) fn decode(
        &self,
        codec: &ChunkCodec,
        index: &ShardIndex,
        bytes: &[u8],
        region: &[Slice],
        out: &mut Output<'_>,
        fill: &[u8],
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        // The index of a shard of unknown length may be wrong; the fetched bytes are a bound.
        let shard = codec.shard().expect("only a shard has inner chunks");
        shard.check_total(self.total.into(), self.found, widen(bytes.len()))?;
        let available = Available::Parts { parts: &self.parts, bytes };
        codec.decode_available(shard, available, index, region, out, fill, scratch)
    }
}
