//! Runs of equal edges with the sums before each.

use alloc::vec::Vec;

use crate::boundaries::{Boundaries, Bounds};
use crate::build::Run;
use crate::num::to_u64;

/// Two or more runs, neighbours of different edge, none expanded.
///
/// The builder has checked that the sum of all edges fits, so that no sum or product here overflows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Runs {
    edges: Vec<u64>,
    /// Index of the first element of each run.
    pub(crate) starts: Boundaries,
    /// Number of the first chunk of each run.
    chunks: Boundaries,
}

impl Runs {
    /// The runs of an axis, whose sums were checked by the builder.
    pub(crate) fn new(runs: &[Run]) -> Runs {
        let sums = |length: fn(&Run) -> u64| {
            let mut sum = 0;
            let mut bounds = Bounds::new();
            for run in runs {
                sum += length(run);
                bounds.push(sum);
            }
            Boundaries::new(bounds)
        };
        Runs {
            edges: runs.iter().map(|run| run.edge).collect(),
            starts: sums(|run| run.edge * run.count),
            chunks: sums(|run| run.count),
        }
    }

    /// Number of runs.
    pub(crate) fn len(&self) -> usize {
        self.edges.len()
    }

    /// Run number `at`.
    pub(crate) fn run(&self, at: usize) -> Run {
        Run { edge: self.edges[at], count: self.chunks.length(at) }
    }

    /// Edge length of run number `at`, first chunk of it and first index.
    #[inline]
    pub(crate) fn head(&self, at: usize) -> (u64, u64, u64) {
        (self.edges[at], self.chunks.bound(at), self.starts.bound(at))
    }

    /// Number of the chunk after the last of run number `at`.
    #[inline]
    pub(crate) fn chunk_end(&self, at: usize) -> u64 {
        self.chunks.bound(at + 1)
    }

    /// Chunk of `index`, which is less than the sum of all edges, index inside it, and its edge.
    #[inline]
    pub(crate) fn chunk_of(&self, index: u64) -> (u64, u64, u64) {
        let (edge, chunk, start) = self.head(self.starts.find(index).0);
        let offset = index - start;
        (chunk + offset / edge, offset % edge, edge)
    }

    /// The run that declared chunk number `chunk` is in.
    #[inline]
    pub(crate) fn run_of_chunk(&self, chunk: u64) -> usize {
        self.chunks.find(chunk).0
    }

    /// First index and edge of declared chunk number `chunk`.
    #[inline]
    pub(crate) fn span(&self, chunk: u64) -> (u64, u64) {
        let (edge, first, start) = self.head(self.run_of_chunk(chunk));
        (start + (chunk - first) * edge, edge)
    }
}

/// The merged runs of an axis, in order.
///
/// Neighbours of equal edge are one run, whatever way the metadata wrote them.
#[derive(Debug, Clone)]
pub struct AxisRuns<'a> {
    pub(crate) layout: &'a crate::axis::Layout,
    /// Next position: of a chunk in explicit boundaries, of a run otherwise.
    pub(crate) at: usize,
    /// Number of declared chunks.
    pub(crate) declared: u64,
}

impl Iterator for AxisRuns<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        use crate::axis::Layout;
        match self.layout {
            Layout::Uniform { edge } => {
                let count = if self.at == 0 { self.declared } else { 0 };
                self.at = 1;
                (count > 0).then_some(Run { edge: *edge, count })
            }
            Layout::Explicit(boundaries) => {
                let mut start = (self.at < boundaries.len()).then(|| boundaries.bound(self.at))?;
                let edge = boundaries.length(self.at);
                let alike = |end: &u64| end - core::mem::replace(&mut start, *end) == edge;
                let same = boundaries.ends(self.at).take_while(alike).count();
                self.at += same;
                Some(Run { edge, count: to_u64(same) })
            }
            Layout::Runs(runs) => {
                let run = (self.at < runs.len()).then(|| runs.run(self.at))?;
                self.at += 1;
                Some(run)
            }
        }
    }
}

impl core::iter::FusedIterator for AxisRuns<'_> {}

/// Chunks in a row of equal edge, and where they lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The first chunk.
    pub(crate) chunk: u64,
    /// Its first index.
    pub(crate) start: u64,
    pub(crate) edge: u64,
    pub(crate) count: u64,
}

impl Stretch {
    /// The index after the last; the declared sum was checked.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.edge * self.count
    }
}

/// The declared chunks as stretches, in order.
#[derive(Debug, Clone)]
pub(crate) struct Stretches<'a> {
    runs: AxisRuns<'a>,
    chunk: u64,
    start: u64,
}

impl<'a> Stretches<'a> {
    /// From the run that holds `index`, or from its chunk if boundaries are explicit;
    /// `index` is 0 or less than the declared end.
    pub(crate) fn new(axis: &'a crate::axis::Axis, index: u64) -> Stretches<'a> {
        use crate::axis::Layout;
        let (at, chunk, start) = match axis.layout() {
            Layout::Explicit(boundaries) if index > 0 => {
                let (at, start) = boundaries.find(index);
                (at, to_u64(at), start)
            }
            Layout::Runs(runs) => {
                let (at, _) = runs.starts.find(index);
                let (_, chunk, start) = runs.head(at);
                (at, chunk, start)
            }
            _ => (0, 0, 0),
        };
        let runs = AxisRuns { layout: axis.layout(), at, declared: axis.declared() };
        Stretches { runs, chunk, start }
    }
}

impl Iterator for Stretches<'_> {
    type Item = Stretch;

    fn next(&mut self) -> Option<Stretch> {
        let Run { edge, count } = self.runs.next()?;
        let stretch = Stretch { chunk: self.chunk, start: self.start, edge, count };
        self.chunk += count;
        self.start = stretch.end();
        Some(stretch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_chunks_agree_with_a_walk() {
        let written = [(3, 4), (1, 9), (7, 1), (2, 30)].map(|(edge, count)| Run { edge, count });
        let runs = Runs::new(&written);
        let (mut chunk, mut start) = (0, 0);
        for (at, run) in written.into_iter().enumerate() {
            assert_eq!(runs.run(at), run);
            for _ in 0..run.count {
                assert_eq!(runs.span(chunk), (start, run.edge));
                for local in 0..run.edge {
                    assert_eq!(runs.chunk_of(start + local), (chunk, local, run.edge));
                }
                start += run.edge;
                chunk += 1;
            }
        }
        assert_eq!((runs.starts.end(), runs.chunks.end()), (start, chunk));
    }
}
