//! Converts errors to Python exceptions.

use std::io;

use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyIndexError, PyKeyError, PyMemoryError,
    PyNotADirectoryError, PyOSError, PyPermissionError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;
use zarr_kit::ArrayError;
use zarr_kit::array::store::StoreError;
use zarr_kit::metadata::MetadataError;

pyo3::create_exception!(
    _native,
    UnfinishedCopyError,
    PyFileNotFoundError,
    "The node is an unfinished copy, which cannot be read until the copy is resumed."
);

pyo3::create_exception!(
    _native,
    ConflictError,
    PyRuntimeError,
    "Another process has changed the node since it was opened; refresh it and try again."
);

pyo3::create_exception!(
    _native,
    LossError,
    PyValueError,
    "A value that the array's codecs cannot keep."
);

/// The corresponding Python exception.
pub(crate) fn raised(error: &ArrayError) -> PyErr {
    let text = error.to_string();
    match error {
        ArrayError::Incomplete { cause, .. } => with_text(cause, text),
        _ => with_text(error, text),
    }
}

fn with_text(error: &ArrayError, text: String) -> PyErr {
    match error {
        ArrayError::Store(error) => of_store(error, text),
        ArrayError::NotFound { .. } | ArrayError::NotConsolidated { .. } => {
            PyFileNotFoundError::new_err(text)
        }
        ArrayError::Unfinished { .. } => UnfinishedCopyError::new_err(text),
        ArrayError::Exists { .. } | ArrayError::NotEmpty { .. } => PyFileExistsError::new_err(text),
        ArrayError::Stale { .. } => ConflictError::new_err(text),
        ArrayError::Axis { .. } => PyIndexError::new_err(text),
        ArrayError::Loss { .. } => LossError::new_err(text),
        ArrayError::SelectionTooLarge { .. } => PyMemoryError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// The exception for an error of a store.
pub(crate) fn raised_by_store(error: &StoreError) -> PyErr {
    of_store(error, error.to_string())
}

fn of_store(error: &StoreError, text: String) -> PyErr {
    match error {
        StoreError::Io { cause, .. } => match cause.kind() {
            io::ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
            io::ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
            io::ErrorKind::AlreadyExists => PyFileExistsError::new_err(text),
            io::ErrorKind::NotADirectory => PyNotADirectoryError::new_err(text),
            _ => PyOSError::new_err(text),
        },
        StoreError::Key(_) => PyKeyError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}

/// The exception for a document that is not valid.
pub(crate) fn refused(error: MetadataError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
