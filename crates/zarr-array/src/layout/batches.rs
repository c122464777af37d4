//! Divides a selection that does not fit in memory into consecutive batches.

use std::ops::Range;

use zarr_grid::AxisSelection;

use crate::error::ArrayError;
use crate::layout::ChunkLayout;
use crate::selection::Selection;

/// The batches of a selection; made by [`Array::batches`](crate::Array::batches).
#[derive(Clone, Debug)]
pub struct Batches<'a> {
    layout: &'a ChunkLayout,
    selection: Selection,
    /// The axis that is cut, if any axis has more than one index.
    cut: Option<usize>,
    /// The most indices of that axis per batch.
    rows: u64,
    /// The rest of the axis, as positions in the selection.
    left: Range<u64>,
}

impl<'a> Batches<'a> {
    /// As [`Array::batches`](crate::Array::batches), of elements that count as `size` bytes each.
    pub(crate) fn new(
        layout: &'a ChunkLayout,
        size: usize,
        selection: &Selection,
        max_bytes: u64,
    ) -> Result<Self, ArrayError> {
        layout.select(selection)?;
        // Convert masks to lists, since the indices of a mask are otherwise searched from its
        // start each time.
        let axes: Selection = selection.axes().iter().map(listed).collect();
        let lengths: Vec<u64> = axes.axes().iter().map(AxisSelection::len).collect();
        let cut = lengths.iter().position(|length| *length > 1);
        let after = cut.map_or(lengths.len(), |cut| cut + 1);
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
        Ok(Self { layout, selection: axes, cut, rows, left: 0..count })
    }
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
        let chunks = self.layout.grid().axes().get(cut)?;
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
