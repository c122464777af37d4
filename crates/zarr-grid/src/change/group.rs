//! Groups of chunks, so that each task owns whole chunks.

use alloc::vec::Vec;

use crate::axis::build::AxisBuilder;
use crate::axis::runs::Run;
use crate::axis::{Axis, AxisKind};
use crate::error::GridError;
use crate::grid::Grid;

/// Groups chunks, or units that must stay together, greedily and one run at a time.
struct Grouper {
    builder: AxisBuilder,
    limit: u64,
    /// Length of the group that is not closed yet.
    open: u64,
}

impl Grouper {
    /// `count` things of length `edge` each.
    fn add(&mut self, edge: u64, count: u64) -> Result<(), GridError> {
        let mut left = count;
        if self.open > 0 {
            let fit = (self.limit.saturating_sub(self.open) / edge).min(left);
            self.open += fit * edge;
            left -= fit;
            if left == 0 {
                return Ok(());
            }
            self.close()?;
        }
        // The last group stays open: the next chunk may be small enough for it.
        let group = (self.limit / edge).max(1).min(left);
        let full = (left - 1) / group;
        if full > 0 {
            self.builder.push(Run { edge: group * edge, count: full })?;
        }
        self.open = (left - full * group) * edge;
        Ok(())
    }

    /// Units from `start` on; the last may reach past `end` and is cut there.
    fn add_up_to(&mut self, start: u64, edge: u64, count: u64, end: u64) -> Result<(), GridError> {
        let fit = ((end - start) / edge).min(count);
        if fit > 0 {
            self.add(edge, fit)?;
        }
        let rest = end - start - fit * edge;
        if fit < count && rest > 0 { self.add(rest, 1) } else { Ok(()) }
    }

    fn close(&mut self) -> Result<(), GridError> {
        let edge = core::mem::take(&mut self.open);
        if edge > 0 { self.builder.push_edge(edge) } else { Ok(()) }
    }
}

impl Axis {
    /// Groups of whole neighbouring chunks, as an axis. From the start on, each is as long as
    /// possible, but at most `max_len` elements, unless a single chunk is longer.
    ///
    /// With a `source`, groups end where chunks of the source end too, if such places are at most
    /// `max_len` apart. Then no source chunk is read for two groups.
    ///
    /// Takes one step per run of edges. A regular axis gives a regular one unless a source prevents
    /// it.
    ///
    /// # Errors
    /// [`ExtentMismatch`](crate::GridErrorKind::ExtentMismatch) with the source.
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::Axis;
    ///
    /// let months = Axis::from_edges(181, [31, 28, 31, 30, 31, 30])?;
    /// assert_eq!(months.grouped(100, None)?, Axis::from_edges(181, [90, 91])?);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn grouped(&self, max_len: u64, source: Option<&Axis>) -> Result<Axis, GridError> {
        let shared = source.map(|source| self.common_coarsening(source)).transpose()?;
        let units = shared.as_ref().unwrap_or(self);
        if let Some(axis) = group_regular(self, units, max_len) {
            return Ok(axis);
        }
        let mut grouper = Grouper { builder: AxisBuilder::new(), limit: max_len, open: 0 };
        // Where a common coarsening is longer than this axis, the last group is cut to it.
        let end = self.occupied_end();
        for unit in units.stretches(0).take_while(|unit| unit.start < end) {
            if unit.edge <= max_len || shared.is_none() {
                grouper.add_up_to(unit.start, unit.edge, unit.count, end)?;
                continue;
            }
            // Shared boundaries are too far apart: chunks between them are grouped in order.
            grouper.close()?;
            let stop = unit.end().min(end);
            for run in self.stretches(unit.start).take_while(|run| run.start < stop) {
                let skipped = unit.start.saturating_sub(run.start) / run.edge;
                let stop = stop.min(run.end());
                grouper.add(run.edge, (stop - run.start) / run.edge - skipped)?;
            }
            grouper.close()?;
        }
        grouper.close()?;
        grouper.builder.finish(self.extent())
    }
}

/// A regular axis with equal units, grouped by one division.
fn group_regular(axis: &Axis, units: &Axis, max_len: u64) -> Option<Axis> {
    let AxisKind::Regular { .. } = axis.kind() else { return None };
    let edge = units.regular_edge()?;
    if edge > max_len && units != axis {
        return None;
    }
    let group = (max_len / edge).max(1).min(units.occupied().max(1));
    // Past `u64` only the last group's overflow is, which a list does without.
    Axis::regular(axis.extent(), edge.checked_mul(group)?).ok()
}

impl Grid {
    /// Groups of whole neighbouring chunks, as a grid: its chunks are the tasks. Each has at most
    /// `max_elements` elements, counted at full chunk shapes, unless a single chunk has more.
    ///
    /// The last axes are filled first, so that tasks are long in C order. With a `source` see
    /// [`Axis::grouped`].
    ///
    /// # Errors
    /// [`Rank`](crate::GridErrorKind::Rank); [`ExtentMismatch`](crate::GridErrorKind::ExtentMismatch) with the source, on its axis.
    ///
    /// # Examples
    /// ```
    /// let target = zarr_grid::Grid::regular(&[100, 100], &[10, 10])?;
    /// let tasks = target.grouped(2_000, None)?;
    /// let edges: Vec<_> = tasks.axes().iter().map(|axis| axis.regular_edge()).collect();
    /// assert_eq!(edges, [Some(20), Some(100)]);
    /// assert!(tasks.is_union_of(&target)?);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn grouped(&self, max_elements: u64, source: Option<&Grid>) -> Result<Grid, GridError> {
        if let Some(source) = source {
            self.check_rank("axes", source.rank())?;
        }
        // At first one chunk per axis; then each axis, starting with the last, takes the rest.
        let mut limits: Vec<u64> = self.axes().iter().map(|axis| axis.max_edge().max(1)).collect();
        for (d, axis) in self.axes().iter().enumerate().rev() {
            let others = limits.iter().enumerate().filter(|(other, _)| *other != d);
            let others = others.fold(1_u64, |product, (_, limit)| product.saturating_mul(*limit));
            let most = axis.occupied_end().max(1);
            limits[d] = (max_elements / others).min(most).max(limits[d]);
        }
        let mut axes = Vec::with_capacity(self.rank());
        for (d, (axis, limit)) in self.axes().iter().zip(limits).enumerate() {
            let source = source.and_then(|source| source.axes().get(d));
            axes.push(axis.grouped(limit, source).map_err(|error| error.on_axis(d))?);
        }
        Ok(Grid::new(axes))
    }
}
