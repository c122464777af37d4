//! Lengths that decoders check before they allocate and after they have decoded, and memory in
//! proportion to them.

use super::codec::BytesToBytes;
use crate::error::ChunkErrorKind;
use crate::length::widen;

/// Refuses a length that `encoded` bytes cannot decode to in a format that expands by at most
/// `ratio`, before memory is allocated for it.
#[cfg(any(
    feature = "bz2",
    feature = "gzip",
    feature = "lz4",
    feature = "lzma",
    feature = "pcodec",
    feature = "ruzstd",
    feature = "zlib",
    feature = "zstd"
))]
pub(super) fn check_ratio(
    encoded: &[u8],
    expected: usize,
    ratio: u64,
) -> Result<(), ChunkErrorKind> {
    let (encoded, expected) = (widen(encoded.len()), widen(expected));
    if expected > encoded.saturating_mul(ratio) {
        return Err(ChunkErrorKind::DecodedTooShort { encoded, expected });
    }
    Ok(())
}

/// Deflate expands two bits to at most 258 bytes.
#[cfg(any(feature = "gzip", feature = "zlib"))]
pub(super) const DEFLATE_EXPANSION: u64 = 1032;

/// Refuses a length that the codec itself states, before memory is allocated for it.
pub(crate) fn check_limit(length: usize, limit: u64) -> Result<(), ChunkErrorKind> {
    if widen(length) > limit {
        return Err(ChunkErrorKind::DecodedLimit { limit });
    }
    Ok(())
}

/// Refuses to encode bytes of a length that the metadata does not give and that decoding refuses.
/// Without this limit, each of many compressors would lengthen its incompressible input.
pub(crate) fn check_encoded(
    codec: &dyn BytesToBytes,
    length: usize,
    limit: u64,
) -> Result<(), ChunkErrorKind> {
    // A checksum at the end is taken off without decoding.
    if widen(length) > limit && codec.input_offset() != Some(0) {
        return Err(ChunkErrorKind::EncodedExcess { found: widen(length), limit });
    }
    Ok(())
}

/// Decodes to the length that `encoded` states; the caller has compared it with the encoded length.
pub(super) fn decode_stated(
    codec: &dyn BytesToBytes,
    encoded: &[u8],
    length: usize,
    out: &mut Vec<u8>,
) -> Result<(), ChunkErrorKind> {
    reserve(out, length)?;
    out.resize(length, 0);
    codec.decode_to(encoded, out)
}

/// Refuses a decoded length other than the expected one.
pub(crate) fn check_decoded(found: usize, expected: usize) -> Result<(), ChunkErrorKind> {
    if found == expected {
        return Ok(());
    }
    Err(ChunkErrorKind::DecodedLength { found: widen(found), expected: widen(expected) })
}

/// Reserves `length` more bytes, or reports that memory is exhausted.
pub(crate) fn reserve(out: &mut Vec<u8>, length: usize) -> Result<(), ChunkErrorKind> {
    if out.is_empty() && out.capacity() < length {
        // Freed before the new memory is allocated.
        *out = Vec::new();
    }
    out.try_reserve_exact(length).map_err(|_| ChunkErrorKind::OutOfMemory { bytes: widen(length) })
}

/// An empty list with memory for `count` items.
pub(crate) fn with_room<T>(count: usize) -> Result<Vec<T>, ChunkErrorKind> {
    let mut items = Vec::new();
    items.try_reserve_exact(count).map_err(|_| ChunkErrorKind::OutOfMemory {
        bytes: widen(count).saturating_mul(widen(size_of::<T>())),
    })?;
    Ok(items)
}

/// Reads a decoder to its end, or one byte past the limit, so that a decompression bomb takes no
/// more memory than the limit.
#[cfg(any(
    feature = "bz2",
    feature = "gzip",
    feature = "lzma",
    feature = "ruzstd",
    feature = "zlib",
    feature = "zstd"
))]
pub(super) fn read_up_to(
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

/// Reads a decoder to its end, which must be the end of `out`. Reading past the end verifies the
/// checksum.
#[cfg(any(
    feature = "bz2",
    feature = "gzip",
    feature = "lzma",
    feature = "ruzstd",
    feature = "zlib"
))]
pub(super) fn read_exactly(
    mut reader: impl std::io::Read,
    out: &mut [u8],
) -> Result<(), ChunkErrorKind> {
    use std::io::ErrorKind;

    let mut found = 0_usize;
    let mut past = [0];
    loop {
        let rest = out.get_mut(found..).filter(|rest| !rest.is_empty());
        let at_end = rest.is_none();
        match reader.read(rest.unwrap_or(&mut past)) {
            Ok(0) => return check_decoded(found, out.len()),
            Ok(_) if at_end => {
                return Err(ChunkErrorKind::DecodedTooLong { expected: widen(out.len()) });
            }
            Ok(read) => found = found.saturating_add(read),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(ChunkErrorKind::Corrupt { reason: error.to_string() }),
        }
    }
}

/// Refuses bytes that a decoder has not consumed.
#[cfg(any(feature = "pcodec", feature = "zfp"))]
pub(super) fn check_empty(rest: &[u8]) -> Result<(), ChunkErrorKind> {
    match rest.len() {
        0 => Ok(()),
        count => {
            let reason = format!("{count} bytes after the stream");
            Err(ChunkErrorKind::Corrupt { reason })
        }
    }
}
