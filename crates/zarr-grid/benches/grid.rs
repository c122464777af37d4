//! Look-ups and walks beside the plain way to do them.
//!
//! `cargo bench -p zarr-grid -- chunk_of` runs the ids that match: `chunk_of/explicit/axis` is an
//! operation, a list of edges and what is measured. Times are for all look-ups of a call; the throughput
//! counts look-ups. Rivals, in turns in one run, are in `xtask/peers/grid-bench`.

#![expect(clippy::unwrap_used, reason = "known grids")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use zarr_grid::{Axis, AxisPart, AxisSelection, Grid, Run};

const CHUNKS: u64 = 1_000_000;
const LOOK_UPS: usize = 200_000;

/// A small generator with a seed (an odd multiplier and a xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0xd120_2ee4_9b1c_5a35).wrapping_add(1);
        (self.0 ^ (self.0 >> 29)) % limit
    }
}

/// Lists of edges of a million chunks.
fn lists(random: &mut Random) -> [(&'static str, Vec<Run>); 4] {
    let one = |edge: u64| Run { edge, count: 1 };
    let explicit = (0..CHUNKS).map(|_| one(1 + random.below(100))).collect();
    let mut crowded: Vec<Run> = (1..CHUNKS).map(|_| one(1 + random.below(2))).collect();
    crowded.push(one(1 << 40));
    [
        ("one-run", vec![Run { edge: 50, count: CHUNKS }]),
        ("runs", (0..1000).map(|n| Run { edge: 1 + n % 97, count: 1000 }).collect()),
        ("explicit", explicit),
        ("crowded", crowded),
    ]
}

fn look_ups(criterion: &mut Criterion) {
    let mut random = Random(1);
    for (name, runs) in lists(&mut random) {
        let extent = runs.iter().map(|run| run.edge * run.count).sum();
        let axis = Axis::from_runs(extent, runs.iter().copied()).unwrap();
        // Before the last chunk, which may be a giant.
        let most = axis.start(CHUNKS - 1).unwrap_or(extent);
        let indices: Vec<u64> = (0..LOOK_UPS).map(|_| random.below(most)).collect();
        let starts: Vec<u64> = (0..axis.declared()).filter_map(|chunk| axis.start(chunk)).collect();
        let search = |index: u64| starts.partition_point(|start| *start <= index) as u64;

        let searched = || indices.iter().map(|&index| search(index)).sum::<u64>();
        let found = || {
            let found = indices.iter().filter_map(|&index| axis.chunk_of(index));
            found.map(|(chunk, _)| chunk + 1).sum::<u64>()
        };
        let [mut chunks, mut locals] = [vec![0; LOOK_UPS], vec![0; LOOK_UPS]];
        axis.chunks_of(&indices, &mut chunks, &mut locals).unwrap();
        assert_eq!(found(), searched());
        assert_eq!(chunks.iter().map(|chunk| chunk + 1).sum::<u64>(), searched());

        let mut group = criterion.benchmark_group(format!("chunk_of/{name}"));
        group.throughput(Throughput::Elements(LOOK_UPS as u64));
        group.bench_function("binary-search", |bencher| bencher.iter(searched));
        group.bench_function("axis", |bencher| bencher.iter(found));
        group.bench_function("axis-together", |bencher| {
            bencher.iter(|| {
                axis.chunks_of(black_box(&indices), &mut chunks, &mut locals).unwrap();
                black_box((&mut chunks, &mut locals));
            });
        });
        if name == "explicit" {
            let [table, starts] = buckets(&starts, extent);
            let shift = shift(extent);
            group.bench_function("two-loads", |bencher| {
                bencher.iter(|| {
                    let loads = indices.iter().zip(chunks.iter_mut().zip(&mut locals));
                    loads.for_each(|(index, (chunk, local))| {
                        *chunk = u64::from(table[(index >> shift) as usize]);
                        *local = index - u64::from(starts[*chunk as usize]);
                    });
                    black_box((&mut chunks, &mut locals));
                });
            });
        }
        group.finish();

        // Each look-up waits for the one before: its chunk decides which index is next.
        let waits = |last: u64, index: u64| (index ^ (last & 1)).min(most - 1);
        let searched = || indices.iter().fold(0, |last, &index| search(waits(last, index)));
        let found = || {
            let next = |last, &index| axis.chunk_of(waits(last, index)).map_or(0, |(at, _)| at + 1);
            indices.iter().fold(0, next)
        };
        assert_eq!(found(), searched());
        let mut group = criterion.benchmark_group(format!("dependent/{name}"));
        group.throughput(Throughput::Elements(LOOK_UPS as u64));
        group.bench_function("binary-search", |bencher| bencher.iter(searched));
        group.bench_function("axis", |bencher| bencher.iter(found));
        group.finish();

        criterion.bench_function(&format!("from_runs/{name}"), |bencher| {
            bencher.iter(|| Axis::from_runs(extent, black_box(&runs).iter().copied()).unwrap());
        });
    }
}

fn shift(extent: u64) -> u32 {
    (extent / (CHUNKS / 4)).ilog2() + 1
}

/// The least that a table of buckets can do is a load of the bucket, and one of the boundary that it
/// leads to: both tables.
fn buckets(starts: &[u64], extent: u64) -> [Vec<u32>; 2] {
    let shift = shift(extent);
    let first = |bucket: u64| starts.partition_point(|start| *start <= bucket << shift) - 1;
    let table = (0..=extent >> shift).map(|bucket| first(bucket) as u32).collect();
    [table, starts.iter().map(|start| *start as u32).collect()]
}

fn walks(criterion: &mut Criterion) {
    let mut random = Random(1);
    let edges: Vec<u64> = (0..1000).map(|_| 1 + random.below(100)).collect();
    let extent: u64 = edges.iter().sum();
    let axis = Axis::from_edges(extent, edges).unwrap();
    let spans: Vec<(u64, u64)> =
        (0..1000).filter_map(|chunk| Some((axis.start(chunk)?, axis.edge(chunk)?))).collect();
    let grid = Grid::new([axis.clone(), axis]);
    let region = [1..extent - 1, 1..extent - 1];
    let nested = || {
        let part = |&(start, edge): &(u64, u64)| (start + edge).min(extent - 1) - start.max(1);
        let row = |row| spans.iter().map(move |column| part(row) ^ part(column));
        spans.iter().flat_map(row).sum::<u64>()
    };
    let walked = || {
        let parts = grid.chunks(&region).unwrap();
        parts.map(|part| part.axes()[0].len() ^ part.axes()[1].len()).sum::<u64>()
    };
    assert_eq!(walked(), nested());
    let mut group = criterion.benchmark_group("chunks/1000x1000");
    group.throughput(Throughput::Elements(1_000_000));
    group.bench_function("nested-loops", |bencher| bencher.iter(nested));
    group.bench_function("grid", |bencher| bencher.iter(walked));
    group.finish();
    for step in [1, 3, 200] {
        let every = [0, 1].map(|_| AxisSelection::Step { range: 1..extent - 1, step });
        let selected = grid.select(&every).unwrap();
        let walked = || {
            let parts = selected.parts();
            parts.map(|part| part.axes().iter().map(AxisPart::len).product::<u64>()).sum::<u64>()
        };
        assert_eq!(walked(), selected.shape().iter().product::<u64>());
        let mut group = criterion.benchmark_group("select/1000x1000");
        group.throughput(Throughput::Elements(selected.len()));
        group.bench_function(format!("step-{step}"), |bencher| bencher.iter(walked));
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(15)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    targets = look_ups, walks
}
criterion_main!(benches);
