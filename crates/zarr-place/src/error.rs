//! Why a place is not opened.

use std::io;
use std::path::PathBuf;

use zarr_array::ArrayError;
use zarr_array::store::{Remedy, StoreError};
use zarr_metadata::Printable;
#[cfg(feature = "virtual-join")]
use zarr_virtual_join::VirtualJoinError;

/// The reason why there is no store at a path or URL, or no node in it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// There is no folder, archive or document.
    #[error("{}: there is nothing here", Printable(place))]
    NotFound {
        /// The path or URL, without secrets.
        place: String,
    },
    /// A folder cannot be opened.
    #[error("{}: {cause}", Printable(&folder.display().to_string()))]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        cause: io::Error,
    },
    /// The store cannot be opened.
    #[error(transparent)]
    Store(StoreError),
    /// The node cannot be opened.
    #[error(transparent)]
    Array(ArrayError),
    /// The virtual join cannot be opened.
    #[cfg(feature = "virtual-join")]
    #[cfg_attr(docsrs, doc(cfg(feature = "virtual-join")))]
    #[error(transparent)]
    VirtualJoin(VirtualJoinError),
}

zarr_array::store::debug_as_text!(PlaceError);

impl PlaceError {
    /// What would allow to open it, if the caller can.
    #[must_use]
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Store(cause) => cause.remedy(),
            Self::Array(cause) => cause.remedy(),
            #[cfg(feature = "virtual-join")]
            Self::VirtualJoin(cause) => cause.remedy(),
            Self::NotFound { .. } | Self::Folder { .. } => None,
        }
    }
}

impl From<StoreError> for PlaceError {
    fn from(cause: StoreError) -> Self {
        Self::Store(cause)
    }
}

impl From<ArrayError> for PlaceError {
    fn from(cause: ArrayError) -> Self {
        Self::Array(cause)
    }
}

#[cfg(feature = "virtual-join")]
impl From<VirtualJoinError> for PlaceError {
    fn from(cause: VirtualJoinError) -> Self {
        match cause {
            VirtualJoinError::Store(cause) => Self::Store(cause),
            VirtualJoinError::NotFound { place } => Self::NotFound { place },
            cause => Self::VirtualJoin(cause),
        }
    }
}
