//! Axes as virtual joins use them.

use zarr_grid::{Axis, GridError};
use zarr_join::occupied_runs;

/// The occupied chunks of an axis as a list. The last one may reach past the end of the axis.
pub(crate) fn occupied(axis: &Axis) -> Result<Axis, GridError> {
    Axis::from_runs(axis.extent(), occupied_runs(axis, true))
}

/// The occupied chunks of two tiles side by side. If they differ, a chunk ends at each edge that both
/// have, the last at the end of the axis.
pub(crate) fn common(one: Axis, other: &Axis) -> Result<Axis, GridError> {
    if one.same_chunks(other) {
        return Ok(one);
    }
    let clipped = |axis: &Axis| Axis::from_runs(axis.extent(), occupied_runs(axis, false));
    clipped(&one)?.common_coarsening(&clipped(other)?)
}

/// The axis of tiles one after another. Each ends where the next begins; the last chunk of all may
/// reach past the end. Equal edges make a regular axis (SD-09).
pub(crate) fn concatenated(extent: u64, tiles: &[Axis]) -> Result<Axis, GridError> {
    let last = tiles.iter().rposition(|tile| tile.extent() > 0);
    let tiles = tiles.iter().enumerate();
    let runs = tiles.flat_map(|(number, tile)| occupied_runs(tile, Some(number) == last));
    let joined = Axis::from_runs(extent, runs.collect::<Vec<_>>())?;
    Ok(joined.to_regular().unwrap_or(joined))
}
