//! Which inner chunks a shard stores, by its index alone.

use std::ops::Range;

use zarr_codec::{AnyChunkCodec, Scratch, ShardIndex};
use zarr_metadata::Codec;
use zarr_view::CopyError;

use crate::array::Array;
use crate::counts::{narrow, wide};
use crate::error::{ArrayError, chunk_error};
use crate::hierarchy::node;
use crate::parallel;
use crate::store::{ReadRange, StoreError};

/// How often the index is read of a shard that others replace meanwhile.
const ATTEMPTS: u32 = 100;

/// The inner chunks of a stored shard, from [`Array::shard_content`].
#[derive(Debug)]
pub struct ShardContent {
    codec: AnyChunkCodec,
    index: ShardIndex,
    /// The elements of the shard that lie within the array.
    region: Vec<Range<u64>>,
}

/// An inner chunk that has elements of the array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InnerChunkOf {
    /// Its number on each axis, within the shard.
    pub index: Vec<u64>,
    /// Its elements within the array.
    pub region: Vec<Range<u64>>,
    /// Its bytes within the shard; `None` if it is not stored, and reads as the fill value.
    pub bytes: Option<Range<u64>>,
}

impl Array {
    /// The inner chunks of the shard with this index. Reads the shard's index alone: one request, if
    /// `size` is the number of bytes of the shard, as a listing has it; otherwise two.
    ///
    /// `None` if there is no such object, if the chunk is no shard, or if the index is not stored as it
    /// is, because codecs follow it.
    ///
    /// # Errors
    /// [`ArrayError::Chunk`] for a damaged index; [`ArrayError::Grid`] for a chunk outside of the grid;
    /// errors of the store.
    pub fn shard_content(
        &self,
        chunk: &[u64],
        size: Option<u64>,
    ) -> Result<Option<ShardContent>, ArrayError> {
        let grid = |cause| ArrayError::Grid { key: node::metadata_key(self.prefix()), cause };
        let codec = self.chunk_codec(&self.layout().chunk_shape(chunk).map_err(grid)?)?;
        let Some((shard, _)) = codec.plain_shard() else { return Ok(None) };
        let key = self.layout().key(chunk)?;
        let region = self.layout().chunk_region(chunk).map_err(grid)?;
        let (mut encoded, mut known) = (Vec::new(), size);
        for _ in 0..ATTEMPTS {
            let size = match known {
                Some(size) => size,
                None => match self.store().head(&key)? {
                    Some(meta) => meta.size,
                    None => return Ok(None),
                },
            };
            let Some(range) = shard.index_range(size) else {
                return Err(chunk_error(&key, shard.too_short(size)));
            };
            let read = self.get_object(&key, ReadRange::Ranges(&[range]), &mut encoded);
            known = match read {
                Ok(None) => return Ok(None),
                Ok(Some(meta)) if meta.size != size => Some(meta.size),
                Ok(Some(_)) => {
                    let index = shard.parse_index(&encoded, Some(size), &mut Scratch::new());
                    let index = index.map_err(|cause| chunk_error(&key, cause))?;
                    return Ok(Some(ShardContent { codec, index, region }));
                }
                // It is shorter now.
                Err(ArrayError::Store(StoreError::Range { .. })) => None,
                Err(error) => return Err(error),
            };
        }
        Err(StoreError::Contention { key: key.to_string(), attempts: ATTEMPTS }.into())
    }
}

/// Shards whose indices are read before more are listed.
const BATCH: usize = 1024;

impl Array {
    /// Which chunks are stored, of shards the inner chunks. Lists the stored chunks, and reads the indices
    /// of shards, two requests for each.
    ///
    /// Shards after a `reshape` or `squeeze` have no boxes of the array, and count as chunks. `None` if the
    /// indices are not stored as they are, because codecs follow them, or the array is a virtual join of
    /// shards.
    ///
    /// # Errors
    /// [`ArrayError::Store`] if the store cannot be listed; those of
    /// [`shard_content`](Self::shard_content); [`ArrayError::Copy`] if memory is exhausted.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, Codec, DataType};
    /// let shards = [Codec::sharding([2], [Codec::bytes()])];
    /// let builder = ArrayBuilder::new([7], DataType::Uint8).chunk_shape([4]).codecs(shards);
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), builder.build()?)?;
    /// array.write(2..5, &[1, 2, 3])?;
    /// let mask = array.stored_mask()?.ok_or("the index is stored as it is")?;
    /// assert_eq!((mask.shape, mask.stored), (vec![4], vec![false, true, true, false]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stored_mask(&self) -> Result<Option<StoredMask>, ArrayError> {
        let codecs = self.metadata().codecs();
        let at = codecs.iter().position(|codec| matches!(codec, Codec::ShardingIndexed(_)));
        let before = at.and_then(|at| codecs.get(..at));
        let moves_boxes = |codec: &Codec| matches!(codec, Codec::Reshape(_) | Codec::ZarrsSqueeze);
        if before.is_none_or(|before| before.iter().any(moves_boxes)) {
            let mut mask = StoredMask::new(self.grid().occupied().to_vec())?;
            for chunk in self.stored_chunks() {
                let chunk = chunk?;
                if chunk.occupied {
                    mask.set(chunk.index);
                }
            }
            return Ok(Some(mask));
        }
        let Some(edges) = self.inner_edges()?.filter(|_| self.members().is_none()) else {
            return Ok(None);
        };
        let counts = self.shape().iter().zip(&edges);
        let mut mask =
            StoredMask::new(counts.map(|(length, edge)| length.div_ceil(*edge)).collect())?;
        let mut shards = self.stored_chunks().filter(|chunk| match chunk {
            Ok(chunk) => chunk.occupied,
            Err(_) => true,
        });
        loop {
            let batch = shards.by_ref().take(BATCH).collect::<Result<Vec<_>, _>>()?;
            if batch.is_empty() {
                return Ok(Some(mask));
            }
            let read = parallel::map(&batch, parallel::requests(&**self.store()), |chunk| {
                self.shard_content(&chunk.index, None)
            })?;
            let inner = read.iter().flatten().flat_map(ShardContent::inner_chunks);
            for inner in inner.filter(|inner| inner.bytes.is_some()) {
                let starts = inner.region.iter().map(|range| range.start).zip(&edges);
                mask.set(starts.map(|(start, edge)| start.checked_div(*edge).unwrap_or(0)));
            }
        }
    }

    /// The length of inner chunks on each axis of the array; `None` if codecs hide the indices of shards.
    fn inner_edges(&self) -> Result<Option<Vec<u64>>, ArrayError> {
        let first: Option<Vec<u64>> = self.grid().axes().iter().map(|axis| axis.edge(0)).collect();
        // An axis without elements has no chunk, and its shards are of any length.
        let Some(first) = first else { return Ok(Some(vec![1; self.shape().len()])) };
        let codec = self.chunk_codec(&first)?;
        let Some((shard, order)) = codec.plain_shard() else { return Ok(None) };
        let mut edges = vec![1; order.len()];
        for (axis, edge) in order.iter().zip(shard.inner().shape()) {
            edges[*axis] = wide(*edge).max(1);
        }
        Ok(Some(edges))
    }
}

/// Which chunks of an array are stored, from [`Array::stored_mask`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredMask {
    /// The number of chunks with elements of the array on each axis; of inner chunks if it has shards.
    pub shape: Vec<u64>,
    /// Whether each is stored, in C order.
    pub stored: Vec<bool>,
}

impl StoredMask {
    fn new(shape: Vec<u64>) -> Result<Self, ArrayError> {
        let chunks = shape.iter().fold(1_u64, |all, count| all.saturating_mul(*count));
        let (mut stored, bytes) = (Vec::new(), narrow(chunks));
        stored.try_reserve_exact(bytes).map_err(|_| CopyError::Memory { bytes })?;
        stored.resize(bytes, false);
        Ok(Self { shape, stored })
    }

    fn set(&mut self, index: impl IntoIterator<Item = u64>) {
        let places = index.into_iter().zip(&self.shape);
        let number = places.fold(0_u64, |number, (at, count)| number * count + at);
        if let Some(slot) = self.stored.get_mut(narrow(number)) {
            *slot = true;
        }
    }
}

impl ShardContent {
    /// The bytes within the shard of the inner chunk with this number on each axis; `None` if it is not
    /// stored, or the shard has no such inner chunk.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, Codec, DataType};
    /// let shards = [Codec::sharding([2], [Codec::bytes()])];
    /// let builder = ArrayBuilder::new([8], DataType::Uint8).chunk_shape([8]).codecs(shards);
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), builder.build()?)?;
    /// array.write(4..6, &[1, 2])?;
    /// let shard = array.shard_content(&[0], None)?.ok_or("a shard")?;
    /// assert_eq!([1, 2, 9].map(|number| shard.bytes_of(&[number])), [None, Some(0..2), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bytes_of(&self, index: &[u64]) -> Option<Range<u64>> {
        let (shard, order) = self.codec.plain_shard()?;
        let mut number = 0_usize;
        for (axis, count) in order.iter().zip(shard.grid_shape()) {
            let at = usize::try_from(*index.get(*axis)?).ok().filter(|at| at < count)?;
            number = number.checked_mul(*count)?.checked_add(at)?;
        }
        self.index.range(number)
    }

    /// The inner chunks that have elements of the array, in the order of the shard's index.
    pub fn inner_chunks(&self) -> impl Iterator<Item = InnerChunkOf> {
        let shard = self.codec.plain_shard();
        let numbers = 0..self.index.len();
        numbers.filter_map(move |number| {
            let (shard, order) = shard?;
            let stored = shard.chunk_index(number);
            let mut index = vec![0; order.len()];
            let mut region = self.region.clone();
            for ((axis, at), size) in order.iter().zip(stored).zip(shard.inner().shape()) {
                let (at, size) = (wide(at), wide(*size));
                *index.get_mut(*axis)? = at;
                let within = region.get_mut(*axis)?;
                let start = within.start.saturating_add(at.saturating_mul(size));
                *within = start..start.saturating_add(size).min(within.end);
            }
            let has_elements = region.iter().all(|range| !range.is_empty());
            has_elements.then(|| InnerChunkOf { index, region, bytes: self.index.range(number) })
        })
    }
}
