//! The codecs of a chain for elements of variable length, which the chain and the codecs of its
//! chunk shapes share.

use std::sync::Arc;

use super::optional::Optional;
use super::shard::Shard;
use crate::array_to_array::ArrayToArray;
use crate::bytes_to_bytes::BytesToBytes;
use crate::codec_path::CodecPath;
use crate::options::Options;

/// The codecs of a chain, bound to a data type.
#[derive(Debug)]
pub(super) struct Bound {
    /// Whether elements are UTF-8.
    pub(super) text: bool,
    /// The element of inner chunks that are not stored.
    pub(super) zero: &'static [u8],
    pub(super) array_to_array: Vec<(ArrayToArray, CodecPath)>,
    pub(super) array_to_bytes: ArrayToBytes,
    pub(super) array_to_bytes_path: CodecPath,
    pub(super) bytes_to_bytes: Vec<(Box<dyn BytesToBytes>, CodecPath)>,
    pub(super) options: Options,
    /// A codec that was skipped, which the document allows for reading only (SD-42), or that cannot
    /// write.
    pub(super) read_only: Option<CodecPath>,
    /// The chain itself, for errors that do not belong to a single codec.
    pub(super) whole: CodecPath,
}

/// The array-to-bytes codec.
#[derive(Debug)]
pub(super) enum ArrayToBytes {
    /// `vlen-utf8` or `vlen-bytes`, which differ only in the type.
    Vlen,
    /// `numcodecs.json2`, which is only read.
    Json,
    Shard(Box<Shard>),
    Optional(Arc<Optional>),
}
