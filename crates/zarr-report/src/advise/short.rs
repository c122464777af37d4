//! Codec chains in the short form of the command line's `--codecs`.

use zarr_metadata::{
    BloscShuffle, Bytes, Codec, DataType, Endian, PaddingEncoding, Pcodec, Shuffle, Zstd,
};

/// A chain in the form of `zarr-kit create --codecs`, for an array of this type: names in the order
/// of encoding, with their most important setting; the JSON list if a setting is unusual.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, DataType};
///
/// let chain = [Codec::packbits(0..=11), Codec::zstd(3)];
/// assert_eq!(zarr_report::advise::short(&chain, &DataType::Uint16), "packbits:12,zstd:3");
/// ```
#[must_use]
pub fn short(codecs: &[Codec], data_type: &DataType) -> String {
    let names: Option<Vec<String>> = codecs.iter().map(|codec| name(codec, data_type)).collect();
    let Some(mut names) = names else { return listed(codecs) };
    // Left out, bytes are little endian, and strings have their own codec.
    let is_implied = |name: &String| name == "bytes" || name.is_empty();
    if names.len() > 1 {
        names.retain(|name| !is_implied(name));
    }
    match names.as_slice() {
        [only] if only.is_empty() => listed(codecs),
        names => names.join(","),
    }
}

fn listed(codecs: &[Codec]) -> String {
    let list: Vec<String> = codecs.iter().map(Codec::to_json).collect();
    format!("[{}]", list.join(", "))
}

fn name(codec: &Codec, data_type: &DataType) -> Option<String> {
    let size = data_type.size().and_then(|size| u64::try_from(size).ok()).unwrap_or(1).max(1);
    let text = match codec {
        Codec::Bytes(Bytes { endian: Some(Endian::Big), .. }) => "bytes:big".to_owned(),
        Codec::Bytes(_) => "bytes".to_owned(),
        Codec::VlenUtf8 | Codec::VlenBytes => String::new(),
        Codec::Packbits(packbits) if packbits.padding_encoding == PaddingEncoding::None => {
            match (packbits.first_bit.unwrap_or(0), packbits.last_bit) {
                (0, None) => "packbits".to_owned(),
                (0, Some(last)) => format!("packbits:{}", last.saturating_add(1)),
                (first, Some(last)) => format!("packbits:{first}-{last}"),
                (_, None) => return None,
            }
        }
        Codec::NumcodecsDelta(delta) if delta.dtype == *data_type && delta.astype.is_none() => {
            "delta".to_owned()
        }
        Codec::NumcodecsPcodec(pcodec) if *pcodec == Pcodec::new(pcodec.level) => {
            format!("pcodec:{}", pcodec.level)
        }
        Codec::NumcodecsShuffle(shuffle) if *shuffle == Shuffle::new(size) => "shuffle".to_owned(),
        Codec::Zstd(zstd) if *zstd == Zstd::new(zstd.level) => format!("zstd:{}", zstd.level),
        Codec::Gzip(gzip) => format!("gzip:{}", gzip.level),
        Codec::Crc32c => "crc32c".to_owned(),
        Codec::Blosc(blosc) if blosc.blocksize == 0 && blosc.typesize == Some(size) => {
            let shuffle = match blosc.shuffle {
                BloscShuffle::Shuffle => "",
                BloscShuffle::BitShuffle => ":bitshuffle",
                BloscShuffle::NoShuffle => ":noshuffle",
            };
            let compressor = format!("{:?}", blosc.cname).to_lowercase();
            format!("blosc:{compressor}:{}{shuffle}", blosc.clevel)
        }
        _ => return None,
    };
    Some(text)
}
