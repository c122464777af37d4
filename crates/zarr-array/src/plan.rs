//! Which chunks a region meets, and what of each.

use std::num::NonZeroUsize;
use std::ops::Range;

use zarr_grid::{ChunkPart, PartIndices, SelectedChunks};

use crate::array::Array;
use crate::error::ArrayError;
use crate::layout::ChunkLayout;
use crate::region::Region;

impl Array {
    /// Plans to read or write a region: which chunks it meets, and what of each. Nothing is read.
    ///
    /// For whoever shares the work between processes, prefetches, or wants to know what a read will
    /// cost. With the feature `serde`, what it gives can be sent to others.
    ///
    /// # Errors
    /// [`ArrayError::Region`] if the region does not lie within the array.
    ///
    /// # Examples
    /// ```
    /// # use std::num::NonZeroUsize;
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Region};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, Codec, DataType};
    /// # let metadata = ArrayBuilder::new([59, 100], DataType::Uint8)
    /// #     .chunks([[31, 28].into(), 100.into()])
    /// #     .codecs([Codec::bytes()])
    /// #     .build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// array.write(&Region::whole(&[59, 100]), &[1; 5900])?;
    /// let region = Region::parse("30:32", array.shape())?;
    /// let plan = array.plan(&region)?;
    /// let chunks = plan.chunks(0..plan.len())?;
    /// assert_eq!((chunks[1].key.as_str(), chunks[1].in_region[0]), ("c/1/0", [1, 2]));
    /// let reads = array.planned_reads(&chunks[1])?.ok_or("stored")?;
    /// assert_eq!((reads.ranges, reads.stored_bytes), (vec![0..100], 2800));
    /// // Two workers, who do not share a chunk.
    /// assert_eq!(plan.shares(NonZeroUsize::MIN.saturating_add(1)), [0..1, 1..2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plan(&self, region: &Region) -> Result<Plan<'_>, ArrayError> {
        self.layout().plan(region)
    }
}

impl ChunkLayout {
    /// Which chunks a region meets, and what of each; see [`Array::plan`].
    ///
    /// # Errors
    /// [`ArrayError::Region`] if the region does not lie within the array.
    pub fn plan(&self, region: &Region) -> Result<Plan<'_>, ArrayError> {
        region.check(self.grid().shape())?;
        let selection = self
            .grid()
            .select(&region.selects())
            .map_err(|cause| ArrayError::Selection { cause })?;
        let backwards =
            region.axes().iter().map(|axis| (axis.step < 0).then_some(axis.count)).collect();
        Ok(Plan { layout: self, selection, backwards })
    }
}

/// The chunks that a region meets, numbered in C order; see [`Array::plan`].
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    layout: &'a ChunkLayout,
    selection: SelectedChunks<'a>,
    /// For each axis that is gone through backwards, its number of indices.
    backwards: Vec<Option<u64>>,
}

/// What of one chunk belongs to a region.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PlannedChunk {
    /// Number of the chunk on each axis.
    pub chunk: Vec<u64>,
    /// Its key in the store.
    pub key: String,
    /// Its shape as it is stored (SD-05).
    pub chunk_shape: Vec<u64>,
    /// The elements within the chunk, on each axis first index, number of indices and step.
    pub in_chunk: Vec<PlannedIndices>,
    /// Their place in the region: on each axis the first position and the one after the last. An
    /// axis with a negative step meets them in reverse.
    pub in_region: Vec<[u64; 2]>,
    /// Whether they are all of the chunk that lies within the array.
    pub is_whole: bool,
    /// How many elements they are.
    pub elements: u64,
}

/// Some indices of one axis of a chunk: `start`, `start + step`, ..., `count` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PlannedIndices {
    /// The first index, from the chunk's start.
    pub start: u64,
    /// How many indices.
    pub count: u64,
    /// From one index to the next, at least 1.
    pub step: u64,
}

impl Plan<'_> {
    /// How many chunks the region meets.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.selection.len()
    }

    /// Whether the region is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.selection.is_empty()
    }

    /// The chunks of these numbers, clamped to those there are. Memory follows how many are asked
    /// for, so that a plan of very many chunks is gone through in steps.
    ///
    /// # Errors
    /// [`ArrayError`] for a chunk whose key would be too long.
    pub fn chunks(&self, numbers: Range<u64>) -> Result<Vec<PlannedChunk>, ArrayError> {
        let mut parts = self.selection.parts().range(numbers);
        let mut chunks = Vec::new();
        while let Some(part) = parts.next_part() {
            chunks.push(self.chunk(part)?);
        }
        Ok(chunks)
    }

    fn chunk(&self, part: &ChunkPart<'_>) -> Result<PlannedChunk, ArrayError> {
        let mut in_chunk = Vec::with_capacity(part.axes().len());
        let mut in_region = Vec::with_capacity(part.axes().len());
        for (axis, backwards) in part.axes().iter().zip(&self.backwards) {
            // A region selects with steps only.
            let PartIndices::Step { in_chunk: start, step, in_selection, len } = axis.indices
            else {
                continue;
            };
            in_chunk.push(PlannedIndices { start, count: len, step });
            let end = in_selection.saturating_add(len);
            in_region.push(match backwards {
                None => [in_selection, end],
                Some(all) => [all.saturating_sub(end), all.saturating_sub(in_selection)],
            });
        }
        let elements = in_chunk.iter().fold(1, |n: u64, axis| n.saturating_mul(axis.count));
        Ok(PlannedChunk {
            chunk: part.chunk().to_vec(),
            key: self.layout.key(part.chunk())?.to_string(),
            chunk_shape: part.chunk_shape().to_vec(),
            in_chunk,
            in_region,
            is_whole: part.is_whole(),
            elements,
        })
    }

    /// Numbers of chunks for so many workers, one range for each that gets any: in C order, as
    /// equal as can be, and no chunk twice, so that all may write at once.
    #[must_use]
    pub fn shares(&self, workers: NonZeroUsize) -> Vec<Range<u64>> {
        let (all, workers) = (u128::from(self.len()), workers.get() as u128);
        let shares = workers.min(all);
        let cut = |share: u128| {
            let at = all.saturating_mul(share).checked_div(shares).unwrap_or(0);
            u64::try_from(at).unwrap_or(u64::MAX)
        };
        (0..shares).map(|share| cut(share)..cut(share.saturating_add(1))).collect()
    }
}
