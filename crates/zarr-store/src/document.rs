//! How long a document may be where few bytes stand for many.

use crate::Key;

/// The most bytes of a document by default: room for the consolidated metadata of some
/// hundred thousand arrays.
pub(crate) const MOST: u64 = 256 << 20;

/// The names of the documents of nodes, which readers hold whole.
const NAMES: [&str; 5] = ["zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata"];

/// Says why an object of this size is not read, if it is a document of more bytes than the limit. How
/// long a chunk may be, its metadata says.
pub(crate) fn too_long(key: &Key, size: u64, limit: u64) -> Option<String> {
    let is_refused = size > limit && NAMES.contains(&key.name());
    is_refused.then(|| {
        format!(
            "it has {size} bytes, and a document may have {limit}; if you trust it, allow more: by \
             --documents, in Python by the setting max_document"
        )
    })
}
