//! `gzip` and `numcodecs.gzip`: RFC 1952. One member is written; any number is read (SD-61).

use std::io::Write as _;

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::{BytesToBytes, DEFLATE_EXPANSION, check_ratio, read_exactly, read_up_to, reserve};
use crate::error::ChunkErrorKind;

#[derive(Debug)]
pub(super) struct Gzip {
    pub(super) level: Compression,
}

impl BytesToBytes for Gzip {
    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind> {
        check_ratio(encoded, expected, DEFLATE_EXPANSION)
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        read_exactly(MultiGzDecoder::new(encoded), out)
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
        // At most nine bits per byte, and the header. A growing vector could allocate twice as
        // much.
        reserve(out, decoded.len().saturating_add(decoded.len() / 8).saturating_add(64))?;
        let mut encoder = GzEncoder::new(out, self.level);
        encoder.write_all(decoded).map_err(failed)?;
        encoder.finish().map_err(failed)?;
        Ok(())
    }
}
