//! `zarr-grid` against a walk over every element, and on numbers of any size.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use zarr_grid::{Axis, Cut, Grid, GridError, Growth, Run, Select, ShardGrid};

#[derive(Debug, Arbitrary)]
enum Input {
    /// Few elements, everything walked.
    Small { left: Small, right: Small, numbers: [u16; 6], list: Vec<u16> },
    /// Anything: it must answer, quickly, and agree with itself.
    Hostile { left: Vec<(u64, u64)>, right: Vec<(u64, u64)>, extent: u64, numbers: [u64; 6] },
}

#[derive(Debug, Arbitrary)]
struct Small {
    runs: Vec<(u8, u8)>,
    extent: u16,
}

fuzz_target!(|input: Input| match input {
    Input::Small { left, right, numbers, list } => small(left, right, numbers, &list),
    Input::Hostile { left, right, extent, numbers } => hostile(&left, &right, extent, numbers),
});

/// An axis as a list of edges.
struct Naive {
    extent: u64,
    edges: Vec<u64>,
}

impl Naive {
    fn new(small: &Small) -> (Naive, Vec<Run>) {
        let run = |&(edge, count): &(u8, u8)| Run {
            edge: u64::from(edge % 17) + 1,
            count: u64::from(count % 40) + 1,
        };
        let runs: Vec<Run> = small.runs.iter().take(12).map(run).collect();
        let edges: Vec<u64> =
            runs.iter().flat_map(|run| (0..run.count).map(|_| run.edge)).collect();
        let sum: u64 = edges.iter().sum();
        (Naive { extent: u64::from(small.extent) % (sum + 1), edges }, runs)
    }

    /// Chunk and local index of every element, in order.
    fn walk(&self) -> Vec<(u64, u64)> {
        let chunks = self.edges.iter().enumerate();
        let elements = chunks.flat_map(|(chunk, &edge)| (0..edge).map(move |i| (chunk as u64, i)));
        elements.take(self.extent as usize).collect()
    }

    fn bounds(&self) -> Vec<u64> {
        let mut sum = 0;
        let starts = self.edges.iter().map(|edge| {
            sum += edge;
            sum - edge
        });
        starts.filter(|&start| start > 0 && start < self.extent).collect()
    }
}

fn small(left: Small, right: Small, numbers: [u16; 6], list: &[u16]) {
    let (naive, runs) = Naive::new(&left);
    let extent = naive.extent;
    let axis = Axis::from_runs(extent, runs).unwrap();
    let walk = naive.walk();
    for (index, &found) in walk.iter().enumerate() {
        assert_eq!(axis.chunk_of(index as u64), Some(found));
    }
    assert_eq!(axis.chunk_of(extent), None);
    assert_eq!(axis.declared(), naive.edges.len() as u64);
    assert_eq!(axis.occupied(), walk.last().map_or(0, |last| last.0 + 1));
    assert!(
        axis.runs()
            .flat_map(|run| (0..run.count).map(move |_| run.edge))
            .eq(naive.edges.iter().copied())
    );

    let [start, len, step, limit, inner, grown] = numbers.map(u64::from);
    let start = start % (extent + 1);
    let end = start + len % (extent - start + 1);
    let part = &walk[start as usize..end as usize];
    let mut cuts: Vec<Cut> = axis.cuts(start..end).unwrap().collect();
    for (position, &(chunk, local)) in part.iter().enumerate() {
        let cut = cuts.iter().find(|cut| cut.chunk == chunk).unwrap();
        assert_eq!(position as u64 - cut.in_region, local - cut.in_chunk);
        assert!(position as u64 - cut.in_region < cut.len);
        assert_eq!(cut.edge, naive.edges[chunk as usize]);
    }
    assert_eq!(cuts.iter().map(|cut| cut.len).sum::<u64>(), end - start);
    cuts.dedup_by_key(|cut| cut.chunk);
    assert_eq!(axis.cuts(start..end).unwrap().remaining(), cuts.len() as u64);

    let step = step % 50 + 1;
    let mut position = 0;
    let stepped = axis.stepped(start..end, step).unwrap();
    assert_eq!(stepped.remaining(), stepped.clone().count() as u64);
    for cut in stepped {
        for n in 0..cut.len {
            let found = part[(position * step) as usize];
            assert_eq!(found, (cut.chunk, cut.in_chunk + n * step));
            position += 1;
        }
    }
    assert_eq!(position, (end - start).div_ceil(step));

    let indices: Vec<u64> = match extent {
        0 => Vec::new(),
        _ => list.iter().map(|&index| u64::from(index) % extent).collect(),
    };
    let mut seen = 0;
    for cut in axis.listed(&indices).unwrap().cuts() {
        for (&at, &local) in cut.in_selection.iter().zip(cut.in_chunk) {
            assert_eq!(walk[indices[at as usize] as usize], (cut.chunk, local));
            seen += 1;
        }
    }
    assert_eq!(seen, indices.len());

    // A grid of two: any range of its parts is that range of all of them.
    let (other, other_runs) = Naive::new(&right);
    let other_axis = Axis::from_runs(other.extent, other_runs).unwrap();
    let grid = Grid::new([axis.clone(), other_axis.clone()]);
    let mut all = grid.chunks(&[start..end, 0..other.extent]).unwrap();
    let skip = limit % (all.len() + 1);
    let mut late = all.range(skip..all.len());
    for _ in 0..skip {
        all.next_part();
    }
    while let Some(part) = all.next_part() {
        assert_eq!(Some(part), late.next_part());
    }
    assert!(late.is_empty());
    let selection = grid
        .select(&[Select::Indices(&indices), Select::Step { range: 0..other.extent, step }])
        .unwrap();
    let (mut parts, mut elements) = (selection.parts(), 0);
    while let Some(part) = parts.next_part() {
        elements += part.axes.iter().map(|axis| axis.len()).product::<u64>();
    }
    assert_eq!(elements, selection.shape().iter().product());

    // Two ways to cut the same extent.
    let extent = extent.min(other.extent);
    let (a, b) = (Naive { extent, ..naive }, Naive { extent, ..other });
    let repeat = Growth::RepeatLast;
    let (axis, other) = (axis.resized(extent, repeat), other_axis.resized(extent, repeat));
    let (axis, other) = (axis.unwrap(), other.unwrap());
    let (ours, theirs) = (a.bounds(), b.bounds());
    let bounds =
        |axis: &Axis| -> Vec<u64> { (1..axis.occupied()).filter_map(|c| axis.start(c)).collect() };
    assert_eq!(bounds(&axis), ours);
    assert_eq!(axis.is_union_of(&other), Ok(ours.iter().all(|bound| theirs.contains(bound))));
    let mut either = [&ours[..], &theirs].concat();
    either.sort_unstable();
    either.dedup();
    assert_eq!(bounds(&axis.common_refinement(&other, 1 << 16).unwrap()), either);
    let both: Vec<u64> = ours.iter().copied().filter(|bound| theirs.contains(bound)).collect();
    assert_eq!(bounds(&axis.common_coarsening(&other).unwrap()), both);
    let tasks = axis.grouped(limit, Some(&other)).unwrap();
    assert_eq!(tasks.is_union_of(&axis), Ok(true));
    let tasks = axis.grouped(limit, None).unwrap();
    assert_eq!(tasks.is_union_of(&axis), Ok(true));
    for (group, next) in (0..tasks.occupied()).zip(1..) {
        let chunks = |group| axis.chunks_in(tasks.clipped(group).unwrap()).unwrap();
        assert!(tasks.edge(group).unwrap() <= limit || chunks(group).count() == 1);
        // Greedy: the next chunk would not have fitted.
        if next < tasks.occupied() {
            let more = axis.edge(chunks(next).start).unwrap();
            assert!(tasks.edge(group).unwrap() + more > limit);
        }
    }
    let inner = inner % 20;
    let divides = inner > 0 && axis.distinct_edges().iter().all(|edge| edge % inner == 0);
    assert_eq!(ShardGrid::new(Grid::new([axis.clone()]), &[inner]).is_ok(), divides);

    let grown = axis.resized(grown, repeat);
    if let Ok(grown) = grown {
        let shared = axis.declared().min(grown.declared());
        assert!((0..shared).all(|chunk| axis.edge(chunk) == grown.edge(chunk)));
    }
    let dask: Vec<u64> = axis.dask_lengths().collect();
    assert!(Axis::from_dask(&dask).unwrap().dask_lengths().eq(dask));
}

fn hostile(left: &[(u64, u64)], right: &[(u64, u64)], extent: u64, numbers: [u64; 6]) {
    let make = |runs: &[(u64, u64)]| {
        let runs = runs.iter().map(|&(edge, count)| Run { edge, count });
        let sum = runs.clone().try_fold(0_u64, |sum, run| {
            run.edge.checked_mul(run.count).and_then(|length| sum.checked_add(length))
        });
        let zero = runs.clone().any(|run| run.edge == 0 || run.count == 0);
        let made = Axis::from_runs(extent, runs);
        match sum {
            _ if zero => assert!(made.is_err()),
            None => assert_eq!(made, Err(GridError::EdgeOverflow)),
            Some(sum) => assert_eq!(made.is_ok(), sum >= extent),
        }
        made
    };
    let [a, b, c, d, e, f] = numbers;
    for edge in numbers {
        if let Ok(axis) = Axis::regular(extent, edge) {
            agree(&axis, numbers);
            _ = axis.grouped(a, Axis::regular(extent, b).ok().as_ref()).map(|tasks| {
                assert_eq!(tasks.is_union_of(&axis), Ok(true));
            });
        }
    }
    let (Ok(left), Ok(right)) = (make(left), make(right)) else { return };
    agree(&left, numbers);
    for (axis, other) in [(&left, &right), (&right, &left)] {
        let coarse = axis.common_coarsening(other).unwrap();
        assert_eq!(coarse.is_union_of(axis), Ok(true));
        assert_eq!(coarse.is_union_of(other), Ok(true));
        if let Ok(fine) = axis.common_refinement(other, 200) {
            assert_eq!(axis.is_union_of(&fine), Ok(true));
            assert_eq!(other.is_union_of(&fine), Ok(true));
        }
        let tasks = axis.grouped(c, Some(other)).unwrap();
        assert_eq!(tasks.is_union_of(axis), Ok(true));
        _ = axis.overlaps(other).unwrap().take(100).count();
        _ = Axis::concat(&[axis, other]);
        _ = axis.resized(d, Growth::RepeatLast);
        _ = axis.resized(d, Growth::Edges(&[Run { edge: e, count: f }]));
    }
    let grid = Grid::new([left, right]);
    _ = grid.grouped(a, None).map(|tasks| assert_eq!(tasks.is_union_of(&grid), Ok(true)));
    _ = grid.shrink(&[b, c]).unwrap();
    _ = ShardGrid::new(grid.clone(), &[a, b]);
    if let Ok(all) = grid.all_chunks() {
        let mut late = all.range(d..d.saturating_add(20));
        while late.next_part().is_some() {}
    }
}

/// What an axis says of one index, one way and another.
fn agree(axis: &Axis, numbers: [u64; 6]) {
    let extent = axis.extent();
    for index in numbers.into_iter().flat_map(|n| [n, n.checked_rem(extent).unwrap_or(0)]) {
        let Some((chunk, local)) = axis.chunk_of(index) else { continue };
        assert_eq!(axis.start(chunk).unwrap() + local, index);
        assert!(local < axis.edge(chunk).unwrap() && chunk < axis.occupied());
        assert!(axis.clipped(chunk).unwrap().contains(&index));
        assert_eq!(axis.chunks_in(index..index + 1), Ok(chunk..chunk + 1));
        let cut = axis.cuts(0..extent).unwrap().nth(usize::try_from(chunk).unwrap()).unwrap();
        assert_eq!((cut.chunk, Some(cut.edge)), (chunk, axis.edge(chunk)));
        for step in numbers.into_iter().filter(|&step| step > 0) {
            let mut stepped = axis.stepped(index..extent, step).unwrap();
            assert_eq!(stepped.next().map(|cut| cut.chunk), Some(chunk));
            let left = stepped.remaining();
            stepped.skip_parts(left.saturating_sub(1));
            assert_eq!(stepped.count(), usize::from(left > 0));
        }
    }
    assert_eq!(axis.edge_gcd() == 0, extent == 0);
    assert_eq!(axis.runs().next().is_none(), axis.declared() == 0);
    _ = axis.to_rectilinear().to_regular();
}
