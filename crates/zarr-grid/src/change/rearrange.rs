//! Chunks dropped, taken out and put into another order, as arrays that renamed their objects have
//! them.
#![warn(clippy::arithmetic_side_effects)]

use alloc::vec::Vec;
use core::ops::Range;

use crate::axis::build::AxisBuilder;
use crate::axis::runs::Run;
use crate::axis::{Axis, AxisKind};
use crate::error::{GridError, GridErrorKind};

impl Axis {
    /// The axis without its first `count` occupied chunks, as a rolling archive drops them: chunk
    /// `c` becomes chunk `c - count`. A regular axis stays regular.
    ///
    /// # Errors
    /// [`GridErrorKind::NotOccupied`] if the axis has fewer than `count` occupied chunks.
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::Axis;
    ///
    /// let axis = Axis::from_edges(90, [31, 28, 31])?;
    /// assert_eq!(axis.skip_chunks(1)?, Axis::from_edges(59, [28, 31])?);
    /// assert_eq!(Axis::regular(10, 4)?.skip_chunks(1)?, Axis::regular(6, 4)?);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn skip_chunks(&self, count: u64) -> Result<Axis, GridError> {
        let from = self.clipped(count).map(|range| range.start);
        let start = match from {
            Some(start) => start,
            None if count == self.occupied() => self.extent(),
            None => return Err(self.not_occupied(count)),
        };
        let extent = self.extent().saturating_sub(start);
        if let AxisKind::Regular { edge } = self.kind() {
            return Axis::regular(extent, edge);
        }
        let mut builder = AxisBuilder::new();
        builder.push_all(self.runs_of(count..self.declared()))?;
        builder.finish(extent)
    }

    /// The axis of the chunks of these ranges, one range after another. Chunks may be omitted or
    /// repeated. A regular axis stays regular if possible, and keeps its edge even without chunks.
    ///
    /// Takes time in proportion to the runs of the axis, for each range.
    ///
    /// # Errors
    /// [`GridErrorKind::NotOccupied`];
    /// [`GridErrorKind::ClippedAxis`] if the last chunk ends past the axis, and would no longer be
    /// the last: it is stored at its full length; [`GridErrorKind::EdgeOverflow`].
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::Axis;
    ///
    /// let axis = Axis::from_edges(90, [31, 28, 31])?;
    /// assert_eq!(axis.take_chunks(&[1..3, 0..1])?, Axis::from_edges(90, [28, 31, 31])?);
    /// assert_eq!(axis.take_chunks(&[0..1, 2..3])?, Axis::from_edges(62, [31, 31])?);
    /// assert!(Axis::regular(10, 4)?.take_chunks(&[2..3, 0..2]).is_err()); // two elements of four
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn take_chunks(&self, order: &[Range<u64>]) -> Result<Axis, GridError> {
        let occupied = self.occupied();
        let ranges = order.iter().filter(|range| range.start < range.end);
        let ranges: Vec<&Range<u64>> = ranges.collect();
        let is_clipped = self.occupied_end() != self.extent();
        let mut builder = AxisBuilder::new();
        let mut extent = 0_u64;
        for (position, range) in ranges.iter().enumerate() {
            if range.end > occupied {
                return Err(self.not_occupied(range.end));
            }
            let is_last = position.checked_add(1) == Some(ranges.len());
            if is_clipped && range.end == occupied && !is_last {
                let (extent, end) = (self.extent(), self.occupied_end());
                return Err(GridErrorKind::ClippedAxis { member: position, extent, end }.into());
            }
            // The range has a chunk.
            let ends = self.clipped(range.start).zip(self.clipped(range.end.saturating_sub(1)));
            let (first, last) = ends.ok_or_else(|| self.not_occupied(range.end))?;
            let length = last.end.saturating_sub(first.start);
            extent = extent.checked_add(length).ok_or(GridErrorKind::EdgeOverflow)?;
            builder.push_all(self.runs_of(range.start..range.end))?;
        }
        if let AxisKind::Regular { edge } = self.kind() {
            return Axis::regular(extent, edge);
        }
        builder.finish(extent)
    }

    /// The runs of a range of declared chunks; numbers past the last are left out.
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::{Axis, Run};
    ///
    /// let axis = Axis::from_edges(18, [4, 4, 4, 6])?;
    /// let runs: Vec<Run> = axis.runs_of(1..4).collect();
    /// assert_eq!(runs, [Run { edge: 4, count: 2 }, Run { edge: 6, count: 1 }]);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn runs_of(&self, chunks: Range<u64>) -> impl Iterator<Item = Run> + '_ {
        let mut first = 0_u64;
        self.runs().filter_map(move |run| {
            let start = first.max(chunks.start);
            first = first.saturating_add(run.count);
            let count = first.min(chunks.end).saturating_sub(start);
            (count > 0).then_some(Run { edge: run.edge, count })
        })
    }

    /// The error for chunks below `end` if the last of them is not occupied.
    fn not_occupied(&self, end: u64) -> GridError {
        let (chunk, occupied) = (end.saturating_sub(1), self.occupied());
        GridErrorKind::NotOccupied { chunk, occupied }.into()
    }
}
