//! Codec chains as arguments: the JSON list of `zarr.json`, or a short form.
//!
//! The short form is names with `,` between them, in the order of encoding, each with its most
//! important setting after `:`. `transpose,packbits:12,zstd:3` is the reverse order of the axes, 12
//! bits per value, and zstd at level 3. Omitted settings depend on the array: the order of the axes
//! on their number; the byte order and the element size of blosc and shuffle on the data type. If
//! no codec makes bytes of elements, `bytes` does, in little-endian order unless the name of the
//! data type says big-endian, or the type's own codec, as for strings.

use std::str::FromStr;

use zarr_kit::DataType;
use zarr_kit::metadata::{
    Blosc, BloscCompressor, BloscShuffle, Bytes, Codec, CodecKind, Delta, Endian, Packbits, Pcodec,
    Shuffle,
};

use crate::error::CliError;

/// The default level of zstd, gzip and blosc: for zstd the level of `create` without codecs, for
/// the others the level of their programs.
const ZSTD: i32 = 3;
const GZIP: u32 = 6;
const BLOSC: u32 = 5;
const PCODEC: u32 = 8;

/// The codecs of the short form, for messages.
const FORM: &str = "transpose, delta, bytes[:big], packbits[:BITS|:FIRST-LAST], pcodec[:LEVEL], \
    shuffle, zstd[:LEVEL], gzip[:LEVEL], blosc[:COMPRESSOR[:LEVEL[:SHUFFLE]]] and crc32c are known in \
    the short form, with commas between them; all others as the JSON list of zarr.json";

/// A codec chain that may depend on the array.
#[derive(Debug, Clone)]
pub(crate) enum Codecs {
    Listed(Vec<Codec>),
    Short(Vec<Short>),
}

/// A codec of the short form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Short {
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
}

impl Codecs {
    /// The codecs of `create` without `--codecs`.
    pub(crate) fn usual() -> Self {
        Self::Short(vec![Short::Zstd(ZSTD)])
    }

    /// Parses the value of an argument such as `--codecs`.
    pub(crate) fn parse(argument: &'static str, text: &str) -> Result<Self, CliError> {
        if text.trim_start().starts_with(['[', '{']) {
            return Codec::list_from_json(text.as_bytes())
                .map(Self::Listed)
                .map_err(|cause| CliError::Metadata { argument, cause });
        }
        let codecs = text.split(',').map(|entry| {
            entry
                .trim()
                .parse()
                .map_err(|reason: String| CliError::argument(argument, text, reason))
        });
        codecs.collect::<Result<_, _>>().map(Self::Short)
    }

    /// The chain for an array of this type and number of axes, in a byte order unless a codec of the
    /// chain names one.
    pub(crate) fn of(&self, data_type: &DataType, rank: usize, order: Endian) -> Vec<Codec> {
        let codecs = match self {
            Self::Listed(codecs) => return codecs.clone(),
            Self::Short(codecs) => codecs,
        };
        let mut chain: Vec<Codec> =
            codecs.iter().map(|codec| codec.of(data_type, rank, order)).collect();
        let is_of_kind = |codec: &Codec, kind| codec.kind() == Some(kind);
        if !chain.iter().any(|codec| is_of_kind(codec, CodecKind::ArrayToBytes)) {
            let of_arrays =
                chain.iter().take_while(|codec| is_of_kind(codec, CodecKind::ArrayToArray));
            let after = of_arrays.count();
            chain.insert(after, array_to_bytes(data_type, order));
        }
        chain
    }
}

/// The codec that makes bytes of elements if none is given.
fn array_to_bytes(data_type: &DataType, order: Endian) -> Codec {
    match Codec::array_to_bytes(data_type) {
        Codec::Bytes(Bytes { endian: Some(_), .. }) => Codec::Bytes(Bytes::new(Some(order))),
        codec => codec,
    }
}

/// The byte order in which a chain stores elements, if its array-to-bytes codec has one.
fn order_of(codecs: &[Codec]) -> Option<Endian> {
    codecs.iter().find_map(|codec| match codec {
        Codec::Bytes(bytes) => bytes.endian,
        Codec::ShardingIndexed(sharding) => order_of(&sharding.codecs),
        _ => None,
    })
}

/// Why a chain does not store elements in the byte order that was asked for. numpy writes `<`
/// before all its types, so `<` fits codecs without a byte order, such as packbits.
pub(crate) fn check_order(codecs: &[Codec], order: Option<Endian>) -> Result<(), &'static str> {
    match (order, order_of(codecs)) {
        (None, _) | (Some(Endian::Little), Some(Endian::Little) | None) => Ok(()),
        (Some(Endian::Big), Some(Endian::Big)) => Ok(()),
        (Some(Endian::Big), None) => {
            Err("big-endian, but the codecs have no byte order; leave out the >")
        }
        (Some(Endian::Big), Some(Endian::Little)) => {
            Err("big-endian, but the codecs store little-endian elements; leave out one of both")
        }
        (Some(Endian::Little), Some(Endian::Big)) => {
            Err("little-endian, but the codecs store big-endian elements; leave out one of both")
        }
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
        }
    }
}

impl FromStr for Short {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
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
            "" => Err(format!("a codec is missing; {FORM}")),
            other => Err(format!("{other:?} is not a codec of the short form; {FORM}")),
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
    use zarr_kit::DataType;

    use super::{Codecs, Endian};

    /// The names and configurations of the chain for an array of three axes.
    fn chain(text: &str, data_type: &DataType) -> Vec<String> {
        let codecs = Codecs::parse("--codecs", text).expect("codecs");
        let codecs = codecs.of(data_type, 3, Endian::Little);
        let metadata = zarr_kit::ArrayBuilder::new([2, 3, 4], data_type.clone())
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
                r#"{"configuration":{"checksum":false,"level":9},"name":"zstd"}"#,
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
                r#"{"configuration":{"checksum":false,"level":3},"name":"zstd"}"#,
            ]
        );
        assert!(chain("pcodec:4", &DataType::Float32)[0].contains(r#""level":4"#));
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
            "[",
            "zstd[3]",
        ]
        .iter()
        .map(|text| Codecs::parse("--codecs", text).expect_err(text).to_string())
        .collect();
        insta::assert_snapshot!(messages.join("\n"));
    }
}
