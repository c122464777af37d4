//! The bytes-to-bytes codecs: each has one file, one dependency and one feature.
//!
//! Every decoder is given the exact or the largest length of its output (SD-35), and allocates in
//! proportion to its input: a chunk of a hundred bytes cannot make it reserve a gigabyte.

#[cfg(feature = "blosc")]
mod blosc;
#[cfg(feature = "crc32c")]
mod crc32c;
#[cfg(feature = "gzip")]
mod gzip;
#[cfg(feature = "zstd")]
mod zstd;

use std::fmt;

use zarr_metadata::{BloscCompressor, Codec, CodecKind};

use crate::element::ElementType;
use crate::error::{ChainErrorKind, ChunkErrorKind};

/// Refuses a length that `encoded` bytes cannot decode to in a format that expands by at most
/// `ratio`, before memory is allocated for it.
#[cfg(any(feature = "gzip", feature = "zstd"))]
fn check_ratio(encoded: &[u8], expected: usize, ratio: u64) -> Result<(), ChunkErrorKind> {
    let (encoded, expected) = (widen(encoded.len()), widen(expected));
    if expected > encoded.saturating_mul(ratio) {
        return Err(ChunkErrorKind::DecodedTooShort { encoded, expected });
    }
    Ok(())
}

/// Refuses a decoded length other than the expected one.
#[cfg(any(feature = "blosc", feature = "crc32c", feature = "gzip", feature = "zstd"))]
fn check_decoded(found: usize, expected: usize) -> Result<(), ChunkErrorKind> {
    if found == expected {
        return Ok(());
    }
    Err(ChunkErrorKind::DecodedLength { found: widen(found), expected: widen(expected) })
}

/// One bytes-to-bytes codec, ready to run.
///
/// Methods that append to `out` are given an empty one.
pub(crate) trait BytesToBytes: fmt::Debug + Send + Sync {
    /// The encoded length, if the decoded length determines it.
    fn encoded_len(&self, _decoded: Option<u64>) -> Option<u64> {
        None
    }

    /// The most bytes that encoders make of so many: what compressors add where nothing can be
    /// compressed.
    ///
    /// A format is laxer than those who write it: blocks may be stored byte by byte, and frames be
    /// skipped. [`ordinary`] tells what that is allowed to come to.
    fn most_encoded(&self, decoded: u64) -> u64 {
        self.encoded_len(Some(decoded)).unwrap_or_else(|| {
            // Blocks of at least 10 KB, stored, have headers of five bytes at most; a file, 32.
            decoded.saturating_add(decoded / 1024).saturating_add(1024)
        })
    }

    /// Whether each byte of the input keeps its position in the output, so that parts can be read
    /// alone.
    fn keeps_places(&self) -> bool {
        false
    }

    /// For a codec whose input is a prefix of its output: the length of the prefix, after checks.
    ///
    /// Such a codec needs no buffer to decode into.
    fn decoded_prefix(&self, _encoded: &[u8]) -> Option<Result<usize, ChunkErrorKind>> {
        None
    }

    /// Refuses `encoded` if it cannot decode to `expected` bytes, before memory is allocated.
    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind>;

    /// Decodes all of `encoded` to exactly the bytes of `out`.
    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind>;

    /// Decodes all of `encoded`, whose decoded length is unknown, to at most `limit` bytes and one
    /// more.
    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind>;

    /// Encodes all of `decoded`.
    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind>;
}

/// The most bytes that may stand for what encoders make `most` bytes of: twice that, and a mebibyte
/// (SD-35).
///
/// The room is for writers other than [`most_encoded`](BytesToBytes::most_encoded) thinks of, whose
/// files are right as well (SD-61): gzip in members or stored blocks of a few bytes, zstd with
/// skippable frames, shards with gaps. It is not granted to each of stacked compressors anew:
/// twenty of them, a few bytes each in a document, would be given a millionfold.
pub(crate) fn ordinary(most: u64) -> u64 {
    most.saturating_mul(2).saturating_add(1 << 20)
}

/// The codec that a metadata document names, if it is one of these and compiled in.
///
/// `element` is that of the chain, for codecs that compress better if they know its size.
pub(crate) fn bind(
    codec: &Codec,
    #[cfg_attr(not(feature = "blosc"), expect(unused_variables, reason = "blosc's alone"))]
    element: &ElementType,
) -> Result<Box<dyn BytesToBytes>, ChainErrorKind> {
    match codec {
        Codec::Blosc(configuration)
            if configuration.cname == BloscCompressor::Snappy && !cfg!(feature = "snappy") =>
        {
            Err(ChainErrorKind::NotCompiled { feature: "snappy".to_owned() })
        }
        #[cfg(feature = "blosc")]
        Codec::Blosc(configuration) => {
            Ok(Box::new(blosc::Blosc::new(configuration, element.size())))
        }
        #[cfg(feature = "crc32c")]
        Codec::Crc32c => Ok(Box::new(crc32c::Crc32c)),
        #[cfg(feature = "gzip")]
        Codec::Gzip(codec) => Ok(Box::new(gzip::Gzip { level: codec.level })),
        #[cfg(feature = "zstd")]
        Codec::Zstd(zstd) => {
            Ok(Box::new(zstd::Zstd { level: zstd.level, checksum: zstd.checksum }))
        }
        _ => Err(match codec.kind() {
            Some(CodecKind::BytesToBytes) => {
                ChainErrorKind::NotCompiled { feature: codec.name().to_owned() }
            }
            Some(_) => ChainErrorKind::Order,
            None => ChainErrorKind::Unsupported,
        }),
    }
}

/// Reserves `length` more bytes, or reports that memory is exhausted.
pub(crate) fn reserve(out: &mut Vec<u8>, length: usize) -> Result<(), ChunkErrorKind> {
    if out.is_empty() && out.capacity() < length {
        // Freed before the new memory is allocated.
        *out = Vec::new();
    }
    out.try_reserve_exact(length).map_err(|_| ChunkErrorKind::OutOfMemory { bytes: widen(length) })
}

/// Reads a decoder to its end, or one byte past the limit, so that a decompression bomb takes no
/// more memory than the limit.
#[cfg(any(feature = "gzip", feature = "zstd"))]
fn read_up_to(
    reader: impl std::io::Read,
    limit: u64,
    out: &mut Vec<u8>,
) -> Result<(), ChunkErrorKind> {
    use std::io::Read as _;

    let mut reader = reader.take(limit.saturating_add(1));
    reader.read_to_end(out).map_err(|error| match error.kind() {
        std::io::ErrorKind::OutOfMemory => ChunkErrorKind::OutOfMemory { bytes: limit },
        _ => ChunkErrorKind::Corrupt { reason: error.to_string() },
    })?;
    Ok(())
}

/// Converts a length in memory to a number of the format.
pub(crate) fn widen(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Converts a length of the format to a length in memory.
#[cfg(feature = "blosc")]
fn narrow(length: u64) -> Result<usize, ChunkErrorKind> {
    usize::try_from(length).map_err(|_| ChunkErrorKind::OutOfMemory { bytes: length })
}
