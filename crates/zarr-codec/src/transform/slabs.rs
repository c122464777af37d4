//! A stored array in slabs, so that unpacked elements are copied while they are in the cache.
//!
//! A slab is a stretch of the stored array. The dimension of the view with the largest stride is
//! cut, or the next one if a single index is too long. It is a box of the view's shape, so one copy
//! moves it to its place.

use std::ops::Range;

use zarr_view::{CopyError, View};

/// The boxes of a view of a stored array, each spanning at most a given number of its elements.
pub(super) struct Slabs {
    /// The dimensions that are cut, the one with the largest stride first, each with its step.
    cuts: Vec<(usize, usize)>,
    shape: Vec<usize>,
    at: Option<Vec<usize>>,
}

impl Slabs {
    /// The slabs of a view without a mask and without negative strides.
    pub(super) fn new(view: &View, most: usize) -> Self {
        let stride = |axis: &usize| view.strides().get(*axis).map_or(0, |n| n.unsigned_abs());
        let size = |axis: &usize| view.shape().get(*axis).copied().unwrap_or(0);
        let mut order: Vec<usize> = (0..view.rank()).collect();
        order.sort_by_key(|axis| std::cmp::Reverse(stride(axis)));
        // The number of elements that the view spans, in the loop without the dimensions cut so
        // far.
        let reach = |axis: &usize| size(axis).saturating_sub(1).saturating_mul(stride(axis));
        let mut left = view.span().len();
        let mut cuts = Vec::new();
        for axis in order {
            if left <= most {
                break;
            }
            left = left.saturating_sub(reach(&axis));
            let more = most.saturating_sub(left).checked_div(stride(&axis)).unwrap_or(0);
            // At multiples of 64, packed elements start at a byte and kernels run at full speed.
            let step = match more + 1 {
                many @ 64.. => many - many % 64,
                few => few,
            };
            cuts.push((axis, step));
        }
        let at = (!view.is_empty()).then(|| vec![0; cuts.len()]);
        Self { cuts, shape: view.shape().to_vec(), at }
    }
}

impl Iterator for Slabs {
    type Item = Vec<Range<usize>>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at.as_mut()?;
        let mut ranges: Vec<Range<usize>> = self.shape.iter().map(|size| 0..*size).collect();
        for (&(axis, step), start) in self.cuts.iter().zip(&*at) {
            let range = ranges.get_mut(axis)?;
            *range = *start..(start + step).min(range.end);
        }
        // The next slab; the last cut varies fastest.
        let more = self.cuts.iter().zip(at).rev().any(|((axis, step), at)| {
            *at += step;
            let inside = self.shape.get(*axis).is_some_and(|size| *at < *size);
            if !inside {
                *at = 0;
            }
            inside
        });
        if !more {
            self.at = None;
        }
        Some(ranges)
    }
}

/// A slab as a view of only its own elements.
pub(super) fn alone(slab: &View) -> Result<View, CopyError> {
    // With no mask and no negative stride the offset is the first position.
    Ok(View::new(slab.shape(), slab.strides(), 0)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Views of a stored array in any order, views of parts of it, and views with steps.
    fn views() -> Vec<View> {
        let mut views = Vec::new();
        for shape in [vec![], vec![7], vec![3, 5], vec![4, 1, 3], vec![2, 3, 5], vec![3, 200]] {
            let view = View::contiguous(&shape).unwrap();
            let axes: Vec<usize> = (0..shape.len()).collect();
            for turn in 0..shape.len().max(1) {
                let mut order = axes.clone();
                order.rotate_left(turn.min(shape.len()));
                let turned = view.permute(&order).unwrap();
                let inside: Vec<_> = turned
                    .shape()
                    .iter()
                    .map(|size| size.min(&2).saturating_sub(1)..*size)
                    .collect();
                views.push(turned.shrink(&inside).unwrap());
                for (axis, size) in turned.shape().iter().enumerate() {
                    views.push(
                        turned.slice(axis, size / 3, 2, (size - size / 3).div_ceil(2)).unwrap(),
                    );
                }
                views.push(turned);
            }
        }
        views.push(View::contiguous(&[3, 0]).unwrap());
        views
    }

    #[test]
    fn slabs_are_a_partition_and_no_longer_than_asked() {
        for view in views() {
            for most in [1, 2, 3, 7, 64, 70, 1000] {
                let mut seen = vec![0; view.span().end];
                for ranges in Slabs::new(&view, most) {
                    let slab = view.shrink(&ranges).unwrap();
                    assert!((1..=most).contains(&slab.span().len()), "{view:?} {most}");
                    let first = slab.span().start;
                    let alone = alone(&slab).unwrap();
                    for run in alone.runs() {
                        let zarr_view::Run::Elements { position, len } = run else { panic!() };
                        seen[first + position..][..len].iter_mut().for_each(|n| *n += 1);
                    }
                }
                let mut wanted = vec![0; view.span().end];
                for run in view.runs() {
                    if let zarr_view::Run::Elements { position, len } = run {
                        wanted[position..][..len].iter_mut().for_each(|n| *n += 1);
                    }
                }
                assert_eq!(seen, wanted, "{view:?} {most}");
            }
        }
    }
}
