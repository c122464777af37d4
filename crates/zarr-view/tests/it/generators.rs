//! Seeded generators of chains of views. The published rate of missed compositions is measured on
//! them.

use zarr_view::View;

use crate::rng::Rng;

/// A random factorisation of `elements`, sometimes with a size of 1.
pub(crate) fn factorisation(rng: &mut Rng, elements: usize) -> Vec<usize> {
    let mut shape = Vec::new();
    let mut rest = elements;
    while rest > 1 {
        let divisors: Vec<usize> = (2..=rest).filter(|d| rest.is_multiple_of(*d)).collect();
        let size = divisors[rng.below(divisors.len())];
        shape.push(size);
        rest /= size;
        if rng.one_in(8) {
            shape.push(1);
        }
    }
    rng.shuffle(&mut shape);
    shape
}

/// Any single step of a chain that keeps the view below 2,000 elements: permute, shrink, flip,
/// pad, expand, or a reshape that exists.
pub(crate) fn step(rng: &mut Rng, view: &View) -> View {
    let shape = view.shape().to_vec();
    let rank = shape.len();
    let next = match rng.below(6) {
        0 => {
            let mut order: Vec<usize> = (0..rank).collect();
            rng.shuffle(&mut order);
            view.permute(&order).unwrap()
        }
        1 => {
            let ranges: Vec<_> = shape
                .iter()
                .map(|&size| {
                    if size == 0 || !rng.one_in(2) {
                        return 0..size;
                    }
                    let start = rng.below(size);
                    start..start + 1 + rng.below(size - start)
                })
                .collect();
            view.shrink(&ranges).unwrap()
        }
        2 if rank > 0 => view.flip(rng.below(rank)).unwrap(),
        3 => {
            let margins: Vec<_> = shape
                .iter()
                .map(|_| if rng.one_in(3) { (rng.below(3), rng.below(3)) } else { (0, 0) })
                .collect();
            view.pad(&margins).unwrap()
        }
        4 => {
            let wider: Vec<usize> = shape
                .iter()
                .map(|&size| if size == 1 && rng.one_in(2) { 1 + rng.below(4) } else { size })
                .collect();
            view.expand(&wider).unwrap()
        }
        _ => {
            let shape = factorisation(rng, view.len());
            view.reshape(&shape).unwrap().unwrap_or_else(|| view.clone())
        }
    };
    if next.len() < 2000 { next } else { view.clone() }
}

/// A view of `elements` buffer elements made by a chain of up to `steps` steps.
pub(crate) fn chain(rng: &mut Rng, elements: usize, steps: usize) -> View {
    let shape = factorisation(rng, elements);
    let mut view = View::contiguous(&shape).unwrap();
    for _ in 0..rng.below(steps + 1) {
        view = step(rng, &view);
    }
    view
}

/// A view of arbitrary strides and mask with all positions below `elements`.
pub(crate) fn strided(rng: &mut Rng, elements: usize) -> View {
    loop {
        let rank = rng.below(4);
        let shape: Vec<usize> = (0..rank).map(|_| 1 + rng.below(5)).collect();
        let strides: Vec<isize> = (0..rank).map(|_| rng.between(-8, 8)).collect();
        let full = rng.one_in(2);
        let mask: Vec<(usize, usize)> = shape
            .iter()
            .map(|&size| {
                let lo = if full { 0 } else { rng.below(size) };
                (lo, if full { size } else { lo + 1 + rng.below(size - lo) })
            })
            .collect();
        let offset = rng.between(-20, elements as isize);
        if let Ok(view) = View::masked(&shape, &strides, offset, &mask)
            && view.span().end <= elements
        {
            return view;
        }
    }
}
