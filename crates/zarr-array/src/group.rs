//! Groups: their attributes and what lies in them.

use std::ops::ControlFlow;
use std::sync::Arc;

use zarr_metadata::GroupMetadata;

use crate::error::ArrayError;
use crate::node::{self, Node};
use crate::store::{DirEntry, Prefix, Store};

/// A group in a store.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::Group;
/// use zarr_array::store::{MemoryStore, Prefix, Store};
/// use zarr_metadata::GroupMetadata;
///
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// let root = Group::create(store.clone(), &Prefix::root(), GroupMetadata::new()?)?;
/// Group::create(store, &Prefix::new("inner")?, GroupMetadata::new()?)?;
/// assert_eq!(root.children()?, ["inner"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Spec
/// Zarr v3 core, "Group metadata".
#[derive(Clone, Debug)]
pub struct Group {
    store: Arc<dyn Store>,
    prefix: Prefix,
    metadata: GroupMetadata,
}

impl Group {
    /// Opens the group at `prefix`.
    ///
    /// # Errors
    /// [`ArrayError`] if there is none, or its metadata is not valid.
    pub fn open(store: Arc<dyn Store>, prefix: &Prefix) -> Result<Self, ArrayError> {
        match node::open(&store, prefix)? {
            Node::Group(metadata) => Ok(Self { store, prefix: prefix.clone(), metadata }),
            Node::Array(_) => Err(ArrayError::NotGroup { path: node::display(prefix) }),
        }
    }

    /// Creates a group at `prefix`, where there must be no node yet.
    ///
    /// # Errors
    /// [`ArrayError::Exists`], or what the store says.
    pub fn create(
        store: Arc<dyn Store>,
        prefix: &Prefix,
        metadata: GroupMetadata,
    ) -> Result<Self, ArrayError> {
        node::create(&store, prefix, metadata.to_json().as_bytes())?;
        Ok(Self { store, prefix: prefix.clone(), metadata })
    }

    /// The same group with another document.
    pub(crate) fn with_document(&self, metadata: GroupMetadata) -> Self {
        Self { metadata, ..self.clone() }
    }

    /// The store that holds the group.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The metadata document.
    #[must_use]
    pub fn metadata(&self) -> &GroupMetadata {
        &self.metadata
    }

    /// Where in the store the group is.
    #[must_use]
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// The names of the nodes directly in this group, sorted.
    ///
    /// Lists the store: folders without a `zarr.json` are not nodes and are left out.
    ///
    /// # Errors
    /// What the store says.
    pub fn children(&self) -> Result<Vec<String>, ArrayError> {
        let mut prefixes = Vec::new();
        self.store.list_dir(&self.prefix, &mut |entry| {
            if let DirEntry::Prefix(prefix) = entry {
                prefixes.push(prefix);
            }
            ControlFlow::Continue(())
        })?;
        let mut names = Vec::new();
        for prefix in prefixes {
            if self.store.head(&prefix.key(node::METADATA_KEY)?)?.is_some() {
                let path = prefix.as_str();
                names.push(path.rsplit_once('/').map_or(path, |(_, name)| name).to_owned());
            }
        }
        names.sort();
        Ok(names)
    }
}
