//! `zstd`: RFC 8878. One frame is written, with its content size. Any number of frames is read,
//! including skippable ones and ones of unknown size (SD-61).

use std::cell::RefCell;

use zstd::bulk::{Compressor, Decompressor};
use zstd::stream::raw::CParameter;

use crate::bytes_to_bytes::codec::BytesToBytes;
use crate::bytes_to_bytes::limits::{check_decoded, check_ratio, read_up_to, reserve};
use crate::error::ChunkErrorKind;
use crate::length::widen;

/// The magic numbers of frames, and the first and the last of skippable ones.
const FRAME: u32 = 0xfd2f_b528;
const FIRST_SKIPPABLE: u32 = 0x184d_2a50;
const LAST_SKIPPABLE: u32 = 0x184d_2a5f;

/// A block of four bytes can hold at most 128 KiB.
const MOST_EXPANSION: u64 = 32 * 1024;

thread_local! {
    // Contexts hold tables of a megabyte and more, which are too expensive to set up per chunk.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

#[derive(Debug)]
pub(crate) struct Zstd {
    pub(crate) level: i32,
    pub(crate) checksum: bool,
}

impl BytesToBytes for Zstd {
    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind> {
        check_ratio(encoded, expected, MOST_EXPANSION)
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        check_frames(encoded)?;
        DECOMPRESSOR.with_borrow_mut(|slot| {
            let decompressor = match slot {
                Some(decompressor) => decompressor,
                None => slot.insert(Decompressor::new().map_err(corrupt)?),
            };
            match decompressor.decompress_to_buffer(encoded, out) {
                Ok(found) => check_decoded(found, out.len()),
                Err(error) if error.to_string().contains("too small") => {
                    Err(ChunkErrorKind::DecodedTooLong { expected: widen(out.len()) })
                }
                Err(error) => Err(corrupt(error)),
            }
        })
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        check_frames(encoded)?;
        let decoder = zstd::stream::read::Decoder::with_buffer(encoded).map_err(corrupt)?;
        read_up_to(decoder, limit, out)
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        encode(decoded, self.level, self.checksum, out)
    }
}

fn corrupt(error: std::io::Error) -> ChunkErrorKind {
    ChunkErrorKind::Corrupt { reason: error.to_string() }
}

/// Refuses frames that the library silently accepts: frames of formats before version 1, and frames
/// with a content size of 2^64 - 1, which it treats as unknown.
fn check_frames(mut encoded: &[u8]) -> Result<(), ChunkErrorKind> {
    let corrupt = |reason: &str| ChunkErrorKind::Corrupt { reason: reason.to_owned() };
    while let Some((magic, rest)) = encoded.split_first_chunk() {
        match u32::from_le_bytes(*magic) {
            FRAME if promises_most(rest) => {
                return Err(corrupt("the frame header promises 2^64 - 1 bytes"));
            }
            FRAME | FIRST_SKIPPABLE..=LAST_SKIPPABLE => {}
            _ => return Err(corrupt("no zstd frame where one must start")),
        }
        // The decoder refuses frames that are cut short or damaged.
        let length = zstd::zstd_safe::find_frame_compressed_size(encoded);
        match length.ok().and_then(|length| encoded.get(length..)) {
            Some(rest) if rest.len() < encoded.len() => encoded = rest,
            _ => return Ok(()),
        }
    }
    Ok(())
}

/// Whether a frame header, after its magic number, has a content size of eight bytes, all ones.
///
/// ```text
/// byte  0           1                  0, 1, 2 or 4  8
///       descriptor  window descriptor  dictionary    content size
///                   (unless bit 5)     (bits 0, 1)   (bits 6, 7 are 3)
/// ```
fn promises_most(header: &[u8]) -> bool {
    let Some((descriptor, fields)) = header.split_first() else { return false };
    let window = if descriptor & 0x20 == 0 { 1 } else { 0 };
    let dictionary = [0, 1, 2, 4].get(usize::from(descriptor & 3)).copied().unwrap_or(0_usize);
    let start = dictionary.saturating_add(window);
    let size = fields.get(start..start.saturating_add(8));
    descriptor >> 6 == 3 && size.is_some_and(|size| size == [0xff; 8])
}

fn encode(
    decoded: &[u8],
    level: i32,
    checksum: bool,
    out: &mut Vec<u8>,
) -> Result<(), ChunkErrorKind> {
    let failed = |error: std::io::Error| ChunkErrorKind::Encode { reason: error.to_string() };
    reserve(out, zstd::zstd_safe::compress_bound(decoded.len()))?;
    COMPRESSOR.with_borrow_mut(|slot| {
        let compressor = match slot {
            Some(compressor) => compressor,
            None => slot.insert(Compressor::new(level).map_err(failed)?),
        };
        compressor.set_parameter(CParameter::CompressionLevel(level)).map_err(failed)?;
        compressor.set_parameter(CParameter::ChecksumFlag(checksum)).map_err(failed)?;
        compressor.compress_to_buffer(decoded, out).map_err(failed)?;
        Ok(())
    })
}
