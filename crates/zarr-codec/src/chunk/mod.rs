//! The codec of the chunks of one shape.

mod bytes;
mod elements;
mod mapped;
mod pack;
mod rows;
mod small;
mod spans;

use std::sync::Arc;

use zarr_view::{CopyError, Element, Output, View};

use crate::array_to_bytes::bytes::check_range;
use crate::array_to_bytes::shard::{Available, ShardCodec, ShardDecoder, ShardIndex};
use crate::array_to_bytes::{ArrayToBytes, ElementCodec};
use crate::bytes_to_bytes::BytesToBytes;
use crate::chain::Bound;
use crate::codec_path::CodecPath;
use crate::error::{ChainError, ChainErrorKind, ChunkError, ChunkErrorKind};
use crate::length::widen;
use crate::scratch::{Bytes, Pool, Scratch};
use crate::transform::{ArrayTransform, NestedError, Slab, Slice, Source};

use mapped::MappedCodec;

pub use elements::{ChunkElements, Order};
pub(crate) use small::SmallChunkCopy;

/// Decodes and encodes chunks of one shape; made by [`Chain::for_shape`](crate::Chain::for_shape).
///
/// Cheap to share between threads; the state of decoding and encoding is in the caller's
/// [`Scratch`].
#[derive(Clone, Debug)]
pub struct ChunkCodec {
    bound: Arc<Bound>,
    transform: ArrayTransform,
    array_to_bytes: ShapedCodec,
    elements: usize,
    /// The length of each bytes-to-bytes codec's input on encoding, if it is fixed.
    lengths: Vec<Option<u64>>,
    /// As `lengths`, but the most that ordinary encoders produce for such a chunk.
    most: Vec<u64>,
    /// The first bytes-to-bytes codec, if it is one for this shape.
    shaped: Option<Arc<dyn BytesToBytes>>,
}

/// The array-to-bytes codec for one shape.
#[derive(Clone, Debug)]
enum ShapedCodec {
    Elements(ElementCodec),
    Shard(ShardCodec),
    Mapped(MappedCodec),
}

/// The result of encoding a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoded {
    /// A chunk with elements other than the fill value.
    Chunk,
    /// A chunk that holds only the fill value, bit by bit (SD-48): reading gives the same if it
    /// is not stored.
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

/// What to do with a chunk that holds only the fill value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Empty {
    /// Encode it.
    Encode,
    /// Report it without encoding it.
    Leave,
}

impl ChunkCodec {
    pub(crate) fn new(bound: &Arc<Bound>, chunk_shape: &[u64]) -> Result<Self, ChainError> {
        let too_large = || {
            let kind = ChainErrorKind::AddressSpace { shape: chunk_shape.to_vec() };
            bound.whole().error(kind)
        };
        let shapes = bound.shapes(chunk_shape)?;
        let transform =
            ArrayTransform::new(&bound.array_to_array, &shapes, bound.options.unknown_decoded_len)
                .ok_or_else(too_large)?;
        let elements = transform.elements();
        // All sizes in memory are at most this product, so none of them can overflow.
        let in_memory = elements.checked_mul(bound.element.size().max(1));
        if in_memory.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
            return Err(too_large());
        }
        let (array_to_bytes, stored_len) = match &bound.array_to_bytes {
            ArrayToBytes::Elements(codec) => {
                let length = codec.encoded_len(elements, &bound.element).ok_or_else(too_large)?;
                (ShapedCodec::Elements(codec.clone()), Some(widen(length)))
            }
            ArrayToBytes::Shard(shard) => {
                let shard =
                    ShardCodec::new(shard, &bound.array_to_bytes_path, transform.stored_shape())?;
                (ShapedCodec::Shard(shard), None)
            }
            ArrayToBytes::Mapped(mapped) => {
                let shape: Vec<u64> = transform.stored_shape().iter().map(|n| widen(*n)).collect();
                let inner = Box::new(mapped.inner.for_shape(&shape)?);
                let length = inner.encoded_len();
                (ShapedCodec::Mapped(MappedCodec { inner }), length)
            }
        };
        let mut lengths = vec![stored_len];
        let mut most = vec![match &array_to_bytes {
            ShapedCodec::Elements(_) => stored_len.unwrap_or(u64::MAX),
            ShapedCodec::Shard(shard) => shard.accounted_len(),
            ShapedCodec::Mapped(mapped) => mapped.inner.most_encoded(),
        }];
        let (shaped, bound) = (bytes::shaped(bound, &transform), Arc::clone(bound));
        for (index, (codec, _)) in bound.bytes_to_bytes.iter().enumerate() {
            let codec = shaped.as_deref().filter(|_| index == 0).unwrap_or(&**codec);
            lengths.push(codec.encoded_len(lengths.last().copied().flatten()));
            most.push(codec.most_encoded(most.last().copied().unwrap_or(u64::MAX)));
        }
        Ok(Self { bound, transform, array_to_bytes, elements, lengths, most, shaped })
    }

    /// The chunk's shape.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.transform.chunk_shape()
    }

    /// The number of elements of a chunk.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Bytes of an element in memory.
    pub(crate) fn element_size(&self) -> usize {
        self.bound.element.size()
    }

    /// The number of bytes of the elements in memory.
    pub(crate) fn bytes(&self) -> u64 {
        // Does not overflow, as checked when the codec was made.
        widen(self.elements.saturating_mul(self.bound.element.size()))
    }

    /// The length of an encoded chunk, if the chain determines it: no compressor, no shard.
    #[must_use]
    pub fn encoded_len(&self) -> Option<u64> {
        self.lengths.last().copied().flatten()
    }

    /// The most bytes that ordinary encoders produce for such a chunk.
    fn most_encoded(&self) -> u64 {
        self.most.last().copied().unwrap_or(u64::MAX)
    }

    /// The compiled array-to-array codecs.
    #[must_use]
    pub fn transform(&self) -> &ArrayTransform {
        &self.transform
    }

    /// The codec of the shard, if the array-to-bytes codec is one: its index and its inner chunks
    /// can be read separately.
    #[must_use]
    pub fn shard(&self) -> Option<&ShardCodec> {
        match &self.array_to_bytes {
            ShapedCodec::Shard(shard) => Some(shard),
            ShapedCodec::Elements(_) | ShapedCodec::Mapped(_) => None,
        }
    }

    /// Decodes `region` of a chunk into `out`.
    ///
    /// # Shapes and units
    /// `encoded`: the whole encoded chunk. `region`: indices within the chunk, one slice per axis.
    /// `out`: of the region's shape; its elements are in in-memory form. `fill`: the element of
    /// inner chunks that a shard leaves out.
    ///
    /// # Errors
    /// [`ChunkError`] if the bytes are not those of such a chunk; `out` may then be partly
    /// written.
    pub fn decode(
        &self,
        encoded: &[u8],
        region: &[Slice],
        out: &mut Output<'_>,
        fill: &[u8],
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        let Scratch { pool, shard: shard_scratch, .. } = scratch;
        let Bound { element, array_to_bytes_path: place, .. } = &*self.bound;
        let failed = |error: NestedError| error.at(place);
        if let Some(elements) = self.decoded_place(region, out) {
            self.decode_bytes_to(encoded, elements, pool)?;
            return element.check(elements).map_err(|kind| chunk_error(place, kind));
        }
        if let ShapedCodec::Mapped(_) = &self.array_to_bytes {
            // Skip the bytes-to-bytes codecs of this chain: they belong to the chain after the
            // codec.
            let elements = self.mapped_elements(Bytes::Lent(encoded), fill, scratch)?;
            let mut source = Source::Elements(Bytes::Taken(elements), element.moved(false));
            let pool = &mut scratch.pool;
            self.transform.decode(&mut source, region, out, pool).map_err(failed)?;
            source.give_to(pool);
            return Ok(());
        }
        let bytes = self.decode_bytes(Bytes::Lent(encoded), pool)?;
        match &self.array_to_bytes {
            ShapedCodec::Mapped(_) => {}
            ShapedCodec::Elements(codec) => {
                let source = Source::new(codec, bytes, self.elements, element, pool);
                let mut source = source.map_err(|kind| chunk_error(place, kind))?;
                self.transform.decode(&mut source, region, out, pool).map_err(failed)?;
                source.give_to(pool);
            }
            ShapedCodec::Shard(shard) => {
                let scratch = shard_scratch.get_or_insert_default();
                let decoder = ShardDecoder::new(shard, &bytes, fill, scratch)?;
                let mut source = Source::Shard(decoder);
                self.transform.decode(&mut source, region, out, pool).map_err(failed)?;
                drop(source);
                bytes.give_to(pool);
            }
        }
        Ok(())
    }

    /// The memory of `out`, if the stored bytes are its elements in the same order: then a
    /// compressor can write directly to it. That is so for a whole chunk in which nothing moves.
    fn decoded_place<'o>(&self, region: &[Slice], out: &'o mut Output<'_>) -> Option<&'o mut [u8]> {
        let Bound { element, bytes_to_bytes, .. } = &*self.bound;
        let ShapedCodec::Elements(codec) = &self.array_to_bytes else { return None };
        let as_stored = !bytes_to_bytes.is_empty()
            && codec.stores_memory(element)
            && !codec.swaps(element)
            && self.transform.view().is_some_and(View::is_contiguous);
        let mut axes = region.iter().zip(self.shape());
        let is_all = region.len() == self.shape().len()
            && axes.all(|(slice, size)| *slice == Slice::from(0..*size));
        let has_shape = out.view().shape() == self.shape() && out.element_size() == element.size();
        if as_stored && is_all && has_shape { out.as_mut_slice() } else { None }
    }

    /// As [`decode`](ChunkCodec::decode), for a `shard` that is the array-to-bytes codec, when
    /// the index and some bytes of it are known.
    #[expect(clippy::too_many_arguments, reason = "those of decode, and of the shard")]
    pub(crate) fn decode_available(
        &self,
        shard: &ShardCodec,
        available: Available<'_>,
        index: &ShardIndex,
        region: &[Slice],
        out: &mut Output<'_>,
        fill: &[u8],
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        let Scratch { pool, shard: shard_scratch, .. } = scratch;
        let scratch = shard_scratch.get_or_insert_default();
        let mut source =
            Source::Shard(ShardDecoder::with_index(shard, available, index, fill, scratch));
        self.transform
            .decode(&mut source, region, out, pool)
            .map_err(|error| error.at(&self.bound.array_to_bytes_path))
    }

    /// Undoes the bytes-to-bytes codecs of an encoded chunk: returns the output of the
    /// array-to-bytes codec, such as a shard.
    ///
    /// # Errors
    /// [`ChunkError`] if a compressor or a checksum refuses them.
    pub fn decompress<'a>(
        &self,
        encoded: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8], ChunkError> {
        let Scratch { pool, decompressed, .. } = scratch;
        pool.give(std::mem::take(decompressed));
        let (mut codec, mut bytes) = (self, Bytes::Lent(encoded));
        let bytes = loop {
            bytes = codec.decode_bytes(bytes, pool)?;
            match codec.mapped() {
                Some((_, inner)) => codec = inner,
                None => break bytes,
            }
        };
        match bytes {
            Bytes::Lent(bytes) => Ok(bytes),
            Bytes::Taken(buffer) => {
                *decompressed = buffer;
                Ok(decompressed)
            }
        }
    }

    /// Decodes a whole chunk into `elements`, in C order; it must have their length.
    pub(crate) fn decode_whole(
        &self,
        encoded: &[u8],
        elements: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        let failed = |error: NestedError| error.at(&self.bound.array_to_bytes_path);
        let everything: Vec<Slice> = self.shape().iter().map(|size| (0..*size).into()).collect();
        let whole = View::contiguous(self.shape());
        let whole = whole.map_err(|error| failed(CopyError::from(error).into()))?;
        let mut out = Output::new(elements, &whole, self.bound.element.size())
            .map_err(|error| failed(error.into()))?;
        self.decode(encoded, &everything, &mut out, &[], scratch)
    }

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
                let elements = match self.transform.lent(data, view, moved) {
                    Some(elements) => Bytes::Lent(elements),
                    None => Bytes::Taken(
                        self.transform
                            .encode(data, view, moved, fill, pool)
                            .map_err(|kind| chunk_error(place, kind))?,
                    ),
                };
                let fill = self.stored_fill(fill);
                self.encode_stored(codec, elements, &fill, empty, out, pool)
            }
            ShapedCodec::Shard(shard) => self.encode_shard(shard, input, empty, out, scratch),
            ShapedCodec::Mapped(_) => self.encode_mapped(input, empty, out, scratch),
        }
    }

    /// Gives the memory of `out` to the pool before it is written, unless a single compressor
    /// turns the elements into the chunk: then both need their own.
    fn share_memory(&self, codec: &ElementCodec, out: &mut Vec<u8>, pool: &mut Pool) {
        let one_step = matches!(codec, ElementCodec::Bytes { .. })
            && self.bound.bytes_to_bytes.len() == 1
            && self.transform.view().is_some();
        if !one_step {
            pool.give(std::mem::take(out).into());
        }
    }

    /// The error for bytes that are supplied after a region has been decoded.
    pub(crate) fn nothing_needed(&self) -> ChunkError {
        chunk_error(&self.bound.array_to_bytes_path, ChunkErrorKind::NothingNeeded)
    }

    fn check_writable(&self) -> Result<(), ChunkError> {
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

    /// Encodes elements that are in stored order and, except for what the codec swaps, in
    /// in-memory form. So is [`fill`](ChunkCodec::stored_fill).
    fn encode_stored(
        &self,
        codec: &ElementCodec,
        mut elements: Bytes<'_>,
        fill: &[u8],
        empty: Empty,
        out: &mut Vec<u8>,
        pool: &mut Pool,
    ) -> Result<Encoded, ChunkError> {
        let Bound { element, array_to_bytes_path: place, options, .. } = &*self.bound;
        let failed = |kind| chunk_error(place, kind);
        if let ElementCodec::Packbits { packing, padding } = codec {
            let mut elements = elements.into_buffer(pool).map_err(failed)?;
            let mut pieces = self.pieces(codec, packing, *padding, fill.to_vec(), pool)?;
            let packed = pieces.pack(0, Slab::Copied(&mut elements));
            pool.give(elements);
            packed.map_err(failed)?;
            return self.finish(pieces, empty, out, pool);
        }
        element.check(&elements).map_err(failed)?;
        if options.allow_loss && element.is_sub_byte() {
            let mut buffer = elements.into_buffer(pool).map_err(failed)?;
            element.canonicalise(&mut buffer);
            elements = Bytes::Taken(buffer);
        }
        let is_empty = fill.len() == element.size() && holds_only(&elements, fill);
        if is_empty && empty == Empty::Leave {
            elements.give_to(pool);
            return Ok(Encoded::Empty);
        }
        check_range(&elements, element, options.allow_loss).map_err(failed)?;
        if element.is_mixed() {
            let mut buffer = elements.into_buffer(pool).map_err(failed)?;
            codec.swap_fields(&mut buffer, element);
            elements = Bytes::Taken(buffer);
        }
        self.encode_bytes(elements, out, pool)?;
        Ok(if is_empty { Encoded::Empty } else { Encoded::Chunk })
    }

    fn encode_shard(
        &self,
        shard: &ShardCodec,
        input: Input<'_>,
        empty: Empty,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Encoded, ChunkError> {
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
            pool.give(elements);
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

fn chunk_error(place: &CodecPath, kind: ChunkErrorKind) -> ChunkError {
    place.chunk_error(kind)
}

/// Reverses each unit of an element, if elements are swapped.
pub(crate) fn swap(value: &mut [u8], element: Element) {
    for unit in value.chunks_exact_mut(element.unit().max(1)) {
        unit.reverse();
    }
}

/// Whether every element has these bytes.
fn holds_only(elements: &[u8], value: &[u8]) -> bool {
    // All elements equal the first if the bytes equal themselves shifted by one element.
    let later = elements.get(value.len()..);
    elements.starts_with(value) && later.is_some_and(|later| elements.starts_with(later))
}
