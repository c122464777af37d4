//! Dask tuples, regular and rectilinear.

use crate::naive::{Naive, partitions, runs};
use zarr_grid::{Axis, AxisKind, Grid, GridErrorKind};

#[test]
fn every_partition_gives_dask_its_clipped_lengths() {
    for naive in partitions(9, 2) {
        let axis = naive.axis();
        let lengths: Vec<u64> = axis.dask_lengths().collect();
        let mut walked: Vec<u64> =
            naive.parts(0, naive.extent, 1).iter().map(|part| part.len()).collect();
        if naive.extent == 0 {
            walked.push(0); // as `dask.array.zeros(0).chunks` has it
        }
        assert_eq!(lengths, walked);
        assert_eq!(lengths.iter().sum::<u64>(), naive.extent);

        // Back again: the same elements in the same chunks.
        let back = Axis::from_dask(&lengths).unwrap();
        assert_eq!(back.extent(), naive.extent);
        assert!(back.dask_lengths().eq(lengths.iter().copied()));
        let regular = match lengths.split_last() {
            Some((last, before)) if *last > 0 => {
                let edge = before.first().unwrap_or(last);
                before.iter().all(|length| length == edge) && last <= edge
            }
            _ => false,
        };
        assert_eq!(matches!(back.kind(), AxisKind::Regular { .. }), regular);
    }
    let empty = Axis::from_edges(0, []).unwrap();
    assert_eq!(Axis::from_dask(&[]), Ok(empty.clone()));
    assert_eq!(Axis::from_dask(&[0]), Ok(empty));
    // An empty axis with declared chunks has no other length.
    assert!(Axis::regular(0, 4).unwrap().dask_lengths().eq([0]));
    assert_eq!(Axis::from_dask(&[0, 0]), Err(GridErrorKind::ZeroEdge { position: 0 }.into()));
    assert_eq!(Axis::from_dask(&[4, 0]), Err(GridErrorKind::ZeroEdge { position: 1 }.into()));
    assert_eq!(Axis::from_dask(&[u64::MAX, 1]), Err(GridErrorKind::EdgeOverflow.into()));
    // Padding the last chunk would pass u64: a list.
    let wide = Axis::from_dask(&[(1 << 63) + 1, 5]).unwrap();
    assert_eq!(wide.kind(), AxisKind::Rectilinear);
    let grid = Grid::from_dask(&[vec![4, 4, 2], vec![1, 2]]).unwrap();
    assert_eq!((grid.shape(), grid.regular_chunk_shape()), (&[10, 3][..], None));
    assert_eq!(
        Grid::from_dask(&[[1, 1], [1, 0]]),
        Err(GridErrorKind::ZeroEdge { position: 1 }.on_axis(1))
    );
    let grid = Grid::from_dask(&[[1], [0]]).unwrap();
    assert_eq!((grid.shape(), grid.occupied()), (&[1, 0][..], &[1, 0][..]));
}

#[test]
fn sd_09_only_equal_edges_that_just_cover_the_extent_convert_and_without_loss() {
    for naive in partitions(9, 4) {
        let list = naive.axis();
        assert_eq!(list.to_rectilinear(), list);
        match list.to_regular() {
            Some(regular) => {
                assert_eq!(regular.to_rectilinear(), list);
                assert_eq!(regular.declared(), list.declared());
            }
            None => {
                let edge = naive.edges.first().copied().unwrap_or(1);
                let equal = naive.edges.iter().all(|&other| other == edge);
                let just = naive.edges.len() as u64 == naive.extent.div_ceil(edge);
                assert!(!equal || !just || naive.edges.is_empty());
            }
        }
    }
    for (extent, edge) in (0..20).flat_map(|extent| (1..9).map(move |edge| (extent, edge))) {
        let regular = Axis::regular(extent, edge).unwrap();
        let list = regular.to_rectilinear();
        assert_eq!(list.declared(), regular.declared());
        let back = (extent > 0).then(|| regular.clone());
        assert_eq!(list.to_regular(), back);
        assert_eq!(regular.to_regular(), Some(regular));
    }
    let grid = Grid::regular(&[10, 10], &[3, 5]).unwrap();
    assert_eq!(grid.to_rectilinear().to_regular().as_ref(), Some(&grid));
    assert!(!grid.to_rectilinear().axes().contains(&grid.axes()[0]));
}

#[test]
fn sd_04_writing_keeps_what_was_declared() {
    // [4, 4, 4] on extent 6 declares three chunks; as the integer 4 it would declare two.
    let list = Naive::new(6, [4, 4, 4]).axis();
    assert!(list.runs().eq(runs(&[(4, 3)])));
    assert_eq!(list.kind(), AxisKind::Rectilinear);
}
