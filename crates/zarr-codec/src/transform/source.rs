//! The elements that an array-to-bytes codec provides.

use zarr_view::CopyElement;

use crate::array_to_bytes::ElementCodec;
use crate::array_to_bytes::packbits::Packed;
use crate::array_to_bytes::shard::ShardDecoder;
use crate::element::ElementType;
use crate::error::ChunkErrorKind;
use crate::scratch::{Bytes, Pool};

/// The source of a chunk's elements.
pub(crate) enum Source<'s> {
    /// All elements in C order of the stored shape, with their size and byte swap.
    Elements(Bytes<'s>, CopyElement),
    /// All elements as packed bits, unpacked slab by slab.
    Packed(Packed<'s>),
    /// Inner chunks, decoded directly into the output.
    Shard(ShardDecoder<'s>),
}

impl<'s> Source<'s> {
    /// The elements of a chunk that is not a shard.
    pub(crate) fn new(
        array_to_bytes: &'s ElementCodec,
        encoded: Bytes<'s>,
        elements: usize,
        element: &ElementType,
        pool: &mut Pool,
    ) -> Result<Self, ChunkErrorKind> {
        if let ElementCodec::Packbits { packing, padding } = array_to_bytes {
            return Packed::new(packing, *padding, encoded, elements).map(Self::Packed);
        }
        let decoded = array_to_bytes.decode(encoded, elements, element, pool)?;
        Ok(Self::Elements(decoded.bytes, element.moved(decoded.swapped)))
    }

    /// Returns memory to the pool after its elements were moved.
    pub(crate) fn give_to(&mut self, pool: &mut Pool) {
        if let Self::Elements(bytes, _) | Self::Packed(Packed { bytes, .. }) = self {
            std::mem::replace(bytes, Bytes::Lent(&[])).give_to(pool);
        }
    }
}
