//! Axes as virtual joins use them.

use zarr_grid::{Axis, GridError, Run};

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
