//! `blosc`.

use crate::codec::configuration::{
    Configuration, Context, Members, Names, from_0_to_9, read_named,
};
use crate::error::rule::Rule;
use crate::error::{At, Result};
use crate::json::Object;

/// The configuration of `blosc`.
///
/// # Examples
/// ```
/// use zarr_metadata::{Blosc, BloscCompressor, BloscShuffle, Codec};
///
/// let blosc = Blosc::new(BloscCompressor::Lz4, 5).with_shuffle(BloscShuffle::Shuffle, 4);
/// let codec = Codec::Blosc(blosc);
/// assert_eq!(Codec::from_json(codec.to_json().as_bytes())?, codec);
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Blosc {
    /// The compressor inside.
    pub cname: BloscCompressor,
    /// From 0 to 9.
    pub clevel: u32,
    /// The filter before the compressor.
    pub shuffle: BloscShuffle,
    /// Bytes of an element for the shuffle, at least 1; required unless nothing is shuffled.
    pub typesize: Option<u64>,
    /// Bytes of a block; with 0, blosc chooses.
    pub blocksize: u64,
}

impl Blosc {
    /// This compressor at a level from 0 to 9, without shuffle, in blocks that blosc chooses.
    #[must_use]
    pub fn new(cname: BloscCompressor, clevel: u32) -> Self {
        Blosc { cname, clevel, shuffle: BloscShuffle::NoShuffle, typesize: None, blocksize: 0 }
    }

    /// The same with a shuffle of elements of `typesize` bytes, at least 1.
    #[must_use]
    pub fn with_shuffle(self, shuffle: BloscShuffle, typesize: u64) -> Self {
        Blosc { shuffle, typesize: Some(typesize), ..self }
    }

    /// The same with blocks of this many bytes; with 0, blosc chooses.
    #[must_use]
    pub fn with_blocksize(self, blocksize: u64) -> Self {
        Blosc { blocksize, ..self }
    }
}

/// The compressors of `blosc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BloscCompressor {
    /// `blosclz`
    Blosclz,
    /// `lz4`
    Lz4,
    /// `lz4hc`
    Lz4hc,
    /// `snappy`
    Snappy,
    /// `zlib`
    Zlib,
    /// `zstd`
    Zstd,
}

/// The filters of `blosc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BloscShuffle {
    /// `noshuffle`
    NoShuffle,
    /// `shuffle`
    Shuffle,
    /// `bitshuffle`
    BitShuffle,
}

pub(crate) const COMPRESSORS: Names<BloscCompressor> = &[
    (BloscCompressor::Blosclz, "blosclz"),
    (BloscCompressor::Lz4, "lz4"),
    (BloscCompressor::Lz4hc, "lz4hc"),
    (BloscCompressor::Snappy, "snappy"),
    (BloscCompressor::Zlib, "zlib"),
    (BloscCompressor::Zstd, "zstd"),
];

const SHUFFLES: Names<BloscShuffle> = &[
    (BloscShuffle::NoShuffle, "noshuffle"),
    (BloscShuffle::Shuffle, "shuffle"),
    (BloscShuffle::BitShuffle, "bitshuffle"),
];

impl Configuration for Blosc {
    fn read(members: &mut Object<'_>, context: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["cname", "clevel", "shuffle", "typesize", "blocksize"])?;
        read(members, context).breaks(Rule::BLOSC_CONFIGURATION)
    }

    fn write(&self, members: &mut Members<'_>) {
        members.named("cname", COMPRESSORS, &self.cname);
        members.plain("clevel", self.clevel);
        members.named("shuffle", SHUFFLES, &self.shuffle);
        if let Some(typesize) = self.typesize {
            members.plain("typesize", typesize);
        }
        members.plain("blocksize", self.blocksize);
    }
}

fn read(members: &mut Object<'_>, context: &mut Context<'_>) -> Result<Blosc> {
    let cname = context
        .or_default(members, "cname", BloscCompressor::Zstd, |raw| read_named(COMPRESSORS, raw))?;
    let clevel = context.or_default(members, "clevel", 5, from_0_to_9)?;
    let typesize = members.take("typesize");
    let shuffle = context
        .or_default(members, "shuffle", BloscShuffle::NoShuffle, |raw| read_named(SHUFFLES, raw))?;
    let ignored = shuffle == BloscShuffle::NoShuffle;
    if typesize.is_none() && !ignored {
        context.missing.push("typesize");
    }
    let typesize = match typesize {
        Some(raw) if ignored && raw.text() == "null" => None,
        typesize => typesize.map(|raw| raw.at_least(1)).transpose().member("typesize")?,
    };
    let blocksize = context.or_default(members, "blocksize", 0, |raw| raw.at_least(0))?;
    Ok(Blosc { cname, clevel, shuffle, typesize, blocksize })
}
