//! Codecs: the configurations that are known, typed.

mod chain;
mod construct;
mod known;
mod read;
mod write;

pub use known::{
    Blosc, BloscCompressor, BloscShuffle, Endian, IndexLocation, Packbits, PaddingEncoding,
    Reshape, ReshapeDim, Sharding, Transpose, Zstd,
};

pub(crate) use chain::check_chain;
pub(crate) use read::read_codecs;
pub(crate) use write::write_codecs;

use crate::error::MetadataError;
use crate::extension::Extension;
use crate::json::{Grammar, Raw, utf8};

/// One codec of a chain, its configuration typed.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, CodecKind, Transpose};
///
/// let chain = Codec::list_from_json(
///     br#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "packbits"}]"#,
/// )?;
/// assert_eq!(chain[0], Codec::Transpose(Transpose { order: vec![1, 0] }));
/// assert_eq!(chain[1].kind(), Some(CodecKind::ArrayToBytes));
/// assert_eq!(chain[1].to_json(), r#"{"name": "packbits"}"#);
///
/// // What is not known is kept as it was written.
/// let unknown = Codec::from_json(br#"{"name": "example.rle", "configuration": {"n": 1.0}}"#)?;
/// let Codec::Unknown(extension) = unknown else { panic!("it is not known") };
/// assert_eq!(extension.configuration(), Some(r#"{"n": 1.0}"#));
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
///
/// # Spec
/// Zarr v3 core 3.1, "Codecs"; the document of each codec.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Codec {
    /// `reshape`: other dimensions, the elements in the same order.
    Reshape(Reshape),
    /// `transpose`: the dimensions in another order.
    Transpose(Transpose),
    /// `packbits`: some bits of each element, without gaps.
    Packbits(Packbits),
    /// `bytes`: the elements in a byte order.
    Bytes {
        /// `None` is right for types of one byte only (SD-53).
        endian: Option<Endian>,
    },
    /// `sharding_indexed`: a chunk made of smaller ones.
    ShardingIndexed(Box<Sharding>),
    /// `gzip`.
    Gzip {
        /// From 0 to 9.
        level: u32,
    },
    /// `zstd`.
    Zstd(Zstd),
    /// `blosc`.
    Blosc(Blosc),
    /// `crc32c`: a checksum after the bytes.
    Crc32c,
    /// `numcodecs.packbits`: bool elements as bits, most significant first (SD-11).
    NumcodecsPackbits,
    /// A codec that this crate does not know, kept as it was written.
    Unknown(Extension),
}

/// What a codec takes and what it gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodecKind {
    /// Takes an array, gives an array.
    ArrayToArray,
    /// Takes an array, gives bytes.
    ArrayToBytes,
    /// Takes bytes, gives bytes.
    BytesToBytes,
}

impl Codec {
    /// Reads one codec.
    ///
    /// # Errors
    /// Where the configuration of a known codec is wrong.
    pub fn from_json(json: &[u8]) -> Result<Self, MetadataError> {
        read::read_codec(Raw::parse(utf8(json)?, Grammar::Json)?, &mut Vec::new())
    }

    /// Reads an array of codecs.
    ///
    /// # Errors
    /// As for [`Codec::from_json`], and where the codecs are in no valid order (SD-31).
    pub fn list_from_json(json: &[u8]) -> Result<Vec<Self>, MetadataError> {
        let codecs = read_codecs(Raw::parse(utf8(json)?, Grammar::Json)?, &mut Vec::new())?;
        chain::check_order(&codecs)?;
        Ok(codecs)
    }

    /// The name that documents give the codec.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Codec::Reshape(_) => "reshape",
            Codec::Transpose(_) => "transpose",
            Codec::Packbits(_) => "packbits",
            Codec::Bytes { .. } => "bytes",
            Codec::ShardingIndexed(_) => "sharding_indexed",
            Codec::Gzip { .. } => "gzip",
            Codec::Zstd(_) => "zstd",
            Codec::Blosc(_) => "blosc",
            Codec::Crc32c => "crc32c",
            Codec::NumcodecsPackbits => "numcodecs.packbits",
            Codec::Unknown(extension) => extension.name(),
        }
    }

    /// What the codec takes and gives; `None` where it is not known.
    #[must_use]
    pub fn kind(&self) -> Option<CodecKind> {
        match self {
            Codec::Reshape(_) | Codec::Transpose(_) | Codec::NumcodecsPackbits => {
                Some(CodecKind::ArrayToArray)
            }
            Codec::Packbits(_) | Codec::Bytes { .. } | Codec::ShardingIndexed(_) => {
                Some(CodecKind::ArrayToBytes)
            }
            Codec::Gzip { .. } | Codec::Zstd(_) | Codec::Blosc(_) | Codec::Crc32c => {
                Some(CodecKind::BytesToBytes)
            }
            Codec::Unknown(_) => None,
        }
    }

    /// The JSON text in canonical form: an object, its configuration complete but for members
    /// whose absence says the same. An unknown codec stays as it was written.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        write::write_codec(self, &mut json);
        json
    }
}
