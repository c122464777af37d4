//! The chunks of one axis, one after the other.

use crate::axis::boundaries::Ends;
use crate::axis::runs::Runs;
use crate::axis::storage::AxisStorage;
use crate::num::to_u64;

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
    /// Starts at the chunk that holds `index`; `index` is 0 or less than the declared end.
    pub(crate) fn at(layout: &'a AxisStorage, index: u64) -> Walk<'a> {
        match layout {
            AxisStorage::Uniform { edge } => {
                let chunk = index / edge;
                Walk { chunk, start: chunk * edge, source: Source::Uniform { edge: *edge } }
            }
            AxisStorage::Explicit(boundaries) => {
                let (at, start) = if index == 0 { (0, 0) } else { boundaries.find(index) };
                let source = Source::Explicit { ends: boundaries.ends(at) };
                Walk { chunk: to_u64(at), start, source }
            }
            AxisStorage::Runs(runs) => {
                let run = runs.starts.find(index).0;
                let (edge, chunk, start) = runs.head(run);
                let passed = (index - start) / edge;
                let source = Source::Runs { runs, run, edge, end: runs.chunk_end(run) };
                Walk { chunk: chunk + passed, start: start + passed * edge, source }
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
