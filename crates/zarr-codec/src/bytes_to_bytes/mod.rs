//! The bytes-to-bytes codecs: each has one file, and a feature if it has a dependency.
//!
//! Every decoder gets the exact or the largest length of its output (SD-35), and allocates in
//! proportion to its input. A chunk of a hundred bytes cannot make it reserve a gigabyte.

// Lengths and headers of encoded bytes come from outside.
#![warn(clippy::arithmetic_side_effects)]

#[cfg(feature = "blosc")]
mod blosc;
#[cfg(feature = "bz2")]
mod bz2;
mod checksum;
pub(crate) mod codec;
#[cfg(feature = "gzip")]
mod gzip;
mod limits;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(feature = "lzma")]
mod lzma;
#[cfg(feature = "pcodec")]
mod pcodec;
mod shuffle;
#[cfg(any(feature = "bz2", feature = "gzip", feature = "lzma", feature = "zlib"))]
mod stream;
mod third_party;
#[cfg(feature = "zfp")]
mod zfp;
#[cfg(feature = "zlib")]
mod zlib;
mod zstd;

use zarr_metadata::{BloscCompressor, ChecksumLocation, Codec, DataType};

use self::checksum::{Algorithm, Checksum};
use crate::element::ElementType;
use crate::error::ChainErrorKind;
use crate::length::widen;
use crate::options::Options;
use crate::third_party::{Codecs, Make};

pub(crate) use self::codec::{BytesToBytes, ordinary};
pub(crate) use self::limits::{check_decoded, check_encoded, check_limit, reserve, with_room};
pub(crate) use self::third_party::{Other, corrupt, refused};

/// The codec that a metadata document names, if it is one of these and compiled in.
///
/// `element` is the element size of the chain, for codecs without one in their configuration.
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
        Codec::Zstd(zstd) => Box::new(zstd::in_rust::Zstd { checksum: zstd.checksum }),
        #[cfg(all(feature = "ruzstd", not(feature = "zstd")))]
        Codec::NumcodecsZstd(zstd) => Box::new(zstd::in_rust::Zstd { checksum: zstd.checksum }),
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
                Box::new(Other::new(make(unknown).map_err(ChainErrorKind::other)?))
            }
            Some(Make::Array(_)) => return Err(ChainErrorKind::ORDER),
            None => return Err(ChainErrorKind::Unsupported),
        },
        _ => return Err(ChainErrorKind::ORDER),
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
