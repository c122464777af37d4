//! The shuffle and the checksums.

use super::{narrow, or};
use crate::codec::configuration::{Configuration, Context, Members, Names, read_named};
use crate::error::Result;
use crate::error::rule::Rule;
use crate::json::{JsonType, Object};

/// The configuration of `numcodecs.shuffle`.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, Shuffle};
///
/// let json = br#"{"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}}"#;
/// assert_eq!(Codec::from_json(json)?, Codec::NumcodecsShuffle(Shuffle::new(4)));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Shuffle {
    /// Bytes of an element; with 0 and 1 the bytes stay as they are. `None` is the size of the
    /// elements.
    pub elementsize: Option<u64>,
}

impl Shuffle {
    /// Elements of this many bytes.
    #[must_use]
    pub fn new(elementsize: u64) -> Self {
        Shuffle { elementsize: Some(elementsize) }
    }
}

impl Configuration for Shuffle {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["elementsize"])?;
        let elementsize = or(members, "elementsize", None, |raw| raw.at_least(0).map(Some))?;
        Ok(Shuffle { elementsize })
    }

    fn write(&self, members: &mut Members<'_>) {
        if let Some(elementsize) = self.elementsize {
            members.plain("elementsize", elementsize);
        }
    }
}

/// The configuration of `numcodecs.crc32`, `numcodecs.crc32c` and `numcodecs.adler32`.
///
/// # Examples
/// ```
/// use zarr_metadata::{Checksum, ChecksumLocation, Codec};
///
/// let json = br#"{"name": "numcodecs.crc32", "configuration": {"location": "end"}}"#;
/// let end = Checksum::new(ChecksumLocation::End);
/// assert_eq!(Codec::from_json(json)?, Codec::NumcodecsCrc32(end));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Checksum {
    /// Where the four bytes are. `None` is the codec's default: the end for
    /// `numcodecs.crc32c`, the start for the others.
    pub location: Option<ChecksumLocation>,
}

impl Checksum {
    /// The checksum at this place.
    #[must_use]
    pub fn new(location: ChecksumLocation) -> Self {
        Checksum { location: Some(location) }
    }
}

/// Where a checksum is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChecksumLocation {
    /// Before the bytes.
    Start,
    /// After the bytes.
    End,
}

const LOCATIONS: Names<ChecksumLocation> =
    &[(ChecksumLocation::Start, "start"), (ChecksumLocation::End, "end")];

impl Configuration for Checksum {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["location"])?;
        let location = or(members, "location", None, |raw| read_named(LOCATIONS, raw).map(Some))?;
        Ok(Checksum { location })
    }

    fn write(&self, members: &mut Members<'_>) {
        if let Some(location) = &self.location {
            members.named("location", LOCATIONS, location);
        }
    }
}

/// The configuration of `numcodecs.jenkins_lookup3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct JenkinsLookup3 {
    /// The start value of the hash.
    pub initval: u32,
}

impl Configuration for JenkinsLookup3 {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["initval", "prefix"])?;
        let initval = or(members, "initval", 0, |raw| narrow(raw, 0, u32::MAX.into()))?;
        // Bytes, which JSON has no value for.
        match members.take("prefix") {
            Some(raw) if raw.json_type() != JsonType::Null => {
                Err(raw.expected("null").breaks(Rule::NUMCODECS_CONFIGURATION).in_member("prefix"))
            }
            _ => Ok(JenkinsLookup3 { initval }),
        }
    }

    fn write(&self, members: &mut Members<'_>) {
        members.plain("initval", self.initval);
    }
}
