//! Composition in the digits of the inner index.
//!
//! Write each position of the outer view as an index of the inner one: its *digits*. If no step of any
//! outer dimension makes a digit overflow, the digits are linear in the outer index, and so is the
//! inner position; the inner mask then bounds linear forms.

use smallvec::SmallVec;

use super::index::unravel;
use super::{Dims, View, signed};

/// The valid indices of each outer dimension, as (first, one past the last).
type Bounds = Dims<(usize, usize)>;

/// The maximum number of rounds in which bounds tighten each other. One or two are nearly always
/// enough; where each bound moves the other by one, the number of rounds would depend on the
/// sizes.
const ROUNDS: usize = 64;

/// An outer view with at least one valid index, and its digits in an inner one.
pub(super) struct Digits<'v> {
    outer: &'v View,
    inner: &'v View,
    /// The outer dimensions with several valid indices.
    dims: Dims<usize>,
    /// The digits of the lowest valid index.
    origin: Dims<usize>,
    /// `steps[k][j]`: how far digit `j` moves with one step along `dims[k]`. No digit leaves its
    /// range between a first element and its neighbour, even if a carry occurs between them.
    steps: Dims<Dims<isize>>,
}

/// The outer indices that an inner mask leaves.
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
        let steps = dims
            .iter()
            .map(|&axis| {
                let next = unravel(first.wrapping_add_signed(outer.strides[axis]), &inner.shape);
                next.iter().zip(&origin).map(|(&to, &from)| signed(to) - signed(from)).collect()
            })
            .collect();
        Self { outer, inner, dims, origin, steps }
    }

    /// The composition. `None` means undecided: digits carry, or the mask cuts diagonally.
    pub(super) fn compose(&self) -> Option<View> {
        let bounds: Bounds = (0..self.outer.rank()).map(|axis| self.outer.valid(axis)).collect();
        for (digit, &size) in self.inner.shape.iter().enumerate() {
            let (low, high) = self.reach(&bounds, digit, None);
            if low < 0 || high >= size as i128 {
                return None;
            }
        }
        let narrowed = match self.inner.mask {
            Some(_) => self.narrow(bounds),
            None => Narrowed::To(bounds),
        };
        match narrowed {
            Narrowed::To(bounds) => self.view(bounds),
            Narrowed::Nothing => {
                let masked = !self.outer.shape.is_empty();
                masked.then(|| View::masked_out(self.outer.shape.clone()))
            }
            Narrowed::Open => None,
        }
    }

    /// The lowest and the highest value of a digit within `bounds`, with dimension `but` of
    /// `dims` fixed at its first index.
    fn reach(&self, bounds: &Bounds, digit: usize, but: Option<usize>) -> (i128, i128) {
        let mut low = signed(self.origin[digit]) as i128;
        let mut high = low;
        for (k, &axis) in self.dims.iter().enumerate() {
            let (start, _) = self.outer.valid(axis);
            if Some(k) != but {
                let step = self.steps[k][digit] as i128;
                let (lo, hi) = bounds[axis];
                let ends = ((lo - start) as i128 * step, (hi - 1 - start) as i128 * step);
                low = low.saturating_add(ends.0.min(ends.1));
                high = high.saturating_add(ends.0.max(ends.1));
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
            if high < lo as i128 || low >= hi as i128 {
                return Narrowed::Nothing;
            }
            if low < lo as i128 || high >= hi as i128 {
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
            let (lo, hi) = (lo as i128, hi as i128 - 1);
            for (k, &axis) in self.dims.iter().enumerate() {
                let step = self.steps[k][digit] as i128;
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
                let start = self.outer.valid(axis).0;
                let (old_lo, old_hi) = bounds[axis];
                let new_lo = (start as i128 + least).max(old_lo as i128);
                let new_hi = (start as i128 + most + 1).min(old_hi as i128);
                if new_lo >= new_hi {
                    return None;
                }
                // Between the old bounds.
                let new = (new_lo as usize, new_hi as usize);
                changed |= new != bounds[axis];
                bounds[axis] = new;
            }
        }
        Some(changed)
    }

    /// The view whose valid indices are `bounds`: from the position of the lowest index left,
    /// which is valid, and the strides from there.
    fn view(&self, bounds: Bounds) -> Option<View> {
        let mut strides: Dims<isize> = SmallVec::from_elem(0, self.outer.rank());
        let mut index = self.origin.clone();
        for (k, &axis) in self.dims.iter().enumerate() {
            let (lo, hi) = bounds[axis];
            let moved = signed(lo - self.outer.valid(axis).0);
            for (digit, step) in index.iter_mut().zip(&self.steps[k]) {
                // Partial sums may wrap; the digit itself is within its size.
                *digit = digit.wrapping_add_signed(step.wrapping_mul(moved));
            }
            if hi - lo > 1 {
                // The difference of two positions, so the sum fits even if its terms do not.
                strides[axis] = self.steps[k]
                    .iter()
                    .zip(&self.inner.strides)
                    .fold(0, |sum: isize, (&step, &b)| sum.wrapping_add(step.wrapping_mul(b)));
            }
        }
        let position = self.inner.position(&index)?;
        View::from_corner(self.outer.shape.clone(), position, &strides, bounds)
    }
}
