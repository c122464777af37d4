//! Runs of equal edges with the sums before each.

use alloc::vec::Vec;

use crate::axis::boundaries::{Boundaries, Bounds};

/// `count` chunks in a row, each `edge` long; `[edge, count]` in the metadata.
///
/// # Examples
/// ```
/// use zarr_grid::{Axis, Run};
///
/// let axis = Axis::from_runs(10, [Run { edge: 3, count: 2 }, Run { edge: 4, count: 1 }])?;
/// assert_eq!(axis, Axis::from_edges(10, [3, 3, 4])?);
/// # Ok::<(), zarr_grid::GridError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Run {
    /// Edge length of each chunk, at least 1.
    pub edge: u64,
    /// Number of chunks, at least 1.
    pub count: u64,
}

/// One chunk of this length.
impl From<u64> for Run {
    fn from(edge: u64) -> Self {
        Run { edge, count: 1 }
    }
}

/// One chunk of this length.
impl From<&u64> for Run {
    fn from(edge: &u64) -> Self {
        Run::from(*edge)
    }
}

/// The same run, so that borrowed runs are taken where owned ones are.
impl From<&Run> for Run {
    fn from(run: &Run) -> Self {
        *run
    }
}

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
    /// The runs of an axis. The builder has checked their sums.
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

    /// The longest edge of the chunks up to declared chunk number `last`.
    pub(crate) fn longest(&self, last: u64) -> u64 {
        self.edges[..=self.run_of_chunk(last)].iter().copied().max().unwrap_or(0)
    }

    /// First index and edge of declared chunk number `chunk`.
    #[inline]
    pub(crate) fn span(&self, chunk: u64) -> (u64, u64) {
        let (edge, first, start) = self.head(self.run_of_chunk(chunk));
        (start + (chunk - first) * edge, edge)
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
