//! `numcodecs.bz2`: one bzip2 stream is written; any number is read.

use std::io::Write as _;

use bzip2::Compression;
use bzip2::bufread::MultiBzDecoder;
use bzip2::write::BzEncoder;

use super::{BytesToBytes, check_ratio, read_exactly, read_up_to, reserve};
use crate::error::ChunkErrorKind;

/// A block holds 900,000 bytes, five of which stand for 259 equal bytes, and it takes more than
/// 24 bytes.
const MOST_EXPANSION: u64 = 2 << 20;

#[derive(Debug)]
pub(super) struct Bz2 {
    pub(super) level: u32,
}

impl BytesToBytes for Bz2 {
    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind> {
        check_ratio(encoded, expected, MOST_EXPANSION)
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        read_exactly(MultiBzDecoder::new(encoded), out)
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        read_up_to(MultiBzDecoder::new(encoded), limit, out)
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        let failed = |error: std::io::Error| ChunkErrorKind::Encode { reason: error.to_string() };
        // One byte per hundred, and 600, as its manual says.
        reserve(out, decoded.len().saturating_add(decoded.len() / 100).saturating_add(600))?;
        let mut encoder = BzEncoder::new(out, Compression::new(self.level));
        encoder.write_all(decoded).map_err(failed)?;
        encoder.finish().map_err(failed)?;
        Ok(())
    }
}
