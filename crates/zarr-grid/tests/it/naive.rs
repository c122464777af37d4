//! The oracle: an axis as a plain list of edges that is walked; and the inputs of the tests.

use std::ops::Range;

use zarr_grid::{Axis, AxisPart, PartIndices, Run};

/// An axis with nothing precomputed.
#[derive(Debug, Clone)]
pub(crate) struct Naive {
    pub(crate) extent: u64,
    pub(crate) edges: Vec<u64>,
}

impl Naive {
    pub(crate) fn new(extent: u64, edges: impl Into<Vec<u64>>) -> Naive {
        Naive { extent, edges: edges.into() }
    }

    /// The same as the library's axis.
    pub(crate) fn axis(&self) -> Axis {
        Axis::from_edges(self.extent, self.edges.iter().copied()).unwrap()
    }

    /// First index and edge of every declared chunk.
    pub(crate) fn spans(&self) -> Vec<(u64, u64)> {
        let mut start = 0;
        let mut spans = Vec::new();
        for &edge in &self.edges {
            spans.push((start, edge));
            start += edge;
        }
        spans
    }

    /// Chunk and local index, by walking from the start.
    pub(crate) fn chunk_of(&self, index: u64) -> Option<(u64, u64)> {
        if index >= self.extent {
            return None;
        }
        let mut left = index;
        for (chunk, &edge) in self.edges.iter().enumerate() {
            if left < edge {
                return Some((chunk as u64, left));
            }
            left -= edge;
        }
        unreachable!("the edges cover the extent")
    }

    pub(crate) fn occupied(&self) -> u64 {
        self.spans().iter().filter(|(start, _)| *start < self.extent).count() as u64
    }

    /// The boundaries strictly inside of the extent.
    pub(crate) fn inner_bounds(&self) -> Vec<u64> {
        let starts = self.spans().into_iter().map(|(start, _)| start);
        starts.filter(|&start| start > 0 && start < self.extent).collect()
    }

    /// The parts of `start`, `start + step`, ... below `end`, element by element; of `end - 1`,
    /// `end - 1 + step`, ... from `start` on, if the step is negative.
    pub(crate) fn parts(&self, start: u64, end: u64, step: i64) -> Vec<AxisPart<'static>> {
        let spans = self.spans();
        let mut parts: Vec<AxisPart<'static>> = Vec::new();
        let mut selected: Vec<(usize, u64)> = stepped(start..end, step).enumerate().collect();
        selected.sort_by_key(|(_, index)| *index);
        for (position, index) in selected {
            let (chunk, in_chunk) = self.chunk_of(index).unwrap();
            match parts.last_mut() {
                Some(AxisPart {
                    chunk: last,
                    indices: PartIndices::Step { len, in_selection, .. },
                    ..
                }) if *last == chunk => {
                    *len += 1;
                    *in_selection = (*in_selection).min(position as u64);
                }
                _ => parts.push(AxisPart {
                    chunk,
                    edge: spans[chunk as usize].1,
                    indices: PartIndices::Step {
                        in_chunk,
                        step: step.unsigned_abs(),
                        in_selection: position as u64,
                        len: 1,
                        reversed: step < 0,
                    },
                    is_whole: false,
                }),
            }
        }
        for part in &mut parts {
            let members = (0..self.extent).filter(|&i| self.chunk_of(i).unwrap().0 == part.chunk);
            part.is_whole = members.count() as u64 == part.len();
        }
        parts
    }
}

/// The indices of a range with a step, in order.
pub(crate) fn stepped(range: Range<u64>, step: i64) -> Box<dyn Iterator<Item = u64>> {
    let distance = step.unsigned_abs() as usize;
    match step < 0 {
        true => Box::new(range.rev().step_by(distance)),
        false => Box::new(range.step_by(distance)),
    }
}

/// Every ordered way to write `sum` as edges of at least 1; one way, without edges, for 0.
pub(crate) fn compositions(sum: u64) -> Vec<Vec<u64>> {
    if sum == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for first in 1..=sum {
        for mut rest in compositions(sum - first) {
            rest.insert(0, first);
            all.push(rest);
        }
    }
    all
}

/// Every partition of every extent up to `extent` into edges, those that overflow it by up to
/// `overflow` included.
pub(crate) fn partitions(extent: u64, overflow: u64) -> impl Iterator<Item = Naive> {
    (0..=extent).flat_map(move |extent| {
        (extent..=extent + overflow)
            .flat_map(compositions)
            .map(move |edges| Naive::new(extent, edges))
    })
}

/// A small generator with a seed (splitmix64).
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Less than `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Edges of one of the kinds that are stored differently: short runs, long runs, very
    /// different lengths, all equal.
    pub(crate) fn axis(&mut self) -> Naive {
        let kind = self.below(4);
        let mut edges = Vec::new();
        for _ in 0..1 + self.below(40) {
            let (edge, count) = match kind {
                0 => (1 + self.below(9), 1),
                1 => (1 + self.below(9), 1 + self.below(30)),
                2 => (1 + (self.below(300) >> self.below(9)), 1),
                _ => (7, 1 + self.below(3)),
            };
            edges.extend((0..count).map(|_| edge));
        }
        let sum: u64 = edges.iter().sum();
        let extent = if self.below(3) == 0 { sum } else { self.below(sum + 1) };
        Naive::new(extent, edges)
    }
}

/// Long runs in sequence, to test that costs do not depend on the counts.
pub(crate) fn runs(runs: &[(u64, u64)]) -> Vec<Run> {
    runs.iter().map(|&(edge, count)| Run { edge, count }).collect()
}
