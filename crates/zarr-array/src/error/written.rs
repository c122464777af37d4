//! The chunks that a failed write has written.

use std::ops::Range;

use zarr_grid::{AxisSelection, Grid, SelectedChunks};

use crate::counts::narrow;

/// Tells which chunks of a failed write were written and which were not: the chunks that its
/// selection or points touch, numbered in C order.
///
/// Chunks that were not written are unchanged, and writing the selection again completes it. The
/// failed chunk may have been written after all, although it counts as not written: the response of
/// a remote store may have been lost.
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
    touched: Touched,
    total: u64,
    /// The parts that were written, ascending and disjoint.
    done: Vec<Range<u64>>,
}

/// The chunks that a write touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touched {
    /// The chunks of a selection. There may be more than memory could list.
    Selected(Box<(Grid, Vec<AxisSelection>)>),
    /// The chunks of single elements, in C order.
    Listed(Vec<Vec<u64>>),
}

impl Written {
    /// The result of writing the parts `done`, ascending and disjoint, of these chunks, `total` in
    /// number.
    pub(crate) fn new(touched: Touched, total: u64, done: Vec<Range<u64>>) -> Self {
        Self { touched, total, done }
    }

    /// The number of chunks to write.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The number of chunks that were written.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.done
            .iter()
            .fold(0, |sum, range| sum.saturating_add(range.end.saturating_sub(range.start)))
    }

    /// The chunks that were written, each by its number on each axis, in C order.
    pub fn chunks(&self) -> impl Iterator<Item = Vec<u64>> {
        let chunk = self.touched.by_number();
        self.done.iter().cloned().flatten().map(chunk)
    }

    /// The chunks that were not written, in C order.
    pub fn missing(&self) -> impl Iterator<Item = Vec<u64>> {
        let starts = std::iter::once(0).chain(self.done.iter().map(|range| range.end));
        let ends = self.done.iter().map(|range| range.start).chain(std::iter::once(self.total));
        starts.zip(ends).flat_map(|(start, end)| start..end).map(self.touched.by_number())
    }
}

impl Touched {
    /// The chunk of the part with a number in C order.
    fn by_number(&self) -> impl Fn(u64) -> Vec<u64> {
        let selected = match self {
            Self::Selected(both) => both.0.select(&both.1).ok(),
            Self::Listed(_) => None,
        };
        move |number| match (self, &selected) {
            (Self::Listed(chunks), _) => chunks[narrow(number)].clone(),
            (Self::Selected(_), selected) => {
                let parts = selected.as_ref().map(SelectedChunks::parts);
                let mut parts = parts.map(|parts| parts.range(number..number + 1));
                let part = parts.as_mut().and_then(|parts| parts.next_part());
                part.map_or_else(Vec::new, |part| part.chunk().to_vec())
            }
        }
    }
}
