//! The common part of formats that are decoded through a reader and encoded through a writer.

use std::fmt;
use std::io::{self, Read};

use super::codec::BytesToBytes;
use super::limits::{check_ratio, read_exactly, read_up_to, reserve};
use crate::error::ChunkErrorKind;

/// A format with a reader as its decoder.
pub(super) trait StreamFormat: fmt::Debug + Send + Sync {
    /// The most bytes to which one encoded byte can decode.
    const MOST_EXPANSION: u64;

    /// Decodes its input to the end. A stream that ends too early is an error of the reader, and so
    /// are bytes after its end.
    type Reader<'e>: Read;

    fn reader<'e>(&self, encoded: &'e [u8]) -> io::Result<Self::Reader<'e>>;

    /// The most bytes that the encoder makes of so many. It is reserved at once: a vector that
    /// grows could take twice as much memory.
    fn room(decoded: usize) -> usize;

    /// Appends the encoded form.
    fn compress(&self, decoded: &[u8], out: &mut Vec<u8>) -> io::Result<()>;
}

impl<S: StreamFormat> BytesToBytes for S {
    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind> {
        check_ratio(encoded, expected, S::MOST_EXPANSION)
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        read_exactly(self.reader(encoded).map_err(corrupt)?, out)
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        read_up_to(self.reader(encoded).map_err(corrupt)?, limit, out)
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        reserve(out, S::room(decoded.len()))?;
        self.compress(decoded, out)
            .map_err(|error| ChunkErrorKind::Encode { reason: error.to_string() })
    }
}

fn corrupt(error: io::Error) -> ChunkErrorKind {
    ChunkErrorKind::Corrupt { reason: error.to_string() }
}

/// The error of bytes after the end of a stream.
#[cfg(any(feature = "lzma", feature = "zlib"))]
pub(super) fn bytes_after(count: usize) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{count} bytes after the stream"))
}
