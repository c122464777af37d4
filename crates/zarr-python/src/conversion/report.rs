//! Converts reports: their errors, and values as attributes mean them.

use pyo3::exceptions::{PyTypeError, PyValueError};
use zarr_kit::report::ReportError;
use zarr_kit::report::format::decoded::decoder;
use zarr_kit::report::format::npy as numpy;
use zarr_kit::{Array, ArrayError, Selection};

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

/// Values, numpy's name of their type, and what the attributes say and the values do not have.
type Values = (Vec<u8>, String, Vec<String>);

/// The values of a selection; `None` if they are the elements themselves.
pub(crate) fn decoded(
    array: &Array,
    selection: &Selection,
) -> Result<Done<Option<Values>>, ArrayError> {
    let name = array.prefix().as_str().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let parent = array.prefix().parent();
    let beside =
        |name: &str| Array::open(array.store().clone(), &parent.as_ref()?.join(name).ok()?).ok();
    let decoder = match decoder(array.metadata(), name, beside) {
        Ok(decoder) if decoder.why_plain().is_some() => return Ok(Ok(None)),
        decoder => decoder,
    };
    reported(decoder.and_then(|decoder| {
        let elements = array.read(selection)?;
        let notes = decoder.notes().to_vec();
        let (values, data_type) = match decoder.values(&elements) {
            Ok(values) => (values.into_owned(), decoder.data_type().clone()),
            // The range of nanoseconds ends in 2262.
            Err(_) => {
                let decoder = decoder.with_microseconds();
                (decoder.values(&elements)?.into_owned(), decoder.data_type().clone())
            }
        };
        Ok(Some((values, numpy::descr(&data_type), notes)))
    }))
}
