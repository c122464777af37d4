//! A range with a step along one axis, cut at the chunk boundaries.

use core::ops::Range;

use crate::axis::Axis;
use crate::error::GridError;
use crate::runs::Stretch;

/// The indices of one chunk that a stepped range selects, along one axis. Lengths in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SteppedCut {
    /// Number of the chunk.
    pub chunk: u64,
    /// Edge of the chunk, as it is stored.
    pub edge: u64,
    /// The first selected element, from the chunk's start.
    pub in_chunk: u64,
    /// Number of the first one among all selected; the others follow it.
    pub in_selection: u64,
    /// Number of elements selected, at least 1, each a step after the one before.
    pub len: u64,
    /// Whether they are all elements of the chunk that lie within the extent.
    pub is_whole: bool,
}

/// The parts of the chunks that a stepped range touches, in order; see [`Axis::stepped`].
#[derive(Debug, Clone)]
pub struct Stepped<'a> {
    axis: &'a Axis,
    /// The next selected index, and where to stop.
    next: u64,
    end: u64,
    step: u64,
    /// How many were selected before `next`.
    passed: u64,
    /// Number of parts that are left.
    parts: u64,
}

impl Axis {
    /// The indices `start`, `start + step`, ... below `end`, by chunk. Chunks without any are left
    /// out, without being visited.
    ///
    /// Counting the parts takes a step for each run of edges in the range.
    ///
    /// # Errors
    /// [`GridError::ZeroStep`]; [`GridError::RangeOutOfBounds`] unless `start <= end <= extent`.
    ///
    /// # Examples
    /// ```
    /// let axis = zarr_grid::Axis::from_edges(10, [4, 1, 5])?;
    /// let parts: Vec<_> = axis.stepped(1..10, 3)?.map(|cut| (cut.chunk, cut.in_chunk, cut.len)).collect();
    /// assert_eq!(parts, [(0, 1, 1), (1, 0, 1), (2, 2, 1)]); // 1, 4, 7
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn stepped(&self, range: Range<u64>, step: u64) -> Result<Stepped<'_>, GridError> {
        if step == 0 {
            return Err(GridError::ZeroStep);
        }
        let chunks = self.chunks_in(range.clone())?;
        let mut stepped =
            Stepped { axis: self, next: range.start, end: range.end, step, passed: 0, parts: 0 };
        stepped.parts = if step == 1 {
            chunks.end - chunks.start
        } else {
            stepped.stretches().map(|(_, _, parts)| parts).sum()
        };
        Ok(stepped)
    }
}

impl<'a> Stepped<'a> {
    /// Number of parts that are left.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.parts
    }

    /// Number of indices that are left.
    #[must_use]
    pub fn selected(&self) -> u64 {
        (self.end - self.next).div_ceil(self.step)
    }

    /// The step between selected indices.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The stretches that hold selected indices, with the first of these and the number of parts.
    fn stretches(&self) -> impl Iterator<Item = (Stretch, u64, u64)> + use<'a> {
        let (mut next, end, step) = (self.next, self.end, self.step);
        let from = if next < end { next } else { 0 };
        self.axis.stretches(from).take_while(move |stretch| stretch.start < end).filter_map(
            move |stretch| {
                let stop = stretch.end().min(end);
                if next >= stop {
                    return None;
                }
                let first = next;
                let more = (stop - 1 - first) / step;
                let last = first + more * step;
                next = last.saturating_add(step);
                // With a step of an edge or more no two fall into one chunk; with less every chunk
                // between the first and the last has one.
                let parts = if step >= stretch.edge {
                    more + 1
                } else {
                    (last - stretch.start) / stretch.edge - (first - stretch.start) / stretch.edge
                        + 1
                };
                Some((stretch, first, parts))
            },
        )
    }

    /// Moves to the selected index `to`, or to the end.
    fn jump(&mut self, to: u64) {
        self.passed += (to - self.next) / self.step;
        self.next = to;
    }

    /// Leaves out the next `count` parts, or all there are.
    pub fn skip_parts(&mut self, count: u64) {
        if count >= self.parts {
            (self.parts, self.next) = (0, self.end);
            return;
        }
        let mut left = count;
        let mut target = None;
        for (stretch, first, parts) in self.stretches() {
            if left >= parts {
                left -= parts;
                continue;
            }
            target = Some(if self.step >= stretch.edge {
                first + left * self.step
            } else if left == 0 {
                first
            } else {
                // The first selected index at or after the start of the chunk to go to.
                let chunk = (first - stretch.start) / stretch.edge + left;
                let start = stretch.start + chunk * stretch.edge;
                first + (start - first).div_ceil(self.step) * self.step
            });
            break;
        }
        if let Some(target) = target {
            self.jump(target);
            self.parts -= count;
        }
    }
}

impl Iterator for Stepped<'_> {
    type Item = SteppedCut;

    #[inline]
    fn next(&mut self) -> Option<SteppedCut> {
        self.parts = self.parts.checked_sub(1)?;
        let first = self.next;
        let (chunk, in_chunk, edge) = self.axis.find_edge(first);
        let start = first - in_chunk;
        let stop = self.end.min(start + edge);
        let len = (stop - first).div_ceil(self.step);
        let in_selection = self.passed;
        self.passed += len;
        // The selected index after the last one of this chunk, or the end.
        let after = (first + (len - 1) * self.step).saturating_add(self.step);
        self.next = after.min(self.end);
        let is_whole = len == self.axis.extent().min(start + edge) - start;
        Some(SteppedCut { chunk, edge, in_chunk, in_selection, len, is_whole })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match usize::try_from(self.parts) {
            Ok(count) => (count, Some(count)),
            Err(_) => (usize::MAX, None),
        }
    }

    fn nth(&mut self, n: usize) -> Option<SteppedCut> {
        self.skip_parts(crate::num::to_u64(n));
        self.next()
    }
}

impl core::iter::FusedIterator for Stepped<'_> {}
