//! The bytes-to-bytes codecs: each has one file, and a feature if it has a dependency.
//!
//! Every decoder is given the exact or the largest length of its output (SD-35), and allocates in
//! proportion to its input: a chunk of a hundred bytes cannot make it reserve a gigabyte.

#[cfg(feature = "blosc")]
mod blosc;
#[cfg(feature = "bz2")]
mod bz2;
mod checksum;
#[cfg(feature = "gzip")]
mod gzip;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(feature = "lzma")]
mod lzma;
mod others;
#[cfg(feature = "pcodec")]
mod pcodec;
mod shuffle;
#[cfg(any(feature = "bz2", feature = "gzip", feature = "lzma", feature = "zlib"))]
mod stream;
#[cfg(feature = "zfp")]
mod zfp;
#[cfg(feature = "zlib")]
mod zlib;
#[cfg(feature = "zstd")]
mod zstd;
#[cfg(all(feature = "ruzstd", any(test, not(feature = "zstd"))))]
mod zstd_in_rust;

use std::fmt;
use std::sync::Arc;

use zarr_metadata::{BloscCompressor, ChecksumLocation, Codec, DataType};

use self::checksum::{Algorithm, Checksum};

use crate::element::ElementType;
use crate::error::{ChainErrorKind, ChunkErrorKind};
use crate::length::widen;
use crate::options::Options;
use crate::others::{Codecs, Make};

pub(crate) use self::others::{Other, corrupt, refused};

/// Refuses a length that `encoded` bytes cannot decode to in a format that expands by at most
/// `ratio`, before memory is allocated for it.
#[cfg(any(
    feature = "bz2",
    feature = "gzip",
    feature = "lz4",
    feature = "lzma",
    feature = "pcodec",
    feature = "ruzstd",
    feature = "zlib",
    feature = "zstd"
))]
fn check_ratio(encoded: &[u8], expected: usize, ratio: u64) -> Result<(), ChunkErrorKind> {
    let (encoded, expected) = (widen(encoded.len()), widen(expected));
    if expected > encoded.saturating_mul(ratio) {
        return Err(ChunkErrorKind::DecodedTooShort { encoded, expected });
    }
    Ok(())
}

/// Deflate expands two bits to at most 258 bytes.
#[cfg(any(feature = "gzip", feature = "zlib"))]
const DEFLATE_EXPANSION: u64 = 1032;

/// Refuses a length that the codec itself states, before memory is allocated for it.
fn check_limit(length: usize, limit: u64) -> Result<(), ChunkErrorKind> {
    if widen(length) > limit {
        return Err(ChunkErrorKind::DecodedLimit { limit });
    }
    Ok(())
}

/// Decodes to the length that `encoded` states, which has been compared with that of `encoded`.
fn decode_stated(
    codec: &dyn BytesToBytes,
    encoded: &[u8],
    length: usize,
    out: &mut Vec<u8>,
) -> Result<(), ChunkErrorKind> {
    reserve(out, length)?;
    out.resize(length, 0);
    codec.decode_to(encoded, out)
}

/// Refuses a decoded length other than the expected one.
pub(crate) fn check_decoded(found: usize, expected: usize) -> Result<(), ChunkErrorKind> {
    if found == expected {
        return Ok(());
    }
    Err(ChunkErrorKind::DecodedLength { found: widen(found), expected: widen(expected) })
}

/// One bytes-to-bytes codec, ready to run.
///
/// Methods that append to `out` receive it empty.
pub(crate) trait BytesToBytes: fmt::Debug + Send + Sync {
    /// The encoded length, if the decoded length determines it.
    fn encoded_len(&self, _decoded: Option<u64>) -> Option<u64> {
        None
    }

    /// The most bytes that ordinary encoders produce from `decoded` bytes: what compressors add
    /// to data that cannot be compressed.
    ///
    /// A format allows more than encoders use: blocks may be stored byte by byte, and frames may
    /// be skippable. [`ordinary`] gives the limit for those.
    fn most_encoded(&self, decoded: u64) -> u64 {
        self.encoded_len(Some(decoded)).unwrap_or_else(|| {
            // Stored blocks of at least 10 KB have headers of at most five bytes; a file, 32.
            decoded.saturating_add(decoded / 1024).saturating_add(1024)
        })
    }

    /// The offset of the input in the output, if it is there unchanged: then parts of it can be
    /// read alone.
    fn input_offset(&self) -> Option<u64> {
        None
    }

    /// For a codec whose input is a prefix of its output: the length of the prefix, after checks.
    ///
    /// Such a codec needs no buffer to decode into.
    fn decoded_prefix(&self, _encoded: &[u8]) -> Option<Result<usize, ChunkErrorKind>> {
        None
    }

    /// The codec for elements of an array of this shape, if it matters to it.
    fn for_shape(&self, _shape: &[usize]) -> Option<Arc<dyn BytesToBytes>> {
        None
    }

    /// As [`decode_to`](Self::decode_to) memory of the codec's own, if it decodes in no other way.
    fn decode_owned(
        &self,
        _encoded: &[u8],
        _expected: usize,
    ) -> Option<Result<Vec<u8>, ChunkErrorKind>> {
        None
    }

    /// Refuses `encoded` if it cannot decode to `expected` bytes, before memory is allocated.
    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind>;

    /// Decodes all of `encoded` to exactly the bytes of `out`.
    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind>;

    /// Decodes all of `encoded`, whose decoded length is unknown, to at most `limit + 1` bytes.
    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind>;

    /// Encodes all of `decoded`.
    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind>;
}

/// The most bytes that are accepted where encoders produce `most` bytes: twice that, and a
/// mebibyte (SD-35).
///
/// This leaves room for writers that need more than [`most_encoded`](BytesToBytes::most_encoded)
/// and whose files are valid as well (SD-61): gzip in members or stored blocks of a few bytes,
/// zstd with skippable frames, shards with gaps. Stacked compressors do not each get this room:
/// twenty of them, a few bytes each in a document, would multiply it by a million.
pub(crate) fn ordinary(most: u64) -> u64 {
    most.saturating_mul(2).saturating_add(1 << 20)
}

/// The codec that a metadata document names, if it is one of these and compiled in.
///
/// `element` is that of the chain, for codecs whose configuration gives no element size.
pub(crate) fn bind(
    codec: &Codec,
    element: &ElementType,
    others: &Codecs,
) -> Result<Box<dyn BytesToBytes>, ChainErrorKind> {
    if !is_compiled(codec) {
        let feature = feature(codec).unwrap_or_default().to_owned();
        return Err(ChainErrorKind::NotCompiled { feature });
    }
    Ok(match codec {
        #[cfg(feature = "blosc")]
        Codec::Blosc(configuration) => Box::new(blosc::Blosc::new(configuration, element.size())?),
        #[cfg(feature = "blosc")]
        Codec::NumcodecsBlosc(configuration) => Box::new(blosc::Blosc::numcodecs(configuration)?),
        #[cfg(feature = "gzip")]
        Codec::Gzip(gzip) => Box::new(gzip::Gzip { level: flate2::Compression::new(gzip.level) }),
        #[cfg(feature = "gzip")]
        Codec::NumcodecsGzip(gzip) => Box::new(gzip::Gzip { level: deflate_level(gzip.level) }),
        #[cfg(feature = "zlib")]
        Codec::NumcodecsZlib(zlib) => Box::new(zlib::Zlib { level: deflate_level(zlib.level) }),
        #[cfg(feature = "zstd")]
        Codec::Zstd(zstd) => Box::new(zstd::Zstd { level: zstd.level, checksum: zstd.checksum }),
        #[cfg(feature = "zstd")]
        Codec::NumcodecsZstd(zstd) => {
            Box::new(zstd::Zstd { level: zstd.level, checksum: zstd.checksum })
        }
        #[cfg(all(feature = "ruzstd", not(feature = "zstd")))]
        Codec::Zstd(zstd) => Box::new(zstd_in_rust::Zstd { checksum: zstd.checksum }),
        #[cfg(all(feature = "ruzstd", not(feature = "zstd")))]
        Codec::NumcodecsZstd(zstd) => Box::new(zstd_in_rust::Zstd { checksum: zstd.checksum }),
        #[cfg(feature = "bz2")]
        Codec::NumcodecsBz2(bz2) => Box::new(bz2::Bz2 { level: bz2.level }),
        #[cfg(feature = "lz4")]
        Codec::NumcodecsLz4(_) => Box::new(lz4::Lz4),
        #[cfg(feature = "lzma")]
        Codec::NumcodecsLzma(configuration) => Box::new(lzma::Lzma::new(configuration)?),
        Codec::NumcodecsShuffle(shuffle) => {
            let size = shuffle.elementsize.unwrap_or(widen(element.size()));
            // No chunk has an element of more bytes than there is memory.
            Box::new(shuffle::Shuffle { element_size: usize::try_from(size).unwrap_or(usize::MAX) })
        }
        Codec::NumcodecsFletcher32 => {
            Box::new(Checksum::new(Algorithm::Fletcher32, ChecksumLocation::End))
        }
        Codec::NumcodecsJenkinsLookup3(hash) => {
            Box::new(Checksum::new(Algorithm::Lookup3(hash.initval), ChecksumLocation::End))
        }
        #[cfg(feature = "crc32c")]
        Codec::Crc32c => Box::new(Checksum::new(Algorithm::Crc32c, ChecksumLocation::End)),
        #[cfg(feature = "crc32c")]
        Codec::NumcodecsCrc32c(sum) => Box::new(Checksum::new(
            Algorithm::Crc32c,
            sum.location.unwrap_or(ChecksumLocation::End),
        )),
        #[cfg(feature = "crc32")]
        Codec::NumcodecsCrc32(sum) => Box::new(Checksum::new(
            Algorithm::Crc32,
            sum.location.unwrap_or(ChecksumLocation::Start),
        )),
        #[cfg(feature = "adler32")]
        Codec::NumcodecsAdler32(sum) => Box::new(Checksum::new(
            Algorithm::Adler32,
            sum.location.unwrap_or(ChecksumLocation::Start),
        )),
        Codec::Unknown(unknown) => match others.get(unknown.name()) {
            Some(Make::Bytes(make)) => {
                Box::new(Other(make(unknown).map_err(ChainErrorKind::other)?))
            }
            Some(Make::Array(_)) => return Err(ChainErrorKind::Order),
            None => return Err(ChainErrorKind::Unsupported),
        },
        _ => return Err(ChainErrorKind::Order),
    })
}

/// The compressor behind the elements in C order of an array-to-bytes codec that compresses, for
/// arrays of `rank` dimensions; `None` for all other codecs.
#[cfg_attr(not(feature = "zfp"), expect(unused_variables, reason = "zfp alone needs all of them"))]
pub(crate) fn bind_elements(
    codec: &Codec,
    data_type: &DataType,
    rank: usize,
    options: &Options,
) -> Option<Result<Box<dyn BytesToBytes>, ChainErrorKind>> {
    #[cfg(feature = "zfp")]
    let zfp = |configuration: &zarr_metadata::Zfp, header| {
        let bound = zfp::Zfp::new(configuration, header, data_type, rank, options.allow_loss);
        Some(bound.map(|codec| -> Box<dyn BytesToBytes> { Box::new(codec) }))
    };
    match codec {
        #[cfg(feature = "pcodec")]
        Codec::NumcodecsPcodec(configuration) => {
            let bound = pcodec::Pcodec::new(configuration, data_type);
            Some(bound.map(|codec| -> Box<dyn BytesToBytes> { Box::new(codec) }))
        }
        #[cfg(not(feature = "pcodec"))]
        Codec::NumcodecsPcodec(_) => {
            Some(Err(ChainErrorKind::NotCompiled { feature: "pcodec".to_owned() }))
        }
        #[cfg(feature = "zfp")]
        Codec::Zfp(configuration) => zfp(configuration, false),
        #[cfg(feature = "zfp")]
        Codec::NumcodecsZfpy(configuration) => zfp(&configuration.into(), true),
        #[cfg(not(feature = "zfp"))]
        Codec::Zfp(_) | Codec::NumcodecsZfpy(_) => {
            Some(Err(ChainErrorKind::NotCompiled { feature: "zfp".to_owned() }))
        }
        _ => None,
    }
}

/// Whether the feature that the codec needs is compiled in.
fn is_compiled(codec: &Codec) -> bool {
    // A table: written as a `match`, a build without any feature would look as if it matched
    // none.
    let built = [
        ("adler32", cfg!(feature = "adler32")),
        ("blosc", cfg!(feature = "blosc")),
        ("bz2", cfg!(feature = "bz2")),
        ("crc32", cfg!(feature = "crc32")),
        ("crc32c", cfg!(feature = "crc32c")),
        ("gzip", cfg!(feature = "gzip")),
        ("lz4", cfg!(feature = "lz4")),
        ("lzma", cfg!(feature = "lzma")),
        ("snappy", cfg!(feature = "snappy")),
        ("zlib", cfg!(feature = "zlib")),
        ("zstd", cfg!(any(feature = "ruzstd", feature = "zstd"))),
    ];
    let Some(name) = feature(codec) else { return true };
    built.iter().all(|(feature, is_built)| *feature != name || *is_built)
}

/// The feature that a codec needs.
fn feature(codec: &Codec) -> Option<&'static str> {
    let cname = match codec {
        Codec::Blosc(blosc) => Some(blosc.cname),
        Codec::NumcodecsBlosc(blosc) => Some(blosc.cname),
        _ => None,
    };
    Some(match codec {
        _ if cname == Some(BloscCompressor::Snappy) => "snappy",
        _ if cname.is_some() => "blosc",
        Codec::Gzip(_) | Codec::NumcodecsGzip(_) => "gzip",
        Codec::Zstd(_) | Codec::NumcodecsZstd(_) => "zstd",
        Codec::Crc32c | Codec::NumcodecsCrc32c(_) => "crc32c",
        Codec::NumcodecsZlib(_) => "zlib",
        Codec::NumcodecsBz2(_) => "bz2",
        Codec::NumcodecsLz4(_) => "lz4",
        Codec::NumcodecsLzma(_) => "lzma",
        Codec::NumcodecsCrc32(_) => "crc32",
        Codec::NumcodecsAdler32(_) => "adler32",
        _ => return None,
    })
}

/// Converts a numcodecs level: -1 is the default of zlib.
#[cfg(any(feature = "gzip", feature = "zlib"))]
fn deflate_level(level: i32) -> flate2::Compression {
    u32::try_from(level).map_or_else(|_| flate2::Compression::default(), flate2::Compression::new)
}

/// Reserves `length` more bytes, or reports that memory is exhausted.
pub(crate) fn reserve(out: &mut Vec<u8>, length: usize) -> Result<(), ChunkErrorKind> {
    if out.is_empty() && out.capacity() < length {
        // Freed before the new memory is allocated.
        *out = Vec::new();
    }
    out.try_reserve_exact(length).map_err(|_| ChunkErrorKind::OutOfMemory { bytes: widen(length) })
}

/// An empty list with memory for `count` numbers.
#[cfg(any(feature = "pcodec", feature = "zfp"))]
fn with_room<T>(count: usize) -> Result<Vec<T>, ChunkErrorKind> {
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(count).map_err(|_| ChunkErrorKind::OutOfMemory {
        bytes: widen(count).saturating_mul(widen(size_of::<T>())),
    })?;
    Ok(numbers)
}

/// Reads a decoder to its end, or one byte past the limit, so that a decompression bomb takes no
/// more memory than the limit.
#[cfg(any(
    feature = "bz2",
    feature = "gzip",
    feature = "lzma",
    feature = "ruzstd",
    feature = "zlib",
    feature = "zstd"
))]
fn read_up_to(
    reader: impl std::io::Read,
    limit: u64,
    out: &mut Vec<u8>,
) -> Result<(), ChunkErrorKind> {
    use std::io::Read as _;

    let mut reader = reader.take(limit.saturating_add(1));
    reader.read_to_end(out).map_err(|error| match error.kind() {
        std::io::ErrorKind::OutOfMemory => ChunkErrorKind::OutOfMemory { bytes: limit },
        _ => ChunkErrorKind::Corrupt { reason: error.to_string() },
    })?;
    Ok(())
}

/// Reads a decoder to its end, which must be the end of `out`. Reading past the end verifies the
/// checksum.
#[cfg(any(
    feature = "bz2",
    feature = "gzip",
    feature = "lzma",
    feature = "ruzstd",
    feature = "zlib"
))]
fn read_exactly(mut reader: impl std::io::Read, out: &mut [u8]) -> Result<(), ChunkErrorKind> {
    use std::io::ErrorKind;

    let mut found = 0_usize;
    let mut past = [0];
    loop {
        let rest = out.get_mut(found..).filter(|rest| !rest.is_empty());
        let at_end = rest.is_none();
        match reader.read(rest.unwrap_or(&mut past)) {
            Ok(0) => return check_decoded(found, out.len()),
            Ok(_) if at_end => {
                return Err(ChunkErrorKind::DecodedTooLong { expected: widen(out.len()) });
            }
            Ok(read) => found = found.saturating_add(read),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(ChunkErrorKind::Corrupt { reason: error.to_string() }),
        }
    }
}

/// Refuses bytes that a decoder has not consumed.
#[cfg(any(feature = "pcodec", feature = "zfp"))]
fn check_empty(rest: &[u8]) -> Result<(), ChunkErrorKind> {
    match rest.len() {
        0 => Ok(()),
        count => {
            let reason = format!("{count} bytes after the stream");
            Err(ChunkErrorKind::Corrupt { reason })
        }
    }
}
