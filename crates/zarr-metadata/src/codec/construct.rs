//! Codecs with their usual configurations, by one call each.

use std::ops::RangeInclusive;

use super::{
    Blosc, BloscCompressor, BloscShuffle, Bytes, Codec, Endian, Gzip, Packbits, Reshape,
    ReshapeDim, Sharding, Transpose, Zstd,
};

impl Codec {
    /// `bytes`, little-endian.
    #[must_use]
    pub fn bytes() -> Self {
        Codec::Bytes(Bytes::new(Some(Endian::Little)))
    }

    /// `packbits` of these bits of each component, `0..=11` for 12-bit samples, without padding
    /// byte.
    ///
    /// For types of less than a byte, bool among them, [`Packbits::default`] keeps all their bits:
    /// `Codec::Packbits(Packbits::default())`.
    #[must_use]
    pub fn packbits(bits: RangeInclusive<u64>) -> Self {
        let (first, last) = bits.into_inner();
        Codec::Packbits(Packbits::new((first > 0).then_some(first), Some(last)))
    }

    /// `transpose`: output dimension `i` is input dimension `order[i]`.
    pub fn transpose(order: impl Into<Vec<usize>>) -> Self {
        Codec::Transpose(Transpose::new(order))
    }

    /// `reshape` to these dimensions.
    pub fn reshape(shape: impl Into<Vec<ReshapeDim>>) -> Self {
        Codec::Reshape(Reshape::new(shape))
    }

    /// `sharding_indexed`: inner chunks of this shape, each encoded by `codecs`. The index is at the
    /// end, with a checksum.
    pub fn sharding(
        chunk_shape: impl Into<Vec<u64>>,
        codecs: impl IntoIterator<Item = Codec>,
    ) -> Self {
        Codec::ShardingIndexed(Box::new(Sharding::new(chunk_shape, codecs)))
    }

    /// `gzip` at a level from 0 to 9.
    #[must_use]
    pub fn gzip(level: u32) -> Self {
        Codec::Gzip(Gzip::new(level))
    }

    /// `zstd` at a level from -131072 to 22, with a checksum in each frame.
    #[must_use]
    pub fn zstd(level: i32) -> Self {
        Codec::Zstd(Zstd::new(level))
    }

    /// `blosc` with this compressor at a level from 0 to 9, bytes shuffled by elements of `typesize`
    /// bytes.
    #[must_use]
    pub fn blosc(cname: BloscCompressor, clevel: u32, typesize: u64) -> Self {
        Codec::Blosc(Blosc::new(cname, clevel).with_shuffle(BloscShuffle::Shuffle, typesize))
    }
}
