//! Deleting nodes.

use std::sync::Arc;

use super::update_consolidated::{Scope, update_consolidated};
use crate::error::ArrayError;
use crate::hierarchy::node::{self, METADATA_KEY};
use crate::hierarchy::version_2;
use crate::parallel;
use crate::store::{Links, Prefix, Store, UpdatePolicy, remove};

/// Deletes the node at `prefix` and everything below it.
///
/// # Steps
/// 1. Lists all objects below `prefix`, and removes the documents among them: first the node's own,
///    after which no reader sees a node. Documents of groups go before documents of their members.
/// 2. Removes all other objects, in no particular order.
///
/// So each node exists with all its chunks, or not at all. After an interruption objects remain
/// that `check` names as stray; before step 2 these can be whole nodes without a group. Calling
/// again removes them. Until then no array can be [created](crate::Array::create) in the place of a
/// deleted one, since it would show the old chunks as its own.
///
/// Symbolic links of a local store are removed, even at `prefix`; their targets stay.
///
/// # Errors
/// [`ArrayError::NotFound`] if there is no object below `prefix`; [`ArrayError::Store`] if the
/// store fails.
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
    if store.list(prefix, Links::AsObjects).next().transpose()?.is_none() {
        return Err(ArrayError::NotFound { path: node::display(prefix) });
    }
    let documents = node::documents(&**store, prefix)?;
    // Listed, not looked up: a document may be a link that leads to itself.
    let has_document = documents.contains(&prefix.key(METADATA_KEY)?);
    node::refuse_version_2(!has_document && version_2::is_at(store, prefix)?, prefix)?;
    for level in documents.chunk_by(|a, b| node::depth(a) == node::depth(b)) {
        // One after another if a store does not answer several requests faster.
        let threads = store.capabilities().requests_in_flight;
        parallel::each(level, threads, |key| remove(&**store, key))?;
    }
    store.delete_prefix(prefix)?;
    update_consolidated(store, prefix, Scope::Subtree, UpdatePolicy::default());
    Ok(())
}
