//! Codecs from JSON.

use super::Codec;
use super::chain::check_order;
use super::known::{
    Blosc, BloscCompressor, BloscShuffle, COMPRESSORS, ENDIANS, IndexLocation, LOCATIONS, Names,
    PADDINGS, Packbits, PaddingEncoding, Reshape, ReshapeDim, SHUFFLES, Sharding, Transpose, Zstd,
};
use crate::error::{At, MetadataError};
use crate::extension::RawExtension;
use crate::finding::Finding;
use crate::json::{JsonType, Object, Raw, read_elements};
use crate::limits::{check_codecs, check_rank};
use crate::rule::Rule;

type Result<T> = std::result::Result<T, MetadataError>;

/// Reads an array of codecs; their order is not checked.
pub(crate) fn read_codecs(raw: Raw<'_>, findings: &mut Vec<Finding>) -> Result<Vec<Codec>> {
    let mut index = 0_usize;
    let codecs = read_elements(raw, "an array of codecs", |raw| {
        let codec =
            Finding::scope(findings, || format!("[{index}]"), |found| read_codec(raw, found));
        index = index.saturating_add(1);
        codec
    })
    .breaks(Rule::ChainOrder)?;
    check_codecs(codecs.len())?;
    Ok(codecs)
}

pub(super) fn read_codec(raw: Raw<'_>, findings: &mut Vec<Finding>) -> Result<Codec> {
    let extension = RawExtension::read(raw)?;
    let Some(read) = reader_of(&extension.name) else {
        return Ok(Codec::Unknown(extension.keep()));
    };
    extension.only_known_members()?;
    let mut members = extension.members()?;
    if extension.name == "packbits" {
        early_spelling(&mut members).member("configuration")?;
    }
    members.check_known(known_members(&extension.name)).member("configuration")?;
    let mut missing = Vec::new();
    let codec = Finding::scope(
        findings,
        || ".configuration".to_owned(),
        |findings| read(&mut members, &mut Context { missing: &mut missing, findings }),
    )
    .member("configuration")?;
    if extension.bare {
        findings.push(Finding::new(
            "bare-string-codec",
            extension.describe(),
            "an object with a name, which every reader takes",
        ));
    }
    findings.extend(missing.into_iter().map(|member| {
        Finding::new("missing-codec-member", format!("{} without \"{member}\"", codec.name()), {
            "every member of the configuration, also those that only matter for encoding"
        })
        .under(".configuration")
    }));
    Ok(codec)
}

/// What a codec's reader reports beside the codec.
struct Context<'c> {
    /// Members that do not affect decoding, and are not there (SD-61).
    missing: &'c mut Vec<&'static str>,
    findings: &'c mut Vec<Finding>,
}

type ReadConfiguration = fn(&mut Object<'_>, &mut Context<'_>) -> Result<Codec>;

fn reader_of(name: &str) -> Option<ReadConfiguration> {
    Some(match name {
        "reshape" => read_reshape,
        "transpose" => read_transpose,
        "packbits" => read_packbits,
        "bytes" => read_bytes,
        "sharding_indexed" => read_sharding,
        "gzip" => |members, context| read_gzip(members, context).breaks(Rule::GzipConfiguration),
        "zstd" => |members, context| read_zstd(members, context).breaks(Rule::ZstdConfiguration),
        "blosc" => |members, context| read_blosc(members, context).breaks(Rule::BloscConfiguration),
        "crc32c" => |_, _| Ok(Codec::Crc32c),
        "numcodecs.packbits" => |_, _| Ok(Codec::NumcodecsPackbits),
        _ => return None,
    })
}

fn known_members(name: &str) -> &'static [&'static str] {
    match name {
        "reshape" => &["shape"],
        "transpose" => &["order"],
        "packbits" => &["padding_encoding", "first_bit", "last_bit"],
        "bytes" => &["endian"],
        "sharding_indexed" => &["chunk_shape", "codecs", "index_codecs", "index_location"],
        "gzip" => &["level"],
        "zstd" => &["level", "checksum"],
        "blosc" => &["cname", "clevel", "shuffle", "typesize", "blocksize"],
        _ => &[],
    }
}

/// A string out of a table of names.
fn named<T: Copy>(names: Names<T>, raw: Raw<'_>) -> Result<T> {
    let text = raw.string(one_of(names))?;
    names
        .iter()
        .find(|(_, name)| *name == text)
        .map(|(value, _)| *value)
        .ok_or_else(|| raw.expected(one_of(names)))
}

fn one_of<T>(names: Names<T>) -> String {
    let quoted: Vec<_> = names.iter().map(|(_, name)| format!("\"{name}\"")).collect();
    quoted.join(" or ")
}

/// A member that does not affect decoding: reported where it is missing.
fn or_default<T>(
    members: &mut Object<'_>,
    context: &mut Context<'_>,
    key: &'static str,
    default: T,
    read: impl FnOnce(Raw<'_>) -> Result<T>,
) -> Result<T> {
    match members.take(key) {
        Some(raw) => read(raw).member(key),
        None => {
            context.missing.push(key);
            Ok(default)
        }
    }
}

fn from_0_to_9(raw: Raw<'_>) -> Result<u32> {
    raw.natural()
        .and_then(|n| u32::try_from(n).ok())
        .filter(|level| *level <= 9)
        .ok_or_else(|| raw.expected("an integer from 0 to 9"))
}

fn read_reshape(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Codec> {
    const ALLOWED: &str = "an array with the size of each output dimension";
    let raw = members.require("shape", ALLOWED)?;
    let mut has_auto = false;
    // The greatest input dimension mentioned so far, over the flattened list (SD-21).
    let mut last: Option<usize> = None;
    let shape = read_elements(raw, ALLOWED, |raw| {
        let dim = read_reshape_dim(raw, &mut last)?;
        if dim == ReshapeDim::Auto {
            if has_auto {
                let error = MetadataError::unexpected("a second -1", "-1 at most once");
                return Err(error.breaks(Rule::ReshapeAuto));
            }
            has_auto = true;
        }
        Ok(dim)
    })
    .breaks(Rule::ReshapeShape)
    .member("shape")?;
    check_rank(shape.len()).member("shape")?;
    Ok(Codec::Reshape(Reshape { shape }))
}

fn read_reshape_dim(raw: Raw<'_>, last: &mut Option<usize>) -> Result<ReshapeDim> {
    const ALLOWED: &str = "a size of at least 1, an array of input dimensions or -1";
    match raw.json_type() {
        JsonType::Number => match raw.natural() {
            Some(size) if size > 0 => Ok(ReshapeDim::Size(size)),
            None if raw.text() == "-1" => Ok(ReshapeDim::Auto),
            _ => Err(raw.expected_natural(ALLOWED)),
        },
        JsonType::Array => {
            let dims = read_elements(raw, ALLOWED, |raw| {
                let dim = dimension(raw).breaks(Rule::ReshapeInputDim)?;
                if let Some(last) = last.filter(|last| dim <= *last) {
                    let allowed = format!(
                        "an input dimension after {last}: they increase over the whole shape"
                    );
                    return Err(raw.expected(allowed).breaks(Rule::ReshapeIncreasing));
                }
                *last = Some(dim);
                Ok(dim)
            })?;
            Ok(ReshapeDim::InputDims(dims))
        }
        _ => Err(raw.expected(ALLOWED)),
    }
}

fn dimension(raw: Raw<'_>) -> Result<usize> {
    raw.natural()
        .and_then(|n| usize::try_from(n).ok())
        .ok_or_else(|| raw.expected("a dimension, counted from 0"))
}

fn read_transpose(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Codec> {
    const ALLOWED: &str = "a permutation of the dimensions such as [1, 0]";
    let raw = members.require("order", ALLOWED)?;
    let allowed = match raw.text() {
        r#""C""# => "a permutation: \"C\" is [0, 1, ...], the order that needs no transpose",
        r#""F""# => "a permutation: \"F\" is the dimensions reversed, [1, 0] for two of them",
        _ => ALLOWED,
    };
    let order =
        read_elements(raw, allowed, dimension).breaks(Rule::TransposeOrder).member("order")?;
    check_rank(order.len()).member("order")?;
    let mut seen = vec![false; order.len()];
    for (index, &dim) in order.iter().enumerate() {
        let error = |allowed: String| {
            let error = MetadataError::unexpected(dim.to_string(), allowed);
            let error = error.breaks(Rule::TransposePermutation);
            Err(error.in_element(index).in_member("order"))
        };
        match seen.get_mut(dim) {
            Some(seen) if !*seen => *seen = true,
            Some(_) => return error("each dimension once".to_owned()),
            None => return error(format!("a dimension below {}", order.len())),
        }
    }
    Ok(Codec::Transpose(Transpose { order }))
}

/// The members of `packbits` as a published schema has them (SD-12).
fn early_spelling(members: &mut Object<'_>) -> Result<()> {
    for (theirs, ours) in [
        ("start_byte", "\"padding_encoding\": \"first_byte\""),
        ("end_byte", "\"padding_encoding\": \"last_byte\""),
        ("start_bit", "\"first_bit\""),
        ("end_bit", "\"last_bit\""),
    ] {
        if members.take(theirs).is_some() {
            let found = format!("\"{theirs}\", the spelling of an early schema");
            return Err(MetadataError::unexpected(found, ours)
                .breaks(Rule::PackbitsSpelling)
                .in_member(theirs));
        }
    }
    Ok(())
}

fn read_packbits(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Codec> {
    let padding = members.take("padding_encoding").map(|raw| {
        let allowed = match raw.text() {
            r#""start_byte""# => "\"first_byte\", which \"start_byte\" is in an early schema",
            r#""end_byte""# => "\"last_byte\", which \"end_byte\" is in an early schema",
            _ => return named(PADDINGS, raw),
        };
        Err(raw.expected(allowed))
    });
    let padding =
        padding.transpose().breaks(Rule::PackbitsPaddingEncoding).member("padding_encoding")?;
    let bit =
        |raw: Raw<'_>| raw.natural().ok_or_else(|| raw.expected("a bit, counted from 0, or null"));
    let first_bit = members.optional("first_bit", bit).breaks(Rule::PackbitsBit)?;
    let last_bit = members.optional("last_bit", bit).breaks(Rule::PackbitsBit)?;
    if let (Some(first), Some(last)) = (first_bit, last_bit)
        && last < first
    {
        let allowed = format!("at least {first}, the first bit");
        return Err(MetadataError::unexpected(last.to_string(), allowed)
            .breaks(Rule::PackbitsBitRange)
            .in_member("last_bit"));
    }
    let padding_encoding = padding.unwrap_or(PaddingEncoding::None);
    Ok(Codec::Packbits(Packbits { padding_encoding, first_bit, last_bit }))
}

fn read_bytes(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Codec> {
    let endian = members.take("endian").map(|raw| named(ENDIANS, raw).member("endian"));
    Ok(Codec::Bytes { endian: endian.transpose().breaks(Rule::BytesEndian)? })
}

fn read_sharding(members: &mut Object<'_>, context: &mut Context<'_>) -> Result<Codec> {
    const LENGTHS: &str = "an array of chunk lengths";
    let raw = members.require("chunk_shape", LENGTHS)?;
    let chunk_shape = read_elements(raw, LENGTHS, |raw| raw.at_least(1))
        .breaks(Rule::ShardingChunkShape)
        .member("chunk_shape")?;
    check_rank(chunk_shape.len()).member("chunk_shape")?;
    let mut chain = |key: &'static str| -> Result<Vec<Codec>> {
        let raw = members.require(key, "an array of codecs")?;
        Finding::scope(
            context.findings,
            || format!(".{key}"),
            |findings| {
                let codecs = read_codecs(raw, findings)?;
                check_order(&codecs).map(|()| codecs)
            },
        )
        .member(key)
    };
    let codecs = chain("codecs")?;
    let index_codecs = chain("index_codecs")?;
    let index_location = members
        .take("index_location")
        .map(|raw| named(LOCATIONS, raw).member("index_location"))
        .transpose()
        .breaks(Rule::ShardingIndexLocation)?
        .unwrap_or(IndexLocation::End);
    Ok(Codec::ShardingIndexed(Box::new(Sharding {
        chunk_shape,
        codecs,
        index_codecs,
        index_location,
    })))
}

/// The level of the `gzip` program, written where a document leaves the level out.
const GZIP_LEVEL: u32 = 6;

fn read_gzip(members: &mut Object<'_>, context: &mut Context<'_>) -> Result<Codec> {
    let level = or_default(members, context, "level", GZIP_LEVEL, from_0_to_9)?;
    Ok(Codec::Gzip { level })
}

fn read_zstd(members: &mut Object<'_>, context: &mut Context<'_>) -> Result<Codec> {
    let Zstd { level, checksum } = Zstd::default();
    let level = or_default(members, context, "level", level, |raw| {
        raw.integer()
            .and_then(|n| i32::try_from(n).ok())
            .filter(|level| (-131_072..=22).contains(level))
            .ok_or_else(|| raw.expected("an integer from -131072 to 22"))
    })?;
    let checksum = or_default(members, context, "checksum", checksum, |raw| raw.bool())?;
    Ok(Codec::Zstd(Zstd { level, checksum }))
}

fn read_blosc(members: &mut Object<'_>, context: &mut Context<'_>) -> Result<Codec> {
    let cname = or_default(members, context, "cname", BloscCompressor::Zstd, |raw| {
        named(COMPRESSORS, raw)
    })?;
    let clevel = or_default(members, context, "clevel", 5, from_0_to_9)?;
    let typesize = members.optional("typesize", |raw| raw.at_least(1))?;
    let shuffle = or_default(members, context, "shuffle", BloscShuffle::NoShuffle, |raw| {
        named(SHUFFLES, raw)
    })?;
    if typesize.is_none() && shuffle != BloscShuffle::NoShuffle {
        context.missing.push("typesize");
    }
    let blocksize = or_default(members, context, "blocksize", 0, |raw| raw.at_least(0))?;
    Ok(Codec::Blosc(Blosc { cname, clevel, shuffle, typesize, blocksize }))
}
