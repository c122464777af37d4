//! Plans: the chunks that a selection touches, and the part of each.

use std::num::NonZeroUsize;
use std::ops::Range;

use zarr_grid::{AxisPart, AxisSelection, ChunkPart, PartIndices, SelectedChunks};

use crate::error::ArrayError;
use crate::layout::{ChunkKeys, ChunkLayout};
use crate::selection::Selection;
use crate::store::Key;

impl ChunkLayout {
    /// Plans a read or write of a [`Selection`]: lists the chunks that it touches, and the part of
    /// each. Nothing is read.
    ///
    /// Use it to divide work among processes, to prefetch, or to estimate the cost of a read.
    /// With the feature `serde`, its parts can be sent to other processes.
    ///
    /// # Errors
    /// [`ArrayError::Selection`] if it does not lie within the array.
    ///
    /// # Examples
    /// ```
    /// # use std::num::NonZeroUsize;
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Selection};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, Codec, DataType};
    /// # let metadata = ArrayBuilder::new([59, 100], DataType::Uint8)
    /// #     .chunks([[31, 28].into(), 100.into()])
    /// #     .codecs([Codec::bytes()])
    /// #     .build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// array.write(Selection::whole(&[59, 100]), &[1; 5900])?;
    /// let plan = array.layout().plan([30..32, 0..100])?;
    /// let chunks = plan.chunks(0..plan.len())?;
    /// assert_eq!((chunks[1].key.as_str(), &chunks[1].in_selection[0]), ("c/1/0", &(1..2).into()));
    /// let reads = chunks[1].reads(&array)?.ok_or("stored")?;
    /// assert_eq!((reads.ranges, reads.stored_bytes), (vec![0..100], 2800));
    /// // Two workers, who do not share a chunk.
    /// assert_eq!(plan.shares(NonZeroUsize::MIN.saturating_add(1)), [0..1, 1..2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plan(&self, selection: impl Into<Selection>) -> Result<RegionPlan<'_>, ArrayError> {
        Ok(RegionPlan { layout: self, chunks: self.select(&selection.into())? })
    }
}

/// The chunks that a selection touches, numbered in C order; see [`ChunkLayout::plan`].
#[derive(Debug, Clone)]
pub struct RegionPlan<'a> {
    layout: &'a ChunkLayout,
    chunks: SelectedChunks<'a>,
}

/// The part of one chunk that belongs to a selection.
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
    /// The indices within the chunk, on each axis.
    pub in_chunk: Vec<AxisSelection>,
    /// Their positions in the selection, on each axis in the order of the indices; descending if
    /// the axis is selected backwards.
    pub in_selection: Vec<AxisSelection>,
    /// Whether they are all of the chunk within the array. False for lists of indices, which are
    /// not examined.
    pub is_whole: bool,
    /// The number of elements.
    pub elements: u64,
}

impl RegionPlan<'_> {
    /// The number of chunks that the selection touches.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.chunks.len()
    }

    /// Whether the selection is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The chunks with these numbers, clamped to the existing ones. Memory is proportional to the
    /// number requested, so process a plan of very many chunks in steps.
    ///
    /// # Errors
    /// [`ArrayError`] if the key of a chunk is too long.
    pub fn chunks(&self, numbers: Range<u64>) -> Result<Vec<PlannedChunk>, ArrayError> {
        let mut parts = self.chunks.parts().range(numbers);
        let mut keys = ChunkKeys::new(self.layout);
        let mut chunks = Vec::new();
        while let Some(part) = parts.next_part() {
            chunks.push(planned_chunk(part, keys.of(part.chunk())?));
        }
        Ok(chunks)
    }

    /// Divides the numbers of the chunks among workers: in C order, in ranges of almost equal
    /// length, without empty ranges. No chunk is in two ranges, so that all workers may write at
    /// once.
    #[must_use]
    pub fn shares(&self, workers: NonZeroUsize) -> Vec<Range<u64>> {
        let all = u128::from(self.len());
        let workers = u128::try_from(workers.get()).unwrap_or(u128::MAX);
        let shares = workers.min(all);
        let cut = |share: u128| {
            let at = all.saturating_mul(share).checked_div(shares).unwrap_or(0);
            u64::try_from(at).unwrap_or(u64::MAX)
        };
        (0..shares).map(|share| cut(share)..cut(share + 1)).collect()
    }
}

fn planned_chunk(part: &ChunkPart<'_>, key: &Key) -> PlannedChunk {
    PlannedChunk {
        chunk: part.chunk().to_vec(),
        key: key.as_str().to_owned(),
        chunk_shape: part.chunk_shape().to_vec(),
        in_chunk: part.axes().iter().map(in_chunk).collect(),
        in_selection: part.axes().iter().map(in_selection).collect(),
        is_whole: part.is_whole(),
        elements: part.axes().iter().fold(1, |n: u64, axis| n.saturating_mul(axis.len())),
    }
}

/// The indices of a part in its chunk.
pub(crate) fn in_chunk(axis: &AxisPart<'_>) -> AxisSelection {
    match axis.indices {
        PartIndices::Step { step, .. } => {
            stepped(axis.in_chunk(), i64::try_from(step).unwrap_or(i64::MAX))
        }
        PartIndices::List { in_chunk, .. } => in_chunk.into(),
    }
}

/// The positions of a part in the selection.
fn in_selection(axis: &AxisPart<'_>) -> AxisSelection {
    match axis.indices {
        PartIndices::Step { reversed, .. } => {
            stepped(axis.in_selection(), if reversed { -1 } else { 1 })
        }
        PartIndices::List { in_selection, .. } => in_selection.into(),
    }
}

fn stepped(range: Range<u64>, step: i64) -> AxisSelection {
    match step {
        1 => range.into(),
        step => AxisSelection::Step { range, step },
    }
}
