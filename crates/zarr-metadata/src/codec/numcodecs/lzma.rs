//! `numcodecs.lzma`: xz and its predecessor, with chains of filters.

use std::fmt::Write as _;

use super::{narrow, or};
use crate::codec::configuration::{Configuration, Context, Members, Names};
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::json::{JsonType, Object, Raw, read_elements, write_array};

/// The configuration of `numcodecs.lzma`, with the numbers of Python's module `lzma`.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, Lzma};
///
/// let json = br#"{"name": "numcodecs.lzma", "configuration": {"preset": 6}}"#;
/// assert_eq!(Codec::from_json(json)?, Codec::NumcodecsLzma(Lzma::new(6)));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Lzma {
    /// The container.
    pub format: LzmaFormat,
    /// The checksum in an xz container; `None`, which is written as -1, is CRC-64.
    pub check: Option<LzmaCheck>,
    /// From 0 to 9, with 2^31 added for the slower search; `None` is 6.
    pub preset: Option<u32>,
    /// A chain of filters in place of `preset`; empty for none.
    pub filters: Vec<LzmaFilter>,
}

impl Lzma {
    /// An xz container, compressed at a preset from 0 to 9.
    #[must_use]
    pub fn new(preset: u32) -> Self {
        Lzma { preset: Some(preset), ..Self::default() }
    }
}

/// The containers of `numcodecs.lzma`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LzmaFormat {
    /// 0: xz or LZMA alone, detected when reading. Not for writing.
    Auto,
    /// 1: xz.
    #[default]
    Xz,
    /// 2: LZMA alone, the container of xz's predecessor.
    Alone,
    /// 3: none; the bytes are the output of `filters`.
    Raw,
}

/// The checksums of an xz container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LzmaCheck {
    /// 0: none.
    None,
    /// 1: CRC-32.
    Crc32,
    /// 4: CRC-64.
    Crc64,
    /// 10: SHA-256.
    Sha256,
}

/// A filter of `numcodecs.lzma`: its number and its options, as Python's module `lzma` names them,
/// each within its bounds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LzmaFilter {
    id: u64,
    options: Vec<(&'static str, u32)>,
}

impl LzmaFilter {
    /// The number of LZMA, which is the last of a chain without a container.
    pub const LZMA1: u64 = 0x4000_0000_0000_0001;
    /// The number of LZMA2, which is the last of a chain.
    pub const LZMA2: u64 = 0x21;

    /// [`LZMA1`](Self::LZMA1), [`LZMA2`](Self::LZMA2), 3 (differences of bytes), or 4 to 9: the
    /// jumps in machine code of x86, big-endian PowerPC, IA-64, ARM, ARM Thumb and SPARC.
    #[must_use]
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// An option: of LZMA `preset`, `dict_size`, `lc`, `lp`, `pb`, `mode`, `nice_len`, `mf` and
    /// `depth`, where `None` is the preset's value; of differences `dist`; of jumps
    /// `start_offset`.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<u32> {
        self.options.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    const fn is_lzma(&self) -> bool {
        matches!(self.id, Self::LZMA1 | Self::LZMA2)
    }
}

/// The members of filters.
const LZMA: &[&str] =
    &["id", "preset", "dict_size", "lc", "lp", "pb", "mode", "nice_len", "mf", "depth"];
const DELTA: &[&str] = &["id", "dist"];
const JUMPS: &[&str] = &["id", "start_offset"];

const FORMATS: Names<LzmaFormat> = &[
    (LzmaFormat::Auto, "0"),
    (LzmaFormat::Xz, "1"),
    (LzmaFormat::Alone, "2"),
    (LzmaFormat::Raw, "3"),
];

const CHECKS: Names<Option<LzmaCheck>> = &[
    (None, "-1"),
    (Some(LzmaCheck::None), "0"),
    (Some(LzmaCheck::Crc32), "1"),
    (Some(LzmaCheck::Crc64), "4"),
    (Some(LzmaCheck::Sha256), "10"),
];

/// The numbers of Python's `MF_HC3`, `MF_HC4`, `MF_BT2`, `MF_BT3` and `MF_BT4`.
const MATCH_FINDERS: [u32; 5] = [3, 4, 18, 19, 20];

/// The slower search, in a preset.
const EXTREME: u32 = 1 << 31;

/// Filters of a chain, at most.
const MOST_FILTERS: usize = 4;

impl Configuration for Lzma {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["format", "check", "preset", "filters"])?;
        let format = or(members, "format", LzmaFormat::Xz, |raw| {
            number(FORMATS, raw).ok_or_else(|| raw.expected("0, 1, 2 or 3"))
        })?;
        let check = or(members, "check", None, |raw| {
            number(CHECKS, raw).ok_or_else(|| raw.expected("-1, 0, 1, 4 or 10"))
        })?;
        let preset = or(members, "preset", None, |raw| preset(raw).map(Some))?;
        let filters = or(members, "filters", Vec::new(), |raw| match raw.json_type() {
            JsonType::Array => read_elements(raw, "an array of filters", filter),
            _ => Err(raw.expected("an array of filters")),
        })?;
        check_filters(format, &filters).breaks(Rule::NUMCODECS_CONFIGURATION).member("filters")?;
        Ok(Lzma { format, check, preset, filters })
    }

    fn write(&self, members: &mut Members<'_>) {
        let number = |found: Option<&&'static str>| found.copied().unwrap_or("null");
        let format = FORMATS.iter().find(|(format, _)| *format == self.format);
        members.plain("format", number(format.map(|(_, number)| number)));
        let check = CHECKS.iter().find(|(check, _)| *check == self.check);
        members.plain("check", number(check.map(|(_, number)| number)));
        match self.preset {
            Some(preset) => members.plain("preset", preset),
            None => members.plain("preset", "null"),
        }
        if self.filters.is_empty() {
            return members.plain("filters", "null");
        }
        write_array(&self.filters, members.begin("filters"), write_filter);
    }
}

/// An LZMA filter must be the last one and the only one. Raw bytes need filters, because they have
/// no header that names them; the header of format 2 holds one.
fn check_filters(format: LzmaFormat, filters: &[LzmaFilter]) -> Result<()> {
    let unexpected = |found: String, allowed| Err(MetadataError::unexpected(found, allowed));
    if filters.len() > MOST_FILTERS {
        return unexpected(format!("{} filters", filters.len()), "at most 4 filters");
    }
    match (format, filters.split_last()) {
        (LzmaFormat::Raw, None) => unexpected("none".to_owned(), "filters, where format is 3"),
        (_, None) => Ok(()),
        (LzmaFormat::Auto, Some(_)) => unexpected("filters".to_owned(), "none, where format is 0"),
        (_, Some((last, others))) => {
            let fits = match format {
                LzmaFormat::Xz => last.id == LzmaFilter::LZMA2,
                LzmaFormat::Alone => last.id == LzmaFilter::LZMA1 && others.is_empty(),
                _ => last.is_lzma(),
            };
            match fits && !others.iter().any(LzmaFilter::is_lzma) {
                true => Ok(()),
                false => unexpected(
                    "other filters".to_owned(),
                    "LZMA2 as the last filter (format 1), LZMA1 or LZMA2 as the last (format 3), or \
                     LZMA1 alone (format 2), and no other filter of these two kinds",
                ),
            }
        }
    }
}

fn preset(raw: Raw<'_>) -> Result<u32> {
    let preset = raw.natural().and_then(|n| u32::try_from(n).ok());
    let preset = preset.filter(|preset| preset & !EXTREME <= 9);
    preset.ok_or_else(|| raw.expected("an integer from 0 to 9, or that and 2^31"))
}

/// Reads a filter: an object with an id and the options of that.
fn filter(raw: Raw<'_>) -> Result<LzmaFilter> {
    const ID: &str = "3 to 9, 33, or 4611686018427387905";
    let mut members = Object::read(raw, "a filter with an id")?;
    let found = members.require("id", ID)?;
    let (id, known) = match found.natural() {
        Some(id @ 3) => (id, DELTA),
        Some(id @ 4..=9) => (id, JUMPS),
        Some(id @ (LzmaFilter::LZMA1 | LzmaFilter::LZMA2)) => (id, LZMA),
        _ => return Err(found.expected(ID).in_member("id")),
    };
    members.check_known(known)?;
    let mut options = Vec::new();
    for &name in known.iter().skip(1) {
        let default = match name {
            "dist" => Some(1),
            "start_offset" => Some(0),
            _ => None,
        };
        let value = or(&mut members, name, default, |raw| option(name, raw).map(Some))?;
        options.extend(value.map(|value| (name, value)));
    }
    Ok(LzmaFilter { id, options })
}

fn option(name: &str, raw: Raw<'_>) -> Result<u32> {
    let (least, most) = match name {
        "preset" => return preset(raw),
        "dict_size" => (4096, 3 << 29),
        "lc" | "lp" | "pb" => (0, 4),
        "mode" => (1, 2),
        "nice_len" => (2, 273),
        "dist" => (1, 256),
        _ => (0, u32::MAX.into()),
    };
    let value = narrow(raw, least, most)?;
    match name == "mf" && !MATCH_FINDERS.contains(&value) {
        true => Err(raw.expected("3, 4, 18, 19 or 20")),
        false => Ok(value),
    }
}

fn write_filter(filter: &LzmaFilter, json: &mut String) {
    // Writing to a `String` has no way to fail.
    let _infallible = write!(json, "{{\"id\": {}", filter.id);
    for (name, value) in &filter.options {
        let _infallible = write!(json, ", \"{name}\": {value}");
    }
    json.push('}');
}

/// The value that a table has a number for.
fn number<T: Copy>(names: Names<T>, raw: Raw<'_>) -> Option<T> {
    names.iter().find(|(_, number)| *number == raw.text()).map(|(value, _)| *value)
}
