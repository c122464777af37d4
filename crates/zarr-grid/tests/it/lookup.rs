//! Index to chunk and back, counts, edges.

use crate::naive::{Naive, Random, partitions, runs};
use zarr_grid::{Axis, AxisKind, Grid, GridErrorKind, Growth, Run};

/// All answers of an axis, compared with the walk.
fn check(naive: &Naive, axis: &Axis) {
    let spans = naive.spans();
    assert_eq!(axis.extent(), naive.extent);
    assert_eq!(axis.declared(), spans.len() as u64);
    assert_eq!(axis.occupied(), naive.occupied());
    assert_eq!(axis.declared_end(), naive.edges.iter().sum::<u64>());
    for index in 0..=naive.extent {
        assert_eq!(axis.chunk_of(index), naive.chunk_of(index), "{naive:?} {index}");
    }
    for (chunk, &(start, edge)) in spans.iter().enumerate() {
        let chunk = chunk as u64;
        assert_eq!(axis.start(chunk), Some(start));
        assert_eq!(axis.edge(chunk), Some(edge));
        let clipped = (start < naive.extent).then(|| start..naive.extent.min(start + edge));
        assert_eq!(axis.clipped(chunk), clipped);
    }
    let past = spans.len() as u64;
    assert_eq!((axis.start(past), axis.edge(past), axis.clipped(past)), (None, None, None));

    let occupied = &naive.edges[..naive.occupied() as usize];
    let mut distinct = occupied.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(axis.distinct_edges(), distinct);
    assert_eq!(axis.max_edge(), distinct.last().copied().unwrap_or(0));

    let expanded: Vec<u64> =
        axis.runs().flat_map(|run| (0..run.count).map(move |_| run.edge)).collect();
    assert_eq!(expanded, naive.edges);
    assert!(axis.runs().zip(axis.runs().skip(1)).all(|(a, b)| a.edge != b.edge));
    let regular = match naive.edges.as_slice() {
        [edge, rest @ ..] if rest.iter().all(|other| other == edge) => {
            (spans.len() as u64 == naive.extent.div_ceil(*edge)).then_some(*edge)
        }
        _ => None,
    };
    assert_eq!(axis.regular_edge(), regular, "{naive:?}");
}

#[test]
fn every_partition_agrees_with_a_walk() {
    for naive in partitions(10, 4) {
        check(&naive, &naive.axis());
    }
}

#[test]
fn random_axes_agree_with_a_walk() {
    let mut random = Random(6);
    for _ in 0..500 {
        let naive = random.axis();
        check(&naive, &naive.axis());
    }
}

#[test]
fn how_a_list_is_written_makes_no_difference() {
    let mut random = Random(7);
    for _ in 0..300 {
        let naive = random.axis();
        let mut written: Vec<Run> = Vec::new();
        for &edge in &naive.edges {
            match written.last_mut() {
                Some(last) if last.edge == edge && random.below(4) > 0 => last.count += 1,
                _ => written.push(Run { edge, count: 1 }),
            }
        }
        assert_eq!(Axis::from_runs(naive.extent, written).unwrap(), naive.axis());
    }
}

#[test]
fn every_regular_axis_agrees_with_a_walk() {
    for extent in 0..=12 {
        for edge in 1..=14 {
            let axis = Axis::regular(extent, edge).unwrap();
            let naive = Naive::new(extent, vec![edge; extent.div_ceil(edge) as usize]);
            if extent > 0 {
                check(&naive, &axis);
            }
            assert_eq!(axis.declared(), axis.occupied());
            assert_eq!(axis.max_edge(), if extent > 0 { edge } else { 0 });
            assert_eq!(axis.kind(), AxisKind::Regular { edge });
            assert_eq!(axis.regular_edge(), Some(edge));
        }
    }
}

#[test]
fn sd_01_a_boundary_belongs_to_the_chunk_after_it() {
    let axis = Axis::from_edges(5, [2, 3]).unwrap();
    assert_eq!(axis.chunk_of(1), Some((0, 1)));
    assert_eq!(axis.chunk_of(2), Some((1, 0)));
}

#[test]
fn sd_02_the_sum_before_the_resolved_chunk_is_subtracted() {
    // With the axis number in its place, as the text says, axis 0 would subtract nothing.
    let axes = [[2, 3, 4], [4, 3, 2]].map(|edges| Axis::from_edges(9, edges).unwrap());
    let (mut chunk, mut local) = ([0; 2], [0; 2]);
    Grid::new(axes).locate(&[8, 8], &mut chunk, &mut local).unwrap();
    assert_eq!((chunk, local), ([2, 2], [3, 1]));
}

#[test]
fn sd_03_both_examples_hold_once_the_axes_are_named() {
    let grid = |edges: [[u64; 2]; 2]| {
        Grid::new(edges.map(|edges| Axis::from_edges(edges.iter().sum(), edges).unwrap()))
    };
    let (mut chunk, mut local) = ([0; 2], [0; 2]);
    grid([[24, 14], [16, 10]]).locate(&[36, 15], &mut chunk, &mut local).unwrap();
    assert_eq!((chunk, local), ([1, 0], [12, 15]));

    let upstream = grid([[16, 10], [24, 14]]);
    upstream.locate(&[20, 15], &mut chunk, &mut local).unwrap();
    assert_eq!((chunk, local), ([1, 0], [4, 15]));
    let mut shape = [0; 2];
    upstream.chunk_shape(&[0, 1], &mut shape).unwrap();
    assert_eq!(shape, [16, 14]);
}

#[test]
fn sd_04_an_integer_stays_one_and_a_list_a_list() {
    let integer = Axis::regular(6, 4).unwrap();
    let list = Axis::from_edges(6, [4, 4]).unwrap();
    assert_eq!(integer.kind(), AxisKind::Regular { edge: 4 });
    assert_eq!(list.kind(), AxisKind::Rectilinear);
    assert_ne!(integer, list);
    assert_eq!((integer.declared(), list.declared()), (2, 2));
    let empty = Axis::regular(0, 4).unwrap();
    assert_eq!((empty.declared(), empty.occupied(), empty.edge(0)), (0, 0, None));
}

#[test]
fn sd_05_declared_and_occupied_are_two_numbers() {
    let axis = Axis::from_edges(6, [4, 4, 4]).unwrap();
    assert_eq!((axis.declared(), axis.occupied()), (3, 2));
    // Stored at its full extent, never clipped.
    assert_eq!((axis.edge(1), axis.clipped(1)), (Some(4), Some(4..6)));
    assert_eq!((axis.edge(2), axis.clipped(2)), (Some(4), None));
    let axis = Axis::from_edges(6, [4, 4, 5]).unwrap();
    assert_eq!(axis.distinct_edges(), [4]);
    let short = Err(GridErrorKind::EdgesTooShort { sum: 5, extent: 6 }.into());
    assert_eq!(Axis::from_edges(6, [4, 1]), short);
}

#[test]
fn the_longest_edge_is_that_of_the_occupied_chunks() {
    let wide = 1 << 33;
    let lists: [&[(u64, u64)]; 3] = [
        &[(2, 1), (3, 1), (1, 1), (9, 1)],
        &[(2, 20), (3, 1), (1, 30), (9, 50)],
        &[(2, 1), (wide, 1), (1, 1), (wide + 1, 1)],
    ];
    for list in lists {
        let mut start = 0;
        let mut longest = 0;
        let axis = Axis::from_runs(0, runs(list)).unwrap();
        assert_eq!(axis.max_edge(), 0);
        for (edge, count) in list {
            longest = longest.max(*edge);
            let end = start + edge * count;
            for extent in [start + 1, end] {
                let axis = axis.resized(extent, Growth::RepeatLast).unwrap();
                assert_eq!(axis.max_edge(), longest, "{list:?} {extent}");
            }
            start = end;
        }
        let grown = axis.resized(start + 1, Growth::Edges(&runs(&[(wide * 2, 1)]))).unwrap();
        assert_eq!(grown.max_edge(), wide * 2);
    }
}

#[test]
fn sd_06_no_edges_are_right_for_an_empty_axis() {
    let axis = Axis::from_edges(0, []).unwrap();
    assert_eq!((axis.declared(), axis.occupied(), axis.chunk_of(0)), (0, 0, None));
    assert_eq!(axis.distinct_edges(), []);
    assert_eq!(axis.runs().count(), 0);
    assert_eq!(
        Axis::from_edges(1, []),
        Err(GridErrorKind::EdgesTooShort { sum: 0, extent: 1 }.into())
    );
}

#[test]
fn sd_07_hostile_counts_cost_one_run() {
    let axis = Axis::from_runs(7, runs(&[(1, 1_000_000_000_000_000)])).unwrap();
    assert_eq!((axis.declared(), axis.occupied()), (1_000_000_000_000_000, 7));

    let half = 1 << 63;
    let axis = Axis::from_runs(half, runs(&[(1, half)])).unwrap();
    assert_eq!(axis.chunk_of(half - 1), Some((half - 1, 0)));
    let grid = Grid::new(vec![axis; 8]);
    assert_eq!(grid.occupied_chunks(), None);
    assert_eq!(grid.all_chunks().unwrap_err(), GridErrorKind::TooManyChunks.into());
    let (mut chunk, mut local) = ([0; 8], [1; 8]);
    grid.locate(&[half - 1; 8], &mut chunk, &mut local).unwrap();
    assert_eq!((chunk, local), ([half - 1; 8], [0; 8]));
    let mut few = grid.chunks(&[const { 10..12 }; 8]).unwrap();
    assert_eq!(few.len(), 256);
    assert_eq!(few.next().unwrap().chunk(), [10; 8]);

    // The very last index, reached by runs of different edges.
    let most = u64::MAX;
    let axis = Axis::from_runs(most, runs(&[(1, half), (3, (half - 1) / 3), (1, 1)])).unwrap();
    assert_eq!(axis.declared_end(), most);
    assert_eq!(axis.chunk_of(most - 1), Some((axis.declared() - 1, 0)));
}

#[test]
fn sd_07_sums_past_u64_are_errors() {
    let half = 1 << 63;
    for hostile in [
        &[(half, 2)][..],
        &[(2, half)],
        &[(u64::MAX, 1), (1, 1)],
        &[(1, u64::MAX), (1, 1)],
        &[(3, 5), (u64::MAX / 2, 2)],
    ] {
        assert_eq!(
            Axis::from_runs(1, runs(hostile)),
            Err(GridErrorKind::EdgeOverflow.into()),
            "{hostile:?}"
        );
    }
    // Endless iterators end at the first edge that is too many.
    let endless = std::iter::repeat(u64::MAX / 2);
    assert_eq!(Axis::from_edges(1, endless), Err(GridErrorKind::EdgeOverflow.into()));
    assert_eq!(Axis::regular(u64::MAX, half), Err(GridErrorKind::EdgeOverflow.into()));
    assert!(Axis::regular(u64::MAX, u64::MAX).is_ok());
    assert!(Axis::regular(u64::MAX, 1).is_ok());
}

#[test]
fn sd_09_regular_only_if_equal_edges_just_cover_the_extent() {
    let edge = |extent, edges: &[u64]| {
        Axis::from_edges(extent, edges.iter().copied()).unwrap().regular_edge()
    };
    assert_eq!(edge(6, &[4, 4]), Some(4));
    assert_eq!(edge(6, &[4, 4, 4]), None);
    assert_eq!(edge(6, &[4, 2]), None);
    assert_eq!(edge(0, &[4]), None);
    assert_eq!(edge(0, &[]), None);
    let huge = Axis::from_runs(1 << 60, runs(&[(4, 1 << 58)])).unwrap();
    assert_eq!(huge.regular_edge(), Some(4));
}

#[test]
fn sd_24_distinct_edges_answer_for_every_occupied_chunk_shape() {
    let some: Vec<Naive> = partitions(6, 1).filter(|naive| naive.extent > 0).collect();
    for (a, b) in some.iter().flat_map(|a| some.iter().map(move |b| (a, b))) {
        let axes = [a.axis(), b.axis()];
        let mut products = Vec::new();
        for &edge in &a.edges[..a.occupied() as usize] {
            for &other in &b.edges[..b.occupied() as usize] {
                products.push(edge * other);
            }
        }
        // All chunks have one size exactly if each axis has one distinct edge.
        let single = axes.iter().all(|axis| axis.distinct_edges().len() == 1);
        assert_eq!(products.iter().all(|product| *product == products[0]), single);
    }
}

#[test]
fn grids_go_there_and_back() {
    let axes = [
        Naive::new(6, [2, 3, 4]),
        Naive::new(5, [5]),
        Naive::new(7, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 6]),
    ];
    let grid = Grid::new(axes.each_ref().map(Naive::axis));
    assert_eq!((grid.rank(), grid.shape()), (3, &[6, 5, 7][..]));
    assert_eq!((grid.occupied(), grid.declared()), (&[3, 1, 7][..], &[3, 1, 12][..]));
    assert_eq!((grid.occupied_chunks(), grid.declared_chunks()), (Some(21), Some(36)));
    let [mut chunk, mut local, mut origin] = [[0; 3]; 3];
    for (a, b, c) in (0..6).flat_map(|a| (0..5).flat_map(move |b| (0..7).map(move |c| (a, b, c)))) {
        grid.locate(&[a, b, c], &mut chunk, &mut local).unwrap();
        for (d, position) in [a, b, c].into_iter().enumerate() {
            assert_eq!(Some((chunk[d], local[d])), axes[d].chunk_of(position));
        }
        grid.chunk_origin(&chunk, &mut origin).unwrap();
        let index: Vec<u64> =
            origin.iter().zip(local).map(|(start, local)| start + local).collect();
        assert_eq!(index, [a, b, c]);
    }
    let mut shape = [9; 3];
    grid.clipped_shape(&[2, 0, 11], &mut shape).unwrap();
    assert_eq!(shape, [1, 5, 0]);
    grid.chunk_origin(&[2, 0, 11], &mut shape).unwrap();
    assert_eq!(shape, [5, 0, 11]);
}

#[test]
fn rank_0_has_one_chunk() {
    let grid = Grid::new([]);
    assert_eq!((grid.rank(), grid.occupied_chunks()), (0, Some(1)));
    grid.locate(&[], &mut [], &mut []).unwrap();
    let mut chunks = grid.all_chunks().unwrap();
    assert_eq!(chunks.len(), 1);
    assert!(chunks.next().unwrap().is_whole());
    assert!(chunks.next().is_none());
}
