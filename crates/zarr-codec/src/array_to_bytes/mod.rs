//! The array-to-bytes codecs: the positions of elements in the encoded bytes.

pub(crate) mod bytes;
mod elements;
pub(crate) mod packbits;
pub(crate) mod shard;

use zarr_metadata::DataType;

use self::shard::Shard;
use crate::chain::Chain;
use crate::error::ChunkErrorKind;
use crate::scratch::Pool;
use crate::values::ValueCodec;

pub(crate) use self::elements::{ElementCodec, StoredElements};

/// An array-to-bytes codec, bound to its data type and to all shapes that reach it.
#[derive(Clone, Debug)]
pub(crate) enum ArrayToBytes {
    /// The elements in C order.
    Elements(ElementCodec),
    /// Inner chunks, with an index.
    Shard(Box<Shard>),
    /// Changed elements, encoded by a separate chain.
    Mapped(Box<Mapped>),
}

/// A codec that changes values, and the rest of the chain after it.
#[derive(Clone, Debug)]
pub(crate) struct Mapped {
    pub(crate) codec: ValueCodec,
    /// The data type of the codec's input.
    pub(crate) data_type: DataType,
    pub(crate) inner: Chain,
}

impl Mapped {
    /// The fill value of the chain after the codec: a shard does not store inner chunks that hold
    /// only this value. Without a shard, any element.
    pub(crate) fn fill(&self, fill: &[u8], pool: &mut Pool) -> Result<Vec<u8>, ChunkErrorKind> {
        match self.inner.has_shard() {
            true => Ok(self.codec.encode_fill(fill, pool)?.into_vec()),
            false => Ok(vec![0; self.inner.element_size()]),
        }
    }
}
