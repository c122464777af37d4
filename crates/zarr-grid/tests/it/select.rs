//! Bulk look-ups, stepped ranges, lists of indices, masks.

use crate::naive::{Naive, Random, partitions, stepped};
use zarr_grid::{Axis, AxisPart, AxisSelection, Grid, GridErrorKind, Run};

#[test]
fn bulk_look_ups_agree_with_single_ones() {
    let mut random = Random(10);
    for round in 0..200 {
        let naive = random.axis();
        if naive.extent == 0 {
            continue;
        }
        let axis = naive.axis();
        let mut indices: Vec<u64> =
            (0..random.below(60)).map(|_| random.below(naive.extent)).collect();
        if round % 2 == 0 {
            indices.sort_unstable();
        }
        let [mut chunks, mut locals] = [vec![9; indices.len()], vec![9; indices.len()]];
        axis.chunks_of(&indices, &mut chunks, &mut locals).unwrap();
        for (at, &index) in indices.iter().enumerate() {
            assert_eq!(Some((chunks[at], locals[at])), naive.chunk_of(index));
        }
        let extent = naive.extent;
        let error = axis.chunks_of(&[0, extent], &mut [0; 2], &mut [0; 2]);
        assert_eq!(error, Err(GridErrorKind::IndexOutOfBounds { index: extent, extent }.into()));
        assert!(axis.chunks_of(&[0], &mut [], &mut [0]).is_err());
    }
}

fn every(start: u64, end: u64, step: i64) -> AxisSelection {
    AxisSelection::Step { range: start..end, step }
}

#[test]
fn every_stepped_range_of_every_partition_is_cut_as_by_a_walk() {
    for naive in partitions(7, 2) {
        let axis = naive.axis();
        for start in 0..=naive.extent {
            for end in start..=naive.extent {
                for step in (-8..=8).filter(|step| *step != 0) {
                    let walked = naive.parts(start, end, step);
                    let selected = axis.select(&every(start, end, step)).unwrap();
                    assert_eq!(selected.len(), (end - start).div_ceil(step.unsigned_abs()));
                    assert_eq!(selected.is_reversed(), step < 0);
                    let parts = selected.parts();
                    assert_eq!(parts.remaining(), walked.len() as u64);
                    assert_eq!(parts.size_hint(), (walked.len(), Some(walked.len())));
                    for skip in 0..=walked.len() {
                        let mut late = parts.clone();
                        assert_eq!(late.nth(skip), walked.get(skip).copied());
                        let left = walked.iter().copied().skip(skip + 1);
                        assert!(late.eq(left), "{naive:?} {start}..{end}:{step} {skip}");
                    }
                    assert!(parts.eq(walked));
                }
            }
        }
    }
}

#[test]
fn random_stepped_ranges_are_cut_as_by_a_walk() {
    let mut random = Random(11);
    for _ in 0..400 {
        let naive = random.axis();
        let start = random.below(naive.extent + 1);
        let end = start + random.below(naive.extent - start + 1);
        let bits = random.below(8);
        let step = 1 + random.below(1 << bits) as i64;
        let step = if random.below(2) == 0 { step } else { -step };
        let walked = naive.parts(start, end, step);
        let axis = naive.axis();
        let selected = axis.select(&every(start, end, step)).unwrap();
        let parts = selected.parts();
        assert_eq!(parts.remaining(), walked.len() as u64);
        let skip = random.below(walked.len() as u64 + 2) as usize;
        let mut late = parts.clone();
        assert_eq!(late.nth(skip), walked.get(skip).copied());
        assert!(late.eq(walked.iter().copied().skip(skip + 1)));
        assert!(parts.eq(walked));
    }
}

#[test]
fn steps_across_a_huge_axis_cost_nothing() {
    let axis = Axis::from_runs(u64::MAX, [Run { edge: 1, count: u64::MAX }]).unwrap();
    for (step, count) in [(i64::MAX, 3), (i64::MIN, 2)] {
        let selected = axis.select(&every(0, u64::MAX, step)).unwrap();
        let mut parts = selected.parts();
        assert_eq!((parts.remaining(), selected.len()), (count, count));
        assert_eq!(parts.nth(count as usize - 1).map(|part| part.chunk), Some(u64::MAX - 1));
        assert_eq!(parts.next(), None);
    }
    assert_eq!(axis.select(&every(0, 9, 0)).unwrap_err(), GridErrorKind::ZeroStep.into());
    let one = axis.select(&every(0, 1, i64::MAX)).unwrap();
    assert!(one.parts().all(|part| part.chunk == 0 && part.is_whole && part.len() == 1));
}

#[test]
fn lists_keep_their_order_in_each_chunk() {
    let mut random = Random(12);
    for _ in 0..200 {
        let naive = random.axis();
        let axis = naive.axis();
        let indices: Vec<u64> = match naive.extent {
            0 => Vec::new(),
            extent => (0..random.below(40)).map(|_| random.below(extent)).collect(),
        };
        let listed = axis.select(&indices.as_slice().into()).unwrap();
        assert_eq!(listed.len(), indices.len() as u64);
        let mut expected: Vec<(u64, u64, u64)> = indices
            .iter()
            .enumerate()
            .map(|(at, &index)| {
                let (chunk, local) = naive.chunk_of(index).unwrap();
                (chunk, at as u64, local)
            })
            .collect();
        expected.sort_unstable();
        let mut chunks: Vec<u64> = expected.iter().map(|entry| entry.0).collect();
        chunks.dedup();
        assert_eq!(listed.parts().remaining(), chunks.len() as u64);
        assert!(listed.parts().map(|part| part.chunk).eq(chunks));
        assert_eq!(listed.is_empty(), indices.is_empty());
        let found = listed.parts().flat_map(|part| {
            assert_eq!(part.edge, naive.edges[part.chunk as usize]);
            assert!(part.iter().all(|(local, at)| {
                part.in_chunk().contains(&local) && part.in_selection().contains(&at)
            }));
            part.iter().map(move |(local, at)| (part.chunk, at, local))
        });
        assert!(found.eq(expected));
        assert_eq!(listed.parts().nth(listed.parts().count()), None);
    }
}

#[test]
fn a_mask_selects_what_the_list_of_its_true_entries_does() {
    let axis = Naive::new(7, [2, 3, 4]).axis();
    for bits in 0..1_u64 << 7 {
        let mask: Vec<bool> = (0..7).map(|index| bits >> index & 1 == 1).collect();
        let indices: Vec<u64> = (0..7).filter(|index| bits >> index & 1 == 1).collect();
        let (masked, listed) = (mask.as_slice().into(), indices.into());
        let (masked, listed) = (axis.select(&masked).unwrap(), axis.select(&listed).unwrap());
        assert_eq!(masked.len(), u64::from(bits.count_ones()));
        assert!(masked.parts().eq(listed.parts()));
    }
    for wrong in [&[true; 6][..], &[true; 8], &[]] {
        let (found, expected) = (wrong.len(), 7);
        let error = GridErrorKind::Length { what: "mask entries", found, expected };
        assert_eq!(axis.select(&wrong.into()).unwrap_err(), error.into());
    }
}

/// All selected elements as (chunk, index in the chunk, position in the selection).
type Elements = Vec<(Vec<u64>, Vec<u64>, Vec<u64>)>;

/// The indices of an axis's selection, in order.
fn indices(select: &AxisSelection) -> Vec<u64> {
    match select {
        AxisSelection::Range(range) => range.clone().collect(),
        AxisSelection::Step { range, step } => stepped(range.clone(), *step).collect(),
        AxisSelection::Indices(indices) => indices.clone(),
        AxisSelection::Index(index) => vec![*index],
        other => unreachable!("{other:?} is not among those made here"),
    }
}

fn expand(part: &AxisPart<'_>) -> Vec<(u64, u64)> {
    let pairs: Vec<(u64, u64)> = part.iter().collect();
    assert_eq!(pairs.len() as u64, part.len());
    pairs
}

#[test]
fn selections_are_the_product_of_their_axes_in_c_order() {
    let mut random = Random(13);
    for round in 0..200 {
        let axes: Vec<Naive> = (0..round % 4)
            .map(|_| {
                Naive::new(1 + random.below(9), [1 + random.below(4), 1 + random.below(5), 1, 9])
            })
            .collect();
        let lists: Vec<Vec<u64>> = axes
            .iter()
            .map(|axis| (0..random.below(5)).map(|_| random.below(axis.extent)).collect())
            .collect();
        let selects: Vec<AxisSelection> = axes
            .iter()
            .zip(&lists)
            .map(|(axis, list)| {
                let start = random.below(axis.extent + 1);
                let range = start..start + random.below(axis.extent - start + 1);
                match random.below(5) {
                    0 => range.into(),
                    1 => AxisSelection::Step { range, step: 1 + random.below(4) as i64 },
                    2 => AxisSelection::Step { range, step: -1 - random.below(4) as i64 },
                    3 => random.below(axis.extent).into(),
                    _ => list.as_slice().into(),
                }
            })
            .collect();
        let grid = Grid::new(axes.iter().map(Naive::axis).collect::<Vec<_>>());
        let selection = grid.select(&selects).unwrap();
        let each: Vec<Vec<u64>> = selects.iter().map(indices).collect();
        assert!(selection.shape().iter().copied().eq(each.iter().map(|list| list.len() as u64)));

        let mut expected: Elements = vec![Default::default()];
        for (naive, list) in axes.iter().zip(&each) {
            expected = expected
                .iter()
                .flat_map(|(chunk, local, position)| {
                    list.iter().enumerate().map(|(at, &index)| {
                        let found = naive.chunk_of(index).unwrap();
                        let push = |to: &[u64], value: u64| [to, &[value]].concat();
                        (push(chunk, found.0), push(local, found.1), push(position, at as u64))
                    })
                })
                .collect();
        }
        let mut chunks: Vec<Vec<u64>> = expected.iter().map(|entry| entry.0.clone()).collect();
        chunks.sort_unstable();
        chunks.dedup();
        assert_eq!(selection.len(), chunks.len() as u64);
        assert_eq!(selection.is_empty(), chunks.is_empty());

        let mut found: Elements = Vec::new();
        let mut parts = selection.parts();
        for chunk in &chunks {
            let part = parts.next().unwrap();
            assert_eq!(part.chunk(), chunk);
            let mut elements = vec![(Vec::new(), Vec::new())];
            for (d, axis) in part.axes().iter().enumerate() {
                assert_eq!(part.chunk_shape()[d], axes[d].edges[chunk[d] as usize]);
                elements = elements
                    .iter()
                    .flat_map(|(local, position)| {
                        expand(axis).into_iter().map(|(a, b)| {
                            ([&local[..], &[a]].concat(), [&position[..], &[b]].concat())
                        })
                    })
                    .collect();
            }
            if part.is_whole() {
                let mut shape = vec![0; axes.len()];
                grid.clipped_shape(chunk, &mut shape).unwrap();
                assert_eq!(elements.len() as u64, shape.iter().product::<u64>());
            }
            found.extend(
                elements.into_iter().map(|(local, position)| (chunk.clone(), local, position)),
            );
        }
        assert!(parts.next().is_none() && parts.is_empty());
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);

        let (a, b) = (random.below(selection.len() + 1), random.below(selection.len() + 2));
        let mut some = selection.parts().range(a..b);
        let wanted = chunks.iter().skip(a as usize).take(b.saturating_sub(a) as usize);
        for chunk in wanted {
            assert_eq!(some.next().unwrap().chunk(), chunk);
        }
        assert!(some.next().is_none());

        // The rest after some parts have been taken.
        let taken = random.below(selection.len() + 1);
        let mut begun = selection.parts();
        for _ in 0..taken {
            assert!(begun.next().is_some());
        }
        for skip in [0, a.min(selection.len() - taken)] {
            let mut rest = begun.range(skip..u64::MAX);
            for chunk in &chunks[(taken + skip) as usize..] {
                assert_eq!(rest.next().unwrap().chunk(), chunk);
            }
            assert!(rest.next().is_none());
        }
    }
}

#[test]
fn whole_chunks_of_a_selection_are_known() {
    let grid = Grid::regular(&[10], &[4]).unwrap();
    let whole = |selection| -> Vec<bool> {
        let selected = grid.select(&[selection]).unwrap();
        selected.parts().map(|part| part.is_whole()).collect()
    };
    assert_eq!(whole((0..10).into()), [true, true, true]);
    assert_eq!(whole((1..9).into()), [false, true, false]);
    assert_eq!(whole(every(0, 10, 2)), [false, false, false]);
    assert_eq!(whole(every(0, 9, -1)), [true, true, false]);
    assert_eq!(whole([0, 1, 2, 3].into()), [false]); // not looked into
}

/// The selections of an axis of six, and the indices that each selects.
fn of_six() -> Vec<(AxisSelection, Vec<u64>)> {
    let mut all: Vec<(AxisSelection, Vec<u64>)> =
        (0..6).map(|index| (index.into(), vec![index])).collect();
    for start in 0..=6 {
        for end in start..=6 {
            all.push(((start..end).into(), (start..end).collect()));
            for step in [-7, -3, -2, -1, 1, 2, 3, 7] {
                all.push((every(start, end, step), stepped(start..end, step).collect()));
            }
        }
    }
    for list in [vec![], vec![5], vec![3, 3], vec![0, 5, 2], vec![1, 2, 3, 4]] {
        all.push((list.clone().into(), list));
    }
    for bits in 0..1_u64 << 6 {
        let mask: Vec<bool> = (0..6).map(|index| bits >> index & 1 == 1).collect();
        all.push((mask.into(), (0..6).filter(|index| bits >> index & 1 == 1).collect()));
    }
    all
}

#[test]
fn a_selection_knows_its_own_indices() {
    for (selection, wanted) in of_six() {
        assert_eq!(indices_of(&selection), wanted, "{selection:?}");
        assert_eq!(selection.len(), wanted.len() as u64, "{selection:?}");
        assert_eq!(selection.is_empty(), wanted.is_empty());
        let bounds = wanted.iter().min().map_or(0..0, |low| *low..wanted.iter().max().unwrap() + 1);
        assert_eq!(selection.bounds(), bounds, "{selection:?}");
        let count = wanted.len() as u64;
        for start in 0..=count + 1 {
            for end in 0..=count + 2 {
                let some = selection.slice(start..end);
                let clamped =
                    start.min(count) as usize..end.min(count).max(start.min(count)) as usize;
                assert_eq!(indices_of(&some), wanted[clamped], "{selection:?} {start}..{end}");
            }
        }
    }
    let huge = every(0, u64::MAX, i64::MIN);
    assert_eq!((huge.len(), huge.get(1), huge.get(2)), (2, Some((u64::MAX - 1) - (1 << 63)), None));
}

/// A position of a selection ends where the next index is in another chunk, or past the last.
#[test]
fn a_chunk_of_any_selection_ends_where_its_indices_leave_it() {
    let selections = of_six();
    for naive in partitions(6, 2).filter(|naive| naive.extent == 6) {
        let axis = naive.axis();
        for (selection, wanted) in &selections {
            let chunks: Vec<u64> =
                wanted.iter().map(|index| naive.chunk_of(*index).unwrap().0).collect();
            for (at, chunk) in chunks.iter().enumerate() {
                let here = chunks[at..].iter().take_while(|other| *other == chunk).count();
                let end = axis.next_chunk_position(selection, at as u64).unwrap() as usize;
                assert_eq!(end.min(wanted.len()), at + here, "{naive:?} {selection:?} {at}");
            }
            assert_eq!(
                axis.next_chunk_position(selection, wanted.len() as u64),
                None,
                "{selection:?}"
            );
        }
    }
    // Entries past the axis's end are not looked at.
    let axis = Axis::from_edges(6, [3, 5]).unwrap();
    let long = AxisSelection::from(vec![true; 9]);
    let ends: Vec<_> = (0..9).map(|at| axis.next_chunk_position(&long, at)).collect();
    assert_eq!(ends, [3, 3, 3, 6, 6, 6].map(Some).into_iter().chain([None; 3]).collect::<Vec<_>>());
}

fn indices_of(selection: &AxisSelection) -> Vec<u64> {
    (0..).map_while(|position| selection.get(position)).collect()
}

#[test]
fn steps_select_what_they_count_and_indices_are_those_at_every_position() {
    for (start, count, step) in [(9, 3, -4), (2, 4, 3), (7, 1, -1), (5, 0, 2), (5, 0, -2)] {
        let selection = AxisSelection::steps(start, count, step);
        let expected = (0..count).map(|n| start.wrapping_add_signed(step * n.cast_signed()));
        assert!(selection.indices().eq(expected), "{start} {count} {step}");
    }
    let many = AxisSelection::steps(u64::MAX - 1, u64::MAX, i64::MAX);
    assert_eq!(many.get(0), Some(u64::MAX - 1));
    for selection in [
        AxisSelection::from(4),
        AxisSelection::from(4..9),
        AxisSelection::from([7, 0, 7]),
        AxisSelection::from(vec![false, true, true, false, true]),
    ] {
        let at = (0..selection.len()).filter_map(|position| selection.get(position));
        assert!(selection.indices().eq(at), "{selection:?}");
    }
}
