//! A range with a step along one axis, chunk by chunk.
#![warn(clippy::arithmetic_side_effects)]

use core::ops::Range;

use crate::axis::Axis;
use crate::axis::storage::Stretch;
use crate::axis::walk::Walk;
use crate::error::{GridError, GridErrorKind};
use crate::selection::axis_part::{AxisPart, PartIndices};
use crate::selection::{self, count};

/// Chunks that are walked to reach the next index, rather than looking it up.
const NEAR: usize = 4;

/// The chunks of the indices `next`, `next + step`, ... below `end`, in order. A step of 1 is a
/// plain range.
#[derive(Debug, Clone)]
pub(crate) struct Strided<'a> {
    axis: &'a Axis,
    /// At the chunk of `next` or a little before it. None once the step has passed over [`NEAR`]
    /// chunks: from then on each is looked up.
    walk: Option<Walk<'a>>,
    /// The next index.
    next: u64,
    end: u64,
    step: u64,
    /// How many indices there were before `next`; of a reversed range, how many there are from it on.
    position: u64,
    /// Whether the last index is the first of the selection.
    reversed: bool,
    /// Number of chunks that are left.
    chunks: u64,
}

impl<'a> Strided<'a> {
    /// A negative step counts positions from the range's end. Counting the chunks takes a step for
    /// each run of edges in the range, and constant time if the step is 1 or -1.
    pub(crate) fn new(axis: &'a Axis, range: Range<u64>, step: i64) -> Result<Self, GridError> {
        if step == 0 {
            return Err(GridErrorKind::ZeroStep.into());
        }
        let touched = axis.chunks_in(range.clone())?;
        let (reversed, step) = (step < 0, step.unsigned_abs());
        let Range { start: mut next, end } = range;
        let mut position = 0;
        if reversed {
            position = count(end.saturating_sub(next), step);
            // The lowest index is so far below the last that its distance is a multiple of the step.
            let distance = position.saturating_sub(1).saturating_mul(step);
            next = end.saturating_sub(distance).saturating_sub(1).max(next);
        }
        let walk = Some(axis.walk(if touched.is_empty() { 0 } else { next }));
        let chunks = touched.end.saturating_sub(touched.start);
        let mut strided = Strided { axis, walk, next, end, step, position, reversed, chunks };
        if step > 1 {
            let counts = strided.stretches().map(|(_, _, chunks)| chunks);
            strided.chunks = counts.fold(0, u64::saturating_add);
        }
        Ok(strided)
    }

    /// Whether positions descend.
    pub(crate) fn is_reversed(&self) -> bool {
        self.reversed
    }

    /// Number of chunks that are left.
    pub(crate) fn remaining(&self) -> u64 {
        self.chunks
    }

    /// Number of indices that are left.
    pub(crate) fn selected(&self) -> u64 {
        count(self.end.saturating_sub(self.next), self.step)
    }

    /// The stretches of chunks that hold selected indices, with the first of these and the number
    /// of chunks that hold any.
    fn stretches(&self) -> impl Iterator<Item = (Stretch, u64, u64)> + use<'a> {
        let (mut next, end, step) = (self.next, self.end, self.step);
        let from = if next < end { next } else { 0 };
        self.axis.stretches(from).take_while(move |stretch| stretch.start < end).filter_map(
            move |stretch| {
                let stop = stretch.end().min(end);
                let last_of_range = stop.checked_sub(1).filter(|last| next <= *last)?;
                let first = next;
                let more = last_of_range.saturating_sub(first).checked_div(step)?;
                let last = first.saturating_add(more.saturating_mul(step));
                next = last.saturating_add(step);
                // With a step of an edge or more no two fall into one chunk; with less every chunk
                // between the first and the last has one.
                let chunks = if step >= stretch.edge {
                    more
                } else {
                    let number = |index: u64| {
                        index.saturating_sub(stretch.start).checked_div(stretch.edge).unwrap_or(0)
                    };
                    number(last).saturating_sub(number(first))
                };
                Some((stretch, first, chunks.saturating_add(1)))
            },
        )
    }

    /// Skips the next `count` chunks, or all that remain. Takes a look-up if the step is 1, and a
    /// step for each run of edges that is passed if not.
    pub(crate) fn skip_chunks(&mut self, count: u64) {
        if count == 0 {
            return;
        }
        let Some(left) = self.chunks.checked_sub(count).filter(|left| *left > 0) else {
            (self.chunks, self.next) = (0, self.end);
            return;
        };
        self.chunks = left;
        if let Some(target) = self.first_after(count) {
            let skipped = target.saturating_sub(self.next).checked_div(self.step).unwrap_or(0);
            self.pass(skipped);
            self.next = target;
            self.walk = Some(self.axis.walk(target));
        }
    }

    /// Advances by this many positions, and returns the lowest of them.
    #[inline]
    fn pass(&mut self, count: u64) -> u64 {
        if self.reversed {
            self.position = self.position.saturating_sub(count);
            return self.position;
        }
        let first = self.position;
        self.position = first.saturating_add(count);
        first
    }

    /// The first selected index after the next `count` chunks.
    fn first_after(&self, count: u64) -> Option<u64> {
        if self.step == 1 {
            return self.axis.start(self.axis.find(self.next).0.checked_add(count)?);
        }
        let mut left = count;
        for (stretch, first, chunks) in self.stretches() {
            if left >= chunks {
                left = left.saturating_sub(chunks);
            } else if self.step >= stretch.edge {
                return first.checked_add(left.checked_mul(self.step)?);
            } else if left == 0 {
                return Some(first);
            } else {
                // The first selected index at or after the start of the chunk to go to.
                let offset = first.checked_sub(stretch.start)?;
                let chunk = offset.checked_div(stretch.edge)?.checked_add(left)?;
                let to_start = chunk.checked_mul(stretch.edge)?.checked_sub(offset)?;
                return first
                    .checked_add(self.step.checked_mul(selection::count(to_start, self.step))?);
            }
        }
        None
    }

    // Always, so that a part, which is eight words long, is written where it is kept.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<AxisPart<'static>> {
        self.chunks = self.chunks.checked_sub(1)?;
        let first = self.next;
        let holds = |(_, start, edge): &(u64, u64, u64)| first.saturating_sub(*start) < *edge;
        let walked = self.walk.as_mut();
        let walked = walked.and_then(|walk| (0..NEAR).map(|_| walk.step()).find(holds));
        let (chunk, start, edge) = walked.unwrap_or_else(|| {
            self.walk = None;
            let (chunk, in_chunk, edge) = self.axis.find_edge(first);
            (chunk, first.saturating_sub(in_chunk), edge)
        });
        // The walk stays within declared chunks; their ends fit a `u64`.
        let chunk_end = start.saturating_add(edge);
        let stop = self.end.min(chunk_end);
        let len = count(stop.saturating_sub(first), self.step);
        let in_selection = self.pass(len);
        // The selected index after the last one of this chunk, or the end.
        self.next = if self.step == 1 {
            stop
        } else {
            self.end.min(first.saturating_add(len.saturating_mul(self.step)))
        };
        let occupied = self.axis.extent().min(chunk_end).saturating_sub(start);
        let in_chunk = first.saturating_sub(start);
        let (step, reversed) = (self.step, self.reversed);
        let indices = PartIndices::Step { in_chunk, step, in_selection, len, reversed };
        Some(AxisPart { chunk, edge, indices, is_whole: len == occupied })
    }
}
