//! Arrays of another shape (SD-08).

use std::ops::Range;
use std::sync::Arc;

use zarr_codec::Options;
use zarr_grid::{AxisKind, Growth, Run};
use zarr_metadata::{ArrayMetadata, ChunkEdges, ChunkGrid, EdgeRun};

use crate::array::Array;
use crate::error::ArrayError;
use crate::node::METADATA_KEY;
use crate::region::Region;
use crate::store::{StoreError, remove};

/// What becomes of elements that a shrinking array no longer has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// They stay in the store: growing back shows them again.
    #[default]
    Keep,
    /// Chunks wholly outside are removed, and what is cut off of others becomes the fill value.
    Discard,
}

impl Array {
    /// Gives the array another shape.
    ///
    /// `edges` has an entry for each axis: the edges of chunks that are to be added where a
    /// rectilinear axis grows past its last; where it is empty the last edge is repeated. An axis
    /// declared by one integer needs none.
    ///
    /// The document is written first. Whatever interrupts the rest leaves an array of the new
    /// shape, with chunks past its end that `check` names, and calling again goes on.
    ///
    /// # Errors
    /// [`ArrayError`] if edges do not fit, if the chain does not fit the new chunks, or what the
    /// store says. Until the document is written nothing has changed.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Cut, Region};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::ArrayMetadata;
    /// # let document = br#"{"zarr_format": 3, "node_type": "array", "shape": [59],
    /// #   "data_type": "uint8", "fill_value": 0, "codecs": [{"name": "bytes"}],
    /// #   "chunk_grid": {"name": "rectilinear",
    /// #     "configuration": {"kind": "inline", "chunk_shapes": [[31, 28]]}},
    /// #   "chunk_key_encoding": {"name": "default"}}"#;
    /// use zarr_grid::Run;
    /// # let metadata = ArrayMetadata::from_json(document)?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    ///
    /// // January and February; now March too.
    /// let array = array.resize(&[90], &[vec![Run { edge: 31, count: 1 }]], Cut::Keep)?;
    /// array.write(&Region::from(88..90), &[1, 2])?;
    /// let array = array.resize(&[89], &[vec![]], Cut::Discard)?;
    /// let array = array.resize(&[90], &[vec![]], Cut::Keep)?;
    /// assert_eq!(array.read(&Region::from(87..90))?, [0, 1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Spec
    /// Zarr v3 core, "Resizing"; SD-08.
    pub fn resize(self, shape: &[u64], edges: &[Vec<Run>], cut: Cut) -> Result<Self, ArrayError> {
        let key = self.prefix().key(METADATA_KEY)?;
        let failed = |source| ArrayError::Grid { key: key.to_string(), source };
        let growth: Vec<Growth<'_>> = edges
            .iter()
            .map(|runs| match runs.as_slice() {
                [] => Growth::RepeatLast,
                runs => Growth::Edges(runs),
            })
            .collect();
        let grid = self.grid().resized(shape, &growth).map_err(failed)?;
        let wrong = |source| ArrayError::Metadata { key: key.to_string(), source };
        let metadata = new_metadata(self.metadata(), shape, &grid).map_err(wrong)?;
        let resized = Self::with_metadata(
            Arc::clone(self.store()),
            self.prefix(),
            metadata,
            Options::default(),
        )?;
        self.store().put(&key, resized.metadata().to_json().as_bytes())?;
        if cut == Cut::Discard {
            self.discard(shape)?;
        }
        Ok(resized)
    }

    /// Removes what lies past the new shape, chunk by chunk of those that are stored.
    fn discard(&self, shape: &[u64]) -> Result<(), ArrayError> {
        let key = self.prefix().key(METADATA_KEY)?;
        let shrunk: Vec<u64> =
            shape.iter().zip(self.shape()).map(|(new, old)| *new.min(old)).collect();
        // The array as far as its chunks go: overflow may hold what an earlier shape had.
        let ends: Vec<u64> =
            self.grid().axes().iter().map(|axis| axis.declared_end().max(axis.extent())).collect();
        let metadata = self
            .metadata()
            .with_shape(&ends)
            .map_err(|source| ArrayError::Metadata { key: key.to_string(), source })?;
        let options = Options::default();
        let wide = Self::with_metadata(Arc::clone(self.store()), self.prefix(), metadata, options)?;
        let mut stored = Vec::new();
        self.stored_chunks(&mut |chunk| {
            stored.push(chunk);
            std::ops::ControlFlow::Continue(())
        })?;
        let failed = |source| ArrayError::Grid { key: key.to_string(), source };
        for chunk in stored {
            let declared = wide.grid().declared();
            if chunk.index.iter().zip(declared).any(|(chunk, count)| chunk >= count) {
                continue; // no chunk of the grid
            }
            let mut origin = vec![0; shape.len()];
            let mut edges = vec![0; shape.len()];
            wide.grid().chunk_origin(&chunk.index, &mut origin).map_err(failed)?;
            wide.grid().chunk_shape(&chunk.index, &mut edges).map_err(failed)?;
            let ranges: Vec<Range<u64>> = origin
                .iter()
                .zip(&edges)
                .map(|(start, edge)| *start..start.saturating_add(*edge))
                .collect();
            if ranges.iter().zip(&shrunk).any(|(range, end)| range.start >= *end) {
                remove(&**self.store(), &chunk.key)?;
                continue;
            }
            for (axis, end) in shrunk.iter().enumerate() {
                let Some(range) = ranges.get(axis).filter(|range| range.end > *end) else {
                    continue;
                };
                let mut past = ranges.clone();
                if let Some(slot) = past.get_mut(axis) {
                    *slot = *end..range.end;
                }
                wide.fill_region(&Region::from(past.as_slice()))?;
            }
        }
        Ok(())
    }

    /// Writes the fill value, a chunk at most.
    fn fill_region(&self, region: &Region) -> Result<(), ArrayError> {
        let length = crate::transfer::region_len(region, self.element_size())?;
        let mut elements = Vec::new();
        elements.try_reserve_exact(length).map_err(|_| StoreError::TooLarge {
            key: self.prefix().to_string(),
            size: u64::try_from(length).unwrap_or(u64::MAX),
        })?;
        while elements.len() < length {
            elements.extend_from_slice(self.fill());
        }
        self.write(region, &elements)
    }
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
