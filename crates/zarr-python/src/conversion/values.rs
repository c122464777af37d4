//! Numbers of one data type as numbers of another.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zarr_kit::codec::{Change, ConvertError};
use zarr_kit::metadata::{DataType, Loss, parse_value};

use super::error::Done;
use super::memory::Memory;

/// The bytes of elements in another data type. `shape` is theirs, for messages.
#[pyfunction]
pub(crate) fn convert<'py>(
    elements: &Bound<'py, PyAny>,
    shape: Vec<u64>,
    from: &str,
    to: &str,
    allow_loss: bool,
) -> Done<Bound<'py, PyBytes>> {
    let (py, loss) = (elements.py(), loss(allow_loss));
    let [from, to] = [from, to].map(|json| DataType::from_json(json.as_bytes()));
    let (from, to) = (from?, to?);
    let memory = Memory::of(elements, 1, 1)?;
    let found =
        memory.read_all(py, |_, bytes| zarr_kit::codec::convert(bytes, &from, &to, loss))?;
    let found = found.map_err(|error| {
        let text = error.within(&shape);
        match error {
            ConvertError::Types { .. } => PyTypeError::new_err(text),
            ConvertError::Value { why: Change::OutOfRange, .. } => PyOverflowError::new_err(text),
            _ => PyValueError::new_err(text),
        }
    })?;
    Ok(PyBytes::new(py, &found))
}

/// The bytes of an element from the JSON of its value.
#[pyfunction]
pub(crate) fn element<'py>(
    py: Python<'py>,
    data_type: &str,
    json: &str,
    allow_loss: bool,
) -> Done<Bound<'py, PyBytes>> {
    let data_type = DataType::from_json(data_type.as_bytes())?;
    let mut bytes = Vec::new();
    parse_value(&data_type, json, loss(allow_loss), &mut bytes)?;
    Ok(PyBytes::new(py, &bytes))
}

fn loss(allow: bool) -> Loss {
    if allow { Loss::Allow } else { Loss::Refuse }
}
