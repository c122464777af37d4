//! Elements of variable length: Python's `str` and `bytes`.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyList, PyString};
use zarr_kit::codec::{ByteStrings, Strings};
use zarr_kit::grid::Run;
use zarr_kit::metadata::DataType;
use zarr_kit::{Array, ArrayError, Selection};

use crate::error::raised;

/// Elements read from an array of strings or byte strings, in C order.
///
/// Python converts them to objects one slice at a time, so that its other threads can run.
#[pyclass(frozen, name = "Elements", module = "zarr_kit._native")]
pub(crate) struct PyElements(Read);

enum Read {
    Text(Strings),
    Bytes(ByteStrings),
}

#[pymethods]
impl PyElements {
    fn __len__(&self) -> usize {
        match &self.0 {
            Read::Text(strings) => strings.len(),
            Read::Bytes(strings) => strings.len(),
        }
    }

    /// The elements with these numbers, as `str` or `bytes`.
    fn objects<'py>(
        &self,
        py: Python<'py>,
        start: usize,
        stop: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        if stop > self.__len__() {
            return Err(PyIndexError::new_err(format!("there are {} elements", self.__len__())));
        }
        let numbers = start..stop;
        match &self.0 {
            Read::Text(strings) => {
                let text = |n| PyString::new(py, strings.get(n).unwrap_or_default());
                PyList::new(py, numbers.map(text))
            }
            Read::Bytes(strings) => {
                let bytes = |n| PyBytes::new(py, strings.get(n).unwrap_or_default());
                PyList::new(py, numbers.map(bytes))
            }
        }
    }
}

fn is_text(array: &Array) -> bool {
    matches!(array.data_type(), DataType::String)
}

pub(crate) fn read(
    py: Python<'_>,
    array: &Array,
    selection: &Selection,
) -> Result<PyElements, ArrayError> {
    py.detach(|| match is_text(array) {
        true => array.read_strings(selection.clone()).map(Read::Text),
        false => array.read_byte_strings(selection.clone()).map(Read::Bytes),
    })
    .map(PyElements)
}

/// Writes a selection from a list of `str` for strings, of `bytes` for byte strings.
pub(crate) fn write(
    py: Python<'_>,
    array: &Array,
    selection: &Selection,
    elements: &Bound<'_, PyList>,
) -> PyResult<()> {
    let selection = selection.clone();
    if is_text(array) {
        let elements: Vec<PyBackedStr> = elements.extract()?;
        py.detach(|| array.write_strings(selection, &elements))
    } else {
        let elements: Vec<PyBackedBytes> = elements.extract()?;
        py.detach(|| array.write_byte_strings(selection, &elements))
    }
    .map_err(|error| raised(&error))
}

/// Appends elements, in the form that [`write`] takes.
pub(crate) fn append(
    py: Python<'_>,
    array: &Array,
    axis: usize,
    count: u64,
    elements: &Bound<'_, PyList>,
    added: &[Run],
) -> PyResult<Result<Array, ArrayError>> {
    if is_text(array) {
        let elements: Vec<PyBackedStr> = elements.extract()?;
        Ok(py.detach(|| array.append_strings(axis, count, &elements, added)))
    } else {
        let elements: Vec<PyBackedBytes> = elements.extract()?;
        Ok(py.detach(|| array.append_byte_strings(axis, count, &elements, added)))
    }
}
