use smallvec::SmallVec;

use super::index::{advance_between, unravel};
use super::{Dims, View, signed};
use crate::ViewError;

/// The number of valid elements of the outer view up to which a composition is enumerated.
const ENUMERATED: usize = 4096;

/// How often bounds are drawn tighter by each other. Nearly always once or twice is enough; where
/// each bound moves the other by one, sizes would decide how often.
const ROUNDS: usize = 64;

impl View {
    /// The view that reads `inner` through `self`; `None` if no single view does, or none was
    /// found.
    ///
    /// The positions of `self` are C-order indices of `inner`: index `i` of the result has the
    /// position of `inner` at element `self.position(i)`, and is masked where either is.
    ///
    /// A view is never wrong. `None` is exact if `self` has at most 4096 valid elements. Beyond,
    /// `None` may also mean undecided, if a dimension of `self` runs over the end of a dimension
    /// of `inner` (in its [coarsest](View::coarsest) form) or crosses the mask of `inner` together
    /// with another dimension; see `docs/view.md`.
    ///
    /// # Errors
    /// [`ViewError::Outer`] if `self` reaches past the elements of `inner`.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// let inner = View::contiguous(&[4, 6])?.permute(&[1, 0])?;
    /// // Every second element of the first eight: 0, 12, 1, 13.
    /// let outer = View::new(&[2, 2], &[4, 2], 0)?;
    /// assert_eq!(outer.compose(&inner)?, Some(View::new(&[2, 2], &[1, 12], 0)?));
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    pub fn compose(&self, inner: &Self) -> Result<Option<Self>, ViewError> {
        let elements = inner.len();
        let span = self.span();
        if span.end > elements {
            return Err(ViewError::Outer { position: span.end - 1, elements });
        }
        if self.is_masked_out() || inner.is_contiguous() {
            return Ok(Some(self.clone()));
        }
        if inner.is_masked_out() {
            let masked = !self.shape.is_empty();
            return Ok(masked.then(|| Self::masked_out(self.shape.clone())));
        }
        let inner = inner.coarsest();
        if let Some(view) = self.compose_by_digits(&inner) {
            return Ok(Some(view));
        }
        let valid = (0..self.rank()).map(|axis| self.valid(axis));
        let count = valid.map(|(lo, hi)| hi - lo).product::<usize>();
        Ok(if count <= ENUMERATED { self.compose_by_looking(&inner) } else { None })
    }

    /// Composes in the digits of the inner index.
    ///
    /// Write each position of `self` as an index of `inner`. If no step of any dimension makes a
    /// digit overflow, the index is linear in the outer index, and so is the inner position; the
    /// inner mask then bounds linear forms. None means open: digits carry, or the mask cuts aslant.
    fn compose_by_digits(&self, inner: &Self) -> Option<Self> {
        let dims: Dims<usize> = (0..self.rank()).filter(|&axis| self.extent(axis) > 1).collect();
        let mut bounds: Dims<(usize, usize)> =
            (0..self.rank()).map(|axis| self.valid(axis)).collect();
        let first = self.first_position();
        let origin = unravel(first, &inner.shape);
        // steps[k][j]: how far digit j moves with one step along dims[k]. No digit leaves its
        // range between a first element and its neighbour, whatever carries between them.
        let steps: Dims<Dims<isize>> = dims
            .iter()
            .map(|&axis| {
                let next = unravel(first.wrapping_add_signed(self.strides[axis]), &inner.shape);
                next.iter().zip(&origin).map(|(&to, &from)| signed(to) - signed(from)).collect()
            })
            .collect();
        let reach = |bounds: &Dims<(usize, usize)>, digit: usize, but: Option<usize>| {
            let mut low = signed(origin[digit]) as i128;
            let mut high = low;
            for (k, &axis) in dims.iter().enumerate() {
                let (start, _) = self.valid(axis);
                if Some(k) != but {
                    let step = steps[k][digit] as i128;
                    let (lo, hi) = bounds[axis];
                    let ends = ((lo - start) as i128 * step, (hi - 1 - start) as i128 * step);
                    low = low.saturating_add(ends.0.min(ends.1));
                    high = high.saturating_add(ends.0.max(ends.1));
                }
            }
            (low, high)
        };
        for (digit, &size) in inner.shape.iter().enumerate() {
            let (low, high) = reach(&bounds, digit, None);
            if low < 0 || high >= size as i128 {
                return None;
            }
        }
        if inner.mask.is_some() {
            // Drop what no choice of the other indices makes valid, until nothing changes.
            for round in 0.. {
                if round == ROUNDS {
                    return None;
                }
                let mut changed = false;
                for digit in 0..inner.rank() {
                    let (lo, hi) = inner.valid(digit);
                    let (lo, hi) = (lo as i128, hi as i128 - 1);
                    for (k, &axis) in dims.iter().enumerate() {
                        let step = steps[k][digit] as i128;
                        if step == 0 {
                            continue;
                        }
                        // lo <= low..high + step * i <= hi for some choice, so
                        // lo - high <= step * i <= hi - low.
                        let (low, high) = reach(&bounds, digit, Some(k));
                        let (least, most) = if step > 0 {
                            (-(high - lo).div_euclid(step), (hi - low).div_euclid(step))
                        } else {
                            (-(hi - low).div_euclid(-step), (high - lo).div_euclid(-step))
                        };
                        let start = self.valid(axis).0;
                        let (old_lo, old_hi) = bounds[axis];
                        let new_lo = (start as i128 + least).max(old_lo as i128);
                        let new_hi = (start as i128 + most + 1).min(old_hi as i128);
                        if new_lo >= new_hi {
                            return Some(Self::masked_out(self.shape.clone()));
                        }
                        // Between the old bounds.
                        let new = (new_lo as usize, new_hi as usize);
                        changed |= new != bounds[axis];
                        bounds[axis] = new;
                    }
                }
                if !changed {
                    break;
                }
            }
            for digit in 0..inner.rank() {
                let (low, high) = reach(&bounds, digit, None);
                let (lo, hi) = inner.valid(digit);
                if high < lo as i128 || low >= hi as i128 {
                    let masked = !self.shape.is_empty();
                    return masked.then(|| Self::masked_out(self.shape.clone()));
                }
                if low < lo as i128 || high >= hi as i128 {
                    return None;
                }
            }
        }
        // The position of the lowest index left, which is valid, and the strides from there.
        let mut strides: Dims<isize> = SmallVec::from_elem(0, self.rank());
        let mut index = origin;
        for (k, &axis) in dims.iter().enumerate() {
            let (lo, hi) = bounds[axis];
            let moved = signed(lo - self.valid(axis).0);
            for (digit, step) in index.iter_mut().zip(&steps[k]) {
                // Partial sums may wrap, the digit itself is within its size.
                *digit = digit.wrapping_add_signed(step.wrapping_mul(moved));
            }
            if hi - lo > 1 {
                // The distance of two positions, so the sum fits whatever its terms do.
                strides[axis] = steps[k]
                    .iter()
                    .zip(&inner.strides)
                    .fold(0, |sum: isize, (&step, &b)| sum.wrapping_add(step.wrapping_mul(b)));
            }
        }
        let position = inner.position(&index)?;
        Self::from_corner(self.shape.clone(), position, &strides, bounds)
    }

    /// Composes by looking at every valid element of `self`: exact, in time proportional to their
    /// number.
    fn compose_by_looking(&self, inner: &Self) -> Option<Self> {
        let rank = self.rank();
        let at = |index: &[usize]| inner.position(&unravel(self.position(index)?, &inner.shape));
        let start: Dims<usize> = (0..rank).map(|axis| self.valid(axis).0).collect();
        let end: Dims<usize> = (0..rank).map(|axis| self.valid(axis).1).collect();
        // The box around what is valid on both sides must hold nothing else.
        let (mut lo, mut hi) = (start.clone(), end.clone());
        if inner.mask.is_some() {
            core::mem::swap(&mut lo, &mut hi);
            let mut count = 0_usize;
            let mut index = start.clone();
            loop {
                if at(&index).is_some() {
                    count += 1;
                    for axis in 0..rank {
                        lo[axis] = lo[axis].min(index[axis]);
                        hi[axis] = hi[axis].max(index[axis] + 1);
                    }
                }
                if !advance_between(&mut index, &start, &end) {
                    break;
                }
            }
            if count == 0 {
                return (rank > 0).then(|| Self::masked_out(self.shape.clone()));
            }
            if lo.iter().zip(&hi).map(|(lo, hi)| hi - lo).product::<usize>() != count {
                return None;
            }
        }
        let first = at(&lo)?;
        let mut strides: Dims<isize> = SmallVec::from_elem(0, rank);
        for axis in (0..rank).filter(|&axis| hi[axis] - lo[axis] > 1) {
            let mut next = lo.clone();
            next[axis] += 1;
            strides[axis] = at(&next)?.wrapping_sub(first).cast_signed();
        }
        let bounds = lo.iter().copied().zip(hi.iter().copied()).collect();
        let view = Self::from_corner(self.shape.clone(), first, &strides, bounds)?;
        let mut index = lo.clone();
        loop {
            if at(&index) != view.position(&index) {
                return None;
            }
            if !advance_between(&mut index, &lo, &hi) {
                return Some(view);
            }
        }
    }

    /// The view with `bounds` valid, and `position` at their lowest index; none if it cannot be
    /// represented.
    fn from_corner(
        shape: Dims<usize>,
        position: usize,
        strides: &[isize],
        bounds: Dims<(usize, usize)>,
    ) -> Option<Self> {
        let mut offset = signed(position) as i128;
        for (&stride, &(lo, _)) in strides.iter().zip(&bounds) {
            offset = offset.checked_sub(stride as i128 * lo as i128)?;
        }
        let offset = isize::try_from(offset).ok()?;
        Self::build(shape, strides.into(), offset, Some(bounds)).ok()
    }

    /// The number of valid indices of a dimension.
    fn extent(&self, axis: usize) -> usize {
        let (lo, hi) = self.valid(axis);
        hi - lo
    }

    /// The position of the lowest valid index. Requires one.
    fn first_position(&self) -> usize {
        let lowest = (0..self.rank()).map(|axis| self.valid(axis).0);
        // Partial sums may wrap, the whole does not (invariant 2).
        let terms = lowest.zip(&self.strides).map(|(lo, &stride)| signed(lo).wrapping_mul(stride));
        terms.fold(self.offset, isize::wrapping_add).cast_unsigned()
    }
}
