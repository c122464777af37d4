mod digits;

use self::digits::{Digits, compose_whole};
use super::index::{advance_between, unravel};
use super::{Dims, View, signed};
use crate::ViewError;

/// Compositions with up to this many valid elements in the outer view are enumerated.
const ENUMERATED: usize = 4096;

impl View {
    /// This view on top of another, as one view: `outer.compose_over(&inner)` reads the elements of
    /// `inner` through `outer`. `None` if no single view does this, or none was found.
    ///
    /// The order matters. The result has the shape of `self`, the upper view, and positions of
    /// `inner`, the lower view, which reads the buffer. Positions of `self` are C-order indices of
    /// `inner`. Index `i` of the result has the position of `inner` at element `self.position(i)`,
    /// and is masked where either view is masked. Exchanging the two gives a different composition,
    /// which may be `None` where this one has a view.
    ///
    /// To apply an operation to `inner`, call it: `inner.permute(order)` is a permuted contiguous
    /// view composed over `inner`.
    ///
    /// A returned view is always correct. `None` is exact if `self` has at most 4096 valid
    /// elements. Above that, `None` may also mean "undecided" in two cases: a dimension of `self`
    /// runs past the end of a dimension of `inner`, or it crosses the mask of `inner` together with
    /// another dimension. `inner` is taken in its [coalesced](View::coalesce) form.
    /// See `docs/view.md`.
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
    /// assert_eq!(outer.compose_over(&inner)?, Some(View::new(&[2, 2], &[1, 12], 0)?));
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    pub fn compose_over(&self, inner: &Self) -> Result<Option<Self>, ViewError> {
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
        if inner.mask.is_none()
            && let Some(view) = compose_whole(self, inner)
        {
            return Ok(Some(view));
        }
        let inner = inner.coalesce();
        if inner.mask.is_some()
            && let Some(view) = Digits::new(self, &inner).compose()
        {
            return Ok(Some(view));
        }
        let valid = (0..self.rank()).map(|axis| self.valid(axis));
        let count = valid.map(|(lo, hi)| hi - lo).product::<usize>();
        Ok(if count <= ENUMERATED { self.compose_by_enumeration(&inner) } else { None })
    }

    /// Composes by visiting every valid element of `self`: exact, in time proportional to their
    /// number.
    fn compose_by_enumeration(&self, inner: &Self) -> Option<Self> {
        let rank = self.rank();
        let at = |index: &[usize]| inner.position(&unravel(self.position(index)?, &inner.shape));
        let start: Dims<usize> = (0..rank).map(|axis| self.valid(axis).0).collect();
        let end: Dims<usize> = (0..rank).map(|axis| self.valid(axis).1).collect();
        // The box around the elements that are valid on both sides must hold no others.
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
        let mut strides: Dims<isize> = Dims::repeat(0, rank);
        for axis in (0..rank).filter(|&axis| hi[axis] - lo[axis] > 1) {
            let mut next = lo.clone();
            next[axis] += 1;
            strides[axis] = at(&next)?.wrapping_sub(first).cast_signed();
        }
        let bounds = lo.iter().copied().zip(hi.iter().copied()).collect();
        let view = Self::from_corner(self.shape.clone(), first, strides, bounds)?;
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

    /// The view with the valid indices `bounds` and `position` at the lowest of them; `None` if its
    /// offset cannot be represented. Every valid index must have a position, and dimensions with
    /// one valid index the stride 0.
    pub(super) fn from_corner(
        shape: Dims<usize>,
        position: usize,
        strides: Dims<isize>,
        bounds: Dims<(usize, usize)>,
    ) -> Option<Self> {
        // Partial sums may exceed an `isize`.
        let mut offset = signed(position) as i128;
        let mut full = true;
        for ((&stride, &(lo, hi)), &size) in strides.iter().zip(&bounds).zip(&shape) {
            if lo > 0 {
                offset = offset.checked_sub(stride as i128 * lo as i128)?;
            }
            full &= hi - lo == size;
        }
        let offset = isize::try_from(offset).ok()?;
        Some(Self { shape, strides, offset, mask: if full { None } else { Some(bounds) } })
    }

    /// The number of valid indices of a dimension.
    pub(super) fn extent(&self, axis: usize) -> usize {
        let (lo, hi) = self.valid(axis);
        hi - lo
    }

    /// The position of the lowest valid index. Requires that there is one.
    pub(super) fn first_position(&self) -> usize {
        let lowest = (0..self.rank()).map(|axis| self.valid(axis).0);
        // Partial sums may wrap, the total does not (invariant 2).
        let terms = lowest.zip(&self.strides).map(|(lo, &stride)| signed(lo).wrapping_mul(stride));
        terms.fold(self.offset, isize::wrapping_add).cast_unsigned()
    }
}
