//! All elements of a chunk, so that some can be changed and the chunk encoded again.

use zarr_view::{CopyElement, CopyError, Output, View};

use super::{ChunkCodec, Empty, Encoded, Input, ShapedCodec, chunk_error};
use crate::array_to_bytes::StoredElements;
use crate::array_to_bytes::shard::ShardDecoder;
use crate::bound::Bound;
use crate::element::swap;
use crate::error::ChunkError;
use crate::scratch::{Buffer, Bytes, Scratch};
use crate::transform::Source;

/// The order of a chunk's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// C order of the chunk's shape.
    C,
    /// The stored order, if it is a single view, so that no element moves. Otherwise C order.
    Stored,
}

/// All elements of a chunk, in memory of a [`Scratch`]; made by [`ChunkCodec::elements`].
///
/// # Examples
/// ```
/// use zarr_codec::{AxisEdges, Chain, Order, Scratch};
/// use zarr_metadata::{Codec, DataType};
///
/// let codecs = [Codec::transpose([1, 0]), Codec::bytes()];
/// let chain = Chain::bind(&codecs, &DataType::Uint8, &[AxisEdges::one(2), AxisEdges::one(3)])?;
/// let codec = chain.for_shape(&[2, 3])?;
/// let (mut chunk, mut scratch) = (vec![0, 3, 1, 4, 2, 5], Scratch::new());
/// let mut elements = codec.decode_elements(&mut chunk, Order::Stored, &[0], &mut scratch)?;
/// let (view, bytes) = elements.parts_mut();
/// bytes[view.position(&[1, 2]).unwrap()] = 9;
/// codec.encode_elements(elements, &[0], &mut chunk, &mut scratch)?;
/// assert_eq!(chunk, [0, 3, 1, 4, 2, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ChunkElements {
    buffer: Buffer,
    /// A view of the chunk's shape into the elements.
    view: View,
    order: Order,
}

impl ChunkElements {
    /// A view of the chunk's shape, and the bytes that it indexes.
    pub fn parts_mut(&mut self) -> (&View, &mut [u8]) {
        (&self.view, &mut self.buffer)
    }
}

impl ChunkCodec {
    /// Decodes all elements of a chunk, to change some of them.
    ///
    /// `encoded` is the whole encoded chunk. Its memory is reused: besides the elements, only one
    /// other buffer of at most their length is in use while decoding.
    ///
    /// # Errors
    /// As [`decode`](ChunkCodec::decode).
    pub fn decode_elements(
        &self,
        encoded: &mut Vec<u8>,
        order: Order,
        fill: &[u8],
        scratch: &mut Scratch,
    ) -> Result<ChunkElements, ChunkError> {
        if let ShapedCodec::Mapped(_) = &self.array_to_bytes {
            let encoded = Bytes::Taken(std::mem::take(encoded).into());
            let buffer = self.gathered(encoded, &self.everything(), fill, scratch)?;
            return Ok(ChunkElements { buffer, view: self.whole()?, order: Order::C });
        }
        let Scratch { pool, shard: shard_scratch, .. } = scratch;
        let bytes = self.decode_bytes(Bytes::Taken(std::mem::take(encoded).into()), pool)?;
        let Bound { element, array_to_bytes_path: place, .. } = &*self.bound;
        let failed = |kind| chunk_error(place, kind);
        let plain = element.moved(false);
        let codec = match &self.array_to_bytes {
            ShapedCodec::Elements(codec) => codec,
            ShapedCodec::Mapped(_) => unreachable!("their elements were gathered above"),
            ShapedCodec::Shard(shard) => {
                let scratch = shard_scratch.get_or_insert_default();
                let mut source = Source::Shard(ShardDecoder::new(shard, &bytes, fill, scratch)?);
                let gathered = self.transform.gather(0, &mut source, plain, pool);
                let buffer = gathered.map_err(|error| error.at(place))?;
                drop(source);
                bytes.give_to(pool);
                return Ok(ChunkElements { buffer, view: self.whole()?, order: Order::C });
            }
        };
        let Some(view) = self.stored_view(order) else {
            let source = Source::new(codec, bytes, self.elements, element, pool);
            let mut source = source.map_err(failed)?;
            let gathered = self.transform.gather(0, &mut source, plain, pool);
            let buffer = gathered.map_err(|error| error.at(place))?;
            return Ok(ChunkElements { buffer, view: self.whole()?, order: Order::C });
        };
        let decoded = codec.decode(bytes, self.elements, element, pool);
        let StoredElements { bytes, swapped } = decoded.map_err(failed)?;
        let mut buffer = bytes.into_buffer(pool).map_err(failed)?;
        swap_all(&mut buffer, element.moved(swapped));
        Ok(ChunkElements { buffer, view: view.clone(), order: Order::Stored })
    }

    /// As [`decode_elements`](ChunkCodec::decode_elements) for a chunk that is not stored: each
    /// element is `fill`.
    ///
    /// # Errors
    /// [`ChunkError`] if `fill` is not one element, or if memory is exhausted.
    pub fn filled_elements(
        &self,
        order: Order,
        fill: &[u8],
        scratch: &mut Scratch,
    ) -> Result<ChunkElements, ChunkError> {
        let Bound { element, array_to_bytes_path: place, .. } = &*self.bound;
        let failed = |kind| chunk_error(place, kind);
        let len = self.elements * element.size();
        let mut buffer = scratch.pool.take(len).map_err(failed)?;
        let whole = self.whole()?;
        Output::new(&mut buffer, &whole, element.size())
            .and_then(|mut out| out.fill(fill))
            .map_err(|error| failed(error.into()))?;
        Ok(match self.stored_view(order) {
            Some(view) => ChunkElements { buffer, view: view.clone(), order: Order::Stored },
            None => ChunkElements { buffer, view: whole, order: Order::C },
        })
    }

    /// Encodes a chunk from its [`ChunkElements`]; otherwise as [`encode`](ChunkCodec::encode).
    ///
    /// # Errors
    /// As [`encode`](ChunkCodec::encode).
    pub fn encode_elements(
        &self,
        elements: ChunkElements,
        fill: &[u8],
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Encoded, ChunkError> {
        self.check_writable()?;
        let ChunkElements { mut buffer, view, order } = elements;
        let codec = match &self.array_to_bytes {
            ShapedCodec::Elements(codec) => codec,
            ShapedCodec::Shard(_) | ShapedCodec::Mapped(_) => {
                let input = Input { data: &buffer, view: &view, fill };
                let content = self.encode_unless_empty(input, Empty::Encode, out, scratch)?;
                scratch.pool.give(buffer);
                return Ok(content);
            }
        };
        let Bound { element, array_to_bytes_path: place, .. } = &*self.bound;
        let moved = element.moved(codec.swaps(element));
        let pool = &mut scratch.pool;
        self.share_memory(codec, out, pool);
        match order {
            Order::Stored => swap_all(&mut buffer, moved),
            Order::C => {
                let encoded = self.transform.encode_from(0, buffer, moved, pool);
                buffer = encoded.map_err(|kind| chunk_error(place, kind))?;
            }
        }
        let elements = Bytes::Taken(buffer);
        self.encode_stored(codec, elements, &self.stored_fill(fill), Empty::Encode, out, pool)
    }

    /// The view of the elements as stored, if `order` asks for it and the stored array is a
    /// single view and not a shard.
    fn stored_view(&self, order: Order) -> Option<&View> {
        let is_stored = matches!(self.array_to_bytes, ShapedCodec::Elements(_));
        self.transform.view().filter(|_| order == Order::Stored && is_stored)
    }

    /// A view of all elements in C order of the chunk's shape.
    fn whole(&self) -> Result<View, ChunkError> {
        View::contiguous(self.shape()).map_err(|error| {
            chunk_error(&self.bound.array_to_bytes_path, CopyError::from(error).into())
        })
    }
}

/// Reverses each unit of every element in place, if the elements are swapped.
fn swap_all(elements: &mut [u8], element: CopyElement) {
    match element.unit() {
        1 => {}
        // As numbers, which builds that are not optimised turn ten times as fast as slices.
        2 => turn(elements, |unit| u16::from_le_bytes(unit).to_be_bytes()),
        4 => turn(elements, |unit| u32::from_le_bytes(unit).to_be_bytes()),
        8 => turn(elements, |unit| u64::from_le_bytes(unit).to_be_bytes()),
        _ => swap(elements, element),
    }
}

/// Replaces each unit of `N` bytes.
fn turn<const N: usize>(elements: &mut [u8], turned: impl Fn([u8; N]) -> [u8; N]) {
    for unit in elements.as_chunks_mut::<N>().0 {
        *unit = turned(*unit);
    }
}
