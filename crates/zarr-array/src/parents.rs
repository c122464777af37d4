//! Creates the groups that contain a new node.

use std::sync::Arc;

use zarr_metadata::{GroupMetadata, NodeMetadata};

use crate::error::ArrayError;
use crate::group::Group;
use crate::node;
use crate::store::{Prefix, Store};

/// Creates a group at each prefix above this one that has no node, starting at the root, as
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
    let mut above: Vec<Prefix> = std::iter::successors(prefix.parent(), Prefix::parent).collect();
    while let Some(prefix) = above.pop() {
        match node::open(store, &prefix) {
            Ok(NodeMetadata::Group(_)) => continue,
            Ok(NodeMetadata::Array(_)) => {
                return Err(ArrayError::NotGroup { path: node::display(&prefix) });
            }
            Err(ArrayError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        match Group::create(store.clone(), &prefix, GroupMetadata::new()) {
            // Others may have created it meanwhile.
            Ok(_) | Err(ArrayError::Exists { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
