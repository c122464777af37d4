//! Copies of arrays that have far more chunks than objects: their time follows the objects.
//!
//! A chunk of the source that is not stored holds nothing but the fill value, and chunks of the
//! target that hold nothing else are not stored. So if both have the same fill value, tasks without a
//! stored chunk of the source have nothing to do. Which tasks have one, a listing tells.

use std::collections::BTreeSet;
use std::ops::Range;

use zarr_array::Array;
use zarr_array::node;
use zarr_grid::{Axis, Grid, GridError};
use zarr_store::Links;

use crate::error::{TransferError, grid_error, source};

/// Arrays of fewer chunks are not worth a listing.
const FEW_CHUNKS: u64 = 1 << 10;

/// An array is sparse if at most one of as many chunks is stored.
const CHUNKS_PER_STORED: u64 = 16;

/// Chunks of the source in a task, whether they are stored or not, unless a single chunk of the
/// target has more.
const CHUNKS_PER_TASK: u64 = 64;

/// Whether only tasks with stored chunks are to be done.
pub(crate) fn is_sparse(from: &Array, to: &Array) -> bool {
    let chunks = from.grid().occupied_chunks().unwrap_or(u64::MAX);
    if chunks < FEW_CHUNKS
        || from.metadata().fill_value() != to.metadata().fill_value()
        // Members know more than the store lists.
        || from.members().is_some()
    {
        return false;
    }
    let most = chunks / CHUNKS_PER_STORED;
    let is_version_2 = from.metadata().is_version_2();
    let mut stored = 0_u64;
    for key in from.store().list(from.prefix(), Links::Follow) {
        // What cannot be listed may be readable all the same.
        let Ok(key) = key else { return false };
        if from.layout().chunk_of_key(&key).is_some() {
            stored = stored.saturating_add(1);
        } else if !node::is_of_array(from.prefix().strip(&key).unwrap_or_default(), is_version_2) {
            // Perhaps a link to a folder of chunks, which are read, but not listed.
            return false;
        }
        if stored > most {
            return false;
        }
    }
    true
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
        let edges = tasks.axes().iter().map(Axis::max_edge);
        if edges.fold(1, u64::saturating_mul) <= elements {
            return Ok(Some(tasks));
        }
    }
    Ok(None)
}

/// The tasks that have stored chunks, as many at a time as memory has room for.
pub(crate) struct StoredTasks<'a> {
    pub(crate) from: &'a Array,
    pub(crate) to: &'a Array,
    /// The tasks, as chunks of a grid.
    pub(crate) tasks: &'a Grid,
    /// The most tasks that are known at a time.
    pub(crate) most: usize,
}

impl StoredTasks<'_> {
    /// The first tasks in C order that come after this one and have a stored chunk.
    pub(crate) fn after(&self, last: Option<&[u64]>) -> Result<BTreeSet<Vec<u64>>, TransferError> {
        let failed = |cause| grid_error(self.to, cause);
        let mut found = BTreeSet::<Vec<u64>>::new();
        for chunk in self.from.stored_chunks() {
            let chunk = chunk.map_err(source)?;
            if !chunk.occupied {
                continue;
            }
            let region = self.from.layout().chunk_region(&chunk.index).map_err(failed)?;
            let mut tasks = self.tasks.chunks(&region).map_err(failed)?;
            while let Some(task) = tasks.next_part() {
                let task = task.chunk();
                let is_full = found.len() >= self.most;
                let is_late = is_full && found.last().is_some_and(|last| task >= last.as_slice());
                if is_late || last.is_some_and(|last| task <= last) || found.contains(task) {
                    continue;
                }
                found.insert(task.to_vec());
                if is_full {
                    found.pop_last();
                }
            }
        }
        Ok(found)
    }

    /// The elements of a task, one range per axis.
    pub(crate) fn region(&self, task: &[u64]) -> Vec<Range<u64>> {
        let axes = self.tasks.axes().iter().zip(task);
        axes.map(|(axis, number)| axis.clipped(*number).unwrap_or_default()).collect()
    }
}

/// What two regions have in common, `None` if nothing.
pub(crate) fn common(a: &[Range<u64>], b: &[Range<u64>]) -> Option<Vec<Range<u64>>> {
    let axes = a.iter().zip(b).map(|(a, b)| {
        let both = a.start.max(b.start)..a.end.min(b.end);
        (!both.is_empty()).then_some(both)
    });
    axes.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarr_metadata::{ArrayBuilder, DataType};

    use super::*;
    use zarr_store::{MemoryStore, Prefix};

    /// However many are known at a time, all tasks come once, in order, and no others.
    #[test]
    fn tasks_come_in_order_whatever_the_memory() {
        let metadata = ArrayBuilder::new([30, 20], DataType::Uint8).chunk_shape([3, 4]).build();
        let metadata = metadata.expect("valid");
        let root = Prefix::root();
        let from = Array::create(Arc::new(MemoryStore::new()), &root, metadata).expect("creates");
        let chunks = [[0_u64, 0], [9, 4], [4, 1], [4, 2], [5, 1], [2, 3]];
        let tasks = Grid::regular(&[30, 20], &[5, 7]).expect("valid");
        let mut expected = BTreeSet::new();
        for [row, column] in chunks {
            from.write_as::<u8>((row * 3..row * 3 + 3, column * 4..column * 4 + 4), &[1; 12])
                .expect("writes");
            for (row, column) in (row * 3..row * 3 + 3)
                .flat_map(|row| (column * 4..column * 4 + 4).map(move |column| (row, column)))
            {
                expected.insert(vec![row / 5, column / 7]);
            }
        }
        let expected: Vec<_> = expected.into_iter().collect();
        for most in [1, 2, 3, 5, expected.len(), 100] {
            let stored = StoredTasks { from: &from, to: &from, tasks: &tasks, most };
            let mut found: Vec<Vec<u64>> = Vec::new();
            loop {
                let batch = stored.after(found.last().map(Vec::as_slice)).expect("lists");
                assert!(batch.len() <= most);
                let is_last = batch.len() < most;
                found.extend(batch);
                if is_last {
                    break;
                }
            }
            assert_eq!(found, expected, "{most}");
        }
        let stored = StoredTasks { from: &from, to: &from, tasks: &tasks, most: 1 };
        assert_eq!(stored.region(&[5, 2]), [25..30, 14..20]);
        assert_eq!(common(&[0..30, 3..15], &[25..30, 14..20]), Some(vec![25..30, 14..15]));
        assert_eq!(common(&[0..30, 3..14], &[25..30, 14..20]), None);
    }
}
