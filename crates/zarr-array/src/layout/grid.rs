//! Converts the metadata's chunk grid to a grid for computation, and to the edges for a chain.

use std::num::NonZeroU64;

use zarr_codec::AxisEdges;
use zarr_grid::{Axis, AxisKind, Grid, GridError, GridErrorKind, Run};
use zarr_metadata::{ChunkEdges, ChunkGrid, EdgeRun};

/// The grid that cuts an array of this shape into chunks, from its document.
/// An open array has it as [`Array::grid`](crate::Array::grid).
///
/// # Errors
/// [`GridError`] with its axis: an edge or a count is 0; the edges do not reach the array's end or
/// exceed `u64`; or the number of axes differs from the shape's, as for a grid that is not known.
///
/// # Examples
/// ```
/// use zarr_metadata::ChunkGrid;
///
/// let chunks = ChunkGrid::Regular { chunk_shape: vec![4, 4] };
/// let grid = zarr_array::grid_of(&[10, 6], &chunks)?;
/// assert_eq!(grid.declared(), [3, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Spec
/// Zarr core 3.1, "Regular grids"; zarr-extensions `chunk-grids/rectilinear`.
pub fn grid_of(shape: &[u64], grid: &ChunkGrid) -> Result<Grid, GridError> {
    match grid {
        ChunkGrid::Regular { chunk_shape } => Grid::regular(shape, chunk_shape),
        ChunkGrid::Rectilinear { chunk_shapes } => {
            if chunk_shapes.len() != shape.len() {
                let (found, rank) = (chunk_shapes.len(), shape.len());
                return Err(GridErrorKind::Rank { what: "axes of edges", found, rank }.into());
            }
            let axes = chunk_shapes.iter().zip(shape).enumerate();
            let axes = axes.map(|(axis, (edges, extent))| {
                axis_of(*extent, edges).map_err(|error| error.on_axis(axis))
            });
            Ok(Grid::new(axes.collect::<Result<Vec<_>, _>>()?))
        }
        ChunkGrid::Unknown(_) => {
            let rank = shape.len();
            Err(GridErrorKind::Rank { what: "axes of a known grid", found: 0, rank }.into())
        }
    }
}

fn axis_of(extent: u64, edges: &ChunkEdges) -> Result<Axis, GridError> {
    match edges {
        ChunkEdges::Regular(edge) => Axis::regular(extent, *edge),
        ChunkEdges::Runs(runs) => {
            let runs = runs.iter().map(|run| Run { edge: run.edge(), count: run.count() });
            Axis::from_runs(extent, runs)
        }
    }
}

/// The grid as a document declares it: regular if it can be, else with an integer for each regular
/// axis (SD-04, SD-09). The opposite of [`grid_of`].
///
/// # Examples
/// ```
/// use zarr_grid::{Axis, Grid};
///
/// let grid = Grid::new([Axis::from_edges(59, [31, 28])?, Axis::regular(10, 5)?]);
/// let chunks = zarr_array::chunk_grid_of(&grid);
/// assert_eq!(zarr_array::grid_of(&[59, 10], &chunks)?, grid);
/// # Ok::<(), zarr_grid::GridError>(())
/// ```
#[must_use]
pub fn chunk_grid_of(grid: &Grid) -> ChunkGrid {
    let regular = grid.axes().iter().map(|axis| match axis.kind() {
        AxisKind::Regular { edge } => Some(edge),
        AxisKind::Rectilinear => None,
    });
    match regular.collect() {
        Some(chunk_shape) => ChunkGrid::Regular { chunk_shape },
        None => ChunkGrid::Rectilinear { chunk_shapes: grid.axes().iter().map(edges_of).collect() },
    }
}

/// The edges of an axis, as a document of a rectilinear grid has them.
#[must_use]
pub fn edges_of(axis: &Axis) -> ChunkEdges {
    match axis.kind() {
        AxisKind::Regular { edge } => ChunkEdges::Regular(edge),
        AxisKind::Rectilinear => ChunkEdges::from_runs(axis.runs().filter_map(|run| {
            let count = NonZeroU64::new(run.count)?;
            Some(EdgeRun::Repeat { edge: run.edge, count })
        })),
    }
}

/// The properties of each axis's occupied chunks that a chain needs.
pub(crate) fn occupied_edges(grid: &Grid) -> Vec<AxisEdges> {
    grid.axes().iter().map(|axis| AxisEdges::of(axis.distinct_edges())).collect()
}
