//! `blosc`: blocks of shuffled and compressed bytes after a header of 16 bytes.
//!
//! The header is not trusted. Its lengths are compared with the lengths of the input and of the
//! expected output before the library is called; the library's own checks then stay within them.

mod library;

use zarr_metadata::{Blosc as Configuration, BloscCompressor, BloscShuffle, NumcodecsBlosc};

use self::library::{HEADER, LONGEST, Settings};
use super::codec::BytesToBytes;
use super::limits::{check_decoded, check_limit, decode_stated, reserve};
use crate::error::{ChainErrorKind, ChunkErrorKind};
use crate::length::{narrow, widen};

/// Zstd, the strongest of its compressors, can encode 128 KiB in a block of four bytes.
const MOST_EXPANSION: u64 = 32 * 1024;

/// The only version of the format.
const VERSION: u8 = 2;

#[derive(Debug)]
pub(super) struct Blosc {
    settings: Settings,
}

impl Blosc {
    /// `element_size` replaces a missing `typesize`, which decoding does not need.
    pub(super) fn new(
        configuration: &Configuration,
        element_size: usize,
    ) -> Result<Self, ChainErrorKind> {
        let type_size = configuration.typesize.unwrap_or(widen(element_size));
        let settings = Settings {
            compressor: match configuration.cname {
                BloscCompressor::Blosclz => c"blosclz",
                BloscCompressor::Lz4 => c"lz4",
                BloscCompressor::Lz4hc => c"lz4hc",
                BloscCompressor::Snappy => c"snappy",
                BloscCompressor::Zlib => c"zlib",
                BloscCompressor::Zstd => c"zstd",
                other => {
                    return Err(ChainErrorKind::NotHere { what: format!("compressor {other:?}") });
                }
            },
            level: u8::try_from(configuration.clevel).unwrap_or(9),
            shuffle: match configuration.shuffle {
                BloscShuffle::NoShuffle => 0,
                BloscShuffle::Shuffle => 1,
                BloscShuffle::BitShuffle => 2,
            },
            // The library also treats larger elements as single bytes.
            type_size: u8::try_from(type_size).unwrap_or(1).max(1),
            // It treats larger blocks as the whole input.
            block_size: u32::try_from(configuration.blocksize).unwrap_or(u32::MAX),
        };
        Ok(Self { settings })
    }

    /// `numcodecs.blosc`: its input is bytes, elements of 1 byte unless its configuration says
    /// otherwise.
    pub(super) fn numcodecs(configuration: &NumcodecsBlosc) -> Result<Self, ChainErrorKind> {
        let NumcodecsBlosc { cname, clevel, shuffle, typesize, blocksize, .. } = *configuration;
        let typesize = typesize.unwrap_or(1);
        let shuffle = shuffle.unwrap_or(match typesize {
            1 => BloscShuffle::BitShuffle,
            _ => BloscShuffle::Shuffle,
        });
        let configuration = Configuration::new(cname, clevel)
            .with_shuffle(shuffle, typesize)
            .with_blocksize(blocksize);
        Self::new(&configuration, 1)
    }
}

impl BytesToBytes for Blosc {
    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind> {
        check_header(encoded, |found| check_decoded(found, expected)).map(drop)
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        self.check_len(encoded, out.len())?;
        match library::decompress(encoded, out) {
            Some(written) if written == out.len() => Ok(()),
            _ => Err(corrupt("the blocks do not decode to the length in the header")),
        }
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        let length = check_header(encoded, |found| check_limit(found, limit))?;
        decode_stated(self, encoded, length, out)
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        if decoded.len() > LONGEST {
            let (length, most) = (decoded.len(), LONGEST);
            let reason = format!("{length} bytes; blosc takes at most {most}");
            return Err(ChunkErrorKind::Encode { reason });
        }
        let mut most = decoded.len().saturating_add(HEADER);
        if self.settings.compressor == c"snappy" {
            // With less space than its worst case, the library does not compress and stores all
            // bytes.
            most = most.saturating_add(decoded.len() / 6).saturating_add(64);
        }
        reserve(out, most)?;
        library::compress(decoded, out, &self.settings).ok_or_else(|| {
            let reason = String::from("the blosc library gave no output");
            ChunkErrorKind::Encode { reason }
        })
    }
}

/// The decoded length, if the header matches the input and `allowed` accepts the length.
///
/// ```text
/// byte   0       1        2     3          4..8      8..12     12..16
///        version version  flags type size  decoded   of a      encoded
///                of codec                  length    block     length
/// ```
fn check_header(
    encoded: &[u8],
    allowed: impl FnOnce(usize) -> Result<(), ChunkErrorKind>,
) -> Result<usize, ChunkErrorKind> {
    let found = widen(encoded.len());
    let Some((header, _)) = encoded.split_first_chunk::<HEADER>() else {
        return Err(ChunkErrorKind::EncodedLength { found, least: widen(HEADER) });
    };
    let [version, _, _, type_size, d0, d1, d2, d3, b0, b1, b2, b3, e0, e1, e2, e3] = *header;
    if version != VERSION {
        return Err(corrupt(format!("blosc format version {version}, expected {VERSION}")));
    }
    let encoded_len = u32::from_le_bytes([e0, e1, e2, e3]);
    if u64::from(encoded_len) != found {
        return Err(corrupt(format!("the header says {encoded_len} encoded bytes, found {found}")));
    }
    let decoded_len = u32::from_le_bytes([d0, d1, d2, d3]);
    let length = narrow(decoded_len.into())?;
    allowed(length)?;
    if length > LONGEST || u64::from(decoded_len) > found.saturating_mul(MOST_EXPANSION) {
        let expected = decoded_len.into();
        return Err(ChunkErrorKind::DecodedTooShort { encoded: found, expected });
    }
    let block_size = u32::from_le_bytes([b0, b1, b2, b3]);
    if length > 0 && (block_size == 0 || narrow(block_size.into())? > length) {
        let reason = format!("blocks of {block_size} bytes, expected 1 to {length}");
        return Err(corrupt(reason));
    }
    if type_size == 0 {
        return Err(corrupt("elements of 0 bytes"));
    }
    Ok(length)
}

fn corrupt(reason: impl Into<String>) -> ChunkErrorKind {
    ChunkErrorKind::Corrupt { reason: reason.into() }
}
