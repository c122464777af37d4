//! The address of a member in a document, and the version that was joined.

use zarr_array::store::Prefix;

/// The location of a member, and its document's identity when it was joined.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberReference {
    /// The store: a path relative to the document's folder, an absolute path, or a URL.
    pub location: String,
    /// The array's path in the store.
    pub path: Prefix,
    /// Bytes of the member's metadata document.
    pub length: Option<u64>,
    /// The document's ETag.
    pub etag: Option<String>,
    /// The time when the document's file was changed, in seconds since 1970:
    /// `1732291200.123456789`.
    pub last_modified: Option<String>,
    /// The time of the join, in the same form: reading a chunk that was modified later is an error.
    /// `None` if chunks may be modified at any time.
    pub chunks_last_updated_at: Option<String>,
}

/// The rule for locations, in words.
pub(crate) const LOCATION: &str = "a path or URL, without control characters";

/// Whether a document may have this text as the location of a member.
pub(crate) fn is_location(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(char::is_control)
}
