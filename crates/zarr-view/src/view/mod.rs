//! The view itself: its invariants, constructors and accessors.

mod common;
mod compose;
mod dims;
mod index;
mod invert;
mod movement;
mod progressions;
mod reshape;

pub(crate) use dims::Dims;
pub(crate) use index::{advance, unravel};

use core::ops::Range;

use crate::ViewError;

/// A strided window on a buffer of elements.
///
/// An `index` is valid if `mask[d].0 <= index[d] < mask[d].1` for every dimension `d`. Its element
/// lies at position `offset + Σ index[d] * strides[d]` of the buffer. Any other index has no
/// position and reads as a fill value. Strides and offset count elements and may be negative.
///
/// A view has no buffer. Compare [`span`](View::span) with the buffer's length, once.
///
/// # Invariants
///
/// 1. The product of the sizes is at most `isize::MAX`, where a size of zero counts as one.
/// 2. The position of every valid index is between 0 and `isize::MAX - 1`.
/// 3. The form is *canonical*. A dimension with a single valid index has stride 0; its contribution
///    is in the offset. A view without any valid index has strides and offset 0 and, unless a size
///    is zero, the mask `(0, 0)` in every dimension. A mask that hides no index is absent.
///
/// By invariant 3 two views are equal (`==`, `Hash`) exactly if they are the same map: same shape,
/// same valid indices, and the same position for each.
///
/// # Edge cases
///
/// * No dimensions: one element, at the offset. It cannot be masked.
/// * A size of zero: no elements; every operation works and every reshape to zero elements exists.
/// * A stride of zero: the same element for every index, as [`expand`](View::expand) makes it.
///
/// # Examples
///
/// ```
/// use zarr_view::View;
///
/// let rows = View::contiguous(&[2, 3])?;
/// let columns = rows.permute(&[1, 0])?;
/// assert_eq!(columns.shape(), [3, 2]);
/// assert_eq!(columns.strides(), [1, 3]);
/// assert_eq!(columns.position(&[2, 1]), Some(5));
/// assert_eq!(columns.reshape(&[6])?, None); // 0 3 1 4 2 5 has no single stride
/// # Ok::<(), zarr_view::ViewError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct View {
    shape: Dims<usize>,
    strides: Dims<isize>,
    offset: isize,
    mask: Option<Dims<(usize, usize)>>,
}

/// The number of elements of `shape`, or an error if invariant 1 does not hold.
pub(crate) fn count_elements(shape: &[usize]) -> Result<usize, ViewError> {
    let mut product = 1_usize;
    let mut empty = false;
    for (axis, &size) in shape.iter().enumerate().rev() {
        empty |= size == 0;
        match product.checked_mul(size.max(1)) {
            Some(larger) if larger <= isize::MAX.unsigned_abs() => product = larger,
            _ => return Err(ViewError::TooLarge { axis }),
        }
    }
    Ok(if empty { 0 } else { product })
}

/// The size as a signed factor. Invariant 1 makes the conversion exact.
pub(crate) const fn signed(size: usize) -> isize {
    size.cast_signed()
}

impl View {
    /// The view of a whole buffer in C order: the last index is the fastest.
    ///
    /// # Errors
    /// [`ViewError::TooLarge`] if the sizes multiply to more than `isize::MAX`.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// assert_eq!(View::contiguous(&[2, 3, 4])?.strides(), [12, 4, 1]);
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    pub fn contiguous(shape: &[usize]) -> Result<Self, ViewError> {
        let elements = count_elements(shape)?;
        let mut strides: Dims<isize> = Dims::repeat(0, shape.len());
        if elements > 0 {
            let mut stride = 1;
            for (to, &size) in strides.iter_mut().zip(shape).rev() {
                if size > 1 {
                    *to = stride;
                    stride = stride.wrapping_mul(signed(size));
                }
            }
        }
        Ok(Self { shape: shape.into(), strides, offset: 0, mask: None })
    }

    /// The view of `shape` with one stride per dimension and its first element at `offset`, both
    /// in elements.
    ///
    /// Afterwards the strides of dimensions of size 1 are 0 (invariant 3).
    ///
    /// # Errors
    /// If the lengths differ, the shape is too large, or a position is negative or too large.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// // Every second element, backwards from position 9.
    /// let view = View::new(&[5], &[-2], 9)?;
    /// assert_eq!(view.span(), 1..10);
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    pub fn new(shape: &[usize], strides: &[isize], offset: isize) -> Result<Self, ViewError> {
        Self::build(shape.into(), strides.into(), offset, None)
    }

    /// As [`View::new`], but in each dimension only the indices from `mask[d].0` up to but not
    /// including `mask[d].1` are valid. Masked positions are not checked: the offset may be
    /// negative.
    ///
    /// # Errors
    /// As [`View::new`], and [`ViewError::Range`] if an interval is not within its dimension.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// // _ a b c _
    /// let view = View::masked(&[5], &[1], -1, &[(1, 4)])?;
    /// assert_eq!(view.position(&[0]), None);
    /// assert_eq!(view.position(&[1]), Some(0));
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    pub fn masked(
        shape: &[usize],
        strides: &[isize],
        offset: isize,
        mask: &[(usize, usize)],
    ) -> Result<Self, ViewError> {
        check_mask(shape, mask)?;
        Self::build(shape.into(), strides.into(), offset, Some(mask.into()))
    }

    /// The same view with fewer valid indices: an index stays valid only if it lies within `mask`.
    ///
    /// # Errors
    /// [`ViewError::Range`] if an interval is not within its dimension; [`ViewError::Rank`] unless
    /// there is one interval per dimension.
    ///
    /// # Examples
    /// ```
    /// # use zarr_view::View;
    /// let view = View::contiguous(&[4])?.with_mask(&[(0, 3)])?.with_mask(&[(1, 4)])?;
    /// assert_eq!(view.mask(), Some(&[(1, 3)][..]));
    /// # Ok::<(), zarr_view::ViewError>(())
    /// ```
    pub fn with_mask(&self, mask: &[(usize, usize)]) -> Result<Self, ViewError> {
        check_mask(&self.shape, mask)?;
        let mask = mask
            .iter()
            .enumerate()
            .map(|(axis, &(lo, hi))| {
                let (old_lo, old_hi) = self.valid(axis);
                (lo.max(old_lo), hi.min(old_hi).max(lo.max(old_lo)))
            })
            .collect();
        Self::build(self.shape.clone(), self.strides.clone(), self.offset, Some(mask))
    }

    /// Makes a view canonical and checks its invariants.
    fn build(
        shape: Dims<usize>,
        mut strides: Dims<isize>,
        mut offset: isize,
        mut mask: Option<Dims<(usize, usize)>>,
    ) -> Result<Self, ViewError> {
        if strides.len() != shape.len() {
            return Err(ViewError::Rank { expected: shape.len(), found: strides.len() });
        }
        let elements = count_elements(&shape)?;
        if elements == 0 {
            return Ok(Self::without_elements(shape));
        }
        let valid = |axis: usize| match &mask {
            Some(mask) => mask[axis],
            None => (0, shape[axis]),
        };
        let mut full = true;
        for (axis, &size) in shape.iter().enumerate() {
            let (lo, hi) = valid(axis);
            if lo >= hi {
                return Ok(Self::masked_out(shape));
            }
            full &= (lo, hi) == (0, size);
        }
        // The exact lowest and highest position. Single products stay below 2^127, but sums may
        // not.
        let mut exact_offset = i128::from(offset as i64);
        let (mut low, mut high) = (Some(0_i128), Some(0_i128));
        for (axis, stride) in strides.iter_mut().enumerate() {
            let (lo, hi) = valid(axis);
            let step = *stride as i128;
            let first = lo as i128 * step;
            if hi - lo == 1 {
                exact_offset = exact_offset.checked_add(first).ok_or(ViewError::Offset)?;
                *stride = 0;
                continue;
            }
            let last = (hi - 1) as i128 * step;
            low = low.and_then(|low| low.checked_add(first.min(last)));
            high = high.and_then(|high| high.checked_add(first.max(last)));
        }
        offset = isize::try_from(exact_offset).map_err(|_| ViewError::Offset)?;
        let low = low.and_then(|low| low.checked_add(exact_offset)).ok_or(ViewError::Position)?;
        let high =
            high.and_then(|high| high.checked_add(exact_offset)).ok_or(ViewError::Position)?;
        if low < 0 || high >= isize::MAX as i128 {
            return Err(ViewError::Position);
        }
        if full {
            mask = None;
        }
        Ok(Self { shape, strides, offset, mask })
    }

    /// The canonical view of a shape without elements.
    fn without_elements(shape: Dims<usize>) -> Self {
        Self { strides: Dims::repeat(0, shape.len()), shape, offset: 0, mask: None }
    }

    /// The canonical view of a shape with elements, all masked. The rank is not zero.
    fn masked_out(shape: Dims<usize>) -> Self {
        Self {
            strides: Dims::repeat(0, shape.len()),
            mask: Some(Dims::repeat((0, 0), shape.len())),
            shape,
            offset: 0,
        }
    }

    /// The size of each dimension.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The distance, in elements, between neighbours along each dimension; 0 where a dimension
    /// has a single valid index.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// The position that index 0 in every dimension would have; negative only if it is masked.
    #[must_use]
    pub const fn offset(&self) -> isize {
        self.offset
    }

    /// The valid indices of each dimension as (first, one past the last); `None` if all are
    /// valid.
    #[must_use]
    pub fn mask(&self) -> Option<&[(usize, usize)]> {
        self.mask.as_deref()
    }

    /// The valid indices of one dimension.
    #[inline]
    pub(crate) fn valid(&self, axis: usize) -> (usize, usize) {
        match &self.mask {
            Some(mask) => mask[axis],
            None => (0, self.shape[axis]),
        }
    }

    /// The number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements, masked ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        // Never exceeds usize, whatever the order of the factors: without zeros the product is
        // small enough (invariant 1), and once zero it stays zero.
        self.shape.iter().fold(1, |product: usize, &size| product.wrapping_mul(size))
    }

    /// Whether a size is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Whether no index has a position: there are no elements, or all are masked.
    #[must_use]
    pub fn is_masked_out(&self) -> bool {
        // A masked-out view has (0, 0) in every dimension (invariant 3).
        self.is_empty() || self.mask.as_deref().is_some_and(|mask| mask[0].0 >= mask[0].1)
    }

    /// Whether the positions are 0, 1, 2, ... in C order, with none masked.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.offset == 0 && self.is_consecutive()
    }

    /// As [`is_contiguous`](View::is_contiguous), but starting at any position.
    pub(crate) fn is_consecutive(&self) -> bool {
        if self.mask.is_some() {
            return false;
        }
        let mut stride = 1_isize;
        self.is_empty()
            || self.shape.iter().zip(&self.strides).rev().all(|(&size, &found)| {
                let expected = stride;
                stride = stride.wrapping_mul(signed(size));
                size == 1 || found == expected
            })
    }

    /// The position of the element at `index`, in elements.
    ///
    /// `None` if the index is masked, out of range, or has the wrong number of dimensions.
    #[must_use]
    pub fn position(&self, index: &[usize]) -> Option<usize> {
        if index.len() != self.rank() {
            return None;
        }
        let mut position = self.offset;
        for (axis, &i) in index.iter().enumerate() {
            let (lo, hi) = self.valid(axis);
            if i < lo || i >= hi {
                return None;
            }
            // Partial sums may wrap, the total does not (invariant 2).
            position = position.wrapping_add(signed(i).wrapping_mul(self.strides[axis]));
        }
        Some(position.cast_unsigned())
    }

    /// The range of positions that the view may touch: from the lowest valid position to one past
    /// the highest; `0..0` if there are none.
    ///
    /// A buffer of at least `span().end` elements is long enough for every access.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        if self.is_masked_out() {
            return 0..0;
        }
        let (mut low, mut high) = (self.offset, self.offset);
        for (axis, &stride) in self.strides.iter().enumerate() {
            let (lo, hi) = self.valid(axis);
            let first = signed(lo).wrapping_mul(stride);
            let last = signed(hi - 1).wrapping_mul(stride);
            low = low.wrapping_add(if stride < 0 { last } else { first });
            high = high.wrapping_add(if stride < 0 { first } else { last });
        }
        low.cast_unsigned()..high.cast_unsigned() + 1
    }

    /// The valid indices as one range per dimension.
    #[must_use]
    pub fn valid_box(&self) -> alloc::vec::Vec<Range<usize>> {
        (0..self.rank()).map(|axis| self.valid(axis)).map(|(lo, hi)| lo..hi).collect()
    }

    fn check_axis(&self, axis: usize) -> Result<(), ViewError> {
        if axis < self.rank() { Ok(()) } else { Err(ViewError::Axis { axis, rank: self.rank() }) }
    }

    fn check_rank(&self, found: usize) -> Result<(), ViewError> {
        if found == self.rank() {
            Ok(())
        } else {
            Err(ViewError::Rank { expected: self.rank(), found })
        }
    }
}

fn check_mask(shape: &[usize], mask: &[(usize, usize)]) -> Result<(), ViewError> {
    if mask.len() != shape.len() {
        return Err(ViewError::Rank { expected: shape.len(), found: mask.len() });
    }
    for (axis, (&(start, end), &size)) in mask.iter().zip(shape).enumerate() {
        if start > end || end > size {
            return Err(ViewError::Range { axis, start, end, size });
        }
    }
    Ok(())
}
