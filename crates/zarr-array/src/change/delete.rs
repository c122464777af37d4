//! Nodes that go.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::error::ArrayError;
use crate::node::{self, METADATA_KEY};
use crate::store::{Key, Prefix, Store, remove};

/// Deletes the node at `prefix` and all below it.
///
/// # Steps
/// 1. All objects below `prefix` are listed, and the documents among them removed: first the node's
///    own, from which on it is no node for any reader, and those of groups before those in them.
/// 2. All other objects are removed, in no particular order.
///
/// Each node is thus there with all its chunks, or not at all. Whatever ends it leaves objects that
/// `check` names as stray, among them, if it was ended before 2, whole nodes in no group; calling
/// again removes them, and until then no array can be [created](crate::Array::create) in the place
/// of one, which would show its chunks as its own.
///
/// Symbolic links of a local store are removed, what they lead to stays: at `prefix` too.
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
    for document in documents(&**store, prefix)? {
        remove(&**store, &document)?;
    }
    Ok(store.delete_prefix(prefix)?)
}

/// The documents of a node and of those below it, each before those further down.
pub(crate) fn documents(store: &dyn Store, prefix: &Prefix) -> Result<Vec<Key>, ArrayError> {
    let mut documents = Vec::new();
    store.list_own(prefix, &mut |key| {
        if key.name() == METADATA_KEY {
            documents.push(key);
        }
        ControlFlow::Continue(())
    })?;
    documents.sort_by_cached_key(|key| key.as_str().matches('/').count());
    Ok(documents)
}
