use crate::ViewError;
use crate::view::{View, signed};

impl View {
    /// Takes `count` indices of one dimension: `start`, `start + step`, `start + 2 * step`, ...
    ///
    /// The step may be negative, or zero to repeat one index. This is numpy's `start:stop:step`
    /// with a count instead of the stop.
    ///
    /// # Errors
    /// [`ViewError::Slice`] if an index is outside the dimension. With a count of zero any start
    /// and step are accepted. [`ViewError::TooLarge`] if a repeated index makes the view too
    /// large.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// // numpy: a[7:0:-3]
    /// let view = View::contiguous(&[10])?.slice(0, 7, -3, 3)?;
    /// let at = |i| view.position(&[i]);
    /// assert_eq!([at(0), at(1), at(2)], [Some(7), Some(4), Some(1)]);
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    pub fn slice(
        &self,
        axis: usize,
        start: usize,
        step: isize,
        count: usize,
    ) -> Result<Self, ViewError> {
        self.check_axis(axis)?;
        let size = self.shape[axis];
        if count > 0 {
            let last = signed_checked(count - 1)
                .and_then(|n| n.checked_mul(step))
                .and_then(|n| n.checked_add(signed_checked(start)?));
            let inside = |i: isize| i >= 0 && i < signed(size);
            if start >= size || !last.is_some_and(inside) {
                return Err(ViewError::Slice { axis, start, step, count, size });
            }
        }
        self.restride(axis, count, if count == 0 { 0 } else { signed(start) }, step)
    }

    /// Replaces a dimension by `count` indices from `start` in steps of `step`, all known to be
    /// valid.
    pub(super) fn restride(
        &self,
        axis: usize,
        count: usize,
        start: isize,
        step: isize,
    ) -> Result<Self, ViewError> {
        let mut shape = self.shape.clone();
        shape[axis] = count;
        crate::view::count_elements(&shape)?;
        if count == 0 || self.is_empty() {
            return Ok(Self::without_elements(shape));
        }
        if self.is_masked_out() {
            return Ok(Self::masked_out(shape));
        }
        // With one index the step is not used, and `isize::MIN` cannot be negated.
        let step = if count == 1 { 0 } else { step };
        let mut strides = self.strides.clone();
        let mut offset = self.offset;
        let mut mask = self.mask.clone();
        if let Some(mask) = &mut mask {
            // The range of i in 0..count with lo <= start + i * step < hi.
            let (lo, hi) = mask[axis];
            let (lo, hi) = (signed(lo), signed(hi));
            let (first, end) = match step {
                0 if start >= lo && start < hi => (0, signed(count)),
                0 => (0, 0),
                1.. => (ceil_div(lo - start, step), ceil_div(hi - start, step)),
                _ => (ceil_div(start - hi + 1, -step), ceil_div(start - lo + 1, -step)),
            };
            let clamp = |i: isize| i.clamp(0, signed(count)).cast_unsigned();
            mask[axis] = (clamp(first), clamp(end).max(clamp(first)));
            if mask[axis].0 == mask[axis].1 {
                return Ok(Self::masked_out(shape));
            }
        }
        let moved = start.checked_mul(strides[axis]).and_then(|moved| offset.checked_add(moved));
        offset = moved.ok_or(ViewError::Offset)?;
        // With a single valid index the new stride may not fit, and is not used.
        strides[axis] = match strides[axis].checked_mul(step) {
            Some(stride) => stride,
            None => {
                let first = mask.as_ref().map_or(0, |mask| mask[axis].0);
                let moved = i128::from(strides[axis] as i64) * i128::from(step as i64);
                let moved = moved.checked_mul(first as i128).ok_or(ViewError::Offset)?;
                offset = isize::try_from(i128::from(offset as i64) + moved)
                    .map_err(|_| ViewError::Offset)?;
                0
            }
        };
        Self::build(shape, strides, offset, mask)
    }
}

fn signed_checked(n: usize) -> Option<isize> {
    isize::try_from(n).ok()
}

/// `ceil(a / b)` for a positive `b`.
const fn ceil_div(a: isize, b: isize) -> isize {
    a.div_euclid(b) + (a.rem_euclid(b) > 0) as isize
}

#[cfg(test)]
mod tests {
    use super::ceil_div;

    #[test]
    fn ceil_div_rounds_towards_positive_infinity() {
        for a in -20..20 {
            for b in 1..7 {
                let expected = (a as f64 / b as f64).ceil() as isize;
                assert_eq!(ceil_div(a, b), expected, "{a} / {b}");
            }
        }
    }
}
