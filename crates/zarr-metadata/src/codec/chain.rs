//! What a chain of codecs has to obey before any chunk is looked at.

use super::known::{Packbits, ReshapeDim};
use super::{Codec, CodecKind};
use crate::data_type::DataType;
use crate::error::{At, Kind, MetadataError};
use crate::rule::Rule;

type Result<T> = std::result::Result<T, MetadataError>;

/// Array-to-array codecs, one array-to-bytes codec, bytes-to-bytes codecs (SD-31).
///
/// An unknown codec may be of any kind, unless it may be skipped: then the others must be a chain
/// without it (SD-42).
pub(super) fn check_order(codecs: &[Codec]) -> Result<()> {
    in_order(codecs).breaks(Rule::ChainOrder)
}

fn in_order(codecs: &[Codec]) -> Result<()> {
    let mut array_to_bytes: Option<&str> = None;
    let mut bytes_to_bytes: Option<&str> = None;
    // An unknown codec that may be the one that makes bytes.
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
            (None, None) if !is_skipped(codec) => perhaps = true,
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

fn is_skipped(codec: &Codec) -> bool {
    matches!(codec, Codec::Unknown(extension) if !extension.must_understand())
}

/// The chain is one for elements of this type in this many dimensions.
///
/// Sizes are not looked at: they depend on the chunk.
pub(crate) fn check_chain(codecs: &[Codec], data_type: &DataType, rank: usize) -> Result<()> {
    check_order(codecs)?;
    // Both are lost behind a codec that is not known.
    let mut data_type = Some(data_type);
    let mut rank = Some(rank);
    for (index, codec) in codecs.iter().enumerate() {
        check_codec(codec, data_type, rank).element(index)?;
        match codec {
            Codec::Reshape(reshape) => rank = Some(reshape.shape.len()),
            Codec::NumcodecsPackbits => {
                rank = Some(1);
                data_type = Some(&DataType::Uint8);
            }
            Codec::Unknown(extension) if extension.must_understand() => {
                data_type = None;
                rank = None;
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_codec(codec: &Codec, data_type: Option<&DataType>, rank: Option<usize>) -> Result<()> {
    match codec {
        Codec::Reshape(reshape) => {
            let Some(rank) = rank else { return Ok(()) };
            for (index, dim) in reshape.shape.iter().enumerate() {
                let ReshapeDim::InputDims(dims) = dim else { continue };
                if let Some(at) = dims.iter().position(|dim| *dim >= rank) {
                    let found = dims.get(at).copied().unwrap_or_default().to_string();
                    let allowed = format!("a dimension below {rank}, the rank of the input");
                    return Err(MetadataError::unexpected(found, allowed)
                        .breaks(Rule::ReshapeInputDim)
                        .in_element(at)
                        .in_element(index)
                        .in_member("shape")
                        .in_member("configuration"));
                }
            }
            Ok(())
        }
        Codec::Transpose(transpose) => match rank {
            Some(rank) if rank != transpose.order.len() => {
                let found = format!("length {}", transpose.order.len());
                let allowed = format!("length {rank}, the rank of the input");
                Err(MetadataError::unexpected(found, allowed)
                    .breaks(Rule::TransposeRank)
                    .in_member("order")
                    .in_member("configuration"))
            }
            _ => Ok(()),
        },
        Codec::Packbits(packbits) => match data_type {
            Some(data_type) => check_packbits(packbits, data_type).member("configuration"),
            None => Ok(()),
        },
        Codec::Bytes { endian } => match data_type.map(|data_type| (data_type, data_type.layout()))
        {
            Some((data_type, Some(layout))) if layout.swap_unit > 1 && endian.is_none() => {
                let allowed = format!("\"little\" or \"big\": {data_type} has several bytes");
                Err(MetadataError::new(Kind::Missing { allowed: allowed.into() })
                    .breaks(Rule::BytesEndianMissing)
                    .in_member("endian")
                    .in_member("configuration"))
            }
            _ => Ok(()),
        },
        Codec::NumcodecsPackbits => match data_type {
            Some(data_type) if *data_type != DataType::Bool => {
                let found = format!("type {data_type}");
                Err(MetadataError::unexpected(found, "type bool").breaks(Rule::NumcodecsPackbits))
            }
            _ => Ok(()),
        },
        Codec::ShardingIndexed(sharding) => {
            let inner = sharding.chunk_shape.len();
            if let Some(rank) = rank
                && rank != inner
            {
                let found = format!("length {inner}");
                let allowed = format!("length {rank}, the rank of the input");
                return Err(MetadataError::unexpected(found, allowed)
                    .breaks(Rule::ShardingRank)
                    .in_member("chunk_shape")
                    .in_member("configuration"));
            }
            if let Some(data_type) = data_type {
                check_chain(&sharding.codecs, data_type, inner)
                    .member("codecs")
                    .member("configuration")?;
            }
            // The index has the shape of the inner chunks and one dimension more, of uint64.
            let index_rank = inner.saturating_add(1);
            check_chain(&sharding.index_codecs, &DataType::Uint64, index_rank)
                .and_then(|()| check_fixed_size(&sharding.index_codecs))
                .member("index_codecs")
                .member("configuration")
        }
        _ => Ok(()),
    }
}

/// SD-15, SD-50.
fn check_packbits(packbits: &Packbits, data_type: &DataType) -> Result<()> {
    let Some(layout) = data_type.layout().filter(|_| data_type.is_packable()) else {
        let allowed = "a bool, integer, float or complex type of fixed size under packbits";
        let error = MetadataError::unexpected(format!("type {data_type}"), allowed);
        return Err(error.breaks(Rule::PackbitsDataType));
    };
    let bits = u64::from(layout.component_bits);
    for (member, bit) in [("first_bit", packbits.first_bit), ("last_bit", packbits.last_bit)] {
        if let Some(bit) = bit.filter(|bit| *bit >= bits) {
            let allowed = format!("a bit below {bits}, the bits of a component of {data_type}");
            return Err(MetadataError::unexpected(bit.to_string(), allowed)
                .breaks(Rule::PackbitsBitRange)
                .in_member(member));
        }
    }
    if let (Some(first), Some(last)) = (packbits.first_bit, packbits.last_bit)
        && last < first
    {
        let allowed = format!("at least {first}, the first bit");
        return Err(MetadataError::unexpected(last.to_string(), allowed)
            .breaks(Rule::PackbitsBitRange)
            .in_member("last_bit"));
    }
    Ok(())
}

/// The index of a shard is found by its size, which must not depend on what is in it (SD-59).
fn check_fixed_size(codecs: &[Codec]) -> Result<()> {
    for (index, codec) in codecs.iter().enumerate() {
        match codec {
            Codec::Gzip { .. } | Codec::Zstd(_) | Codec::Blosc(_) | Codec::ShardingIndexed(_) => {
                let allowed = "codecs whose output has a fixed size";
                return Err(MetadataError::unexpected(codec.name(), allowed)
                    .breaks(Rule::ShardingIndexSize)
                    .in_element(index));
            }
            _ => {}
        }
    }
    Ok(())
}
