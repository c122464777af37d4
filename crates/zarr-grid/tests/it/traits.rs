//! The traits that all types implement, whatever they hold: checked at compile time.

use std::fmt::Debug;

use zarr_grid::*;

fn shared<T: Send + Sync + Debug + Clone>() {}
fn compared<T: Eq>() {}
fn iterates<T: std::iter::FusedIterator>() {}

#[test]
fn types_can_be_sent_shown_cloned_and_compared() {
    shared::<(Axis, AxisRuns<'_>, Grid, GridError, GridErrorKind, Growth<'_>)>();
    shared::<(AxisSelection, SelectedAxis<'_>, AxisParts<'_>, AxisPart<'_>)>();
    shared::<(SelectedChunks<'_>, ChunkParts<'_>, ChunkPart<'_>, Overlaps<'_>)>();
    compared::<(Axis, AxisKind, Grid, GridError, GridErrorKind, Run, Overlap)>();
    compared::<(AxisSelection, AxisPart<'_>, PartIndices<'_>, ChunkPart<'_>)>();
    iterates::<AxisRuns<'_>>();
    iterates::<AxisParts<'_>>();
    iterates::<ChunkParts<'_>>();
    iterates::<Overlaps<'_>>();
    let _: &dyn std::error::Error = &GridError::from(GridErrorKind::ZeroStep);
}
