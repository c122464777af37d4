//! A chain of codecs for elements of variable length.

use std::sync::Arc;

use zarr_metadata::{Codec, CodecKind, DataType};

use super::VariableChunkCodec;
use super::bound::{ArrayToBytes, Bound, VariableElement};
use super::optional::Optional;
use super::shard::Shard;
use crate::array_to_array::ArrayToArray;
use crate::bytes_to_bytes;
use crate::codec_path::CodecPath;
use crate::element::ElementType;
use crate::error::{ChainError, ChainErrorKind};
use crate::options::Options;
use crate::symbolic::{AxisEdges, Shape};
use crate::third_party::is_skipped;

/// A codec chain for `string`, `bytes` or `zarrs.optional` that fits every chunk shape of its grid.
/// [`Chain`](crate::Chain) is the equivalent for elements of fixed size.
///
/// The chain consists of `transpose` and `reshape`, then `vlen-utf8`, `vlen-bytes`,
/// `zarrs.optional`, `numcodecs.json2` (only read) or `sharding_indexed`, then bytes-to-bytes codecs.
///
/// An element of `zarrs.optional` is the byte 0 if it is missing, else its value and the byte 1.
///
/// # Examples
/// ```
/// use zarr_codec::{AxisEdges, VariableChain};
/// use zarr_metadata::{Codec, DataType};
///
/// let chain = VariableChain::bind(&[Codec::VlenUtf8], &DataType::String, &[AxisEdges::one(2)])?;
/// let codec = chain.for_shape(&[2])?;
/// let mut encoded = Vec::new();
/// codec.encode(&[&b"hi"[..], b""], b"", &mut encoded)?;
/// assert_eq!(encoded, [2, 0, 0, 0, 2, 0, 0, 0, b'h', b'i', 0, 0, 0, 0]);
/// assert!(codec.decode(&encoded, &[(0..2).into()], b"")?.iter().eq([&b"hi"[..], b""]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Spec
/// zarr-extensions `codecs/vlen-utf8` and `codecs/vlen-bytes`.
#[derive(Clone, Debug)]
pub struct VariableChain {
    inner: Arc<Bound>,
}

impl VariableChain {
    /// Binds `codecs` to a data type and to the edges of each grid axis's occupied chunks.
    ///
    /// # Errors
    /// [`ChainError`] if the chain does not fit, with the codec's JSON path.
    pub fn bind(
        codecs: &[Codec],
        data_type: &DataType,
        edges: &[AxisEdges],
    ) -> Result<Self, ChainError> {
        Self::bind_at("$.codecs", codecs, data_type, edges, &Options::new())
    }

    /// As [`bind`](Self::bind), with [`Options`] and for a list of codecs anywhere in a document:
    /// `path` is the JSON path of the list.
    pub(crate) fn bind_at(
        path: &str,
        codecs: &[Codec],
        data_type: &DataType,
        edges: &[AxisEdges],
        options: &Options,
    ) -> Result<Self, ChainError> {
        let path: Arc<str> = path.into();
        let whole = CodecPath::of_chain(&path);
        let not_encoded = || ChainErrorKind::DataType { data_type: data_type.name().into_owned() };
        let (own, text) = match data_type {
            DataType::String => (Some(Codec::VlenUtf8), true),
            DataType::Bytes => (Some(Codec::VlenBytes), false),
            DataType::ZarrsOptional(_) => (None, false),
            _ => return Err(whole.error(not_encoded())),
        };
        // Compressors that shuffle bytes have no element size here.
        let byte = ElementType::new(&DataType::Uint8).map_err(|kind| whole.error(kind))?;
        let mut shape = Shape::of_grid(edges).map_err(|kind| whole.error(kind))?;
        let mut array_to_array = Vec::new();
        let mut array_to_bytes = None;
        let mut bytes_to_bytes = Vec::new();
        let mut read_only = None;
        for (index, codec) in codecs.iter().enumerate() {
            let place = CodecPath::of_codec(&path, index, codec);
            if is_skipped(codec, &options.codecs) {
                read_only = Some(place);
                continue;
            }
            if array_to_bytes.is_some() {
                let codec = bytes_to_bytes::bind(codec, &byte, &options.codecs)
                    .map_err(|kind| place.error(kind))?;
                bytes_to_bytes.push((codec, place));
                continue;
            }
            match codec {
                Codec::Transpose(_) | Codec::Reshape(_) | Codec::ZarrsSqueeze => {
                    let step = ArrayToArray::new(codec)
                        .ok_or_else(|| place.error(ChainErrorKind::Unsupported))?;
                    shape = step.output_shape(&shape).map_err(|kind| place.error(kind))?;
                    array_to_array.push((step, place));
                }
                Codec::ShardingIndexed(sharding) => {
                    let shard = Shard::bind(sharding, data_type, &shape, &place, options)?;
                    read_only = read_only.or_else(|| shard.read_only().cloned());
                    array_to_bytes = Some((ArrayToBytes::Shard(Box::new(shard)), place));
                }
                Codec::ZarrsOptional(codecs) => {
                    let DataType::ZarrsOptional(inner) = data_type else {
                        return Err(place.error(not_encoded()));
                    };
                    let optional = Optional::bind(codecs, inner, &shape, &place, options)?;
                    read_only = read_only.or_else(|| optional.read_only().cloned());
                    array_to_bytes = Some((ArrayToBytes::Optional(Arc::new(optional)), place));
                }
                Codec::NumcodecsJson2 if text => {
                    read_only = Some(place.clone());
                    array_to_bytes = Some((ArrayToBytes::Json, place));
                }
                codec if Some(codec) == own.as_ref() => {
                    array_to_bytes = Some((ArrayToBytes::Vlen, place));
                }
                codec => {
                    return Err(place.error(match codec.kind() {
                        Some(CodecKind::BytesToBytes) => ChainErrorKind::ORDER,
                        Some(_) => not_encoded(),
                        None => ChainErrorKind::Unsupported,
                    }));
                }
            }
        }
        let (array_to_bytes, array_to_bytes_path) =
            array_to_bytes.ok_or_else(|| whole.error(ChainErrorKind::ORDER))?;
        let zero: &[u8] = if own.is_some() { &[] } else { &[0] };
        let bound = Bound {
            element: VariableElement { text, zero },
            array_to_array,
            array_to_bytes,
            array_to_bytes_path,
            bytes_to_bytes,
            options: options.clone(),
            read_only,
            whole,
        };
        Ok(Self { inner: Arc::new(bound) })
    }

    /// The codec of the chunks of one shape.
    ///
    /// # Errors
    /// [`ChainError`] if the chain was not bound to the shape and does not fit it, or if a chunk is
    /// larger than the machine's address space.
    pub fn for_shape(&self, chunk_shape: &[u64]) -> Result<VariableChunkCodec, ChainError> {
        VariableChunkCodec::new(&self.inner, chunk_shape)
    }

    /// Checks that chunks can be written. They cannot if a codec was skipped (SD-42), nor with
    /// `numcodecs.json2`, which belongs to version 2.
    ///
    /// # Errors
    /// [`ChainError`] that names the codec.
    pub fn check_writable(&self) -> Result<(), ChainError> {
        self.inner.check_writable()
    }

    /// The empty element, or the missing element of an optional type.
    pub(super) fn zero(&self) -> &'static [u8] {
        self.inner.element.zero
    }

    /// The codec that cannot be written, if there is one.
    pub(crate) fn read_only(&self) -> Option<&CodecPath> {
        self.inner.read_only.as_ref()
    }
}
