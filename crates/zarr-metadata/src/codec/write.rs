//! Codecs as canonical JSON: objects, with every member that has something to say.

use std::fmt::Write;

use super::Codec;
use super::known::{
    COMPRESSORS, ENDIANS, LOCATIONS, PADDINGS, PaddingEncoding, ReshapeDim, SHUFFLES, name_of,
};
use crate::chunk_grid::write_list;

/// Appends `[codec, codec]`.
pub(crate) fn write_codecs(codecs: &[Codec], json: &mut String) {
    json.push('[');
    for (index, codec) in codecs.iter().enumerate() {
        json.push_str(if index == 0 { "" } else { ", " });
        write_codec(codec, json);
    }
    json.push(']');
}

pub(super) fn write_codec(codec: &Codec, json: &mut String) {
    if let Codec::Unknown(extension) = codec {
        json.push_str(extension.json());
        return;
    }
    let start = json.len();
    // Writing to a `String` has no way to fail.
    let _infallible = write!(json, r#"{{"name": "{}", "configuration": {{"#, codec.name());
    let empty = json.len();
    let _infallible = write_configuration(codec, json);
    if json.len() == empty {
        json.truncate(start);
        let _infallible = write!(json, r#"{{"name": "{}"}}"#, codec.name());
    } else {
        json.push_str("}}");
    }
}

fn write_configuration(codec: &Codec, json: &mut String) -> std::fmt::Result {
    match codec {
        Codec::Reshape(reshape) => {
            json.push_str("\"shape\": [");
            for (index, dim) in reshape.shape.iter().enumerate() {
                json.push_str(if index == 0 { "" } else { ", " });
                match dim {
                    ReshapeDim::Size(size) => write!(json, "{size}")?,
                    ReshapeDim::InputDims(dims) => write!(json, "{dims:?}")?,
                    ReshapeDim::Auto => json.push_str("-1"),
                }
            }
            json.push(']');
        }
        Codec::Transpose(transpose) => write!(json, "\"order\": {:?}", transpose.order)?,
        Codec::Packbits(packbits) => {
            let mut comma = "";
            if packbits.padding_encoding != PaddingEncoding::None {
                let padding = name_of(PADDINGS, &packbits.padding_encoding);
                write!(json, "\"padding_encoding\": \"{padding}\"")?;
                comma = ", ";
            }
            for (name, bit) in [("first_bit", packbits.first_bit), ("last_bit", packbits.last_bit)]
            {
                if let Some(bit) = bit {
                    write!(json, "{comma}\"{name}\": {bit}")?;
                    comma = ", ";
                }
            }
        }
        Codec::Bytes { endian } => {
            if let Some(endian) = endian {
                write!(json, "\"endian\": \"{}\"", name_of(ENDIANS, endian))?;
            }
        }
        Codec::ShardingIndexed(sharding) => {
            json.push_str("\"chunk_shape\": ");
            write_list(&sharding.chunk_shape, json);
            json.push_str(", \"codecs\": ");
            write_codecs(&sharding.codecs, json);
            json.push_str(", \"index_codecs\": ");
            write_codecs(&sharding.index_codecs, json);
            let location = name_of(LOCATIONS, &sharding.index_location);
            write!(json, ", \"index_location\": \"{location}\"")?;
        }
        Codec::Gzip { level } => write!(json, "\"level\": {level}")?,
        Codec::Zstd(zstd) => {
            write!(json, "\"level\": {}, \"checksum\": {}", zstd.level, zstd.checksum)?;
        }
        Codec::Blosc(blosc) => {
            let cname = name_of(COMPRESSORS, &blosc.cname);
            let shuffle = name_of(SHUFFLES, &blosc.shuffle);
            write!(json, "\"cname\": \"{cname}\", \"clevel\": {}, ", blosc.clevel)?;
            write!(json, "\"shuffle\": \"{shuffle}\", ")?;
            if let Some(typesize) = blosc.typesize {
                write!(json, "\"typesize\": {typesize}, ")?;
            }
            write!(json, "\"blocksize\": {}", blosc.blocksize)?;
        }
        Codec::Crc32c | Codec::NumcodecsPackbits | Codec::Unknown(_) => {}
    }
    Ok(())
}
