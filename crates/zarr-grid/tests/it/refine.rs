//! Refinement, coarsening, alignment, grouping.

use crate::naive::{Naive, Random, partitions, runs};
use zarr_grid::{Axis, AxisKind, Grid, GridError, GridErrorKind};

/// The axis with these boundaries inside of the extent and its last edge ending at `end`.
fn from_bounds(extent: u64, bounds: &[u64], end: u64) -> Axis {
    let ends = bounds.iter().copied().chain((extent > 0).then_some(end));
    let mut last = 0;
    let edges: Vec<u64> = ends.map(|bound| bound - std::mem::replace(&mut last, bound)).collect();
    Naive::new(extent, edges).axis()
}

fn occupied_end(naive: &Naive) -> u64 {
    naive.edges[..naive.occupied() as usize].iter().sum()
}

fn check(a: &Naive, b: &Naive) {
    let (left, right) = (a.axis(), b.axis());
    let (ours, theirs) = (a.inner_bounds(), b.inner_bounds());
    let ends = [occupied_end(a), occupied_end(b)];
    let union = ours.iter().all(|bound| theirs.contains(bound));
    assert_eq!(left.is_union_of(&right), Ok(union), "{a:?} {b:?}");

    let mut either = [&ours[..], &theirs].concat();
    either.sort_unstable();
    either.dedup();
    let finer = left.common_refinement(&right, 1 << 20).unwrap();
    assert_eq!(finer, from_bounds(a.extent, &either, ends[0].min(ends[1])), "{a:?} {b:?}");
    assert!(left.is_union_of(&finer).unwrap() && right.is_union_of(&finer).unwrap());

    let both: Vec<u64> = ours.iter().copied().filter(|bound| theirs.contains(bound)).collect();
    let coarser = left.common_coarsening(&right).unwrap();
    assert_eq!(coarser, from_bounds(a.extent, &both, ends[0].max(ends[1])), "{a:?} {b:?}");

    let mut start = 0;
    for overlap in left.overlaps(&right).unwrap() {
        assert_eq!(overlap.start, start);
        for index in start..start + overlap.len {
            let offset = index - start;
            for (naive, axis) in [(a, 0), (b, 1)] {
                let local = overlap.in_chunks[axis] + offset;
                assert_eq!(naive.chunk_of(index), Some((overlap.chunks[axis], local)));
            }
        }
        start += overlap.len;
        assert!(start == a.extent || either.contains(&start));
    }
    assert_eq!(start, a.extent);
}

#[test]
fn every_pair_of_partitions_compares_as_by_a_walk() {
    // All pairs up to 10 take minutes: `cargo xtask exhaustive`.
    let exhaustive = std::env::var_os("ZARR_KIT_EXHAUSTIVE").is_some();
    let (most, overflow) = if exhaustive { (10, 2) } else { (7, 2) };
    for extent in 0..=most {
        let of_extent = |naive: &Naive| naive.extent == extent;
        let some: Vec<Naive> = partitions(most, overflow).filter(of_extent).collect();
        for a in &some {
            for b in &some {
                check(a, b);
            }
        }
    }
}

/// The other way round: every partition up to 10, with those that have the most structure.
#[test]
fn every_partition_up_to_10_compares_with_every_regular_one() {
    for naive in partitions(10, 1) {
        for edge in 1..=6 {
            let count = naive.extent.div_ceil(edge) as usize;
            let other = Naive::new(naive.extent, vec![edge; count]);
            check(&naive, &other);
            check(&other, &naive);
        }
    }
}

#[test]
fn random_pairs_compare_as_by_a_walk() {
    let mut random = Random(16);
    for _ in 0..600 {
        let (mut a, mut b) = (random.axis(), random.axis());
        // Long runs on both sides, so that progressions meet.
        for naive in [&mut a, &mut b] {
            let long = 1 + random.below(12);
            let count = random.below(60);
            naive.edges.splice(0..0, (0..count).map(|_| long));
        }
        let extent = a.edges.iter().sum::<u64>().min(b.edges.iter().sum());
        (a.extent, b.extent) = (extent, extent);
        check(&a, &b);
    }
}

#[test]
fn regular_axes_stay_regular() {
    for (extent, a, b) in
        (0..=40).flat_map(|e| (1..9).flat_map(move |a| (1..9).map(move |b| (e, a, b))))
    {
        let (left, right) = (Axis::regular(extent, a).unwrap(), Axis::regular(extent, b).unwrap());
        for result in
            [left.common_coarsening(&right).unwrap(), left.common_refinement(&right, 1000).unwrap()]
        {
            let regular = matches!(result.kind(), AxisKind::Regular { .. });
            assert_eq!(regular, result.regular_edge().is_some());
        }
    }
}

#[test]
fn hostile_axes_compare_in_a_step_for_each_run() {
    let extent = 1 << 62;
    let axis = |edges: &[(u64, u64)]| Axis::from_runs(extent, runs(edges)).unwrap();
    let (twos, threes) = (axis(&[(2, 1 << 61)]), axis(&[(3, 1 << 61)]));
    let sixes = axis(&[(6, 1 << 60)]);
    assert_eq!(sixes.is_union_of(&twos), Ok(true));
    assert_eq!(twos.is_union_of(&threes), Ok(false));
    let coarse = twos.common_coarsening(&threes).unwrap();
    assert!(coarse.runs().count() <= 2 && coarse.edge(0) == Some(6));
    assert!(coarse.is_union_of(&twos).unwrap() && coarse.is_union_of(&threes).unwrap());
    assert_eq!(twos.common_refinement(&sixes, 2).unwrap(), twos);
    assert_eq!(
        twos.common_refinement(&threes, 1000),
        Err(GridErrorKind::TooManyRuns { limit: 1000 }.into())
    );
    // Half an edge apart: runs that merge endlessly unless they are one run.
    let shifted = axis(&[(1, 1), (2, 1 << 61)]);
    assert_eq!(twos.common_refinement(&shifted, 2).unwrap().edge(77), Some(1));
    // A large edge holds many small ones that do not fit it.
    let large = axis(&[(1 << 60, 4)]);
    assert_eq!(large.common_refinement(&threes, 16).unwrap().runs().count(), 8);
    // The least common multiple exceeds u64.
    let primes = [(1 << 61) - 1, (1 << 61) - 3].map(|edge| axis(&[(edge, 4)]));
    assert_eq!(primes[0].common_coarsening(&primes[1]).unwrap().occupied(), 1);
    assert_eq!(primes[0].is_union_of(&primes[1]), Ok(false));
}

#[test]
fn extreme_edges_compare_without_overflow() {
    let mut extremes = vec![1, 2, 3, 5, 792_352_068_029_840_640, 18_374_686_569_916_399_615];
    for bit in [31, 32, 33, 62, 63] {
        extremes.extend([(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
    }
    extremes.extend([u64::MAX - 1, u64::MAX]);
    let mut compared = 0;
    for &extent in &extremes {
        let regular = extremes.iter().filter_map(|&edge| Axis::regular(extent, edge).ok());
        // The same after one more edge, so that progressions start at different places.
        let shifted = extremes.iter().filter_map(|&edge| {
            let (first, rest) = (extent / 3 + 1, extent - extent / 3);
            let count = rest.div_ceil(edge);
            Axis::from_runs(extent, runs(&[(first, 1), (edge, count)])).ok()
        });
        let axes: Vec<Axis> = regular.chain(shifted).collect();
        for a in &axes {
            for b in &axes {
                let coarse = a.common_coarsening(b).unwrap();
                assert!(coarse.is_union_of(a).unwrap() && coarse.is_union_of(b).unwrap());
                if let Ok(fine) = a.common_refinement(b, 50) {
                    assert!(a.is_union_of(&fine).unwrap() && b.is_union_of(&fine).unwrap());
                }
                for &limit in &extremes {
                    assert!(a.grouped(limit, Some(b)).unwrap().is_union_of(a).unwrap());
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 1000);
}

#[test]
fn other_extents_are_errors() {
    let (a, b) = (Axis::regular(4, 2).unwrap(), Axis::regular(5, 2).unwrap());
    let error = GridError::from(GridErrorKind::ExtentMismatch { left: 4, right: 5 });
    assert_eq!(a.is_union_of(&b), Err(error.clone()));
    assert_eq!(a.common_coarsening(&b), Err(error.clone()));
    assert_eq!(a.common_refinement(&b, 9), Err(error.clone()));
    assert_eq!(a.overlaps(&b).map(|_| ()), Err(error.clone()));
    assert_eq!(a.grouped(9, Some(&b)), Err(error.clone()));
    let (a, b) = (Grid::new([a]), Grid::new([b]));
    assert_eq!(a.is_union_of(&b), Err(error.clone().on_axis(0)));
    assert_eq!(a.common_coarsening(&b), Err(error.clone().on_axis(0)));
    assert_eq!(a.common_refinement(&b, 9), Err(error.clone().on_axis(0)));
    assert_eq!(a.grouped(9, Some(&b)), Err(error.on_axis(0)));
    assert!(a.is_union_of(&Grid::new([])).is_err());
    assert!(a.grouped(9, Some(&Grid::new([]))).is_err());
}

/// Groups from the definition: as long as allowed, with at least one chunk.
fn greedy(edges: &[u64], limit: u64) -> Vec<u64> {
    let mut groups: Vec<u64> = Vec::new();
    let mut open = false;
    for &edge in edges {
        match groups.last_mut() {
            Some(group) if open && *group + edge <= limit => *group += edge,
            _ => groups.push(edge),
        }
        open = true;
    }
    groups
}

#[test]
fn every_partition_groups_as_by_the_book() {
    for naive in partitions(9, 2) {
        let axis = naive.axis();
        let occupied = &naive.edges[..naive.occupied() as usize];
        for limit in 0..=11 {
            let expected = Naive::new(naive.extent, greedy(occupied, limit)).axis();
            assert_eq!(axis.grouped(limit, None), Ok(expected), "{naive:?} {limit}");
        }
    }
}

#[test]
fn random_axes_group_as_by_the_book() {
    let mut random = Random(17);
    for _ in 0..400 {
        let naive = random.axis();
        let occupied = &naive.edges[..naive.occupied() as usize];
        let limit = random.below(200);
        let expected = Naive::new(naive.extent, greedy(occupied, limit)).axis();
        assert_eq!(naive.axis().grouped(limit, None), Ok(expected));
    }
}

#[test]
fn groups_with_a_source_own_whole_chunks_and_meet_it_where_they_can() {
    let mut random = Random(18);
    let some: Vec<Naive> = partitions(8, 1).filter(|naive| naive.extent == 8).collect();
    let long: Vec<Naive> = (0..40)
        .map(|_| {
            let mut naive = random.axis();
            naive.edges.push(2000);
            naive.extent = 400;
            naive
        })
        .collect();
    for pieces in [&some, &long] {
        for target in pieces {
            for source in pieces.iter().step_by(3) {
                for limit in [1, 3, 4, 6, 8, 50] {
                    let groups = target.axis().grouped(limit, Some(&source.axis())).unwrap();
                    assert_eq!(groups.is_union_of(&target.axis()), Ok(true));
                    let shared: Vec<u64> = std::iter::once(0)
                        .chain(target.inner_bounds())
                        .filter(|&b| b == 0 || source.inner_bounds().contains(&b))
                        .chain([target.extent])
                        .collect();
                    for group in 0..groups.occupied() {
                        let range = groups.clipped(group).unwrap();
                        let single = target.axis().chunks_in(range.clone()).unwrap();
                        let len = range.end - range.start;
                        assert!(len <= limit || single.end - single.start == 1);
                        // A group that breaks a source chunk lies where shared boundaries are
                        // too far apart.
                        let before = *shared.iter().rfind(|&&b| b <= range.start).unwrap();
                        let after = *shared.iter().find(|&&b| b >= range.end).unwrap();
                        let meets = before == range.start && after == range.end;
                        let apart = shared.windows(2).any(|pair| {
                            pair[0] < range.end
                                && pair[1] > range.start
                                && pair[1] - pair[0] > limit
                                || pair[1] == target.extent
                        });
                        assert!(meets || apart, "{target:?} {source:?} {limit} {range:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn regular_targets_and_sources_group_in_one_step() {
    let regular = |extent, edge| Axis::regular(extent, edge).unwrap();
    let extent = 1 << 60;
    let tasks = regular(extent, 4).grouped(50, Some(&regular(extent, 6))).unwrap();
    assert_eq!(tasks, regular(extent, 48));
    assert_eq!(regular(extent, 4).grouped(50, None), Ok(regular(extent, 48)));
    // Shared boundaries every 12, more than the limit: the source is ignored.
    let tasks = regular(extent, 4).grouped(9, Some(&regular(extent, 6))).unwrap();
    assert_eq!((tasks.edge(0), tasks.runs().count() < 5), (Some(8), true));
}

#[test]
fn tasks_of_a_grid_stay_within_the_budget() {
    let mut random = Random(19);
    for _ in 0..200 {
        let axes: Vec<Axis> = (0..1 + random.below(3)).map(|_| random.axis().axis()).collect();
        let grid = Grid::new(axes);
        let bits = random.below(20);
        let budget = 1 + random.below(1 << bits);
        let tasks = grid.grouped(budget, None).unwrap();
        assert_eq!(tasks.is_union_of(&grid), Ok(true));
        let largest: u64 = tasks.axes().iter().map(Axis::max_edge).product();
        let chunk: u64 = grid.axes().iter().map(Axis::max_edge).product();
        assert!(largest <= budget.max(chunk), "{largest} {budget} {chunk}");
    }
    let huge = Grid::regular(&[1 << 40; 3], &[1 << 30; 3]).unwrap();
    assert_eq!(huge.grouped(1, None).unwrap(), huge);
}
