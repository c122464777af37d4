//! A node that is compared, and its errors.

use zarr_array::store::{KeyError, Prefix};
use zarr_array::{Array, ArrayError, Hierarchy};
use zarr_codec::Options;
use zarr_metadata::ArrayMetadata;

use crate::ReportError;

/// One of the two nodes that are compared.
#[derive(Clone, Debug)]
pub struct DiffNode<'a> {
    pub(super) store: Hierarchy,
    pub(super) prefix: Prefix,
    pub(super) name: &'a str,
}

impl<'a> DiffNode<'a> {
    /// The node at `prefix` of a store; reports call it by this name.
    #[must_use]
    pub fn new(store: impl Into<Hierarchy>, prefix: Prefix, name: &'a str) -> Self {
        let store = store.into();
        Self { store, prefix, name }
    }

    pub(super) fn failed(&self, cause: impl Into<ReportError>) -> DiffError {
        DiffError { name: self.name.to_owned(), cause: cause.into() }
    }

    /// The place of the node at this path below.
    fn below(&self, path: &str) -> Result<Prefix, DiffError> {
        self.prefix.join(path).map_err(|cause| self.key_error(cause))
    }

    pub(super) fn key_error(&self, cause: KeyError) -> DiffError {
        self.failed(ArrayError::from(cause))
    }

    /// Opens an array below the node.
    pub(super) fn array(&self, path: &str, metadata: &ArrayMetadata) -> Result<Array, DiffError> {
        let prefix = self.below(path)?;
        Array::with_metadata(&self.store, &prefix, metadata.clone(), Options::new())
            .map_err(|cause| self.failed(cause))
    }
}

/// The error of a node that cannot be compared.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {cause}")]
#[non_exhaustive]
pub struct DiffError {
    /// The name of the compared node that failed.
    pub name: String,
    /// The reason.
    pub cause: ReportError,
}
