//! Memory that is used again from chunk to chunk.

use std::ops::{Deref, DerefMut};

use crate::compressor::widen;
use crate::error::ChunkErrorKind;

/// Buffers for decoding and encoding, one set a thread.
///
/// They are not zeroed or freed in between: fresh memory costs page faults, which is dearer than
/// decoding. A chunk takes two of them at most at any one time, neither longer than the chunk's
/// elements or what they are encoded to, so that no more is held for chunks of any chain.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) pool: Pool,
    /// What was decompressed for the caller to look at.
    pub(crate) decompressed: Buffer,
    /// For a shard.
    pub(crate) shard: Option<Box<ShardScratch>>,
}

/// What a shard needs besides: it has chunks of its own.
#[derive(Debug, Default)]
pub(crate) struct ShardScratch {
    /// The offsets and lengths of the inner chunks.
    pub(crate) index: Vec<u8>,
    /// An encoded inner chunk, or the encoded index.
    pub(crate) encoded: Vec<u8>,
    /// For the inner chunks, and for the index.
    pub(crate) inner: Scratch,
}

impl Scratch {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// As many as a chunk takes at any one time.
const MOST_FREE: usize = 2;

/// Buffers that nobody uses.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: Vec<Vec<u8>>,
}

impl Pool {
    /// A buffer of `len` bytes, whatever they hold.
    pub(crate) fn take(&mut self, len: usize) -> Result<Buffer, ChunkErrorKind> {
        let room = self.free.iter().map(Vec::capacity).enumerate();
        let fits = room.clone().filter(|(_, room)| *room >= len).min_by_key(|(_, room)| *room);
        let largest = || room.max_by_key(|(_, room)| *room);
        let found = fits.or_else(largest).map(|(at, _)| at);
        let mut bytes = found.map(|at| self.free.swap_remove(at)).unwrap_or_default();
        if bytes.capacity() < len {
            // Gone before the new one is there.
            drop(bytes);
            bytes = zarr_view::zeroed(len)
                .map_err(|_| ChunkErrorKind::OutOfMemory { bytes: widen(len) })?;
        } else if bytes.len() < len {
            bytes.resize(len, 0);
        }
        Ok(Buffer { bytes, len })
    }

    /// An empty vector, with what memory there is, to append to.
    pub(crate) fn take_empty(&mut self) -> Vec<u8> {
        let largest = self.free.iter().map(Vec::capacity).enumerate().max_by_key(|(_, room)| *room);
        let mut bytes = largest.map(|(at, _)| self.free.swap_remove(at)).unwrap_or_default();
        bytes.clear();
        bytes
    }

    /// Takes a buffer back, or one of the caller's. The largest are kept.
    pub(crate) fn give(&mut self, buffer: Buffer) {
        self.free.push(buffer.bytes);
        if self.free.len() > MOST_FREE {
            self.free.sort_by_key(|bytes| std::cmp::Reverse(bytes.capacity()));
            self.free.truncate(MOST_FREE);
        }
    }
}

/// Bytes of a pool, on loan.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    /// At least `len` bytes. What is more has been used before, and need not be zeroed again.
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
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.bytes.get_mut(..self.len).unwrap_or_default()
    }
}

/// Bytes of the caller's, or of a pool.
#[derive(Debug)]
pub(crate) enum Bytes<'a> {
    Lent(&'a [u8]),
    Taken(Buffer),
}

impl Bytes<'_> {
    /// Gives the memory back to the pool that it came from.
    pub(crate) fn give_to(self, pool: &mut Pool) {
        if let Self::Taken(buffer) = self {
            pool.give(buffer);
        }
    }

    /// The bytes in memory that may be changed.
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
