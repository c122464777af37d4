//! Glue: the metadata's chunk grid as one that is computed with, and its edges for the chain.

use zarr_codec::AxisEdges;
use zarr_grid::{Axis, Grid, GridError, Run};
use zarr_metadata::{ChunkEdges, ChunkGrid, EdgeRun};

/// The grid of an array of this shape.
pub(crate) fn grid_of(shape: &[u64], grid: &ChunkGrid) -> Result<Grid, GridError> {
    match grid {
        ChunkGrid::Regular { chunk_shape } => Grid::regular(shape, chunk_shape),
        ChunkGrid::Rectilinear { chunk_shapes } => {
            let axes = chunk_shapes.iter().zip(shape).enumerate();
            let axes = axes.map(|(axis, (edges, extent))| {
                axis_of(*extent, edges).map_err(|error| error.on_axis(axis))
            });
            Ok(Grid::new(axes.collect::<Result<Vec<_>, _>>()?))
        }
    }
}

fn axis_of(extent: u64, edges: &ChunkEdges) -> Result<Axis, GridError> {
    match edges {
        ChunkEdges::Regular(edge) => Axis::regular(extent, *edge),
        ChunkEdges::Runs(runs) => {
            let runs = runs.iter().map(|run| match *run {
                EdgeRun::Edge(edge) => Run { edge, count: 1 },
                EdgeRun::Repeat { edge, count } => Run { edge, count: count.get() },
            });
            Axis::from_runs(extent, runs)
        }
    }
}

/// What the chain must know of each axis's occupied chunks.
pub(crate) fn occupied_edges(grid: &Grid) -> Vec<AxisEdges> {
    grid.axes().iter().map(|axis| AxisEdges::of(axis.distinct_edges())).collect()
}
