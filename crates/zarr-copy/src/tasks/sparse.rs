//! Copies of arrays that have far more chunks than objects: their time follows the objects.
//!
//! A chunk of the source that is not stored holds only the fill value, and chunks of the target
//! that hold only the fill value are not stored. So if both have the same fill value, tasks without
//! a stored chunk of the source have nothing to do. Which tasks have one, a listing tells.

use std::ops::Range;

use zarr_array::Array;
use zarr_grid::{Grid, GridError};

/// Chunks of the source in a task, whether they are stored or not, unless a single chunk of the
/// target has more.
const CHUNKS_PER_TASK: u64 = 64;

/// Whether only tasks with stored chunks are to be done.
pub(crate) fn is_sparse(from: &Array, to: &Array) -> bool {
    from.metadata().fill_value() == to.metadata().fill_value()
        && from.is_sparse(from.grid().occupied_chunks().unwrap_or(u64::MAX))
}

/// Whole chunks of the target as tasks, which have about as many chunks of the source on each axis;
/// `None` if the memory does not have room for so many elements.
pub(crate) fn small_tasks(
    from: &Array,
    to: &Array,
    elements: u64,
) -> Result<Option<Grid>, GridError> {
    let rank = u32::try_from(to.grid().rank()).unwrap_or(u32::MAX);
    let is_few = |chunks: &u64| chunks.saturating_pow(rank) <= CHUNKS_PER_TASK;
    for chunks in [CHUNKS_PER_TASK, 8, 4, 2, 1].into_iter().filter(is_few) {
        let axes = to.grid().axes().iter().zip(from.grid().axes());
        let axes = axes.map(|(axis, source)| {
            axis.grouped(source.max_edge().saturating_mul(chunks), Some(source))
        });
        let tasks = Grid::new(axes.collect::<Result<Vec<_>, _>>()?);
        if tasks.largest_chunk() <= elements {
            return Ok(Some(tasks));
        }
    }
    Ok(None)
}

/// The intersection of two regions; `None` if it is empty.
pub(crate) fn common(a: &[Range<u64>], b: &[Range<u64>]) -> Option<Vec<Range<u64>>> {
    let axes = a.iter().zip(b).map(|(a, b)| {
        let both = a.start.max(b.start)..a.end.min(b.end);
        (!both.is_empty()).then_some(both)
    });
    axes.collect()
}

#[cfg(test)]
mod tests {
    use super::common;

    #[test]
    fn regions_have_what_both_hold() {
        assert_eq!(common(&[0..30, 3..15], &[25..30, 14..20]), Some(vec![25..30, 14..15]));
        assert_eq!(common(&[0..30, 3..14], &[25..30, 14..20]), None);
    }
}
