//! Compares `zarr-grid` with a walk over every element, and tests it with numbers of any size.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use zarr_grid::{Axis, AxisPart, AxisSelection, Grid, GridErrorKind, Growth, Run};

#[derive(Debug, Arbitrary)]
enum Input {
    /// Few elements, all of them visited.
    Small { left: Small, right: Small, numbers: [u16; 5], list: Vec<u16> },
    /// Any numbers: it must answer quickly and consistently.
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
            // Each pair of chunks is visited: few runs are long.
            count: u64::from(if count < 240 { count % 6 } else { count % 40 }) + 1,
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

fn small(left: Small, right: Small, numbers: [u16; 5], list: &[u16]) {
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

    let [start, len, step, limit, grown] = numbers.map(u64::from);
    let start = start % (extent + 1);
    let end = start + len % (extent - start + 1);
    let part = &walk[start as usize..end as usize];
    let selected = axis.select(&(start..end).into()).unwrap();
    let cuts: Vec<AxisPart<'_>> = selected.parts().collect();
    assert_eq!(selected.parts().remaining(), cuts.len() as u64);
    let mut found = Vec::new();
    for cut in &cuts {
        assert_eq!(cut.edge, naive.edges[cut.chunk as usize]);
        assert_eq!(cut.in_selection().start, found.len() as u64);
        found.extend(cut.in_chunk().map(|local| (cut.chunk, local)));
    }
    assert_eq!(found, part);
    assert!(cuts.windows(2).all(|pair| pair[0].chunk < pair[1].chunk));

    let step = step % 50 + 1;
    let signed = i64::try_from(step).unwrap();
    for (step, signed) in [(step, signed), (step, -signed)] {
        let stepped = AxisSelection::Step { range: start..end, step: signed };
        let selected = axis.select(&stepped).unwrap();
        assert_eq!(selected.parts().remaining(), selected.parts().count() as u64);
        let mut count = 0;
        for cut in selected.parts() {
            for (local, at) in cut.iter() {
                let distance = (at * step) as usize;
                let place = if signed > 0 { distance } else { part.len() - 1 - distance };
                assert_eq!(part[place], (cut.chunk, local));
                assert_eq!(stepped.get(at), Some(start + place as u64));
                count += 1;
            }
        }
        assert_eq!(count, (end - start).div_ceil(step));
        assert_eq!(stepped.len(), count);
    }

    let indices: Vec<u64> = match extent {
        0 => Vec::new(),
        _ => list.iter().map(|&index| u64::from(index) % extent).collect(),
    };
    let mut seen = 0;
    for cut in axis.select(&indices.as_slice().into()).unwrap().parts() {
        for (local, at) in cut.iter() {
            assert_eq!(walk[indices[at as usize] as usize], (cut.chunk, local));
            seen += 1;
        }
    }
    assert_eq!(seen, indices.len());

    // A grid of two axes: any range of its parts equals that range of all of them.
    let (other, other_runs) = Naive::new(&right);
    let other_axis = Axis::from_runs(other.extent, other_runs).unwrap();
    let grid = Grid::new([axis.clone(), other_axis.clone()]);
    let mut all = grid.chunks(&[start..end, 0..other.extent]).unwrap();
    let skip = limit % (all.len() + 1);
    let mut late = all.range(skip..all.len());
    assert!(all.by_ref().skip(skip as usize).eq(late.by_ref()));
    assert!(all.is_empty() && late.is_empty());
    let every = AxisSelection::Step { range: 0..other.extent, step: signed };
    let selected = grid.select(&[indices.as_slice().into(), every]).unwrap();
    let elements = |axes: &[AxisPart<'_>]| axes.iter().map(AxisPart::len).product::<u64>();
    let elements: u64 = selected.parts().map(|part| elements(part.axes())).sum();
    assert_eq!(elements, selected.shape().iter().product());

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
    let grown = axis.resized(grown, repeat);
    if let Ok(grown) = grown {
        let shared = axis.declared().min(grown.declared());
        assert!((0..shared).all(|chunk| axis.edge(chunk) == grown.edge(chunk)));
    }
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
            None => assert_eq!(made, Err(GridErrorKind::EdgeOverflow.into())),
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
    if let Ok(all) = grid.all_chunks() {
        _ = all.range(d..d.saturating_add(20)).count();
    }
}

/// The answers about one index, computed in two ways.
fn agree(axis: &Axis, numbers: [u64; 6]) {
    let extent = axis.extent();
    for index in numbers.into_iter().flat_map(|n| [n, n.checked_rem(extent).unwrap_or(0)]) {
        let Some((chunk, local)) = axis.chunk_of(index) else { continue };
        assert_eq!(axis.start(chunk).unwrap() + local, index);
        assert!(local < axis.edge(chunk).unwrap() && chunk < axis.occupied());
        assert!(axis.clipped(chunk).unwrap().contains(&index));
        assert_eq!(axis.chunks_in(index..index + 1), Ok(chunk..chunk + 1));
        let whole = axis.select(&(0..extent).into()).unwrap();
        let cut = whole.parts().nth(usize::try_from(chunk).unwrap()).unwrap();
        assert_eq!((cut.chunk, Some(cut.edge)), (chunk, axis.edge(chunk)));
        for step in numbers.into_iter().map(u64::cast_signed).filter(|&step| step != 0) {
            let range = if step > 0 { index..extent } else { 0..index + 1 };
            let stepped = AxisSelection::Step { range, step };
            let selected = axis.select(&stepped).unwrap();
            let mut parts = selected.parts();
            let lowest = if step > 0 { Some(index) } else { stepped.get(stepped.len() - 1) };
            let lowest = lowest.and_then(|lowest| axis.chunk_of(lowest));
            assert_eq!(parts.next().map(|cut| cut.chunk), lowest.map(|found| found.0));
            let left = usize::try_from(parts.remaining()).unwrap();
            assert_eq!(parts.nth(left.saturating_sub(1)).is_some(), left > 0);
            assert_eq!(parts.next(), None);
        }
    }
    assert_eq!(axis.runs().next().is_none(), axis.declared() == 0);
    _ = axis.to_rectilinear().to_regular();
}
