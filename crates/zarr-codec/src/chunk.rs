//! The codec of the chunks of one shape.

use std::sync::Arc;

use zarr_view::{Output, View};

use crate::chain::{Bound, Place};
use crate::compressor::{Expected, widen};
use crate::error::{ChainError, ChainErrorKind, ChunkError, ChunkErrorKind};
use crate::route::{Route, Slice};
use crate::scratch::Scratch;

/// Decodes and encodes chunks of one shape; made by [`Chain::for_shape`](crate::Chain::for_shape).
///
/// Cheap to share between threads; what changes while a chunk is worked on is in the caller's
/// [`Scratch`].
#[derive(Clone, Debug)]
pub struct ChunkCodec {
    bound: Arc<Bound>,
    route: Route,
    elements: usize,
    /// What goes into each bytes-to-bytes codec on encoding, where it has one length.
    lengths: Vec<Option<u64>>,
}

impl ChunkCodec {
    pub(crate) fn new(bound: &Arc<Bound>, chunk_shape: &[u64]) -> Result<Self, ChainError> {
        let too_large = || {
            let kind = ChainErrorKind::AddressSpace { shape: chunk_shape.to_vec() };
            ChainError::new("$.codecs", "chain", kind)
        };
        let shapes = bound.shapes(chunk_shape)?;
        let route = Route::new(&bound.moves, &shapes).ok_or_else(too_large)?;
        let elements = route.elements();
        // All sizes in memory are at most this product, so that none of them can overflow.
        let in_memory = elements.checked_mul(bound.element.size().max(1));
        if in_memory.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
            return Err(too_large());
        }
        let leaf_len = bound.leaf.encoded_len(elements, &bound.element).ok_or_else(too_large)?;
        let mut lengths = vec![Some(widen(leaf_len))];
        for (codec, _) in &bound.bytes {
            let before = lengths.last().copied().flatten();
            lengths.push(codec.encoded_len(before));
        }
        Ok(Self { bound: Arc::clone(bound), route, elements, lengths })
    }

    /// The chunk's shape.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.route.chunk_shape()
    }

    /// How many elements a chunk has.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// How many bytes an encoded chunk has, where the chain settles it: no compressor.
    #[must_use]
    pub fn encoded_len(&self) -> Option<u64> {
        self.lengths.last().copied().flatten()
    }

    /// What the array-to-array codecs compiled to.
    #[must_use]
    pub fn route(&self) -> &Route {
        &self.route
    }

    /// Decodes `region` of a chunk into `out`.
    ///
    /// # Shapes and units
    /// `encoded`: the whole encoded chunk. `region`: indices within the chunk, one slice an axis.
    /// `out`: of the region's shape; its elements are in memory's form.
    ///
    /// # Errors
    /// [`ChunkError`] if the bytes are not those of such a chunk; `out` may then be partly
    /// written.
    pub fn decode(
        &self,
        encoded: &[u8],
        region: &[Slice],
        out: &mut Output<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        let Scratch { bytes, elements, levels } = scratch;
        let leaf = self.decode_bytes(encoded, bytes)?;
        let place = &self.bound.leaf_place;
        let failed = |kind| chunk_error(place, kind);
        let leaf = self
            .bound
            .leaf
            .decode(leaf, self.elements, &self.bound.element, elements)
            .map_err(failed)?;
        let element = self.bound.element.moved(leaf.swapped);
        self.route.decode(leaf.bytes, region, out, element, levels).map_err(failed)
    }

    /// Encodes a chunk into `out`, which is emptied first.
    ///
    /// # Shapes and units
    /// `view` has the chunk's shape and leads to the elements in `data`; where it is masked out,
    /// the element `fill` is encoded instead.
    ///
    /// # Errors
    /// [`ChunkError`] if a value cannot be encoded, or the chain cannot write.
    pub fn encode(
        &self,
        data: &[u8],
        view: &View,
        fill: &[u8],
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        if let Some(place) = &self.bound.skipped {
            return Err(chunk_error(place, ChunkErrorKind::ReadOnly));
        }
        let Scratch { bytes, elements, levels } = scratch;
        let place = &self.bound.leaf_place;
        let failed = |kind| chunk_error(place, kind);
        let element = self.bound.element.moved(self.bound.leaf.swaps(&self.bound.element));
        self.route.encode(data, view, elements, element, fill, levels).map_err(failed)?;
        if self.bound.options.strict {
            self.bound.leaf.check_survival(elements, &self.bound.element).map_err(failed)?;
        }
        self.bound.leaf.encode(elements, &self.bound.element, out).map_err(failed)?;
        let (spare, _) = bytes;
        for (codec, place) in &self.bound.bytes {
            spare.clear();
            codec.encode(out, spare).map_err(|kind| chunk_error(place, kind))?;
            std::mem::swap(out, spare);
        }
        Ok(())
    }

    /// Undoes the bytes-to-bytes codecs, the last first.
    fn decode_bytes<'a>(
        &self,
        encoded: &'a [u8],
        (current, next): &'a mut (Vec<u8>, Vec<u8>),
    ) -> Result<&'a [u8], ChunkError> {
        let mut in_scratch = false;
        let mut length = encoded.len();
        let codecs = self.bound.bytes.iter().zip(&self.lengths).rev();
        for ((codec, place), decoded_len) in codecs {
            let failed = |kind| chunk_error(place, kind);
            let expected = match decoded_len {
                Some(length) => Expected::Exactly(*length),
                None => Expected::AtMost(self.bound.options.unknown_decoded_len),
            };
            let whole = if in_scratch { current.as_slice() } else { encoded };
            let input = whole.get(..length).unwrap_or(whole);
            if let Some(prefix) = codec.decoded_prefix(input) {
                length = prefix.map_err(failed)?;
                expected.check(length).map_err(failed)?;
                continue;
            }
            next.clear();
            codec.decode(input, expected, next).map_err(failed)?;
            expected.check(next.len()).map_err(failed)?;
            std::mem::swap(current, next);
            in_scratch = true;
            length = current.len();
        }
        let whole = if in_scratch { current.as_slice() } else { encoded };
        Ok(whole.get(..length).unwrap_or(whole))
    }
}

fn chunk_error(place: &Place, kind: ChunkErrorKind) -> ChunkError {
    ChunkError::new(&place.path, &place.name, kind)
}
