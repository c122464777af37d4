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

/// The axis of tiles one after another. Each ends where the next begins; the last chunk of all
/// reaches past the end as in its tile, unless all edges are equal without that. Equal edges make a
/// regular axis (SD-09), which more programs read.
pub(crate) fn concatenated(extent: u64, tiles: &[Axis]) -> Result<Axis, GridError> {
    let last = tiles.iter().rposition(|tile| tile.extent() > 0);
    let joined = |may_overhang: bool| {
        let tiles = tiles.iter().enumerate();
        let runs = tiles
            .flat_map(|(number, tile)| occupied_runs(tile, may_overhang && Some(number) == last));
        Axis::from_runs(extent, runs.collect::<Vec<_>>())
    };
    let as_stored = joined(true)?;
    if let Some(regular) = as_stored.to_regular() {
        return Ok(regular);
    }
    Ok(joined(false)?.to_regular().unwrap_or(as_stored))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_end_where_the_next_begins() {
        let regular = |extent, edge| Axis::regular(extent, edge).expect("an axis");
        let edges = |extent, edges: &[u64]| Axis::from_edges(extent, edges.iter().copied());
        let joined = |tiles: &[Axis]| {
            let extent = tiles.iter().map(Axis::extent).sum();
            concatenated(extent, tiles).expect("an axis")
        };
        // The last chunk is padded as it is stored.
        assert_eq!(joined(&[regular(10, 4)]), regular(10, 4));
        assert_eq!(joined(&[regular(8, 4), regular(6, 4)]), regular(14, 4));
        let ragged = edges(20, &[4, 4, 2, 4, 4, 4]).expect("an axis");
        assert_eq!(joined(&[regular(10, 4), regular(10, 4)]), ragged);
        // Chunks longer than their members have equal lengths once all are cut.
        assert_eq!(joined(&[regular(3, 10), regular(3, 10)]), regular(6, 3));
        // A tile without elements is not the last.
        assert_eq!(joined(&[regular(6, 4), regular(0, 4)]), regular(6, 4));
    }
}
