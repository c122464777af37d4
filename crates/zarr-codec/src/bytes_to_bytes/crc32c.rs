//! `crc32c`: the input, then its CRC-32C as four little-endian bytes.

use super::{BytesToBytes, check_decoded, reserve, widen};
use crate::error::ChunkErrorKind;

/// How many bytes the codec adds.
const LENGTH: u64 = 4;

#[derive(Debug)]
pub(super) struct Crc32c;

impl BytesToBytes for Crc32c {
    fn encoded_len(&self, decoded: Option<u64>) -> Option<u64> {
        decoded?.checked_add(LENGTH)
    }

    fn keeps_places(&self) -> bool {
        true
    }

    fn decoded_prefix(&self, encoded: &[u8]) -> Option<Result<usize, ChunkErrorKind>> {
        Some(verified(encoded).map(<[u8]>::len))
    }

    fn check_len(&self, _: &[u8], _: usize) -> Result<(), ChunkErrorKind> {
        // A prefix needs no memory, and a wrong checksum is a better error than a wrong length.
        Ok(())
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        let data = verified(encoded)?;
        check_decoded(data.len(), out.len())?;
        out.copy_from_slice(data);
        Ok(())
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        _: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        let data = verified(encoded)?;
        reserve(out, data.len())?;
        out.extend_from_slice(data);
        Ok(())
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        reserve(out, decoded.len().saturating_add(4))?;
        out.extend_from_slice(decoded);
        out.extend_from_slice(&::crc32c::crc32c(decoded).to_le_bytes());
        Ok(())
    }
}

/// The input without its checksum, if that matches.
fn verified(encoded: &[u8]) -> Result<&[u8], ChunkErrorKind> {
    let Some((data, stored)) = encoded.split_last_chunk() else {
        return Err(ChunkErrorKind::EncodedLength { found: widen(encoded.len()), least: LENGTH });
    };
    let stored = u32::from_le_bytes(*stored);
    let computed = ::crc32c::crc32c(data);
    if stored == computed { Ok(data) } else { Err(ChunkErrorKind::Checksum { stored, computed }) }
}
