//! The compressors.

use super::{narrow, or};
use crate::codec::blosc::{BloscCompressor, BloscShuffle, COMPRESSORS};
use crate::codec::configuration::{
    Configuration, Context, Members, Result, from_0_to_9, read_named,
};
use crate::json::{Object, Raw};

/// The configuration of `numcodecs.zlib` and of `numcodecs.gzip`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Deflate {
    /// From 0 to 9, or -1 for the level that zlib chooses, which is 6.
    pub level: i32,
}

impl Deflate {
    /// Compresses at a level from -1 to 9.
    #[must_use]
    pub fn new(level: i32) -> Self {
        Deflate { level }
    }
}

/// The level of numcodecs: 1.
impl Default for Deflate {
    fn default() -> Self {
        Deflate { level: 1 }
    }
}

impl Configuration for Deflate {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["level"])?;
        let Deflate { level } = Deflate::default();
        Ok(Deflate { level: or(members, "level", level, |raw| narrow(raw, -1, 9))? })
    }

    fn write(&self, members: &mut Members<'_>) {
        members.plain("level", self.level);
    }

    fn has_fixed_size(&self) -> bool {
        false
    }
}

/// The configuration of `numcodecs.bz2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Bz2 {
    /// From 1 to 9: hundreds of thousands of bytes in a block.
    pub level: u32,
}

impl Bz2 {
    /// Compresses at a level from 1 to 9.
    #[must_use]
    pub fn new(level: u32) -> Self {
        Bz2 { level }
    }
}

/// The level of numcodecs: 1.
impl Default for Bz2 {
    fn default() -> Self {
        Bz2 { level: 1 }
    }
}

impl Configuration for Bz2 {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["level"])?;
        let Bz2 { level } = Bz2::default();
        Ok(Bz2 { level: or(members, "level", level, |raw| narrow(raw, 1, 9))? })
    }

    fn write(&self, members: &mut Members<'_>) {
        members.plain("level", self.level);
    }

    fn has_fixed_size(&self) -> bool {
        false
    }
}

/// The configuration of `numcodecs.lz4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Lz4 {
    /// How much speed is preferred to size; 0 and less mean 1.
    pub acceleration: i32,
}

impl Lz4 {
    /// Compresses with this acceleration.
    #[must_use]
    pub fn new(acceleration: i32) -> Self {
        Lz4 { acceleration }
    }
}

/// The acceleration of numcodecs: 1.
impl Default for Lz4 {
    fn default() -> Self {
        Lz4 { acceleration: 1 }
    }
}

impl Configuration for Lz4 {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["acceleration"])?;
        let Lz4 { acceleration } = Lz4::default();
        let read = |raw: Raw<'_>| narrow(raw, i32::MIN.into(), i32::MAX.into());
        Ok(Lz4 { acceleration: or(members, "acceleration", acceleration, read)? })
    }

    fn write(&self, members: &mut Members<'_>) {
        members.plain("acceleration", self.acceleration);
    }

    fn has_fixed_size(&self) -> bool {
        false
    }
}

/// The configuration of `numcodecs.zstd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct NumcodecsZstd {
    /// From -131072 to 22; 0 is the level that zstd chooses, which is 3.
    pub level: i32,
    /// Whether frames carry a checksum.
    pub checksum: bool,
}

impl NumcodecsZstd {
    /// Compresses at a level from -131072 to 22, without checksums in the frames.
    #[must_use]
    pub fn new(level: i32) -> Self {
        NumcodecsZstd { level, checksum: false }
    }

    /// The same with a checksum in each frame, or without.
    #[must_use]
    pub fn with_checksum(self, checksum: bool) -> Self {
        NumcodecsZstd { checksum, ..self }
    }
}

impl Configuration for NumcodecsZstd {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["level", "checksum"])?;
        let NumcodecsZstd { level, checksum } = NumcodecsZstd::default();
        Ok(NumcodecsZstd {
            level: or(members, "level", level, |raw| narrow(raw, -131_072, 22))?,
            checksum: or(members, "checksum", checksum, |raw| raw.bool())?,
        })
    }

    fn write(&self, members: &mut Members<'_>) {
        members.plain("level", self.level);
        members.plain("checksum", self.checksum);
    }

    fn has_fixed_size(&self) -> bool {
        false
    }
}

/// The configuration of `numcodecs.blosc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct NumcodecsBlosc {
    /// The compressor inside.
    pub cname: BloscCompressor,
    /// From 0 to 9.
    pub clevel: u32,
    /// What comes before the compressor; `None`, which is written as -1, is a bit shuffle of single
    /// bytes and a byte shuffle of longer elements.
    pub shuffle: Option<BloscShuffle>,
    /// The bytes that a shuffle takes together, at least 1. `None` is 1: codecs are given bytes.
    pub typesize: Option<u64>,
    /// Bytes of a block; 0 leaves the choice to blosc.
    pub blocksize: u64,
}

impl NumcodecsBlosc {
    /// This compressor at a level from 0 to 9, the rest as numcodecs has it.
    #[must_use]
    pub fn new(cname: BloscCompressor, clevel: u32) -> Self {
        NumcodecsBlosc { cname, clevel, ..Self::default() }
    }

    /// The same with this shuffle of elements of `typesize` bytes, at least 1.
    #[must_use]
    pub fn with_shuffle(self, shuffle: Option<BloscShuffle>, typesize: Option<u64>) -> Self {
        NumcodecsBlosc { shuffle, typesize, ..self }
    }

    /// The same in blocks of this many bytes; 0 leaves the choice to blosc.
    #[must_use]
    pub fn with_blocksize(self, blocksize: u64) -> Self {
        NumcodecsBlosc { blocksize, ..self }
    }
}

/// `lz4` at level 5 behind a byte shuffle, as numcodecs has it.
impl Default for NumcodecsBlosc {
    fn default() -> Self {
        NumcodecsBlosc {
            cname: BloscCompressor::Lz4,
            clevel: 5,
            shuffle: Some(BloscShuffle::Shuffle),
            typesize: None,
            blocksize: 0,
        }
    }
}

/// The numbers by which numcodecs calls the shuffles.
const SHUFFLES: [(Option<BloscShuffle>, &str); 4] = [
    (None, "-1"),
    (Some(BloscShuffle::NoShuffle), "0"),
    (Some(BloscShuffle::Shuffle), "1"),
    (Some(BloscShuffle::BitShuffle), "2"),
];

impl Configuration for NumcodecsBlosc {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["cname", "clevel", "shuffle", "typesize", "blocksize"])?;
        let default = NumcodecsBlosc::default();
        let shuffle = |raw: Raw<'_>| {
            let found = SHUFFLES.into_iter().find(|(_, number)| *number == raw.text());
            found.map(|(shuffle, _)| shuffle).ok_or_else(|| raw.expected("-1, 0, 1 or 2"))
        };
        Ok(NumcodecsBlosc {
            cname: or(members, "cname", default.cname, |raw| read_named(COMPRESSORS, raw))?,
            clevel: or(members, "clevel", default.clevel, from_0_to_9)?,
            shuffle: or(members, "shuffle", default.shuffle, shuffle)?,
            typesize: or(members, "typesize", None, |raw| raw.at_least(1).map(Some))?,
            blocksize: or(members, "blocksize", default.blocksize, |raw| raw.at_least(0))?,
        })
    }

    fn write(&self, members: &mut Members<'_>) {
        members.named("cname", COMPRESSORS, &self.cname);
        members.plain("clevel", self.clevel);
        let number = SHUFFLES.iter().find(|(shuffle, _)| *shuffle == self.shuffle);
        members.plain("shuffle", number.map_or("-1", |(_, number)| number));
        members.plain("blocksize", self.blocksize);
        if let Some(typesize) = self.typesize {
            members.plain("typesize", typesize);
        }
    }

    fn has_fixed_size(&self) -> bool {
        false
    }
}
