//! Bulk look-ups, stepped ranges, lists of indices, points.

use crate::naive::{Naive, Random, partitions};
use zarr_grid::{AxisPart, Grid, GridError, Select, SteppedCut};

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
        let [mut starts, mut edges] = [vec![9; indices.len()], vec![9; indices.len()]];
        axis.spans_of(&chunks, &mut starts, &mut edges).unwrap();
        for (at, &index) in indices.iter().enumerate() {
            assert_eq!(Some((chunks[at], locals[at])), naive.chunk_of(index));
            assert_eq!((starts[at], edges[at]), naive.spans()[chunks[at] as usize]);
        }
        let extent = naive.extent;
        let error = axis.chunks_of(&[0, extent], &mut [0; 2], &mut [0; 2]);
        assert_eq!(error, Err(GridError::IndexOutOfBounds { index: extent, extent }));
        let declared = axis.declared();
        let error = axis.spans_of(&[0, declared], &mut [0; 2], &mut [0; 2]);
        assert_eq!(error, Err(GridError::ChunkOutOfBounds { chunk: declared, declared }));
        assert!(axis.chunks_of(&[0], &mut [], &mut [0]).is_err());
        assert!(axis.spans_of(&[0], &mut [0], &mut []).is_err());
    }
}

/// The parts of a stepped range, element by element.
fn walk(naive: &Naive, start: u64, end: u64, step: u64) -> Vec<SteppedCut> {
    let spans = naive.spans();
    let mut cuts: Vec<SteppedCut> = Vec::new();
    for (position, index) in (start..end).step_by(step as usize).enumerate() {
        let (chunk, local) = naive.chunk_of(index).unwrap();
        let (first, edge) = spans[chunk as usize];
        match cuts.last_mut() {
            Some(cut) if cut.chunk == chunk => cut.len += 1,
            _ => cuts.push(SteppedCut {
                chunk,
                edge,
                in_chunk: local,
                in_selection: position as u64,
                len: 1,
                is_whole: false,
            }),
        }
        let cut = cuts.last_mut().unwrap();
        cut.is_whole = cut.len == naive.extent.min(first + edge) - first;
    }
    cuts
}

#[test]
fn every_stepped_range_of_every_partition_is_cut_as_by_a_walk() {
    for naive in partitions(7, 2) {
        let axis = naive.axis();
        for start in 0..=naive.extent {
            for end in start..=naive.extent {
                for step in 1..=8 {
                    let walked = walk(&naive, start, end, step);
                    let stepped = axis.stepped(start..end, step).unwrap();
                    assert_eq!(stepped.remaining(), walked.len() as u64);
                    assert_eq!(stepped.selected(), (end - start).div_ceil(step));
                    assert_eq!(stepped.size_hint(), (walked.len(), Some(walked.len())));
                    for skip in 0..=walked.len() {
                        let mut late = stepped.clone();
                        late.skip_parts(skip as u64);
                        assert!(
                            late.eq(walked[skip..].iter().copied()),
                            "{naive:?} {start}..{end}:{step} {skip}"
                        );
                    }
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
        let step = 1 + random.below(1 << bits);
        let walked = walk(&naive, start, end, step);
        let axis = naive.axis();
        let stepped = axis.stepped(start..end, step).unwrap();
        assert_eq!(stepped.remaining(), walked.len() as u64);
        let skip = random.below(walked.len() as u64 + 2);
        let mut late = stepped.clone();
        late.skip_parts(skip);
        assert!(late.eq(walked.iter().copied().skip(skip as usize)));
        assert!(stepped.eq(walked));
    }
}

#[test]
fn steps_across_a_huge_axis_cost_nothing() {
    let axis = zarr_grid::Axis::from_runs(u64::MAX, [zarr_grid::Run { edge: 1, count: u64::MAX }])
        .unwrap();
    let mut stepped = axis.stepped(0..u64::MAX, u64::MAX - 1).unwrap();
    assert_eq!((stepped.remaining(), stepped.selected()), (2, 2));
    assert_eq!(stepped.nth(1).map(|cut| cut.chunk), Some(u64::MAX - 1));
    assert_eq!(stepped.next(), None);
    assert_eq!(axis.stepped(0..9, 0).unwrap_err(), GridError::ZeroStep);
    assert!(axis.stepped(0..1, u64::MAX).unwrap().eq(walk(&Naive::new(1, [1]), 0, 1, 1)));
}

#[test]
fn lists_keep_their_order_in_each_chunk() {
    let mut random = Random(12);
    for _ in 0..200 {
        let naive = random.axis();
        let indices: Vec<u64> = match naive.extent {
            0 => Vec::new(),
            extent => (0..random.below(40)).map(|_| random.below(extent)).collect(),
        };
        let listed = naive.axis().listed(&indices).unwrap();
        assert_eq!(listed.selected(), indices.len() as u64);
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
        assert!(listed.cuts().map(|cut| cut.chunk).eq(chunks));
        assert_eq!(listed.is_empty(), indices.is_empty());
        let found = listed.cuts().flat_map(|cut| {
            assert_eq!(cut.edge, naive.edges[cut.chunk as usize]);
            let pairs = cut.in_selection.iter().zip(cut.in_chunk);
            pairs.map(move |(&at, &local)| (cut.chunk, at, local)).collect::<Vec<_>>()
        });
        assert!(found.eq(expected));
        assert_eq!(listed.cut(listed.len()), None);
    }
}

/// All selected elements as (chunk, index in the chunk, position in the selection).
type Elements = Vec<(Vec<u64>, Vec<u64>, Vec<u64>)>;

/// Which indices an axis' selection has, in order.
fn indices(select: &Select<'_>) -> Vec<u64> {
    match select {
        Select::Range(range) => range.clone().collect(),
        Select::Step { range, step } => range.clone().step_by(*step as usize).collect(),
        Select::Indices(indices) => indices.to_vec(),
    }
}

fn expand(part: &AxisPart<'_>) -> Vec<(u64, u64)> {
    let pairs: Vec<(u64, u64)> = match part {
        AxisPart::Step { in_chunk, step, in_selection, len } => {
            (0..*len).map(|n| (in_chunk + n * step, in_selection + n)).collect()
        }
        AxisPart::Indices { in_chunk, in_selection } => {
            in_chunk.iter().copied().zip(in_selection.iter().copied()).collect()
        }
    };
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
        let selects: Vec<Select<'_>> = axes
            .iter()
            .zip(&lists)
            .map(|(axis, list)| {
                let start = random.below(axis.extent + 1);
                let range = start..start + random.below(axis.extent - start + 1);
                match random.below(3) {
                    0 => Select::Range(range),
                    1 => Select::Step { range, step: 1 + random.below(4) },
                    _ => Select::Indices(list),
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
            let part = parts.next_part().unwrap();
            assert_eq!(part.chunk, chunk);
            let mut elements = vec![(Vec::new(), Vec::new())];
            for (d, axis) in part.axes.iter().enumerate() {
                assert_eq!(part.chunk_shape[d], axes[d].edges[chunk[d] as usize]);
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
        assert!(parts.next_part().is_none() && parts.is_empty());
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);

        let (a, b) = (random.below(selection.len() + 1), random.below(selection.len() + 2));
        let mut some = selection.parts().range(a..b);
        let wanted = chunks.iter().skip(a as usize).take(b.saturating_sub(a) as usize);
        for chunk in wanted {
            assert_eq!(some.next_part().unwrap().chunk, chunk);
        }
        assert!(some.next_part().is_none());

        // Of what is left when some parts have been taken.
        let taken = random.below(selection.len() + 1);
        let mut begun = selection.parts();
        for _ in 0..taken {
            assert!(begun.next_part().is_some());
        }
        for skip in [0, a.min(selection.len() - taken)] {
            let mut rest = begun.range(skip..u64::MAX);
            for chunk in &chunks[(taken + skip) as usize..] {
                assert_eq!(rest.next_part().unwrap().chunk, chunk);
            }
            assert!(rest.next_part().is_none());
        }
    }
}

#[test]
fn whole_chunks_of_a_selection_are_known() {
    let grid = Grid::regular(&[10], &[4]).unwrap();
    let whole = |select| {
        let selection = grid.select(&[select]).unwrap();
        let mut parts = selection.parts();
        let mut whole = Vec::new();
        while let Some(part) = parts.next_part() {
            whole.push(part.is_whole());
        }
        whole
    };
    assert_eq!(whole(Select::Range(0..10)), [true, true, true]);
    assert_eq!(whole(Select::Range(1..9)), [false, true, false]);
    assert_eq!(whole(Select::Step { range: 0..10, step: 2 }), [false, false, false]);
}

#[test]
fn points_are_grouped_by_chunk_and_keep_their_order() {
    let mut random = Random(14);
    for round in 0..200 {
        let rank = 1 + round % 3;
        let axes: Vec<Naive> = (0..rank).map(|_| Naive::new(9, [2, 3, 4])).collect();
        let grid = Grid::new(axes.iter().map(Naive::axis).collect::<Vec<_>>());
        let given: Vec<Vec<u64>> =
            (0..random.below(30)).map(|_| (0..rank).map(|_| random.below(9)).collect()).collect();
        let points = grid.points(&given.concat()).unwrap();
        let mut expected: Vec<(Vec<u64>, usize)> = given
            .iter()
            .enumerate()
            .map(|(at, point)| {
                (point.iter().map(|&p| axes[0].chunk_of(p).unwrap().0).collect(), at)
            })
            .collect();
        expected.sort_unstable();
        let mut found = Vec::new();
        for group in points.groups() {
            for (local, &at) in group.in_chunk.chunks(rank).zip(group.positions) {
                found.push((group.chunk.to_vec(), at as usize));
                let point = &given[at as usize];
                assert!(
                    local.iter().zip(point).all(|(&l, &p)| l == axes[0].chunk_of(p).unwrap().1)
                );
            }
        }
        assert_eq!(found, expected);
        expected.dedup_by(|a, b| a.0 == b.0);
        assert_eq!((points.len(), points.is_empty()), (expected.len(), given.is_empty()));
    }
    let grid = Grid::regular(&[9, 9], &[3, 3]).unwrap();
    assert!(grid.points(&[1, 2, 3]).is_err());
    assert!(grid.points(&[1, 9]).is_err());
    assert!(Grid::new([]).points(&[]).unwrap().is_empty());
    assert!(Grid::new([]).points(&[1]).is_err());
}
