//! The axes that are measured.

use crate::timing::Random;
use zarrs::array::chunk_grid::{ChunkEdgeLengths, RunLengthElement};

const MILLION: u64 = 1_000_000;

/// Runs of edges.
pub struct List {
    pub name: &'static str,
    pub runs: Vec<(u64, u64)>,
}

impl List {
    pub fn extent(&self) -> u64 {
        self.runs.iter().map(|(edge, count)| edge * count).sum()
    }

    /// Random indices: any chunk is as likely as any other, and any place in it.
    pub fn indices(&self, count: usize) -> Vec<u64> {
        let mut random = Random(1);
        let mut start = 0;
        let starts = self.runs.iter().map(|&(edge, count)| {
            let from = start;
            start += edge * count;
            (from, edge, count)
        });
        let runs: Vec<(u64, u64, u64)> = starts.collect();
        let index = |_| {
            let (from, edge, count) = runs[random.below(runs.len() as u64) as usize];
            from + random.below(edge * count)
        };
        (0..count).map(index).collect()
    }

    /// As the peer takes them.
    pub fn zarrs(&self) -> ChunkEdgeLengths {
        let element = |&(edge, count): &(u64, u64)| {
            let edge = edge.try_into().expect("not zero");
            match count {
                1 => RunLengthElement::Single(edge),
                _ => RunLengthElement::Repeated([edge, count.try_into().expect("not zero")]),
            }
        };
        ChunkEdgeLengths::Varying(self.runs.iter().map(element).collect())
    }
}

/// A million chunks each, from the friendliest to the least friendly.
pub fn lists() -> Vec<List> {
    let mut random = Random(3);
    let months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let explicit = |edge: &mut dyn FnMut(u64) -> u64| (0..MILLION).map(|n| (edge(n), 1)).collect();
    vec![
        List { name: "one run, `[[1, 1000000]]`", runs: vec![(1, MILLION)] },
        List {
            name: "1,000 runs of 1,000",
            runs: (0..1000).map(|n| (1 + random.below(100) * 2 + n % 2, 1000)).collect(),
        },
        List { name: "months", runs: explicit(&mut |n| months[n as usize % 12]) },
        List { name: "explicit, 1 to 100", runs: explicit(&mut |_| 1 + random.below(100)) },
        List {
            name: "explicit, 1 to 2^20, log-uniform",
            runs: explicit(&mut |_| {
                let bits = random.below(20);
                (1 << bits) + random.below(1 << bits)
            }),
        },
        // The loss case: all but one edge share one bucket of the table.
        List {
            name: "explicit, 1 and 2, then one of 2^40",
            runs: (0..MILLION - 1).map(|n| (1 + n % 2, 1)).chain([(1 << 40, 1)]).collect(),
        },
    ]
}

/// A thousand edges an axis.
pub fn region_lists() -> Vec<(&'static str, Vec<u64>)> {
    let mut random = Random(4);
    vec![
        ("one run", vec![10; 1000]),
        ("runs of 20", (0..1000).map(|n| 1 + (n / 20) % 2).collect()),
        ("explicit, 1 to 100", (0..1000).map(|_| 1 + random.below(100)).collect()),
    ]
}
