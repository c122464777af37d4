//! Arrays that have far more chunks than objects: a listing tells which parts of them to read.

use std::collections::{BTreeSet, btree_set};
use std::ops::Range;

use zarr_grid::{Grid, GridError};

use crate::array::Array;
use crate::error::ArrayError;
use crate::hierarchy::node;
use crate::store::Links;

/// Fewer chunks are not worth a listing.
const FEW_CHUNKS: u64 = 1 << 10;

/// Chunks are sparse if the array stores at most one for so many.
const CHUNKS_PER_STORED: u64 = 16;

/// A chunk of a grid of tasks: its number on each axis, and its elements.
type Task = (Vec<u64>, Vec<Range<u64>>);

impl Array {
    /// Whether the array stores far fewer than `chunks` chunks, so that a listing saves most
    /// lookups: see [`StoredTasks`].
    ///
    /// Takes time for at most a sixteenth of `chunks` in a listing. False if the store cannot be
    /// listed, or may hold chunks that it does not list.
    #[must_use]
    pub fn is_sparse(&self, chunks: u64) -> bool {
        // Members know more than the store lists.
        if chunks < FEW_CHUNKS || self.members().is_some() {
            return false;
        }
        let most = chunks / CHUNKS_PER_STORED;
        let is_version_2 = self.metadata().is_version_2();
        let mut stored = 0_u64;
        for key in self.store().list(self.prefix(), Links::Follow) {
            // A store that cannot be listed may be readable all the same.
            let Ok(key) = key else { return false };
            if self.layout().chunk_of_key(&key).is_some() {
                stored += 1;
            } else if !node::is_of_array(
                self.prefix().strip(&key).unwrap_or_default(),
                is_version_2,
            ) {
                // Perhaps a link to a folder of chunks, which are read, but not listed.
                return false;
            }
            if stored > most {
                return false;
            }
        }
        true
    }
}

/// The tasks that share elements with a stored chunk of an array, in C order. Tasks are the chunks
/// of any grid of the array's shape.
///
/// Lists the store once for each `most` tasks; these are in memory at a time.
///
/// # Errors
/// [`ArrayError::Store`] as the last item if the store cannot be listed; [`ArrayError::Grid`] if the
/// tasks are of another shape.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Array, StoredTasks};
/// # use zarr_array::store::{MemoryStore, Prefix};
/// # use zarr_metadata::{ArrayBuilder, DataType};
/// let metadata = ArrayBuilder::new([1 << 50], DataType::Uint8).chunk_shape([10]).build()?;
/// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
/// array.write_as::<u8>(1_000_012..1_000_014, &[1, 2])?;
/// assert!(array.is_sparse(1 << 40));
/// let tasks = array.grid().grouped(100, None)?;
/// let tasks = StoredTasks::new(&array, tasks, 1000).collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(tasks, [(vec![10_000], vec![1_000_000..1_000_100])]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StoredTasks<'a> {
    array: &'a Array,
    tasks: Grid,
    most: usize,
    found: btree_set::IntoIter<Vec<u64>>,
    /// The last task of those found so far.
    last: Option<Vec<u64>>,
    /// Whether there may be others after it.
    more: bool,
}

impl<'a> StoredTasks<'a> {
    /// An iterator over these tasks. It keeps at most `most` of them in memory, at least one.
    #[must_use]
    pub fn new(array: &'a Array, tasks: Grid, most: usize) -> Self {
        let found = BTreeSet::new().into_iter();
        Self { array, tasks, most: most.max(1), found, last: None, more: true }
    }

    fn failed(&self, cause: GridError) -> ArrayError {
        ArrayError::Grid { key: node::metadata_key(self.array.prefix()), cause }
    }

    /// The first tasks in C order that come after this one and have a stored chunk.
    fn list(&self, last: Option<&[u64]>) -> Result<BTreeSet<Vec<u64>>, ArrayError> {
        let failed = |cause| self.failed(cause);
        let mut found = BTreeSet::<Vec<u64>>::new();
        for chunk in self.array.stored_chunks() {
            let chunk = chunk?;
            if !chunk.occupied {
                continue;
            }
            let region = self.array.layout().chunk_region(&chunk.index).map_err(failed)?;
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
}

impl Iterator for StoredTasks<'_> {
    type Item = Result<Task, ArrayError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(task) = self.found.next() {
                let axes = self.tasks.axes().iter().zip(&task);
                let region = axes.map(|(axis, number)| axis.clipped(*number).unwrap_or_default());
                let region = region.collect();
                return Some(Ok((task, region)));
            }
            if !std::mem::take(&mut self.more) {
                return None;
            }
            match self.list(self.last.as_deref()) {
                Ok(found) => {
                    self.more = found.len() >= self.most;
                    self.last = found.last().cloned();
                    self.found = found.into_iter();
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarr_metadata::{ArrayBuilder, DataType};

    use super::*;
    use crate::store::{MemoryStore, Prefix};

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
        let region = |task: &[u64]| {
            vec![task[0] * 5..task[0] * 5 + 5, task[1] * 7..(task[1] * 7 + 7).min(20)]
        };
        let expected: Vec<Task> =
            expected.into_iter().map(|task| (task.clone(), region(&task))).collect();
        for most in [0, 1, 2, 3, 5, expected.len(), 100] {
            let stored = StoredTasks::new(&from, tasks.clone(), most);
            let found = stored.collect::<Result<Vec<_>, _>>().expect("lists");
            assert_eq!(found, expected, "{most}");
        }
    }
}
