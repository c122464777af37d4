//! The array-to-bytes codecs: the positions of elements in the encoded bytes.

pub(crate) mod bytes;
pub(crate) mod packbits;
pub(crate) mod shard;

use std::ops::Range;

use zarr_metadata::{Codec, CodecKind};
use zarr_packbits::{Packing, PaddingEncoding};

use crate::bytes_to_bytes::widen;
use crate::element::ElementType;
use crate::error::{ChainErrorKind, ChunkErrorKind};
use crate::scratch::{Buffer, Bytes, Pool};

use self::shard::Shard;

/// An array-to-bytes codec, bound to its data type and to all shapes that reach it.
#[derive(Clone, Debug)]
pub(crate) enum ArrayToBytes {
    /// The elements in C order.
    Elements(ElementCodec),
    /// Inner chunks, with an index.
    Shard(Box<Shard>),
}

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
            Codec::Bytes(codec) => bytes::bind(codec.endian, element),
            Codec::Packbits(codec) => packbits::bind(codec, element),
            _ if codec.kind() == Some(CodecKind::BytesToBytes) => Err(ChainErrorKind::Order),
            _ => Err(ChainErrorKind::Unsupported),
        }
    }

    /// `numcodecs.packbits` and the `bytes` after it, which are one codec here: bits of boolean
    /// elements, the most significant first, behind the number of padding bits (SD-11).
    ///
    /// The first codec gives a one-dimensional array of uint8, and the second its bytes, so they
    /// cannot be told apart from outside.
    pub(crate) fn numcodecs(element: &ElementType) -> Result<Self, ChainErrorKind> {
        packbits::bind_numcodecs(element)
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
        match self {
            Self::Bytes { big_endian } => {
                bytes::decode(*big_endian, encoded, elements, element, pool)
            }
            Self::Packbits { packing, padding } => {
                packbits::decode(packing, *padding, encoded, elements, element, pool)
            }
        }
    }

    /// Bits of an element.
    pub(crate) fn element_bits(&self, element: &ElementType) -> usize {
        match self {
            Self::Bytes { .. } => element.size().saturating_mul(8),
            Self::Packbits { packing, .. } => usize::try_from(packing.bits()).unwrap_or(usize::MAX),
        }
    }

    /// The bytes that hold elements `first..first + count`, and the first one's bit within them.
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
                let range = packing.byte_range(first, count)?;
                let ahead = padding.prefix_len();
                let shifted = |at: usize| at.checked_add(ahead);
                (shifted(range.bytes.start)?..shifted(range.bytes.end)?, range.bit)
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
        let elements = starts.len().saturating_mul(count);
        match self {
            Self::Bytes { big_endian } => {
                bytes::decode(*big_endian, Bytes::Lent(bytes), elements, element, pool)
            }
            Self::Packbits { packing, .. } => {
                let spans = starts.iter().map(|start| {
                    let range = self.byte_range(*start, count, element);
                    range.expect("spans are chosen by the bytes that hold them")
                });
                let span_len = count.saturating_mul(element.size());
                packbits::decode_spans(packing, bytes, spans, span_len, starts.len(), pool)
            }
        }
    }

    /// Encodes `elements`, which are in C order of the stored shape, canonical, and in in-memory
    /// form except for [`swaps`](ElementCodec::swaps).
    pub(crate) fn encode(
        &self,
        elements: Buffer,
        element: &ElementType,
        pool: &mut Pool,
    ) -> Result<Buffer, ChunkErrorKind> {
        match self {
            Self::Bytes { .. } => Ok(elements),
            Self::Packbits { packing, padding } => {
                packbits::encode(packing, *padding, elements, element, pool)
            }
        }
    }

    /// The packing, if it leaves out bits that carry values: not where only the upper bits of a
    /// sub-byte type are left out, or of a boolean, which has been checked to be 0 or 1.
    pub(crate) fn losing(&self, element: &ElementType) -> Option<&Packing> {
        let Self::Packbits { packing, .. } = self else { return None };
        let keeps_all = packing.first_bit() == 0
            && packing.last_bit().saturating_add(1) == element.component_bits;
        (!keeps_all).then_some(packing)
    }

    /// Refuses elements, in canonical form, that would not read back as they are (SD-49).
    pub(crate) fn check_survival(
        &self,
        elements: &[u8],
        element: &ElementType,
    ) -> Result<(), ChunkErrorKind> {
        let Some(packing) = self.losing(element) else { return Ok(()) };
        let Some(lost) = packing.lost(elements)?.next() else { return Ok(()) };
        let start = lost.saturating_mul(element.size());
        let bytes = elements.iter().skip(start).take(element.size()).rev();
        let value = bytes.fold(String::from("0x"), |hex, byte| format!("{hex}{byte:02x}"));
        Err(ChunkErrorKind::Lost { element: widen(lost), value })
    }

    /// Whether the components of the stored elements are in the other byte order.
    pub(crate) fn swaps(&self, element: &ElementType) -> bool {
        matches!(self, Self::Bytes { big_endian: true }) && element.swap_unit > 1
    }
}
