//! Encodes a chunk from the caller's elements.

use zarr_view::{CopyError, View};

use crate::array_to_bytes::ElementCodec;
use crate::array_to_bytes::bytes::check_range;
use crate::array_to_bytes::shard::ShardCodec;
use crate::bound::Bound;
use crate::element::swap;
use crate::error::{ChunkError, ChunkErrorKind};
use crate::scratch::{Bytes, Pool, Scratch};
use crate::transform::Slab;

use super::{ChunkCodec, ShapedCodec, chunk_error};

/// The result of encoding a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoded {
    /// A chunk with elements other than the fill value.
    Chunk,
    /// A chunk that holds only the fill value, bit by bit (SD-48). It reads the same if it is not
    /// stored.
    Empty,
}

/// The elements of a chunk to encode.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) data: &'a [u8],
    /// A view of the chunk's shape into `data`.
    pub(crate) view: &'a View,
    /// The element where the view is masked out.
    pub(crate) fill: &'a [u8],
}

/// Whether to encode a chunk that holds only the fill value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Empty {
    /// Encode it.
    Encode,
    /// Report it without encoding it.
    Leave,
}

impl ChunkCodec {
    /// Encodes a chunk into `out`, which is emptied first.
    ///
    /// # Shapes and units
    /// `view` has the chunk's shape and refers to the elements in `data`; where it is masked out,
    /// the element `fill` is encoded instead. Inner chunks of a shard are left out if all their
    /// elements are `fill` (SD-60).
    ///
    /// `out` is a valid chunk even if the result is [`Encoded::Empty`], for stores that can put
    /// but not delete.
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
    ) -> Result<Encoded, ChunkError> {
        self.encode_unless_empty(Input { data, view, fill }, Empty::Encode, out, scratch)
    }

    /// As [`encode`](ChunkCodec::encode), but may skip encoding a chunk that need not be stored.
    pub(crate) fn encode_unless_empty(
        &self,
        input: Input<'_>,
        empty: Empty,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Encoded, ChunkError> {
        self.check_writable()?;
        match &self.array_to_bytes {
            ShapedCodec::Elements(codec) => {
                let pool = &mut scratch.pool;
                self.share_memory(codec, out, pool);
                if let Some(content) = self.pack(codec, input, empty, out, pool) {
                    return content;
                }
                let Bound { element, array_to_bytes_path: place, .. } = &*self.bound;
                let moved = element.moved(codec.swaps(element));
                let Input { data, view, fill } = input;
                let elements = self
                    .transform
                    .encode(data, view, moved, fill, pool)
                    .map_err(|kind| chunk_error(place, kind))?;
                let fill = self.stored_fill(fill);
                self.encode_stored(codec, elements, &fill, empty, out, pool)
            }
            ShapedCodec::Shard(shard) => self.encode_shard(shard, input, empty, out, scratch),
            ShapedCodec::Mapped(_) => self.encode_mapped(input, empty, out, scratch),
        }
    }

    /// Gives the memory of `out` to the pool before it is written, unless a single compressor
    /// encodes the elements to the chunk: then both need their own memory.
    pub(super) fn share_memory(&self, codec: &ElementCodec, out: &mut Vec<u8>, pool: &mut Pool) {
        let one_step = matches!(codec, ElementCodec::Bytes { .. })
            && self.bound.bytes_to_bytes.len() == 1
            && self.transform.view().is_some();
        if !one_step {
            pool.give(std::mem::take(out).into());
        }
    }

    pub(super) fn check_writable(&self) -> Result<(), ChunkError> {
        match &self.bound.read_only {
            Some(place) => Err(chunk_error(place, ChunkErrorKind::ReadOnly)),
            None => Ok(()),
        }
    }

    /// The element `fill` in the form that stored elements have before encoding: canonical, and
    /// swapped if they are swapped.
    pub(crate) fn stored_fill(&self, fill: &[u8]) -> Vec<u8> {
        let element = &self.bound.element;
        let mut fill = fill.to_vec();
        element.canonicalise(&mut fill);
        if let ShapedCodec::Elements(codec) = &self.array_to_bytes {
            swap(&mut fill, element.moved(codec.swaps(element)));
        }
        fill
    }

    /// Encodes elements in stored order and, except for byte order, in in-memory form, as
    /// [`fill`](ChunkCodec::stored_fill) is.
    pub(super) fn encode_stored(
        &self,
        codec: &ElementCodec,
        elements: Bytes<'_>,
        fill: &[u8],
        empty: Empty,
        out: &mut Vec<u8>,
        pool: &mut Pool,
    ) -> Result<Encoded, ChunkError> {
        let Bound { element, array_to_bytes_path: place, .. } = &*self.bound;
        let failed = |kind| chunk_error(place, kind);
        if let ElementCodec::Packbits { packing, padding } = codec {
            let mut elements = elements.into_buffer(pool).map_err(failed)?;
            let mut pieces = self.pieces(codec, packing, *padding, fill.to_vec(), pool)?;
            let packed = pieces.pack(0, Slab::Copied(&mut elements));
            pool.give(elements);
            packed.map_err(failed)?;
            return self.finish(pieces, empty, out, pool);
        }
        let storable = self.storable(elements, fill, empty, pool).map_err(failed)?;
        let Some((mut elements, content)) = storable else { return Ok(Encoded::Empty) };
        if element.is_mixed() {
            let mut buffer = elements.into_buffer(pool).map_err(failed)?;
            codec.swap_fields(&mut buffer, element);
            elements = Bytes::Taken(buffer);
        }
        self.encode_bytes(elements, out, pool)?;
        Ok(content)
    }

    /// Refuses elements that cannot be stored, unless a loss is allowed, which cuts them. Also says
    /// whether all are `fill`, which has the form of [`stored_fill`](ChunkCodec::stored_fill); `None`
    /// if such a chunk is to be left out.
    pub(super) fn storable<'e>(
        &self,
        mut elements: Bytes<'e>,
        fill: &[u8],
        empty: Empty,
        pool: &mut Pool,
    ) -> Result<Option<(Bytes<'e>, Encoded)>, ChunkErrorKind> {
        let Bound { element, options, .. } = &*self.bound;
        element.check(&elements)?;
        if options.allow_loss && element.is_sub_byte() {
            let mut buffer = elements.into_buffer(pool)?;
            element.canonicalise(&mut buffer);
            elements = Bytes::Taken(buffer);
        }
        let is_empty = fill.len() == element.size() && holds_only(&elements, fill);
        if is_empty && empty == Empty::Leave {
            elements.give_to(pool);
            return Ok(None);
        }
        check_range(&elements, element, options.allow_loss)?;
        Ok(Some((elements, if is_empty { Encoded::Empty } else { Encoded::Chunk })))
    }

    fn encode_shard(
        &self,
        shard: &ShardCodec,
        input: Input<'_>,
        empty: Empty,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Encoded, ChunkError> {
        self.check_limit()?;
        let Scratch { pool, shard: shard_scratch, .. } = scratch;
        let place = &self.bound.array_to_bytes_path;
        let failed = |kind| chunk_error(place, kind);
        let shard_scratch = shard_scratch.get_or_insert_default();
        let Input { data, view, fill } = input;
        if out.capacity() == 0 {
            *out = pool.take_empty();
        }
        let content = if let Some(view) = self.transform.stored_view(view) {
            shard.encode(Input { view: &view, ..input }, empty, out, shard_scratch)?
        } else {
            let moved = self.bound.element.moved(false);
            let elements = self.transform.encode(data, view, moved, fill, pool).map_err(failed)?;
            let whole = View::contiguous(self.transform.stored_shape())
                .map_err(|error| failed(CopyError::from(error).into()))?;
            let input = Input { data: &elements, view: &whole, fill };
            let content = shard.encode(input, empty, out, shard_scratch)?;
            elements.give_to(pool);
            content
        };
        if !self.bound.bytes_to_bytes.is_empty()
            && (content, empty) != (Encoded::Empty, Empty::Leave)
        {
            self.encode_bytes(Bytes::Taken(std::mem::take(out).into()), out, pool)?;
        }
        Ok(content)
    }
}

/// Whether every element has these bytes.
pub(super) fn holds_only(elements: &[u8], value: &[u8]) -> bool {
    // All elements equal the first if the bytes equal themselves shifted by one element.
    let later = elements.get(value.len()..);
    elements.starts_with(value) && later.is_some_and(|later| elements.starts_with(later))
}
