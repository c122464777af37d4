//! Where elements lie in an encoded chunk, for reads of a part of it.

use std::ops::Range;

use zarr_view::Element;

use super::{ChunkCodec, ShapedCodec, chunk_error};
use crate::chain::Bound;
use crate::error::ChunkError;
use crate::scratch::Scratch;
use crate::transform::NestedError;

impl ChunkCodec {
    /// Whether the encoded chunk contains the stored bytes unchanged.
    pub(crate) fn keeps_places(&self) -> bool {
        self.bound.bytes_to_bytes.iter().all(|(codec, _)| codec.keeps_places())
    }

    /// The number of bytes that the bytes-to-bytes codecs append, if they keep the stored bytes in
    /// place.
    pub(crate) fn bytes_after_stored(&self) -> Option<u64> {
        self.bound
            .bytes_to_bytes
            .iter()
            .try_fold(0, |length, (codec, _)| codec.encoded_len(Some(length)))
    }

    /// Bits of an encoded element, unless it is a shard.
    pub(crate) fn element_bits(&self) -> Option<usize> {
        match &self.array_to_bytes {
            ShapedCodec::Elements(codec) => Some(codec.element_bits(&self.bound.element)),
            ShapedCodec::Shard(_) => None,
        }
    }

    /// The bytes that hold elements `first..first + count` of the stored array, and the first one's
    /// bit within them.
    pub(crate) fn stored_bytes(&self, first: usize, count: usize) -> Option<(Range<u64>, usize)> {
        match &self.array_to_bytes {
            ShapedCodec::Elements(codec) => codec.byte_range(first, count, &self.bound.element),
            ShapedCodec::Shard(_) => None,
        }
    }

    /// Decodes spans of `count` elements of the stored array, concatenated in `bytes`, and passes
    /// the elements to `finish`.
    pub(crate) fn decode_spans(
        &self,
        bytes: &[u8],
        starts: &[usize],
        count: usize,
        scratch: &mut Scratch,
        finish: impl FnOnce(&[u8], Element) -> Result<(), NestedError>,
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
