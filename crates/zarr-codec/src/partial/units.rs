//! The parts of a chunk that can be read one without the others.

use crate::chunk::ChunkCodec;
use crate::length::widen;

/// The parts of a chunk that can be read one without the others; made by [`ChunkCodec::units`].
///
/// # Examples
/// ```
/// use zarr_codec::{AxisEdges, Chain, ReadUnits};
/// use zarr_metadata::{Codec, DataType};
///
/// let edges = [AxisEdges::one(4), AxisEdges::one(6)];
/// let units = |codecs: &[Codec]| {
///     Ok::<_, zarr_codec::ChainError>(Chain::bind(codecs, &DataType::Int16, &edges)?.for_shape(&[4, 6])?.units())
/// };
/// assert_eq!(units(&[Codec::bytes(), Codec::gzip(1)])?, ReadUnits::Chunk);
/// let distances = vec![12, 2];
/// assert_eq!(units(&[Codec::bytes()])?, ReadUnits::Elements { distances });
/// let (shape, slowest_first) = (vec![2, 3], vec![0, 1]);
/// let shard = [Codec::sharding([2, 3], [Codec::bytes(), Codec::gzip(1)])];
/// assert_eq!(units(&shard)?, ReadUnits::InnerChunks { shape, slowest_first, is_all: true });
/// # Ok::<(), zarr_codec::ChainError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadUnits {
    /// The chunk is read whole.
    Chunk,
    /// Single elements.
    Elements {
        /// The bytes in the encoded chunk from one index of an axis to the next, rounded down.
        distances: Vec<u64>,
    },
    /// The inner chunks of a shard.
    InnerChunks {
        /// Their shape, with the axes of the chunk.
        shape: Vec<usize>,
        /// The axes of the chunk, in the order of the stored array: the last varies fastest.
        slowest_first: Vec<usize>,
        /// Whether a whole read of all inner chunks checks everything that is stored: no checksum
        /// covers the whole shard.
        is_all: bool,
    },
}

impl ChunkCodec {
    /// The parts of a chunk that can be read one without the others.
    ///
    /// A shard after a `reshape` is read by the inner chunks of a box, but they are not boxes of
    /// the chunk: it counts as [`ReadUnits::Chunk`].
    #[must_use]
    pub fn units(&self) -> ReadUnits {
        self.read_units().unwrap_or(ReadUnits::Chunk)
    }

    fn read_units(&self) -> Option<ReadUnits> {
        if !self.keeps_places() {
            return None;
        }
        if let Some(shard) = self.shard() {
            let order = self.transform().order()?;
            let mut shape = vec![1; order.len()];
            for (axis, size) in order.iter().zip(shard.inner().shape()) {
                *shape.get_mut(*axis)? = *size;
            }
            let is_all = self.bytes_added() == Some(0);
            return Some(ReadUnits::InnerChunks { shape, slowest_first: order.to_vec(), is_all });
        }
        let bits = widen(self.element_bits()?);
        let strides = self.transform().view()?.strides().iter();
        let distances =
            strides.map(|stride| widen(stride.unsigned_abs()).saturating_mul(bits) / 8).collect();
        Some(ReadUnits::Elements { distances })
    }
}
