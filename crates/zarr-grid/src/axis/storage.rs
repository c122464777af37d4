//! How the boundaries of an axis's chunks are stored, and the runs of equal edges among them.

use crate::axis::boundaries::{Boundaries, Bounds};
use crate::axis::runs::{Run, Runs};
use crate::num::{to_u64, to_usize};

/// How the boundaries are stored. This follows from the declared edges alone, so equal edges give
/// equal storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AxisStorage {
    /// All edges are equal (regular axes without a chunk keep their edge here too).
    Uniform { edge: u64 },
    /// Every boundary, if runs are too short to be worth a division.
    Explicit(Boundaries),
    /// Runs of several chunks on average.
    Runs(Runs),
}

impl AxisStorage {
    /// The layout of a list without edges.
    pub(crate) fn no_chunks() -> AxisStorage {
        AxisStorage::Explicit(Boundaries::new(Bounds::new()))
    }

    /// The longest edge of the chunks up to `last`, which is declared.
    pub(crate) fn longest(&self, last: u64) -> u64 {
        match self {
            AxisStorage::Uniform { edge } => *edge,
            AxisStorage::Explicit(boundaries) => boundaries.longest(to_usize(last)),
            AxisStorage::Runs(runs) => runs.longest(last),
        }
    }
}

/// The merged runs of an axis, in order.
///
/// Neighbours of equal edge are one run, however the metadata wrote them.
///
/// # Examples
/// ```
/// use zarr_grid::{Axis, Run};
///
/// let axis = Axis::from_edges(10, [3, 3, 4])?;
/// assert!(axis.runs().eq([Run { edge: 3, count: 2 }, Run { edge: 4, count: 1 }]));
/// # Ok::<(), zarr_grid::GridError>(())
/// ```
#[derive(Debug, Clone)]
pub struct AxisRuns<'a> {
    layout: &'a AxisStorage,
    /// Next position: of a chunk in explicit boundaries, of a run otherwise.
    at: usize,
    /// Number of declared chunks.
    declared: u64,
}

impl<'a> AxisRuns<'a> {
    pub(crate) fn new(layout: &'a AxisStorage, declared: u64) -> Self {
        AxisRuns { layout, at: 0, declared }
    }
}

impl Iterator for AxisRuns<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        match self.layout {
            AxisStorage::Uniform { edge } => {
                let count = if self.at == 0 { self.declared } else { 0 };
                self.at = 1;
                (count > 0).then_some(Run { edge: *edge, count })
            }
            AxisStorage::Explicit(boundaries) => {
                let mut start = (self.at < boundaries.len()).then(|| boundaries.bound(self.at))?;
                let edge = boundaries.length(self.at);
                let alike = |end: &u64| end - core::mem::replace(&mut start, *end) == edge;
                let same = boundaries.ends(self.at).take_while(alike).count();
                self.at += same;
                Some(Run { edge, count: to_u64(same) })
            }
            AxisStorage::Runs(runs) => {
                let run = (self.at < runs.len()).then(|| runs.run(self.at))?;
                self.at += 1;
                Some(run)
            }
        }
    }
}

impl core::iter::FusedIterator for AxisRuns<'_> {}

/// Consecutive chunks of equal edge, and their position.
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
    pub(crate) fn new(layout: &'a AxisStorage, declared: u64, index: u64) -> Stretches<'a> {
        let (at, chunk, start) = match layout {
            AxisStorage::Explicit(boundaries) if index > 0 => {
                let (at, start) = boundaries.find(index);
                (at, to_u64(at), start)
            }
            AxisStorage::Runs(runs) => {
                let (at, _) = runs.starts.find(index);
                let (_, chunk, start) = runs.head(at);
                (at, chunk, start)
            }
            _ => (0, 0, 0),
        };
        let runs = AxisRuns { layout, at, declared };
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
