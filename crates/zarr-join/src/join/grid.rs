//! The chunk grid of a joined array, from the edges of its members.

use zarr_grid::{Axis, AxisKind, Grid, GridError, Run};

use crate::members::Members;

impl Members {
    /// The grid in which as many chunks of the members as possible are chunks of the joined array.
    ///
    /// On each axis, a tile contributes the edges of its first member. The last chunk of a tile is
    /// cut to the tile's end, because the next tile begins there. On the last tile it may reach
    /// past the end of the array (SD-05) and keeps its stored length. If all edges of an axis are
    /// then equal, it is regular (SD-09).
    ///
    /// # Errors
    /// [`GridError`] on its axis, if edges exceed `u64`.
    pub fn joined_grid(&self) -> Result<Grid, GridError> {
        let counts = self.tiles().counts();
        let axes = (0..counts.len()).map(|axis| {
            let joined = joined_axis(self, &counts, axis);
            joined.map_err(|error| error.on_axis(axis))
        });
        Ok(Grid::new(axes.collect::<Result<Vec<_>, _>>()?))
    }
}

fn joined_axis(members: &Members, counts: &[usize], axis: usize) -> Result<Axis, GridError> {
    let tiles = members.tiles();
    let Some(member_axis) = members.member_axis(axis) else {
        let extent = tiles.shape()[axis];
        return Axis::regular(extent, 1);
    };
    let pieces: Vec<&Axis> = (0..counts[axis])
        .map(|tile| {
            let mut place = vec![0; counts.len()];
            place[axis] = tile;
            let member = &members.members()[tiles.tile(&place)];
            &member.array().grid().axes()[member_axis]
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
        runs.extend(occupied_runs(piece, number == last));
    }
    let joined = Axis::from_runs(extent, runs)?;
    Ok(joined.to_regular().unwrap_or(joined))
}

/// The occupied chunks of an axis. The last one is cut to the end of the axis, unless it
/// `may_overhang`.
#[must_use]
pub fn occupied_runs(axis: &Axis, may_overhang: bool) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut left = axis.extent();
    for run in axis.runs() {
        let whole = left.checked_div(run.edge).unwrap_or(0).min(run.count);
        if whole > 0 {
            runs.push(Run { edge: run.edge, count: whole });
        }
        left = left.saturating_sub(run.edge.saturating_mul(whole));
        if left > 0 && whole < run.count {
            let edge = if may_overhang { run.edge } else { left };
            runs.push(Run { edge, count: 1 });
            left = 0;
        }
        if left == 0 {
            break;
        }
    }
    runs
}
