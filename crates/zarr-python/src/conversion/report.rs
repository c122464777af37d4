//! Converts reports: their errors, and values as attributes mean them.

use pyo3::exceptions::{PyTypeError, PyValueError};
use zarr_kit::metadata::TimeUnit;
use zarr_kit::report::ReportError;
use zarr_kit::report::format::decoded::Decoded;
use zarr_kit::{Array, ArrayError, DataType, Selection};

use crate::conversion::error::Done;

/// Separates errors of the array's store from errors in the arguments.
pub(crate) fn reported<T>(done: Result<T, ReportError>) -> Result<Done<T>, ArrayError> {
    match done {
        Ok(done) => Ok(Ok(done)),
        Err(ReportError::Array(cause)) => Err(cause),
        Err(error @ ReportError::NotNumbers { .. }) => {
            Ok(Err(PyTypeError::new_err(error.to_string()).into()))
        }
        Err(error) => Ok(Err(PyValueError::new_err(error.to_string()).into())),
    }
}

/// Values, and numpy's name of their type.
type Values = (Vec<u8>, &'static str);

/// The values of a selection; `None` if they are the elements themselves.
pub(crate) fn decoded(
    array: &Array,
    selection: &Selection,
) -> Result<Done<Option<Values>>, ArrayError> {
    let decoded = match Decoded::of(array.metadata()) {
        Ok(decoded) if decoded.why_plain().is_some() => return Ok(Ok(None)),
        decoded => decoded,
    };
    reported(decoded.and_then(|decoded| {
        let elements = array.read(selection)?;
        let name = match decoded.data_type() {
            DataType::NumpyDatetime64(step) if step.unit() == TimeUnit::Second => "<M8[s]",
            DataType::NumpyDatetime64(_) => "<M8[ns]",
            _ => "<f8",
        };
        Ok(Some((decoded.values(&elements)?.into_owned(), name)))
    }))
}
