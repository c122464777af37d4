//! `gzip`: RFC 1952, one member written, any number read (SD-61).

use std::io::Write as _;

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::{ByteCodec, Expected, read_to_limit};
use crate::error::ChunkErrorKind;

/// Deflate gives at most 258 bytes for two bits.
const MOST_EXPANSION: u64 = 1032;

#[derive(Debug)]
pub(super) struct Gzip {
    pub(super) level: u32,
}

impl ByteCodec for Gzip {
    fn decode(
        &self,
        encoded: &[u8],
        expected: Expected,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        expected.check_ratio(encoded.len(), MOST_EXPANSION)?;
        read_to_limit(MultiGzDecoder::new(encoded), expected, out)
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        let failed = |error: std::io::Error| ChunkErrorKind::Encode { reason: error.to_string() };
        let mut encoder = GzEncoder::new(out, Compression::new(self.level));
        encoder.write_all(decoded).map_err(failed)?;
        encoder.finish().map_err(failed)?;
        Ok(())
    }
}
