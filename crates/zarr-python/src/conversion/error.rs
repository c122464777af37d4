//! Converts errors to Python exceptions.

use std::fmt::Display;
use std::io;

use pyo3::exceptions::{
    PyConnectionError, PyFileExistsError, PyFileNotFoundError, PyIndexError, PyKeyError,
    PyMemoryError, PyNotADirectoryError, PyOSError, PyPermissionError, PyRuntimeError,
    PyValueError,
};
use pyo3::prelude::*;
use zarr_kit::ArrayError;
use zarr_kit::array::store::{KeyError, Remedy, ServerFault, StoreError};
use zarr_kit::copy::TransferError;
use zarr_kit::join::JoinError;
use zarr_kit::metadata::{MetadataError, Printable};
use zarr_kit::place::PlaceError;
use zarr_kit::virtual_join::VirtualJoinError;

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

/// An error of the library that becomes a Python exception, so that `?` converts it.
#[derive(Debug)]
pub(crate) struct Raised(PyErr);

/// The result of functions that Python calls.
pub(crate) type Done<T> = Result<T, Raised>;

impl Raised {
    /// The same, with the place of the node before its text, because messages only name keys in its
    /// store. One that Python code raised gets a note instead.
    pub(crate) fn at(self, py: Python<'_>, place: &str) -> Self {
        let value = self.0.value(py);
        // Without its place, the exception is still the right one.
        if self.0.traceback(py).is_some() {
            let _noted = value.call_method1("add_note", (format!("in {place}"),));
        } else if let Ok((text,)) = value.getattr("args").and_then(|it| it.extract::<(String,)>())
            && !text.starts_with(place)
        {
            let _named = value.setattr("args", (format!("{place}: {text}"),));
        }
        self
    }
}

impl Raised {
    /// The error of a copy, with the places of its source and its target.
    pub(crate) fn of_copy(error: TransferError, [source, target]: &[String; 2]) -> Self {
        let place = match error {
            TransferError::Source(_)
            | TransferError::UnfinishedSource { .. }
            | TransferError::SourceChanged { .. }
            | TransferError::ChangedMeanwhile { .. } => source,
            _ => target,
        };
        let place = Printable(place).to_string();
        Python::attach(|py| Self::from(error).at(py, &place))
    }
}

impl From<PyErr> for Raised {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl From<Raised> for PyErr {
    fn from(raised: Raised) -> Self {
        raised.0
    }
}

impl From<ArrayError> for Raised {
    fn from(error: ArrayError) -> Self {
        let text = with_remedy(&error, error.remedy());
        Self(match &error {
            ArrayError::Incomplete { cause, .. }
            | ArrayError::Grown { cause, .. }
            | ArrayError::Undiscarded { cause, .. } => of_array(cause, text),
            error => of_array(error, text),
        })
    }
}

impl From<StoreError> for Raised {
    fn from(error: StoreError) -> Self {
        Self(of_store(&error, with_remedy(&error, error.remedy())))
    }
}

impl From<PlaceError> for Raised {
    fn from(error: PlaceError) -> Self {
        let text = error.to_string();
        Self(match error {
            PlaceError::Store(error) => return error.into(),
            PlaceError::Array(error) => return error.into(),
            PlaceError::VirtualJoin(error) => return error.into(),
            PlaceError::NotFound { place } => of_file(ENOENT, &place),
            PlaceError::Folder { folder, cause } => match cause.raw_os_error() {
                Some(number) => of_file(number, &folder.display().to_string()),
                None => of_io(&cause, text),
            },
            _ => PyValueError::new_err(text),
        })
    }
}

impl From<VirtualJoinError> for Raised {
    fn from(error: VirtualJoinError) -> Self {
        let text = with_remedy(&error, error.remedy());
        Self(match &error {
            VirtualJoinError::Store(error) => of_store(error, text),
            VirtualJoinError::NotFound { .. } => PyFileNotFoundError::new_err(text),
            VirtualJoinError::Exists { .. } => PyFileExistsError::new_err(text),
            VirtualJoinError::Join(error) => of_join(error, text),
            VirtualJoinError::Changed { .. } => ConflictError::new_err(text),
            VirtualJoinError::Axis { .. } => PyIndexError::new_err(text),
            VirtualJoinError::NoNode { .. } => PyFileNotFoundError::new_err(text),
            _ => PyValueError::new_err(text),
        })
    }
}

impl From<JoinError> for Raised {
    fn from(error: JoinError) -> Self {
        Self(match error {
            JoinError::Transfer(error) => return (*error).into(),
            error => of_join(&error, with_remedy(&error, error.remedy())),
        })
    }
}

impl From<TransferError> for Raised {
    fn from(error: TransferError) -> Self {
        let text = with_remedy(&error, error.remedy());
        Self(match error {
            TransferError::Source(cause) | TransferError::Target(cause) => of_array(&cause, text),
            TransferError::UnfinishedSource { .. } | TransferError::Unfinished { .. } => {
                UnfinishedCopyError::new_err(text)
            }
            TransferError::Exists { .. } => PyFileExistsError::new_err(format!(
                "{text}: overwrite=True removes it first, resume=True continues an interrupted copy \
                 or join"
            )),
            TransferError::NotEmpty { .. }
            | TransferError::NotInterrupted { .. }
            | TransferError::OtherCopy { .. }
            | TransferError::OtherDocument { .. }
            | TransferError::OtherIntermediates { .. } => PyFileExistsError::new_err(text),
            TransferError::SourceChanged { .. } | TransferError::ChangedMeanwhile { .. } => {
                ConflictError::new_err(text)
            }
            TransferError::Memory { .. } => PyMemoryError::new_err(text),
            // An exception that Python raised.
            TransferError::Change { cause, .. } => match cause.downcast::<PyErr>() {
                Ok(error) => *error,
                Err(_) => PyValueError::new_err(text),
            },
            _ => PyValueError::new_err(text),
        })
    }
}

impl From<MetadataError> for Raised {
    fn from(error: MetadataError) -> Self {
        Self(PyValueError::new_err(error.to_string()))
    }
}

impl From<KeyError> for Raised {
    fn from(error: KeyError) -> Self {
        Self(PyValueError::new_err(error.to_string()))
    }
}

fn of_array(error: &ArrayError, text: String) -> PyErr {
    match error {
        ArrayError::Store(error) => of_store(error, text),
        ArrayError::Member { cause, .. } => of_array(cause, text),
        ArrayError::NotFound { .. } | ArrayError::NotConsolidated { .. } => {
            PyFileNotFoundError::new_err(text)
        }
        ArrayError::Unfinished { .. } => UnfinishedCopyError::new_err(text),
        ArrayError::Exists { .. } => {
            PyFileExistsError::new_err(format!("{text}: overwrite=True replaces it"))
        }
        ArrayError::NotEmpty { .. } => PyFileExistsError::new_err(text),
        ArrayError::NoLock { .. } => PyOSError::new_err(text),
        ArrayError::OtherObjects { .. } => PyFileExistsError::new_err(format!(
            "{text}: move them, or `zarr-kit delete --with-other-files` removes them with the node"
        )),
        ArrayError::Stale { .. } => ConflictError::new_err(text),
        ArrayError::Axis { .. } => PyIndexError::new_err(text),
        ArrayError::Loss { .. } => LossError::new_err(text),
        ArrayError::SelectionTooLarge { .. } => PyMemoryError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

fn of_join(error: &JoinError, text: String) -> PyErr {
    match error {
        JoinError::Member { cause, .. } | JoinError::Target(cause) => of_array(cause, text),
        JoinError::Axis { .. } | JoinError::AxisNumber { .. } => PyIndexError::new_err(text),
        JoinError::Changed { .. } | JoinError::ChunksChanged { .. } => ConflictError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

fn of_store(error: &StoreError, text: String) -> PyErr {
    match error {
        StoreError::Io { cause, .. } => of_python(cause).unwrap_or_else(|| of_io(cause, text)),
        StoreError::Key(_) => PyKeyError::new_err(text),
        error => match error.server_fault() {
            Some(ServerFault::NoCredentials | ServerFault::Refused) => {
                numbered(PyPermissionError::new_err(text), None, "EACCES")
            }
            Some(ServerFault::NoBucket) => {
                numbered(PyFileNotFoundError::new_err(text), None, "ENOENT")
            }
            Some(ServerFault::Unreachable) => PyConnectionError::new_err(text),
            _ => PyOSError::new_err(text),
        },
    }
}

/// A message of the library, and what helps in Python.
pub(crate) fn with_remedy(cause: impl Display, remedy: Option<Remedy>) -> String {
    let words = match remedy {
        Some(Remedy::OutsideLinks) => "the setting outside_links=True allows it",
        Some(Remedy::OutsideMembers) => "the setting outside_members=True allows it",
        Some(Remedy::Target) => {
            "if you trust the document, allow the place by the setting targets=[PLACE]"
        }
        Some(Remedy::LongerDocuments) => {
            "if you trust it, allow more by the setting max_document=MEBIBYTES"
        }
        Some(Remedy::ChangingChunks) => {
            "join again, with chunks_may_change=True if its chunks are meant to change"
        }
        Some(Remedy::SoleWriter) => {
            "the setting sole_writer=True allows it while nobody else writes"
        }
        Some(Remedy::Promote) => "promote=True converts them",
        Some(Remedy::PromoteIntoNew) => "a join into a new array, with promote=True, converts them",
        Some(Remedy::JoinOfCopies) => {
            "a join with virtual=False does, or write them with the same units"
        }
        _ => return cause.to_string(),
    };
    format!("{cause}; {words}")
}

/// The number of the error that a file is missing, in every system.
const ENOENT: i32 = 2;

/// The exception of Python for a file: its kind, `errno` and `filename` come from the number.
fn of_file(number: i32, place: &str) -> PyErr {
    let place = Printable(place).to_string();
    let text = Python::attach(|py| {
        let text = py.import("os").and_then(|os| os.call_method1("strerror", (number,)));
        text.and_then(|text| text.extract::<String>())
    });
    match text {
        Ok(text) => PyOSError::new_err((number, text, place)),
        Err(error) => error,
    }
}

fn of_io(cause: &io::Error, text: String) -> PyErr {
    let (error, name) = match cause.kind() {
        io::ErrorKind::NotFound => (PyFileNotFoundError::new_err(text), "ENOENT"),
        io::ErrorKind::PermissionDenied => (PyPermissionError::new_err(text), "EACCES"),
        io::ErrorKind::AlreadyExists => (PyFileExistsError::new_err(text), "EEXIST"),
        io::ErrorKind::NotADirectory => (PyNotADirectoryError::new_err(text), "ENOTDIR"),
        _ => (PyOSError::new_err(text), ""),
    };
    numbered(error, cause.raw_os_error(), name)
}

/// The exception with its `errno`: that of the system, or else the one with this name.
fn numbered(error: PyErr, number: Option<i32>, name: &str) -> PyErr {
    Python::attach(|py| {
        let number = number.or_else(|| py.import("errno").ok()?.getattr(name).ok()?.extract().ok());
        if let Some(number) = number {
            // Without its number, the exception is still the right one.
            let _numbered = error.value(py).setattr("errno", number);
        }
    });
    error
}

/// The exception of a store of Python, as the store raised it.
fn of_python(cause: &io::Error) -> Option<PyErr> {
    let error = cause.get_ref()?.downcast_ref::<PyErr>()?;
    Some(Python::attach(|py| error.clone_ref(py)))
}
