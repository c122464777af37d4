//! `gzip`: RFC 1952, one member written, any number read (SD-61).

use std::io::{self, Read as _, Write as _};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::{BytesToBytes, check_decoded, check_ratio, read_up_to, reserve, widen};
use crate::error::ChunkErrorKind;

/// Deflate expands two bits to at most 258 bytes.
const MOST_EXPANSION: u64 = 1032;

#[derive(Debug)]
pub(super) struct Gzip {
    pub(super) level: u32,
}

impl BytesToBytes for Gzip {
    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind> {
        check_ratio(encoded, expected, MOST_EXPANSION)
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        let corrupt = |error: std::io::Error| ChunkErrorKind::Corrupt { reason: error.to_string() };
        let mut decoder = MultiGzDecoder::new(encoded);
        let mut found = 0_usize;
        while let Some(rest) = out.get_mut(found..).filter(|rest| !rest.is_empty()) {
            match decoder.read(rest) {
                Ok(0) => return check_decoded(found, out.len()),
                Ok(read) => found = found.saturating_add(read),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(corrupt(error)),
            }
        }
        // Reading past the end checks the checksum.
        match io::copy(&mut decoder.take(1), &mut io::sink()).map_err(corrupt)? {
            0 => Ok(()),
            _ => Err(ChunkErrorKind::DecodedTooLong { expected: widen(out.len()) }),
        }
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        read_up_to(MultiGzDecoder::new(encoded), limit, out)
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        let failed = |error: std::io::Error| ChunkErrorKind::Encode { reason: error.to_string() };
        // At most nine bits per byte, and the header. A vector that grew could hold twice as much.
        reserve(out, decoded.len().saturating_add(decoded.len() / 8).saturating_add(64))?;
        let mut encoder = GzEncoder::new(out, Compression::new(self.level));
        encoder.write_all(decoded).map_err(failed)?;
        encoder.finish().map_err(failed)?;
        Ok(())
    }
}
