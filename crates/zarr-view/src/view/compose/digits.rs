//! Composition in the digits of the inner index.
//!
//! Write each position of the outer view as an index of the inner one: its *digits*. Suppose that
//! no step of any outer dimension makes a digit overflow. Then the digits and the inner position
//! are linear in the outer index, and the inner mask bounds linear forms.

use smallvec::SmallVec;

use crate::view::index::unravel;
use crate::view::progressions::Progression;
use crate::view::{Dims, View, signed};

/// The valid indices of each outer dimension, as (first, one past the last).
type Bounds = Dims<(usize, usize)>;

/// The maximum number of rounds in which bounds tighten each other. One or two are nearly always
/// enough; where each bound moves the other by one, the number of rounds would depend on the
/// sizes.
const ROUNDS: usize = 64;

/// The composition over an inner view without a mask. `None` means undecided: digits carry.
///
/// As [`Digits`], without the bounds that only a mask needs. Both views have a valid index.
pub(super) fn compose_whole(outer: &View, inner: &View) -> Option<View> {
    /// One digit: its size, its value at the lowest valid index, and its range at all of them.
    #[derive(Clone, Copy, Default)]
    struct Digit {
        size: usize,
        stride: isize,
        origin: isize,
        low: isize,
        high: isize,
    }
    let first = outer.first_position();
    let (mut rest, mut position) = (first, inner.offset);
    let relation = inner.progressions();
    let mut digits: Dims<Digit> = Dims::new();
    for run in &relation.list {
        let origin = signed(rest % run.extent);
        rest /= run.extent;
        // Partial sums may wrap; the total is a position.
        position = position.wrapping_add(origin.wrapping_mul(run.stride));
        let Progression { extent: size, stride, .. } = *run;
        digits.push(Digit { size, stride, origin, low: origin, high: origin });
    }
    let mut strides: Dims<isize> = Dims::repeat(0, outer.rank());
    let digits = &mut digits[..];
    for (axis, to) in strides.iter_mut().enumerate() {
        let (lo, hi) = outer.valid(axis);
        if hi - lo == 1 {
            continue;
        }
        let mut next = first.wrapping_add_signed(outer.strides[axis]);
        for digit in &mut *digits {
            let step = signed(next % digit.size) - digit.origin;
            next /= digit.size;
            // The difference of two positions, so the sum fits even if its terms do not.
            *to = to.wrapping_add(step.wrapping_mul(digit.stride));
            let reach = step.saturating_mul(signed(hi - lo - 1));
            digit.low = digit.low.saturating_add(reach.min(0));
            digit.high = digit.high.saturating_add(reach.max(0));
        }
    }
    if digits.iter().any(|digit| digit.low < 0 || digit.high >= signed(digit.size)) {
        return None;
    }
    let bounds = (0..outer.rank()).map(|axis| outer.valid(axis)).collect();
    View::from_corner(outer.shape.clone(), position.cast_unsigned(), strides, bounds)
}

/// An outer view with at least one valid index, and its digits in an inner one.
pub(super) struct Digits<'v> {
    outer: &'v View,
    inner: &'v View,
    /// The outer dimensions with several valid indices.
    dims: Dims<usize>,
    /// The digits of the lowest valid index.
    origin: Dims<usize>,
    /// How far digit `j` moves with one step along `dims[k]`, at `k * digits + j`. No digit leaves
    /// its range between a first element and its neighbour, even if a carry occurs between them.
    steps: SmallVec<[isize; 16]>,
}

/// The outer indices that an inner mask keeps valid.
enum Narrowed {
    /// A box in which every index is valid.
    To(Bounds),
    /// No index.
    Nothing,
    /// Not a box, or no box was found.
    Open,
}

impl<'v> Digits<'v> {
    pub(super) fn new(outer: &'v View, inner: &'v View) -> Self {
        let dims: Dims<usize> = (0..outer.rank()).filter(|&axis| outer.extent(axis) > 1).collect();
        let first = outer.first_position();
        let origin = unravel(first, &inner.shape);
        let mut steps = SmallVec::new();
        for &axis in &dims {
            let next = unravel(first.wrapping_add_signed(outer.strides[axis]), &inner.shape);
            steps.extend(next.iter().zip(&origin).map(|(&to, &from)| signed(to) - signed(from)));
        }
        Self { outer, inner, dims, origin, steps }
    }

    /// How far each digit moves with one step along `dims[k]`.
    #[inline]
    fn steps(&self, k: usize) -> &[isize] {
        let digits = self.origin.len();
        &self.steps[k * digits..(k + 1) * digits]
    }

    /// The composition. `None` means undecided: digits carry, or the mask cuts diagonally.
    pub(super) fn compose(&self) -> Option<View> {
        let bounds: Bounds = (0..self.outer.rank()).map(|axis| self.outer.valid(axis)).collect();
        for (digit, &size) in self.inner.shape.iter().enumerate() {
            let (low, high) = self.reach(&bounds, digit, None);
            if low < 0 || high >= signed(size) {
                return None;
            }
        }
        match self.narrow(bounds) {
            Narrowed::To(bounds) => self.view(bounds),
            Narrowed::Nothing => {
                let masked = !self.outer.shape.is_empty();
                masked.then(|| View::masked_out(self.outer.shape.clone()))
            }
            Narrowed::Open => None,
        }
    }

    /// The lowest and the highest value of a digit within `bounds`, with dimension `but` of
    /// `dims` fixed at its first index. Exact unless it exceeds an `isize`, as no digit does.
    #[inline]
    fn reach(&self, bounds: &Bounds, digit: usize, but: Option<usize>) -> (isize, isize) {
        let mut low = signed(self.origin[digit]);
        let mut high = low;
        for (k, &axis) in self.dims.iter().enumerate() {
            let step = self.steps(k)[digit];
            if Some(k) != but && step != 0 {
                let ((start, _), (lo, hi)) = (self.outer.valid(axis), bounds[axis]);
                let first = signed(lo - start).saturating_mul(step);
                let last = signed(hi - 1 - start).saturating_mul(step);
                low = low.saturating_add(first.min(last));
                high = high.saturating_add(first.max(last));
            }
        }
        (low, high)
    }

    /// Tightens `bounds` until the inner mask hides nothing within them.
    fn narrow(&self, mut bounds: Bounds) -> Narrowed {
        for round in 0.. {
            if round == ROUNDS {
                return Narrowed::Open;
            }
            match self.tighten(&mut bounds) {
                Some(true) => {}
                Some(false) => break,
                None => return Narrowed::Nothing,
            }
        }
        for digit in 0..self.inner.rank() {
            let (low, high) = self.reach(&bounds, digit, None);
            let (lo, hi) = self.inner.valid(digit);
            if high < signed(lo) || low >= signed(hi) {
                return Narrowed::Nothing;
            }
            if low < signed(lo) || high >= signed(hi) {
                return Narrowed::Open;
            }
        }
        Narrowed::To(bounds)
    }

    /// Drops the indices that are invalid for every choice of the others. Returns whether there
    /// were any; `None` if no index is left.
    fn tighten(&self, bounds: &mut Bounds) -> Option<bool> {
        let mut changed = false;
        for digit in 0..self.inner.rank() {
            let (lo, hi) = self.inner.valid(digit);
            let (lo, hi) = (signed(lo), signed(hi) - 1);
            for (k, &axis) in self.dims.iter().enumerate() {
                let step = self.steps(k)[digit];
                if step == 0 {
                    continue;
                }
                // lo <= low..high + step * i <= hi for some choice, so
                // lo - high <= step * i <= hi - low.
                let (low, high) = self.reach(bounds, digit, Some(k));
                let (least, most) = if step > 0 {
                    (-(high - lo).div_euclid(step), (hi - low).div_euclid(step))
                } else {
                    (-(hi - low).div_euclid(-step), (high - lo).div_euclid(-step))
                };
                let start = signed(self.outer.valid(axis).0);
                let (old_lo, old_hi) = bounds[axis];
                let new_lo = start.saturating_add(least).max(signed(old_lo));
                let new_hi = start.saturating_add(most).saturating_add(1).min(signed(old_hi));
                if new_lo >= new_hi {
                    return None;
                }
                // Between the old bounds.
                let new = (new_lo.cast_unsigned(), new_hi.cast_unsigned());
                changed |= new != bounds[axis];
                bounds[axis] = new;
            }
        }
        Some(changed)
    }

    /// The view with the valid indices `bounds`: the position of the lowest remaining index, which
    /// is valid, and the strides from there.
    fn view(&self, bounds: Bounds) -> Option<View> {
        let mut strides: Dims<isize> = Dims::repeat(0, self.outer.rank());
        let mut index = self.origin.clone();
        for (k, &axis) in self.dims.iter().enumerate() {
            let (lo, hi) = bounds[axis];
            let moved = signed(lo - self.outer.valid(axis).0);
            for (digit, step) in index.iter_mut().zip(self.steps(k)) {
                // Partial sums may wrap; the digit itself is within its size.
                *digit = digit.wrapping_add_signed(step.wrapping_mul(moved));
            }
            if hi - lo > 1 {
                // The difference of two positions, so the sum fits even if its terms do not.
                strides[axis] = self
                    .steps(k)
                    .iter()
                    .zip(&self.inner.strides)
                    .fold(0, |sum: isize, (&step, &b)| sum.wrapping_add(step.wrapping_mul(b)));
            }
        }
        let position = self.inner.position(&index)?;
        View::from_corner(self.outer.shape.clone(), position, strides, bounds)
    }
}
