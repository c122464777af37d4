//! Regular and rectilinear.

use crate::naive::{Naive, partitions, runs};
use zarr_grid::{Axis, AxisKind};

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
}

#[test]
fn sd_04_writing_keeps_what_was_declared() {
    // [4, 4, 4] on extent 6 declares three chunks; as the integer 4 it would declare two.
    let list = Naive::new(6, [4, 4, 4]).axis();
    assert!(list.runs().eq(runs(&[(4, 3)])));
    assert_eq!(list.kind(), AxisKind::Rectilinear);
}
