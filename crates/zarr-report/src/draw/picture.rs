//! The content of a picture of the chunks, for all ways to draw it.

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Value, json};
use zarr_array::store::Store;
use zarr_array::{Array, ArrayError, AxisSelection, ChunkLayout, Selection};
use zarr_grid::Axis;
use zarr_metadata::{ArrayMetadata, Codec};

use crate::words;

/// Cells per axis in an SVG picture.
pub const SVG_CELLS: u64 = 128;

/// The vertical and the horizontal axis of a picture, as numbers of the array's axes.
pub type Axes = (Option<usize>, Option<usize>);

/// The chunks that a picture shows.
#[derive(Clone, Copy, Debug)]
pub struct ChunksToDraw<'a> {
    /// The array's document.
    pub metadata: &'a ArrayMetadata,
    /// The array's chunks.
    pub layout: &'a ChunkLayout,
    /// The axes of the picture.
    pub axes: Axes,
    /// A region that is marked.
    pub marked: Option<&'a Selection>,
    /// The largest number of cells, vertically and horizontally.
    pub most: (u64, u64),
}

/// One of the two axes of a picture.
pub(super) struct PictureAxis {
    /// The axis's name; `None` if the array has no such axis.
    pub(super) name: Option<String>,
    pub(super) extent: u64,
    /// Chunks that hold elements.
    pub(super) chunks: u64,
    /// Chunks per cell; the last cell may have fewer.
    pub(super) per_cell: u64,
    /// Elements of each cell.
    pub(super) cells: Vec<Range<u64>>,
    /// The marked elements, ascending and disjoint; `None` without a region.
    pub(super) marked: Option<Vec<Range<u64>>>,
    /// The length of an inner chunk, for shards.
    pub(super) inner: Option<u64>,
}

impl PictureAxis {
    fn none() -> Self {
        let (name, marked, inner) = (None, None, None);
        Self { name, extent: 1, chunks: 1, per_cell: 1, cells: vec![0..1; 1], marked, inner }
    }

    fn of(axis: &Axis, name: String, most: u64) -> Self {
        let chunks = axis.occupied();
        let per_cell = chunks.div_ceil(most.max(1)).max(1);
        let mut cells = Vec::new();
        let mut chunk = 0;
        while chunk < chunks {
            let last = chunk.saturating_add(per_cell).min(chunks).saturating_sub(1);
            if let (Some(first), Some(last)) = (axis.clipped(chunk), axis.clipped(last)) {
                cells.push(first.start..last.end);
            }
            chunk = chunk.saturating_add(per_cell);
        }
        let (name, extent) = (Some(name), axis.extent());
        Self { name, extent, chunks, per_cell, cells, marked: None, inner: None }
    }

    /// `null` for a direction without an axis.
    fn json(&self) -> Value {
        let Some(name) = &self.name else { return Value::Null };
        let starts = self.cells.iter().map(|cell| cell.start);
        json!({
            "name": name, "length": self.extent, "chunks": self.chunks,
            "chunks_of_a_cell": self.per_cell, "cells": starts.collect::<Vec<_>>(),
            "inner_chunk": self.inner,
            "region": self.marked.as_deref().map(ends),
        })
    }

    fn is_marked(&self, cell: usize) -> Option<bool> {
        let marked = self.marked.as_ref()?;
        let cell = self.cells.get(cell)?;
        Some(marked.iter().any(|marked| cell.start < marked.end && marked.start < cell.end))
    }

    /// Chunks of a cell.
    fn chunks_of(&self, cell: usize) -> u64 {
        let cell = u64::try_from(cell).unwrap_or(u64::MAX);
        let start = cell * self.per_cell;
        self.chunks.saturating_sub(start).min(self.per_cell)
    }
}

/// The marked indices. A list becomes its runs if they are few; a range with a step is marked
/// without its gaps.
fn runs(selection: &AxisSelection) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    if let AxisSelection::Indices(indices) = selection {
        let mut indices = indices.clone();
        indices.sort_unstable();
        for index in indices {
            let end = index.saturating_add(1);
            match runs.last_mut() {
                Some(run) if index <= run.end => run.end = end,
                _ => runs.push(index..end),
            }
        }
    }
    let few = usize::try_from(SVG_CELLS).unwrap_or(usize::MAX);
    if runs.is_empty() || runs.len() > few { vec![selection.bounds()] } else { runs }
}

/// The first and the last index.
fn ends(runs: &[Range<u64>]) -> [u64; 2] {
    let start = runs.first().map_or(0, |run| run.start);
    [start, runs.last().map_or(start, |run| run.end)]
}

/// How many chunks of a cell are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    None,
    Some,
    All,
}

/// A picture of the chunks of an array, with stored chunks and a marked region.
pub struct ChunkPicture {
    place: String,
    pub(super) title: String,
    pub(super) down: PictureAxis,
    pub(super) across: PictureAxis,
    /// Stored chunks of each cell, row by row.
    pub(super) stored: Vec<u64>,
    /// The number of chunks on the axes that are not drawn, for each chunk that is.
    behind: u128,
    /// Notes on parts that are not drawn.
    pub(super) notes: Vec<String>,
}

impl ChunkPicture {
    /// The picture of an open array with its [`divided_axes`] and at most [`SVG_CELLS`] cells per
    /// axis. `name` is the name of the array in the picture.
    ///
    /// # Errors
    /// The store's error while stored chunks are listed.
    pub fn of(name: &str, array: &Array, marked: Option<&Selection>) -> Result<Self, ArrayError> {
        let (metadata, layout) = (array.metadata(), array.layout());
        let (axes, most) = (divided_axes(layout), (SVG_CELLS, SVG_CELLS));
        let chunks = ChunksToDraw { metadata, layout, axes, marked, most };
        Self::new(name, array.store(), &chunks)
    }

    /// The picture of these chunks in a store.
    ///
    /// # Errors
    /// The store's error while stored chunks are listed.
    pub fn new(
        place: &str,
        store: &Arc<dyn Store>,
        chunks: &ChunksToDraw<'_>,
    ) -> Result<Self, ArrayError> {
        let ChunksToDraw { metadata, layout, axes, marked, most } = *chunks;
        let names = words::axis_names(metadata);
        let inner = inner_shape(metadata);
        let side = |axis: Option<usize>, most: u64| {
            let Some((number, axis)) =
                axis.and_then(|number| Some((number, layout.grid().axes().get(number)?)))
            else {
                return PictureAxis::none();
            };
            let mut side =
                PictureAxis::of(axis, names.get(number).cloned().unwrap_or_default(), most);
            side.marked =
                marked.map(|region| region.axes().get(number).map(runs).unwrap_or_default());
            side.inner = inner.as_ref().and_then(|shape| shape.get(number).copied());
            side
        };
        let (down, across) = (side(axes.0, most.0), side(axes.1, most.1));
        let mut notes = Vec::new();
        let mut behind = 1_u128;
        for (number, (axis, name)) in layout.grid().axes().iter().zip(&names).enumerate() {
            if Some(number) != axes.0 && Some(number) != axes.1 {
                behind = behind.saturating_mul(axis.occupied().into());
                notes.push(format!("not drawn: {name}, {}", words::axis(axis)));
            }
        }
        for side in [&down, &across] {
            if let (Some(name), 2..) = (&side.name, side.per_cell) {
                notes.push(format!("a cell is {} chunks of {name}", words::count(side.per_cell)));
            }
        }
        let mut stored = vec![0_u64; down.cells.len() * across.cells.len()];
        let cell = |index: &[u64], axis: Option<usize>, side: &PictureAxis| {
            let chunk = axis.map_or(Some(0), |axis| index.get(axis).copied())?;
            usize::try_from(chunk.checked_div(side.per_cell)?).ok()
        };
        for chunk in layout.stored_chunks(store) {
            let chunk = chunk?;
            if chunk.occupied
                && let Some(row) = cell(&chunk.index, axes.0, &down)
                && let Some(column) = cell(&chunk.index, axes.1, &across)
                && let Some(count) = stored.get_mut(row * across.cells.len() + column)
            {
                *count += 1;
            }
        }
        let title =
            format!("{place}: {} of {}", metadata.data_type(), words::shape(metadata.shape()));
        let place = place.to_owned();
        Ok(Self { place, title, down, across, stored, behind, notes })
    }

    pub(super) fn stored(&self, row: usize, column: usize) -> Stored {
        let at = row * self.across.cells.len() + column;
        let found = u128::from(self.stored[at]);
        let all = u128::from(self.down.chunks_of(row))
            .saturating_mul(self.across.chunks_of(column).into())
            .saturating_mul(self.behind);
        match found {
            0 => Stored::None,
            found if found < all => Stored::Some,
            _ => Stored::All,
        }
    }

    /// The picture as data: the start of each cell, and the number of its stored chunks.
    #[must_use]
    pub fn json(&self, metadata: &ArrayMetadata, layout: &ChunkLayout) -> Value {
        let rows = self.stored.chunks(self.across.cells.len().max(1));
        json!({
            "array": self.place, "data_type": metadata.data_type().name(), "shape": metadata.shape(),
            "chunks": {"declared": layout.grid().declared(), "occupied": layout.grid().occupied()},
            "down": self.down.json(), "across": self.across.json(),
            "stored": rows.collect::<Vec<_>>(), "chunks_behind": self.behind, "notes": self.notes,
        })
    }

    /// Whether a cell holds marked elements.
    pub(super) fn is_marked(&self, row: usize, column: usize) -> bool {
        match (self.down.is_marked(row), self.across.is_marked(column)) {
            (None, None) => false,
            (down, across) => down != Some(false) && across != Some(false),
        }
    }
}

/// The last two axes with more than one chunk: the default vertical and horizontal axis of a
/// picture.
#[must_use]
pub fn divided_axes(layout: &ChunkLayout) -> Axes {
    let axes = layout.grid().axes();
    let numbered = axes.iter().enumerate().rev();
    let mut cut = numbered.filter(|(_, axis)| axis.occupied() != 1).map(|(number, _)| number);
    let across = cut.next().or(axes.len().checked_sub(1));
    (cut.next(), across)
}

/// The shape of the inner chunks of shards, if the axes of the array are the shard's.
fn inner_shape(metadata: &ArrayMetadata) -> Option<Vec<u64>> {
    match metadata.codecs().first()? {
        Codec::ShardingIndexed(sharding) => Some(sharding.chunk_shape.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cells_of_the_longest_axis_end() {
        for most in [1, 3, 32, 128] {
            let axis = Axis::regular(u64::MAX, 1).expect("an axis");
            let drawn = PictureAxis::of(&axis, "x".to_owned(), most);
            let ends = (
                drawn.cells.first().map(|cell| cell.start),
                drawn.cells.last().map(|cell| cell.end),
            );
            assert_eq!(ends, (Some(0), Some(u64::MAX)));
            assert!(u64::try_from(drawn.cells.len()).is_ok_and(|cells| cells <= most));
            let chunks = (0..drawn.cells.len()).map(|cell| u128::from(drawn.chunks_of(cell)));
            assert_eq!(chunks.sum::<u128>(), u128::from(u64::MAX));
        }
        let marked = runs(&AxisSelection::Indices(vec![u64::MAX]));
        assert_eq!(ends(&marked), [u64::MAX; 2]);
    }
}
