//! `gzip` and `numcodecs.gzip`: RFC 1952, one member written, any number read (SD-61).

use std::io::{self, Write as _};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::limits::DEFLATE_EXPANSION;
use super::stream::StreamFormat;

#[derive(Debug)]
pub(super) struct Gzip {
    pub(super) level: Compression,
}

impl StreamFormat for Gzip {
    const MOST_EXPANSION: u64 = DEFLATE_EXPANSION;

    type Reader<'e> = MultiGzDecoder<&'e [u8]>;

    fn reader<'e>(&self, encoded: &'e [u8]) -> io::Result<Self::Reader<'e>> {
        Ok(MultiGzDecoder::new(encoded))
    }

    fn room(decoded: usize) -> usize {
        // At most nine bits per byte, and the header.
        decoded.saturating_add(decoded / 8).saturating_add(64)
    }

    fn compress(&self, decoded: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let mut encoder = GzEncoder::new(out, self.level);
        encoder.write_all(decoded)?;
        encoder.finish().map(drop)
    }
}
