//! Look-ups and walks beside the plain way to do them, in one run: `cargo bench -p zarr-grid`.
//!
//! Rivals are in `xtask/peers/grid-bench`.

use std::hint::black_box;
use std::time::Instant;

use zarr_grid::{Axis, AxisPart, AxisSelection, Grid, GridError, Run};

const CHUNKS: u64 = 1_000_000;
const LOOK_UPS: usize = 200_000;
const ROUNDS: usize = 9;

/// A small generator with a seed (an odd multiplier and a xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0xd120_2ee4_9b1c_5a35).wrapping_add(1);
        (self.0 ^ (self.0 >> 29)) % limit
    }
}

/// The best of some rounds, in nanoseconds for each of `count`.
fn time(id: &str, count: usize, mut run: impl FnMut() -> u64) -> u64 {
    let mut best = f64::INFINITY;
    let mut result = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        result = black_box(run());
        best = best.min(start.elapsed().as_secs_f64() * 1e9);
    }
    println!("{id:<32} {:>8.2} ns", best / f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
    result
}

fn main() -> Result<(), GridError> {
    let mut random = Random(1);
    let random_edges: Vec<u64> = (0..CHUNKS).map(|_| 1 + random.below(100)).collect();
    let one = |edge: &u64| Run { edge: *edge, count: 1 };
    let mut crowded: Vec<Run> = (1..CHUNKS).map(|_| one(&(1 + random.below(2)))).collect();
    crowded.push(Run { edge: 1 << 40, count: 1 });
    let lists: [(&str, Vec<Run>); 4] = [
        ("one-run", vec![Run { edge: 50, count: CHUNKS }]),
        ("runs", (0..1000).map(|n| Run { edge: 1 + n % 97, count: 1000 }).collect()),
        ("explicit", random_edges.iter().map(one).collect()),
        ("crowded", crowded),
    ];
    for (name, runs) in &lists {
        let extent = runs.iter().map(|run| run.edge * run.count).sum();
        let axis = Axis::from_runs(extent, runs.iter().copied())?;
        // Before the last chunk, which may be a giant.
        let most = axis.start(CHUNKS - 1).unwrap_or(extent);
        let indices: Vec<u64> = (0..LOOK_UPS).map(|_| random.below(most)).collect();
        let starts: Vec<u64> = (0..axis.declared()).filter_map(|chunk| axis.start(chunk)).collect();

        let searched = time(&format!("chunk_of/{name}/binary-search"), LOOK_UPS, || {
            indices
                .iter()
                .map(|index| starts.partition_point(|start| start <= index))
                .map(|count| count as u64)
                .sum()
        });
        let found = time(&format!("chunk_of/{name}/axis"), LOOK_UPS, || {
            indices.iter().filter_map(|&index| axis.chunk_of(index)).map(|found| found.0 + 1).sum()
        });
        assert_eq!(found, searched);
        let [mut chunks, mut locals] = [vec![0; LOOK_UPS], vec![0; LOOK_UPS]];
        let found = time(&format!("chunks_of/{name}/axis"), LOOK_UPS, || {
            _ = axis.chunks_of(&indices, &mut chunks, &mut locals);
            chunks.iter().map(|chunk| chunk + 1).sum()
        });
        assert_eq!(found, searched);
        if *name == "explicit" {
            two_loads(&indices, &starts, extent);
        }
        // Each look-up waits for the one before: its chunk decides which index is next.
        let waits = |last: u64, index: u64| index ^ (last & 1);
        let searched = time(&format!("dependent/{name}/binary-search"), LOOK_UPS, || {
            indices.iter().fold(0, |last, &index| {
                starts.partition_point(|start| *start <= waits(last, index).min(most - 1)) as u64
            })
        });
        let found = time(&format!("dependent/{name}/axis"), LOOK_UPS, || {
            indices.iter().fold(0, |last, &index| {
                axis.chunk_of(waits(last, index).min(most - 1)).map_or(0, |found| found.0 + 1)
            })
        });
        assert_eq!(found, searched);
        time(&format!("from_runs/{name}"), runs.len(), || {
            Axis::from_runs(extent, runs.iter().copied()).map_or(0, |axis| axis.occupied())
        });
    }

    let edges = &random_edges[..1000];
    let extent = edges.iter().sum();
    let axis = Axis::from_edges(extent, edges.iter().copied())?;
    let spans: Vec<(u64, u64)> =
        (0..1000).filter_map(|chunk| Some((axis.start(chunk)?, axis.edge(chunk)?))).collect();
    let grid = Grid::new([axis.clone(), axis]);
    let region = [1..extent - 1, 1..extent - 1];
    let nested = time("chunks/1000x1000/nested-loops", 1_000_000, || {
        let part = |&(start, edge): &(u64, u64)| (start + edge).min(extent - 1) - start.max(1);
        spans.iter().flat_map(|row| spans.iter().map(move |column| part(row) ^ part(column))).sum()
    });
    let walked = time("chunks/1000x1000/grid", 1_000_000, || {
        let Ok(parts) = grid.chunks(&region) else { return 0 };
        parts.map(|part| part.axes()[0].len() ^ part.axes()[1].len()).sum()
    });
    assert_eq!(walked, nested);
    let every = |step: i64| [0, 1].map(|_| AxisSelection::Step { range: 1..extent - 1, step });
    for step in [1, 3, 200] {
        let selected = grid.select(&every(step))?;
        let count = selected.len();
        let walked = time(
            &format!("select/1000x1000/step-{step}"),
            usize::try_from(count).unwrap_or(usize::MAX),
            || {
                selected
                    .parts()
                    .map(|part| part.axes().iter().map(AxisPart::len).product::<u64>())
                    .sum()
            },
        );
        assert_eq!(walked, selected.shape().iter().product());
    }
    Ok(())
}

/// The least that a table of buckets can do: a load of the bucket, and of the boundary that it leads to.
fn two_loads(indices: &[u64], starts: &[u64], extent: u64) {
    let shift = (extent / (CHUNKS / 4)).ilog2() + 1;
    let first = |bucket: u64| starts.partition_point(|start| *start <= bucket << shift) - 1;
    let table: Vec<u32> = (0..=extent >> shift).map(|bucket| first(bucket) as u32).collect();
    let starts: Vec<u32> = starts.iter().map(|start| *start as u32).collect();
    let [mut chunks, mut locals] = [vec![0; LOOK_UPS], vec![0; LOOK_UPS]];
    time("chunks_of/explicit/two-loads", LOOK_UPS, || {
        let loads = indices.iter().zip(chunks.iter_mut().zip(&mut locals));
        loads.for_each(|(index, (chunk, local))| {
            *chunk = u64::from(table[(index >> shift) as usize]);
            *local = index - u64::from(starts[*chunk as usize]);
        });
        chunks.iter().map(|chunk| chunk + 1).sum()
    });
}
