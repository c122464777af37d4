//! `numcodecs.lz4`: the number of bytes as a little-endian 32-bit integer, then a block of LZ4.

use lz4_flex::block::{DecompressError, compress_into, decompress_into, get_maximum_output_size};

use super::codec::BytesToBytes;
use super::limits::{check_decoded, check_limit, check_ratio, decode_stated, reserve};
use crate::error::ChunkErrorKind;
use crate::length::{narrow, widen};

/// Bytes of the header.
const HEADER: usize = 4;

/// Each further byte of a match's length adds 255 bytes.
const MOST_EXPANSION: u64 = 256;

/// The longest input that the C library and numcodecs allow.
const LONGEST: usize = 0x7e00_0000;

#[derive(Debug)]
pub(super) struct Lz4;

impl BytesToBytes for Lz4 {
    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind> {
        let (length, block) = split(encoded)?;
        check_decoded(length, expected)?;
        check_ratio(block, expected, MOST_EXPANSION)
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        let (length, block) = split(encoded)?;
        check_decoded(length, out.len())?;
        match decompress_into(block, out) {
            Ok(found) => check_decoded(found, out.len()),
            Err(DecompressError::OutputTooSmall { .. }) => {
                Err(ChunkErrorKind::DecodedTooLong { expected: widen(out.len()) })
            }
            Err(error) => Err(ChunkErrorKind::Corrupt { reason: error.to_string() }),
        }
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        let (length, block) = split(encoded)?;
        check_limit(length, limit)?;
        check_ratio(block, length, MOST_EXPANSION)?;
        decode_stated(self, encoded, length, out)
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        let length = u32::try_from(decoded.len()).ok().filter(|_| decoded.len() <= LONGEST);
        let Some(length) = length else {
            let length = decoded.len();
            let reason = format!("{length} bytes; lz4 takes at most {LONGEST}");
            return Err(ChunkErrorKind::Encode { reason });
        };
        let most = get_maximum_output_size(decoded.len()).saturating_add(HEADER);
        reserve(out, most)?;
        out.extend_from_slice(&length.to_le_bytes());
        out.resize(most, 0);
        let written = compress_into(decoded, out.get_mut(HEADER..).unwrap_or_default());
        let written =
            written.map_err(|error| ChunkErrorKind::Encode { reason: error.to_string() })?;
        out.truncate(written.saturating_add(HEADER));
        Ok(())
    }
}

/// The length in the header, and the block.
fn split(encoded: &[u8]) -> Result<(usize, &[u8]), ChunkErrorKind> {
    let Some((header, block)) = encoded.split_first_chunk::<HEADER>() else {
        let (found, least) = (widen(encoded.len()), widen(HEADER));
        return Err(ChunkErrorKind::EncodedLength { found, least });
    };
    Ok((narrow(u32::from_le_bytes(*header).into())?, block))
}
