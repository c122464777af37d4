use zarr_view::{Element, Output, View, copy, copy_in_order, gather, scatter};

use crate::oracle;
use crate::rng::Rng;

/// What a copy must leave behind, byte by byte.
fn expected(
    src_view: &View,
    src: &[u8],
    dst_view: &View,
    before: &[u8],
    element: Element,
    fill: &[u8],
) -> Vec<u8> {
    let mut after = before.to_vec();
    let size = element.size();
    for (from, to) in oracle::map(src_view).iter().zip(oracle::map(dst_view)) {
        let Some(to) = to else { continue };
        let value: Vec<u8> = match from {
            Some(from) => src[*from as usize * size..][..size]
                .chunks(element.unit())
                .flat_map(|unit| unit.iter().rev().copied().collect::<Vec<u8>>())
                .collect(),
            None => fill.to_vec(),
        };
        after[to as usize * size..][..size].copy_from_slice(&value);
    }
    after
}

pub(crate) fn elements() -> Vec<Element> {
    let mut all: Vec<Element> = [1, 2, 3, 4, 5, 8, 12, 16, 24].map(Element::new).into();
    all.extend([2, 3, 4, 8, 16].map(Element::swapped));
    for (size, unit) in [(4, 2), (8, 4), (16, 8), (16, 4), (12, 4)] {
        all.push(Element::swapped_in_units(size, unit).unwrap());
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
fn ranges_of_elements_are_exact() {
    let mut rng = Rng(8);
    let elements = elements();
    for _ in 0..2000 {
        let rank = rng.below(5);
        let shape: Vec<usize> = (0..rank).map(|_| rng.below(7) + 1).collect();
        let view = window(&mut rng, &shape);
        let element = elements[rng.below(elements.len())];
        let size = element.size();
        let count = view.len();
        let first = rng.below(count + 1);
        let range = first..first + rng.below(count - first + 1);
        let flat = View::contiguous(&[count]).unwrap();
        let part = vec![(range.start, range.end)];

        // Gather: as if copying to a flat array of which only the range is written.
        let src = bytes(&mut rng, view.span().end * size);
        let mut whole = vec![0; count * size];
        copy_in_order(&view, &src, &flat, &mut whole, element, &[]).unwrap();
        let map: Vec<usize> = oracle::map(&view).iter().map(|p| p.unwrap() as usize).collect();
        let mut direct = vec![0; count * size];
        for (i, &p) in map.iter().enumerate() {
            let one = expected(
                &View::contiguous(&[]).unwrap(),
                &src[p * size..][..size],
                &View::contiguous(&[]).unwrap(),
                &vec![0; size],
                element,
                &[],
            );
            direct[i * size..][..size].copy_from_slice(&one);
        }
        assert!(whole == direct);
        let mut tile = vec![0; range.len() * size];
        gather(&view, &src, range.clone(), &mut tile, element, &[]).unwrap();
        assert!(tile == whole[range.start * size..range.end * size]);

        // Scatter: the flat side masked to the range, seen from the view's shape.
        let mut dst = bytes(&mut rng, view.span().end * size);
        let mut wanted = dst.clone();
        let source = bytes(&mut rng, count * size);
        for i in range.clone() {
            let from = View::new(&[], &[], i as isize).unwrap();
            let to = View::new(&[], &[], map[i] as isize).unwrap();
            wanted = expected(&from, &source, &to, &wanted, element, &[]);
        }
        let tile = &source[range.start * size..range.end * size];
        scatter(tile, range.clone(), &view, &mut dst, element).unwrap();
        assert!(dst == wanted, "{view:?} {range:?} {part:?}");
    }
}
