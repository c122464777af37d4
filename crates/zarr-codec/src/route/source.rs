//! The elements that a leaf provides.

use zarr_view::Element;

use crate::element::ElementType;
use crate::error::ChunkErrorKind;
use crate::leaf::ElementLeaf;
use crate::leaf::packbits::Packed;
use crate::leaf::shard::ShardDecoder;
use crate::scratch::{Bytes, Pool};

/// Where the elements of a chunk come from.
pub(crate) enum Source<'s> {
    /// All elements in C order of the leaf's shape, and how they move from there.
    Elements(Bytes<'s>, Element),
    /// All elements as packed bits, unpacked slab by slab.
    Packed(Packed<'s>),
    /// Inner chunks, decoded directly into the output.
    Shard(ShardDecoder<'s>),
}

impl<'s> Source<'s> {
    /// The elements of a leaf that is not a shard.
    pub(crate) fn new(
        leaf: &'s ElementLeaf,
        encoded: Bytes<'s>,
        elements: usize,
        element: &ElementType,
        pool: &mut Pool,
    ) -> Result<Self, ChunkErrorKind> {
        if let ElementLeaf::Packbits { packing, padding } = leaf {
            return Packed::new(packing, *padding, encoded, elements).map(Self::Packed);
        }
        let decoded = leaf.decode(encoded, elements, element, pool)?;
        Ok(Self::Elements(decoded.bytes, element.moved(decoded.swapped)))
    }

    /// Returns memory to the pool after its elements were moved.
    pub(crate) fn give_to(&mut self, pool: &mut Pool) {
        if let Self::Elements(bytes, _) | Self::Packed(Packed { bytes, .. }) = self {
            std::mem::replace(bytes, Bytes::Lent(&[])).give_to(pool);
        }
    }
}
