//! The elements that an array-to-bytes codec provides.

use zarr_view::{CopyElement, CopyError, Output, View};

use crate::array_to_bytes::ElementCodec;
use crate::array_to_bytes::packbits::Packed;
use crate::array_to_bytes::shard::ShardDecoder;
use crate::element::ElementType;
use crate::error::ChunkErrorKind;
use crate::scratch::{Buffer, Bytes, Pool};

use super::{NestedError, Slice};

/// The source of a chunk's elements.
pub(crate) enum Source<'s> {
    /// All elements in C order of the stored shape, with their size and byte swap.
    Elements(Bytes<'s>, CopyElement),
    /// All elements as packed bits, unpacked slab by slab.
    Packed(Packed<'s>),
    /// Inner chunks, decoded directly into the output.
    Shard(ShardDecoder<'s>),
    /// Only the elements of the [stored region](super::ArrayTransform::stored_region) of the region
    /// to decode, in C order, with their size.
    Part(Buffer, CopyElement),
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

    /// Writes a region of the stored array to `out`, which has the region's shape.
    pub(super) fn write_region(
        &mut self,
        region: &[Slice],
        out: &mut Output<'_>,
    ) -> Result<(), NestedError> {
        match self {
            Self::Shard(shard) => shard.decode(region, out),
            Self::Part(elements, element) => {
                let view = View::contiguous(out.view().shape()).map_err(CopyError::from)?;
                Ok(out.copy_from(&view, elements, *element, &[])?)
            }
            Self::Elements(..) | Self::Packed(_) => {
                unreachable!("a view gives the positions of their elements")
            }
        }
    }

    /// Returns memory to the pool after its elements were moved.
    pub(crate) fn give_to(&mut self, pool: &mut Pool) {
        match self {
            Self::Elements(bytes, _) | Self::Packed(Packed { bytes, .. }) => {
                std::mem::replace(bytes, Bytes::Lent(&[])).give_to(pool);
            }
            Self::Part(elements, _) => pool.give(std::mem::take(elements)),
            Self::Shard(_) => {}
        }
    }
}
