//! Errors of virtual joins and their documents.

use std::io;

use zarr_array::ArrayError;
use zarr_array::store::{Operation, StoreError};
use zarr_metadata::Printable;

use crate::error::JoinError;

/// Why a virtual join cannot be made or opened.
///
/// Messages are complete, without secrets of URLs; `source` returns nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// A document that is not valid.
    #[error("{}: {}: {}", Printable(place), Printable(path), Printable(reason))]
    Document {
        /// The document's path or URL.
        place: String,
        /// Where in it, as a JSON path.
        path: String,
        /// What was found, and what is allowed.
        reason: String,
    },
    /// There is no document at this path or URL.
    #[error("{}: there is no virtual join here", Printable(place))]
    NotFound {
        /// The path or URL.
        place: String,
    },
    /// There is something already where a document was to be written.
    #[error("{}: there is already a file here", Printable(place))]
    Exists {
        /// The path or URL.
        place: String,
    },
    /// The name of a document has another end.
    #[error("{}: the name of a virtual join ends in .zjoin", Printable(place))]
    Name {
        /// The path or URL.
        place: String,
    },
    /// A member is at a place to which the document may not lead.
    #[error("the location {}: {}", Printable(location), Printable(reason))]
    Reference {
        /// The location that the document names.
        location: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Documents name each other, or too many lie within each other.
    #[error(
        "{}: virtual joins within virtual joins, {limit} deep: do they contain themselves?",
        Printable(place)
    )]
    Depth {
        /// The innermost document.
        place: String,
        /// How deep they may lie.
        limit: usize,
    },
    /// The members do not fit together, or cannot be looked up.
    #[error(transparent)]
    Join(#[from] Box<JoinError>),
    /// An array without elements has nothing to refer to.
    #[error("{}: the joined array would have no elements", Printable(member))]
    Empty {
        /// The name of its first member.
        member: Box<str>,
    },
    /// The store of the document failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<JoinError> for LinkError {
    fn from(error: JoinError) -> Self {
        Self::Join(Box::new(error))
    }
}

impl LinkError {
    /// The error of an operation on an array.
    pub(crate) fn into_array_error(self) -> ArrayError {
        self.into_store_error("its members").into()
    }

    /// The error of an operation on the object `key`.
    pub(crate) fn into_store_error(self, key: &str) -> StoreError {
        match self {
            Self::Store(error) => error,
            error => StoreError::io(Operation::Open, key, io::Error::other(error)),
        }
    }
}
