//! The laws of the algebra, on views made by random chains.

use zarr_view::{Run, View, ViewError};

use crate::generators::{chain, factorisation, strided};
use crate::oracle;
use crate::rng::Rng;

const ROUNDS: usize = 3000;

fn for_views(seed: u64, mut law: impl FnMut(&mut Rng, View)) {
    let mut rng = Rng(seed);
    for round in 0..ROUNDS {
        let view = if round % 3 == 0 { strided(&mut rng, 60) } else { chain(&mut rng, 48, 6) };
        law(&mut rng, view);
    }
}

/// The effect of an operation on a map: the element at `index` of the result is that at
/// `from(index)`.
fn check(
    result: &View,
    view: &View,
    shape: &[usize],
    from: impl Fn(&[usize]) -> Option<Vec<usize>>,
) {
    assert_eq!(result.shape(), shape);
    let map = oracle::map(view);
    let flat = |index: &[usize]| {
        index.iter().zip(view.shape()).fold(0, |flat, (&i, &size)| flat * size + i)
    };
    let wanted: oracle::Map =
        oracle::indices(shape).iter().map(|i| from(i).and_then(|i| map[flat(&i)])).collect();
    assert_eq!(oracle::map(result), wanted, "{view:?} became {result:?}");
    let read: oracle::Map = oracle::indices(shape)
        .iter()
        .map(|index| result.position(index).map(|position| position as isize))
        .collect();
    assert_eq!(read, wanted);
    let reached = wanted.iter().flatten();
    let span = match (reached.clone().min(), reached.max()) {
        (Some(&low), Some(&high)) => low as usize..high as usize + 1,
        _ => 0..0,
    };
    assert_eq!(result.span(), span);
}

#[test]
fn a_view_is_contiguous_if_it_reads_all_elements_in_order() {
    let mut found = 0;
    for_views(20, |_, view| {
        let is_in_order = oracle::map(&view).into_iter().eq((0..view.len() as isize).map(Some));
        assert_eq!(view.is_contiguous(), is_in_order, "{view:?}");
        found += usize::from(is_in_order);
    });
    assert!(found > ROUNDS / 20, "{found}");
}

fn permutation(rng: &mut Rng, rank: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank).collect();
    rng.shuffle(&mut order);
    order
}

#[test]
fn permuting_reorders_and_two_permutations_are_one() {
    for_views(21, |rng, view| {
        let (a, b) = (permutation(rng, view.rank()), permutation(rng, view.rank()));
        let once = view.permute(&a).unwrap();
        let shape: Vec<usize> = a.iter().map(|&axis| view.shape()[axis]).collect();
        check(&once, &view, &shape, |index| {
            let mut from = vec![0; index.len()];
            a.iter().zip(index).for_each(|(&axis, &i)| from[axis] = i);
            Some(from)
        });
        let both: Vec<usize> = b.iter().map(|&axis| a[axis]).collect();
        assert_eq!(once.permute(&b).unwrap(), view.permute(&both).unwrap());
    });
}

#[test]
fn flipping_reverses_and_twice_is_nothing() {
    for_views(22, |rng, view| {
        if view.rank() == 0 {
            return;
        }
        let axis = rng.below(view.rank());
        let once = view.flip(axis).unwrap();
        check(&once, &view, view.shape(), |index| {
            let mut from = index.to_vec();
            from[axis] = view.shape()[axis] - 1 - from[axis];
            Some(from)
        });
        assert_eq!(once.flip(axis).unwrap(), view);
    });
}

#[test]
fn padding_masks_and_shrinking_undoes_it() {
    for_views(23, |rng, view| {
        let margins: Vec<(usize, usize)> =
            view.shape().iter().map(|_| (rng.below(3), rng.below(3))).collect();
        let shape: Vec<usize> =
            view.shape().iter().zip(&margins).map(|(n, m)| n + m.0 + m.1).collect();
        if shape.iter().product::<usize>() > 3000 {
            return;
        }
        let padded = view.pad(&margins).unwrap();
        check(&padded, &view, &shape, |index| {
            let from = index.iter().zip(&margins).zip(view.shape());
            from.map(|((&i, m), &n)| i.checked_sub(m.0).filter(|&i| i < n)).collect()
        });
        let ranges: Vec<_> =
            view.shape().iter().zip(&margins).map(|(&n, m)| m.0..m.0 + n).collect();
        assert_eq!(padded.shrink(&ranges).unwrap(), view);
    });
}

#[test]
fn shrinking_takes_a_box_and_two_are_one() {
    for_views(24, |rng, view| {
        let mut pick = |shape: &[usize]| -> Vec<core::ops::Range<usize>> {
            let range = |&n: &usize| {
                let start = rng.below(n + 1);
                start..start + rng.below(n - start + 1)
            };
            shape.iter().map(range).collect()
        };
        let a = pick(view.shape());
        let once = view.shrink(&a).unwrap();
        let shape: Vec<usize> = a.iter().map(|range| range.len()).collect();
        check(&once, &view, &shape, |index| {
            Some(index.iter().zip(&a).map(|(i, range)| range.start + i).collect())
        });
        let b = pick(&shape);
        let both: Vec<_> =
            a.iter().zip(&b).map(|(a, b)| a.start + b.start..a.start + b.end).collect();
        assert_eq!(once.shrink(&b).unwrap(), view.shrink(&both).unwrap());
    });
}

#[test]
fn slicing_steps_through_every_index_it_says() {
    for_views(25, |rng, view| {
        if view.rank() == 0 {
            return;
        }
        let axis = rng.below(view.rank());
        let size = view.shape()[axis];
        let (start, step, count) = (rng.below(size + 2), rng.between(-3, 3), rng.below(6));
        let inside = |i: usize| (0..size as isize).contains(&(start as isize + i as isize * step));
        let sliced = view.slice(axis, start, step, count);
        if !(0..count).all(inside) {
            assert_eq!(sliced, Err(ViewError::Slice { axis, start, step, count, size }));
            return;
        }
        let mut shape = view.shape().to_vec();
        shape[axis] = count;
        check(&sliced.unwrap(), &view, &shape, |index| {
            let mut from = index.to_vec();
            from[axis] = (start as isize + from[axis] as isize * step) as usize;
            Some(from)
        });
    });
}

/// With one index the step does not matter, even if it cannot be negated.
#[test]
fn slicing_one_index_takes_any_step() {
    let view = View::masked(&[5], &[1], -1, &[(1, 4)]).unwrap();
    for start in 0..5 {
        let one = view.slice(0, start, 1, 1).unwrap();
        for step in [0, -1, isize::MIN, isize::MAX] {
            assert_eq!(view.slice(0, start, step, 1).as_ref(), Ok(&one), "{start} by {step}");
        }
    }
}

#[test]
fn expanding_repeats() {
    for_views(26, |rng, view| {
        let shape: Vec<usize> =
            view.shape().iter().map(|&n| if n == 1 { rng.below(4) } else { n }).collect();
        check(&view.expand(&shape).unwrap(), &view, &shape, |index| {
            let wide = index.iter().zip(view.shape());
            Some(wide.map(|(&i, &n)| if n == 1 { 0 } else { i }).collect())
        });
    });
}

#[test]
fn reshapes_that_exist_go_back() {
    for_views(27, |rng, view| {
        if view.is_empty() {
            return;
        }
        let shape = factorisation(rng, view.len());
        if let Some(result) = view.reshape(&shape).unwrap() {
            assert_eq!(oracle::map(&result), oracle::map(&view));
            assert_eq!(result.reshape(view.shape()).unwrap(), Some(view));
        }
    });
}

#[test]
fn equality_is_that_of_maps() {
    let mut rng = Rng(28);
    let mut equal = 0;
    for _ in 0..ROUNDS {
        let shape: Vec<usize> = (0..rng.below(3)).map(|_| 1 + rng.below(3)).collect();
        let mut any = || {
            let strides: Vec<isize> = shape.iter().map(|_| rng.between(0, 2)).collect();
            let mask: Vec<_> = shape
                .iter()
                .map(|&n| {
                    let lo = rng.below(n + 1);
                    (lo, lo + rng.below(n - lo + 1))
                })
                .collect();
            View::masked(&shape, &strides, rng.between(0, 1), &mask).unwrap()
        };
        let (a, b) = (any(), any());
        assert_eq!(a == b, oracle::map(&a) == oracle::map(&b), "{a:?} and {b:?}");
        equal += usize::from(a == b);
    }
    assert!(equal > ROUNDS / 20);
}

#[test]
fn sd_62_the_outermost_dimension_may_repeat_too() {
    // "1 < j" should be "1 <= j": the first dimension counts.
    let view = View::contiguous(&[1, 3]).unwrap().expand(&[2, 3]).unwrap();
    assert_eq!(view.reshape(&[6]).unwrap(), None);
    let one = view.with_mask(&[(1, 2), (0, 3)]).unwrap();
    assert!(one.reshape(&[6]).unwrap().is_some());
}

/// Brute force over every shape: coalescing changes no element, and no shape with fewer dimensions
/// holds the view.
#[test]
fn coalesced_views_have_the_fewest_dimensions() {
    let mut rng = Rng(31);
    let mut fewer = 0;
    for _ in 0..4000 {
        let elements = [1, 6, 8, 12, 16, 24, 36][rng.below(7)];
        let view = chain(&mut rng, elements, 5);
        if view.len() > 100 || view.is_masked_out() {
            continue;
        }
        let (coalesced, map) = (view.coalesce(), oracle::map(&view));
        assert_eq!(oracle::map(&coalesced), map, "{view:?}");
        let shapes = oracle::shapes(view.len(), 0).into_iter();
        let least =
            shapes.filter(|shape| oracle::exists(&map, shape)).map(|shape| shape.len()).min();
        assert_eq!(Some(coalesced.rank()), least, "{view:?} to {coalesced:?}");
        assert_eq!(coalesced.coalesce(), coalesced);
        fewer += usize::from(coalesced.rank() < view.rank());
    }
    assert!(fewer > 1000, "{fewer}");
}

#[test]
fn runs_are_the_fewest_that_cover_the_map() {
    for_views(31, |_, view| {
        let mut wanted: Vec<Run> = Vec::new();
        for position in oracle::map(&view) {
            match (position, wanted.last_mut()) {
                (None, Some(Run::Fill { len })) => *len += 1,
                (None, _) => wanted.push(Run::Fill { len: 1 }),
                (Some(p), Some(Run::Elements { position, len }))
                    if *position + *len == p as usize =>
                {
                    *len += 1;
                }
                (Some(p), _) => wanted.push(Run::Elements { position: p as usize, len: 1 }),
            }
        }
        assert_eq!(view.runs().collect::<Vec<_>>(), wanted, "{view:?}");
    });
}

#[test]
fn splits_are_even_and_as_many_as_asked_for() {
    let mut rng = Rng(32);
    for _ in 0..ROUNDS {
        let shape: Vec<usize> = (0..rng.below(4)).map(|_| rng.below(9)).collect();
        let view = View::contiguous(&shape).unwrap();
        let parts = rng.below(40);
        let cuts = view.split(parts);
        assert_eq!(cuts.len(), shape.len());
        let boxes: usize = cuts.iter().map(|cuts| cuts.len() + 1).product();
        if !view.is_empty() {
            assert!(
                boxes >= parts.min(view.len()) && boxes < 2 * parts.max(1),
                "{shape:?} {parts}"
            );
        }
        for (cuts, &size) in cuts.iter().zip(&shape) {
            let mut edges = vec![0];
            edges.extend(cuts);
            edges.push(size);
            let lengths: Vec<usize> = edges.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let (least, most) = (lengths.iter().min().unwrap(), lengths.iter().max().unwrap());
            assert!(most - least <= 1, "{shape:?} {parts} {cuts:?}");
        }
    }
}

/// The messages name the largest `isize`.
#[cfg(target_pointer_width = "64")]
#[test]
fn arguments_that_do_not_fit_are_errors() {
    let view = View::contiguous(&[2, 3]).unwrap();
    insta::assert_snapshot!(
        [
            view.permute(&[0]).unwrap_err(),
            view.permute(&[0, 2]).unwrap_err(),
            view.permute(&[1, 1]).unwrap_err(),
            view.flip(2).unwrap_err(),
            view.shrink(&[0..3, 0..3]).unwrap_err(),
            view.slice(1, 2, 2, 2).unwrap_err(),
            view.expand(&[4, 3]).unwrap_err(),
            view.reshape(&[7]).unwrap_err(),
            view.pad(&[(usize::MAX, 0), (0, 0)]).unwrap_err(),
            view.compose_over(&View::contiguous(&[5]).unwrap()).unwrap_err(),
            view.with_mask(&[(2, 1), (0, 3)]).unwrap_err(),
            View::new(&[2], &[-1], 0).unwrap_err(),
            View::new(&[2], &[isize::MAX], 1).unwrap_err(),
            View::masked(&[2], &[isize::MIN], isize::MIN, &[(1, 2)]).unwrap_err(),
            View::contiguous(&[0, 1 << 40, 1 << 40]).unwrap_err(),
        ]
        .map(|error| error.to_string())
        .join("\n"),
        @r"
    expected one entry for each of 2 dimensions, found 1
    axis 2 is out of range, the view has 2 dimensions
    axis 1 occurs twice, a permutation names each axis once
    axis 2 is out of range, the view has 2 dimensions
    axis 0: range 0..3 is not within 0..2
    axis 1: 2 indices from 2 by 2 are not within 0..3
    axis 0: size 2 cannot be expanded to 4, only size 1 can
    expected a shape of 6 elements, found 7
    the sizes from axis 0 on multiply to more than 9223372036854775807
    the outer view reaches position 5, the inner view has 5 elements
    axis 0: range 2..1 is not within 0..2
    valid positions reach beyond 0 to 9223372036854775807
    valid positions reach beyond 0 to 9223372036854775807
    the offset of the result does not fit an isize
    the sizes from axis 1 on multiply to more than 9223372036854775807
    "
    );
}

/// For all numbers, the result is an error or a view with a correct span; never a panic.
#[test]
fn extreme_numbers_never_wrap() {
    const HALF: u32 = usize::BITS / 2;
    let side = 1 << (HALF - 1);
    let sizes = [0, 1, 2, 3, side, 1 << (2 * HALF - 2), isize::MAX as usize, usize::MAX];
    let strides =
        [0, 1, -1, 1 << (HALF + 8), isize::MAX / 2, isize::MAX, isize::MIN, isize::MIN + 1];
    let mut rng = Rng(33);
    let mut made = 0;
    for _ in 0..200_000 {
        let rank = rng.below(4);
        let shape: Vec<usize> = (0..rank).map(|_| sizes[rng.below(sizes.len())]).collect();
        let steps: Vec<isize> = (0..rank).map(|_| strides[rng.below(strides.len())]).collect();
        let offset = strides[rng.below(strides.len())];
        let mask: Vec<(usize, usize)> = shape
            .iter()
            .map(|&n| {
                let ends = [0, 1, n / 2, n.saturating_sub(1), n];
                let (a, b) = (ends[rng.below(5)].min(n), ends[rng.below(5)].min(n));
                (a.min(b), a.max(b))
            })
            .collect();
        let Ok(view) = View::masked(&shape, &steps, offset, &mask) else { continue };
        made += 1;
        let span = view.span();
        let valid = view.valid_box();
        // Corners of the valid box, in exact arithmetic from what was given.
        if !view.is_masked_out() {
            let corner = |pick: &dyn Fn(usize) -> usize| -> i128 {
                (0..rank).map(|d| pick(d) as i128 * steps[d] as i128).sum::<i128>() + offset as i128
            };
            let low = corner(&|d| if steps[d] < 0 { valid[d].end - 1 } else { valid[d].start });
            let high = corner(&|d| if steps[d] < 0 { valid[d].start } else { valid[d].end - 1 });
            assert_eq!((low, high + 1), (span.start as i128, span.end as i128), "{view:?}");
        }
        let _ = view.coalesce();
        let _ = view.split(7);
        let _ = view.runs().take(5).count();
        let _ = view.reshape(&[view.len()]);
        let _ = view.pad(&vec![(1, usize::MAX / 2); rank]);
        let _ = view.pad(&vec![(3, 1); rank]);
        let _ = view.invert(&[1 << 20]);
        let _ =
            view.compose_over(&View::contiguous(&[side, side]).unwrap().permute(&[1, 0]).unwrap());
        for axis in 0..rank {
            let _ = view.flip(axis).map(|view| view.flip(axis));
            let n = view.shape()[axis];
            let _ = view.slice(axis, n / 2, isize::MIN, 1);
            let _ = view.slice(axis, n / 2, isize::MIN, 2);
            let _ = view.slice(axis, n / 2, 1 << (HALF - 2), 1 << HALF);
            let _ = view.slice(axis, n.saturating_sub(1), -1, n);
            let half: Vec<_> = view.shape().iter().map(|&n| n / 2..n).collect();
            let _ = view.shrink(&half);
        }
    }
    assert!(made > 20_000, "{made}");
}
