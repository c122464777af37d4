//! The codecs of numcodecs, as zarr-python writes them: `numcodecs.` and the name that numcodecs
//! gives the codec.
//!
//! They have no documents. They allow the values that numcodecs allows, and a missing member has
//! the default of numcodecs.

mod checksum;
mod compressor;
mod json2;
mod lzma;
mod pcodec;
mod values;

pub use checksum::{Checksum, ChecksumLocation, JenkinsLookup3, Shuffle};
pub use compressor::{Bz2, Deflate, Lz4, NumcodecsBlosc, NumcodecsZstd};
pub(super) use json2::Json2;
pub use lzma::{Lzma, LzmaCheck, LzmaFilter, LzmaFormat};
pub use pcodec::{Pcodec, PcodecDelta, PcodecMode};
pub use values::{AsType, Delta, FixedScaleOffset, Quantize};

use crate::error::rule::Rule;
use crate::error::{At, Result};
use crate::json::{Object, Raw};

/// Reads a member; if it is missing or `null`, takes the default of numcodecs.
fn or<T>(
    members: &mut Object<'_>,
    key: &'static str,
    default: T,
    read: impl FnOnce(Raw<'_>) -> Result<T>,
) -> Result<T> {
    let value = members.optional(key, read).breaks(Rule::NUMCODECS_CONFIGURATION)?;
    Ok(value.unwrap_or(default))
}

/// Reads an integer within bounds.
fn integer(raw: Raw<'_>, least: i64, most: i64) -> Result<i64> {
    raw.integer()
        .filter(|n| (least..=most).contains(n))
        .ok_or_else(|| raw.expected(format!("an integer from {least} to {most}")))
}

/// As [`integer`], in fewer bits, which the bounds are within.
fn narrow<T: TryFrom<i64>>(raw: Raw<'_>, least: i64, most: i64) -> Result<T> {
    T::try_from(integer(raw, least, most)?)
        .map_err(|_| raw.expected(format!("an integer from {least} to {most}")))
}
