//! Iterating over chunks, one at a time or on all cores.

use std::num::NonZeroUsize;
use std::ops::Range;

use zarr_grid::{AxisPart, ChunkPart, ChunkParts};

use crate::array::{Array, ReadAs, Source, WriteAs};
use crate::error::{ArrayError, grid_error};
use crate::layout::Part;
use crate::parallel;
use crate::selection::Selection;
use crate::store::ReadRange;

/// A chunk of an array: its number, its region, and its elements.
///
/// Made by [`Array::chunks`] and [`Array::chunk`]. If the array has shards, it is a shard.
#[derive(Clone, Debug)]
pub struct ChunkOf<'a> {
    array: &'a Array,
    index: Vec<u64>,
    region: Vec<Range<u64>>,
}

impl<'a> ChunkOf<'a> {
    /// `part` is one of all chunks.
    fn new(array: &'a Array, part: &ChunkPart<'_>) -> Self {
        // Of all chunks, the places in the selection are those in the array.
        let region = part.axes().iter().map(AxisPart::in_selection).collect();
        Self { array, index: part.chunk().to_vec(), region }
    }

    /// The number of the chunk on each axis.
    #[must_use]
    pub fn index(&self) -> &[u64] {
        &self.index
    }

    /// The elements of the array that lie in the chunk: a range per axis, which ends where the
    /// array ends.
    #[must_use]
    pub fn region(&self) -> &[Range<u64>] {
        &self.region
    }

    /// The lengths of the [region](Self::region): those of the chunk, but for one that the array's end
    /// cuts.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        self.region.iter().map(|range| range.end - range.start).collect()
    }

    /// The bytes of the chunk as they are stored, encoded; `None` if it is not stored.
    ///
    /// # Errors
    /// As [`Array::get_object`].
    pub fn stored(&self) -> Result<Option<Vec<u8>>, ArrayError> {
        let (key, mut bytes) = (self.array.layout().key(&self.index)?, Vec::new());
        let found = self.array.get_object(&key, ReadRange::All, &mut bytes)?;
        Ok(found.map(|_| bytes))
    }

    /// Its array. A read or write of it uses one thread, if this is a chunk of
    /// [`par_for_each`](ChunksOf::par_for_each).
    #[must_use]
    pub fn array(&self) -> &Array {
        self.array
    }

    /// The region as a selection, for any method of the array.
    #[must_use]
    pub fn selection(&self) -> Selection {
        Selection::from(self.region.as_slice())
    }

    /// Reads the elements of the [region](Self::region), in C order.
    ///
    /// # Errors
    /// As [`Array::read_as`].
    pub fn read_as<T: ReadAs>(&self) -> Result<T::Output, ArrayError> {
        self.array.read_as::<T>(self.selection())
    }

    /// Writes the elements of the [region](Self::region), in C order.
    ///
    /// # Errors
    /// As [`Array::write_as`].
    pub fn write_as<T: WriteAs>(
        &self,
        elements: &(impl Source<T> + ?Sized),
    ) -> Result<(), ArrayError> {
        self.array.write_as(self.selection(), elements)
    }
}

/// All chunks of an array; made by [`Array::chunks`].
pub struct ChunksOf<'a> {
    array: &'a Array,
    parts: ChunkParts<'a>,
}

impl ChunksOf<'_> {
    /// Calls `work` with each chunk, on as many threads as
    /// [`with_threads`](Array::with_threads) says, or one per core. Each read and write of a chunk
    /// then uses one thread.
    ///
    /// No two threads get the same chunk, so they can write their chunks without waiting for each
    /// other. The order is not specified.
    ///
    /// # Errors
    /// The first error of `work`, after which no further chunk begins.
    ///
    /// # Panics
    /// If `work` panics.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, ArrayError};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// # let metadata = ArrayBuilder::new([1000], DataType::Uint32).chunk_shape([64]).build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// array.write_as(0..1000, &(0..1000).collect::<Vec<u32>>())?;
    /// let sum = AtomicU64::new(0);
    /// array.chunks()?.par_for_each(|chunk| {
    ///     let elements = chunk.read_as::<u32>()?;
    ///     sum.fetch_add(elements.into_iter().map(u64::from).sum(), Ordering::Relaxed);
    ///     Ok::<_, ArrayError>(())
    /// })?;
    /// assert_eq!(sum.into_inner(), 499_500);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn par_for_each<E: Send>(
        self,
        work: impl Fn(&ChunkOf<'_>) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let array = self.array.clone().with_threads(NonZeroUsize::MIN);
        let threads = self.array.threads.unwrap_or_else(parallel::cores);
        parallel::for_each(
            self.parts.len(),
            threads,
            || (),
            |(), range| {
                let mut parts = self.parts.range(range);
                while let Some(part) = parts.next_part() {
                    work(&ChunkOf::new(&array, part))?;
                }
                Ok(())
            },
        )
    }
}

impl<'a> Iterator for ChunksOf<'a> {
    type Item = ChunkOf<'a>;

    fn next(&mut self) -> Option<ChunkOf<'a>> {
        Some(ChunkOf::new(self.array, self.parts.next_part()?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.parts.len());
        (left.unwrap_or(usize::MAX), left.ok())
    }
}

impl Array {
    /// The chunk with this number on each axis. Nothing is read.
    ///
    /// # Errors
    /// [`ArrayError::Grid`] if the grid has no such chunk.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, Codec, DataType};
    /// # let metadata = ArrayBuilder::new([59], DataType::Int16).chunks([[31, 28].into()]);
    /// # let metadata = metadata.codecs([Codec::bytes()]).build()?;
    /// let days = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// let february = days.chunk([1])?;
    /// assert_eq!((february.shape(), february.region()), (vec![28], &[31..59][..]));
    /// assert_eq!(february.stored()?, None); // its elements are the fill value
    /// february.write_as(&[2_i16; 28])?;
    /// assert_eq!(february.read_as::<i16>()?, [2; 28]);
    /// assert_eq!(february.stored()?, Some([2, 0].repeat(28)));
    /// assert!(days.chunk([2]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn chunk(&self, index: impl AsRef<[u64]>) -> Result<ChunkOf<'_>, ArrayError> {
        let region = self.layout().chunk_region(index.as_ref());
        let region = region.map_err(|cause| grid_error(self.prefix(), cause))?;
        Ok(ChunkOf { array: self, index: index.as_ref().to_vec(), region })
    }

    /// All chunks in which the array has elements, stored or not, in C order. Nothing is read.
    ///
    /// # Errors
    /// [`ArrayError::Grid`] if there are more than `u64` counts.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([80], DataType::Int16).chunks([[31, 28, 31].into()]).build()?;
    /// let days = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// for month in days.chunks()? {
    ///     let number = i16::try_from(month.index()[0])?;
    ///     let length = month.region()[0].end - month.region()[0].start;
    ///     month.write_as(&vec![number; usize::try_from(length)?])?;
    /// }
    /// assert_eq!(days.read_as::<i16>(30..32)?, [0, 1]);
    /// let regions: Vec<_> = days.chunks()?.map(|month| month.region().to_vec()).collect();
    /// assert_eq!(regions, [[0..31], [31..59], [59..80]]); // the last one is cut
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn chunks(&self) -> Result<ChunksOf<'_>, ArrayError> {
        let parts = self.grid().all_chunks();
        let parts = parts.map_err(|cause| grid_error(self.prefix(), cause))?;
        Ok(ChunksOf { array: self, parts })
    }
}

impl Part {
    /// The regions of an array that belong to this part: whole chunks, in C order. There are at
    /// most two regions per axis, and none if the array has too few chunks.
    ///
    /// # Errors
    /// [`ArrayError::Grid`] if the array has more chunks than `u64` counts.
    pub fn regions(self, array: &Array) -> Result<Vec<Selection>, ArrayError> {
        let owned = self.chunks(array.grid(), array.prefix().as_str());
        let owned = owned.map_err(|cause| grid_error(array.prefix(), cause))?;
        let boxes = owned.regions(array.grid());
        Ok(boxes.iter().map(|region| Selection::from(region.as_slice())).collect())
    }
}
