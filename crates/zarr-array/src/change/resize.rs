//! Changes the shape of arrays (SD-08).

use std::collections::BTreeMap;

use zarr_grid::{AxisKind, Growth, Run};
use zarr_metadata::{ArrayMetadata, ChunkEdges, ChunkGrid};

use super::document::{Extent, LockedDocument};
use super::update_consolidated::{Scope, update_consolidated};
use crate::array::Array;
use crate::error::ArrayError;
use crate::hierarchy::node::display;
use crate::layout::edges_of;
use crate::store::{Key, remove};

/// What [`Array::resize`] makes of an array: its new shape, the chunks that are added, and what
/// becomes of the elements that are cut off.
///
/// A shape alone, such as `[90, 4]`, repeats the last edge of each rectilinear axis that grows past
/// its chunks, and discards what it cuts off.
///
/// # Examples
/// ```
/// use zarr_array::Resize;
///
/// let longer = Resize::to([120, 4]).edges(0, [30]);
/// let shorter = Resize::to([40, 3]).keep(true);
/// assert_ne!(longer, shorter);
///
/// // Edges by axis, in any order, also borrowed.
/// let months = [30, 31];
/// let longer = Resize::to([120, 6]).edges(0, &months).edges(1, [2]);
/// assert_eq!(longer, Resize::to([120, 6]).edges(1, [2]).edges(0, months));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Resize {
    shape: Vec<u64>,
    /// By axis.
    edges: BTreeMap<usize, Vec<Run>>,
    keep: bool,
}

impl Resize {
    /// To this shape.
    pub fn to(shape: impl Into<Vec<u64>>) -> Self {
        Self { shape: shape.into(), edges: BTreeMap::new(), keep: false }
    }

    /// The edges of the chunks that are added to a rectilinear axis: lengths, or a [`Run`] of equal
    /// ones. If there are none, the last edge is repeated.
    pub fn edges(mut self, axis: usize, edges: impl IntoIterator<Item = impl Into<Run>>) -> Self {
        self.edges.insert(axis, edges.into_iter().map(Into::into).collect());
        self
    }

    /// Whether elements that are cut off stay in the store, and reappear when the array grows
    /// again. Otherwise chunks entirely outside are removed, and the part of other chunks that is
    /// cut off becomes the fill value.
    pub fn keep(mut self, keep: bool) -> Self {
        self.keep = keep;
        self
    }

    /// How each axis of an array with this many grows.
    ///
    /// # Errors
    /// [`ArrayError::Axes`] or [`ArrayError::Axis`] for axes that the array does not have.
    fn growth(&self, rank: usize) -> Result<Vec<Growth<'_>>, ArrayError> {
        if self.shape.len() != rank {
            return Err(ArrayError::Axes { axes: rank, requested: self.shape.len() });
        }
        let mut growth = vec![Growth::RepeatLast; rank];
        for (axis, runs) in &self.edges {
            let growth = growth.get_mut(*axis).ok_or(ArrayError::Axis { axis: *axis, rank })?;
            if !runs.is_empty() {
                *growth = Growth::Edges(runs);
            }
        }
        Ok(growth)
    }
}

impl<S: Into<Vec<u64>>> From<S> for Resize {
    fn from(shape: S) -> Self {
        Self::to(shape)
    }
}

impl Array {
    /// Changes the shape of the array. Returns the array with that shape; this handle keeps the
    /// old shape.
    ///
    /// A shape is enough: `array.resize([90])`. A [`Resize`] also has the edges of added chunks, and
    /// keeps elements that are cut off.
    ///
    /// # Steps
    /// 1. The document is locked, compared with this array's, and written. This completes the
    ///    resize of an array that grows, or that keeps its cut-off elements. Consolidated metadata
    ///    follows.
    /// 2. Unless elements are [kept](Resize::keep), the document is locked again, and each stored
    ///    chunk is processed. A chunk entirely past the new end is removed, even if the grid
    ///    declares it. In other chunks, the elements past the end are overwritten with the fill
    ///    value, in one step per chunk.
    ///
    /// After an interruption in step 1 the array is unchanged or has its new shape. Then `check`
    /// names the chunks past its end and, if it reads their content, the chunks with elements past
    /// it. Resizing to the same shape, without keeping elements, continues.
    ///
    /// # Errors
    /// [`ArrayError::Stale`] if others have changed the array since it was opened;
    /// [`ArrayError::Axes`] or [`ArrayError::Axis`] if the shape or edges are of axes that the array
    /// does not have, [`ArrayError::Grid`] if edges do not fit, [`ArrayError::Chain`] if the chain
    /// does not fit the new chunks; [`ArrayError::NoLock`] if chunks are to be discarded while no lock keeps
    /// others from appending, unless the [policy](Array::with_update_policy) accepts that; or an
    /// error of the store. Until the document is written nothing has changed.
    /// [`ArrayError::Undiscarded`] if step 2 fails, or if others change the array between the steps.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// use zarr_array::Resize;
    /// # let metadata = ArrayBuilder::new([59], DataType::Uint8).chunks([[31, 28].into()]).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    ///
    /// // January and February; now March too.
    /// let array = array.resize(Resize::to([90]).edges(0, [31]))?;
    /// array.write(88..90, &[1, 2])?;
    /// let array = array.resize([89])?;
    /// let array = array.resize([90])?;
    /// assert_eq!(array.read(87..90)?, [0, 1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Spec
    /// Zarr v3 core, "Resizing"; SD-08.
    pub fn resize(&self, to: impl Into<Resize>) -> Result<Self, ArrayError> {
        let to = to.into();
        // Before any lock: a store that has none refuses only what could be done.
        to.growth(self.shape().len())?;
        // Growth cuts nothing off, so that it needs no lock of chunks. The same shape continues a
        // resize that was interrupted.
        let pairs = || to.shape.iter().zip(self.shape());
        let only_grows =
            pairs().all(|(new, old)| new >= old) && pairs().any(|(new, old)| new > old);
        let discards = !(to.keep || only_grows);
        let extent = if discards { Extent::Chunks } else { Extent::Document };
        let document = LockedDocument::lock(self, extent)?;
        let resized = grown(self, &document, &to)?;
        if discards && !crate::store::step!("resize: document before the chunks") {
            resized.discard()?;
        }
        document.put(resized.metadata())?;
        drop(document);
        update_consolidated(self.store(), self.prefix(), Scope::Node, self.update_policy());
        if discards {
            if !crate::store::step!("resize: second lock of the document") {
                resized.discard()?;
                return Ok(resized);
            }
            // Later than consolidated metadata, by which others find the chunks.
            let document = LockedDocument::lock(&resized, extent);
            document.and_then(|_document| resized.discard()).map_err(|cause| {
                let path = display(self.prefix());
                ArrayError::Undiscarded { path, cause: Box::new(cause) }
            })?;
        }
        Ok(resized)
    }

    /// The array with another shape and the same chunks. Of several writers that make the same
    /// change, only one succeeds, even if responses are lost.
    pub(super) fn grow_alone(&self, to: &Resize) -> Result<Self, ArrayError> {
        let document = LockedDocument::lock(self, Extent::Document)?;
        let resized = grown(self, &document, to)?;
        document.put_unique(resized.metadata())?;
        drop(document);
        update_consolidated(self.store(), self.prefix(), Scope::Node, self.update_policy());
        Ok(resized)
    }

    /// Removes everything past the end, one stored chunk at a time.
    fn discard(&self) -> Result<(), ArrayError> {
        let mut past = Vec::new();
        for chunk in self.stored_chunks() {
            let chunk = chunk?;
            if !chunk.occupied || self.kept(&chunk.index).is_some() {
                past.push((chunk.occupied, chunk.key, chunk.index));
            }
        }
        for (occupied, key, index) in past {
            self.check_wanted()?;
            match self.kept(&index).filter(|_| occupied) {
                Some((shape, lengths)) => {
                    crate::store::reached!("discard: the end of a chunk");
                    self.keep_start(&key, &shape, &lengths)?;
                }
                None => {
                    crate::store::reached!("discard: a chunk");
                    remove(&**self.store(), &key)?;
                }
            }
        }
        Ok(())
    }

    /// The shape of a chunk that the array's end cuts, and the size of the part within the array.
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

/// The array with the grid for other lengths and added edges. Nothing is written.
pub(super) fn grown(
    array: &Array,
    document: &LockedDocument<'_>,
    to: &Resize,
) -> Result<Array, ArrayError> {
    let key: &Key = document.key();
    let growth = to.growth(array.shape().len())?;
    let grid = array
        .grid()
        .resized(&to.shape, &growth)
        .map_err(|cause| ArrayError::Grid { key: key.to_string(), cause })?;
    let metadata = new_metadata(document.current(), &to.shape, &grid)
        .map_err(|cause| ArrayError::Metadata { key: key.to_string(), cause })?;
    array.with_document(metadata)
}

/// The document with the grid of the resize. An axis with an unchanged declaration keeps its
/// spelling.
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
            edges_of(axis)
        })
        .collect();
    if !changed {
        return metadata.with_shape(shape);
    }
    metadata.with_shape_and_grid(shape, &ChunkGrid::Rectilinear { chunk_shapes: axes })
}
