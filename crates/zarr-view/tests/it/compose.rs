use zarr_view::{View, ViewError, ViewStack};

use crate::generators::{chain, strided};
use crate::oracle::{self, Map};
use crate::rng::Rng;

fn composed(outer: &Map, inner: &Map) -> Map {
    outer.iter().map(|position| position.and_then(|position| inner[position as usize])).collect()
}

/// Checks one composition. Returns whether a view exists, and whether it was found.
fn check(outer: &View, inner: &View) -> (bool, bool) {
    let wanted = composed(&oracle::map(outer), &oracle::map(inner));
    let found = outer.compose_over(inner).unwrap();
    if let Some(view) = &found {
        assert_eq!(view.shape(), outer.shape());
        assert_eq!(oracle::map(view), wanted, "{outer:?} over {inner:?} is wrong: {view:?}");
    }
    (oracle::exists(&wanted, outer.shape()), found.is_some())
}

fn rate(name: &str, rounds: usize, mut pair: impl FnMut() -> (View, View)) {
    let (mut possible, mut missed) = (0, 0);
    for _ in 0..rounds {
        let (outer, inner) = pair();
        let (exists, found) = check(&outer, &inner);
        possible += usize::from(exists);
        missed += usize::from(exists && !found);
    }
    assert!(possible > rounds / 20, "{name}: {possible} of {rounds} are possible");
    // Compositions this small are enumerated, so none may be missed.
    assert_eq!(missed, 0, "{name}: of {possible}");
}

#[test]
fn chains_of_movements_compose() {
    let mut rng = Rng(11);
    rate("chains", 20_000, || {
        let elements = [12, 16, 24, 30, 36, 48, 60, 64][rng.below(8)];
        let inner = chain(&mut rng, elements, 6);
        let outer = chain(&mut rng, inner.len(), 6);
        (outer, inner)
    });
}

#[test]
fn arbitrary_strides_compose() {
    let mut rng = Rng(12);
    rate("strided", 20_000, || {
        let inner = strided(&mut rng, 40);
        let outer = strided(&mut rng, inner.len());
        (outer, inner)
    });
}

#[test]
fn identity_on_either_side_changes_nothing() {
    let mut rng = Rng(13);
    for _ in 0..2000 {
        let view = chain(&mut rng, 48, 6);
        let above = View::contiguous(view.shape()).unwrap();
        assert_eq!(above.compose_over(&view).unwrap().as_ref(), Some(&view));
        let below = View::contiguous(&[48]).unwrap();
        assert_eq!(view.compose_over(&below).unwrap().as_ref(), Some(&view));
    }
}

#[test]
fn an_outer_view_that_reaches_too_far_is_an_error() {
    let outer = View::contiguous(&[7]).unwrap();
    let inner = View::contiguous(&[2, 3]).unwrap();
    assert_eq!(outer.compose_over(&inner), Err(ViewError::Outer { position: 6, elements: 6 }));
}

#[test]
fn large_views_compose_without_enumeration() {
    let side = if usize::BITS == 64 { 1 << 20 } else { 1 << 15 };
    let inner = View::contiguous(&[side, side]).unwrap().permute(&[1, 0]).unwrap();
    let outer = View::contiguous(&[side, side]).unwrap();
    let outer = outer.shrink(&[5..side / 2, 7..side / 4]).unwrap().flip(0).unwrap();
    let direct = inner.shrink(&[5..side / 2, 7..side / 4]).unwrap().flip(0).unwrap();
    assert_eq!(outer.compose_over(&inner).unwrap(), Some(direct));
    // Up to the last index of each dimension.
    let whole = View::contiguous(&[side, side]).unwrap();
    assert_eq!(inner.compose_over(&inner).unwrap(), Some(whole));
    let ends = inner.slice(0, side - 1, 1 - side as isize, 2).unwrap();
    assert_eq!(
        ends.compose_over(&inner).unwrap(),
        Some(inner.permute(&[1, 0]).unwrap().slice(0, side - 1, 1 - side as isize, 2).unwrap())
    );
    // Of a masked view.
    let inner = inner.shrink(&[0..side / 2, 0..side / 2]).unwrap();
    let inner = inner.pad(&[(1, 2), (3, 4)]).unwrap();
    let outer = View::contiguous(inner.shape()).unwrap();
    let cut = [5..side / 2 + 3, 0..side / 4];
    for (above, direct) in [
        (outer.flip(0), inner.flip(0)),
        (outer.flip(1), inner.flip(1)),
        (outer.permute(&[1, 0]), inner.permute(&[1, 0])),
        (outer.shrink(&cut), inner.shrink(&cut)),
    ] {
        assert_eq!(above.unwrap().compose_over(&inner).unwrap(), Some(direct.unwrap()));
    }
}

/// Few elements are enumerated, however many masked ones lie before them.
#[test]
fn padding_before_an_outer_view_pads_the_composition() {
    let mut rng = Rng(15);
    for _ in 0..5000 {
        let inner = chain(&mut rng, 24, 6);
        let outer = chain(&mut rng, inner.len(), 6);
        let mut margins = vec![(0, 0); outer.rank()];
        let (Some(first), Some(view)) = (margins.first_mut(), outer.compose_over(&inner).unwrap())
        else {
            continue;
        };
        *first = (5000, 0);
        let padded = outer.pad(&margins).unwrap().compose_over(&inner).unwrap();
        assert_eq!(padded, Some(view.pad(&margins).unwrap()), "{outer:?} over {inner:?}");
    }
}

/// Two digits that move against each other, and a mask that requires both to be high. Each bound
/// moves the other by one, and going through all of them would take hours.
#[test]
fn a_mask_that_bounds_slowly_takes_no_time() {
    let side = 1_usize << (usize::BITS / 2 - 1);
    let half = side / 2;
    let inner = View::contiguous(&[side, side]).unwrap().permute(&[1, 0]).unwrap();
    let inner = inner.with_mask(&[(half + 1, side), (half, side)]).unwrap();
    let step = side as isize - 1;
    let (count, start) = (side / 4, half * side + half);
    let outer = View::new(&[count, count], &[step, -step], start as isize).unwrap();
    if let Some(view) = outer.compose_over(&inner).unwrap() {
        assert!(view.is_masked_out());
    }
}

#[test]
fn inverses_undo_and_none_is_missed() {
    let mut rng = Rng(14);
    let (mut possible, mut impossible) = (0, 0);
    for round in 0..20_000 {
        let elements = [12, 16, 24, 30][rng.below(4)];
        let view =
            if round % 2 == 0 { chain(&mut rng, elements, 5) } else { strided(&mut rng, elements) };
        let shape = crate::generators::factorisation(&mut rng, elements);
        let mut wanted: Map = vec![None; elements];
        let mut injective = true;
        for (i, position) in oracle::map(&view).iter().enumerate() {
            if let Some(position) = position {
                injective &= wanted[*position as usize].replace(i as isize).is_none();
            }
        }
        let found = view.invert(&shape).unwrap();
        match &found {
            Some(inverse) => {
                assert!(injective);
                assert_eq!(oracle::map(inverse), wanted, "{view:?} inverted to {shape:?}");
                possible += 1;
            }
            None => {
                assert!(!injective || !oracle::exists(&wanted, &shape), "{view:?} to {shape:?}");
                impossible += 1;
            }
        }
    }
    assert!(possible > 2000 && impossible > 2000, "{possible} possible, {impossible} impossible");
}

#[test]
fn operations_on_a_stack_are_those_on_its_upper_view() {
    let mut stack = ViewStack::new(View::contiguous(&[2, 3]).unwrap().permute(&[1, 0]).unwrap());
    stack.reshape(&[6]).unwrap();
    stack.apply(|top| top.flip(0)).unwrap();
    let before = stack.clone();
    let read = |stack: &ViewStack| -> Vec<_> { (0..6).map(|i| stack.position(&[i])).collect() };
    assert_eq!(read(&stack), [5, 2, 4, 1, 3, 0].map(Some));
    // An error changes nothing, whether it is in the operation or in the range of the result.
    assert!(stack.apply(|top| top.flip(1)).is_err());
    let refused = stack.apply(|_| View::contiguous(&[7]));
    assert_eq!(refused, Err(ViewError::Outer { position: 6, elements: 6 }));
    assert_eq!(stack, before);
    // The lowest view reads the buffer, whose length the stack does not know.
    let mut lowest = ViewStack::new(View::contiguous(&[6]).unwrap());
    lowest.apply(|_| View::contiguous(&[7])).unwrap();
    assert_eq!(lowest.shape(), [7]);
}

#[test]
fn stacks_read_what_their_steps_say() {
    let mut rng = Rng(15);
    let mut deep = 0;
    for _ in 0..3000 {
        let base = chain(&mut rng, 24, 3);
        let mut stack = ViewStack::new(base.clone());
        let mut map = oracle::map(&base);
        for _ in 0..4 {
            if stack.shape().contains(&0) || stack.top().len() > 500 {
                break;
            }
            let shape = crate::generators::factorisation(&mut rng, stack.top().len());
            stack.reshape(&shape).unwrap();
            assert_eq!(stack.shape(), shape);
            // One more step: its effect on the map is that of a view of the same shape.
            let identity = View::contiguous(&shape).unwrap();
            let moved = crate::generators::step(&mut rng, &identity);
            if moved.shape().contains(&0) {
                break;
            }
            map = composed(&oracle::map(&moved), &map);
            stack.push(moved).unwrap();
        }
        let all = oracle::indices(stack.shape());
        let read: Map = all.iter().map(|i| stack.position(i).map(|p| p as isize)).collect();
        assert_eq!(read, map);
        deep += usize::from(stack.as_view().is_none());
        if stack.as_view().is_none() {
            assert!(!oracle::exists(&map, stack.shape()) || stack.views().len() > 2, "{stack:?}");
        }
    }
    assert!(deep > 100, "{deep}");
}
