//! The codec of the chunks of one shape.

pub(crate) mod bytes;
mod elements;
mod encode;
mod inner_part;
mod mapped;
mod pack;
mod rows;
mod small;
mod spans;
mod window;

use std::sync::Arc;

use zarr_view::{CopyError, Output, View};

use crate::array_to_bytes::shard::{Available, ShardCodec, ShardDecoder, ShardIndex};
use crate::array_to_bytes::{ArrayToBytes, ElementCodec};
use crate::bound::Bound;
use crate::bytes_to_bytes::{BytesToBytes, ordinary};
use crate::codec_path::CodecPath;
use crate::error::{ChainError, ChunkError, ChunkErrorKind};
use crate::length::widen;
use crate::scratch::{Bytes, Scratch};
use crate::transform::{ArrayTransform, NestedError, Slice, Source, check_shape};

pub use elements::{ChunkElements, Order};
pub use encode::Encoded;
pub(crate) use encode::{Empty, Input};
pub use inner_part::{InnerChanges, InnerPart};
pub(crate) use small::SmallChunkCopy;

/// Decodes and encodes chunks of one shape; made by [`Chain::for_shape`](crate::Chain::for_shape).
///
/// Cheap to share between threads; the state of decoding and encoding is in the caller's
/// [`Scratch`].
#[derive(Clone, Debug)]
pub struct ChunkCodec {
    pub(crate) bound: Arc<Bound>,
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
    /// The chain after a codec that changes values.
    Mapped(Box<ChunkCodec>),
}

impl ChunkCodec {
    pub(crate) fn new(bound: &Arc<Bound>, chunk_shape: &[u64]) -> Result<Self, ChainError> {
        let too_large = || bound.too_large(chunk_shape);
        let transform = bound.transform(chunk_shape)?;
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
                (ShapedCodec::Mapped(inner), length)
            }
        };
        let mut lengths = vec![stored_len];
        let mut most = vec![match &array_to_bytes {
            ShapedCodec::Elements(_) => stored_len.unwrap_or(u64::MAX),
            ShapedCodec::Shard(shard) => shard.accounted_len(),
            ShapedCodec::Mapped(mapped) => mapped.most_encoded(),
        }];
        let (shaped, bound) = (bound.shaped(transform.stored_shape()), Arc::clone(bound));
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
        widen(self.elements * self.bound.element.size())
    }

    /// The length of an encoded chunk in bytes, if the chain determines it: no compressor, no
    /// shard.
    #[must_use]
    pub fn encoded_len(&self) -> Option<u64> {
        self.lengths.last().copied().flatten()
    }

    /// The most bytes that ordinary encoders produce for such a chunk.
    fn most_encoded(&self) -> u64 {
        self.most.last().copied().unwrap_or(u64::MAX)
    }

    /// The most bytes that a reader needs to accept for an encoded chunk: twice the output of
    /// ordinary encoders for incompressible elements, plus a mebibyte. Valid chunks may be longer,
    /// such as shards with unused bytes. So compare with it only in stores that expand few bytes to
    /// many, such as archives.
    #[must_use]
    pub fn ordinary_encoded(&self) -> u64 {
        ordinary(self.most_encoded())
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
    /// inner chunks that a shard does not store.
    ///
    /// # Errors
    /// [`ChunkError`] if the bytes are not such a chunk; `out` may then be partly written.
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
            check_shape(region, out).map_err(|error| failed(error.into()))?;
            let encoded = Bytes::Lent(encoded);
            let mut source = self.mapped_source(encoded, region, out.view(), fill, scratch)?;
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

    /// The memory of `out`, if a compressor can write directly to it: the chunk is read whole, and its
    /// stored bytes are the elements in the same order.
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

    /// Decodes the bytes-to-bytes codecs of an encoded chunk: returns the output of the
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

    /// Decodes a whole chunk into `elements`, in C order; it must have their length. `fill` is the
    /// element where no inner chunk is stored.
    pub(crate) fn decode_whole(
        &self,
        encoded: &[u8],
        elements: &mut [u8],
        fill: &[u8],
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        let failed = |error: NestedError| error.at(&self.bound.array_to_bytes_path);
        let whole = View::contiguous(self.shape());
        let whole = whole.map_err(|error| failed(CopyError::from(error).into()))?;
        let mut out = Output::new(elements, &whole, self.bound.element.size())
            .map_err(|error| failed(error.into()))?;
        self.decode(encoded, &self.everything(), &mut out, fill, scratch)
    }

    /// The region of all elements.
    fn everything(&self) -> Vec<Slice> {
        self.shape().iter().map(|size| (0..*size).into()).collect()
    }

    /// Refuses a chunk, read or written, if a part of it may need a buffer for all elements of a
    /// shard: a few bytes may expand to any number of them.
    fn check_limit(&self) -> Result<(), ChunkError> {
        let limit = self.bound.options.unknown_decoded_len;
        match self.transform.order() {
            None if self.bytes() > limit => {
                Err(self.failed(ChunkErrorKind::DecodedLimit { limit }))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn failed(&self, kind: ChunkErrorKind) -> ChunkError {
        chunk_error(&self.bound.array_to_bytes_path, kind)
    }
}

fn chunk_error(place: &CodecPath, kind: ChunkErrorKind) -> ChunkError {
    place.chunk_error(kind)
}
