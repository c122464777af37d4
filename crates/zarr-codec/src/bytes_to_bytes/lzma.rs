//! `numcodecs.lzma`: LZMA2 in any number of xz containers, or bare LZMA.

use std::io::Write as _;

use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Check, Error, LzmaOptions, Stream};
use liblzma::write::XzEncoder;
use zarr_metadata::{Lzma as Configuration, LzmaCheck, LzmaFormat};

use super::{BytesToBytes, check_empty, check_ratio, read_exactly, read_up_to, reserve};
use crate::error::{ChainErrorKind, ChunkErrorKind};
use crate::length::widen;

/// A match of 273 bytes takes at least 14 decisions of 0.022 bits each.
const MOST_EXPANSION: u64 = 8192;

/// The most memory that a decoder may use. The header gives the length of the dictionary, even
/// for a short chunk: presets use up to 64 MiB (preset 9). Memory that is not needed is not
/// touched.
const MEMORY: u64 = 128 << 20;

#[derive(Debug)]
pub(super) struct Lzma {
    format: LzmaFormat,
    check: Check,
    preset: u32,
}

impl Lzma {
    pub(super) fn new(configuration: &Configuration) -> Result<Self, ChainErrorKind> {
        if configuration.format == LzmaFormat::Raw || configuration.filters.is_some() {
            let what = "a chain of filters".to_owned();
            return Err(ChainErrorKind::NotHere { what });
        }
        Ok(Self {
            format: configuration.format,
            check: match configuration.check {
                Some(LzmaCheck::None) => Check::None,
                Some(LzmaCheck::Crc32) => Check::Crc32,
                Some(LzmaCheck::Crc64) | None => Check::Crc64,
                Some(LzmaCheck::Sha256) => Check::Sha256,
            },
            preset: configuration.preset.unwrap_or(6),
        })
    }

    fn decoder<'e>(&self, encoded: &'e [u8]) -> Result<XzDecoder<&'e [u8]>, ChunkErrorKind> {
        let stream = match self.format {
            LzmaFormat::Alone => Stream::new_lzma_decoder(MEMORY),
            LzmaFormat::Auto => Stream::new_auto_decoder(MEMORY, CONCATENATED),
            LzmaFormat::Xz | LzmaFormat::Raw => Stream::new_stream_decoder(MEMORY, CONCATENATED),
        };
        let corrupt = |error: Error| ChunkErrorKind::Corrupt { reason: error.to_string() };
        Ok(XzDecoder::new_stream(encoded, stream.map_err(corrupt)?))
    }

    fn encoder(&self) -> Result<Stream, Error> {
        match self.format {
            LzmaFormat::Alone => Stream::new_lzma_encoder(&LzmaOptions::new_preset(self.preset)?),
            // numcodecs cannot write in the format that detects itself.
            LzmaFormat::Auto => Err(Error::Options),
            LzmaFormat::Xz | LzmaFormat::Raw => Stream::new_easy_encoder(self.preset, self.check),
        }
    }
}

impl BytesToBytes for Lzma {
    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind> {
        check_ratio(encoded, expected, MOST_EXPANSION)
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        let mut decoder = self.decoder(encoded)?;
        read_exactly(&mut decoder, out)?;
        check_empty(decoder.into_inner())
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        let mut decoder = self.decoder(encoded)?;
        read_up_to(&mut decoder, limit, out)?;
        match widen(out.len()) > limit {
            // Refused because of its length; there is more to read.
            true => Ok(()),
            false => check_empty(decoder.into_inner()),
        }
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        let failed = |reason: String| ChunkErrorKind::Encode { reason };
        let stream = self.encoder().map_err(|error| failed(error.to_string()))?;
        // Chunks of 64 KiB that are stored uncompressed take three bytes more.
        reserve(out, decoded.len().saturating_add(decoded.len() / 8192).saturating_add(256))?;
        let mut encoder = XzEncoder::new_stream(out, stream);
        encoder.write_all(decoded).map_err(|error| failed(error.to_string()))?;
        encoder.finish().map_err(|error| failed(error.to_string()))?;
        Ok(())
    }
}
