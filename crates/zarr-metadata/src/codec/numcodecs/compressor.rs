//! The compressors.

use super::{narrow, or};
use crate::codec::bytes_to_bytes::blosc::{BloscCompressor, BloscShuffle, COMPRESSORS};
use crate::codec::configuration::{Configuration, Context, Members, from_0_to_9, read_named};
use crate::error::Result;
use crate::json::{Object, Raw};

/// Configurations of one number: its name, type, value in numcodecs and range.
macro_rules! of_one_number {
    ($(
        $(#[$doc:meta])*
        $name:ident {
            $(#[$member_doc:meta])*
            $member:ident: $type:ty = $default:literal in $range:expr
        }
        $new_doc:literal, $default_doc:literal;
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub struct $name {
            $(#[$member_doc])*
            pub $member: $type,
        }

        impl $name {
            #[doc = $new_doc]
            #[must_use]
            pub fn new($member: $type) -> Self {
                $name { $member }
            }
        }

        #[doc = $default_doc]
        impl Default for $name {
            fn default() -> Self {
                $name { $member: $default }
            }
        }

        impl Configuration for $name {
            fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
                const NAME: &str = stringify!($member);
                members.check_known(&[NAME])?;
                let read = |raw: Raw<'_>| narrow(raw, *$range.start(), *$range.end());
                Ok($name { $member: or(members, NAME, $default, read)? })
            }

            fn write(&self, members: &mut Members<'_>) {
                members.plain(stringify!($member), self.$member);
            }
        }
    )*};
}

of_one_number! {
    /// The configuration of `numcodecs.zlib` and of `numcodecs.gzip`.
    Deflate {
        /// From 0 to 9, or -1 for the level that zlib chooses, which is 6.
        level: i32 = 1 in (-1..=9)
    }
    "Compresses at a level from -1 to 9.", "The level of numcodecs: 1.";
    /// The configuration of `numcodecs.bz2`.
    Bz2 {
        /// From 1 to 9: hundreds of thousands of bytes in a block.
        level: u32 = 1 in (1..=9)
    }
    "Compresses at a level from 1 to 9.", "The level of numcodecs: 1.";
    /// The configuration of `numcodecs.lz4`.
    Lz4 {
        /// The preference of speed over size; 0 and less mean 1.
        acceleration: i32 = 1 in (i64::from(i32::MIN)..=i64::from(i32::MAX))
    }
    "Compresses with this acceleration.", "The acceleration of numcodecs: 1.";
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
}

/// The configuration of `numcodecs.blosc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct NumcodecsBlosc {
    /// The compressor inside.
    pub cname: BloscCompressor,
    /// From 0 to 9.
    pub clevel: u32,
    /// The shuffle before the compressor. `None`, written as -1, is a bit shuffle of single bytes
    /// and a byte shuffle of longer elements.
    pub shuffle: Option<BloscShuffle>,
    /// Bytes of an element of the shuffle, at least 1. `None` is 1: the codec's input is bytes.
    pub typesize: Option<u64>,
    /// Bytes of a block; with 0, blosc chooses.
    pub blocksize: u64,
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
}
