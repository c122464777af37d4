//! The configurations of the codecs that are known.

use super::Codec;

/// The configuration of `reshape`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reshape {
    /// What each output dimension is.
    pub shape: Vec<ReshapeDim>,
}

/// One output dimension of `reshape`.
///
/// # Spec
/// zarr-extensions `codecs/reshape`; SD-20 to SD-23.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReshapeDim {
    /// A size of at least 1.
    Size(u64),
    /// The product of these input dimensions; 1 where there are none (SD-22).
    InputDims(Vec<usize>),
    /// `-1`: whatever the others leave. At most one dimension is this.
    Auto,
}

/// The configuration of `transpose`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transpose {
    /// A permutation: output dimension `i` is input dimension `order[i]`.
    pub order: Vec<usize>,
}

/// The configuration of `packbits`.
///
/// # Spec
/// zarr-extensions `codecs/packbits`; SD-12, SD-15.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Packbits {
    /// Where the number of padding bits is stored.
    pub padding_encoding: PaddingEncoding,
    /// The first bit that is kept; `None` is 0.
    pub first_bit: Option<u64>,
    /// The last bit that is kept, inclusive; `None` is the last one of a component.
    pub last_bit: Option<u64>,
}

/// Where `packbits` stores the number of padding bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PaddingEncoding {
    /// Nowhere.
    #[default]
    None,
    /// In a byte before the others.
    FirstByte,
    /// In a byte after the others.
    LastByte,
}

/// A byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endian {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

/// The configuration of `sharding_indexed`.
///
/// # Spec
/// Zarr v3 "Sharding codec"; SD-59.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sharding {
    /// The shape of an inner chunk, lengths of at least 1.
    pub chunk_shape: Vec<u64>,
    /// The chain of each inner chunk.
    pub codecs: Vec<Codec>,
    /// The chain of the index, whose encoded size is fixed.
    pub index_codecs: Vec<Codec>,
    /// Where the index is.
    pub index_location: IndexLocation,
}

/// Where a shard has its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum IndexLocation {
    /// Before the chunks.
    Start,
    /// After the chunks.
    #[default]
    End,
}

/// The configuration of `zstd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Zstd {
    /// From -131072 to 22.
    pub level: i32,
    /// Whether frames carry a checksum.
    pub checksum: bool,
}

/// The configuration of `blosc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Blosc {
    /// The compressor inside.
    pub cname: BloscCompressor,
    /// From 0 to 9.
    pub clevel: u32,
    /// What comes before the compressor.
    pub shuffle: BloscShuffle,
    /// The bytes that a shuffle takes together, at least 1; needed unless nothing is shuffled.
    pub typesize: Option<u64>,
    /// Bytes of a block; 0 leaves the choice to blosc.
    pub blocksize: u64,
}

/// The compressors of `blosc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

/// Pairs of a value and its name, the order in which messages list them.
pub(super) type Names<T> = &'static [(T, &'static str)];

pub(super) const ENDIANS: Names<Endian> = &[(Endian::Little, "little"), (Endian::Big, "big")];

pub(super) const PADDINGS: Names<PaddingEncoding> = &[
    (PaddingEncoding::None, "none"),
    (PaddingEncoding::FirstByte, "first_byte"),
    (PaddingEncoding::LastByte, "last_byte"),
];

pub(super) const LOCATIONS: Names<IndexLocation> =
    &[(IndexLocation::Start, "start"), (IndexLocation::End, "end")];

pub(super) const COMPRESSORS: Names<BloscCompressor> = &[
    (BloscCompressor::Blosclz, "blosclz"),
    (BloscCompressor::Lz4, "lz4"),
    (BloscCompressor::Lz4hc, "lz4hc"),
    (BloscCompressor::Snappy, "snappy"),
    (BloscCompressor::Zlib, "zlib"),
    (BloscCompressor::Zstd, "zstd"),
];

pub(super) const SHUFFLES: Names<BloscShuffle> = &[
    (BloscShuffle::NoShuffle, "noshuffle"),
    (BloscShuffle::Shuffle, "shuffle"),
    (BloscShuffle::BitShuffle, "bitshuffle"),
];

/// The name of a value that its table has.
pub(super) fn name_of<T: PartialEq>(names: Names<T>, value: &T) -> &'static str {
    names.iter().find(|(known, _)| known == value).map_or("", |(_, name)| name)
}
