//! Memory of Python objects as elements to read or to fill. This is the only module that uses pointers of the
//! interpreter.

use std::ops::Range;
use std::ptr::{self, NonNull};
use std::slice;

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use zarr_kit::array::{Boxes, Input};
use zarr_kit::view::{Output, View};

/// The elements of an object with the buffer protocol, such as a numpy array.
pub(crate) struct Memory {
    buffer: PyUntypedBuffer,
    /// The position of each element, counted from the lowest byte of all elements.
    view: View,
    /// The offset of that byte from the buffer's pointer.
    first: isize,
    len: usize,
}

impl Memory {
    /// Borrows the memory of an array of elements of this size, for a selection of this rank.
    ///
    /// The buffer holds a reference to the object, which cannot be resized or freed meanwhile.
    pub(crate) fn of(
        object: &Bound<'_, PyAny>,
        element_size: usize,
        rank: usize,
    ) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(object)?;
        if buffer.item_size() != element_size || element_size == 0 {
            return Err(PyValueError::new_err(format!(
                "elements of {} bytes, the array has elements of {element_size}",
                buffer.item_size()
            )));
        }
        if buffer.suboffsets().is_some() {
            return Err(PyBufferError::new_err("memory behind pointers (suboffsets)"));
        }
        let (view, first, len) = match rank {
            // A buffer without axes has no shape to compare: Python passes such an element with one axis.
            0 if buffer.shape() == [1] => (View::contiguous(&[]), 0, element_size),
            _ => strided_view(buffer.shape(), buffer.strides(), element_size)
                .ok_or_else(|| PyBufferError::new_err("strides are not multiples of an element"))?,
        };
        let view = view.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { buffer, view, first, len })
    }

    /// Refuses elements with gaps between them, or in another order than their memory's.
    pub(crate) fn check_in_order(&self) -> PyResult<()> {
        match self.view.is_contiguous() {
            true => Ok(()),
            false => Err(PyBufferError::new_err("elements that are not contiguous in C order")),
        }
    }

    /// Works on the elements without the GIL. Of elements with gaps between them, `work` asks for boxes,
    /// and no reference covers the gaps: other threads may write there.
    ///
    /// As with numpy's own operations, other threads must not change the elements meanwhile.
    pub(crate) fn read<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Input<'_>) -> R + Send,
    ) -> R {
        let elements = self.elements();
        py.detach(|| match elements.without_gaps() {
            Some(bytes) => work((elements.view, bytes).into()),
            None => work(Input::from_boxes(&elements)),
        })
    }

    /// As [`read`](Self::read), with a view and bytes of all elements: a copy, if they have gaps.
    ///
    /// # Errors
    /// If there is no memory for the copy.
    pub(crate) fn read_all<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&View, &[u8]) -> R + Send,
    ) -> PyResult<R> {
        let elements = self.elements();
        if let Some(bytes) = elements.without_gaps() {
            return Ok(py.detach(|| work(elements.view, bytes)));
        }
        let (shape, size) = (self.view.shape(), elements.size);
        let refused = |error: String| PyMemoryError::new_err(error);
        let in_order = View::contiguous(shape).map_err(|error| refused(error.to_string()))?;
        let mut copy = zarr_kit::view::zeroed(in_order.len().saturating_mul(size))
            .map_err(|error| refused(error.to_string()))?;
        let all: Vec<Range<usize>> = shape.iter().map(|count| 0..*count).collect();
        Ok(py.detach(|| {
            elements.copy(&all, &mut copy);
            work(&in_order, &copy)
        }))
    }

    fn elements(&self) -> Elements<'_> {
        let (start, len) = (self.address().cast_const(), self.len);
        Elements { start, len, view: &self.view, size: self.buffer.item_size() }
    }

    /// Lets `work` fill the elements without the GIL. The bytes between them are not touched: other
    /// threads may fill the rest of the same array.
    ///
    /// # Errors
    /// If the object's memory is read-only, or two indices have the same memory.
    #[expect(unsafe_code, reason = "a buffer is a pointer and a shape")]
    pub(crate) fn write<R: Send>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(Output<'_>) -> R + Send,
    ) -> PyResult<R> {
        if self.buffer.readonly() {
            return Err(PyBufferError::new_err("the memory is read-only"));
        }
        let (address, len, size) = (self.address(), self.len, self.buffer.item_size());
        // SAFETY: the exporter guarantees that each element at its shape and strides is valid memory of
        // one object, which `self.buffer` keeps, and allows writing; `layout` computed the span from the
        // first to the last of them. No reference covers bytes between the elements.
        let out = unsafe { Output::from_raw(address, len, &self.view, size) };
        let out = out.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(py.detach(|| work(out)))
    }

    /// As [`write`](Self::write), with the bytes of `source` at hand.
    ///
    /// # Errors
    /// As [`write`](Self::write), and if both are the same memory, or the source is not in order.
    #[expect(unsafe_code, reason = "a buffer is a pointer and a shape")]
    pub(crate) fn write_from<R: Send>(
        &mut self,
        py: Python<'_>,
        source: &Self,
        work: impl FnOnce(Output<'_>, &[u8]) -> R + Send,
    ) -> PyResult<R> {
        source.check_in_order()?;
        let (from, len) = (source.address(), source.len);
        let (to, own_len) = (self.address(), self.len);
        let is_apart = from.wrapping_add(len) <= to || to.wrapping_add(own_len) <= from || len == 0;
        if !is_apart {
            return Err(PyBufferError::new_err("decoding into the memory of the encoded bytes"));
        }
        // SAFETY: elements in order, as `layout` has found them in memory that `source` keeps; they share
        // no byte with the memory that is written.
        let bytes = unsafe { slice::from_raw_parts(from, len) };
        self.write(py, |out| work(out, bytes))
    }

    /// The address of the first byte of any element.
    fn address(&self) -> *mut u8 {
        if self.len == 0 {
            return NonNull::dangling().as_ptr();
        }
        self.buffer.buf_ptr().cast::<u8>().wrapping_offset(self.first)
    }
}

/// Elements in memory. Others may write the bytes between them.
#[derive(Debug)]
struct Elements<'m> {
    /// The lowest byte of any element, and the bytes from it to the end of the last one.
    start: *const u8,
    len: usize,
    /// The position of each element from there.
    view: &'m View,
    size: usize,
}

#[expect(unsafe_code, reason = "a pointer to memory that only is read")]
// SAFETY: the memory may be read from any thread, and no thread writes the elements meanwhile.
unsafe impl Send for Elements<'_> {}
#[expect(unsafe_code, reason = "a pointer to memory that only is read")]
// SAFETY: as above.
unsafe impl Sync for Elements<'_> {}

impl Elements<'_> {
    /// All bytes from the first to the last element, if each is one of an element.
    #[expect(unsafe_code, reason = "a buffer is a pointer and a shape")]
    fn without_gaps(&self) -> Option<&[u8]> {
        // SAFETY: the exporter guarantees that each element at its shape and strides is valid memory
        // of one object, which the borrowed `Memory` keeps, and `layout` computed the span from the
        // first to the last of them, in which nothing is between two. Without elements the slice is
        // empty, at an address that is not null.
        (!has_gaps(self.view)).then(|| unsafe { slice::from_raw_parts(self.start, self.len) })
    }

    /// Copies the elements of the box at these indices of the axes from `axis` on; the other axes
    /// lead to the position `at`. The kernels of views may read bytes between elements, which
    /// others may write meanwhile, so they are not used here.
    fn gather(&self, axis: usize, at: isize, ranges: &[Range<usize>], out: &mut [u8]) {
        let range = ranges.get(axis).cloned().unwrap_or(0..1);
        let stride = self.view.strides().get(axis).copied().unwrap_or(0);
        let moved = |index: usize| at.wrapping_add(index.cast_signed().wrapping_mul(stride));
        if axis + 1 >= ranges.len() {
            return match self.size {
                1 => self.line::<1>(moved(range.start), stride, out),
                2 => self.line::<2>(moved(range.start), stride, out),
                4 => self.line::<4>(moved(range.start), stride, out),
                8 => self.line::<8>(moved(range.start), stride, out),
                _ => self.line::<0>(moved(range.start), stride, out),
            };
        }
        let places = out.chunks_exact_mut((out.len() / range.len().max(1)).max(1));
        range.zip(places).for_each(|(index, out)| self.gather(axis + 1, moved(index), ranges, out));
    }

    /// Copies elements of `N` bytes, or of their size if `N` is 0, from the position `at` on.
    #[expect(unsafe_code, reason = "copies elements through a pointer")]
    #[inline]
    fn line<const N: usize>(&self, at: isize, stride: isize, out: &mut [u8]) {
        // Single elements of the last axis follow each other.
        let size = if stride == 1 { out.len() } else { self.size };
        let step = stride.wrapping_mul(self.size.cast_signed());
        let mut from = self.start.wrapping_add(at.cast_unsigned().wrapping_mul(self.size));
        for out in out.chunks_exact_mut(size.max(1)) {
            let bytes = if N > 0 && stride != 1 { N } else { size };
            // SAFETY: `from` is at an element, or at `size` bytes of elements, since `copy` has checked
            // the ranges; `N` is the size of one if it is not 0. They are valid for reads as in
            // `without_gaps`, and no other bytes are read.
            unsafe { ptr::copy_nonoverlapping(from, out.as_mut_ptr(), bytes) };
            from = from.wrapping_offset(step);
        }
    }
}

impl Boxes for Elements<'_> {
    fn shape(&self) -> &[usize] {
        self.view.shape()
    }

    fn copy(&self, ranges: &[Range<usize>], out: &mut [u8]) {
        // Each element's position belongs to an index of the view: a box outside has none.
        if self.view.shrink(ranges).is_ok() {
            self.gather(0, self.view.offset(), ranges, out);
        }
    }
}

/// Whether there are positions between the first and the last element at which none is.
fn has_gaps(view: &View) -> bool {
    let axes = view.shape().iter().zip(view.strides());
    let mut steps: Vec<(usize, usize)> =
        axes.map(|(count, stride)| (stride.unsigned_abs(), count.saturating_sub(1))).collect();
    steps.sort_unstable();
    // How many positions in sequence the axes so far have.
    let mut reach = 1_usize;
    for (stride, last) in steps {
        if stride > reach && last > 0 {
            return !view.is_empty();
        }
        reach = reach.saturating_add(stride.saturating_mul(last));
    }
    false
}

type StridedView = (Result<View, zarr_kit::view::ViewError>, isize, usize);

/// The view of elements at these byte strides, their lowest byte, and the bytes they span.
fn strided_view(shape: &[usize], strides: &[isize], element_size: usize) -> Option<StridedView> {
    if shape.contains(&0) {
        return Some((View::contiguous(shape), 0, 0));
    }
    let size = isize::try_from(element_size).ok()?;
    let (mut low, mut high) = (0_isize, 0_isize);
    let mut steps = Vec::with_capacity(strides.len());
    for (count, stride) in shape.iter().zip(strides) {
        let last = isize::try_from(count.checked_sub(1)?).ok()?;
        // The stride of an axis with one index is arbitrary.
        let stride = if last == 0 { 0 } else { *stride };
        if stride.checked_rem(size)? != 0 {
            return None;
        }
        steps.push(stride.checked_div(size)?);
        let reach = stride.checked_mul(last)?;
        if reach < 0 { low = low.checked_add(reach)? } else { high = high.checked_add(reach)? }
    }
    let offset = low.checked_neg()?.checked_div(size)?;
    let len = usize::try_from(high.checked_sub(low)?).ok()?.checked_add(element_size)?;
    Some((View::new(shape, &steps, offset), low, len))
}
