//! The positions of elements in an encoded chunk, for reads of a part of it.

use std::ops::Range;

use zarr_view::CopyElement;

use super::{ChunkCodec, ShapedCodec, chunk_error};
use crate::bound::Bound;
use crate::error::ChunkError;
use crate::length::widen;
use crate::scratch::Scratch;
use crate::transform::NestedError;

/// The bits of an element in the output of an array-to-bytes codec.
pub(crate) struct ElementBits {
    pub(crate) bytes: Range<u64>,
    /// The element's lowest bit in the first byte, counted from the least significant.
    pub(crate) bit: u32,
    pub(crate) bits: u64,
}

impl ChunkCodec {
    /// Whether the encoded chunk begins with the stored bytes, unchanged.
    pub(crate) fn keeps_places(&self) -> bool {
        self.stored_offset() == Some(0)
    }

    /// The offset of the stored bytes in the encoded chunk, if they are there unchanged.
    pub(crate) fn stored_offset(&self) -> Option<u64> {
        // After a codec that changes values comes another chain.
        if matches!(self.array_to_bytes, ShapedCodec::Mapped(_)) {
            return None;
        }
        let mut codecs = self.bound.bytes_to_bytes.iter();
        codecs.try_fold(0_u64, |offset, (codec, _)| offset.checked_add(codec.input_offset()?))
    }

    /// The number of bytes that the bytes-to-bytes codecs add to the stored bytes, if they keep
    /// them unchanged.
    pub(crate) fn bytes_added(&self) -> Option<u64> {
        self.bound
            .bytes_to_bytes
            .iter()
            .try_fold(0, |length, (codec, _)| codec.encoded_len(Some(length)))
    }

    /// The last bytes-to-bytes codec that does not keep its input unchanged.
    pub(crate) fn last_encoder(&self) -> Option<&str> {
        let mut codecs = self.bound.bytes_to_bytes.iter().rev();
        codecs.find(|(codec, _)| codec.input_offset().is_none()).map(|(_, place)| place.name())
    }

    /// Bits per encoded element; `None` for a shard.
    pub(crate) fn element_bits(&self) -> Option<usize> {
        match &self.array_to_bytes {
            ShapedCodec::Elements(codec) => Some(codec.element_bits(&self.bound.element)),
            ShapedCodec::Shard(_) | ShapedCodec::Mapped(_) => None,
        }
    }

    /// The bytes that hold elements `first..first + count` of the stored array, and the bit in
    /// them at which the first one starts.
    pub(crate) fn stored_bytes(&self, first: usize, count: usize) -> Option<(Range<u64>, usize)> {
        match &self.array_to_bytes {
            ShapedCodec::Elements(codec) => codec.byte_range(first, count, &self.bound.element),
            ShapedCodec::Shard(_) | ShapedCodec::Mapped(_) => None,
        }
    }

    /// The bits of stored element `position`; `None` for a shard.
    pub(crate) fn element_bits_at(&self, position: usize) -> Option<ElementBits> {
        let ShapedCodec::Elements(codec) = &self.array_to_bytes else { return None };
        let element = &self.bound.element;
        let (bytes, bit) = codec.byte_range(position, 1, element)?;
        let bits = widen(codec.element_bits(element));
        let bit = u32::try_from(bit).ok()?;
        Some(ElementBits { bytes, bit: codec.lowest_bit(bit), bits })
    }

    /// Decodes spans of `count` elements of the stored array, concatenated in `bytes`, and passes
    /// the elements to `finish`.
    pub(crate) fn decode_spans(
        &self,
        bytes: &[u8],
        starts: &[usize],
        count: usize,
        scratch: &mut Scratch,
        finish: impl FnOnce(&[u8], CopyElement) -> Result<(), NestedError>,
    ) -> Result<(), ChunkError> {
        let Bound { element, array_to_bytes_path: place, .. } = &*self.bound;
        let ShapedCodec::Elements(codec) = &self.array_to_bytes else {
            unreachable!("a shard is read by its inner chunks, never by spans of elements");
        };
        let decoded = codec
            .decode_spans(bytes, starts, count, element, &mut scratch.pool)
            .map_err(|kind| chunk_error(place, kind))?;
        let moved = element.moved(decoded.swapped);
        finish(&decoded.bytes, moved).map_err(|error| error.at(place))?;
        decoded.bytes.give_to(&mut scratch.pool);
        Ok(())
    }
}
