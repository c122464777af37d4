//! The requests of a reader of a part of a chunk to its caller.

use std::ops::Range;

/// The bytes of the encoded chunk that a [`ChunkReader`](super::ChunkReader) needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need<'r> {
    /// Nothing: the region has been decoded.
    Nothing,
    /// All bytes of the chunk.
    All,
    /// This many bytes at its end. The index of a shard is read in this way, so that the length
    /// of the shard need not be known.
    Suffix(u64),
    /// These ranges of bytes, concatenated.
    Ranges(&'r [Range<u64>]),
}
