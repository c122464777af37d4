use std::thread;

use zarr_view::{CopyElement, CopyError, CopyPlan, InstructionSet, Output, View};

use crate::oracle;
use crate::rng::Rng;
use crate::{element, swapped};

/// Copies with every instruction set of this processor; all must give the same result.
pub(crate) fn copy(
    src_view: &View,
    src: &[u8],
    dst_view: &View,
    dst: &mut [u8],
    element: CopyElement,
    fill: &[u8],
) -> Result<(), CopyError> {
    let before = dst.to_vec();
    zarr_view::copy(src_view, src, dst_view, dst, element, fill)?;
    let after = dst.to_vec();
    let plan = CopyPlan::new(src_view, dst_view, element)?;
    for set in InstructionSet::available() {
        dst.copy_from_slice(&before);
        plan.clone().with_instruction_set(set)?.run(src, dst, fill)?;
        assert!(dst == after, "{src_view:?} to {dst_view:?} of {element:?} by {set:?}");
    }
    Ok(())
}

/// The bytes that a copy must leave, all of them.
pub(crate) fn expected(
    src_view: &View,
    src: &[u8],
    dst_view: &View,
    before: &[u8],
    element: CopyElement,
    fill: &[u8],
) -> Vec<u8> {
    let mut after = before.to_vec();
    let size = element.size();
    for (from, to) in oracle::map(src_view).iter().zip(oracle::map(dst_view)) {
        let Some(to) = to else { continue };
        let value = &mut after[to as usize * size..][..size];
        match from {
            Some(from) => {
                value.copy_from_slice(&src[*from as usize * size..][..size]);
                value.chunks_mut(element.unit()).for_each(<[u8]>::reverse);
            }
            None => value.copy_from_slice(fill),
        }
    }
    after
}

pub(crate) fn elements() -> Vec<CopyElement> {
    let mut all: Vec<CopyElement> = [1, 2, 3, 4, 5, 8, 12, 16, 24].map(element).into();
    all.extend([2, 3, 4, 8, 16].map(swapped));
    for (size, unit) in [(4, 2), (8, 4), (16, 8), (16, 4), (12, 4)] {
        all.push(CopyElement::swapped_in_units(size, unit).unwrap());
    }
    all
}

/// A random window of a random array, permuted, reversed and stepped: injective.
fn window(rng: &mut Rng, shape: &[usize]) -> View {
    let rank = shape.len();
    let mut order: Vec<usize> = (0..rank).collect();
    rng.shuffle(&mut order);
    let steps: Vec<usize> = (0..rank).map(|_| if rng.one_in(4) { 2 } else { 1 }).collect();
    let margins: Vec<(usize, usize)> = (0..rank)
        .map(|_| if rng.one_in(3) { (rng.below(3), rng.below(3)) } else { (0, 0) })
        .collect();
    let stored: Vec<usize> =
        order.iter().map(|&d| shape[d] * steps[d] + margins[d].0 + margins[d].1).collect();
    let mut inverse = vec![0; rank];
    for (at, &d) in order.iter().enumerate() {
        inverse[d] = at;
    }
    let mut view = View::contiguous(&stored).unwrap().permute(&inverse).unwrap();
    for d in 0..rank {
        view = view.slice(d, margins[d].0, steps[d] as isize, shape[d]).unwrap();
        if rng.one_in(5) {
            view = view.flip(d).unwrap();
        }
    }
    view
}

fn bytes(rng: &mut Rng, len: usize) -> Vec<u8> {
    (0..len).map(|_| rng.next() as u8).collect()
}

#[test]
fn random_copies_are_exact() {
    let mut rng = Rng(7);
    let elements = elements();
    for round in 0..4000 {
        let rank = rng.below(5);
        let most = [1, 700, 40, 14, 8][rank];
        let shape: Vec<usize> =
            (0..rank).map(|_| rng.below(most) + usize::from(!rng.one_in(40))).collect();
        let mut from = window(&mut rng, &shape);
        let mut to = window(&mut rng, &shape);
        if rank > 0 && rng.one_in(4) {
            // Zero strides in the source.
            let axis = rng.below(rank);
            if shape[axis] > 0 {
                from = from.slice(axis, rng.below(shape[axis]), 0, shape[axis]).unwrap();
            }
        }
        let mut mask = |view: View| {
            let part = shape.iter().map(|&n| {
                let lo = rng.below(n + 1).min(rng.below(n + 1));
                (lo, lo + (n - lo).min(rng.below(n + 1)))
            });
            view.with_mask(&part.collect::<Vec<_>>()).unwrap()
        };
        if round % 3 == 0 {
            from = mask(from);
        }
        if round % 5 == 0 {
            to = mask(to);
        }
        let element = elements[rng.below(elements.len())];
        let (skip_src, skip_dst) = (rng.below(3), rng.below(3));
        let more = rng.below(4);
        let src = bytes(&mut rng, skip_src + from.span().end * element.size() + more);
        let mut dst = bytes(&mut rng, skip_dst + to.span().end * element.size() + more);
        let fill = bytes(&mut rng, element.size());
        let (src, dst) = (&src[skip_src..], &mut dst[skip_dst..]);
        let wanted = expected(&from, src, &to, dst, element, &fill);
        let before = dst.to_vec();
        copy(&from, src, &to, dst, element, &fill).unwrap();
        assert!(dst == wanted, "{from:?} to {to:?} of {element:?}");

        dst.copy_from_slice(&before);
        let mut output = Output::new(dst, &to, element.size()).unwrap();
        output.copy_from(&from, src, element, &fill).unwrap();
        assert!(dst == wanted, "output: {from:?} to {to:?} of {element:?}");
    }
}

#[test]
fn instruction_sets_that_are_missing_are_refused() {
    let view = View::contiguous(&[2]).unwrap();
    let plan = CopyPlan::new(&view, &view, element(1)).unwrap();
    for set in InstructionSet::ALL.iter().copied() {
        let found = plan.clone().with_instruction_set(set).map(|_| ());
        let wanted =
            if set.is_available() { Ok(()) } else { Err(CopyError::InstructionSet { set }) };
        assert_eq!(found, wanted);
    }
    assert!(InstructionSet::best().is_available());
}

/// No product of sizes wraps, whatever the views reach: no buffer is long enough, so it is an
/// error.
#[test]
fn sizes_beyond_every_buffer_are_refused() {
    let most = isize::MAX.unsigned_abs();
    let line = View::contiguous(&[most]).unwrap();
    let side = 1 << (usize::BITS / 2 - 1);
    let square = View::contiguous(&[side, side]).unwrap();
    let all = [
        line.clone(),
        line.flip(0).unwrap(),
        line.slice(0, most / 2, 1, most - most / 2).unwrap(),
        line.slice(0, 0, 3, most / 3).unwrap(),
        View::contiguous(&[1]).unwrap().expand(&[most]).unwrap(),
        View::new(&[2], &[isize::MAX - 1], 0).unwrap(),
        View::new(&[2], &[1 - isize::MAX], isize::MAX - 1).unwrap(),
        View::new(&[4], &[1], isize::MAX - 8).unwrap(),
        square.clone(),
        square.permute(&[1, 0]).unwrap(),
        square.with_mask(&[(5, side / 2), (7, side / 2)]).unwrap(),
        // Windows that slide, and rows that repeat.
        View::new(&[side, side], &[1, 1], 0).unwrap(),
        View::new(&[side, side], &[0, 1], 0).unwrap(),
        View::new(&[side, side], &[1, 0], 0).unwrap(),
    ];
    for (from, to) in all.iter().flat_map(|from| all.iter().map(move |to| (from, to))) {
        if from.shape() != to.shape() {
            continue;
        }
        for size in [1, 2, 3, 4, 8, 16, 24, 1 << 20, most, usize::MAX] {
            for element in [element(size), swapped(size)] {
                let needed = |view: &View| view.span().end.saturating_mul(size);
                let refused = copy(from, &[0; 3], to, &mut [0; 3], element, &[]);
                let wanted = if needed(from) > 3 {
                    Err(CopyError::Source { needed: needed(from), found: 3 })
                } else if needed(to) > 3 {
                    Err(CopyError::Destination { needed: needed(to), found: 3 })
                } else {
                    // One element to one element, however often.
                    Ok(())
                };
                assert_eq!(refused, wanted, "{from:?} to {to:?} of {element:?}");
                assert!(Output::new(&mut [0; 3], to, size).is_err());
            }
        }
    }
}

/// A plan works for an output wherever it lies, even if its own view starts past every buffer.
#[test]
fn a_plan_that_starts_past_every_buffer_runs_at_its_output() {
    let far = View::new(&[2, 2], &[1, 3], isize::MAX - 9).unwrap();
    let near = View::new(&[2, 2], &[1, 3], 1).unwrap();
    let source = View::contiguous(&[2, 2]).unwrap();
    let plan = CopyPlan::new(&source, &far, swapped(2)).unwrap();
    let mut buffer = *b"............";
    let mut output = Output::new(&mut buffer, &near, 2).unwrap();
    output.run(&plan, b"abcdefgh", &[]).unwrap();
    assert_eq!(&buffer, b"..bafe..dchg");
}

/// Threads may have stacks of 64 KiB, and the crate also runs without threads.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts a thread")]
fn a_small_stack_is_enough() {
    let cases: &[(&[usize], &[usize], CopyElement)] = &[
        (&[2203, 2111], &[1, 0], element(1)),
        (&[1409, 1601], &[1, 0], swapped(2)),
        (&[1031, 1153], &[1, 0], element(4)),
        (&[769, 771], &[1, 0], swapped(8)),
        (&[300, 611], &[1, 0], element(24)),
        (&[40, 30, 70, 60], &[3, 0, 2, 1], element(1)),
        (&[40, 30, 70, 6], &[0, 3, 1, 2], element(8)),
        (&[90, 100], &[1, 0], swapped(4)),
        (&[90, 100], &[1, 0], CopyElement::swapped_in_units(16, 8).unwrap()),
    ];
    for &(shape, order, element) in cases {
        let from = View::contiguous(shape).unwrap().permute(order).unwrap();
        let to = View::contiguous(from.shape()).unwrap();
        let src: Vec<u8> =
            (0..from.len() * element.size()).map(|i| (i * 31 + i / 253) as u8).collect();
        let wanted = expected(&from, &src, &to, &vec![0; src.len()], element, &[]);
        for set in InstructionSet::available() {
            let (from, to, src) = (from.clone(), to.clone(), src.clone());
            let thread = thread::Builder::new().stack_size(64 << 10);
            let run = move || {
                let plan = CopyPlan::new(&from, &to, element).unwrap();
                let mut dst = vec![0; src.len()];
                plan.with_instruction_set(set).unwrap().run(&src, &mut dst, &[]).unwrap();
                dst
            };
            let found = thread.spawn(run).unwrap().join().unwrap();
            assert!(found == wanted, "{shape:?} to {order:?} of {element:?} by {set:?}");
        }
    }
}
