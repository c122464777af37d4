//! Nodes of Zarr version 2: translated to version 3 when they are read, and never written.
//!
//! Their chunks need no separate code, since each readable document of version 2 has an equivalent
//! document of version 3.

use std::sync::Arc;

use zarr_metadata::{ArrayMetadata, GroupMetadata, NodeMetadata, Version2Error};

use crate::error::ArrayError;
use crate::store::{Prefix, Store, StoreExt as _};

/// The document of an array.
pub const ARRAY: &str = ".zarray";

/// The document of a group.
pub(crate) const GROUP: &str = ".zgroup";

/// The attributes of a node.
pub const ATTRIBUTES: &str = ".zattrs";

/// Copies of all documents below a group.
pub const CONSOLIDATED: &str = ".zmetadata";

/// The documents that identify a node.
const DOCUMENTS: [&str; 2] = [ARRAY, GROUP];

/// The documents of an array. Other documents in its folder, such as `.zmetadata`, do not concern
/// it.
pub const OF_ARRAY: [&str; 2] = [ARRAY, ATTRIBUTES];

/// The documents of all nodes of Zarr version 2.
pub const NAMES: [&str; 4] = [ARRAY, GROUP, ATTRIBUTES, CONSOLIDATED];

/// The node of version 2 at `prefix`, where there is none of version 3.
pub fn open(store: &Arc<dyn Store>, prefix: &Prefix) -> Result<Option<NodeMetadata>, ArrayError> {
    let read = |name: &str| Ok::<_, ArrayError>(store.read(&prefix.key(name)?)?);
    let wrong = |error: Version2Error| match prefix.key(error.document()) {
        Ok(key) => ArrayError::Metadata { key: key.to_string(), cause: error.cause().clone() },
        Err(error) => error.into(),
    };
    if let Some(zarray) = read(ARRAY)? {
        let zattrs = read(ATTRIBUTES)?;
        let array = ArrayMetadata::from_version_2(&zarray, zattrs.as_deref()).map_err(wrong)?;
        return Ok(Some(NodeMetadata::Array(array)));
    }
    let (zgroup, zmetadata) = (read(GROUP)?, read(CONSOLIDATED)?);
    if zgroup.is_none() && zmetadata.is_none() {
        return Ok(None);
    }
    let zattrs = read(ATTRIBUTES)?;
    let [zgroup, zattrs, zmetadata] = [&zgroup, &zattrs, &zmetadata].map(|json| json.as_deref());
    GroupMetadata::from_version_2(zgroup, zattrs, zmetadata)
        .map(|group| Some(NodeMetadata::Group(group)))
        .map_err(wrong)
}

/// Whether the node at `prefix`, which has no document of version 3, is an array of version 2.
pub fn is_array(store: &dyn Store, prefix: &Prefix) -> Result<bool, ArrayError> {
    Ok(store.head(&prefix.key(ARRAY)?)?.is_some())
}

/// Whether there is a node of version 2 at `prefix`.
pub fn is_at(store: &dyn Store, prefix: &Prefix) -> Result<bool, ArrayError> {
    for name in DOCUMENTS {
        // No object has a key that is too long.
        let Ok(key) = prefix.key(name) else { return Ok(false) };
        if store.head(&key)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
