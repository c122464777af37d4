//! Who writes version 2 how: the habits of programs, and the members that version 2 fills in.
//!
//! numcodecs and NumPy define what a document means. Some programs write other spellings of the same
//! thing, and one writes another thing. All of these are listed here, and nowhere else: each is read as
//! its writer reads it, and is a finding.

use std::borrow::Cow;

use crate::data_type::DataType;
use crate::error::finding::Finding;
use crate::error::rule::Rule;
use crate::json::{JsonType, Raw, members};

/// The members of a codec that version 2 fills in where version 3 has another default: codec, member,
/// the value of numcodecs.
///
/// In version 3, `numcodecs.shuffle` takes the size of its elements.
const DEFAULTS: &[(&str, &str, &str)] = &[("shuffle", "elementsize", "4")];

/// The members that only encoding uses, with their limits here. numcodecs clamps them, or passes them to
/// a library that does.
const FOR_ENCODING: &[(&str, &str, i64, i64)] = &[
    ("blosc", "clevel", 0, 9),
    ("bz2", "level", 1, 9),
    ("gzip", "level", -1, 9),
    ("lz4", "acceleration", -2_147_483_648, 2_147_483_647),
    ("pcodec", "level", 0, 12),
    ("zlib", "level", -1, 9),
    ("zstd", "level", -131_072, 22),
];

/// The codecs of imagecodecs that store what a codec of numcodecs does, by their ids. Their other members
/// only matter for encoding.
const OF_IMAGECODECS: &[(&str, &str)] = &[
    ("imagecodecs_blosc", "blosc"),
    ("imagecodecs_bz2", "bz2"),
    ("imagecodecs_deflate", "zlib"),
    ("imagecodecs_gzip", "gzip"),
    ("imagecodecs_lz4", "lz4"),
    ("imagecodecs_lzma", "lzma"),
    ("imagecodecs_zlib", "zlib"),
    ("imagecodecs_zstd", "zstd"),
];

/// The members of codecs that are not numbers: a number in quotes is text in these.
const TEXTS: &[&str] = &[
    "astype",
    "cname",
    "decode_dtype",
    "delta_spec",
    "dtype",
    "encode_dtype",
    "id",
    "location",
    "mode_spec",
    "paging_spec",
];

/// The data types that TensorStore writes by their names, without a byte order. They are little-endian.
const OF_TENSORSTORE: [&str; 11] = [
    "bfloat16",
    "float4_e2m1fn",
    "float8_e3m4",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "int2",
    "int4",
];

/// The member that the NetCDF C library adds to a document or, now, to its attributes.
pub(super) const NETCDF: [&str; 2] = ["_nczarr_array", "_NCZARR_ARRAY"];

/// What is known of the writer of a document, and what was found of its habits.
pub(super) struct Writers {
    /// Whether the NetCDF C library wrote it.
    is_netcdf: bool,
    findings: Vec<Finding>,
}

/// A codec as its writer means it.
pub(super) struct Amended<'a> {
    pub(super) id: Cow<'a, str>,
    /// Names and JSON texts.
    pub(super) members: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl Writers {
    /// The writer of a document, of which these are the JSON of the attributes. `is_marked` says that the
    /// document itself has [`NETCDF`].
    pub(super) fn of(is_marked: bool, attributes: Option<&str>) -> Self {
        let mut all = attributes.and_then(|json| members(json).ok()).into_iter().flatten();
        let is_netcdf = is_marked || all.any(|(key, _)| NETCDF.iter().any(|mark| key.is(mark)));
        Self { is_netcdf, findings: Vec::new() }
    }

    /// What was found, with paths in the document of version 2.
    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    fn found(&mut self, path: &str, found: &str, as_what: &str, writer: &str) {
        let message = format!("found {found}, as {writer} writes it; it is read as {as_what}");
        self.findings.push(Finding::new(Rule::OTHER_WRITER, message).with_path(path));
    }

    /// The data type with a name that TensorStore has for it.
    pub(super) fn data_type(&mut self, name: &str) -> Option<DataType> {
        if !OF_TENSORSTORE.contains(&name) {
            return None;
        }
        let data_type = DataType::from_name(name).ok()?;
        self.found("$.dtype", &format!("{name:?}"), "little-endian elements", "TensorStore");
        Some(data_type)
    }

    /// The fill value without quotes around its number.
    pub(super) fn fill_value<'a>(&mut self, raw: Raw<'a>) -> Cow<'a, str> {
        match unquoted(raw) {
            Some(number) => {
                let writer = "old OME-Zarr and n5-zarr";
                self.found("$.fill_value", raw.text(), &number, writer);
                Cow::Owned(number)
            }
            None => Cow::Borrowed(raw.text()),
        }
    }

    /// The codec of numcodecs that stores the same as one of imagecodecs, with its level.
    pub(super) fn of_imagecodecs<'a>(
        &mut self,
        path: &str,
        id: Cow<'a, str>,
        mut given: Vec<(Cow<'a, str>, Raw<'a>)>,
    ) -> (Cow<'a, str>, Vec<(Cow<'a, str>, Raw<'a>)>) {
        let is = |name: &str, text: &str| {
            given.iter().any(|(member, raw)| member == name && raw.text() == text)
        };
        let row = OF_IMAGECODECS.iter().find(|(theirs, _)| *theirs == id);
        // The bytes of others have no header, or another form.
        let is_other = is("raw", "true") || (id == "imagecodecs_lz4" && !is("header", "true"));
        let Some((_, known)) = row.filter(|_| !is_other) else { return (id, given) };
        self.found(
            &format!("{path}.id"),
            &format!("{id:?}"),
            &format!("the codec {known}"),
            "tifffile",
        );
        let has_level = FOR_ENCODING.iter().any(|row| (row.0, row.1) == (*known, "level"));
        let is_level = |text: &str| has_level && text.parse::<i64>().is_ok();
        given.retain(|(member, raw)| member == "level" && is_level(raw.text()));
        (Cow::Borrowed(known), given)
    }

    /// A codec with these members as its writer means it. `path` is its place in the document, and
    /// `element_size` the bytes of an element before it.
    pub(super) fn codec<'a>(
        &mut self,
        path: &str,
        id: Cow<'a, str>,
        given: Vec<(Cow<'a, str>, Raw<'a>)>,
        element_size: u64,
    ) -> Amended<'a> {
        let mut amended = Amended { id, members: Vec::new() };
        for (name, raw) in given {
            let place = format!("{path}.{name}");
            let mut text = Cow::Borrowed(raw.text());
            if !TEXTS.contains(&name.as_ref())
                && let Some(number) = unquoted(raw)
            {
                self.found(&place, raw.text(), &number, "the NetCDF C library up to 4.9.3");
                text = Cow::Owned(number);
            }
            let limits = FOR_ENCODING.iter().find(|row| (row.0, row.1) == (&*amended.id, &*name));
            if let (Some((.., least, most)), Ok(number)) = (limits, text.parse::<i64>())
                && !(*least..=*most).contains(&number)
            {
                let kept = number.clamp(*least, *most).to_string();
                let as_what = format!("{kept}: only encoding uses it");
                self.found(&place, &text, &as_what, "numcodecs");
                text = Cow::Owned(kept);
            }
            match (&*amended.id, &*name, &*text) {
                ("shuffle", "elementsize", "0") if self.is_netcdf => {
                    let size = element_size.to_string();
                    let as_what = format!("{size}, the size of an element");
                    self.found(&place, "0", &as_what, "the NetCDF C library 4.10");
                    text = Cow::Owned(size);
                }
                ("blosc", "nthreads", _) => {
                    self.found(&place, &text, "nothing", "n5-zarr");
                    continue;
                }
                ("blosc", "typesize", "0") => {
                    self.found(&place, "0", "no size", "n5-zarr");
                    continue;
                }
                ("gzip", "useZlib", "true" | "false") => {
                    let is_zlib = text == "true";
                    let as_what = if is_zlib { "the codec zlib" } else { "nothing" };
                    self.found(&place, &text, as_what, "n5-zarr");
                    if is_zlib {
                        amended.id = Cow::Borrowed("zlib");
                    }
                    continue;
                }
                _ => {}
            }
            amended.members.push((name, text));
        }
        for (id, member, value) in DEFAULTS {
            if *id == amended.id && !amended.members.iter().any(|(name, _)| name == member) {
                amended.members.push((Cow::Borrowed(member), Cow::Borrowed(value)));
            }
        }
        amended
    }
}

/// The number in a JSON string that has nothing else.
pub(super) fn unquoted(raw: Raw<'_>) -> Option<String> {
    if raw.json_type() != JsonType::String {
        return None;
    }
    let text = raw.string("").ok()?;
    let begins = text.strip_prefix('-').unwrap_or(&text);
    let is_number = begins.starts_with(|c: char| c.is_ascii_digit())
        && serde_json::from_str::<serde_json::Number>(&text).is_ok();
    is_number.then(|| text.into_owned())
}
