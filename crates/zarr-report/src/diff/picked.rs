//! What is compared of an array.

use std::iter;
use std::ops::Range;

use zarr_array::{Array, ArrayError, AxisSelection, Selection};
use zarr_grid::{Axis, Grid, GridError, Run};

use super::node::{DiffError, DiffNode};
use super::tasks::{Piece, cut};

/// What is compared of an array. Boxes are of positions in the selection.
pub(super) struct Picked<'a> {
    pub(super) node: &'a DiffNode<'a>,
    pub(super) array: &'a Array,
    /// The indices on each axis; the whole array if there are none.
    axes: Option<Vec<AxisSelection>>,
    /// The chunks of what is compared.
    grid: Grid,
}

impl<'a> Picked<'a> {
    /// Selections are ranges, steps or lists.
    pub(super) fn new(
        node: &'a DiffNode<'a>,
        array: &'a Array,
        axes: Option<Vec<AxisSelection>>,
    ) -> Result<Self, DiffError> {
        let grid = match &axes {
            None => array.grid().clone(),
            Some(picked) => {
                let axes = array.grid().axes().iter().zip(picked);
                let axes = axes.map(|(axis, picked)| picked_axis(axis, picked));
                let axes = axes.collect::<Result<Vec<_>, _>>();
                Grid::new(axes.map_err(|cause| grid_error(node, array, cause))?)
            }
        };
        Ok(Self { node, array, axes, grid })
    }

    pub(super) fn is_whole(&self) -> bool {
        self.axes.is_none()
    }

    pub(super) fn shape(&self) -> &[u64] {
        self.grid.shape()
    }

    pub(super) fn grid(&self) -> &Grid {
        &self.grid
    }

    pub(super) fn chunks(&self) -> u64 {
        self.grid.occupied_chunks().unwrap_or(u64::MAX)
    }

    pub(super) fn failed(&self, cause: impl Into<crate::ReportError>) -> DiffError {
        self.node.failed(cause)
    }

    /// Reads a box.
    pub(super) fn read(&self, region: &[Range<u64>]) -> Result<Piece, ArrayError> {
        let array = self.array;
        let selection = match &self.axes {
            None => region.into(),
            Some(axes) => {
                let axes = axes.iter().zip(region).map(|(axis, range)| axis.slice(range.clone()));
                Selection::new(axes.collect::<Vec<_>>())
            }
        };
        Ok(match array.data_type().is_variable_length() {
            true => Piece::Variable(array.read_as::<Vec<u8>>(&selection)?),
            false => Piece::Fixed(array.read(&selection)?, array.element_size().max(1)),
        })
    }

    /// Groups of chunks, each of at most so many elements.
    pub(super) fn tasks(&self, most: u64, source: Option<&Self>) -> Result<Grid, DiffError> {
        let tasks = self.grid.grouped(most, source.map(|source| &source.grid));
        tasks.map_err(|cause| grid_error(self.node, self.array, cause))
    }

    /// The parts of a box in the chunks of a grid of this shape.
    pub(super) fn cut(
        &self,
        grid: &Grid,
        region: &[Range<u64>],
    ) -> Result<Vec<Vec<Range<u64>>>, DiffError> {
        cut(grid, region).map_err(|cause| grid_error(self.node, self.array, cause))
    }

    /// The index in the array of a position.
    pub(super) fn index(&self, at: &[u64]) -> Vec<u64> {
        let Some(axes) = &self.axes else { return at.to_vec() };
        axes.iter()
            .zip(at)
            .map(|(axis, at)| axis.get(*at).expect("a position of the selection"))
            .collect()
    }

    /// The smallest region of the array that holds a box.
    pub(super) fn region(&self, at: &[Range<u64>]) -> Vec<Range<u64>> {
        let Some(axes) = &self.axes else { return at.to_vec() };
        axes.iter().zip(at).map(|(axis, at)| axis.slice(at.clone()).bounds()).collect()
    }
}

fn grid_error(node: &DiffNode<'_>, array: &Array, cause: GridError) -> DiffError {
    node.failed(ArrayError::Grid { key: zarr_array::node::metadata_key(array.prefix()), cause })
}

/// The chunks of the selected indices of an axis, in the order of the selection.
fn picked_axis(axis: &Axis, picked: &AxisSelection) -> Result<Axis, GridError> {
    let length = picked.len();
    match picked {
        AxisSelection::Range(range) => {
            let chunks = axis.chunks_in(range.clone())?;
            let first = axis.clipped(chunks.start).unwrap_or_default();
            let first =
                Run { edge: first.end.min(range.end).saturating_sub(range.start), count: 1 };
            let rest = axis.runs_of((chunks.start + 1).min(chunks.end)..chunks.end);
            let first = iter::once(first).filter(|run| run.edge > 0);
            Axis::from_runs(length, first.chain(rest))
        }
        AxisSelection::Indices(indices) => {
            let chunk_of = |index: &u64| axis.chunk_of(*index).map(|(chunk, _)| chunk);
            let edges = indices.chunk_by(|one, next| chunk_of(one) == chunk_of(next));
            Axis::from_edges(length, edges.map(|run| u64::try_from(run.len()).unwrap_or(u64::MAX)))
        }
        _ => {
            let selected = axis.select(picked)?;
            let mut edges: Vec<u64> = selected.parts().map(|part| part.len()).collect();
            if selected.is_reversed() {
                edges.reverse();
            }
            Axis::from_edges(length, edges)
        }
    }
}

#[cfg(test)]
mod tests {
    use zarr_grid::{Axis, AxisSelection};

    use super::picked_axis;

    /// Neighbours in the selection are in one chunk if they are in one chunk of the array.
    #[test]
    fn chunks_of_selections_are_those_of_the_array() {
        let axis = Axis::from_edges(10, [4, 1, 3, 5]).expect("an axis");
        let mut selections: Vec<AxisSelection> = vec![vec![8, 1, 0, 5, 6, 9].into()];
        for start in 0..10_u64 {
            for end in start..=10 {
                selections.push(AxisSelection::Range(start..end));
                for step in [1, 2, 3, -1, -2, -7] {
                    selections.push(AxisSelection::Step { range: start..end, step });
                }
            }
        }
        for selection in selections {
            let picked = picked_axis(&axis, &selection).expect("an axis");
            let indices: Vec<u64> = selection.indices().collect();
            assert_eq!(picked.extent(), indices.len() as u64, "{selection:?}");
            for (at, pair) in (0_u64..).zip(indices.windows(2)) {
                let [one, next] = [at, at + 1].map(|at| picked.chunk_of(at).expect("a chunk").0);
                let [a, b] = [pair[0], pair[1]].map(|at| axis.chunk_of(at).expect("a chunk").0);
                assert_eq!(one == next, a == b, "{selection:?} {at}");
            }
        }
    }
}
