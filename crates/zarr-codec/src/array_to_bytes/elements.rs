//! The array-to-bytes codecs that store the elements in C order.

use std::ops::Range;

use zarr_metadata::{Codec, CodecKind};
use zarr_packbits::{BitOrder, Packing, PaddingEncoding};

use super::{bytes, packbits};
use crate::element::ElementType;
use crate::error::{ChainErrorKind, ChunkErrorKind};
use crate::length::widen;
use crate::scratch::{Buffer, Bytes, Pool};

/// An array-to-bytes codec that stores the elements in C order.
#[derive(Clone, Debug)]
pub(crate) enum ElementCodec {
    /// Whole bytes, in either byte order.
    Bytes { big_endian: bool },
    /// Packed bits.
    Packbits { packing: Packing, padding: PaddingEncoding },
}

/// Stored elements, in C order.
pub(crate) struct StoredElements<'a> {
    pub(crate) bytes: Bytes<'a>,
    /// Whether the copy to the caller must still swap the bytes of components.
    pub(crate) swapped: bool,
}

impl ElementCodec {
    /// Binds a codec that stores elements in C order.
    pub(crate) fn new(codec: &Codec, element: &ElementType) -> Result<Self, ChainErrorKind> {
        match codec {
            Codec::Bytes(codec) => {
                Ok(Self::Bytes { big_endian: bytes::is_big_endian(codec.endian, element)? })
            }
            Codec::Packbits(codec) => {
                let (packing, padding) = packbits::bind(codec, element)?;
                Ok(Self::Packbits { packing, padding })
            }
            _ if codec.kind() == Some(CodecKind::BytesToBytes) => Err(ChainErrorKind::ORDER),
            _ => Err(ChainErrorKind::Unsupported),
        }
    }

    /// `numcodecs.packbits` and the `bytes` after it, as one codec: a byte with the number of
    /// padding bits, then the bits of boolean elements, the most significant first (SD-11).
    ///
    /// The first codec gives a one-dimensional array of uint8, and the second its bytes. So the
    /// stored bytes do not show where one codec ends and the other begins.
    pub(crate) fn numcodecs(element: &ElementType) -> Result<Self, ChainErrorKind> {
        let (packing, padding) = packbits::bind_numcodecs(element)?;
        Ok(Self::Packbits { packing, padding })
    }

    /// The encoded length of `elements` elements, `None` past the address space.
    pub(crate) fn encoded_len(&self, elements: usize, element: &ElementType) -> Option<usize> {
        match self {
            Self::Bytes { .. } => elements.checked_mul(element.size()),
            Self::Packbits { packing, padding } => packing.encoded_len(elements, *padding),
        }
    }

    /// Decodes all `elements` of `encoded`, to memory of the pool unless its bytes can be used
    /// unchanged.
    pub(crate) fn decode<'a>(
        &self,
        encoded: Bytes<'a>,
        elements: usize,
        element: &ElementType,
        pool: &mut Pool,
    ) -> Result<StoredElements<'a>, ChunkErrorKind> {
        let bytes = match self {
            Self::Bytes { big_endian } => {
                bytes::decode(*big_endian, encoded, elements, element, pool)?
            }
            Self::Packbits { packing, padding } => {
                Bytes::Taken(packbits::decode(packing, *padding, encoded, elements, element, pool)?)
            }
        };
        Ok(StoredElements { bytes, swapped: self.swaps(element) })
    }

    /// Bits per element.
    pub(crate) fn element_bits(&self, element: &ElementType) -> usize {
        match self {
            Self::Bytes { .. } => element.size() * 8,
            Self::Packbits { packing, .. } => usize::try_from(packing.bits()).unwrap_or(usize::MAX),
        }
    }

    /// Converts bit `bit` of [`byte_range`](ElementCodec::byte_range), which is in packing order,
    /// to a position from the least significant bit of its byte.
    pub(crate) fn lowest_bit(&self, bit: u32) -> u32 {
        match self {
            // Its elements have one bit.
            Self::Packbits { packing, .. } if packing.bit_order() == BitOrder::MsbFirst => {
                7_u32 - bit
            }
            Self::Packbits { .. } | Self::Bytes { .. } => bit,
        }
    }

    /// The bytes that hold elements `first..first + count`, and the bit in them at which the
    /// first one starts.
    pub(crate) fn byte_range(
        &self,
        first: usize,
        count: usize,
        element: &ElementType,
    ) -> Option<(Range<u64>, usize)> {
        let (bytes, bit) = match self {
            Self::Bytes { .. } => {
                let end = first.checked_add(count)?.checked_mul(element.size())?;
                (first.checked_mul(element.size())?..end, 0)
            }
            Self::Packbits { packing, padding } => {
                let range = packing.byte_range(first, count, *padding)?;
                (range.bytes, range.bit)
            }
        };
        Some((widen(bytes.start)..widen(bytes.end), bit))
    }

    /// Decodes spans of `count` elements, concatenated in `bytes`: for each start, the bytes of its
    /// [`byte_range`](ElementCodec::byte_range).
    pub(crate) fn decode_spans<'a>(
        &self,
        bytes: &'a [u8],
        starts: &[usize],
        count: usize,
        element: &ElementType,
        pool: &mut Pool,
    ) -> Result<StoredElements<'a>, ChunkErrorKind> {
        let elements = starts.len() * count;
        let bytes = match self {
            Self::Bytes { big_endian } => {
                bytes::decode(*big_endian, Bytes::Lent(bytes), elements, element, pool)?
            }
            Self::Packbits { packing, .. } => {
                let spans = starts.iter().map(|start| {
                    let range = self.byte_range(*start, count, element);
                    range.expect("spans are chosen by the bytes that hold them")
                });
                let span_len = count * element.size();
                let count = starts.len();
                Bytes::Taken(packbits::decode_spans(packing, bytes, spans, span_len, count, pool)?)
            }
        };
        Ok(StoredElements { bytes, swapped: self.swaps(element) })
    }

    /// Encodes `elements`, which are in C order of the stored shape, canonical, and in in-memory
    /// form except for [`swaps`](ElementCodec::swaps).
    pub(crate) fn encode(
        &self,
        mut elements: Buffer,
        element: &ElementType,
        pool: &mut Pool,
    ) -> Result<Buffer, ChunkErrorKind> {
        match self {
            Self::Bytes { .. } => {
                self.swap_fields(&mut elements, element);
                Ok(elements)
            }
            Self::Packbits { packing, padding } => {
                packbits::encode(packing, *padding, elements, element, pool)
            }
        }
    }

    /// The packing that tells which bits are kept, if other bits can carry values. Such bits are
    /// dropped by `packbits`, or are in a byte out of the range of its sub-byte type (SD-18).
    /// Booleans do not count: they have been checked to be 0 or 1.
    pub(crate) fn losing<'p>(&'p self, element: &'p ElementType) -> Option<&'p Packing> {
        let Self::Packbits { packing, .. } = self else { return element.sub_byte.as_ref() };
        let keeps_all = packing.first_bit() == 0
            && packing.last_bit() + 1 == element.component_bits
            && !element.is_sub_byte();
        (!keeps_all).then_some(packing)
    }

    /// Converts elements from memory to stored form if a copy with [`swaps`](Self::swaps) cannot:
    /// in records with fields that are swapped in units of different lengths.
    pub(crate) fn swap_fields(&self, elements: &mut [u8], element: &ElementType) {
        if let Self::Bytes { big_endian: true } = self {
            element.swap_fields(elements);
        }
    }

    /// Whether stored elements are the same as in memory, except for [`swaps`](Self::swaps).
    pub(crate) fn stores_memory(&self, element: &ElementType) -> bool {
        matches!(self, Self::Bytes { big_endian } if !bytes::rewrites(*big_endian, element))
    }

    /// Whether the components of the stored elements are in the other byte order, so that a copy
    /// has to swap them.
    pub(crate) fn swaps(&self, element: &ElementType) -> bool {
        matches!(self, Self::Bytes { big_endian: true }) && element.swap_unit > 1
    }
}
