//! The limit of a document's length in stores that expand few bytes to many.

use std::fmt::Display;

use super::Key;
use crate::{Operation, Remedy, StoreError};

/// The most bytes that a document, such as `zarr.json`, may have in a store that expands few bytes
/// to many: an archive that deflates, or references. By default 256 MiB, room for the consolidated
/// metadata of some hundred thousand arrays.
///
/// # Examples
/// ```
/// use zarr_store::{DocumentLimit, Key};
///
/// let limit = DocumentLimit::new(1000);
/// assert!(limit.refusal(&Key::new("a/zarr.json")?, "a/zarr.json", 1001).is_some());
/// assert!(limit.refusal(&Key::new("a/zarr.json")?, "a/zarr.json", 1000).is_none());
/// assert!(limit.refusal(&Key::new("a/c/0")?, "a/c/0", 1001).is_none());
/// # Ok::<(), zarr_store::KeyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentLimit(u64);

impl Default for DocumentLimit {
    fn default() -> Self {
        Self(256 << 20)
    }
}

impl DocumentLimit {
    /// At most this many bytes.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The error of reading an object of this size, which messages name as `shown`, if it is a
    /// document of more bytes than the limit. The length of chunks is limited by their metadata, not here.
    #[must_use]
    pub fn refusal(self, key: &Key, shown: impl Display, size: u64) -> Option<StoreError> {
        let Self(limit) = self;
        let is_refused = size > limit && key.is_document();
        is_refused.then(|| {
            let reason = format!("it has {size} bytes, and a document may have {limit}");
            StoreError::not_allowed(Operation::Get, shown, reason, Remedy::LongerDocuments)
        })
    }
}
