//! Divides a selection that does not fit in memory into consecutive batches.

use std::ops::Range;

use zarr_grid::AxisSelection;

use crate::array::{Array, TYPICAL};
use crate::error::ArrayError;
use crate::selection::Selection;

impl Array {
    /// Cuts a selection into batches. Their elements, one batch after another, are the elements of
    /// the selection in C order.
    ///
    /// Batches end where chunks end, so no chunk is decoded for two of them unless a list of
    /// indices returns to it. A batch has at most `max_bytes` bytes of elements, unless a single
    /// row of chunks has more. Only the first axis with more than one index is cut. Elements of
    /// variable length count as 64 bytes each.
    ///
    /// # Errors
    /// [`ArrayError::Selection`] if the selection does not lie within the array.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Selection};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([35, 2], DataType::Uint8).chunk_shape([10, 1]).build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// let selection = Selection::parse("5:", array.shape())?;
    /// let batches: Vec<_> = array.batches(selection, 40)?.map(|batch| batch.shape()).collect();
    /// assert_eq!(batches, [[15, 2], [15, 2]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn batches(
        &self,
        selection: impl Into<Selection>,
        max_bytes: u64,
    ) -> Result<Batches<'_>, ArrayError> {
        let selection = selection.into();
        self.layout().select(&selection)?;
        // Convert masks to lists, since the indices of a mask are otherwise searched from its
        // start each time.
        let axes: Selection = selection.axes().iter().map(listed).collect();
        let lengths: Vec<u64> = axes.axes().iter().map(AxisSelection::len).collect();
        let cut = lengths.iter().position(|length| *length > 1);
        let after = cut.map_or(lengths.len(), |cut| cut.saturating_add(1));
        let size = match self.data_type().is_variable_length() {
            true => TYPICAL,
            false => self.element_size(),
        };
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        let row =
            lengths.iter().skip(after).fold(size, |bytes, count| bytes.saturating_mul(*count));
        let count = match cut.and_then(|cut| lengths.get(cut)) {
            _ if lengths.contains(&0) => 0,
            Some(length) => *length,
            None => 1,
        };
        // The divisor does not matter if a row has no bytes.
        let rows = max_bytes.checked_div(row).unwrap_or(count);
        Ok(Batches { array: self, selection: axes, cut, rows, left: 0..count })
    }
}

/// The batches of a selection; made by [`Array::batches`].
#[derive(Clone, Debug)]
pub struct Batches<'a> {
    array: &'a Array,
    selection: Selection,
    /// The axis that is cut, if any axis has more than one index.
    cut: Option<usize>,
    /// The most indices of that axis per batch.
    rows: u64,
    /// The rest of the axis, as positions in the selection.
    left: Range<u64>,
}

impl Iterator for Batches<'_> {
    type Item = Selection;

    fn next(&mut self) -> Option<Selection> {
        if self.left.is_empty() {
            return None;
        }
        let Some(cut) = self.cut else {
            self.left.start = self.left.end;
            return Some(self.selection.clone());
        };
        let start = self.left.start;
        let indices = self.selection.axes().get(cut)?;
        let most = start.saturating_add(self.rows);
        let chunks = self.array.grid().axes().get(cut)?;
        let ends =
            |end: u64| chunks.next_chunk_position(indices, end).map(|end| end.min(self.left.end));
        let mut end = ends(start)?;
        while end < self.left.end
            && let Some(next) = ends(end)
            && next <= most
        {
            end = next;
        }
        self.left.start = end;
        let axes = self.selection.axes().iter().enumerate();
        let batch = |(number, axis): (usize, &AxisSelection)| match number == cut {
            true => axis.slice(start..end),
            false => axis.clone(),
        };
        Some(axes.map(batch).collect())
    }
}

/// The same selection, with a mask converted to the list of its indices.
fn listed(axis: &AxisSelection) -> AxisSelection {
    match axis {
        AxisSelection::Mask(_) => axis.slice(0..u64::MAX),
        axis => axis.clone(),
    }
}
