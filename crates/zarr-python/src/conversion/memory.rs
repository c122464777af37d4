//! Memory of Python objects as elements to read or to fill. This is the only module that uses pointers of the
//! interpreter.

use std::ptr::NonNull;
use std::slice;

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;
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
    /// Borrows the memory of an array whose elements have this size, for a selection of this rank.
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
            _ => layout(buffer.shape(), buffer.strides(), element_size)
                .ok_or_else(|| PyBufferError::new_err("strides are not multiples of an element"))?,
        };
        let view = view.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { buffer, view, first, len })
    }

    /// Refuses elements with gaps between them, or in another order than that of their memory.
    pub(crate) fn check_in_order(&self) -> PyResult<()> {
        match self.view.is_contiguous() {
            true => Ok(()),
            false => Err(PyBufferError::new_err("elements that are not contiguous in C order")),
        }
    }

    /// Works on the elements without the GIL: `work` gets a view of them, and the bytes from the
    /// first to the last of them.
    ///
    /// As with numpy's own operations, other threads must not change the elements meanwhile. They may
    /// change the bytes between them: kernels load these with the elements and drop them, so no result
    /// depends on them. Pointers as in [`write`](Self::write) would load the same bytes, through views,
    /// codecs and arrays that all take slices, and a copy would take the memory of all elements again.
    #[expect(unsafe_code, reason = "a buffer is a pointer and a shape")]
    pub(crate) fn read<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&View, &[u8]) -> R + Send,
    ) -> R {
        let (address, len) = (self.address(), self.len);
        // SAFETY: the exporter guarantees that each element at its shape and strides is valid memory
        // of one object, which `self.buffer` keeps; `layout` computed the span from the first to
        // the last of them. Without elements the slice is empty, at an address that is not null.
        let bytes = unsafe { slice::from_raw_parts(address, len) };
        py.detach(|| work(&self.view, bytes))
    }

    /// Lets `work` fill the elements without the GIL. The bytes between them stay those of others: other
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
        // SAFETY: as in `read`, and the exporter allows writing. No reference covers bytes between the
        // elements.
        let out = unsafe { Output::from_raw(address, len, &self.view, size) };
        let out = out.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(py.detach(|| work(out)))
    }

    /// As [`write`](Self::write), with the bytes of `source` at hand.
    ///
    /// # Errors
    /// As [`write`](Self::write), and if both are the same memory.
    #[expect(unsafe_code, reason = "a buffer is a pointer and a shape")]
    pub(crate) fn write_from<R: Send>(
        &mut self,
        py: Python<'_>,
        source: &Self,
        work: impl FnOnce(Output<'_>, &[u8]) -> R + Send,
    ) -> PyResult<R> {
        let (from, len) = (source.address(), source.len);
        let (to, own_len) = (self.address(), self.len);
        let is_apart = from.wrapping_add(len) <= to || to.wrapping_add(own_len) <= from || len == 0;
        if !is_apart {
            return Err(PyBufferError::new_err("decoding into the memory of the encoded bytes"));
        }
        // SAFETY: as in `read`; it shares no byte with the memory that is written.
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

type StridedView = (Result<View, zarr_kit::view::ViewError>, isize, usize);

/// The view of elements at these byte strides, their lowest byte, and the bytes they span.
fn layout(shape: &[usize], strides: &[isize], element_size: usize) -> Option<StridedView> {
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
