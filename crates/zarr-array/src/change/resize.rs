//! Arrays of another shape (SD-08).

use zarr_grid::{AxisKind, Growth, Run};
use zarr_metadata::{ArrayMetadata, ChunkEdges, ChunkGrid, EdgeRun};

use super::consolidate::{Scope, follow};
use super::document::{Document, Extent};
use crate::array::Array;
use crate::error::ArrayError;
use crate::store::{Key, remove};

/// What becomes of elements that a shrinking array no longer has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cut {
    /// They stay in the store: growing back shows them again.
    #[default]
    Keep,
    /// Chunks wholly outside are removed, and what is cut off of others becomes the fill value.
    Discard,
}

impl Array {
    /// Gives the array another shape. The result is the array with that shape; this one has the
    /// old.
    ///
    /// `edges` has an entry for each axis: the edges of chunks that are to be added where a
    /// rectilinear axis grows past its last; where it is empty the last edge is repeated. An axis
    /// declared by one integer needs none.
    ///
    /// # Steps
    /// 1. The document is locked, and compared with this array's.
    /// 2. The document is written. An array that grows or keeps what it cuts off is done.
    /// 3. With [`Cut::Discard`], chunk after chunk of those that are stored is removed if it lies
    ///    wholly past the new end, whether the grid declares it or not, or else is written in one
    ///    step with the fill value in place of what lies past it.
    ///
    /// Whatever ends it before 2 leaves the array as it was. Ended later the array has its new
    /// shape, and `check` names the chunks past its end and, reading them, those with elements past
    /// it: resizing to the same shape with [`Cut::Discard`] goes on.
    ///
    /// # Errors
    /// [`ArrayError::Stale`] if others have changed the array since it was opened;
    /// [`ArrayError::Grid`] if edges do not fit, [`ArrayError::Chain`] if the chain does not fit
    /// the new chunks; [`ArrayError::NoLock`] if chunks are to be discarded where no lock keeps
    /// others from appending meanwhile, unless the [policy](Array::with_update_policy) accepts
    /// that; or what the store says. Until the document is written nothing has changed.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Cut};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// use zarr_grid::Run;
    /// # let metadata = ArrayBuilder::new([59], DataType::Uint8).chunks([[31, 28].into()]).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    ///
    /// // January and February; now March too.
    /// let array = array.resize(&[90], &[vec![Run { edge: 31, count: 1 }]], Cut::Keep)?;
    /// array.write(88..90, &[1, 2])?;
    /// let array = array.resize(&[89], &[vec![]], Cut::Discard)?;
    /// let array = array.resize(&[90], &[vec![]], Cut::Keep)?;
    /// assert_eq!(array.read(87..90)?, [0, 1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Spec
    /// Zarr v3 core, "Resizing"; SD-08.
    pub fn resize(&self, shape: &[u64], edges: &[Vec<Run>], cut: Cut) -> Result<Self, ArrayError> {
        let extent = match cut {
            Cut::Keep => Extent::Document,
            Cut::Discard => Extent::Chunks,
        };
        let document = Document::lock(self, extent)?;
        let resized = grown(self, &document, shape, edges)?;
        document.put(resized.metadata())?;
        follow(self.store(), self.prefix(), Scope::Node, self.update_policy());
        if cut == Cut::Discard {
            resized.discard()?;
        }
        Ok(resized)
    }

    /// Removes what lies past the end, chunk by chunk of those that are stored.
    fn discard(&self) -> Result<(), ArrayError> {
        let mut past = Vec::new();
        for chunk in self.stored_chunks() {
            let chunk = chunk?;
            if !chunk.occupied || self.kept(&chunk.index).is_some() {
                past.push((chunk.occupied, chunk.key, chunk.index));
            }
        }
        for (occupied, key, index) in past {
            match self.kept(&index).filter(|_| occupied) {
                Some((shape, lengths)) => self.keep_start(&key, &shape, &lengths)?,
                None => remove(&**self.store(), &key)?,
            }
        }
        Ok(())
    }

    /// The shape of a chunk that the array's end cuts, and how much of it lies within the array.
    fn kept(&self, chunk: &[u64]) -> Option<(Vec<u64>, Vec<usize>)> {
        let mut shape = vec![0; chunk.len()];
        let mut clipped = vec![0; chunk.len()];
        self.grid().chunk_shape(chunk, &mut shape).ok()?;
        self.grid().clipped_shape(chunk, &mut clipped).ok()?;
        let narrow = |length: &u64| usize::try_from(*length).ok();
        let lengths = clipped.iter().map(narrow).collect::<Option<Vec<_>>>()?;
        (clipped != shape).then_some((shape, lengths))
    }
}

/// The array with the grid that other lengths and more edges make of it. Nothing is written.
pub(super) fn grown(
    array: &Array,
    document: &Document<'_>,
    shape: &[u64],
    edges: &[Vec<Run>],
) -> Result<Array, ArrayError> {
    let key: &Key = document.key();
    let growth: Vec<Growth<'_>> = edges
        .iter()
        .map(|runs| match runs.as_slice() {
            [] => Growth::RepeatLast,
            runs => Growth::Edges(runs),
        })
        .collect();
    let grid = array
        .grid()
        .resized(shape, &growth)
        .map_err(|cause| ArrayError::Grid { key: key.to_string(), cause })?;
    let metadata = new_metadata(document.current(), shape, &grid)
        .map_err(|cause| ArrayError::Metadata { key: key.to_string(), cause })?;
    array.with_document(metadata)
}

/// The document with the grid that the resize led to: an axis that keeps its declaration stays as
/// it is spelled.
fn new_metadata(
    metadata: &ArrayMetadata,
    shape: &[u64],
    grid: &zarr_grid::Grid,
) -> Result<ArrayMetadata, zarr_metadata::MetadataError> {
    let ChunkGrid::Rectilinear { chunk_shapes } = metadata.chunk_grid() else {
        return metadata.with_shape(shape);
    };
    let mut changed = false;
    let axes: Vec<ChunkEdges> = chunk_shapes
        .iter()
        .zip(grid.axes())
        .map(|(old, axis)| {
            if axis.kind() != AxisKind::Rectilinear || old.extent() == Some(axis.declared_end()) {
                return old.clone();
            }
            changed = true;
            ChunkEdges::from_runs(axis.runs().filter_map(|run| {
                let count = std::num::NonZeroU64::new(run.count)?;
                Some(EdgeRun::Repeat { edge: run.edge, count })
            }))
        })
        .collect();
    if !changed {
        return metadata.with_shape(shape);
    }
    metadata.with_shape_and_grid(shape, &ChunkGrid::Rectilinear { chunk_shapes: axes })
}
