//! The location of an element in an encoded chunk.
//!
//! The array-to-array codecs of the chain map an element to a position among the stored elements.
//! If these are in a shard, the index of the shard gives the bytes of the inner chunk. Then the
//! chain of inner chunks is followed in the same way. No element is decoded.

use std::ops::Range;

use crate::array_to_bytes::shard::ShardCodec;
use crate::chunk::ChunkCodec;
use crate::error::{ChunkError, ChunkErrorKind};
use crate::scratch::Scratch;

/// The location of an element in an encoded chunk; found by an [`ElementLocator`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElementLocation {
    /// The inner chunks that hold the element, one per shard, the outermost first.
    pub inner_chunks: Vec<InnerChunk>,
    /// The element's number in C order among the elements that the array-to-bytes codec stores: the
    /// elements of the chunk, or of the innermost inner chunk.
    pub position: usize,
    /// The bytes that hold the element, in the output of the array-to-bytes codec.
    pub bytes: Range<u64>,
    /// The element's lowest bit in the first byte: 0 is the least significant.
    pub bit: u32,
    /// The number of bits of the element.
    pub bits: u64,
    /// The bytes of the array-to-bytes codec's output in the encoded chunk.
    pub stored: StoredBytes,
    /// Whether a bytes-to-bytes codec of the same chain, such as a compressor, changes these bytes.
    pub compressed: bool,
}

impl ElementLocation {
    /// The bytes of the encoded chunk that hold the element. `None` if it is not stored, or is
    /// encoded together with others, as compressors do.
    #[must_use]
    pub fn encoded_bytes(&self) -> Option<Range<u64>> {
        let StoredBytes::Range(stored) = &self.stored else { return None };
        let at = |byte: u64| stored.start.checked_add(byte);
        Some(at(self.bytes.start)?..at(self.bytes.end)?)
    }
}

/// An inner chunk of a shard, and an element in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InnerChunk {
    /// The position of the inner chunk in the shard's grid.
    pub chunk: Vec<usize>,
    /// The number of inner chunks per dimension of the shard.
    pub grid_shape: Vec<usize>,
    /// The shape of the inner chunk.
    pub shape: Vec<usize>,
    /// The index of the element in the inner chunk.
    pub index: Vec<usize>,
    /// The bytes of the inner chunk.
    pub stored: StoredBytes,
}

/// The place of some bytes in the encoded form of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoredBytes {
    /// In this range of the chunk's bytes.
    Range(Range<u64>),
    /// Not separately: this codec, such as a compressor, encodes them together with other bytes.
    EncodedBy(String),
    /// Not stored: the shard does not contain the inner chunk, so all its elements are the fill
    /// value.
    LeftOut,
    /// Not stored: the chunk or inner chunk around them is not stored.
    NotStored,
}

/// Finds the location of an element in an encoded chunk; made by [`ChunkCodec::locate`].
///
/// Like a [`ChunkReader`](crate::ChunkReader) it does no I/O: it tells which bytes it needs (the
/// indices of shards), and the caller fetches them.
///
/// # Examples
/// ```
/// use zarr_codec::{AxisEdges, Chain, Scratch};
/// use zarr_metadata::{Codec, DataType};
///
/// // Two inner chunks of four 12-bit samples, and an index without checksum at the end.
/// let mut codec = Codec::sharding([4], [Codec::packbits(0..=11)]);
/// if let Codec::ShardingIndexed(sharding) = &mut codec {
///     sharding.index_codecs.truncate(1);
/// }
/// let chain = Chain::bind(&[codec], &DataType::Uint16, &[AxisEdges::one(8)])?;
/// let codec = chain.for_shape(&[8])?;
/// let mut shard = vec![0; 12];
/// for number in [0_u64, 6, 6, 6] {
///     shard.extend(number.to_le_bytes());
/// }
///
/// let mut locator = codec.locate(&[5], Some(44)).expect("the chunk has eight elements");
/// assert_eq!(locator.need(), Some(12..44));
/// locator.supply(&shard[12..], &mut Scratch::new())?;
/// let location = locator.location().expect("nothing more is needed");
/// // The second sample of the second inner chunk.
/// assert_eq!(location.inner_chunks[0].chunk, [1]);
/// assert_eq!((location.position, location.bit, location.bits), (1, 4, 12));
/// assert_eq!(location.encoded_bytes(), Some(7..9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ElementLocator<'c> {
    /// The codec of the innermost chunk that is known to hold the element.
    codec: &'c ChunkCodec,
    /// The element's index in that chunk.
    index: Vec<usize>,
    /// The bytes of that chunk in the whole encoded chunk.
    encoded: StoredBytes,
    /// The shards that contain it, each with the number of its inner chunk.
    shards: Vec<(&'c ShardCodec, usize)>,
    inner_chunks: Vec<InnerChunk>,
}

impl ChunkCodec {
    /// Begins to locate the element at `index` in an encoded chunk of `encoded_len` bytes.
    ///
    /// Without `encoded_len`, the chunk is not stored, and the locator finds the place where the
    /// element would be. `None` if the chunk has no such element.
    #[must_use]
    pub fn locate(&self, index: &[usize], encoded_len: Option<u64>) -> Option<ElementLocator<'_>> {
        self.transform().stored_position(index)?;
        let mut locator = ElementLocator {
            codec: self,
            index: index.to_vec(),
            encoded: encoded_len.map_or(StoredBytes::NotStored, |len| StoredBytes::Range(0..len)),
            shards: Vec::new(),
            inner_chunks: Vec::new(),
        };
        locator.enter_unindexed();
        Some(locator)
    }
}

impl ElementLocator<'_> {
    /// The bytes of the encoded chunk that are needed next: the index of a shard. `None` once the
    /// element has been located.
    #[must_use]
    pub fn need(&self) -> Option<Range<u64>> {
        let (shard, StoredBytes::Range(stored)) = (self.codec.shard()?, self.stored()) else {
            return None;
        };
        let length = stored.end - stored.start;
        // A shard shorter than its index does not decode; the error explains why.
        let index = shard.index_range(length).unwrap_or(0..length);
        let at = |byte: u64| stored.start + byte;
        Some(at(index.start)..at(index.end))
    }

    /// Takes the bytes that were [needed](ElementLocator::need).
    ///
    /// # Errors
    /// [`ChunkError`] if they are not an index of such a shard, or if nothing was needed.
    pub fn supply(&mut self, bytes: &[u8], scratch: &mut Scratch) -> Result<(), ChunkError> {
        let (Some(shard), StoredBytes::Range(stored)) = (self.codec.shard(), self.stored()) else {
            return Err(self.codec.failed(ChunkErrorKind::NothingNeeded));
        };
        let length = stored.end - stored.start;
        let index = shard.parse_index(bytes, Some(length), scratch).map_err(|error| {
            let outwards = self.shards.iter().rev();
            outwards.fold(error, |error, (shard, chunk)| shard.error_in(*chunk, error))
        })?;
        // An index has an entry for each inner chunk, so the range starts within the shard.
        let at = |byte: u64| stored.start + byte;
        self.enter(|chunk| match index.range(chunk) {
            Some(range) => StoredBytes::Range(at(range.start)..at(range.end)),
            None => StoredBytes::LeftOut,
        });
        self.enter_unindexed();
        Ok(())
    }

    /// The location of the element; `None` while [`need`](ElementLocator::need) returns a range.
    #[must_use]
    pub fn location(&self) -> Option<ElementLocation> {
        let position = self.codec.transform().stored_position(&self.index)?;
        let element = self.codec.element_bits_at(position)?;
        Some(ElementLocation {
            inner_chunks: self.inner_chunks.clone(),
            position,
            bytes: element.bytes,
            bit: element.bit,
            bits: element.bits,
            stored: self.stored(),
            compressed: self.codec.last_encoder().is_some(),
        })
    }

    /// The bytes of the array-to-bytes codec of the innermost chunk.
    fn stored(&self) -> StoredBytes {
        let StoredBytes::Range(Range { start, end }) = self.encoded else {
            return self.encoded.clone();
        };
        if let Some(name) = self.codec.last_encoder() {
            return StoredBytes::EncodedBy(name.to_owned());
        }
        let before = self.codec.stored_offset().unwrap_or(0);
        let after = self.codec.bytes_added().unwrap_or(0).saturating_sub(before);
        // If the checksums alone are longer than the chunk, nothing is left.
        let start = start.saturating_add(before).min(end);
        StoredBytes::Range(start..end.saturating_sub(after).max(start))
    }

    /// Enters shards without their index: shards that are not stored, or are compressed.
    fn enter_unindexed(&mut self) {
        while self.codec.shard().is_some() {
            let inner = match self.stored() {
                StoredBytes::Range(_) => return,
                StoredBytes::LeftOut => StoredBytes::NotStored,
                other => other,
            };
            self.enter(|_| inner.clone());
        }
    }

    /// Enters the inner chunk that holds the element; `stored` returns its bytes.
    fn enter(&mut self, stored: impl FnOnce(usize) -> StoredBytes) {
        let position = self.codec.transform().stored_position(&self.index);
        let (shard, position) = self.codec.shard().zip(position).expect("a shard with the element");
        let (chunk, index) = shard.locate(position).expect("it has all elements of its chunk");
        self.encoded = stored(chunk);
        self.inner_chunks.push(InnerChunk {
            chunk: shard.chunk_index(chunk),
            grid_shape: shard.grid_shape().to_vec(),
            shape: shard.inner().shape().to_vec(),
            index: index.clone(),
            stored: self.encoded.clone(),
        });
        self.shards.push((shard, chunk));
        (self.codec, self.index) = (shard.inner(), index);
    }
}
