//! What all types can do, whatever they hold: decided when this compiles.

use std::fmt::Debug;

use zarr_grid::*;

fn shared<T: Send + Sync + Debug + Clone>() {}
fn compared<T: Eq>() {}
fn iterates<T: std::iter::FusedIterator>() {}

#[test]
fn types_can_be_sent_shown_cloned_and_compared() {
    shared::<(Axis, AxisBuilder, AxisRuns<'_>, Grid, GridError, Listed, Points, ShardGrid)>();
    shared::<(Chunks<'_>, ChunkPart<'_>, Cuts<'_>, Overlaps<'_>, Stepped<'_>)>();
    shared::<(Selection<'_>, SelectionParts<'_>, SelectionPart<'_>, Shrink, Growth<'_>)>();
    compared::<(Axis, AxisKind, Grid, GridError, Run, Select<'_>, ShardGrid, Shrink)>();
    compared::<(ChunkPart<'_>, Cut, ListedCut<'_>, Overlap, PointGroup<'_>, SteppedCut)>();
    iterates::<AxisRuns<'_>>();
    iterates::<Cuts<'_>>();
    iterates::<Overlaps<'_>>();
    iterates::<Stepped<'_>>();
    let _: &dyn std::error::Error = &GridError::ZeroStep;
}
