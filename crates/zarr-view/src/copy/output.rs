#![expect(unsafe_code, reason = "outputs own disjoint elements of one exclusively borrowed buffer")]

use core::marker::PhantomData;
use core::ops::Range;

use super::copy_plan::check_destination;
use super::{CopyElement, CopyPlan};
use crate::view::{Dims, View, signed};
use crate::{CopyError, ViewError};

/// Up to this many elements are filled row by row, without making a plan.
const FEW: usize = 4096;

/// A part of a buffer that one thread may write, as a view.
///
/// An output starts as a whole `&mut [u8]`. It is [divided](Output::split_at) or
/// [cut into a grid](Output::grid) of parts that share no element. Each part can be sent to
/// another thread; safe code cannot make two parts overlap. The output never touches bytes of the
/// buffer that the view does not reach.
///
/// # Examples
/// ```
/// use zarr_view::{CopyElement, Output, View, copy};
///
/// let mut buffer = [0_u8; 6];
/// let whole = Output::new(&mut buffer, &View::contiguous(&[2, 3])?, 1)?;
/// let (mut left, mut right) = whole.split_at(1, 1)?;
/// std::thread::scope(|scope| {
///     scope.spawn(move || left.fill(b"l"));
///     scope.spawn(move || right.fill(b"r"));
/// });
/// assert_eq!(&buffer, b"lrrlrr");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Output<'a> {
    /// Start of the buffer. Every element of `view` lies within the buffer.
    start: *mut u8,
    view: View,
    /// Without a byte swap.
    element: CopyElement,
    buffer: PhantomData<&'a mut [u8]>,
}

// SAFETY: an output is the only one to access the elements of its view, as a `&mut [u8]` would be,
// and bytes may be written from any thread.
unsafe impl Send for Output<'_> {}
// SAFETY: a shared output only hands out its view and size, and to `OutputGrid` the parts of it, each
// of them once.
unsafe impl Sync for Output<'_> {}

impl<'a> Output<'a> {
    /// The elements, of `size` bytes, that `view` reaches in `buffer`.
    ///
    /// No two indices may share a position. The strides decide this: each must exceed the range
    /// that the smaller strides reach. Every slice or permutation of an array satisfies this. Rarer
    /// views that interleave without overlap are refused.
    ///
    /// # Errors
    /// [`CopyError::Destination`] if the buffer is too short; [`CopyError::Overlap`] if indices may
    /// share a position; [`CopyError::Element`] for a size of 0.
    pub fn new(buffer: &'a mut [u8], view: &View, size: usize) -> Result<Self, CopyError> {
        // SAFETY: the buffer is borrowed exclusively for as long as the output lives.
        unsafe { Self::from_raw(buffer.as_mut_ptr(), buffer.len(), view, size) }
    }

    /// As [`new`](Output::new), in `len` bytes from `start` on. Other threads may use the bytes
    /// that the view does not reach: for example, two threads may each fill every other column of
    /// one matrix.
    ///
    /// # Errors
    /// As [`new`](Output::new).
    ///
    /// # Safety
    /// All `len` bytes lie within one allocation. While the output and its parts live, the bytes that
    /// the view reaches are valid for writes, and nothing else reads or writes them.
    ///
    /// # Examples
    /// ```
    /// use zarr_view::{Output, View};
    ///
    /// let mut matrix = [0_u8; 6];
    /// let (start, len) = (matrix.as_mut_ptr(), matrix.len());
    /// let column = |first| View::new(&[3], &[2], first);
    /// // SAFETY: the columns have no byte in common, and `matrix` is not used before both are written.
    /// let (mut left, mut right) = unsafe {
    ///     (Output::from_raw(start, len, &column(0)?, 1)?, Output::from_raw(start, len, &column(1)?, 1)?)
    /// };
    /// left.fill(b"l")?;
    /// right.fill(b"r")?;
    /// assert_eq!(&matrix, b"lrlrlr");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn from_raw(
        start: *mut u8,
        len: usize,
        view: &View,
        size: usize,
    ) -> Result<Self, CopyError> {
        let element = CopyElement::try_from(size)?;
        check_destination(view, len, element)?;
        view.check_injective()?;
        Ok(Self { start, view: view.clone(), element, buffer: PhantomData })
    }

    /// The view of the buffer.
    #[must_use]
    pub const fn view(&self) -> &View {
        &self.view
    }

    /// Bytes per element.
    #[must_use]
    pub const fn element_size(&self) -> usize {
        self.element.size()
    }

    /// Elements of that size, moved unchanged: the type that a copy to this output takes.
    #[must_use]
    pub const fn element(&self) -> CopyElement {
        self.element
    }

    /// Splits the output in two along an axis: the indices below `at`, and the rest.
    ///
    /// # Errors
    /// [`ViewError::Axis`] if there is no such axis; [`ViewError::Range`] if `at` is past the size.
    pub fn split_at(self, axis: usize, at: usize) -> Result<(Self, Self), CopyError> {
        let Some(&size) = self.view.shape().get(axis) else {
            return Err(ViewError::Axis { axis, rank: self.view.rank() }.into());
        };
        if at > size {
            return Err(ViewError::Range { axis, start: at, end: at, size }.into());
        }
        let low = self.view.cut(axis, 0..at)?;
        let high = self.view.cut(axis, at..size)?;
        // SAFETY: both are boxes of this output's view, they share no index and so no position,
        // and this output no longer exists afterwards.
        unsafe { Ok((self.part(low), self.part(high))) }
    }

    /// The box `ranges` of the output. It borrows the output, which can be used again afterwards.
    ///
    /// # Errors
    /// As [`View::shrink`].
    pub fn shrink(&mut self, ranges: &[Range<usize>]) -> Result<Output<'_>, CopyError> {
        let view = self.view.shrink(ranges)?;
        // SAFETY: a box has some of the indices, each at its position.
        Ok(unsafe { self.reborrow(view) })
    }

    /// The output as a box of a larger shape: indices in the margins are masked, and nothing is
    /// written there.
    ///
    /// # Errors
    /// As [`View::pad`].
    pub fn pad(&mut self, margins: &[(usize, usize)]) -> Result<Output<'_>, CopyError> {
        let view = self.view.pad(margins)?;
        // SAFETY: the same indices, each at its position, and masked ones, which have no
        // position.
        Ok(unsafe { self.reborrow(view) })
    }

    /// The output with its dimensions reordered.
    ///
    /// # Errors
    /// As [`View::permute`].
    pub fn permute(&mut self, order: &[usize]) -> Result<Output<'_>, CopyError> {
        let view = self.view.permute(order)?;
        // SAFETY: the same positions, each still at one index.
        Ok(unsafe { self.reborrow(view) })
    }

    /// The output with one dimension reversed.
    ///
    /// # Errors
    /// As [`View::flip`].
    pub fn flip(&mut self, axis: usize) -> Result<Output<'_>, CopyError> {
        let view = self.view.flip(axis)?;
        // SAFETY: the same positions, each still at one index.
        Ok(unsafe { self.reborrow(view) })
    }

    /// The output in another shape, if one view can hold it.
    ///
    /// # Errors
    /// As [`View::reshape`].
    pub fn reshape(&mut self, shape: &[usize]) -> Result<Option<Output<'_>>, CopyError> {
        let view = self.view.reshape(shape)?;
        // SAFETY: the same elements, each at its position, under other indices.
        Ok(view.map(|view| unsafe { self.reborrow(view) }))
    }

    /// The same output, for as long as this one is not used.
    pub fn lend(&mut self) -> Output<'_> {
        let view = self.view.clone();
        // SAFETY: the same view.
        unsafe { self.reborrow(view) }
    }

    /// As [`permute`](Output::permute), but consumes the output, so that a loop can apply several
    /// steps.
    ///
    /// # Errors
    /// As [`View::permute`].
    pub fn into_permuted(mut self, order: &[usize]) -> Result<Self, CopyError> {
        self.view = self.view.permute(order)?;
        Ok(self)
    }

    /// As [`flip`](Output::flip), but consumes the output.
    ///
    /// # Errors
    /// As [`View::flip`].
    pub fn into_flipped(mut self, axis: usize) -> Result<Self, CopyError> {
        self.view = self.view.flip(axis)?;
        Ok(self)
    }

    /// As [`reshape`](Output::reshape), but consumes the output. If no view holds the shape,
    /// returns the output unchanged as `Err`.
    ///
    /// # Errors
    /// As [`View::reshape`].
    pub fn into_reshaped(mut self, shape: &[usize]) -> Result<Result<Self, Self>, CopyError> {
        let Some(view) = self.view.reshape(shape)? else { return Ok(Err(self)) };
        self.view = view;
        Ok(Ok(self))
    }

    /// The bytes of all elements, if they follow each other in the buffer in C order. A caller can
    /// then produce them there without a copy.
    ///
    /// # Examples
    /// ```
    /// use zarr_view::{Output, View};
    ///
    /// let mut buffer = [0; 6];
    /// let mut whole = Output::new(&mut buffer, &View::contiguous(&[2, 3])?, 1)?;
    /// assert_eq!(whole.shrink(&[0..2, 1..2])?.as_mut_slice(), None);
    /// whole.shrink(&[1..2, 0..2])?.as_mut_slice().unwrap().copy_from_slice(b"ab");
    /// assert_eq!(&buffer, b"\0\0\0ab\0");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn as_mut_slice(&mut self) -> Option<&mut [u8]> {
        if !self.view.is_consecutive() {
            return None;
        }
        if self.view.is_empty() {
            return Some(&mut []);
        }
        // Within the buffer, as every element is, so that neither product overflows.
        let (first, bytes) =
            (self.view.span().start * self.element_size(), self.view.len() * self.element_size());
        // SAFETY: the view's positions follow each other from the first one on, so that these bytes
        // are those of its elements and no others. They lie within the buffer and belong to this
        // output alone, which is borrowed exclusively for as long as the slice lives.
        let elements = unsafe { core::slice::from_raw_parts_mut(self.start.add(first), bytes) };
        Some(elements)
    }

    /// Writes the elements of a view of the same shape; see [`copy`](crate::copy).
    ///
    /// # Errors
    /// As [`copy`](crate::copy), and [`CopyError::ElementSize`].
    pub fn copy_from(
        &mut self,
        src_view: &View,
        src: &[u8],
        element: CopyElement,
        fill: &[u8],
    ) -> Result<(), CopyError> {
        self.check_element(element)?;
        let plan = CopyPlan::new(src_view, &self.view, element)?;
        plan.check(src, fill)?;
        // SAFETY: the plan's destination is this output's view, the source has been checked, and
        // this output is borrowed exclusively.
        unsafe {
            self.run_unchecked(&plan, src, fill);
        }
        Ok(())
    }

    /// Runs a plan for this output's view, or for a view that differs only in its offset: one plan
    /// serves all chunks of a shape.
    ///
    /// # Errors
    /// [`CopyError::Plan`] if the plan was made for another view; [`CopyError::ElementSize`] if the
    /// element sizes differ; and the errors of [`CopyPlan::run`].
    pub fn run(&mut self, plan: &CopyPlan, src: &[u8], fill: &[u8]) -> Result<(), CopyError> {
        self.check_element(plan.element())?;
        let planned = plan.dst();
        let same = planned.shape() == self.view.shape()
            && planned.strides() == self.view.strides()
            && planned.mask() == self.view.mask();
        if !same {
            return Err(CopyError::Plan);
        }
        // Both offsets stand for the same index; only the first valid position is certain to
        // exist.
        self.run_moved(plan, self.view.offset(), src, fill)
    }

    /// Runs a plan at the box that starts at index `at`. The plan's destination must be a box of
    /// this output of the same shape; where it starts does not matter. So one plan serves all boxes
    /// of a shape, without a view for each.
    ///
    /// # Errors
    /// [`ViewError::Range`] if the box is not within the output; [`CopyError::Plan`] if the plan
    /// was made for another view or either has a mask; [`CopyError::ElementSize`] if the element
    /// sizes differ; and the errors of [`CopyPlan::run`].
    ///
    /// # Examples
    /// ```
    /// use zarr_view::{CopyPlan, CopyElement, Output, View};
    ///
    /// let mut buffer = *b"........";
    /// let mut whole = Output::new(&mut buffer, &View::contiguous(&[2, 4])?, 1)?;
    /// let square = whole.view().shrink(&[0..2, 0..2])?;
    /// let plan = CopyPlan::new(&View::contiguous(&[2, 2])?, &square, CopyElement::try_from(1)?)?;
    /// whole.run_at(&[0, 2], &plan, b"abcd", &[])?;
    /// assert_eq!(&buffer, b"..ab..cd");
    /// # Ok::<(), zarr_view::CopyError>(())
    /// ```
    pub fn run_at(
        &mut self,
        at: &[usize],
        plan: &CopyPlan,
        src: &[u8],
        fill: &[u8],
    ) -> Result<(), CopyError> {
        self.check_element(plan.element())?;
        let planned = plan.dst();
        let rank = self.view.rank();
        if self.view.mask().is_some() || planned.mask().is_some() || planned.rank() != rank {
            return Err(CopyError::Plan);
        }
        if at.len() != rank {
            return Err(ViewError::Rank { expected: rank, found: at.len() }.into());
        }
        let mut first = self.view.offset();
        let boxes = at.iter().zip(planned.shape()).zip(self.view.shape());
        let strides = planned.strides().iter().zip(self.view.strides());
        for (axis, (((&start, &count), &size), (planned_stride, stride))) in
            boxes.zip(strides).enumerate()
        {
            if start > size || count > size - start {
                let end = start.saturating_add(count);
                return Err(ViewError::Range { axis, start, end, size }.into());
            }
            // With a single index the stride is never used, and is 0 in the plan.
            if count > 1 && planned_stride != stride && !planned.is_empty() {
                return Err(CopyError::Plan);
            }
            // Partial sums may wrap; the total is the position of an element, if there is one.
            first = first.wrapping_add(signed(start).wrapping_mul(*stride));
        }
        self.run_moved(plan, first, src, fill)
    }

    /// Runs a plan for this output's view, or for a box of it at any place: `first` replaces the
    /// offset of the plan's view.
    fn run_moved(
        &mut self,
        plan: &CopyPlan,
        first: isize,
        src: &[u8],
        fill: &[u8],
    ) -> Result<(), CopyError> {
        plan.check(src, fill)?;
        let planned = plan.dst();
        if planned.is_masked_out() {
            return Ok(());
        }
        let moved = first.wrapping_sub(planned.offset());
        let moved = moved.wrapping_mul(self.element_size().cast_signed());
        let start = self.start.wrapping_offset(moved);
        // SAFETY: the plan writes at its own view's positions from `start`. From `self.start`,
        // these are the positions of this output or of a box of it. They lie within the buffer and
        // belong to this output alone, which is borrowed exclusively. `check` has passed.
        unsafe {
            plan.run_unchecked(src, start, fill);
        }
        Ok(())
    }

    /// Writes one value to every element.
    ///
    /// # Errors
    /// [`CopyError::Fill`] if the value is not one element long.
    pub fn fill(&mut self, value: &[u8]) -> Result<(), CopyError> {
        if value.len() != self.element_size() {
            return Err(CopyError::Fill { expected: self.element_size(), found: value.len() });
        }
        if self.view.mask().is_none() && self.view.len() <= FEW {
            let done = match *value {
                [a] => self.fill_few([a]),
                [a, b] => self.fill_few([a, b]),
                [a, b, c, d] => self.fill_few([a, b, c, d]),
                [a, b, c, d, e, f, g, h] => self.fill_few([a, b, c, d, e, f, g, h]),
                _ => false,
            };
            if done {
                return Ok(());
            }
        }
        let none: Dims<isize> = Dims::repeat(0, self.view.rank());
        let src_view = View::new(self.view.shape(), &none, 0)?;
        self.copy_from(&src_view, value, self.element, &[])
    }

    /// Writes one value to every element of a view without a mask, row by row. For few elements
    /// that is faster than making a plan. Returns true if it did.
    fn fill_few<const N: usize>(&mut self, value: [u8; N]) -> bool {
        let (shape, strides) = (self.view.shape(), self.view.strides());
        let (&row, outer) = shape.split_last().unwrap_or((&1, &[]));
        let step = strides.last().copied().unwrap_or_default();
        if self.view.is_empty() {
            return true;
        }
        #[cfg(feature = "count")]
        super::count::add(self.view.len() * N);
        let mut index: Dims<usize> = Dims::repeat(0, outer.len());
        let mut position = self.view.offset();
        loop {
            // SAFETY: `position` belongs to an index of the view whose last entry is 0, and the
            // rest of its row follows in steps of `step`. Each position is an element of `N` bytes
            // within the buffer, since the caller gives `N` as the size, and belongs to this output
            // alone, which is borrowed exclusively. An array of bytes may lie anywhere.
            unsafe {
                let start = self.start.cast::<[u8; N]>().offset(position);
                if step == 1 {
                    core::slice::from_raw_parts_mut(start, row).fill(value);
                } else {
                    for i in 0..row {
                        start.offset(i.cast_signed() * step).write(value);
                    }
                }
            }
            let mut axis = outer.len();
            loop {
                let Some(above) = axis.checked_sub(1) else { return true };
                axis = above;
                index[axis] += 1;
                // One step beyond the last index may be beyond an `isize`.
                position = position.wrapping_add(strides[axis]);
                if index[axis] < outer[axis] {
                    break;
                }
                let back = outer[axis].cast_signed().wrapping_mul(strides[axis]);
                position = position.wrapping_sub(back);
                index[axis] = 0;
            }
        }
    }

    /// This output through another view, for as long as it is borrowed.
    ///
    /// # Safety
    /// The positions of `view` are among this output's own, and no two of its indices share one.
    pub(super) unsafe fn reborrow(&mut self, view: View) -> Output<'_> {
        // SAFETY: the caller guarantees the positions; this output cannot be used while the
        // result is alive.
        unsafe { self.part(view) }
    }

    /// Another output with a part of this one's elements.
    ///
    /// # Safety
    /// The positions of `view` are among this output's own, and no two of its indices share one.
    /// While the result is alive neither this output nor any other writes them.
    pub(super) unsafe fn part<'b>(&self, view: View) -> Output<'b>
    where
        'a: 'b,
    {
        Output { start: self.start, view, element: self.element, buffer: PhantomData }
    }

    /// Runs a plan.
    ///
    /// # Safety
    /// The plan's destination is this output's view or a box of it, [`CopyPlan::check`] has passed,
    /// and the caller has this output to itself.
    unsafe fn run_unchecked(&self, plan: &CopyPlan, src: &[u8], fill: &[u8]) {
        // SAFETY: the plan's positions are among this output's, which lie within the buffer and
        // belong to it alone. The caller guarantees that, and has checked the plan.
        unsafe { plan.run_unchecked(src, self.start, fill) };
    }

    const fn check_element(&self, element: CopyElement) -> Result<(), CopyError> {
        if element.size() == self.element_size() {
            Ok(())
        } else {
            Err(CopyError::ElementSize { expected: self.element_size(), found: element.size() })
        }
    }
}
