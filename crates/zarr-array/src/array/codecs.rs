//! The compiled codecs of an array's chunks, kept per chunk shape.

use std::sync::{Arc, PoisonError};

use zarr_codec::{AnyChunkCodec, ChunkCodec, VariableChunkCodec};
use zarr_grid::Axis;
use zarr_metadata::Codec;

use crate::array::Array;
use crate::error::ArrayError;
use crate::hierarchy::node;
use crate::store::{Change, Current, Key, ObjectMeta, ReadRange, UpdatePolicy, update};

/// The cache of compiled codecs holds at most this many distinct chunk shapes.
const CODEC_CACHE: usize = 1024;

/// The cache of compiled codecs holds at most this many numbers, some hundred bytes each.
const CODEC_NUMBERS: usize = 1 << 18;

impl Array {
    /// The codec of chunks of one shape, compiled on first use.
    ///
    /// # Errors
    /// [`ArrayError::Chain`] for a chunk larger than the address space.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, Codec, DataType};
    /// # let builder = ArrayBuilder::new([59], DataType::Uint16).chunks([[31, 28].into()]);
    /// # let metadata = builder.codecs([Codec::packbits(0..=9)]).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// let january = array.chunk_codec(&array.layout().chunk_shape(&[0])?)?;
    /// assert_eq!(january.encoded_len(), Some(39)); // 31 values of ten bits
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn chunk_codec(&self, chunk_shape: &[u64]) -> Result<AnyChunkCodec, ArrayError> {
        let mut codecs = self.shared.compiled.codecs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(codec) = codecs.get(chunk_shape) {
            return Ok(codec.clone());
        }
        let codec = self.shared.compiled.chain.for_shape(chunk_shape);
        let codec = codec
            .map_err(|cause| ArrayError::Chain { key: node::metadata_key(self.prefix()), cause })?;
        let numbers = numbers(self.metadata().codecs()).saturating_add(chunk_shape.len());
        let most = CODEC_NUMBERS.checked_div(numbers).unwrap_or(CODEC_CACHE);
        if codecs.len() >= most.clamp(1, CODEC_CACHE) {
            codecs.clear();
        }
        codecs.insert(chunk_shape.into(), codec.clone());
        Ok(codec)
    }

    /// Reads `range` of an object of the array, as [`Store::get`](crate::store::Store::get) does.
    /// Refuses a chunk if its few stored bytes expand to more than the metadata allows, as
    /// [`Store::refuse_inflated`](crate::store::Store::refuse_inflated) does.
    ///
    /// # Errors
    /// [`ArrayError::Store`] for such an object, or if the store fails.
    pub fn get_object(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, ArrayError> {
        if let Some(chunk) = self.layout().chunk_of_key(key) {
            // A chunk that the grid has no more, as after a resize, had at most the longest edges.
            let longest = || self.grid().axes().iter().map(Axis::max_edge).collect();
            let shape = self.layout().chunk_shape(&chunk).unwrap_or_else(|_| longest());
            match self.chunk_codec(&shape) {
                Ok(codec) => self.store().refuse_inflated(key, codec.ordinary_encoded())?,
                // The metadata allows more than there is memory.
                Err(ArrayError::Chain { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.store().get(key, range, out)?)
    }

    /// Updates the object of a chunk whose codec ordinarily encodes to `most` bytes, as [`update`]
    /// does, within the bound of [`get_object`](Self::get_object).
    pub(super) fn update_chunk(
        &self,
        key: &Key,
        most: u64,
        policy: UpdatePolicy,
        encoded: &mut Vec<u8>,
        change: impl FnMut(Current, &mut Vec<u8>) -> Result<Change, ArrayError>,
    ) -> Result<(), ArrayError> {
        self.store().refuse_inflated(key, most)?;
        update(&**self.store(), key, policy, encoded, change)
    }

    /// As [`chunk_codec`](Self::chunk_codec), for elements of one size.
    pub(super) fn fixed_codec(&self, chunk_shape: &[u64]) -> Result<Arc<ChunkCodec>, ArrayError> {
        match self.chunk_codec(chunk_shape)? {
            AnyChunkCodec::Fixed(codec) => Ok(codec),
            AnyChunkCodec::Variable(_) => Err(self.no_fixed_size()),
        }
    }

    /// As [`chunk_codec`](Self::chunk_codec), for elements of variable length.
    pub(super) fn variable_codec(
        &self,
        chunk_shape: &[u64],
    ) -> Result<Arc<VariableChunkCodec>, ArrayError> {
        match self.chunk_codec(chunk_shape)? {
            AnyChunkCodec::Variable(codec) => Ok(codec),
            AnyChunkCodec::Fixed(_) => Err(self.is_not("byte strings")),
        }
    }

    pub(super) fn no_fixed_size(&self) -> ArrayError {
        ArrayError::VariableLength { data_type: self.data_type().to_string() }
    }
}

/// How many numbers the compiled codec of one chunk shape holds.
fn numbers(codecs: &[Codec]) -> usize {
    codecs.iter().fold(0, |sum: usize, codec| {
        let own = match codec {
            Codec::Transpose(transpose) => transpose.order.len(),
            Codec::Reshape(reshape) => reshape.shape.len(),
            Codec::ShardingIndexed(sharding) => {
                let within =
                    numbers(&sharding.codecs).saturating_add(numbers(&sharding.index_codecs));
                within.saturating_add(sharding.chunk_shape.len())
            }
            _ => 0,
        };
        sum.saturating_add(own).saturating_add(1)
    })
}
