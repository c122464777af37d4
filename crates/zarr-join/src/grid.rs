//! The chunk grid of a joined array, from the edges of its members.

use std::num::NonZeroU64;

use zarr_array::Array;
use zarr_grid::{Axis, AxisKind, Grid, GridError, Run};
use zarr_metadata::{ChunkEdges, ChunkGrid, EdgeRun};

use crate::members::Members;

/// The grid in which as many chunks of the members as possible are chunks of the joined array.
///
/// On each axis, a tile contributes the edges of its first member. The last chunk of a tile is cut
/// to the tile's end, because the next tile begins there; on the last tile it may reach past the
/// end of the array (SD-05) and keeps the length at which it is stored. An axis whose edges are
/// then equal is regular (SD-09).
pub(crate) fn joined_grid(members: &Members) -> Result<Grid, GridError> {
    let counts = members.tiles().counts();
    let axes = (0..counts.len()).map(|axis| {
        let joined = joined_axis(members, &counts, axis);
        joined.map_err(|error| error.on_axis(axis))
    });
    Ok(Grid::new(axes.collect::<Result<Vec<_>, _>>()?))
}

fn joined_axis(members: &Members, counts: &[usize], axis: usize) -> Result<Axis, GridError> {
    let tiles = members.tiles();
    let count = counts.get(axis).copied().unwrap_or(0);
    let Some(member_axis) = members.member_axis(axis) else {
        let extent = tiles.shape().get(axis).copied().unwrap_or(0);
        return Axis::regular(extent, 1);
    };
    let pieces: Vec<&Axis> = (0..count)
        .filter_map(|tile| {
            let mut place = vec![0; counts.len()];
            place.iter_mut().skip(axis).take(1).for_each(|at| *at = tile);
            axis_of(members.members().get(tiles.tile(&place))?.array(), member_axis)
        })
        .collect();
    if let [only] = pieces.as_slice() {
        return Ok((*only).clone());
    }
    let Some(last) = pieces.iter().rposition(|piece| piece.extent() > 0) else {
        let edge = pieces.iter().find_map(|piece| match piece.kind() {
            AxisKind::Regular { edge } => Some(edge),
            AxisKind::Rectilinear => piece.edge(0),
        });
        return Axis::regular(0, edge.unwrap_or(1));
    };
    let mut runs = Vec::new();
    let mut extent = 0_u64;
    for (number, piece) in pieces.iter().enumerate() {
        // The tiles were laid out, so the sum fits.
        extent = extent.saturating_add(piece.extent());
        push_edges(piece, number == last, &mut runs);
    }
    let joined = Axis::from_runs(extent, runs)?;
    Ok(joined.to_regular().unwrap_or(joined))
}

fn axis_of(array: &Array, axis: usize) -> Option<&Axis> {
    array.grid().axes().get(axis)
}

/// The occupied chunks of a tile, the last one cut to the tile's end unless it `may_overhang`.
fn push_edges(axis: &Axis, may_overhang: bool, runs: &mut Vec<Run>) {
    let mut left = axis.extent();
    for run in axis.runs() {
        let whole = left.checked_div(run.edge).unwrap_or(0).min(run.count);
        if whole > 0 {
            runs.push(Run { edge: run.edge, count: whole });
        }
        left = left.saturating_sub(run.edge.saturating_mul(whole));
        if left == 0 {
            return;
        }
        if whole < run.count {
            let edge = if may_overhang { run.edge } else { left };
            runs.push(Run { edge, count: 1 });
            return;
        }
    }
}

/// The grid as a document declares it: regular if it can be, else with an integer for each regular
/// axis (SD-04, SD-09).
pub(crate) fn declared(grid: &Grid) -> ChunkGrid {
    let regular = |axis: &Axis| match axis.kind() {
        AxisKind::Regular { edge } => Some(edge),
        AxisKind::Rectilinear => None,
    };
    if let Some(chunk_shape) = grid.axes().iter().map(regular).collect::<Option<Vec<_>>>() {
        return ChunkGrid::Regular { chunk_shape };
    }
    let chunk_shapes = grid.axes().iter().map(|axis| match regular(axis) {
        Some(edge) => ChunkEdges::Regular(edge),
        None => ChunkEdges::from_runs(axis.runs().filter_map(|run| {
            let count = NonZeroU64::new(run.count)?;
            Some(EdgeRun::Repeat { edge: run.edge, count })
        })),
    });
    ChunkGrid::Rectilinear { chunk_shapes: chunk_shapes.collect() }
}

/// The occupied chunks of an axis as a list, the last one no longer than the axis.
pub(crate) fn clipped(axis: &Axis) -> Result<Axis, GridError> {
    let mut left = axis.extent();
    let mut runs = Vec::new();
    for run in axis.runs() {
        let whole = left.checked_div(run.edge).unwrap_or(0).min(run.count);
        runs.push(Run { edge: run.edge, count: whole });
        left = left.saturating_sub(run.edge.saturating_mul(whole));
        if whole < run.count {
            runs.push(Run { edge: left, count: 1 });
            break;
        }
    }
    Axis::from_runs(axis.extent(), runs.into_iter().filter(|run| run.edge > 0 && run.count > 0))
}
