//! Chains and their codecs for any elements: of fixed size or of variable length.

use std::sync::Arc;

use zarr_metadata::{Codec, DataType};
use zarr_view::{CopyError, View};

use crate::array_to_bytes::shard::ShardCodec;
use crate::chain::Chain;
use crate::chunk::ChunkCodec;
use crate::codec_path::CodecPath;
use crate::error::{ChainError, ChunkError};
use crate::options::Options;
use crate::partial::{ChunkReader, Need};
use crate::scratch::Scratch;
use crate::symbolic::AxisEdges;
use crate::transform::{ArrayTransform, Slice};
use crate::variable::{VariableChain, VariableChunkCodec, VariableChunkReader};

/// A chain of codecs for any data type.
#[derive(Clone, Debug)]
pub enum AnyChain {
    /// For elements of one size.
    Fixed(Chain),
    /// For `string`, `bytes` and `zarrs.optional`.
    Variable(VariableChain),
}

impl AnyChain {
    /// As [`Chain::bind_with`] or [`VariableChain::bind`], depending on the data type.
    ///
    /// # Errors
    /// [`ChainError`] if the chain does not fit, with the codec's JSON path.
    ///
    /// # Examples
    /// ```
    /// use zarr_codec::{AnyChain, AxisEdges, Options};
    /// use zarr_metadata::{Codec, DataType};
    ///
    /// let bind = |codecs, data_type| {
    ///     AnyChain::bind_with(&[codecs], &data_type, &[AxisEdges::one(9)], Options::new())
    /// };
    /// let numbers = bind(Codec::bytes(), DataType::Int16)?;
    /// let strings = bind(Codec::VlenUtf8, DataType::String)?;
    /// assert_eq!((numbers.element_size(), strings.element_size()), (Some(2), None));
    /// assert_eq!(numbers.for_shape(&[9])?.encoded_len(), Some(18));
    /// assert_eq!(strings.for_shape(&[9])?.encoded_len(), None);
    /// # Ok::<(), zarr_codec::ChainError>(())
    /// ```
    pub fn bind_with(
        codecs: &[Codec],
        data_type: &DataType,
        edges: &[AxisEdges],
        options: Options,
    ) -> Result<Self, ChainError> {
        Self::bind_at("$.codecs", codecs, data_type, edges, &options)
    }

    /// As [`bind_with`](Self::bind_with), for a list of codecs anywhere in a document: `path` is
    /// the JSON path of the list.
    pub(crate) fn bind_at(
        path: &str,
        codecs: &[Codec],
        data_type: &DataType,
        edges: &[AxisEdges],
        options: &Options,
    ) -> Result<Self, ChainError> {
        Ok(match data_type.is_variable_length() {
            true => {
                Self::Variable(VariableChain::bind_at(path, codecs, data_type, edges, options)?)
            }
            false => Self::Fixed(Chain::bind_at(path, codecs, data_type, edges, options)?),
        })
    }

    /// The codec of the chunks of one shape.
    ///
    /// # Errors
    /// [`ChainError`] as [`Chain::for_shape`].
    pub fn for_shape(&self, chunk_shape: &[u64]) -> Result<AnyChunkCodec, ChainError> {
        Ok(match self {
            Self::Fixed(chain) => AnyChunkCodec::Fixed(Arc::new(chain.for_shape(chunk_shape)?)),
            Self::Variable(chain) => {
                AnyChunkCodec::Variable(Arc::new(chain.for_shape(chunk_shape)?))
            }
        })
    }

    /// Bytes of one element in memory, if all have the same size.
    #[must_use]
    pub fn element_size(&self) -> Option<usize> {
        match self {
            Self::Fixed(chain) => Some(chain.element_size()),
            Self::Variable(_) => None,
        }
    }

    /// The codec that cannot be written, if there is one.
    pub(crate) fn read_only(&self) -> Option<&CodecPath> {
        match self {
            Self::Fixed(chain) => chain.read_only(),
            Self::Variable(chain) => chain.read_only(),
        }
    }

    /// As [`Chain::check_writable`].
    ///
    /// # Errors
    /// [`ChainError`] that names the codec.
    pub fn check_writable(&self) -> Result<(), ChainError> {
        match self {
            Self::Fixed(chain) => chain.check_writable(),
            Self::Variable(chain) => chain.check_writable(),
        }
    }
}

/// The codec of the chunks of one shape, for any data type; made by [`AnyChain::for_shape`]. A clone
/// is another handle.
///
/// This enum has the methods that do not depend on the kind of elements. The codec of each kind
/// decodes and encodes, because the results differ: elements of one size have a place in the
/// caller's memory before they are read, others are a list.
#[derive(Clone, Debug)]
pub enum AnyChunkCodec {
    /// For elements of one size.
    Fixed(Arc<ChunkCodec>),
    /// For elements of variable length.
    Variable(Arc<VariableChunkCodec>),
}

impl AnyChunkCodec {
    /// The chunk's shape.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.transform().chunk_shape()
    }

    /// The compiled array-to-array codecs.
    #[must_use]
    pub fn transform(&self) -> &ArrayTransform {
        match self {
            Self::Fixed(codec) => codec.transform(),
            Self::Variable(codec) => codec.transform(),
        }
    }

    /// The length of an encoded chunk in bytes, if the chain determines it: elements of one size,
    /// no compressor, no shard.
    #[must_use]
    pub fn encoded_len(&self) -> Option<u64> {
        match self {
            Self::Fixed(codec) => codec.encoded_len(),
            Self::Variable(_) => None,
        }
    }

    /// See [`ChunkCodec::ordinary_encoded`] and [`VariableChunkCodec::ordinary_encoded`].
    #[must_use]
    pub fn ordinary_encoded(&self) -> u64 {
        match self {
            Self::Fixed(codec) => codec.ordinary_encoded(),
            Self::Variable(codec) => codec.ordinary_encoded(),
        }
    }

    /// The shard, and the axis of the chunk for each axis of the shard, if the chunk is a shard whose
    /// index is stored as it is: no codec follows it, and those before it only reorder axes.
    #[must_use]
    pub fn plain_shard(&self) -> Option<(&ShardCodec, &[usize])> {
        let shard = match self {
            Self::Fixed(codec) => codec.inner_changes()?.shard(),
            Self::Variable(codec) => codec.inner_changes()?.shard(),
        };
        Some((shard, self.transform().order()?))
    }

    /// The codec of elements of one size.
    #[must_use]
    pub fn fixed(&self) -> Option<&Arc<ChunkCodec>> {
        match self {
            Self::Fixed(codec) => Some(codec),
            Self::Variable(_) => None,
        }
    }

    /// The bytes of an encoded chunk that a read of `region` requests. Only the index of a shard is
    /// decoded. For `range_cost`, see [`ChunkCodec::reader`].
    ///
    /// # Errors
    /// [`ChunkError`] if the region does not lie within the chunk.
    pub fn needs(&self, region: &[Slice], range_cost: u64) -> Result<Needs<'_>, ChunkError> {
        Ok(Needs(match self {
            Self::Fixed(codec) => {
                let counts: Vec<usize> = region.iter().map(|slice| slice.count).collect();
                let view = View::contiguous(&counts)
                    .map_err(|error| codec.failed(CopyError::from(error).into()))?;
                Reader::Fixed(codec.reader(region, &view, range_cost))
            }
            Self::Variable(codec) => Reader::Variable(VariableChunkReader::new(
                codec,
                codec.numbers(region)?,
                range_cost,
            )),
        }))
    }
}

/// The bytes that a read of a part of a chunk requests; made by [`AnyChunkCodec::needs`].
#[derive(Debug)]
pub struct Needs<'c>(Reader<'c>);

#[derive(Debug)]
enum Reader<'c> {
    Fixed(ChunkReader<&'c ChunkCodec>),
    Variable(VariableChunkReader<&'c VariableChunkCodec>),
}

impl Needs<'_> {
    /// The bytes that are needed next.
    #[must_use]
    pub fn need(&self) -> Need<'_> {
        match &self.0 {
            Reader::Fixed(reader) => reader.need(),
            Reader::Variable(reader) => reader.need(),
        }
    }

    /// Whether they are the index of a shard, which determines the ranges needed next.
    #[must_use]
    pub fn is_index(&self) -> bool {
        match &self.0 {
            Reader::Fixed(reader) => reader.needs_index(),
            Reader::Variable(reader) => reader.needs_index(),
        }
    }

    /// Takes the bytes of the index. `object_len` is the length of the whole encoded chunk, if known.
    ///
    /// # Errors
    /// [`ChunkError`] if the bytes are not such an index, or if no index is needed.
    pub fn supply_index(
        &mut self,
        bytes: &[u8],
        object_len: Option<u64>,
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        match &mut self.0 {
            Reader::Fixed(reader) => reader.supply_index(bytes, object_len, scratch),
            Reader::Variable(reader) => reader.supply_index(bytes, object_len, scratch),
        }
    }
}
