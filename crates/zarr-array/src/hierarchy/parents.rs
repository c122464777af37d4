//! Creates the groups that contain a new node.

use std::sync::Arc;

use zarr_metadata::{GroupMetadata, NodeMetadata};

use crate::error::ArrayError;
use crate::hierarchy::Group;
use crate::hierarchy::node;
use crate::store::{Prefix, Store};

/// Creates a group at each prefix above `prefix` that has no node, starting at the root, as
/// zarr-python does when it creates a node.
///
/// # Errors
/// [`ArrayError::NotGroup`] if one of them is an array, or an error of the store.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::store::{MemoryStore, Prefix, Store};
/// use zarr_array::{Group, create_parents};
///
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// create_parents(&store, &Prefix::new("weather/rain")?)?;
/// assert_eq!(Group::open(store, &Prefix::root())?.children()?, ["weather"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn create_parents(store: &Arc<dyn Store>, prefix: &Prefix) -> Result<(), ArrayError> {
    let mut above: Vec<Prefix> = prefix.ancestors().skip(1).collect();
    while let Some(prefix) = above.pop() {
        if is_group(store, &prefix)? {
            continue;
        }
        match Group::create(store.clone(), &prefix, GroupMetadata::new()) {
            // Others may have created it meanwhile, as an array perhaps, and removed it again.
            Err(ArrayError::Exists { .. }) if is_group(store, &prefix)? => {}
            created => drop(created?),
        }
    }
    Ok(())
}

/// Whether there is a group; false if there is no node.
fn is_group(store: &Arc<dyn Store>, prefix: &Prefix) -> Result<bool, ArrayError> {
    match node::open(store, prefix) {
        Ok(NodeMetadata::Group(_)) => Ok(true),
        Ok(NodeMetadata::Array(_)) => Err(ArrayError::NotGroup { path: node::display(prefix) }),
        Err(ArrayError::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
