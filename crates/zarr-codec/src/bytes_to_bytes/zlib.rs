//! `numcodecs.zlib`: RFC 1950, one stream.

use std::io::{self, Read, Write as _};

use flate2::write::ZlibEncoder;
use flate2::{Compression, Decompress, FlushDecompress, Status};

use super::{BytesToBytes, DEFLATE_EXPANSION, check_ratio, read_exactly, read_up_to, reserve};
use crate::error::ChunkErrorKind;
use crate::length::widen;

#[derive(Debug)]
pub(super) struct Zlib {
    pub(super) level: Compression,
}

impl BytesToBytes for Zlib {
    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind> {
        check_ratio(encoded, expected, DEFLATE_EXPANSION)
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        read_exactly(Stream::new(encoded), out)
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        read_up_to(Stream::new(encoded), limit, out)
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        let failed = |error: io::Error| ChunkErrorKind::Encode { reason: error.to_string() };
        // At most nine bits per byte, and the header. A growing vector could allocate twice as
        // much.
        reserve(out, decoded.len().saturating_add(decoded.len() / 8).saturating_add(64))?;
        let mut encoder = ZlibEncoder::new(out, self.level);
        encoder.write_all(decoded).map_err(failed)?;
        encoder.finish().map_err(failed)?;
        Ok(())
    }
}

/// A stream that is read to its end. A truncated stream is an error, even if only its checksum is
/// cut, and so are bytes after it. flate2's own reader accepts both.
struct Stream<'e> {
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
            true => {
                let reason = format!("{} bytes after the stream", widen(self.rest.len()));
                Err(io::Error::new(io::ErrorKind::InvalidData, reason))
            }
            false => Ok(0),
        }
    }
}
