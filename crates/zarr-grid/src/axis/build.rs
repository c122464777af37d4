//! From edges or runs of edges to an axis, in one pass and never expanded.
#![warn(clippy::arithmetic_side_effects)]

use alloc::vec::Vec;

use crate::axis::Axis;
use crate::axis::boundaries::{Boundaries, Bounds};
use crate::axis::runs::{Run, Runs};
use crate::axis::storage::AxisStorage;
use crate::error::{GridError, GridErrorKind};
use crate::num::to_u64;

impl Axis {
    /// The rectilinear axis with these runs of edges.
    ///
    /// Runs are kept as they are, or merged where neighbours have equal edges: memory and time
    /// depend on their number, not on their counts (SD-07). An empty list is valid for extent 0
    /// (SD-06).
    ///
    /// # Errors
    /// [`GridErrorKind::ZeroEdge`], [`GridErrorKind::ZeroCount`], [`GridErrorKind::EdgeOverflow`] if the edges
    /// sum to more than `u64`, [`GridErrorKind::EdgesTooShort`] if they sum to less than `extent`.
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::{Axis, Run};
    ///
    /// let axis = Axis::from_runs(7, [Run { edge: 1, count: 1_000_000_000_000_000 }])?;
    /// assert_eq!((axis.declared(), axis.occupied()), (1_000_000_000_000_000, 7));
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn from_runs(extent: u64, runs: impl IntoIterator<Item = Run>) -> Result<Axis, GridError> {
        let mut builder = AxisBuilder::new();
        builder.push_all(runs)?;
        builder.finish(extent)
    }

    /// The rectilinear axis with these edges.
    ///
    /// # Errors
    /// The errors of [`Axis::from_runs`].
    ///
    /// # Examples
    /// ```
    /// // SD-01: the boundary itself belongs to the chunk after it.
    /// let axis = zarr_grid::Axis::from_edges(5, [2, 3])?;
    /// assert_eq!(axis.chunk_of(2), Some((1, 0)));
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn from_edges(
        extent: u64,
        edges: impl IntoIterator<Item = u64>,
    ) -> Result<Axis, GridError> {
        Axis::from_runs(extent, edges.into_iter().map(|edge| Run { edge, count: 1 }))
    }
}

/// Longest run that is kept as single boundaries at first, and the average number of chunks per run
/// from which runs are kept in the end. Bounds the memory per run given.
const EXPAND: u64 = 4;

/// The most edges to reserve memory for by an iterator's size hint, which may be any number.
const RESERVED: usize = 1 << 16;

/// Collects the edges of a rectilinear axis, one at a time.
///
/// Memory is proportional to the number of edges and runs pushed, not to the counts of the runs.
#[derive(Debug, Clone)]
pub(crate) struct AxisBuilder {
    /// Boundaries so far, while runs are short; just the first one otherwise.
    bounds: Bounds,
    /// Runs so far, neighbours of equal edge merged, once there was a long one.
    runs: Vec<Run>,
    /// Number of runs if neighbours of equal edge are merged.
    merged: u64,
    /// The edge pushed last, 0 before the first.
    last: u64,
    /// Sum of the edges.
    end: u64,
    chunks: u64,
    pushed: u64,
}

impl AxisBuilder {
    /// A builder with no edges yet.
    pub(crate) fn new() -> AxisBuilder {
        AxisBuilder {
            bounds: Bounds::new(),
            runs: Vec::new(),
            merged: 0,
            last: 0,
            end: 0,
            chunks: 0,
            pushed: 0,
        }
    }

    /// Appends one edge.
    ///
    /// # Errors
    /// [`GridErrorKind::ZeroEdge`], and [`GridErrorKind::EdgeOverflow`] once the sum exceeds `u64`.
    #[inline]
    pub(crate) fn push_edge(&mut self, edge: u64) -> Result<(), GridError> {
        if edge == 0 || !self.runs.is_empty() {
            return self.push_run(Run { edge, count: 1 });
        }
        self.end = self.end.checked_add(edge).ok_or(GridErrorKind::EdgeOverflow)?;
        self.bounds.push(self.end);
        self.count(edge, 1);
        Ok(())
    }

    /// Records a run that was appended.
    #[inline]
    fn count(&mut self, edge: u64, count: u64) {
        self.merged = self.merged.saturating_add(u64::from(edge != self.last));
        self.last = edge;
        // Each chunk has at least one element, so this cannot overflow if the sum did not.
        self.chunks = self.chunks.saturating_add(count);
        self.pushed = self.pushed.saturating_add(1);
    }

    /// Appends a run of equal edges.
    ///
    /// # Errors
    /// [`GridErrorKind::ZeroEdge`] and [`GridErrorKind::ZeroCount`], with the position among all
    /// pushed runs; [`GridErrorKind::EdgeOverflow`] once the sum exceeds `u64`.
    #[inline]
    pub(crate) fn push(&mut self, run: Run) -> Result<(), GridError> {
        if run.count == 1 { self.push_edge(run.edge) } else { self.push_run(run) }
    }

    /// Appends runs of equal edges, one after the other: faster than one call per run.
    ///
    /// # Errors
    /// The errors of [`push`](Self::push). The runs before the faulty one stay appended.
    pub(crate) fn push_all(
        &mut self,
        runs: impl IntoIterator<Item = Run>,
    ) -> Result<(), GridError> {
        let mut runs = runs.into_iter();
        while let Some(run) = self.push_singles(&mut runs) {
            self.push(run)?;
        }
        Ok(())
    }

    /// Appends single edges as long as they need no special handling, and returns the first run that
    /// does. The state that changes with each edge stays in registers.
    #[inline]
    fn push_singles(&mut self, runs: &mut impl Iterator<Item = Run>) -> Option<Run> {
        let (Bounds::Narrow(bounds), Ok(mut end), true) =
            (&mut self.bounds, u32::try_from(self.end), self.runs.is_empty())
        else {
            return runs.next();
        };
        let (mut last, mut merged, before) = (self.last, 0_u64, bounds.len());
        // At most a part at once, since the first edges may already be refused.
        bounds.reserve(runs.size_hint().0.min(RESERVED));
        let careful = loop {
            let Some(run) = runs.next() else { break None };
            let next = u32::try_from(run.edge).ok().and_then(|edge| end.checked_add(edge));
            let (Some(next), 1, 1..) = (next, run.count, run.edge) else { break Some(run) };
            bounds.push(next);
            merged = merged.wrapping_add(u64::from(run.edge != last));
            (end, last) = (next, run.edge);
        };
        let singles = to_u64(bounds.len().saturating_sub(before));
        (self.end, self.last) = (end.into(), last);
        self.merged = self.merged.saturating_add(merged);
        self.chunks = self.chunks.saturating_add(singles);
        self.pushed = self.pushed.saturating_add(singles);
        careful
    }

    fn push_run(&mut self, run: Run) -> Result<(), GridError> {
        let Run { edge, count } = run;
        let position = self.pushed;
        if edge == 0 {
            return Err(GridErrorKind::ZeroEdge { position }.into());
        }
        if count == 0 {
            return Err(GridErrorKind::ZeroCount { position, edge }.into());
        }
        let end = edge.checked_mul(count).and_then(|length| self.end.checked_add(length));
        let end = end.ok_or(GridErrorKind::EdgeOverflow)?;
        if self.runs.is_empty() && count <= EXPAND {
            let mut bound = self.end;
            for _ in 0..count {
                bound = bound.saturating_add(edge);
                self.bounds.push(bound);
            }
        } else {
            self.push_to_runs(run);
        }
        self.end = end;
        self.count(edge, count);
        Ok(())
    }

    fn push_to_runs(&mut self, run: Run) {
        if self.runs.is_empty() {
            self.bounds_to_runs();
        }
        self.merge(run);
    }

    fn bounds_to_runs(&mut self) {
        let bounds = core::mem::replace(&mut self.bounds, Bounds::new());
        bounds.lengths().for_each(|edge| self.merge(Run { edge, count: 1 }));
    }

    fn merge(&mut self, run: Run) {
        match self.runs.last_mut() {
            Some(last) if last.edge == run.edge => {
                last.count = last.count.saturating_add(run.count);
            }
            _ => self.runs.push(run),
        }
    }

    /// Number of runs so far, counting neighbours of equal edge as one.
    pub(crate) fn merged_runs(&self) -> u64 {
        self.merged
    }

    /// Sum of the edges so far.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The edges so far, then the boundary at `bound`, unless there already is one.
    pub(crate) fn push_bound(&mut self, bound: u64) -> Result<(), GridError> {
        match bound.checked_sub(self.end) {
            None | Some(0) => Ok(()),
            Some(edge) => self.push_edge(edge),
        }
    }

    /// `count` boundaries, the first at `first`, which lies behind the last one, and the others
    /// `step` apart.
    pub(crate) fn push_bounds(
        &mut self,
        first: u64,
        step: u64,
        count: u64,
    ) -> Result<(), GridError> {
        if count == 0 {
            return Ok(());
        }
        self.push_bound(first)?;
        match count.checked_sub(1) {
            None | Some(0) => Ok(()),
            Some(count) => self.push(Run { edge: step, count }),
        }
    }

    /// The axis of `extent` elements that the edges cover.
    ///
    /// # Errors
    /// [`GridErrorKind::EdgesTooShort`] unless the edges sum to at least `extent`.
    pub(crate) fn finish(mut self, extent: u64) -> Result<Axis, GridError> {
        if self.end < extent {
            return Err(GridErrorKind::EdgesTooShort { sum: self.end, extent }.into());
        }
        let layout = if self.merged == 1 {
            AxisStorage::Uniform { edge: self.last }
        } else if self.chunks <= self.merged.saturating_mul(EXPAND) {
            let mut bound = 0_u64;
            for run in &self.runs {
                for _ in 0..run.count {
                    bound = bound.saturating_add(run.edge);
                    self.bounds.push(bound);
                }
            }
            let boundaries = Boundaries::new(self.bounds);
            debug_assert_eq!((to_u64(boundaries.len()), boundaries.end()), (self.chunks, self.end));
            AxisStorage::Explicit(boundaries)
        } else {
            if self.runs.is_empty() {
                self.runs.reserve_exact(crate::num::to_usize(self.merged));
                self.bounds_to_runs();
            }
            AxisStorage::Runs(Runs::new(&self.runs))
        };
        Ok(Axis::from_parts(extent, self.chunks, self.end, layout, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_pushed_together_are_as_runs_pushed_one_at_a_time() {
        // A generator with a seed (an odd multiplier and a xorshift).
        let mut state = 8_u64;
        let mut below = |limit: u64| {
            state = state.wrapping_mul(0xd120_2ee4_9b1c_5a35).wrapping_add(1);
            (state ^ (state >> 29)).checked_rem(limit).map_or(0, crate::num::to_usize)
        };
        let edges = [0, 1, 1, 1, 2, 2, 7, 1 << 31, u32::MAX.into(), 1 << 33, 1 << 62, u64::MAX];
        for round in 0..20_000 {
            let (most, counts) = (2 + round % 11, 1 + round / 11 % 7);
            let mut run =
                || Run { edge: edges[below(most)], count: [1, 1, 1, 1, 2, 5, 0][below(counts)] };
            let list = [(); 8].map(|()| run());
            let list = &list[..below(9)];
            let (mut one, mut all) = (AxisBuilder::new(), AxisBuilder::new());
            let single = list.iter().try_for_each(|&run| one.push(run));
            assert_eq!(all.push_all(list.iter().copied()), single, "{list:?}");
            assert_eq!((all.end(), all.merged_runs()), (one.end(), one.merged_runs()), "{list:?}");
            // Appending continues in the same way, down to the position in a message.
            let zero = Run { edge: 0, count: 1 };
            assert_eq!(all.clone().push(zero), one.clone().push(zero), "{list:?}");
            assert_eq!(all.finish(1), one.finish(1), "{list:?}");
        }
    }
}
