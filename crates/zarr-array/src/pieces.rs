//! A region in consecutive pieces, for whoever cannot hold all of it.

use std::ops::Range;

use crate::array::Array;
use crate::error::ArrayError;
use crate::region::{AxisRegion, Region};

impl Array {
    /// Cuts a region into pieces whose elements, one piece after another, are the region's in C
    /// order.
    ///
    /// Pieces end where chunks end, so that no chunk is decoded for two of them, and have at most
    /// `max_bytes` bytes of elements unless a single row of chunks has more. Only the first axis
    /// of more than one index is cut.
    ///
    /// # Errors
    /// [`ArrayError::Region`] if the region does not lie within the array.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Region};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([35, 2], DataType::Uint8).chunk_shape([10, 1]).build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// let region = Region::parse("5:", array.shape())?;
    /// let pieces: Vec<_> = array.pieces(&region, 40)?.map(|piece| piece.shape()).collect();
    /// assert_eq!(pieces, [[15, 2], [15, 2]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pieces<'a>(
        &'a self,
        region: &'a Region,
        max_bytes: u64,
    ) -> Result<Pieces<'a>, ArrayError> {
        region.check(self.shape())?;
        let axes = region.axes();
        let empty = axes.iter().any(|axis| axis.count == 0);
        let cut = axes.iter().position(|axis| axis.count > 1);
        let after = cut.map_or(axes.len(), |cut| cut.saturating_add(1));
        let row = axes
            .iter()
            .skip(after)
            .fold(u64::try_from(self.element_size()).unwrap_or(u64::MAX), |bytes, axis| {
                bytes.saturating_mul(axis.count)
            });
        let count = match (empty, cut.and_then(|cut| axes.get(cut))) {
            (true, _) => 0,
            (false, Some(axis)) => axis.count,
            (false, None) => 1,
        };
        // What a row of no bytes is divided by does not matter: there are none.
        let rows = max_bytes.checked_div(row).unwrap_or(count);
        Ok(Pieces { array: self, region, cut, rows, left: 0..count })
    }
}

/// The pieces of a region; made by [`Array::pieces`].
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    array: &'a Array,
    region: &'a Region,
    /// The axis that is cut, if any has more than one index.
    cut: Option<usize>,
    /// Indices of that axis that a piece may have.
    rows: u64,
    /// What is left of the axis, by position in the region.
    left: Range<u64>,
}

impl Pieces<'_> {
    /// Where the chunk ends that holds the index at this position.
    fn chunk_end(&self, axis: usize, indices: &AxisRegion, position: u64) -> Option<u64> {
        let step = indices.step.unsigned_abs();
        let moved = position.checked_mul(step)?;
        let backwards = indices.step < 0;
        let index = match backwards {
            true => indices.start.checked_sub(moved)?,
            false => indices.start.checked_add(moved)?,
        };
        let axis = self.array.grid().axes().get(axis)?;
        let chunk = axis.clipped(axis.chunk_of(index)?.0)?;
        let ahead = match backwards {
            true => index.checked_sub(chunk.start)?,
            false => chunk.end.checked_sub(index)?.checked_sub(1)?,
        };
        position.checked_add(ahead.checked_div(step)?)?.checked_add(1)
    }
}

impl Iterator for Pieces<'_> {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        if self.left.is_empty() {
            return None;
        }
        let Some(cut) = self.cut else {
            self.left.start = self.left.end;
            return Some(self.region.clone());
        };
        let start = self.left.start;
        let indices = self.region.axes().get(cut).copied()?;
        let most = start.saturating_add(self.rows);
        let ends = |end: u64| self.chunk_end(cut, &indices, end).map(|end| end.min(self.left.end));
        let mut end = ends(start)?;
        while end < self.left.end
            && let Some(next) = ends(end)
            && next <= most
        {
            end = next;
        }
        self.left.start = end;
        let moved = i128::from(start).checked_mul(indices.step.into())?;
        let first = i128::from(indices.start).checked_add(moved)?;
        let mut axes = self.region.axes().to_vec();
        if let Some(axis) = axes.get_mut(cut) {
            axis.start = u64::try_from(first).ok()?;
            axis.count = end.checked_sub(start)?;
        }
        Some(Region::new(axes))
    }
}
