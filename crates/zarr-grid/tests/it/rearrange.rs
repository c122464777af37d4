//! Chunks dropped and put into another order, against lists of edges.

use zarr_grid::{Axis, AxisKind, GridErrorKind};

/// Every list of up to four edges of up to three, with every extent that it covers, and regular
/// axes.
fn axes() -> Vec<Axis> {
    let mut lists = vec![vec![]];
    let mut all = Vec::new();
    for _ in 0..4 {
        let longer =
            |list: &Vec<u64>| (1..=3).map(|edge| [&list[..], &[edge]].concat()).collect::<Vec<_>>();
        lists = lists.iter().flat_map(longer).collect();
        for list in &lists {
            for extent in 0..=list.iter().sum() {
                all.push(Axis::from_edges(extent, list.iter().copied()).expect("covers it"));
            }
        }
    }
    for edge in 1..4 {
        all.extend((0..9).map(|extent| Axis::regular(extent, edge).expect("small")));
    }
    all
}

/// The stored and the clipped length of each chunk.
fn chunks(axis: &Axis) -> Vec<(u64, u64)> {
    let clipped = |chunk| axis.clipped(chunk).map_or(0, |range| range.end - range.start);
    (0..axis.occupied())
        .map(|chunk| (axis.edge(chunk).expect("declared"), clipped(chunk)))
        .collect()
}

#[test]
fn a_shift_drops_chunks_in_front() {
    for axis in axes() {
        let all = chunks(&axis);
        for count in 0..=all.len() {
            let shifted = axis.skip_chunks(count as u64).expect("there are as many");
            assert_eq!(chunks(&shifted), all[count..], "{axis:?}");
            assert_eq!(shifted.extent(), all[count..].iter().map(|chunk| chunk.1).sum::<u64>());
            let is_regular = |axis: &Axis| matches!(axis.kind(), AxisKind::Regular { .. });
            assert_eq!(is_regular(&shifted), is_regular(&axis));
            // What is declared past the end stays.
            if !is_regular(&axis) {
                assert_eq!(shifted.declared(), axis.declared() - count as u64);
            }
        }
        // Declared chunks past the extent are in no store: they do not count.
        let occupied = all.len() as u64;
        let error = GridErrorKind::NotOccupied { chunk: occupied, occupied };
        assert_eq!(axis.skip_chunks(occupied + 1), Err(error.into()), "{axis:?}");
    }
}

#[test]
fn a_permutation_takes_chunks_in_its_order() {
    for axis in axes() {
        let all = chunks(&axis);
        let count = all.len() as u64;
        let is_clipped = all.last().is_some_and(|(edge, length)| edge != length);
        for a in 0..=count {
            for b in a..=count {
                // Out of the middle, and the middle moved to the front and to the end.
                let orders =
                    [vec![0..a, b..count], vec![a..b, 0..a, b..count], vec![0..a, b..count, a..b]];
                for order in orders {
                    let numbers: Vec<u64> = order.iter().cloned().flatten().collect();
                    let expected: Vec<(u64, u64)> =
                        numbers.iter().map(|chunk| all[*chunk as usize]).collect();
                    let found = axis.take_chunks(&order);
                    let last = numbers.iter().position(|chunk| chunk + 1 == count);
                    let moves = last.is_some_and(|at| at + 1 != numbers.len());
                    if is_clipped && moves {
                        let error = found.expect_err("a part of a chunk");
                        assert!(matches!(error.kind(), GridErrorKind::ClippedAxis { .. }));
                        continue;
                    }
                    let found = found.expect("occupied chunks");
                    assert_eq!(chunks(&found), expected, "{axis:?} {order:?}");
                }
            }
        }
        let error = GridErrorKind::NotOccupied { chunk: count, occupied: count };
        assert_eq!(axis.take_chunks(&[0..0, 0..count + 1]), Err(error.into()), "{axis:?}");
    }
}
