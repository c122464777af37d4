//! `zstd` without a C compiler, by the crate `ruzstd`: for builds with the feature `ruzstd` and
//! without `zstd`, which is faster and compresses better.
//!
//! Reads all frames that the other reads, but for windows of more than 8 MiB that are also longer
//! than the chunk. Writes at one level, about 1, not at the level of the document: no reader
//! depends on the level. The frame is otherwise as the other writes it: with its content size, and
//! with a checksum only if the document says so.

use std::io::{self, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::bytes_to_bytes::codec::BytesToBytes;
use crate::bytes_to_bytes::limits::{check_ratio, read_exactly, read_up_to, reserve};
use crate::error::ChunkErrorKind;
use crate::length::widen;

/// A block of four bytes can hold at most 128 KiB.
const MOST_EXPANSION: u64 = 32 * 1024;

/// The window that every decoder should have, by RFC 8878. More is allowed only up to the length of
/// the chunk, since a decoder holds the window in memory.
const WINDOW: u64 = 8 << 20;

/// Bytes that are decoded at a time.
const BATCH: usize = 128 << 10;

#[derive(Debug)]
pub(crate) struct Zstd {
    pub(crate) checksum: bool,
}

impl BytesToBytes for Zstd {
    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind> {
        check_ratio(encoded, expected, MOST_EXPANSION)
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        read_exactly(Frames::new(encoded, widen(out.len())), out)
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        read_up_to(Frames::new(encoded, limit), limit, out)
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        let frame = compress_to_vec(decoded, CompressionLevel::Fastest);
        let failed = |reason: &str| ChunkErrorKind::Encode { reason: reason.to_owned() };
        // The compressor writes no content size, a window and a checksum.
        let Some((&[0x28, 0xb5, 0x2f, 0xfd, CHECKSUM, window], rest)) = frame.split_first_chunk()
        else {
            return Err(failed("the compressor wrote a frame of another form"));
        };
        let (blocks, checksum) =
            rest.split_last_chunk::<4>().ok_or_else(|| failed("the frame has no checksum"))?;
        reserve(out, frame.len().saturating_add(SIZE))?;
        // With its content size, which some readers need, in eight bytes.
        let descriptor = SIZE_OF_8_BYTES | if self.checksum { CHECKSUM } else { 0 };
        out.extend_from_slice(&[0x28, 0xb5, 0x2f, 0xfd, descriptor, window]);
        out.extend_from_slice(&widen(decoded.len()).to_le_bytes());
        out.extend_from_slice(blocks);
        if self.checksum {
            out.extend_from_slice(checksum);
        }
        Ok(())
    }
}

/// Bits of the frame header's descriptor: there is a checksum; the content size has eight bytes.
const CHECKSUM: u8 = 0x04;
const SIZE_OF_8_BYTES: u8 = 0xc0;

/// The bytes of a content size.
const SIZE: usize = 8;

/// Reads the content of frames, one after another.
struct Frames<'e> {
    rest: &'e [u8],
    /// The decoder of the current frame, and the number of bytes read of it.
    frame: Option<(FrameDecoder, u64)>,
    most_window: u64,
}

impl<'e> Frames<'e> {
    fn new(encoded: &'e [u8], expected: u64) -> Self {
        Self { rest: encoded, frame: None, most_window: WINDOW.max(expected) }
    }

    /// The decoder of the next frame, `None` after the last.
    fn next_frame(&mut self) -> io::Result<Option<FrameDecoder>> {
        while !self.rest.is_empty() {
            // A new decoder for each frame allocates as it decodes; a reused one allocates the size
            // that a header claims.
            let mut decoder = FrameDecoder::new();
            decoder.set_max_window_size(self.most_window);
            match decoder.init(&mut self.rest) {
                Ok(()) => return Ok(Some(decoder)),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = usize::try_from(length).unwrap_or(usize::MAX);
                    self.rest = self
                        .rest
                        .get(length..)
                        .ok_or_else(|| corrupt("a skippable frame is cut short"))?;
                }
                Err(error) => return Err(corrupt(error)),
            }
        }
        Ok(None)
    }
}

impl Read for Frames<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            let Some((decoder, done)) = &mut self.frame else {
                match self.next_frame()? {
                    Some(decoder) => self.frame = Some((decoder, 0)),
                    None => return Ok(0),
                }
                continue;
            };
            let read = decoder.read(out)?;
            if read > 0 {
                *done = done.saturating_add(widen(read));
                return Ok(read);
            }
            if !decoder.is_finished() {
                let some = BlockDecodingStrategy::UptoBytes(BATCH);
                decoder.decode_blocks(&mut self.rest, some).map_err(corrupt)?;
                continue;
            }
            let size = decoder.content_size();
            if size != 0 && size != *done {
                return Err(corrupt(format!("a frame of {done} bytes, but {size} in its header")));
            }
            if let Some(stored) = decoder.get_checksum_from_data()
                && decoder.get_calculated_checksum() != Some(stored)
            {
                return Err(corrupt("the checksum of a frame is wrong"));
            }
            self.frame = None;
        }
    }
}

fn corrupt(reason: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes with and without repetitions.
    fn content(length: usize) -> Vec<u8> {
        let mut seed = 1_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed.to_be_bytes()[0]
        };
        (0..length).map(|at| if at % 97 < 60 { at.to_le_bytes()[1] } else { next() }).collect()
    }

    fn codec(checksum: bool) -> Zstd {
        Zstd { checksum }
    }

    /// libzstd reads the output and checks its size and checksum.
    #[cfg(feature = "zstd")]
    #[test]
    fn libzstd_reads_what_is_written() {
        for length in [0, 1, 7, 1000, 131_071, 131_072, 131_073, 1_000_000] {
            let decoded = content(length);
            for checksum in [false, true] {
                let mut encoded = Vec::new();
                codec(checksum).encode(&decoded, &mut encoded).expect("encodes");
                let size = zstd::zstd_safe::get_frame_content_size(&encoded).expect("a frame");
                assert_eq!(size, Some(widen(length)));
                assert_eq!(encoded[4] & CHECKSUM != 0, checksum);
                let read = zstd::bulk::decompress(&encoded, length).expect("reads");
                assert!(read == decoded, "{length} {checksum}");
                if length > 1000 {
                    assert!(encoded.len() < length);
                }
            }
        }
    }

    /// Output of libzstd is read: with and without sizes and checksums, several frames, skippable
    /// frames.
    #[cfg(feature = "zstd")]
    #[test]
    fn what_libzstd_writes_is_read() {
        for length in [0, 1, 1000, 131_073, 1_000_000] {
            let decoded = content(length);
            for level in [-5, 1, 3, 9, 19] {
                let stream = zstd::stream::encode_all(&decoded[..], level).expect("encodes");
                let block = zstd::bulk::compress(&decoded, level).expect("encodes");
                let skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc";
                let both = [skippable, &stream[..], &block, skippable].concat();
                let mut out = vec![0; 2 * length];
                codec(false).decode_to(&both, &mut out).expect("reads");
                assert!(out == [&decoded[..], &decoded].concat(), "{length} {level}");
                let mut out = Vec::new();
                codec(true).decode_up_to(&block, widen(length), &mut out).expect("reads");
                assert!(out == decoded);
            }
        }
    }

    #[test]
    fn damage_is_found_and_takes_no_more_memory_than_the_chunk() {
        let decoded = content(5000);
        let mut encoded = Vec::new();
        codec(true).encode(&decoded, &mut encoded).expect("encodes");
        let mut out = vec![0; 5000];
        codec(true).decode_to(&encoded, &mut out).expect("reads");
        assert_eq!(out, decoded);
        for at in 0..encoded.len() {
            let mut damaged = encoded.clone();
            damaged[at] ^= 0x10;
            // Only a change of a bit without meaning keeps the content.
            if codec(true).decode_to(&damaged, &mut out).is_ok() {
                assert_eq!(out, decoded, "{at}");
            }
            assert!(codec(true).decode_to(&encoded[..at], &mut out).is_err(), "{at}");
        }
        assert!(codec(true).decode_to(&encoded, &mut vec![0; 4999]).is_err());
        assert!(codec(true).decode_to(&encoded, &mut vec![0; 5001]).is_err());
        // A window of 2 GiB, and RLE blocks that make it 128 KiB each.
        let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0xa8];
        for _ in 0..20_000 {
            bomb.extend_from_slice(&[0x02, 0, 0x10, 7]);
        }
        assert!(codec(true).decode_to(&bomb, &mut out).is_err());
        bomb[5] = 0x68; // 8 MiB
        assert!(codec(true).decode_to(&bomb, &mut out).is_err());
    }
}
