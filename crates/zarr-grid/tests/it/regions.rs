//! Regions, their chunks and the parts.

use crate::naive::{Naive, Random, partitions};
use zarr_grid::{Axis, Chunks, Cut, Grid, GridError};

#[test]
fn every_range_of_every_partition_is_cut_as_by_a_walk() {
    for naive in partitions(10, 2) {
        let axis = naive.axis();
        for start in 0..=naive.extent {
            for end in start..=naive.extent {
                let walked = naive.cuts(start, end);
                let cuts = axis.cuts(start..end).unwrap();
                assert_eq!(cuts.remaining(), walked.len() as u64);
                assert_eq!(cuts.size_hint(), (walked.len(), Some(walked.len())));
                assert_eq!(cuts.collect::<Vec<_>>(), walked, "{naive:?} {start}..{end}");
            }
        }
    }
}

#[test]
fn random_ranges_are_cut_as_by_a_walk_from_any_part_on() {
    let mut random = Random(8);
    for _ in 0..100 {
        let naive = random.axis();
        let axis = naive.axis();
        let start = random.below(naive.extent + 1);
        let end = start + random.below(naive.extent - start + 1);
        let walked = naive.cuts(start, end);
        let cuts = axis.cuts(start..end).unwrap();
        for skip in 0..=walked.len() {
            let mut late = cuts.clone();
            assert_eq!(late.nth(skip), walked.get(skip).copied());
            assert!(late.eq(walked.iter().copied().skip(skip + 1)));
        }
    }
}

/// One part, as owned values: a cut for each axis.
type Part = Vec<Cut>;

fn collect(mut chunks: Chunks<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    while let Some(part) = chunks.next_part() {
        let axes = 0..part.chunk.len();
        let mut cuts: Vec<Cut> = axes
            .map(|d| Cut {
                chunk: part.chunk[d],
                edge: part.chunk_shape[d],
                in_chunk: part.in_chunk[d],
                in_region: part.in_region[d],
                len: part.shape[d],
                is_whole: false,
            })
            .collect();
        if part.is_whole() {
            cuts.iter_mut().for_each(|cut| cut.is_whole = true);
        }
        parts.push(cuts);
    }
    assert!(chunks.is_empty());
    parts
}

/// The product of the walks of each axis, the last one fastest.
fn product(axes: &[(Naive, u64, u64)]) -> Vec<Part> {
    let mut parts: Vec<Part> = vec![Vec::new()];
    for (naive, start, end) in axes {
        let cuts = naive.cuts(*start, *end);
        parts = parts
            .iter()
            .flat_map(|part| cuts.iter().map(|cut| [&part[..], &[*cut]].concat()))
            .collect();
    }
    for part in &mut parts {
        let whole = part.iter().all(|cut| cut.is_whole);
        part.iter_mut().for_each(|cut| cut.is_whole = whole);
    }
    parts
}

#[test]
fn regions_are_the_product_of_their_axes_in_c_order() {
    let mut random = Random(9);
    for round in 0..300 {
        let rank = round % 6;
        let axes: Vec<(Naive, u64, u64)> = (0..rank)
            .map(|_| {
                let sum = 1 + random.below(12);
                let edges = crate::naive::compositions(sum);
                let edges = edges[random.below(edges.len() as u64) as usize].clone();
                let naive = Naive::new(random.below(sum + 1), edges);
                let start = random.below(naive.extent + 1);
                let end = start + random.below((naive.extent - start).min(6) + 1);
                (naive, start, end)
            })
            .collect();
        let grid = Grid::new(axes.iter().map(|(naive, ..)| naive.axis()).collect::<Vec<_>>());
        let region: Vec<_> = axes.iter().map(|&(_, start, end)| start..end).collect();
        let chunks = grid.chunks(&region).unwrap();
        let expected = product(&axes);
        assert_eq!(chunks.len(), expected.len() as u64);
        assert_eq!(collect(chunks.clone()), expected);

        // Any range of them, from the start and from the middle of a walk.
        let total = chunks.len();
        let mut begun = chunks.clone();
        let skipped = random.below(total + 1);
        for _ in 0..skipped {
            begun.next_part();
        }
        for _ in 0..4 {
            let a = random.below(total + 1);
            let b = a + random.below(total - a + 2);
            let place = |n: u64| n.min(total) as usize;
            assert_eq!(collect(chunks.range(a..b)), expected[place(a)..place(b)]);
            let (a, b) = (a + skipped, b + skipped);
            let rest = begun.range(a - skipped..b - skipped);
            assert_eq!(collect(rest), expected[place(a)..place(b)]);
        }
        let (first, second) = chunks.split();
        assert!(first.len().abs_diff(second.len()) <= 1);
        assert_eq!([collect(first), collect(second)].concat(), expected);
    }
}

#[test]
fn far_parts_of_a_huge_region_are_a_look_up_away() {
    let axis = Axis::from_runs(1 << 62, crate::naive::runs(&[(1, 1 << 61), (2, 1 << 60)])).unwrap();
    let grid = Grid::new([axis]);
    let all = grid.all_chunks().unwrap();
    assert_eq!(all.len(), (1 << 61) + (1 << 60));
    let mut last = all.range(all.len() - 1..u64::MAX);
    let part = last.next_part().unwrap();
    assert_eq!((part.chunk[0], part.in_region[0]), ((1 << 61) + (1 << 60) - 1, (1 << 62) - 2));
    assert!(last.next_part().is_none());
}

#[test]
fn ranges_outside_of_the_extent_are_errors() {
    let grid = Grid::new([Axis::regular(9, 3).unwrap(), Axis::from_edges(6, [4, 4, 4]).unwrap()]);
    #[expect(clippy::reversed_empty_ranges, reason = "what a caller may well pass")]
    let backwards = 4..2;
    for (region, start, end) in [([0..9, 0..7], 0, 7), ([0..9, backwards], 4, 2)] {
        assert_eq!(
            grid.chunks(&region).unwrap_err(),
            GridError::RangeOutOfBounds { start, end, extent: 6 }.on_axis(1)
        );
    }
    assert!(grid.chunks(&[]).is_err());
    assert!(grid.chunks(&[9..9, 0..6]).unwrap().is_empty());
}
