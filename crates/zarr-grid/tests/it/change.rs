//! Resizing, appending, shrinking, joining.

use crate::naive::{Naive, compositions, partitions, runs};
use zarr_grid::{Axis, AxisKind, Grid, GridErrorKind, Growth};

#[test]
fn sd_08_every_partition_resized_keeps_its_edges_and_repeats_the_last() {
    for naive in partitions(10, 3) {
        let axis = naive.axis();
        for extent in 0..=16 {
            let resized = axis.resized(extent, Growth::RepeatLast);
            let mut edges = naive.edges.clone();
            let Some(&last) = edges.last() else {
                match extent {
                    0 => assert_eq!(resized, Ok(axis.clone())),
                    _ => assert_eq!(resized, Err(GridErrorKind::NoEdgeToRepeat.into())),
                }
                continue;
            };
            while edges.iter().sum::<u64>() < extent {
                edges.push(last);
            }
            let resized = resized.unwrap();
            assert_eq!(resized, Naive::new(extent, edges).axis(), "{naive:?} {extent}");
            // Nothing declared is lost, so undoing is exact if nothing was added.
            if extent <= axis.declared_end() {
                assert_eq!(resized.resized(naive.extent, Growth::RepeatLast).unwrap(), axis);
            }
        }
    }
}

#[test]
fn sd_08_every_partition_takes_explicit_edges_past_its_end() {
    for naive in partitions(10, 2) {
        let axis = naive.axis();
        let end = naive.edges.iter().sum::<u64>();
        for added in (1..=4).flat_map(compositions) {
            let new = added.iter().map(|&edge| (edge, 1)).collect::<Vec<_>>();
            let new = runs(&new);
            for extent in 0..end + 6 {
                let resized = axis.resized(extent, Growth::Edges(&new));
                let sum = end + added.iter().sum::<u64>();
                if extent <= end {
                    assert_eq!(resized, Err(GridErrorKind::EdgesNotNeeded { end, extent }.into()));
                } else if extent > sum {
                    assert_eq!(resized, Err(GridErrorKind::EdgesTooShort { sum, extent }.into()));
                } else {
                    let edges = [&naive.edges[..], &added].concat();
                    assert_eq!(resized.unwrap(), Naive::new(extent, edges).axis());
                }
            }
        }
    }
}

#[test]
fn sd_08_an_integer_axis_needs_no_edges() {
    let axis = Axis::regular(6, 4).unwrap();
    for extent in 0..20 {
        let resized = axis.resized(extent, Growth::RepeatLast).unwrap();
        assert_eq!(resized, Axis::regular(extent, 4).unwrap());
    }
    let new = runs(&[(4, 1)]);
    assert_eq!(
        axis.resized(9, Growth::Edges(&new)),
        Err(GridErrorKind::EdgesOnRegular { edge: 4 }.into())
    );
}

#[test]
fn growth_is_a_run_and_its_sum_is_checked() {
    let axis = Axis::from_edges(2, [1, 1]).unwrap();
    let huge = axis.resized(1 << 62, Growth::RepeatLast).unwrap();
    assert_eq!((huge.declared(), huge.runs().count()), (1 << 62, 1));
    let wide = Axis::from_edges(1 << 63, [1 << 63]).unwrap();
    assert_eq!(wide.resized(u64::MAX, Growth::RepeatLast), Err(GridErrorKind::EdgeOverflow.into()));
    // Positions count the new edges, not the existing ones.
    let bad = runs(&[(1, 1), (0, 1)]);
    assert_eq!(
        axis.resized(3, Growth::Edges(&bad)),
        Err(GridErrorKind::ZeroEdge { position: 1 }.into())
    );
}

#[test]
fn every_pair_of_partitions_joins_as_a_walk_does() {
    let some: Vec<Naive> = partitions(5, 2).collect();
    for first in &some {
        for second in &some {
            let joined = Axis::concat(&[&first.axis(), &second.axis()]);
            let occupied = &first.edges[..first.occupied() as usize];
            let end = occupied.iter().sum::<u64>();
            if end != first.extent {
                let extent = first.extent;
                assert_eq!(
                    joined,
                    Err(GridErrorKind::ClippedAxis { member: 0, extent, end }.into())
                );
                continue;
            }
            let edges = [occupied, &second.edges].concat();
            let joined = joined.unwrap();
            assert_eq!(joined, Naive::new(first.extent + second.extent, edges).axis());
            for index in 0..second.extent {
                let (chunk, local) = second.chunk_of(index).unwrap();
                let moved = joined.chunk_of(first.extent + index);
                assert_eq!(moved, Some((first.occupied() + chunk, local)));
            }
        }
    }
}

#[test]
fn regular_members_of_one_edge_stay_regular() {
    let [a, b, c] = [8, 10, 8].map(|extent| Axis::regular(extent, 4).unwrap());
    assert_eq!(Axis::concat(&[&a, &c, &b]), Axis::regular(26, 4));
    assert!(Axis::concat(&[&a, &b, &c]).is_err());
    let other = Axis::regular(9, 3).unwrap();
    assert_eq!(Axis::concat(&[&a, &other]).unwrap().kind(), AxisKind::Rectilinear);
    assert_eq!(Axis::concat(&[]), Err(GridErrorKind::NothingToConcat.into()));
    let huge = Axis::regular(1 << 63, 1).unwrap();
    assert_eq!(Axis::concat(&[&huge, &huge]), Err(GridErrorKind::EdgeOverflow.into()));
}

#[test]
fn grids_resize_axis_by_axis() {
    let grid = Grid::new([Axis::from_edges(5, [2, 3]).unwrap(), Axis::regular(6, 4).unwrap()]);
    let new = runs(&[(4, 1)]);
    let resized = grid.resized(&[9, 10], &[Growth::Edges(&new), Growth::RepeatLast]).unwrap();
    assert_eq!((resized.shape(), resized.occupied()), (&[9, 10][..], &[3, 3][..]));
    let error = grid.resized(&[9, 10], &[Growth::RepeatLast, Growth::Edges(&new)]).unwrap_err();
    assert_eq!(error, GridErrorKind::EdgesOnRegular { edge: 4 }.on_axis(1));
    assert!(grid.resized(&[9], &[Growth::RepeatLast; 2]).is_err());
}
