//! The index of a shard: the position of each inner chunk.

// Offsets and lengths come from outside.
#![warn(clippy::arithmetic_side_effects)]

use std::ops::Range;

use super::{ShardCodec, slice, unravel};
use crate::bytes_to_bytes::reserve;
use crate::chunk::ChunkCodec;
use crate::error::{ChunkError, ChunkErrorKind};
use crate::length::widen;
use crate::scratch::Scratch;

/// The offset and the length of an inner chunk that is not stored (SD-60).
pub(super) const ABSENT: u64 = u64::MAX;

/// Bytes of an offset and a length.
const ENTRY: usize = 16;

/// Bytes that an inner chunk may have in addition to twice its elements in memory: for headers,
/// trailers and checksums of any codecs.
const OVERHEAD: u64 = 64;

/// The positions of the inner chunks in a shard.
///
/// # Spec
/// Zarr v3 "Sharding codec", "Binary shard format".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardIndex {
    /// An offset and a length for each inner chunk in C order, little-endian.
    entries: Vec<u8>,
}

impl ShardIndex {
    /// The number of inner chunks, stored or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len() / ENTRY
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The byte range of inner chunk `chunk`, counted in C order, from the start of the shard;
    /// `None` if it is not stored and its elements are the fill value.
    #[must_use]
    pub fn range(&self, chunk: usize) -> Option<Range<u64>> {
        let (offset, length) = self.entry(chunk)?;
        // Parsing has checked that the sum does not overflow.
        (offset != ABSENT).then(|| offset..offset.saturating_add(length))
    }

    fn entry(&self, chunk: usize) -> Option<(u64, u64)> {
        self.entries.as_chunks().0.get(chunk).map(numbers)
    }

    /// Returns the memory for reuse.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.entries
    }
}

impl ShardCodec {
    /// Decodes the index from its bytes, the range [`index_range`](ShardCodec::index_range).
    ///
    /// `shard_len` is the length of the whole shard, if known; then every inner chunk is checked
    /// to lie within it.
    ///
    /// Inner chunks may have gaps between them, and may overlap: a writer may store equal inner
    /// chunks once. The sum of their lengths is limited. So the time for a shard stays in
    /// proportion to its length and its elements, even if its index refers to the same bytes many
    /// times. The limit is the length of the shard plus, for each stored inner chunk, twice its
    /// elements in memory and 64 bytes. No codec produces more. (The limit of an inner shard is its
    /// index plus the same for each of its own inner chunks.) Inner chunks that do not overlap
    /// always pass.
    ///
    /// # Errors
    /// [`ChunkError`] if the bytes are no such index; if an entry is impossible (half a sentinel,
    /// or bytes outside the shard or within the index, SD-59); or if inner chunks
    /// [overlap](ChunkErrorKind::IndexOverlap) by more than the limit.
    pub fn parse_index(
        &self,
        encoded: &[u8],
        shard_len: Option<u64>,
        scratch: &mut Scratch,
    ) -> Result<ShardIndex, ChunkError> {
        self.parse_index_into(Vec::new(), encoded, shard_len, scratch)
    }

    /// The index of `shard`, all bytes of a shard.
    ///
    /// # Errors
    /// As [`parse_index`](ShardCodec::parse_index), and if the shard is too short to have an index.
    pub fn read_index(
        &self,
        shard: &[u8],
        scratch: &mut Scratch,
    ) -> Result<ShardIndex, ChunkError> {
        self.read_index_into(Vec::new(), shard, scratch)
    }

    /// As [`read_index`](ShardCodec::read_index), with memory to reuse.
    pub(super) fn read_index_into(
        &self,
        entries: Vec<u8>,
        shard: &[u8],
        scratch: &mut Scratch,
    ) -> Result<ShardIndex, ChunkError> {
        let shard_len = widen(shard.len());
        let range = self.index_range(shard_len);
        let encoded = range.and_then(|range| slice(shard, &range));
        let encoded = encoded.ok_or_else(|| self.too_short(shard_len))?;
        self.parse_index_into(entries, encoded, Some(shard_len), scratch)
    }

    /// As [`parse_index`](ShardCodec::parse_index), with memory to reuse.
    fn parse_index_into(
        &self,
        mut entries: Vec<u8>,
        encoded: &[u8],
        shard_len: Option<u64>,
        scratch: &mut Scratch,
    ) -> Result<ShardIndex, ChunkError> {
        let failed = |kind| self.index_place.chunk_error(kind);
        // Check the length before allocating memory in proportion to the inner chunks.
        if encoded.len() != self.index_len {
            let (found, expected) = (widen(encoded.len()), self.index_len());
            return Err(failed(ChunkErrorKind::IndexLength { found, expected }));
        }
        let length = self.index.elements().saturating_mul(8);
        entries.clear();
        reserve(&mut entries, length).map_err(failed)?;
        entries.resize(length, 0);
        self.index.decode_whole(encoded, &mut entries, &[], scratch)?;
        self.check_entries(&entries, shard_len)?;
        Ok(ShardIndex { entries })
    }

    fn check_entries(&self, entries: &[u8], shard_len: Option<u64>) -> Result<(), ChunkError> {
        let allowed = self.chunk_range(shard_len.unwrap_or(u64::MAX));
        let (mut chunks, mut total, mut end) = (0_u64, 0_u128, 0_u64);
        for (chunk, entry) in entries.as_chunks().0.iter().enumerate() {
            let (offset, length) = numbers(entry);
            if (offset, length) == (ABSENT, ABSENT) {
                continue;
            }
            let last = check(offset, length, &allowed)
                .map_err(|kind| self.error(kind).in_inner_chunk(&unravel(chunk, &self.grid)))?;
            chunks = chunks.saturating_add(1);
            total = total.saturating_add(length.into());
            end = end.max(last);
        }
        self.check_total(total, chunks, shard_len.unwrap_or(end))
    }

    /// Refuses inner chunks of `total` bytes in sum, if they share more of the `stored` bytes
    /// that hold them than identical chunks would.
    pub(crate) fn check_total(
        &self,
        total: u128,
        chunks: u64,
        stored: u64,
    ) -> Result<(), ChunkError> {
        let most = stored.saturating_add(chunks.saturating_mul(self.inner.accounted_len()));
        if total <= most.into() {
            return Ok(());
        }
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        Err(self.error(ChunkErrorKind::IndexOverlap { total, most, stored }))
    }

    /// The largest total that is accepted for such a shard, including the output of its
    /// compressors.
    pub(crate) fn accounted_len(&self) -> u64 {
        let chunks = widen(self.index.elements() / 2);
        let inner = chunks.saturating_mul(self.inner.accounted_len());
        self.index_len().saturating_add(inner).saturating_add(OVERHEAD)
    }

    pub(crate) fn error(&self, kind: ChunkErrorKind) -> ChunkError {
        self.place.chunk_error(kind)
    }
}

impl ChunkCodec {
    /// The largest total that is accepted for an inner chunk of this codec.
    fn accounted_len(&self) -> u64 {
        match self.shard() {
            Some(shard) => shard.accounted_len(),
            None => self.bytes().saturating_mul(2).saturating_add(OVERHEAD),
        }
    }
}

/// The offset and the length in an entry.
fn numbers(entry: &[u8; ENTRY]) -> (u64, u64) {
    let [o0, o1, o2, o3, o4, o5, o6, o7, l0, l1, l2, l3, l4, l5, l6, l7] = *entry;
    let offset = u64::from_le_bytes([o0, o1, o2, o3, o4, o5, o6, o7]);
    (offset, u64::from_le_bytes([l0, l1, l2, l3, l4, l5, l6, l7]))
}

/// The end of an inner chunk; an error if it is not within the `allowed` bytes.
fn check(offset: u64, length: u64, allowed: &Range<u64>) -> Result<u64, ChunkErrorKind> {
    if offset == ABSENT || length == ABSENT {
        return Err(ChunkErrorKind::IndexEntry { offset, length });
    }
    match offset.checked_add(length) {
        Some(end) if offset >= allowed.start && end <= allowed.end => Ok(end),
        _ => {
            let (start, end) = (allowed.start, allowed.end);
            Err(ChunkErrorKind::IndexRange { offset, length, start, end })
        }
    }
}
