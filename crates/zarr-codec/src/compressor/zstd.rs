//! `zstd`: RFC 8878, one frame written with its content size, any number read, skippable ones and
//! such of unknown size included (SD-61).

use std::cell::RefCell;

use zstd::bulk::{Compressor, Decompressor};
use zstd::stream::raw::CParameter;

use super::{ByteCodec, Expected, narrow, read_to_limit, reserve};
use crate::error::ChunkErrorKind;

/// A block of four bytes stands for at most 128 KiB.
const MOST_EXPANSION: u64 = 32 * 1024;

thread_local! {
    // Contexts hold tables of a megabyte and more, which are dear to set up for each chunk.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

#[derive(Debug)]
pub(super) struct Zstd {
    pub(super) level: i32,
    pub(super) checksum: bool,
}

impl ByteCodec for Zstd {
    fn decode(
        &self,
        encoded: &[u8],
        expected: Expected,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        decode(encoded, expected, out)
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        encode(decoded, self.level, self.checksum, out)
    }
}

fn decode(encoded: &[u8], expected: Expected, out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
    expected.check_ratio(encoded.len(), MOST_EXPANSION)?;
    let corrupt = |error: std::io::Error| ChunkErrorKind::Corrupt { reason: error.to_string() };
    let Expected::Exactly(length) = expected else {
        let decoder = zstd::stream::read::Decoder::with_buffer(encoded).map_err(corrupt)?;
        return read_to_limit(decoder, expected, out);
    };
    // One byte more than needed: a longer content shows as such, not as a fault of the format.
    let length = narrow(length)?;
    reserve(out, length.saturating_add(1))?;
    DECOMPRESSOR.with_borrow_mut(|slot| {
        let decompressor = match slot {
            Some(decompressor) => decompressor,
            None => slot.insert(Decompressor::new().map_err(corrupt)?),
        };
        match decompressor.decompress_to_buffer(encoded, out) {
            Ok(_) => Ok(()),
            Err(error) if error.to_string().contains("too small") => {
                Err(ChunkErrorKind::DecodedTooLong { expected: expected.limit() })
            }
            Err(error) => Err(corrupt(error)),
        }
    })
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
