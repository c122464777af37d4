//! The index of a shard: where each inner chunk lies.

use std::ops::Range;

use super::{ShardCodec, unravel};
use crate::compressor::{reserve, widen};
use crate::error::{ChunkError, ChunkErrorKind};
use crate::scratch::Scratch;

/// The offset and the length of an inner chunk that is not there (SD-60).
pub(super) const ABSENT: u64 = u64::MAX;

/// Bytes of an offset and a length.
const ENTRY: usize = 16;

/// Where in a shard its inner chunks are.
///
/// # Spec
/// Zarr v3 "Sharding codec", "Binary shard format".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardIndex {
    /// An offset and a length for each inner chunk in C order, little-endian.
    entries: Vec<u8>,
}

impl ShardIndex {
    /// The number of inner chunks, those that are not there included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len() / ENTRY
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bytes of inner chunk `chunk`, counted in C order, from the start of the shard; `None`
    /// if it is not there, so that its elements are the fill value.
    #[must_use]
    pub fn range(&self, chunk: usize) -> Option<Range<u64>> {
        let (offset, length) = self.entry(chunk)?;
        // Parsing has checked that the sum is no overflow.
        (offset != ABSENT).then(|| offset..offset.saturating_add(length))
    }

    fn entry(&self, chunk: usize) -> Option<(u64, u64)> {
        let start = chunk.checked_mul(ENTRY)?;
        let entry = self.entries.get(start..start.checked_add(ENTRY)?)?;
        let (words, _) = entry.as_chunks();
        match words {
            [offset, length] => Some((u64::from_le_bytes(*offset), u64::from_le_bytes(*length))),
            _ => None,
        }
    }

    /// Gives the memory back to be used again.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.entries
    }
}

impl ShardCodec {
    /// Decodes the index from its own bytes: those of [`index_range`](ShardCodec::index_range).
    ///
    /// `shard_len` is the length of the whole shard, where it is known; every inner chunk is then
    /// seen to lie within it.
    ///
    /// # Errors
    /// [`ChunkError`] if the bytes are no such index, or an entry is not possible: half a sentinel,
    /// or bytes outside the shard or within the index (SD-59). Inner chunks may overlap and leave
    /// gaps.
    pub fn parse_index(
        &self,
        encoded: &[u8],
        shard_len: Option<u64>,
        scratch: &mut Scratch,
    ) -> Result<ShardIndex, ChunkError> {
        self.parse_index_into(Vec::new(), encoded, shard_len, scratch)
    }

    /// As [`parse_index`](ShardCodec::parse_index), with memory to use again.
    pub(super) fn parse_index_into(
        &self,
        mut entries: Vec<u8>,
        encoded: &[u8],
        shard_len: Option<u64>,
        scratch: &mut Scratch,
    ) -> Result<ShardIndex, ChunkError> {
        let failed = |kind| ChunkError::new(&self.index_place.path, &self.index_place.name, kind);
        // The length is checked before memory in proportion to the inner chunks is asked for.
        if encoded.len() != self.index_len {
            let (found, expected) = (widen(encoded.len()), self.index_len());
            return Err(failed(ChunkErrorKind::IndexLength { found, expected }));
        }
        let length = self.index.elements().saturating_mul(8);
        entries.clear();
        reserve(&mut entries, length).map_err(failed)?;
        entries.resize(length, 0);
        self.index.decode_whole(encoded, &mut entries, scratch)?;
        let index = ShardIndex { entries };
        let allowed = self.chunk_range(shard_len.unwrap_or(u64::MAX));
        for chunk in 0..index.len() {
            if let Some((offset, length)) = index.entry(chunk) {
                check(offset, length, &allowed).map_err(|kind| {
                    let error = ChunkError::new(&self.place.path, &self.place.name, kind);
                    error.in_inner_chunk(&unravel(chunk, &self.grid))
                })?;
            }
        }
        Ok(index)
    }
}

/// Whether an entry is absent or within the bytes where inner chunks may be.
fn check(offset: u64, length: u64, allowed: &Range<u64>) -> Result<(), ChunkErrorKind> {
    match (offset, length) {
        (ABSENT, ABSENT) => return Ok(()),
        (ABSENT, _) | (_, ABSENT) => return Err(ChunkErrorKind::IndexEntry { offset, length }),
        _ => {}
    }
    let end = offset.checked_add(length);
    if offset < allowed.start || end.is_none_or(|end| end > allowed.end) {
        let (start, end) = (allowed.start, allowed.end);
        return Err(ChunkErrorKind::IndexRange { offset, length, start, end });
    }
    Ok(())
}
