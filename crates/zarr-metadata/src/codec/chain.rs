//! Lists of codecs: from and to JSON, and the rules that need no chunk.

use super::configuration::{Context, Input};
use super::{Codec, CodecKind, Endian, LzmaCheck, LzmaFormat};
use crate::data_type::DataType;
use crate::error::finding::Finding;
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::json::{Grammar, Object, Outline, Raw, read_elements, utf8, write_array};
use crate::limits::check_codecs;

impl Codec {
    /// Reads an array of codecs.
    ///
    /// # Errors
    /// As for [`Codec::from_json`], and if the codecs are not in a valid order (SD-31).
    pub fn list_from_json(json: &[u8]) -> Result<Vec<Self>> {
        let outline = Outline::read(utf8(json)?, Grammar::Json)?;
        let codecs = read_codecs(outline.root(), &mut Vec::new())?;
        check_order(&codecs)?;
        Ok(codecs)
    }
}

/// Reads an array of codecs; their order is not checked.
pub(crate) fn read_codecs(raw: Raw<'_>, findings: &mut Vec<Finding>) -> Result<Vec<Codec>> {
    let mut index = 0_usize;
    let codecs = read_elements(raw, "an array of codecs", |raw| {
        let codec =
            Finding::scope(findings, || format!("[{index}]"), |found| Codec::read(raw, found));
        index += 1;
        codec
    })
    .breaks(Rule::CHAIN_ORDER)?;
    check_codecs(codecs.len())?;
    Ok(codecs)
}

/// Reads the codec chain that a member of a configuration has, and checks its order.
pub(super) fn read_chain(
    members: &mut Object<'_>,
    context: &mut Context<'_>,
    key: &'static str,
) -> Result<Vec<Codec>> {
    let raw = members.require(key, "an array of codecs")?;
    Finding::member(context.findings, key, |findings| {
        let codecs = read_codecs(raw, findings)?;
        check_order(&codecs).map(|()| codecs)
    })
}

/// Appends `[codec, codec]`.
pub(crate) fn write_codecs(codecs: &[Codec], json: &mut String) {
    write_array(codecs, json, Codec::write);
}

/// The byte order of the elements from the codec `bytes`, also within shards.
pub(crate) fn element_order(codecs: &[Codec]) -> Option<Endian> {
    codecs.iter().find_map(|codec| match codec {
        Codec::Bytes(bytes) => bytes.endian,
        Codec::ShardingIndexed(sharding) => element_order(&sharding.codecs),
        Codec::ZarrsOptional(optional) => element_order(&optional.data_codecs),
        _ => None,
    })
}

/// Whether a chain stores a checksum of all bytes that it writes, or of all that it reads: its own
/// codec, or the format of a compressor, which writes one. An unknown codec may.
///
/// A shard needs one in each inner chunk and one in its index, or one around the shard.
pub(crate) fn has_checksum(codecs: &[Codec]) -> bool {
    codecs.iter().any(|codec| match codec {
        Codec::Crc32c
        | Codec::Gzip(_)
        | Codec::NumcodecsZlib(_)
        | Codec::NumcodecsGzip(_)
        | Codec::NumcodecsBz2(_)
        | Codec::NumcodecsCrc32(_)
        | Codec::NumcodecsCrc32c(_)
        | Codec::NumcodecsAdler32(_)
        | Codec::NumcodecsFletcher32
        | Codec::NumcodecsJenkinsLookup3(_)
        | Codec::Unknown(_) => true,
        Codec::Zstd(zstd) => zstd.checksum,
        Codec::NumcodecsZstd(zstd) => zstd.checksum,
        Codec::NumcodecsLzma(lzma) => {
            lzma.format == LzmaFormat::Xz && lzma.check != Some(LzmaCheck::None)
        }
        Codec::ShardingIndexed(sharding) => {
            has_checksum(&sharding.codecs) && has_checksum(&sharding.index_codecs)
        }
        Codec::ZarrsOptional(optional) => {
            has_checksum(&optional.mask_codecs) && has_checksum(&optional.data_codecs)
        }
        _ => false,
    })
}

/// Makes the elements little-endian if no byte order is given: this is the default of arrays of the
/// type "structured".
pub(crate) fn assume_little_endian(codecs: &mut [Codec], findings: &mut Vec<Finding>) {
    for (index, codec) in codecs.iter_mut().enumerate() {
        match codec {
            Codec::Bytes(bytes) if bytes.endian.is_none() => {
                bytes.endian = Some(Endian::Little);
                let allowed = "\"little\" or \"big\" as the endian of records; read as little";
                let finding = Finding::in_document(Rule::MISSING_ENDIAN, "no endian", allowed);
                findings.push(finding.under(&format!("[{index}]")));
            }
            Codec::ShardingIndexed(sharding) => Finding::scope(
                findings,
                || format!("[{index}].configuration.codecs"),
                |findings| assume_little_endian(&mut sharding.codecs, findings),
            ),
            _ => {}
        }
    }
}

/// Array-to-array codecs, one array-to-bytes codec, bytes-to-bytes codecs (SD-31).
///
/// An unknown codec may be of any kind, unless it may be skipped: then the others must be a chain
/// without it (SD-42).
pub(super) fn check_order(codecs: &[Codec]) -> Result<()> {
    in_order(codecs).breaks(Rule::CHAIN_ORDER)
}

fn in_order(codecs: &[Codec]) -> Result<()> {
    let mut array_to_bytes: Option<&str> = None;
    let mut bytes_to_bytes: Option<&str> = None;
    // Whether an unknown codec may be the array-to-bytes codec.
    let mut perhaps = false;
    for (index, codec) in codecs.iter().enumerate() {
        let before = bytes_to_bytes.or(array_to_bytes);
        let name = codec.name();
        match (codec.kind(), before) {
            (Some(CodecKind::ArrayToArray), Some(before)) => {
                let found = format!("{name} after {before}");
                let allowed = "array-to-array codecs before the array-to-bytes codec";
                return Err(MetadataError::unexpected(found, allowed).in_element(index));
            }
            (Some(CodecKind::ArrayToBytes), Some(before)) => {
                let found = format!("{name} after {before}");
                let allowed = "exactly one array-to-bytes codec, before all bytes-to-bytes codecs";
                return Err(MetadataError::unexpected(found, allowed).in_element(index));
            }
            (Some(CodecKind::ArrayToArray), None) => perhaps = false,
            (Some(CodecKind::ArrayToBytes), None) => array_to_bytes = Some(name),
            (Some(CodecKind::BytesToBytes), None) if !perhaps => {
                let found = format!("{name} before any array-to-bytes codec");
                let allowed = "an array-to-bytes codec, such as bytes or packbits, before it";
                return Err(MetadataError::unexpected(found, allowed).in_element(index));
            }
            (Some(CodecKind::BytesToBytes), _) => bytes_to_bytes = Some(name),
            (None, None) => {
                perhaps |= matches!(codec, Codec::Unknown(it) if it.must_understand());
            }
            (None, _) => {}
        }
    }
    if array_to_bytes.is_none() && !perhaps {
        let found = if codecs.is_empty() { "no codecs" } else { "no array-to-bytes codec" };
        return Err(MetadataError::unexpected(
            found,
            "exactly one array-to-bytes codec, such as bytes or packbits",
        ));
    }
    Ok(())
}

impl Codec {
    /// The data type and the dimensions of an array-to-array codec's output, as far as they are
    /// known; `None` for other codecs.
    pub(crate) fn output_of(
        &self,
        data_type: &DataType,
        rank: Option<usize>,
    ) -> Result<Option<(DataType, Option<usize>)>> {
        let Ok(configuration) = self.configuration() else { return Ok(None) };
        let input = Input { data_type: Some(data_type), rank };
        configuration.check(input)?;
        if self.kind() != Some(CodecKind::ArrayToArray) {
            return Ok(None);
        }
        let output = configuration.output(input);
        Ok(Some((output.data_type.unwrap_or(data_type).clone(), output.rank)))
    }
}

/// Checks that the chain fits elements of this type in this many dimensions.
///
/// Sizes are not checked: they depend on the chunk.
pub(crate) fn check_chain(codecs: &[Codec], data_type: &DataType, rank: usize) -> Result<()> {
    check_order(codecs)?;
    let mut input = Input { data_type: Some(data_type), rank: Some(rank) };
    for (index, codec) in codecs.iter().enumerate() {
        match codec.configuration() {
            Ok(configuration) => {
                let checked = configuration.check(input);
                let checked = match codec {
                    // They have no configuration.
                    Codec::NumcodecsPackbits | Codec::VlenUtf8 | Codec::VlenBytes => checked,
                    _ => checked.member("configuration"),
                };
                checked.element(index)?;
                input = configuration.output(input);
            }
            Err(extension) if extension.must_understand() => {
                input = Input { data_type: None, rank: None };
            }
            Err(_) => {}
        }
    }
    Ok(())
}
