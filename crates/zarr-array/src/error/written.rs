//! Which chunks of a write were written.

use std::ops::Range;

use crate::counts::number;

/// Which chunks of a write that ended early were written, and which were not: the chunks that its
/// selection touches, numbered in C order.
///
/// Those that were not written are as they were, and writing the selection again completes it. Of the
/// chunk that failed the store may not know: where the answer of a remote store was lost, it may
/// have been written and is still counted among the others.
///
/// # Examples
/// ```
/// use std::{io, sync::Arc};
/// use zarr_array::{Array, ArrayError, Selection};
/// use zarr_array::store::{Fault, FaultStore, Key, MemoryStore, Prefix};
/// use zarr_metadata::{ArrayBuilder, DataType};
/// # let metadata = ArrayBuilder::new([30], DataType::Uint8).chunk_shape([10]).build()?;
///
/// let full = Fault::Fail(io::ErrorKind::StorageFull);
/// let store = FaultStore::new(MemoryStore::new()).on(Key::new("c/1")?, full);
/// let array = Array::create(Arc::new(store), &Prefix::root(), metadata)?;
/// match array.write(Selection::whole(&[30]), &[1; 30]) {
///     Err(ArrayError::Incomplete { written, .. }) => {
///         assert_eq!(written.chunks().collect::<Vec<_>>(), [[0]]);
///         assert_eq!(written.missing().collect::<Vec<_>>(), [[1], [2]]);
///     }
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Numbers of the chunks that the selection touches, for each axis.
    axes: Vec<Vec<u64>>,
    total: u64,
    /// The parts that were written, in order and apart.
    done: Vec<Range<u64>>,
}

impl Written {
    /// Of `total` chunks, of these numbers on each axis, the `done` ones: in order and apart.
    pub(crate) fn new(axes: Vec<Vec<u64>>, total: u64, done: Vec<Range<u64>>) -> Self {
        Self { axes, total, done }
    }

    /// How many chunks were to be written.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many chunks were written.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.done
            .iter()
            .fold(0, |sum, range| sum.saturating_add(range.end.saturating_sub(range.start)))
    }

    /// The chunks that were written, each by its number on each axis, in C order.
    pub fn chunks(&self) -> impl Iterator<Item = Vec<u64>> {
        self.done.iter().cloned().flatten().map(|part| self.chunk(part))
    }

    /// The chunks that were not written, in C order.
    pub fn missing(&self) -> impl Iterator<Item = Vec<u64>> {
        let starts = std::iter::once(0).chain(self.done.iter().map(|range| range.end));
        let ends = self.done.iter().map(|range| range.start).chain(std::iter::once(self.total));
        starts.zip(ends).flat_map(|(start, end)| start..end).map(|part| self.chunk(part))
    }

    /// The chunk of the part numbered `linear` in C order.
    fn chunk(&self, linear: u64) -> Vec<u64> {
        let number = number(linear, self.axes.iter().map(Vec::len));
        let axes = self.axes.iter().zip(number);
        axes.map(|(chunks, at)| chunks.get(at).copied().unwrap_or_default()).collect()
    }
}
