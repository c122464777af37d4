//! Elements of variable length: Python's `str` and `bytes`.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyList, PyString};
use zarr_kit::codec::{ByteStrings, Strings};
use zarr_kit::grid::Run;
use zarr_kit::metadata::DataType;
use zarr_kit::{AnySelection, Array, ArrayError};

/// Elements that were read from an array of strings or byte strings, in C order.
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
    array: &Array,
    selection: impl Into<AnySelection>,
) -> Result<PyElements, ArrayError> {
    let read = match is_text(array) {
        true => array.read_as::<String>(selection).map(Read::Text),
        false => array.read_as::<Vec<u8>>(selection).map(Read::Bytes),
    };
    read.map(PyElements)
}

/// Python's elements to be written: `str` for strings, `bytes` for byte strings.
pub(crate) enum New {
    Text(Vec<PyBackedStr>),
    Bytes(Vec<PyBackedBytes>),
}

impl New {
    /// The elements of a list, for an array of this type.
    pub(crate) fn of(array: &Array, elements: &Bound<'_, PyList>) -> PyResult<Self> {
        match is_text(array) {
            true => elements.extract().map(New::Text),
            false => elements.extract().map(New::Bytes),
        }
    }

    pub(crate) fn write(
        &self,
        array: &Array,
        selection: impl Into<AnySelection>,
    ) -> Result<(), ArrayError> {
        match self {
            New::Text(elements) => array.write_as(selection, &texts(elements)),
            New::Bytes(elements) => array.write_as(selection, &byte_strings(elements)),
        }
    }

    pub(crate) fn append(
        &self,
        array: &Array,
        axis: usize,
        count: u64,
        added: Vec<Run>,
    ) -> Result<Array, ArrayError> {
        match self {
            New::Text(elements) => array.append_as(axis, (count, added), &texts(elements)),
            New::Bytes(elements) => array.append_as(axis, (count, added), &byte_strings(elements)),
        }
    }
}

fn texts(elements: &[PyBackedStr]) -> Vec<&str> {
    elements.iter().map(|element| &**element).collect()
}

fn byte_strings(elements: &[PyBackedBytes]) -> Vec<&[u8]> {
    elements.iter().map(|element| &**element).collect()
}
