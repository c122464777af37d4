//! The short form of codec chains, for arguments of programs.

use std::str::FromStr;

use super::chain::{check_order, element_order};
use super::notation_shards::{entries, shard};
use super::{
    Blosc, BloscCompressor, BloscShuffle, Bytes, Codec, CodecKind, Delta, Endian, Packbits, Pcodec,
    Shuffle,
};
use crate::data_type::DataType;
use crate::error::{MetadataError, nearest, printable::Printable};
use crate::json::{Grammar, JsonType, Outline, read_elements, utf8};
use crate::limits::check_codecs;

/// The default level of zstd, gzip and blosc: for zstd the level of `create` without codecs, for
/// the others the level of their programs.
const ZSTD: i32 = 3;
const GZIP: u32 = 6;
const BLOSC: u32 = 5;
const PCODEC: u32 = 8;

/// The codecs of the short form, for messages.
const FORM: &str = "transpose, delta, bytes[:big], packbits[:BITS|:FIRST-LAST], pcodec[:LEVEL], \
    shuffle, zstd[:LEVEL], gzip[:LEVEL], blosc[:COMPRESSOR[:LEVEL[:SHUFFLE]]], crc32c and \
    shard:LENGTHxLENGTH[(CODECS)] are known in the short form, with commas between them; all others as the JSON list of zarr.json";

/// A codec chain as an argument, which may depend on the array: a short form, or the JSON list of
/// `zarr.json`, in which names may be short forms too.
///
/// The short form is names with `,` between them, in the order of encoding, each with its most
/// important setting after `:`. `transpose,packbits:12,zstd:3` is the reverse order of the axes, 12
/// bits per value, and zstd at level 3. Omitted settings depend on the array: the order of the axes
/// on their number; the byte order and the element size of blosc and shuffle on the data type. If
/// there is a short form and no codec makes bytes of elements, `bytes` does, in little-endian order
/// unless the caller asks for big-endian; or the type's own codec, as for strings.
/// `shard:64x64(bytes,zstd)` are shards of chunks of 64 by 64 with these codecs.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, CodecNotation, DataType, Endian};
///
/// let short: CodecNotation = "packbits:12, zstd:9".parse()?;
/// let chain = short.codecs(&DataType::Uint16, 2, Endian::Little);
/// assert_eq!(chain, [Codec::packbits(0..=11), Codec::zstd(9)]);
///
/// // As `bytes` needs a byte order for elements of two bytes, it gets one.
/// let list: CodecNotation = r#"["zstd", {"name": "crc32c"}]"#.parse()?;
/// let chain = list.codecs(&DataType::Uint16, 2, Endian::Little);
/// assert_eq!(chain, [Codec::bytes(), Codec::zstd(3), Codec::Crc32c]);
/// # Ok::<(), zarr_metadata::NotationError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodecNotation(Vec<Entry>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    /// As a document has it.
    Exact(Codec),
    Short(Short),
}

/// Why a text is not a chain of codecs.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotationError {
    /// The JSON list is not one of codecs.
    #[error(transparent)]
    Json(#[from] MetadataError),
    /// A short form does not exist or has another setting.
    #[error("{}", Printable(reason))]
    Short {
        /// What was found, and what is allowed.
        reason: String,
    },
}

/// The names of the short form.
const NAMES: [&str; 11] = [
    "blosc",
    "bytes",
    "crc32c",
    "delta",
    "gzip",
    "packbits",
    "pcodec",
    "shard",
    "shuffle",
    "transpose",
    "zstd",
];

/// A codec of the short form.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Short {
    /// The axes in reverse order.
    Transpose,
    /// In this byte order, or in the byte order of the data type's name.
    Bytes(Option<Endian>),
    /// The differences of neighbours.
    Delta,
    /// All bits of the data type, or the first and the last that are kept.
    Packbits(Option<(u64, u64)>),
    Pcodec(u32),
    /// The first bytes of all elements, then the second bytes, and so on.
    Shuffle,
    Zstd(i32),
    Gzip(u32),
    Blosc(BloscCompressor, u32, BloscShuffle),
    Crc32c,
    /// The lengths of inner chunks, and their codecs.
    Shard(Vec<u64>, CodecNotation),
}

impl FromStr for CodecNotation {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        if text.trim_start().starts_with(['[', '{']) {
            return Self::from_json(text.as_bytes());
        }
        let short = |entry: &str| entry.trim().parse().map(Entry::Short);
        let entries = entries(text).and_then(|found| found.into_iter().map(short).collect());
        entries.map(Self).map_err(|reason| NotationError::Short { reason })
    }
}

impl CodecNotation {
    /// The codecs of an array for which none are given: zstd after the codec of its type.
    #[must_use]
    pub fn usual() -> Self {
        Self(vec![Entry::Short(Short::Zstd(ZSTD))])
    }

    /// Reads a JSON list: of codecs as in a document, and of short forms as strings.
    ///
    /// # Errors
    /// [`NotationError`], for JSON with the path of the codec.
    pub fn from_json(json: &[u8]) -> Result<Self, NotationError> {
        let outline = Outline::read(utf8(json)?, Grammar::Json)?;
        let mut reason = None;
        let mut index = 0_usize;
        let entries = read_elements(outline.root(), "an array of codecs", |raw| {
            let name = match raw.json_type() {
                JsonType::String => raw.string("the name of a codec").ok(),
                _ => None,
            };
            let short = name.filter(|name| is_short(name)).map(|name| name.parse());
            let entry = match short {
                Some(Ok(short)) => Ok(Entry::Short(short)),
                Some(Err(wrong)) => {
                    let wrong: String = wrong;
                    reason.get_or_insert(format!("codec {index}: {wrong}"));
                    Ok(Entry::Short(Short::Crc32c))
                }
                None => Codec::read(raw, &mut Vec::new()).map(Entry::Exact),
            };
            index += 1;
            entry
        })?;
        if let Some(reason) = reason {
            return Err(NotationError::Short { reason });
        }
        check_codecs(entries.len())?;
        let exact = entries.iter().map(|entry| match entry {
            Entry::Exact(codec) => Some(codec.clone()),
            Entry::Short(_) => None,
        });
        if let Some(codecs) = exact.collect::<Option<Vec<_>>>() {
            check_order(&codecs)?;
        }
        Ok(Self(entries))
    }

    /// The chain for an array of this type and number of axes, in a byte order unless a codec of the
    /// chain names one.
    #[must_use]
    pub fn codecs(&self, data_type: &DataType, rank: usize, order: Endian) -> Vec<Codec> {
        let codec = |entry: &Entry| match entry {
            Entry::Exact(codec) => codec.clone(),
            Entry::Short(short) => short.of(data_type, rank, order),
        };
        let mut chain: Vec<Codec> = self.0.iter().map(codec).collect();
        let is_exact = self.0.iter().all(|entry| matches!(entry, Entry::Exact(_)));
        // An unknown codec may be the one that makes bytes of elements.
        let may_be_last =
            |codec: &Codec| matches!(codec.kind(), Some(CodecKind::ArrayToBytes) | None);
        if !is_exact && !chain.iter().any(may_be_last) {
            let is_of_arrays = |codec: &&Codec| codec.kind() == Some(CodecKind::ArrayToArray);
            let after = chain.iter().take_while(is_of_arrays).count();
            chain.insert(after, array_to_bytes(data_type, order));
        }
        chain
    }

    /// Whether a chain stores elements in the byte order that was asked for. numpy writes `<` before
    /// all its types, so little-endian fits codecs without a byte order, such as packbits.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check_order(codecs: &[Codec], order: Option<Endian>) -> Result<(), &'static str> {
        match (order, element_order(codecs)) {
            (None, _) | (Some(Endian::Little), Some(Endian::Little) | None) => Ok(()),
            (Some(Endian::Big), Some(Endian::Big)) => Ok(()),
            (Some(Endian::Big), None) => {
                Err("big-endian, but the codecs have no byte order; leave out the >")
            }
            (Some(Endian::Big), Some(Endian::Little)) => Err(
                "big-endian, but the codecs store little-endian elements; leave out one of both",
            ),
            (Some(Endian::Little), Some(Endian::Big)) => Err(
                "little-endian, but the codecs store big-endian elements; leave out one of both",
            ),
        }
    }
}

/// Whether a name in a list is a short form: names of documents have a colon in URIs alone.
fn is_short(name: &str) -> bool {
    let codec = name.split(':').next().unwrap_or_default();
    NAMES.contains(&codec) || (name.contains(':') && !name.contains("://"))
}

/// The codec that makes bytes of elements if none is given.
fn array_to_bytes(data_type: &DataType, order: Endian) -> Codec {
    match Codec::array_to_bytes(data_type) {
        Codec::Bytes(Bytes { endian: Some(_), .. }) => Codec::Bytes(Bytes::new(Some(order))),
        codec => codec,
    }
}

impl Short {
    fn of(&self, data_type: &DataType, rank: usize, order: Endian) -> Codec {
        let size = data_type.size().and_then(|size| u64::try_from(size).ok());
        let size = size.unwrap_or(1).max(1);
        match self {
            Self::Transpose => Codec::transpose((0..rank).rev().collect::<Vec<_>>()),
            Self::Bytes(endian) => {
                let order = endian.unwrap_or(order);
                Codec::Bytes(Bytes::new(data_type.has_byte_order().then_some(order)))
            }
            Self::Delta => Codec::NumcodecsDelta(Delta::new(data_type.clone(), None)),
            Self::Packbits(Some((first, last))) => Codec::packbits(*first..=*last),
            Self::Packbits(None) => Codec::Packbits(Packbits::default()),
            Self::Zstd(level) => Codec::zstd(*level),
            Self::Gzip(level) => Codec::gzip(*level),
            Self::Pcodec(level) => Codec::NumcodecsPcodec(Pcodec::new(*level)),
            Self::Shuffle => Codec::NumcodecsShuffle(Shuffle::new(size)),
            Self::Blosc(compressor, level, shuffle) => {
                Codec::Blosc(Blosc::new(*compressor, *level).with_shuffle(*shuffle, size))
            }
            Self::Crc32c => Codec::Crc32c,
            Self::Shard(edges, inner) => {
                Codec::sharding(edges.clone(), inner.codecs(data_type, rank, order))
            }
        }
    }
}

impl FromStr for Short {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(("shard", rest)) = text.split_once(':') {
            return shard(rest).map(|(edges, inner)| Self::Shard(edges, inner));
        }
        let mut parts = text.split(':').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let (first, second) = (parts.next(), parts.next());
        let third = parts.next();
        let unused = match name {
            "blosc" => parts.next(),
            "transpose" | "crc32c" | "delta" | "shuffle" => first,
            _ => second,
        };
        if unused.is_some() {
            // The text is not repeated: an address in the wrong place may hold a password.
            return Err(format!("{name} has fewer settings in the short form; {FORM}"));
        }
        match name {
            "transpose" => Ok(Self::Transpose),
            "crc32c" => Ok(Self::Crc32c),
            "delta" => Ok(Self::Delta),
            "shuffle" => Ok(Self::Shuffle),
            "pcodec" => level("pcodec", first, PCODEC, 0, 12).map(Self::Pcodec),
            "bytes" => match first {
                None => Ok(Self::Bytes(None)),
                Some("little") => Ok(Self::Bytes(Some(Endian::Little))),
                Some("big") => Ok(Self::Bytes(Some(Endian::Big))),
                Some(other) => Err(format!("bytes has no byte order {other:?}; little or big")),
            },
            "packbits" => Ok(Self::Packbits(first.map(bits).transpose()?)),
            "zstd" => level("zstd", first, ZSTD, -131_072, 22).map(Self::Zstd),
            "gzip" => level("gzip", first, GZIP, 0, 9).map(Self::Gzip),
            "blosc" => {
                let compressor = match first {
                    None | Some("zstd") => BloscCompressor::Zstd,
                    Some("lz4") => BloscCompressor::Lz4,
                    Some("lz4hc") => BloscCompressor::Lz4hc,
                    Some("blosclz") => BloscCompressor::Blosclz,
                    Some("zlib") => BloscCompressor::Zlib,
                    Some("snappy") => BloscCompressor::Snappy,
                    Some(other) => {
                        return Err(format!(
                            "blosc has no compressor {other:?}; blosclz, lz4, lz4hc, snappy, zlib \
                             or zstd"
                        ));
                    }
                };
                let shuffle = match third {
                    None | Some("shuffle") => BloscShuffle::Shuffle,
                    Some("noshuffle") => BloscShuffle::NoShuffle,
                    Some("bitshuffle") => BloscShuffle::BitShuffle,
                    Some(other) => {
                        return Err(format!(
                            "blosc has no shuffle {other:?}; noshuffle, shuffle or bitshuffle"
                        ));
                    }
                };
                Ok(Self::Blosc(compressor, level("blosc", second, BLOSC, 0, 9)?, shuffle))
            }
            "shard" => {
                Err("shard: the lengths of chunks are missing, such as shard:64x64".to_owned())
            }
            "" => Err(format!("a codec is missing; {FORM}")),
            other => Err(match nearest(other, &NAMES) {
                Some(near) => format!("{other:?}: did you mean {near}? {FORM}"),
                None => format!("{other:?} is not a codec of the short form; {FORM}"),
            }),
        }
    }
}

/// The bits that packbits keeps: `12` are the lowest ones, `4-15` all from the first to the last.
fn bits(text: &str) -> Result<(u64, u64), String> {
    let Some((first, last)) = text.split_once('-').filter(|(first, _)| !first.is_empty()) else {
        let count: u64 = number("packbits", "bits", text, 1, 64)
            .map_err(|refused| format!("{refused}, or the first and the last bit: 4-15"))?;
        return Ok((0, count.saturating_sub(1)));
    };
    let first = number("packbits", "first bit", first.trim(), 0, 63)?;
    Ok((first, number("packbits", "last bit", last.trim(), first, 63)?))
}

fn level<T: FromStr + Ord + std::fmt::Display>(
    codec: &str,
    text: Option<&str>,
    default: T,
    least: T,
    most: T,
) -> Result<T, String> {
    text.map_or(Ok(default), |text| number(codec, "level", text, least, most))
}

fn number<T: FromStr + Ord + std::fmt::Display>(
    codec: &str,
    what: &str,
    text: &str,
    least: T,
    most: T,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| (&least..=&most).contains(&number));
    number.ok_or_else(|| format!("{codec}: {what} {text:?}; {least} to {most} is allowed"))
}

#[cfg(test)]
mod tests {
    use super::{CodecNotation, Endian};
    use crate::{ArrayBuilder, DataType};

    /// The names and configurations of the chain for an array of three axes.
    fn chain(text: &str, data_type: &DataType) -> Vec<String> {
        let codecs = text.parse::<CodecNotation>().expect("codecs");
        let codecs = codecs.codecs(data_type, 3, Endian::Little);
        let metadata = ArrayBuilder::new([2, 3, 4], data_type.clone())
            .codecs(codecs)
            .build()
            .expect("a document");
        let document: serde_json::Value = serde_json::from_str(metadata.json()).expect("JSON");
        document["codecs"].as_array().expect("a list").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_short_form_is_completed_for_the_array() {
        assert_eq!(
            chain("transpose,packbits:12,zstd:9", &DataType::Uint16),
            [
                r#"{"configuration":{"order":[2,1,0]},"name":"transpose"}"#,
                r#"{"configuration":{"last_bit":11},"name":"packbits"}"#,
                r#"{"configuration":{"checksum":true,"level":9},"name":"zstd"}"#,
            ]
        );
        assert_eq!(
            chain("transpose, gzip, crc32c", &DataType::Float32),
            [
                r#"{"configuration":{"order":[2,1,0]},"name":"transpose"}"#,
                r#"{"configuration":{"endian":"little"},"name":"bytes"}"#,
                r#"{"configuration":{"level":6},"name":"gzip"}"#,
                r#"{"name":"crc32c"}"#,
            ]
        );
        assert_eq!(chain("bytes:big", &DataType::Uint8), [r#"{"name":"bytes"}"#]);
        assert_eq!(chain("packbits", &DataType::Bool), [r#"{"name":"packbits"}"#]);
        assert_eq!(
            chain("packbits:4-15", &DataType::Uint16),
            [r#"{"configuration":{"first_bit":4,"last_bit":15},"name":"packbits"}"#]
        );
        assert_eq!(
            chain("transpose,delta,shuffle,zstd", &DataType::Int32),
            [
                r#"{"configuration":{"order":[2,1,0]},"name":"transpose"}"#,
                r#"{"configuration":{"dtype":"<i4"},"name":"numcodecs.delta"}"#,
                r#"{"configuration":{"endian":"little"},"name":"bytes"}"#,
                r#"{"configuration":{"elementsize":4},"name":"numcodecs.shuffle"}"#,
                r#"{"configuration":{"checksum":true,"level":3},"name":"zstd"}"#,
            ]
        );
        assert!(chain("pcodec:4", &DataType::Float32)[0].contains(r#""level":4"#));
        let index = r#""index_codecs":[{"configuration":{"endian":"little"},"name":"bytes"},{"name":"crc32c"}],"index_location":"end""#;
        let shard = |shape: &str, codecs: &str| {
            let chunk = format!(r#""chunk_shape":[{shape}],"codecs":[{codecs}],{index}"#);
            format!(r#"{{"configuration":{{{chunk}}},"name":"sharding_indexed"}}"#)
        };
        let inner = r#"{"configuration":{"endian":"big"},"name":"bytes"},{"name":"crc32c"}"#;
        let found = chain("shard:1x3x2(bytes:big, crc32c)", &DataType::Uint16);
        assert_eq!(found, [shard("1,3,2", inner)]);
        let usual =
            r#"{"name":"bytes"},{"configuration":{"checksum":true,"level":3},"name":"zstd"}"#;
        assert_eq!(chain("shard:1x1x4,gzip", &DataType::Uint8)[0], shard("1,1,4", usual));
        assert_eq!(chain(r#"["shard:1x1x4"]"#, &DataType::Uint8), [shard("1,1,4", usual)]);
        let within = shard("1,1,2", r#"{"name":"bytes"}"#);
        let nested = chain("shard:1x1x4(shard:1x1x2(bytes))", &DataType::Uint8);
        assert_eq!(nested, [shard("1,1,4", &within)]);
        let blosc = chain("blosc:zstd:9:bitshuffle", &DataType::Float64);
        assert!(blosc[1].contains(r#""shuffle":"bitshuffle""#), "{blosc:?}");
        let blosc = chain("blosc:lz4", &DataType::Float64);
        assert!(blosc[1].contains(r#""typesize":8"#) && blosc[1].contains(r#""cname":"lz4""#));
    }

    #[test]
    fn json_is_as_in_the_document() {
        let json = r#"[{"name": "packbits", "configuration": {"last_bit": 3}}]"#;
        let found = chain(json, &DataType::Uint8);
        assert_eq!(found, [r#"{"configuration":{"last_bit":3},"name":"packbits"}"#]);
    }

    #[test]
    fn a_list_may_have_short_forms() {
        let bytes = r#"{"configuration":{"endian":"little"},"name":"bytes"}"#;
        let zstd = r#"{"configuration":{"checksum":true,"level":3},"name":"zstd"}"#;
        assert_eq!(chain(r#"["bytes", "zstd"]"#, &DataType::Uint16), [bytes, zstd]);
        assert_eq!(chain(r#"["zstd:3"]"#, &DataType::Uint16), [bytes, zstd]);
        assert_eq!(chain(r#"[{"name": "bytes"}, "zstd"]"#, &DataType::Uint8)[1], zstd);
        assert_eq!(chain(r#"["zstd"]"#, &DataType::String)[0], r#"{"name":"vlen-utf8"}"#);
        assert_eq!(chain(r#"["vlen-utf8", "zstd"]"#, &DataType::String)[1], zstd);
        let mixed = r#"["transpose", {"name": "packbits", "configuration": {"last_bit": 3}}]"#;
        assert_eq!(chain(mixed, &DataType::Uint8).len(), 2);
    }

    #[test]
    fn mistakes_are_named() {
        let messages: Vec<String> = [
            "",
            "zip",
            "zstd:99",
            "zstd:3:4",
            "packbits:0",
            "packbits:x",
            "packbits:-3",
            "packbits:12-4",
            "packbits:4-64",
            "packbits:4-",
            "delta:1",
            "pcodec:13",
            "blosc:lz4:5:shuffel",
            "bytes:middle",
            "blosc:lz5",
            "transpose:1",
            "zstd,,gzip",
            "shard",
            "shard:4x0",
            "shard:4x4(zip)",
            "shard:4(bytes",
            "shard:4)",
            "shard:4(bytes)zstd",
            "shard:4(shard:4(shard:4(shard:4(shard:4(bytes)))))",
            r#"["shard:"]"#,
            "[",
            "zstd[3]",
            r#"["bytes", "zstd:99"]"#,
            r#"[{"name": "zstd", "configuration": {"level": 99}}]"#,
            r#"[{"name": "crc32c"}]"#,
            r#"["bytes", 3]"#,
        ]
        .iter()
        .map(|text| format!("{text:?}: {}", text.parse::<CodecNotation>().expect_err(text)))
        .collect();
        insta::assert_snapshot!(messages.join("\n"));
    }
}
