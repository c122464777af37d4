//! Many small chunks of one shape, as in shards: everything they share is computed once.
//!
//! The inner chunks of a shard lie in the caller's memory at the same strides, so one plan copies
//! the elements of each of them. For a chunk of 16 x 16, making its own views and plan would take
//! longer than everything else.
//!
//! Without a bytes-to-bytes codec, elements go directly from the encoded bytes, or through one
//! buffer if they are packed. Even passing the buffers of a pool around is expensive: a load of a
//! different width than the store just before it waits for all earlier stores. These include the
//! rows of the last chunk, which are far apart and not in the cache.

use zarr_view::{CopyPlan, Output, View};

use super::encode::holds_only;
use super::{ChunkCodec, Empty, Encoded, ShapedCodec, chunk_error};
use crate::array_to_bytes::{ElementCodec, StoredElements, bytes, packbits};
use crate::bound::Bound;
use crate::bytes_to_bytes::reserve;
use crate::error::{ChunkError, ChunkErrorKind};
use crate::scratch::{Bytes, Scratch};

/// From this number of bytes of elements on, a chunk gets its own view and plan. It can then be
/// decompressed or unpacked in place, which saves more than they cost.
const SMALL: usize = 64 << 10;

/// Moves the elements of small chunks from or to the caller's memory.
pub(crate) struct SmallChunkCopy<'c> {
    codec: &'c ChunkCodec,
    array_to_bytes: &'c ElementCodec,
    copy: CopyPlan,
    /// Buffer for the elements of a chunk in stored order, where they are packed or unpacked;
    /// empty until then.
    elements: Vec<u8>,
}

impl<'c> SmallChunkCopy<'c> {
    /// A decoder of chunks into boxes of an output; `place` is the output's view of one box. `None`
    /// if decoding each chunk separately is faster.
    pub(crate) fn decoder(codec: &'c ChunkCodec, place: &View) -> Option<Self> {
        let (array_to_bytes, view) = codec.small_codec()?;
        if place.mask().is_some() {
            return None;
        }
        let element = &codec.bound.element;
        let copy = CopyPlan::new(view, place, element.moved(array_to_bytes.swaps(element))).ok()?;
        Some(Self { codec, array_to_bytes, copy, elements: Vec::new() })
    }

    /// An encoder of chunks from boxes of a view without a mask, with these strides. `None` if
    /// encoding each chunk separately is faster.
    pub(crate) fn encoder(codec: &'c ChunkCodec, strides: &[isize]) -> Option<Self> {
        let (array_to_bytes, view) = codec.small_codec()?;
        // Starting at the first element, which must have the lowest position.
        let source = View::new(codec.shape(), strides, 0).ok()?;
        let element = &codec.bound.element;
        let copy =
            CopyPlan::new(&source, view, element.moved(array_to_bytes.swaps(element))).ok()?;
        Some(Self { codec, array_to_bytes, copy, elements: Vec::new() })
    }

    /// Decodes a chunk to the box of `out` that starts at index `at`.
    pub(crate) fn decode(
        &mut self,
        encoded: &[u8],
        at: &[usize],
        out: &mut Output<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        let Bound { element, array_to_bytes_path: place, bytes_to_bytes, .. } = &*self.codec.bound;
        let failed = |kind| chunk_error(place, kind);
        let mut run = |copy: &CopyPlan, elements: &[u8]| {
            out.run_at(at, copy, elements, &[]).map_err(|error| failed(error.into()))
        };
        match self.array_to_bytes {
            codec if bytes_to_bytes.is_empty() && codec.stores_memory(element) => {
                bytes::check(encoded, self.codec.elements, element).map_err(failed)?;
                return run(&self.copy, encoded);
            }
            ElementCodec::Packbits { packing, padding } if bytes_to_bytes.is_empty() => {
                // Checks the length before allocating memory in proportion to the elements.
                let elements = self.codec.elements;
                let packed = packing.packed_part(encoded, elements, *padding);
                let packed = packed.map_err(|error| failed(error.into()))?;
                self.make_room().map_err(failed)?;
                packing.unpack(packed, &mut self.elements).map_err(|error| failed(error.into()))?;
                return run(&self.copy, &self.elements);
            }
            _ => {}
        }
        let pool = &mut scratch.pool;
        let bytes = self.codec.decode_bytes(Bytes::Lent(encoded), pool)?;
        let decoded = self.array_to_bytes.decode(bytes, self.codec.elements, element, pool);
        let StoredElements { bytes, .. } = decoded.map_err(failed)?;
        run(&self.copy, &bytes)?;
        bytes.give_to(pool);
        Ok(())
    }

    /// Encodes the chunk that starts at the first element of `data`. Returns its bytes, in this
    /// memory or in `out`, or `None` if all its elements are `fill`, which has the form of
    /// [`stored_fill`](ChunkCodec::stored_fill).
    pub(crate) fn encode<'b>(
        &'b mut self,
        data: &[u8],
        fill: &[u8],
        out: &'b mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Option<&'b [u8]>, ChunkError> {
        let Bound { element, array_to_bytes_path: place, bytes_to_bytes, options, .. } =
            &*self.codec.bound;
        let failed = |kind| chunk_error(place, kind);
        self.codec.check_writable()?;
        if bytes_to_bytes.is_empty() {
            self.make_room().map_err(failed)?;
            let copied = self.copy.run(data, &mut self.elements, &[]);
            copied.map_err(|error| failed(error.into()))?;
            element.check(&self.elements).map_err(failed)?;
            if options.allow_loss {
                element.canonicalise(&mut self.elements);
            }
            if fill.len() == element.size() && holds_only(&self.elements, fill) {
                return Ok(None);
            }
            let ElementCodec::Packbits { packing, padding } = self.array_to_bytes else {
                bytes::check_range(&self.elements, element, options.allow_loss).map_err(failed)?;
                self.array_to_bytes.swap_fields(&mut self.elements, element);
                return Ok(Some(&self.elements));
            };
            let refuse = !options.allow_loss && self.array_to_bytes.losing(element).is_some();
            let packed = packbits::encode_to(packing, *padding, &self.elements, out, refuse);
            return packed.map(|()| Some(&**out)).map_err(failed);
        }
        let pool = &mut scratch.pool;
        self.codec.share_memory(self.array_to_bytes, out, pool);
        let taken = pool.take(self.codec.elements * element.size());
        let mut elements = taken.map_err(failed)?;
        let copied = self.copy.run(data, &mut elements, &[]);
        copied.map_err(|error| failed(error.into()))?;
        let content = self.codec.encode_stored(
            self.array_to_bytes,
            Bytes::Taken(elements),
            fill,
            Empty::Leave,
            out,
            pool,
        )?;
        Ok((content == Encoded::Chunk).then_some(out))
    }

    /// Allocates the buffer for the elements of a chunk.
    fn make_room(&mut self) -> Result<(), ChunkErrorKind> {
        let len = self.codec.elements * self.codec.element_size();
        if self.elements.len() != len {
            reserve(&mut self.elements, len)?;
            self.elements.resize(len, 0);
        }
        Ok(())
    }
}

impl ChunkCodec {
    /// The codec, and the stored positions in the chunk's shape, if one plan can serve all chunks.
    fn small_codec(&self) -> Option<(&ElementCodec, &View)> {
        let ShapedCodec::Elements(array_to_bytes) = &self.array_to_bytes else { return None };
        let bytes = self.elements * self.bound.element.size();
        Some((array_to_bytes, self.transform.view().filter(|_| bytes <= SMALL)?))
    }
}
