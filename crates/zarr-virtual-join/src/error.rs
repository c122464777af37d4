//! Errors of virtual joins and their documents.

use std::io;
use std::path::Path;

use zarr_array::ArrayError;
use zarr_array::store::{Operation, Remedy, StoreError, shown_url};
use zarr_join::JoinError;
use zarr_metadata::Printable;

/// The reason why a virtual join cannot be made or opened.
///
/// Messages are complete, without secrets of URLs; `source` returns `None`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum VirtualJoinError {
    /// A document that is not valid.
    #[error("{}: {}: {}", Printable(place), Printable(path), Printable(reason))]
    Document {
        /// The document's path or URL.
        place: String,
        /// The place in the document, as a JSON path.
        path: String,
        /// The value found, and the values allowed.
        reason: String,
    },
    /// There is no document at this path or URL.
    #[error("{}: there is no virtual join here", Printable(place))]
    NotFound {
        /// The path or URL.
        place: String,
    },
    /// The path or URL for the document exists already.
    #[error("{}: there is already a file here", Printable(place))]
    Exists {
        /// The path or URL.
        place: String,
    },
    /// The name of a document does not end in `.zjoin`.
    #[error("{}: the name of a virtual join ends in .zjoin", Printable(place))]
    Name {
        /// The path or URL.
        place: String,
    },
    /// A member is at a place that the document may not refer to.
    #[error("the location {}: {}", Printable(location), Printable(reason))]
    Reference {
        /// The location that the document names.
        location: String,
        /// The fault.
        reason: String,
    },
    /// Virtual joins contain each other, or are nested too deeply.
    #[error(
        "{}: virtual joins within virtual joins, {limit} deep: do they contain themselves?",
        Printable(place)
    )]
    Depth {
        /// The innermost document.
        place: String,
        /// The greatest allowed nesting depth.
        limit: usize,
    },
    /// The members do not fit together, or cannot be looked up.
    #[error(transparent)]
    Join(#[from] Box<JoinError>),
    /// The document has no node at this path.
    #[error("{}: there is no array or group here", Printable(place))]
    NoNode {
        /// The path or URL, with the path in the document.
        place: String,
    },
    /// An array does not have this axis.
    #[error("{}: axis {axis} is out of range: the array has {rank} axes", Printable(place))]
    Axis {
        /// The array.
        place: String,
        /// The axis.
        axis: usize,
        /// The number of axes.
        rank: usize,
    },
    /// Arrays of one dimension have different lengths on it.
    #[error(
        "{}: the dimension {} has length {found}, but {expected} in {}",
        Printable(place),
        Printable(dimension),
        Printable(first)
    )]
    Length {
        /// The array.
        place: String,
        /// The dimension.
        dimension: Box<str>,
        /// Its length in the array.
        found: u64,
        /// Its length in the other array.
        expected: u64,
        /// The other array.
        first: Box<str>,
    },
    /// A rearrangement that does not fit an array or a group: an axis that it does not have, not whole
    /// members, a member that cannot be inserted here, or a conversion of values.
    #[error("{}: {}", Printable(place), Printable(reason))]
    Unfit {
        /// The array or group.
        place: String,
        /// The reason.
        reason: String,
    },
    /// The document has changed since it was read.
    #[error("{}: the document was changed or removed meanwhile", Printable(place))]
    Changed {
        /// The document's path or URL.
        place: String,
    },
    /// The store of the document failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

zarr_array::store::debug_as_text!(VirtualJoinError);

impl From<JoinError> for VirtualJoinError {
    fn from(mut error: JoinError) -> Self {
        // A virtual join converts no values.
        if let JoinError::DataType { remedy: remedy @ Some(Remedy::Promote), .. } = &mut error {
            *remedy = Some(Remedy::PromoteIntoNew);
        }
        Self::Join(Box::new(error))
    }
}

impl VirtualJoinError {
    /// What would allow the join, if the caller can.
    #[must_use]
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Join(cause) => cause.remedy(),
            Self::Store(cause) => cause.remedy(),
            _ => None,
        }
    }

    /// Whether there is nothing at the path or URL of a store: no link to a folder that is not there
    /// either, which may be on a disk that is not mounted.
    pub(crate) fn is_not_found(&self) -> bool {
        match self {
            Self::NotFound { .. } => true,
            Self::Store(StoreError::Io { key, cause, .. }) => {
                let dangles = |path: &Path| path.is_symlink() && !path.exists();
                cause.kind() == io::ErrorKind::NotFound && !Path::new(key).ancestors().any(dangles)
            }
            _ => false,
        }
    }

    /// The error of opening the store of a member at this location.
    pub(crate) fn into_array_error(self, location: &str) -> ArrayError {
        let (location, cause) = match self {
            Self::Store(error) => return error.into(),
            Self::Reference { location, reason } => (location, io::Error::other(reason)),
            error => (shown_url(location), io::Error::other(error)),
        };
        StoreError::io(Operation::Open, location, cause).into()
    }
}
