//! The keys of the documents of nodes.

use crate::store::Prefix;

/// The document of a node, below its prefix.
pub const METADATA_KEY: &str = "zarr.json";

/// The documents that make a folder a node, below its prefix: one in version 3, two in version 2.
pub const DOCUMENTS: [&str; 3] = [METADATA_KEY, ".zarray", ".zgroup"];

/// The key of a node's document, for messages.
#[must_use]
pub fn metadata_key(prefix: &Prefix) -> String {
    if prefix.is_root() {
        METADATA_KEY.to_owned()
    } else {
        format!("{}/{METADATA_KEY}", prefix.as_str())
    }
}
