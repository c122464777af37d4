//! Memory that is reused from chunk to chunk.

use std::ops::{Deref, DerefMut};

use crate::error::ChunkErrorKind;
use crate::length::widen;

/// Buffers for decoding and encoding, one set per thread.
///
/// They are neither zeroed nor freed between chunks: fresh memory causes page faults, which cost
/// more than decoding. A chunk uses at most two of them at a time, neither longer than its elements
/// or its encoded bytes. So memory has the same bound for every chain.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) pool: Pool,
    /// Decompressed bytes that the caller can inspect.
    pub(crate) decompressed: Buffer,
    /// For a shard.
    pub(crate) shard: Option<Box<ShardScratch>>,
}

/// Additional memory for a shard and its inner chunks.
#[derive(Debug, Default)]
pub(crate) struct ShardScratch {
    /// The offsets and lengths of the inner chunks.
    pub(crate) index: Vec<u8>,
    /// An encoded inner chunk, or the encoded index.
    pub(crate) encoded: Vec<u8>,
    /// Buffers for the inner chunks and the index.
    pub(crate) inner: Scratch,
}

impl Scratch {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// The number of buffers that a chunk uses at any time.
const MOST_FREE: usize = 2;

/// Buffers that are not in use.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: Vec<Vec<u8>>,
}

impl Pool {
    /// A buffer of `len` bytes with unspecified content.
    pub(crate) fn take(&mut self, len: usize) -> Result<Buffer, ChunkErrorKind> {
        let room = self.free.iter().map(Vec::capacity).enumerate();
        let fits = room.clone().filter(|(_, room)| *room >= len).min_by_key(|(_, room)| *room);
        let largest = || room.max_by_key(|(_, room)| *room);
        let found = fits.or_else(largest).map(|(at, _)| at);
        let mut bytes = found.map(|at| self.free.swap_remove(at)).unwrap_or_default();
        if bytes.capacity() < len {
            // Freed before the new one is allocated.
            drop(bytes);
            bytes = zarr_view::zeroed(len)
                .map_err(|_| ChunkErrorKind::OutOfMemory { bytes: widen(len) })?;
        } else if bytes.len() < len {
            bytes.resize(len, 0);
        }
        Ok(Buffer { bytes, len })
    }

    /// An empty vector that keeps its capacity, to append to.
    pub(crate) fn take_empty(&mut self) -> Vec<u8> {
        let largest = self.free.iter().map(Vec::capacity).enumerate().max_by_key(|(_, room)| *room);
        let mut bytes = largest.map(|(at, _)| self.free.swap_remove(at)).unwrap_or_default();
        bytes.clear();
        bytes
    }

    /// Takes back a buffer, or takes one of the caller's. The largest are kept.
    pub(crate) fn give(&mut self, buffer: Buffer) {
        self.free.push(buffer.bytes);
        if self.free.len() > MOST_FREE {
            self.free.sort_by_key(|bytes| std::cmp::Reverse(bytes.capacity()));
            self.free.truncate(MOST_FREE);
        }
    }
}

/// Bytes borrowed from a pool.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    /// At least `len` bytes. Additional ones were used before and need not be zeroed again.
    bytes: Vec<u8>,
    len: usize,
}

impl Buffer {
    /// Keeps the first `len` bytes only, if there are more.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    pub(crate) fn into_vec(mut self) -> Vec<u8> {
        self.bytes.truncate(self.len);
        self.bytes
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self { len: bytes.len(), bytes }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }
}

/// Bytes of the caller or of a pool.
#[derive(Debug)]
pub(crate) enum Bytes<'a> {
    Lent(&'a [u8]),
    Taken(Buffer),
}

impl Bytes<'_> {
    /// Returns the memory to its pool.
    pub(crate) fn give_to(self, pool: &mut Pool) {
        if let Self::Taken(buffer) = self {
            pool.give(buffer);
        }
    }

    /// The bytes, in memory that may be changed.
    pub(crate) fn into_buffer(self, pool: &mut Pool) -> Result<Buffer, ChunkErrorKind> {
        match self {
            Self::Taken(buffer) => Ok(buffer),
            Self::Lent(bytes) => {
                let mut buffer = pool.take(bytes.len())?;
                buffer.copy_from_slice(bytes);
                Ok(buffer)
            }
        }
    }

    /// Keeps the first `len` bytes only, if there are more.
    pub(crate) fn truncate(&mut self, len: usize) {
        match self {
            Self::Lent(bytes) => *bytes = bytes.get(..len).unwrap_or(bytes),
            Self::Taken(buffer) => buffer.truncate(len),
        }
    }
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Taken(buffer) => buffer,
        }
    }
}
