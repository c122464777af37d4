//! Lengths in memory as numbers of the format, and back.

#[cfg(any(feature = "blosc", feature = "lz4"))]
use crate::error::ChunkErrorKind;

/// Converts a length in memory to a number of the format.
pub(crate) fn widen(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Converts a length of the format to a length in memory.
#[cfg(any(feature = "blosc", feature = "lz4"))]
pub(crate) fn narrow(length: u64) -> Result<usize, ChunkErrorKind> {
    usize::try_from(length).map_err(|_| ChunkErrorKind::OutOfMemory { bytes: length })
}
