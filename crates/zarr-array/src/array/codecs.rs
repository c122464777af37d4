//! The compiled codecs of an array's chunks, kept per chunk shape.

use std::sync::{Arc, PoisonError};

use zarr_codec::ChunkCodec;
use zarr_metadata::Codec;

use super::Array;
use crate::error::ArrayError;
use crate::node;

/// The cache of compiled codecs holds at most this many distinct chunk shapes.
const CODEC_CACHE: usize = 1024;

/// The cache of compiled codecs holds at most this many numbers, some hundred bytes each.
const CODEC_NUMBERS: usize = 1 << 18;

impl Array {
    /// The codec of chunks of one shape, compiled on first use.
    ///
    /// # Errors
    /// [`ArrayError::Chain`] for a chunk larger than the address space;
    /// [`ArrayError::VariableLength`] for elements that have no fixed size.
    pub fn chunk_codec(&self, chunk_shape: &[u64]) -> Result<Arc<ChunkCodec>, ArrayError> {
        let chain = self.chain()?;
        let mut codecs = self.shared.compiled.codecs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(codec) = codecs.get(chunk_shape) {
            return Ok(Arc::clone(codec));
        }
        let codec = chain
            .for_shape(chunk_shape)
            .map_err(|cause| ArrayError::Chain { key: node::metadata_key(self.prefix()), cause })?;
        let codec = Arc::new(codec);
        let numbers = numbers(self.metadata().codecs()).saturating_add(chunk_shape.len());
        let most = CODEC_NUMBERS.checked_div(numbers).unwrap_or(CODEC_CACHE);
        if codecs.len() >= most.clamp(1, CODEC_CACHE) {
            codecs.clear();
        }
        codecs.insert(chunk_shape.into(), Arc::clone(&codec));
        Ok(codec)
    }
}

/// How many numbers the compiled codec of one chunk shape holds: those of the document.
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
