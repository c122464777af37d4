//! Nodes that go.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::error::ArrayError;
use crate::node::{self, METADATA_KEY};
use crate::store::{Prefix, Store, remove};

/// Deletes the node at `prefix` and all below it.
///
/// # Steps
/// 1. The node's document is removed: from here on there is no node for any reader.
/// 2. All other objects below it are removed, in no particular order.
///
/// Whatever ends it between the two leaves objects that belong to no node, which `check` names as
/// stray; calling again removes them, and until then no array can be
/// [created](crate::Array::create) in the place of one, which would show its chunks as its own.
///
/// # Errors
/// [`ArrayError::NotFound`] if there is nothing at all below `prefix`; what the store says.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::store::{Key, MemoryStore, Prefix, Store};
/// use zarr_array::{Group, delete_node};
/// use zarr_metadata::GroupMetadata;
///
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// let root = Group::create(store.clone(), &Prefix::root(), GroupMetadata::new())?;
/// let old = Prefix::new("old")?;
/// Group::create(store.clone(), &old, GroupMetadata::new())?;
/// delete_node(&store, &old)?;
/// assert!(root.children()?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn delete_node(store: &Arc<dyn Store>, prefix: &Prefix) -> Result<(), ArrayError> {
    let mut any = false;
    store.list(prefix, &mut |_| {
        any = true;
        ControlFlow::Break(())
    })?;
    if !any {
        return Err(ArrayError::NotFound { path: node::display(prefix) });
    }
    remove(&**store, &prefix.key(METADATA_KEY)?)?;
    Ok(store.delete_prefix(prefix)?)
}
