use zarr_view::{View, ViewError};

use crate::oracle;
use crate::rng::Rng;

/// Checks one reshape against the oracle: correct if there is a view, `None` if there is not.
fn check(view: &View, map: &oracle::Map, shape: &[usize]) {
    let found = view.reshape(shape).unwrap_or_else(|error| panic!("{view:?} {shape:?}: {error}"));
    match &found {
        Some(result) => {
            assert_eq!(result.shape(), shape);
            assert_eq!(&oracle::map(result), map, "{view:?} to {shape:?} is wrong: {result:?}");
            let back = result.reshape(view.shape()).unwrap();
            assert_eq!(back.as_ref(), Some(view), "{view:?} to {shape:?} and back");
        }
        None => assert!(!oracle::exists(map, shape), "{view:?} to {shape:?} is missed"),
    }
}

/// An offset that keeps every position of a list of strides at or above 0, masked ones included.
fn lift(shape: &[usize], strides: &[isize]) -> isize {
    shape.iter().zip(strides).map(|(&n, &s)| -(s * (n as isize - 1)).min(0)).sum()
}

#[test]
fn every_view_of_up_to_8_elements_to_every_shape() {
    let (mut views, mut reshapes) = (0_usize, 0_usize);
    for elements in 1..=8 {
        for shape in oracle::shapes(elements, 1) {
            // Sizes of 1 on one side at a time.
            let targets = oracle::shapes(elements, usize::from(!shape.contains(&1)));
            // Strides up to 8 cover every relation that matters: equal, continuing, reversed,
            // zero.
            let reach: &[isize] = match shape.len() {
                0..=2 => &[-8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8],
                3 => &[-2, -1, 0, 1, 2, 4],
                _ => &[-2, 0, 1, 2, 4],
            };
            let mut choices = vec![vec![]];
            for &size in &shape {
                let reach = if size == 1 { &[0][..] } else { reach };
                choices = choices
                    .iter()
                    .flat_map(|strides: &Vec<isize>| {
                        reach.iter().map(move |&s| strides.iter().copied().chain([s]).collect())
                    })
                    .collect();
            }
            for strides in choices {
                let offset = lift(&shape, &strides);
                for mask in oracle::masks(&shape) {
                    let view = View::masked(&shape, &strides, offset, &mask).unwrap();
                    let map = oracle::map_of(&shape, &strides, offset, &mask);
                    assert_eq!(oracle::map(&view), map);
                    views += 1;
                    for target in &targets {
                        check(&view, &map, target);
                        reshapes += 1;
                    }
                }
            }
        }
    }
    assert!(views > 100_000 && reshapes > 1_000_000, "{views} views, {reshapes} reshapes");
}

/// With the environment variable `ZARR_KIT_EXHAUSTIVE`, a million of them.
#[test]
fn random_views_of_up_to_4_dimensions() {
    let exhaustive = std::env::var_os("ZARR_KIT_EXHAUSTIVE").is_some();
    let wanted = if exhaustive { 1_000_000 } else { 20_000 };
    let mut rng = Rng(4);
    let mut found = 0;
    for _ in 0..wanted {
        let rank = rng.below(5);
        let sizes = [1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 8, 9];
        let shape: Vec<usize> = (0..rank).map(|_| sizes[rng.below(sizes.len())]).collect();
        let mut strides: Vec<isize> = vec![0; rank];
        let mut continuing = rng.between(-3, 3);
        for (stride, &size) in strides.iter_mut().zip(&shape).rev() {
            // Most dimensions continue the next inner one, so that there is something to merge.
            *stride = if rng.one_in(4) { rng.between(-9, 9) } else { continuing };
            continuing = *stride * size as isize;
        }
        let mask: Vec<(usize, usize)> = shape
            .iter()
            .map(|&size| match rng.below(4) {
                0 | 1 => (0, size),
                2 => {
                    let at = rng.below(size);
                    (at, at + 1)
                }
                _ => {
                    let lo = rng.below(size + 1);
                    (lo, lo + rng.below(size - lo + 1))
                }
            })
            .collect();
        let offset = lift(&shape, &strides) + rng.between(0, 5);
        let view = View::masked(&shape, &strides, offset, &mask).unwrap();
        let map = oracle::map_of(&shape, &strides, offset, &mask);
        assert_eq!(oracle::map(&view), map);
        // A random factorisation of the same size, sometimes with ones.
        let mut target = Vec::new();
        let mut rest: usize = shape.iter().product();
        while rest > 1 {
            let divisors: Vec<usize> = (2..=rest).filter(|d| rest.is_multiple_of(*d)).collect();
            target.push(divisors[rng.below(divisors.len())]);
            rest /= target[target.len() - 1];
            if rng.one_in(6) {
                target.push(1);
            }
        }
        rng.shuffle(&mut target);
        check(&view, &map, &target);
        found += usize::from(view.reshape(&target).unwrap().is_some());
    }
    assert!(found * 10 > wanted && found * 10 < wanted * 9, "{found} of {wanted} have a view");
}

/// tinygrad's last reshape found none here: with a single valid index, divisibility is not
/// needed.
#[test]
fn sd_62_a_single_valid_index_needs_no_divisibility() {
    let view = View::masked(&[2, 3], &[0, 1], 0, &[(1, 2), (1, 3)]).unwrap();
    let expected = View::masked(&[3, 2], &[0, 1], 1, &[(2, 3), (0, 2)]).unwrap();
    assert_eq!(view.reshape(&[3, 2]).unwrap(), Some(expected));
}

/// tinygrad's last reshape found none here: views that are entirely masked out.
#[test]
fn sd_62_what_is_masked_out_has_every_shape_but_the_empty_one() {
    let view = View::contiguous(&[2, 3]).unwrap().with_mask(&[(1, 1), (0, 3)]).unwrap();
    let result = view.reshape(&[6, 1]).unwrap().unwrap();
    assert!(result.is_masked_out());
    assert_eq!(result.mask(), Some(&[(0, 0), (0, 0)][..]));
    let single = View::contiguous(&[1]).unwrap().with_mask(&[(0, 0)]).unwrap();
    assert_eq!(single.reshape(&[]).unwrap(), None);
}

#[test]
fn sd_62_a_split_mask_may_span_whole_rows() {
    let view = View::contiguous(&[12]).unwrap().with_mask(&[(0, 8)]).unwrap();
    let result = view.reshape(&[3, 4]).unwrap().unwrap();
    assert_eq!(result.mask(), Some(&[(0, 2), (0, 4)][..]));
}

#[test]
fn shapes_without_elements() {
    let view = View::contiguous(&[3, 0]).unwrap();
    assert_eq!(view.reshape(&[0, 7, 2]).unwrap(), Some(View::contiguous(&[0, 7, 2]).unwrap()));
    assert_eq!(view.reshape(&[]), Err(ViewError::Elements { expected: 0, found: 1 }));
}

#[test]
fn sizes_that_overflow_are_errors() {
    let big = 1 << (usize::BITS / 2 + 8);
    assert_eq!(View::contiguous(&[big, big]), Err(ViewError::TooLarge { axis: 0 }));
    let view = View::contiguous(&[4]).unwrap();
    assert_eq!(view.reshape(&[2, big, big]), Err(ViewError::TooLarge { axis: 1 }));
    assert_eq!(view.reshape(&[5]), Err(ViewError::Elements { expected: 4, found: 5 }));
}
