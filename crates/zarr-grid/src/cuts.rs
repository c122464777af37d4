//! A range of one axis, cut at the chunk boundaries.

use core::ops::Range;

use crate::axis::{Axis, Layout};
use crate::boundaries::Ends;
use crate::num::to_usize;
use crate::runs::Runs;

/// The part of one chunk that a range touches, along one axis. Lengths in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Number of the chunk.
    pub chunk: u64,
    /// Edge of the chunk, as it is stored.
    pub edge: u64,
    /// Where the part starts, from the chunk's start.
    pub in_chunk: u64,
    /// Where the part starts, from the range's start.
    pub in_region: u64,
    /// Length of the part, at least 1.
    pub len: u64,
    /// Whether the part is all of the chunk that lies within the extent.
    pub is_whole: bool,
}

/// Boundaries one after the other, each in constant time.
#[derive(Debug, Clone)]
pub(crate) struct Walk<'a> {
    /// The next chunk.
    chunk: u64,
    /// Its first index.
    start: u64,
    source: Source<'a>,
}

#[derive(Debug, Clone)]
enum Source<'a> {
    Uniform {
        edge: u64,
    },
    Explicit {
        /// Ends of the next chunk and of those after it.
        ends: Ends<'a>,
    },
    Runs {
        runs: &'a Runs,
        /// The run of the next chunk.
        run: usize,
        edge: u64,
        /// The chunk after the run.
        end: u64,
    },
}

impl<'a> Walk<'a> {
    /// From `chunk` on, which is declared.
    #[inline]
    pub(crate) fn new(axis: &'a Axis, chunk: u64) -> Walk<'a> {
        match axis.layout() {
            Layout::Uniform { edge } => {
                Walk { chunk, start: chunk * edge, source: Source::Uniform { edge: *edge } }
            }
            Layout::Explicit(boundaries) => {
                let at = to_usize(chunk);
                let source = Source::Explicit { ends: boundaries.ends(at) };
                Walk { chunk, start: boundaries.bound(at), source }
            }
            Layout::Runs(runs) => {
                let run = runs.run_of_chunk(chunk);
                let (edge, first, start) = runs.head(run);
                let end = runs.chunk_end(run);
                let start = start + (chunk - first) * edge;
                Walk { chunk, start, source: Source::Runs { runs, run, edge, end } }
            }
        }
    }

    /// Chunk, first index and edge of the next chunk, which must be declared.
    #[inline]
    pub(crate) fn step(&mut self) -> (u64, u64, u64) {
        let (chunk, start) = (self.chunk, self.start);
        let edge = match &mut self.source {
            Source::Uniform { edge } => *edge,
            Source::Explicit { ends } => ends.next().map_or(0, |end| end - start),
            Source::Runs { runs, run, edge, end } => {
                if chunk == *end {
                    *run += 1;
                    *edge = runs.head(*run).0;
                    *end = runs.chunk_end(*run);
                }
                *edge
            }
        };
        self.chunk += 1;
        self.start += edge;
        (chunk, start, edge)
    }
}

/// The parts of the chunks that a range of one axis touches, in order; see [`Axis::cuts`].
///
/// Each step takes constant time, and so does skipping ahead with `nth` on a regular axis (a
/// search otherwise).
#[derive(Debug, Clone)]
pub struct Cuts<'a> {
    axis: &'a Axis,
    region: Range<u64>,
    walk: Walk<'a>,
    /// The chunk after the last one.
    end: u64,
}

impl<'a> Cuts<'a> {
    /// `chunks` are the ones that `region` touches.
    pub(crate) fn new(axis: &'a Axis, region: Range<u64>, chunks: Range<u64>) -> Cuts<'a> {
        let walk = if chunks.is_empty() {
            Walk { chunk: chunks.end, start: 0, source: Source::Uniform { edge: 0 } }
        } else {
            Walk::new(axis, chunks.start)
        };
        Cuts { axis, region, walk, end: chunks.end }
    }

    /// Number of parts that are left.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.end - self.walk.chunk
    }

    /// The chunks of the parts that are left.
    #[must_use]
    pub fn chunks(&self) -> Range<u64> {
        self.walk.chunk..self.end
    }

    /// The range that is cut.
    #[must_use]
    pub fn region(&self) -> Range<u64> {
        self.region.clone()
    }

    /// Leaves out the parts that lie in other chunks than these.
    pub(crate) fn limit(&mut self, chunks: Range<u64>) {
        self.skip_parts(chunks.start.saturating_sub(self.walk.chunk));
        self.end = chunks.end.clamp(self.walk.chunk, self.end);
    }

    /// Leaves out the next `count` parts, or all there are.
    pub fn skip_parts(&mut self, count: u64) {
        if count >= self.remaining() {
            self.walk.chunk = self.end;
        } else if count > 0 {
            self.walk = self.axis.walk(self.walk.chunk + count);
        }
    }
}

impl Iterator for Cuts<'_> {
    type Item = Cut;

    #[inline]
    fn next(&mut self) -> Option<Cut> {
        if self.walk.chunk >= self.end {
            return None;
        }
        let (chunk, start, edge) = self.walk.step();
        let first = start.max(self.region.start);
        // The walk stays within declared chunks, whose ends fit a `u64`.
        let stop = (start + edge).min(self.region.end);
        Some(Cut {
            chunk,
            edge,
            in_chunk: first - start,
            in_region: first - self.region.start,
            len: stop - first,
            is_whole: first == start && stop == (start + edge).min(self.axis.extent()),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match usize::try_from(self.remaining()) {
            Ok(count) => (count, Some(count)),
            Err(_) => (usize::MAX, None),
        }
    }

    fn nth(&mut self, n: usize) -> Option<Cut> {
        self.skip_parts(crate::num::to_u64(n));
        self.next()
    }
}

impl core::iter::FusedIterator for Cuts<'_> {}
