//! Regions, their chunks and the parts.

use crate::naive::{Naive, Random, partitions};
use zarr_grid::{Axis, AxisPart, ChunkParts, Grid, GridErrorKind};

#[test]
fn every_range_of_every_partition_is_cut_as_by_a_walk() {
    for naive in partitions(10, 2) {
        let axis = naive.axis();
        for start in 0..=naive.extent {
            for end in start..=naive.extent {
                let walked = naive.parts(start, end, 1);
                let selected = axis.select(&(start..end).into()).unwrap();
                assert_eq!((selected.len(), selected.is_empty()), (end - start, start == end));
                let parts = selected.parts();
                assert_eq!(parts.remaining(), walked.len() as u64);
                assert_eq!(parts.size_hint(), (walked.len(), Some(walked.len())));
                assert_eq!(parts.collect::<Vec<_>>(), walked, "{naive:?} {start}..{end}");
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
        let walked = naive.parts(start, end, 1);
        let selected = axis.select(&(start..end).into()).unwrap();
        for skip in 0..=walked.len() {
            let mut late = selected.parts();
            assert_eq!(late.nth(skip), walked.get(skip).copied());
            assert!(late.eq(walked.iter().copied().skip(skip + 1)));
        }
    }
}

/// One part: that of each axis, and whether all are whole.
type Part<'s> = (Vec<AxisPart<'s>>, bool);

fn collect(chunks: ChunkParts<'_>) -> Vec<Part<'_>> {
    let mut lent = chunks.clone();
    let parts = chunks.map(|part| {
        assert_eq!(lent.next_part(), Some(&part));
        assert!(part.axes().iter().map(|axis| axis.chunk).eq(part.chunk().iter().copied()));
        assert!(part.axes().iter().map(|axis| axis.edge).eq(part.chunk_shape().iter().copied()));
        (part.axes().to_vec(), part.is_whole())
    });
    let parts = parts.collect();
    assert!(lent.is_empty() && lent.next_part().is_none());
    parts
}

/// The product of the walks of each axis, the last one fastest.
fn product(axes: &[(Naive, u64, u64)]) -> Vec<Part<'static>> {
    let mut parts: Vec<Part<'static>> = vec![(Vec::new(), true)];
    for (naive, start, end) in axes {
        let walked = naive.parts(*start, *end, 1);
        let with = |(part, whole): &Part<'static>, axis: &AxisPart<'static>| {
            ([&part[..], &[*axis]].concat(), *whole && axis.is_whole)
        };
        parts =
            parts.iter().flat_map(|part| walked.iter().map(move |axis| with(part, axis))).collect();
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
            begun.next();
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
        let mut late = chunks.clone();
        assert_eq!(late.size_hint(), (expected.len(), Some(expected.len())));
        let number = random.below(total + 2) as usize;
        let part = late.nth(number).map(|part| (part.axes().to_vec(), part.is_whole()));
        assert_eq!(part, expected.get(number).cloned());
        assert_eq!(collect(late), expected[(number + 1).min(expected.len())..]);
    }
}

#[test]
fn far_parts_of_a_huge_region_are_a_look_up_away() {
    let axis = Axis::from_runs(1 << 62, crate::naive::runs(&[(1, 1 << 61), (2, 1 << 60)])).unwrap();
    let grid = Grid::new([axis]);
    let all = grid.all_chunks().unwrap();
    assert_eq!(all.len(), (1 << 61) + (1 << 60));
    let mut last = all.range(all.len() - 1..u64::MAX);
    let part = last.next().unwrap();
    let place = part.axes()[0].in_selection();
    assert_eq!((part.chunk()[0], place.start), ((1 << 61) + (1 << 60) - 1, (1 << 62) - 2));
    assert!(last.next().is_none());
}

#[test]
fn ranges_outside_of_the_extent_are_errors() {
    let grid = Grid::new([Axis::regular(9, 3).unwrap(), Axis::from_edges(6, [4, 4, 4]).unwrap()]);
    #[expect(clippy::reversed_empty_ranges, reason = "what a caller may well pass")]
    let backwards = 4..2;
    for (region, start, end) in [([0..9, 0..7], 0, 7), ([0..9, backwards], 4, 2)] {
        assert_eq!(
            grid.chunks(&region).unwrap_err(),
            GridErrorKind::RangeOutOfBounds { start, end, extent: 6 }.on_axis(1)
        );
    }
    assert!(grid.chunks(&[]).is_err());
    assert!(grid.chunks(&[9..9, 0..6]).unwrap().is_empty());
}
