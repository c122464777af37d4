//! Views of any numbers: no operation panics, and every result equals that of brute force.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use zarr_view::{CopyElement, CopyPlan, InstructionSet, Output, View, copy};

/// One step of a chain, with arguments that need not fit.
#[derive(Debug, Arbitrary)]
enum Step {
    Permute(Vec<u8>),
    Reshape(Vec<u8>),
    /// The factors of a shape of the right size: each byte picks a divisor of the rest.
    Factor(Vec<u8>),
    Flip(u8),
    Shrink(Vec<(u8, u8)>),
    Pad(Vec<(u8, u8)>),
    Slice(u8, u8, i8, u8),
    Expand(Vec<u8>),
    Mask(Vec<(u8, u8)>),
    Invert(Vec<u8>),
}

#[derive(Debug, Arbitrary)]
struct Input {
    /// Mostly small numbers, for the oracle; the flag turns them into extreme ones.
    dims: Vec<(u8, i8, u8, u8)>,
    offset: i16,
    extreme: bool,
    steps: Vec<Step>,
    element: u8,
    swap: bool,
}

type Map = Vec<Option<usize>>;

/// The oracle examines each element up to this number.
const SMALL: usize = 4096;

fn map(view: &View) -> Map {
    let mut index = vec![0; view.rank()];
    let full: Vec<_> = view.shape().iter().map(|&n| (0, n)).collect();
    let mask = view.mask().unwrap_or(&full);
    (0..view.len())
        .map(|_| {
            let valid = index.iter().zip(mask).all(|(&i, &(lo, hi))| lo <= i && i < hi);
            let sum: i128 =
                index.iter().zip(view.strides()).map(|(&i, &s)| i as i128 * s as i128).sum();
            for (i, &n) in index.iter_mut().zip(view.shape()).rev() {
                *i += 1;
                if *i < n {
                    break;
                }
                *i = 0;
            }
            valid.then(|| {
                usize::try_from(sum + view.offset() as i128).expect("positions are not negative")
            })
        })
        .collect()
}

/// Whether a shape can hold a map: a box of valid elements, and one step along each dimension.
fn exists(map: &Map, shape: &[usize]) -> bool {
    let valid = || map.iter().enumerate().filter_map(|(flat, position)| Some((flat, (*position)?)));
    let Some((first, base)) = valid().next() else { return !shape.is_empty() || map.is_empty() };
    let below: Vec<usize> = (1..=shape.len()).map(|d| shape[d..].iter().product()).collect();
    let index = |flat: usize, d: usize| flat / below[d] % shape[d];
    let mut sizes = vec![1; shape.len()];
    let mut strides = vec![0_i128; shape.len()];
    for (flat, position) in valid() {
        for d in 0..shape.len() {
            if index(flat, d) < index(first, d) {
                return false;
            }
            sizes[d] = sizes[d].max(index(flat, d) - index(first, d) + 1);
            // One step along this dimension alone.
            if flat == first + below[d] && index(flat, d) == index(first, d) + 1 {
                strides[d] = position as i128 - base as i128;
            }
        }
    }
    sizes.iter().product::<usize>() == valid().count()
        && valid().all(|(flat, position)| {
            let steps =
                (0..shape.len()).map(|d| (index(flat, d) - index(first, d)) as i128 * strides[d]);
            base as i128 + steps.sum::<i128>() == position as i128
        })
}

fn apply(view: &View, step: &Step) -> Option<View> {
    let wide = |list: &[u8]| -> Vec<usize> { list.iter().map(|&n| n as usize).collect() };
    let pairs = |list: &[(u8, u8)]| -> Vec<(usize, usize)> {
        list.iter().map(|&(a, b)| (a as usize, b as usize)).collect()
    };
    let reshape = |shape: &[usize]| {
        let result = view.reshape(shape).ok()?;
        if view.len() <= SMALL {
            let before = map(view);
            match &result {
                Some(result) => assert_eq!(map(result), before, "{view:?} to {shape:?}"),
                None => assert!(!exists(&before, shape), "{view:?} to {shape:?} is missed"),
            }
        }
        result
    };
    match step {
        Step::Permute(order) => view.permute(&wide(order)).ok(),
        Step::Reshape(shape) => reshape(&wide(shape)),
        Step::Factor(picks) => {
            let mut rest = view.len();
            let mut shape = Vec::new();
            for &pick in picks {
                let size = (1..=pick as usize + 1).rev().find(|n| rest % n == 0)?;
                shape.push(size);
                rest /= size;
            }
            shape.push(rest);
            reshape(&shape)
        }
        Step::Flip(axis) => view.flip(*axis as usize).ok(),
        Step::Shrink(ranges) => {
            let ranges: Vec<_> = ranges.iter().map(|&(a, b)| a as usize..b as usize).collect();
            view.shrink(&ranges).ok()
        }
        Step::Pad(margins) => view.pad(&pairs(margins)).ok(),
        Step::Slice(axis, start, step, count) => {
            view.slice(*axis as usize, *start as usize, *step as isize, *count as usize).ok()
        }
        Step::Expand(shape) => view.expand(&wide(shape)).ok(),
        Step::Mask(mask) => view.with_mask(&pairs(mask)).ok(),
        Step::Invert(shape) => view.invert(&wide(shape)).ok()?,
    }
}

fuzz_target!(|input: Input| {
    let grow = |n: i64| {
        if input.extreme { n.wrapping_mul(0x0123_4567_89ab_cdef) as isize } else { n as isize }
    };
    let dims = &input.dims[..input.dims.len().min(6)];
    let shape: Vec<usize> = dims
        .iter()
        .map(|dim| if input.extreme { grow(dim.0.into()) as usize } else { dim.0 as usize % 16 })
        .collect();
    let strides: Vec<isize> = dims.iter().map(|dim| grow(dim.1.into())).collect();
    let mask: Vec<(usize, usize)> = dims
        .iter()
        .zip(&shape)
        .map(|(dim, &n)| ((dim.2 as usize).min(n), (dim.3 as usize).min(n)))
        .collect();
    let Ok(mut view) = View::masked(&shape, &strides, grow(input.offset.into()), &mask) else {
        return;
    };
    for step in input.steps.iter().take(8) {
        let next = apply(&view, step);
        let _ = (view.span(), view.split(5), view.runs().take(20).count());
        if view.len() <= SMALL {
            let before = map(&view);
            assert_eq!(map(&view.coalesce()), before);
        }
        // The step as a separate view, over the previous one.
        if let Ok(identity) = View::contiguous(view.shape())
            && view.len() <= SMALL
            && let Some(outer) = apply(&identity, step)
            && outer.len() <= SMALL
            && let Ok(result) = outer.compose_over(&view)
        {
            let below = map(&view);
            let wanted: Map = map(&outer).iter().map(|p| p.and_then(|p| below[p])).collect();
            match &result {
                Some(result) => assert_eq!(map(result), wanted, "{outer:?} over {view:?}"),
                None => {
                    assert!(!exists(&wanted, outer.shape()), "{outer:?} over {view:?} is missed")
                }
            }
        }
        if let Some(next) = next {
            view = next;
        }
    }
    // Plans of any size on empty buffers: refused if an element would move.
    let span = view.span();
    let flat = View::contiguous(view.shape()).expect("the view has this shape");
    for size in [1, 2, 4, 12, 1 << 20, isize::MAX as usize, usize::MAX] {
        for element in [CopyElement::try_from(size), CopyElement::swapped_in_units(size, size)] {
            let element = element.expect("above 0");
            for (from, to) in [(&view, &flat), (&flat, &view), (&view, &view)] {
                let moves = !from.span().is_empty() || !to.span().is_empty();
                assert_eq!(copy(from, &[], to, &mut [], element, &[]).is_err(), moves);
            }
        }
        assert!(span.is_empty() || Output::new(&mut [], &view, size).is_err());
    }
    // Compare a copy with the map.
    let size = [1, 2, 3, 4, 8, 12, 16][input.element as usize % 7];
    // Few sources are large.
    let most = if input.element < 240 { 1 << 11 } else { 1 << 16 };
    if view.len() > SMALL || span.end > most {
        return;
    }
    let unit = if input.swap { size } else { 1 };
    let element = CopyElement::swapped_in_units(size, unit).expect("a unit that divides");
    let source: Vec<u8> = (0..span.end * size).map(|i| (i * 7 + i / 256) as u8).collect();
    let fill: Vec<u8> = (0..size as u8).collect();
    let positions = map(&view);
    let wanted: Vec<u8> = positions
        .iter()
        .flat_map(|position| match position {
            Some(at) => {
                let mut value = source[at * size..][..size].to_vec();
                if input.swap {
                    value.reverse();
                }
                value
            }
            None => fill.clone(),
        })
        .collect();
    let to = View::contiguous(view.shape()).unwrap();
    let plan = CopyPlan::new(&view, &to, element).unwrap();
    for set in InstructionSet::available() {
        let mut buffer = vec![0; wanted.len()];
        plan.clone().with_instruction_set(set).unwrap().run(&source, &mut buffer, &fill).unwrap();
        assert_eq!(buffer, wanted, "{set:?}");
    }
});
