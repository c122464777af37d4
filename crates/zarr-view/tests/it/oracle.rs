//! The definition of a view, element by element, and whether any view is a given map. Nothing
//! here uses the algebra under test: only shapes, strides, offset and mask as numbers.

use zarr_view::View;

/// The position of each element in C order; `None` where it is masked.
pub(crate) type Map = Vec<Option<isize>>;

/// All indices of a shape in C order.
pub(crate) fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for &size in shape {
        all = all
            .iter()
            .flat_map(|index: &Vec<usize>| {
                (0..size).map(move |i| index.iter().copied().chain([i]).collect())
            })
            .collect();
    }
    all
}

/// The map of strides, offset and mask, from the definition.
pub(crate) fn map_of(
    shape: &[usize],
    strides: &[isize],
    offset: isize,
    mask: &[(usize, usize)],
) -> Map {
    let mut all = vec![Some(offset)];
    for ((&size, &stride), &(lo, hi)) in shape.iter().zip(strides).zip(mask) {
        let along = |at: Option<isize>| {
            (0..size).map(move |i| Some(at.filter(|_| lo <= i && i < hi)? + i as isize * stride))
        };
        all = all.into_iter().flat_map(along).collect();
    }
    all
}

/// The map of a view, from its public numbers.
pub(crate) fn map(view: &View) -> Map {
    let full: Vec<_> = view.shape().iter().map(|&size| (0, size)).collect();
    map_of(view.shape(), view.strides(), view.offset(), view.mask().unwrap_or(&full))
}

/// Whether some view of `shape` is this map: the valid elements must fill a box, and every
/// position in it must follow from the corner and one step along each dimension.
pub(crate) fn exists(map: &Map, shape: &[usize]) -> bool {
    let all = indices(shape);
    assert_eq!(all.len(), map.len());
    let valid: Vec<&Vec<usize>> =
        all.iter().zip(map).filter(|(_, p)| p.is_some()).map(|(i, _)| i).collect();
    if valid.is_empty() {
        return !shape.is_empty() || map.is_empty();
    }
    let lo: Vec<usize> =
        (0..shape.len()).map(|d| valid.iter().map(|i| i[d]).min().unwrap()).collect();
    let hi: Vec<usize> =
        (0..shape.len()).map(|d| valid.iter().map(|i| i[d]).max().unwrap() + 1).collect();
    let volume: usize = lo.iter().zip(&hi).map(|(lo, hi)| hi - lo).product();
    if volume != valid.len() {
        return false;
    }
    let at = |index: &[usize]| {
        let flat = index.iter().zip(shape).fold(0, |flat, (&i, &size)| flat * size + i);
        map[flat].unwrap()
    };
    let first = at(&lo);
    let strides: Vec<isize> = (0..shape.len())
        .map(|d| {
            let mut next = lo.clone();
            next[d] += 1;
            if next[d] < hi[d] { at(&next) - first } else { 0 }
        })
        .collect();
    valid.iter().all(|index| {
        let steps = (0..shape.len()).map(|d| (index[d] - lo[d]) as isize * strides[d]);
        at(index) == first + steps.sum::<isize>()
    })
}

/// Every shape of `elements` elements without sizes of 1.
pub(crate) fn factorisations(elements: usize) -> Vec<Vec<usize>> {
    if elements == 1 {
        return vec![vec![]];
    }
    (2..=elements)
        .filter(|size| elements.is_multiple_of(*size))
        .flat_map(|size| {
            factorisations(elements / size)
                .into_iter()
                .map(move |rest| [size].into_iter().chain(rest).collect())
        })
        .collect()
}

/// Every shape of `elements` elements, with up to `ones` sizes of 1 inserted anywhere.
pub(crate) fn shapes(elements: usize, ones: usize) -> Vec<Vec<usize>> {
    let mut all = factorisations(elements);
    let mut last = all.clone();
    for _ in 0..ones {
        let mut next: Vec<Vec<usize>> = last
            .iter()
            .flat_map(|shape| {
                (0..=shape.len()).map(move |at| {
                    let mut shape = shape.clone();
                    shape.insert(at, 1);
                    shape
                })
            })
            .collect();
        next.sort();
        next.dedup();
        all.extend(next.iter().cloned());
        last = next;
    }
    all
}

/// Every mask of a shape, the full one and empty ones included.
pub(crate) fn masks(shape: &[usize]) -> Vec<Vec<(usize, usize)>> {
    let mut all = vec![vec![]];
    for &size in shape {
        all = all
            .iter()
            .flat_map(|mask: &Vec<(usize, usize)>| {
                (0..=size).flat_map(move |lo| {
                    (lo..=size).map(move |hi| mask.iter().copied().chain([(lo, hi)]).collect())
                })
            })
            .collect();
    }
    all
}
