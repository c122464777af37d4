//! Reading some elements of a chunk without all of its bytes.

use std::ops::Deref;
use std::sync::Arc;

use super::shard::Wanted;
use super::{ByteStrings, VariableChunkCodec};
use crate::array_to_bytes::shard::ShardIndex;
use crate::error::{ChunkError, ChunkErrorKind};
use crate::partial::Need;
use crate::partial::shard::ShardRead;
use crate::scratch::Scratch;

/// Reads elements of variable length from encoded bytes that the caller fetches. Of an uncompressed
/// shard these are the index, then the inner chunks that hold the elements; of any other chunk, all
/// bytes.
///
/// # Examples
/// ```
/// use zarr_codec::{AxisEdges, Need, Scratch, VariableChain, VariableChunkReader};
/// use zarr_metadata::{Codec, DataType};
///
/// let codecs = [Codec::sharding([1], [Codec::VlenUtf8])];
/// let chain = VariableChain::bind(&codecs, &DataType::String, &[AxisEdges::one(4)])?;
/// let codec = chain.for_shape(&[4])?;
/// let mut shard = Vec::new();
/// codec.encode(&[&b"zero"[..], b"one", b"two", b"three"], b"", &mut shard)?;
///
/// let mut reader = VariableChunkReader::new(&codec, vec![2], 0);
/// let mut scratch = Scratch::new();
/// assert_eq!(reader.need(), Need::Suffix(68)); // four entries and a checksum
/// let index = &shard[shard.len() - 68..];
/// assert_eq!(reader.supply(index, None, b"", &mut scratch)?, None);
/// assert_eq!(reader.need(), Need::Ranges(&[23..34]));
/// let found = reader.supply(&shard[23..34], None, b"", &mut scratch)?;
/// assert!(found.ok_or("decoded")?.iter().eq([b"two"]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Like a [`ChunkReader`](crate::ChunkReader), it holds its codec by any pointer, and does not
/// check bytes that it does not read (SD-47).
#[derive(Debug)]
pub struct VariableChunkReader<C> {
    codec: C,
    elements: Vec<usize>,
    range_cost: u64,
    /// `None` if the chunk is read whole.
    shard: Option<ShardRead<Wanted>>,
}

impl<C: Deref<Target = VariableChunkCodec>> VariableChunkReader<C> {
    /// Begins to read the elements with these numbers, counted in C order of the chunk, in the given
    /// order. `range_cost` as for [`ChunkCodec::reader`](crate::ChunkCodec::reader). If the chunk does
    /// not have all of them, it is read whole, and [`supply`](Self::supply) is an error.
    #[must_use]
    pub fn new(codec: C, elements: Vec<usize>, range_cost: u64) -> Self {
        let is_within = elements.iter().all(|element| *element < codec.elements());
        let shard = codec.shard().filter(|_| is_within);
        let shard = codec.bytes_after().zip(shard).and_then(|(after, shard)| {
            let wanted = shard.wanted(elements.iter().map(|element| codec.stored(*element)));
            let count = wanted.inner_chunks();
            ShardRead::new(shard.codec(), after, wanted, count, range_cost)
        });
        Self { codec, elements, range_cost, shard }
    }

    /// As [`new`](Self::new), but reads the whole chunk, so that all its bytes are checked.
    #[must_use]
    pub fn whole(codec: C, elements: Vec<usize>) -> Self {
        Self { codec, elements, range_cost: 0, shard: None }
    }

    /// The bytes needed next.
    #[must_use]
    pub fn need(&self) -> Need<'_> {
        self.shard.as_ref().map_or(Need::All, ShardRead::need)
    }

    /// The index of the shard, once it has been read.
    #[must_use]
    pub fn index(&self) -> Option<&Arc<ShardIndex>> {
        self.shard.as_ref()?.index()
    }

    /// Sets the index of the shard from an earlier read, so that it need not be fetched. The shard
    /// must not have changed since.
    pub fn use_index(&mut self, index: Arc<ShardIndex>) {
        if let Some(read) = &mut self.shard
            && let Some(shard) = self.codec.shard()
        {
            read.use_index(shard.codec(), index, self.range_cost);
        }
    }

    /// Whether the index of a shard is needed next.
    pub(crate) fn needs_index(&self) -> bool {
        self.shard.as_ref().is_some_and(|read| read.index().is_none())
    }

    /// Takes the bytes of the index, and decodes nothing.
    pub(crate) fn supply_index(
        &mut self,
        bytes: &[u8],
        object_len: Option<u64>,
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        match (&mut self.shard, self.codec.shard()) {
            (Some(read), Some(shard)) if read.index().is_none() => {
                read.supply_index(shard.codec(), bytes, object_len, self.range_cost, scratch)
            }
            _ => Err(self.codec.failed(ChunkErrorKind::NothingNeeded)),
        }
    }

    /// Takes the bytes that were [needed](Self::need), as concatenated ranges; returns the elements
    /// once nothing more is needed.
    ///
    /// `object_len` is the length of the whole encoded chunk, if known; `fill` is the element of
    /// inner chunks that a shard does not store.
    ///
    /// # Errors
    /// [`ChunkError`] if the bytes are not such a chunk, or if it does not have all the elements.
    pub fn supply(
        &mut self,
        bytes: &[u8],
        object_len: Option<u64>,
        fill: &[u8],
        scratch: &mut Scratch,
    ) -> Result<Option<ByteStrings>, ChunkError> {
        let (Some(read), Some(shard)) = (&mut self.shard, self.codec.shard()) else {
            return self.codec.decode_at(bytes, &self.elements, fill).map(Some);
        };
        let supplied = read.supply(shard.codec(), bytes, object_len, self.range_cost, scratch)?;
        let Some(bytes) = supplied else { return Ok(None) };
        let index = read.index().expect("read above, or before");
        let available = read.available(shard.codec(), bytes)?;
        shard.decode(read.chunks(), available, index, fill).map(Some)
    }
}
