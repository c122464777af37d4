//! The codec of the chunks of one shape, with elements of variable length.

use std::borrow::Cow;
use std::sync::Arc;

use zarr_metadata::{MetadataError, json2_elements};
use zarr_view::{CopyError, Run, View, ViewError};

use super::ByteStrings;
use super::bound::{ArrayToBytes, Bound};
use super::optional::Optional;
use super::shard::ShapedShard;
use super::vlen::{self, Elements};
use crate::array_to_bytes::shard::unravel;
use crate::bytes_to_bytes::{check_encoded, with_room};
use crate::chunk::bytes::decode_up_to;
use crate::chunk::{ChunkCodec, Encoded};
use crate::error::{ChainError, ChunkError, ChunkErrorKind};
use crate::length::widen;
use crate::scratch::{Bytes, Pool};
use crate::transform::{ArrayTransform, Slice, sliced};

/// Decodes and encodes chunks of one shape; made by
/// [`VariableChain::for_shape`](crate::VariableChain::for_shape).
#[derive(Clone, Debug)]
pub struct VariableChunkCodec {
    bound: Arc<Bound>,
    transform: ArrayTransform,
    array_to_bytes: ShapedCodec,
    elements: usize,
    /// Bytes that the bytes-to-bytes codecs may decode to.
    limit: u64,
}

/// The array-to-bytes codec for one shape.
#[derive(Clone, Debug)]
enum ShapedCodec {
    Vlen,
    Json,
    Shard(Box<ShapedShard>),
    /// `zarrs.optional`, and the codec of its mask.
    Optional(Arc<Optional>, Box<ChunkCodec>),
}

impl VariableChunkCodec {
    pub(super) fn new(bound: &Arc<Bound>, chunk_shape: &[u64]) -> Result<Self, ChainError> {
        let transform = bound.transform(chunk_shape)?;
        let limit = bound.options.unknown_decoded_len;
        let array_to_bytes = match &bound.array_to_bytes {
            ArrayToBytes::Vlen => ShapedCodec::Vlen,
            ArrayToBytes::Json => ShapedCodec::Json,
            ArrayToBytes::Shard(shard) => {
                let place = &bound.array_to_bytes_path;
                let shard = ShapedShard::new(shard, place, transform.stored_shape())?;
                ShapedCodec::Shard(Box::new(shard))
            }
            ArrayToBytes::Optional(optional) => {
                let mask = optional.mask_for(transform.stored_shape())?;
                ShapedCodec::Optional(Arc::clone(optional), Box::new(mask))
            }
        };
        let elements = transform.elements();
        Ok(Self { bound: Arc::clone(bound), transform, array_to_bytes, elements, limit })
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

    /// The compiled array-to-array codecs.
    #[must_use]
    pub fn transform(&self) -> &ArrayTransform {
        &self.transform
    }

    /// The number of inner chunks on each axis of the stored shape, if the array-to-bytes codec is a
    /// shard.
    #[must_use]
    pub fn inner_grid(&self) -> Option<&[usize]> {
        self.shard().map(ShapedShard::grid_shape)
    }

    /// The shard, if the array-to-bytes codec is one.
    pub(super) fn shard(&self) -> Option<&ShapedShard> {
        match &self.array_to_bytes {
            ShapedCodec::Vlen | ShapedCodec::Json | ShapedCodec::Optional(..) => None,
            ShapedCodec::Shard(shard) => Some(shard),
        }
    }

    /// Whether codecs follow the array-to-bytes codec.
    pub(super) fn has_codecs_after(&self) -> bool {
        !self.bound.bytes_to_bytes.is_empty()
    }

    /// The number of bytes that follow the output of the array-to-bytes codec in an encoded chunk,
    /// if it begins with that output, unchanged.
    pub(super) fn bytes_after(&self) -> Option<u64> {
        let codecs = &self.bound.bytes_to_bytes;
        codecs.iter().try_fold(0, |length, (codec, _)| {
            (codec.input_offset() == Some(0)).then(|| codec.encoded_len(Some(length)))?
        })
    }

    /// The same codec, for chunks with elements of at most `bytes` bytes, lengths included; others
    /// are refused with [`ChunkErrorKind::DecodedLimit`]. It can only lower the
    /// [limit](crate::Options::unknown_decoded_len) of the chain.
    #[must_use]
    pub fn with_limit(self, bytes: u64) -> Self {
        Self { limit: self.limit.min(bytes), ..self }
    }

    /// The most bytes that a reader needs to accept for an encoded chunk: the
    /// [limit](crate::Options::unknown_decoded_len) of the chain, as no document says how long elements
    /// are.
    #[must_use]
    pub fn ordinary_encoded(&self) -> u64 {
        self.limit
    }

    /// The inner chunks of a shard that are stored although all their elements are `fill`: the
    /// index of the first in the grid of inner chunks, and the number of others. `None` if there
    /// are none, or no shard.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn fill_only(
        &self,
        encoded: &[u8],
        fill: &[u8],
    ) -> Result<Option<(Vec<usize>, u64)>, ChunkError> {
        match self.shard() {
            Some(shard) => shard.fill_only(&self.decompress(encoded)?, fill),
            None => Ok(None),
        }
    }

    /// Decodes `region` of a chunk: its elements in C order.
    ///
    /// # Shapes and units
    /// `encoded`: the whole encoded chunk. `region`: indices within the chunk, one slice per axis.
    /// `fill`: the element of inner chunks that a shard does not store.
    ///
    /// Uses memory in proportion to the decompressed bytes, the region and the elements decoded for
    /// it, not to the lengths that the chunk states.
    ///
    /// # Errors
    /// [`ChunkError`] if the bytes are not such a chunk.
    pub fn decode(
        &self,
        encoded: &[u8],
        region: &[Slice],
        fill: &[u8],
    ) -> Result<ByteStrings, ChunkError> {
        let view = self.view_of(region)?;
        let mut runs = view.runs();
        if let (Some(Run::Elements { position, len }), None) = (runs.next(), runs.next()) {
            // No list of numbers, which may be longer than the elements.
            return self.decode_each(encoded, position..position + len, fill);
        }
        self.decode_at(encoded, &self.numbers(region)?, fill)
    }

    fn view_of(&self, region: &[Slice]) -> Result<View, ChunkError> {
        let whole = View::contiguous(self.shape()).map_err(CopyError::from);
        let view = whole.and_then(|whole| sliced(&whole, region));
        view.map_err(|error| self.failed(error.into()))
    }

    /// The numbers of the elements of a region, in C order of the chunk.
    pub(crate) fn numbers(&self, region: &[Slice]) -> Result<Vec<usize>, ChunkError> {
        let view = self.view_of(region)?;
        let mut indices = with_room(view.len()).map_err(|kind| self.failed(kind))?;
        for run in view.runs() {
            if let Run::Elements { position, len } = run {
                indices.extend(position..position + len);
            }
        }
        Ok(indices)
    }

    /// Decodes all elements of a chunk in C order.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_all(&self, encoded: &[u8], fill: &[u8]) -> Result<ByteStrings, ChunkError> {
        self.decode_each(encoded, 0..self.elements, fill)
    }

    /// An empty vector with capacity for one item per element of the chunk.
    ///
    /// # Errors
    /// [`ChunkErrorKind::OutOfMemory`].
    pub fn room<T>(&self) -> Result<Vec<T>, ChunkError> {
        with_room(self.elements).map_err(|kind| self.failed(kind))
    }

    /// Decodes the elements with these numbers, counted in C order of the chunk, in the given
    /// order.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), and [`ChunkErrorKind::Copy`] if the chunk has no element with
    /// one of the numbers.
    pub fn decode_at(
        &self,
        encoded: &[u8],
        indices: &[usize],
        fill: &[u8],
    ) -> Result<ByteStrings, ChunkError> {
        if let Some(start) = indices.iter().copied().find(|index| *index >= self.elements) {
            let (end, size) = (start.saturating_add(1), self.elements);
            let error = CopyError::from(ViewError::Range { axis: 0, start, end, size });
            return Err(self.failed(error.into()));
        }
        self.decode_each(encoded, indices.iter().copied(), fill)
    }

    fn decode_each(
        &self,
        encoded: &[u8],
        indices: impl ExactSizeIterator<Item = usize> + Clone,
        fill: &[u8],
    ) -> Result<ByteStrings, ChunkError> {
        let bytes = self.decompress(encoded)?;
        let positions = indices.map(|index| self.stored(index));
        match &self.array_to_bytes {
            ShapedCodec::Shard(shard) => shard.decode_at(&bytes, positions, fill),
            ShapedCodec::Vlen => {
                let elements = Elements::parse(&bytes, self.elements, self.bound.element.text)
                    .map_err(|kind| self.failed(kind))?;
                let mut cursor = elements.cursor();
                self.collect(
                    positions.map(move |at| cursor.get(at).expect("a number of the chunk")),
                )
            }
            ShapedCodec::Json => {
                let elements = json2_elements(&bytes, self.transform.stored_shape())
                    .map_err(|error| self.failed(corrupt(&error)))?;
                self.collect(positions.map(|at| elements[at].as_bytes()))
            }
            ShapedCodec::Optional(optional, mask) => {
                let place = &self.bound.array_to_bytes_path;
                let elements = optional.decode(&bytes, mask, self.limit, place)?;
                self.collect(positions.map(|at| elements.get(at).expect("a number of the chunk")))
            }
        }
    }

    /// Copies elements into a list.
    fn collect<'e>(
        &self,
        elements: impl ExactSizeIterator<Item = &'e [u8]> + Clone,
    ) -> Result<ByteStrings, ChunkError> {
        let room = elements.clone().fold(0, |room: usize, one| room + one.len());
        let out = ByteStrings::with_room(elements.len(), room);
        let mut out =
            out.ok_or_else(|| self.failed(ChunkErrorKind::OutOfMemory { bytes: widen(room) }))?;
        elements.for_each(|element| out.push(element));
        Ok(out)
    }

    /// Encodes a chunk into `out`, which is emptied first.
    ///
    /// # Shapes and units
    /// `elements`: all elements of the chunk in C order. Inner chunks of a shard are left out if all
    /// their elements are `fill` (SD-60).
    ///
    /// `out` is a valid chunk even if the result is [`Encoded::Empty`], for stores that can put
    /// but not delete.
    ///
    /// # Errors
    /// [`ChunkError`] if the number of elements differs from the chunk's; if the length of an
    /// element or their number exceeds the codec's 32 bits; if a string is not UTF-8; or if the
    /// chain cannot write.
    pub fn encode(
        &self,
        elements: &[&[u8]],
        fill: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Encoded, ChunkError> {
        if let Some(place) = &self.bound.read_only {
            return Err(place.chunk_error(ChunkErrorKind::ReadOnly));
        }
        if elements.len() != self.elements {
            let (found, expected) = (widen(elements.len()), widen(self.elements));
            return Err(self.failed(ChunkErrorKind::ElementCount { found, expected }));
        }
        let mut stored = Cow::Borrowed(elements);
        if !self.is_in_order() {
            let mut moved = vec![&[][..]; elements.len()];
            for (index, element) in elements.iter().enumerate() {
                if let Some(slot) = moved.get_mut(self.stored(index)) {
                    *slot = element;
                }
            }
            stored = Cow::Owned(moved);
        }
        let content = match elements.iter().all(|element| *element == fill) {
            true => Encoded::Empty,
            false => Encoded::Chunk,
        };
        match &self.array_to_bytes {
            ShapedCodec::Shard(shard) => shard.encode(&stored, fill, out)?,
            ShapedCodec::Optional(optional, mask) => {
                optional.encode(&stored, mask, self.limit, out, &self.bound.array_to_bytes_path)?;
            }
            // Refused above, as it is only read.
            ShapedCodec::Json => return Err(self.failed(ChunkErrorKind::ReadOnly)),
            ShapedCodec::Vlen => {
                self.check_text(&stored)?;
                vlen::encode(&stored, out).map_err(|kind| self.failed(kind))?;
            }
        }
        self.compress(out)?;
        Ok(content)
    }

    /// Refuses strings that are not UTF-8.
    fn check_text(&self, elements: &[&[u8]]) -> Result<(), ChunkError> {
        if !self.bound.element.text {
            return Ok(());
        }
        elements.iter().enumerate().try_for_each(|(number, element)| {
            std::str::from_utf8(element).map(drop).map_err(|error| {
                let (element, byte) = (widen(number), widen(error.valid_up_to()));
                self.failed(ChunkErrorKind::Utf8 { element, byte })
            })
        })
    }

    /// Whether elements are stored in C order of the chunk.
    fn is_in_order(&self) -> bool {
        self.transform.view().is_some_and(View::is_contiguous)
    }

    /// The position at which the element with this number, in C order of the chunk, is stored.
    pub(super) fn stored(&self, mut index: usize) -> usize {
        let shape = self.shape();
        let Some(view) = self.transform.view() else {
            let indices = unravel(index, shape);
            return self.transform.stored_position(&indices).unwrap_or(usize::MAX);
        };
        if view.is_contiguous() {
            return index;
        }
        // Within the chunk: the address space can count its elements.
        let mut position = view.offset();
        for (size, stride) in shape.iter().zip(view.strides()).rev() {
            position += (index % size).cast_signed() * stride;
            index /= size;
        }
        position.cast_unsigned()
    }

    /// Decodes the bytes-to-bytes codecs.
    ///
    /// # Errors
    /// [`ChunkError`] if a compressor or a checksum refuses the bytes, or if the output exceeds
    /// the [limit](crate::Options::unknown_decoded_len): the metadata does not give the lengths
    /// of the elements.
    pub fn decompress<'a>(&self, encoded: &'a [u8]) -> Result<Cow<'a, [u8]>, ChunkError> {
        let mut bytes = Bytes::Lent(encoded);
        for (codec, place) in self.bound.bytes_to_bytes.iter().rev() {
            let failed = |kind| place.chunk_error(kind);
            if let Some(prefix) = codec.decoded_prefix(&bytes) {
                bytes.truncate(prefix.map_err(failed)?);
                continue;
            }
            let decoded = decode_up_to(&**codec, &bytes, self.limit, &mut Pool::default());
            bytes = Bytes::Taken(decoded.map_err(failed)?);
        }
        Ok(match bytes {
            // Without a compressor, the bytes are in memory already.
            Bytes::Lent(bytes) => Cow::Borrowed(bytes),
            Bytes::Taken(buffer) => Cow::Owned(buffer.into_vec()),
        })
    }

    /// Runs the bytes-to-bytes codecs.
    fn compress(&self, bytes: &mut Vec<u8>) -> Result<(), ChunkError> {
        for (codec, place) in &self.bound.bytes_to_bytes {
            let mut encoded = Vec::new();
            check_encoded(&**codec, bytes.len(), self.limit)
                .and_then(|()| codec.encode(bytes, &mut encoded))
                .map_err(|kind| place.chunk_error(kind))?;
            *bytes = encoded;
        }
        Ok(())
    }

    pub(super) fn failed(&self, kind: ChunkErrorKind) -> ChunkError {
        self.bound.array_to_bytes_path.chunk_error(kind)
    }
}

/// A chunk that is not the JSON text that it should be.
fn corrupt(error: &MetadataError) -> ChunkErrorKind {
    ChunkErrorKind::Corrupt { reason: error.to_string() }
}
