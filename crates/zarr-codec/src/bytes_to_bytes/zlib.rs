//! `numcodecs.zlib`: RFC 1950, one stream.

use std::io::{self, Read, Write as _};

use flate2::write::ZlibEncoder;
use flate2::{Compression, Decompress, FlushDecompress, Status};

use super::limits::DEFLATE_EXPANSION;
use super::stream::{StreamFormat, bytes_after};

#[derive(Debug)]
pub(super) struct Zlib {
    pub(super) level: Compression,
}

impl StreamFormat for Zlib {
    const MOST_EXPANSION: u64 = DEFLATE_EXPANSION;

    type Reader<'e> = Stream<'e>;

    fn reader<'e>(&self, encoded: &'e [u8]) -> io::Result<Self::Reader<'e>> {
        Ok(Stream::new(encoded))
    }

    fn room(decoded: usize) -> usize {
        // At most nine bits per byte, and the header.
        decoded.saturating_add(decoded / 8).saturating_add(64)
    }

    fn compress(&self, decoded: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let mut encoder = ZlibEncoder::new(out, self.level);
        encoder.write_all(decoded)?;
        encoder.finish().map(drop)
    }
}

/// A stream that is read to its end. A truncated stream is an error, even if only its checksum is
/// cut, and so are bytes after it. flate2's own reader accepts both.
pub(super) struct Stream<'e> {
    rest: &'e [u8],
    state: Decompress,
    ended: bool,
}

impl<'e> Stream<'e> {
    fn new(encoded: &'e [u8]) -> Self {
        Self { rest: encoded, state: Decompress::new(true), ended: false }
    }
}

impl Read for Stream<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !self.ended && !out.is_empty() {
            let (before_in, before_out) = (self.state.total_in(), self.state.total_out());
            let status = self.state.decompress(self.rest, out, FlushDecompress::None)?;
            let taken = usize::try_from(self.state.total_in().saturating_sub(before_in));
            self.rest = self.rest.get(taken.unwrap_or(usize::MAX)..).unwrap_or_default();
            self.ended = status == Status::StreamEnd;
            let made = self.state.total_out().saturating_sub(before_out);
            if made > 0 {
                return Ok(usize::try_from(made).unwrap_or(usize::MAX));
            }
            if !self.ended && self.rest.is_empty() {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the stream is cut short",
                ));
            }
        }
        match self.ended && !self.rest.is_empty() {
            true => Err(bytes_after(self.rest.len())),
            false => Ok(0),
        }
    }
}
