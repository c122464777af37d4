//! `numcodecs.bz2`: one stream of bzip2 is written, any number is read.

use std::io::{self, Write as _};

use bzip2::Compression;
use bzip2::bufread::MultiBzDecoder;
use bzip2::write::BzEncoder;

use super::stream::StreamFormat;

#[derive(Debug)]
pub(super) struct Bz2 {
    pub(super) level: u32,
}

impl StreamFormat for Bz2 {
    /// A block takes more than 24 bytes and decodes to 900,000 bytes. Five of these can stand for
    /// 259 equal bytes.
    const MOST_EXPANSION: u64 = 2 << 20;

    type Reader<'e> = MultiBzDecoder<&'e [u8]>;

    fn reader<'e>(&self, encoded: &'e [u8]) -> io::Result<Self::Reader<'e>> {
        Ok(MultiBzDecoder::new(encoded))
    }

    fn room(decoded: usize) -> usize {
        // One byte in a hundred, and 600, as its manual says.
        decoded.saturating_add(decoded / 100).saturating_add(600)
    }

    fn compress(&self, decoded: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let mut encoder = BzEncoder::new(out, Compression::new(self.level));
        encoder.write_all(decoded)?;
        encoder.finish().map(drop)
    }
}
