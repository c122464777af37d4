//! Writes and removes consolidated metadata.

use zarr_metadata::GroupMetadata;

use super::update_consolidated::{Scope, below, change, update_consolidated, with_entries, wrong};
use crate::error::ArrayError;
use crate::hierarchy::Group;
use crate::hierarchy::node;

impl Group {
    /// Writes copies of the documents of all nodes below into the group's own document, where
    /// [`Group::open_consolidated`] reads them. Returns the group as stored.
    ///
    /// From then on, changes by this library below the group keep the copies up to date, also
    /// through a store that begins below the group, if its
    /// [outer stores](crate::store::Store::outer_stores) are known. Such changes are: creating,
    /// resizing, appending to and deleting nodes, and setting attributes. Changes by other programs
    /// do not keep them up to date. `check` names copies that are out of date, and consolidating
    /// again updates them. A change is no error if the copies cannot be written, as in a folder
    /// that cannot be written to: the store is [told](crate::store::Store::out_of_date).
    ///
    /// # Errors
    /// [`ArrayError::Metadata`] if a document below is not valid, or an error of the store. Then
    /// the group is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Group;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};
    /// let store = Arc::new(MemoryStore::new());
    /// let root = Group::create(store.clone(), &Prefix::root(), GroupMetadata::new())?;
    /// root.create_array("rain", ArrayBuilder::new([31], DataType::Float32).build()?)?;
    /// root.consolidate()?;
    /// root.create_array("wind", ArrayBuilder::new([31], DataType::Float32).build()?)?;
    /// let root = Group::open_consolidated(store, &Prefix::root())?;
    /// assert_eq!(root.children()?, ["rain", "wind"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Spec
    /// Zarr v3 core 3.1, "Consolidated metadata".
    pub fn consolidate(&self) -> Result<Self, ArrayError> {
        self.refuse_version_2()?;
        let (store, prefix) = (self.store(), self.prefix());
        // Use the documents of the nodes, even if this handle trusts consolidated metadata.
        let copied = |group: &GroupMetadata| {
            with_entries(prefix, group, &below(store, prefix, "", Scope::Subtree)?).map(Some)
        };
        let mut changed = change(store, prefix, self.update_policy(), copied)?;
        // Whoever changed a node before the copies were there did not know of them.
        if crate::store::step!("consolidate: documents are read again") {
            changed = change(store, prefix, self.update_policy(), copied)?;
        }
        update_consolidated(store, prefix, Scope::Node, self.update_policy());
        changed.map_or_else(
            || Err(ArrayError::NotGroup { path: node::display(prefix) }),
            |metadata| Ok(self.with_document(metadata)),
        )
    }

    /// Removes the consolidated metadata of the group, and returns whether there was any.
    ///
    /// # Errors
    /// Errors of the store. The group is then unchanged.
    pub fn remove_consolidated(&self) -> Result<bool, ArrayError> {
        self.refuse_version_2()?;
        let (store, prefix) = (self.store(), self.prefix());
        let changed = change(store, prefix, self.update_policy(), |group| {
            let without = group.without_consolidated_metadata();
            let without = without.map_err(|cause| wrong(prefix, cause))?;
            Ok(group.consolidated_metadata().is_some().then_some(without))
        })?;
        Ok(changed.is_some())
    }
}
