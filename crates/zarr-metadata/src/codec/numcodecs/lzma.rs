//! `numcodecs.lzma`: xz and its predecessor, with chains of filters.

use std::fmt::Write as _;

use super::{narrow, or};
use crate::codec::configuration::{Configuration, Context, Members, Names, Result};
use crate::error::rule::Rule;
use crate::error::{At, MetadataError};
use crate::json::{JsonType, Object, Raw, read_elements};

/// The configuration of `numcodecs.lzma`, whose numbers are those of Python's module `lzma`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Lzma {
    /// The container.
    pub format: LzmaFormat,
    /// The checksum in an xz container; `None`, which is written as -1, is CRC-64.
    pub check: Option<LzmaCheck>,
    /// From 0 to 9, with 2^31 added for the slower search; `None` is 6.
    pub preset: Option<u32>,
    /// A chain of filters, which takes the place of `preset`; empty if there is none.
    pub filters: Vec<LzmaFilter>,
}

impl Lzma {
    /// An xz container, compressed at a preset from 0 to 9.
    #[must_use]
    pub fn new(preset: u32) -> Self {
        Lzma { preset: Some(preset), ..Self::default() }
    }

    /// No container: the bytes are the output of these filters.
    pub fn raw(filters: impl Into<Vec<LzmaFilter>>) -> Self {
        Lzma { format: LzmaFormat::Raw, filters: filters.into(), ..Self::default() }
    }
}

/// The containers of `numcodecs.lzma`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LzmaFormat {
    /// 0: xz or LZMA alone, whichever is found. Not for writing.
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

/// A filter of `numcodecs.lzma`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LzmaFilter {
    /// 0x4000000000000001: LZMA, the last of a chain.
    Lzma1(LzmaOptions),
    /// 0x21: LZMA2, the last of a chain.
    Lzma2(LzmaOptions),
    /// 3: differences of bytes that are 1 to 256 places apart.
    Delta {
        /// The number of places.
        dist: u32,
    },
    /// 4 to 9: the jumps of machine code.
    Jumps {
        /// Of which processor.
        processor: LzmaProcessor,
        /// Where the code begins.
        start_offset: u32,
    },
}

/// The options of LZMA; `None` is the preset's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct LzmaOptions {
    /// From 0 to 9, with 2^31 added for the slower search; `None` is 6.
    pub preset: Option<u32>,
    /// Bytes that a match may reach back.
    pub dict_size: Option<u32>,
    /// High bits of the byte before that a literal depends on, at most 4 together with `lp`.
    pub lc: Option<u32>,
    /// Low bits of the place that a literal depends on.
    pub lp: Option<u32>,
    /// Low bits of the place that all else depends on, at most 4.
    pub pb: Option<u32>,
    /// How matches are chosen: 1 is fast, 2 is normal.
    pub mode: Option<u32>,
    /// The length from which on a match is taken at once, from 2 to 273.
    pub nice_len: Option<u32>,
    /// The number of the match finder.
    pub mf: Option<u32>,
    /// How far the match finder searches; 0 lets it choose.
    pub depth: Option<u32>,
}

/// The processors whose jumps xz knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LzmaProcessor {
    /// 4.
    X86,
    /// 5: big-endian.
    PowerPc,
    /// 6.
    Ia64,
    /// 7.
    Arm,
    /// 8.
    ArmThumb,
    /// 9.
    Sparc,
}

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

const PROCESSORS: Names<LzmaProcessor> = &[
    (LzmaProcessor::X86, "4"),
    (LzmaProcessor::PowerPc, "5"),
    (LzmaProcessor::Ia64, "6"),
    (LzmaProcessor::Arm, "7"),
    (LzmaProcessor::ArmThumb, "8"),
    (LzmaProcessor::Sparc, "9"),
];

const LZMA1: &str = "4611686018427387905";
const LZMA2: &str = "33";
const DELTA: &str = "3";

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
        let json = members.begin("filters");
        for (index, filter) in self.filters.iter().enumerate() {
            json.push_str(if index == 0 { "[" } else { ", " });
            write_filter(*filter, json);
        }
        json.push(']');
    }

    fn has_fixed_size(&self) -> bool {
        false
    }
}

/// LZMA ends a chain, and nothing else does; bytes without a container need one, which LZMA alone
/// has in its head.
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
            let is_lzma =
                |filter: &LzmaFilter| matches!(filter, LzmaFilter::Lzma1(_) | LzmaFilter::Lzma2(_));
            let fits = match (format, last) {
                (LzmaFormat::Xz, last) => matches!(last, LzmaFilter::Lzma2(_)),
                (LzmaFormat::Alone, last) => {
                    matches!(last, LzmaFilter::Lzma1(_)) && others.is_empty()
                }
                (_, last) => is_lzma(last),
            };
            match fits && !others.iter().any(is_lzma) {
                true => Ok(()),
                false => unexpected(
                    "another chain".to_owned(),
                    "one that ends with LZMA2, or in raw bytes LZMA; LZMA by itself, where format \
                     is 2",
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
    let id = members.require("id", ID)?;
    let text = id.text().to_owned();
    if let Some(processor) = number(PROCESSORS, id) {
        members.check_known(&["id", "start_offset"])?;
        let start_offset =
            or(&mut members, "start_offset", 0, |raw| narrow(raw, 0, u32::MAX.into()))?;
        return Ok(LzmaFilter::Jumps { processor, start_offset });
    }
    match text.as_str() {
        DELTA => {
            members.check_known(&["id", "dist"])?;
            let dist = or(&mut members, "dist", 1, |raw| narrow(raw, 1, 256))?;
            Ok(LzmaFilter::Delta { dist })
        }
        LZMA1 => options(&mut members).map(LzmaFilter::Lzma1),
        LZMA2 => options(&mut members).map(LzmaFilter::Lzma2),
        _ => Err(id.expected(ID).in_member("id")),
    }
}

fn options(members: &mut Object<'_>) -> Result<LzmaOptions> {
    members.check_known(&[
        "id",
        "preset",
        "dict_size",
        "lc",
        "lp",
        "pb",
        "mode",
        "nice_len",
        "mf",
        "depth",
    ])?;
    let mut within =
        |key, least, most| or(members, key, None, |raw| narrow(raw, least, most).map(Some));
    let dict_size = within("dict_size", 4096, 3 << 29)?;
    let (lc, lp, pb) = (within("lc", 0, 4)?, within("lp", 0, 4)?, within("pb", 0, 4)?);
    let (mode, nice_len) = (within("mode", 1, 2)?, within("nice_len", 2, 273)?);
    let depth = within("depth", 0, u32::MAX.into())?;
    let mf = or(members, "mf", None, |raw| {
        let found = narrow(raw, 0, u32::MAX.into())?;
        match MATCH_FINDERS.contains(&found) {
            true => Ok(Some(found)),
            false => Err(raw.expected("3, 4, 18, 19 or 20")),
        }
    })?;
    let preset = or(members, "preset", None, |raw| preset(raw).map(Some))?;
    Ok(LzmaOptions { preset, dict_size, lc, lp, pb, mode, nice_len, mf, depth })
}

fn write_filter(filter: LzmaFilter, json: &mut String) {
    let mut member = |key: &str, value: &str| {
        // Writing to a `String` has no way to fail.
        let _infallible =
            write!(json, "{}\"{key}\": {value}", if key == "id" { "{" } else { ", " });
    };
    match filter {
        LzmaFilter::Delta { dist } => {
            member("id", DELTA);
            member("dist", &dist.to_string());
        }
        LzmaFilter::Jumps { processor, start_offset } => {
            let id = PROCESSORS.iter().find(|(known, _)| *known == processor);
            member("id", id.map_or("", |(_, id)| id));
            member("start_offset", &start_offset.to_string());
        }
        LzmaFilter::Lzma1(options) | LzmaFilter::Lzma2(options) => {
            member("id", if matches!(filter, LzmaFilter::Lzma1(_)) { LZMA1 } else { LZMA2 });
            for (key, value) in [
                ("preset", options.preset),
                ("dict_size", options.dict_size),
                ("lc", options.lc),
                ("lp", options.lp),
                ("pb", options.pb),
                ("mode", options.mode),
                ("nice_len", options.nice_len),
                ("mf", options.mf),
                ("depth", options.depth),
            ] {
                if let Some(value) = value {
                    member(key, &value.to_string());
                }
            }
        }
    }
    json.push('}');
}

/// The value that a table has a number for.
fn number<T: Copy>(names: Names<T>, raw: Raw<'_>) -> Option<T> {
    names.iter().find(|(_, number)| *number == raw.text()).map(|(value, _)| *value)
}
