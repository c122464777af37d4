//! Groups: their attributes and members.

use std::sync::Arc;

use zarr_codec::Options;
use zarr_metadata::{ArrayMetadata, GroupMetadata, NodeMetadata};

use crate::array::Array;
use crate::change::{Scope, update_consolidated};
use crate::error::ArrayError;
use crate::hierarchy::Hierarchy;
use crate::hierarchy::children::{children, nodes};
use crate::hierarchy::node;
use crate::hierarchy::snapshot::Snapshot;
use crate::store::{AsPrefix, Prefix, Store, UpdatePolicy};

/// A group in a store.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::Group;
/// use zarr_array::store::{MemoryStore, Prefix, Store};
/// use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};
///
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// let root = Group::create(store, &Prefix::root(), GroupMetadata::new())?;
/// let metadata = ArrayBuilder::new([90], DataType::Float32).build()?;
/// root.create_group("weather", GroupMetadata::new())?.create_array("rain", metadata)?;
/// assert_eq!(root.children()?, ["weather"]);
/// assert_eq!(root.array("weather/rain")?.shape(), [90]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Spec
/// Zarr v3 core, "Group metadata".
#[derive(Clone, Debug)]
pub struct Group {
    hierarchy: Hierarchy,
    prefix: Prefix,
    /// Shared by all clones of the handle.
    metadata: Arc<GroupMetadata>,
    /// The consolidated metadata that is trusted for the nodes below, if any.
    snapshot: Option<Snapshot>,
    policy: UpdatePolicy,
    options: Options,
}

impl Group {
    /// Opens the group at `prefix`, its path in the store: a [`Prefix`] or text. The nodes below
    /// are read from their own documents, even if the group has consolidated metadata.
    ///
    /// # Errors
    /// [`ArrayError::Path`] if the text is not a path; [`ArrayError`] if there is no group, or its metadata is not valid.
    pub fn open(
        store: impl Into<Hierarchy>,
        prefix: &(impl AsPrefix + ?Sized),
    ) -> Result<Self, ArrayError> {
        let (hierarchy, prefix) = (store.into(), &prefix.to_prefix()?);
        match node::open(&hierarchy, prefix)? {
            NodeMetadata::Group(metadata) => Ok(Self::with_metadata(hierarchy, prefix, metadata)),
            NodeMetadata::Array(_) => Err(ArrayError::NotGroup { path: node::display(prefix) }),
        }
    }

    /// Opens the group at `prefix` and trusts its consolidated metadata for the nodes below. That
    /// takes one request for a whole hierarchy, while [`open`](Group::open) takes one per node
    /// and needs a store that can list.
    ///
    /// Consolidated metadata dates from the last consolidation. Nodes in it are not read again.
    /// Nodes that are not in it are looked up, so a newer node is found by its path, but is not
    /// among the [`children`](Group::children). Use it for hierarchies that do not change: an array
    /// that was resized since has its old shape here, and a replaced array may read wrongly. A
    /// resize, an append and a change of attributes read the node's own document again, and refuse
    /// an outdated one. Plain writes do not, so open an array by its own document to write to it.
    ///
    /// # Errors
    /// [`ArrayError::NotConsolidated`] if the group has none; otherwise as [`open`](Group::open).
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::store::{Key, MemoryStore, Prefix, StoreExt};
    /// use zarr_array::Group;
    ///
    /// # let array = r#"{"zarr_format": 3, "node_type": "array", "shape": [3],
    /// #   "data_type": "uint8", "fill_value": 5, "codecs": [{"name": "bytes"}],
    /// #   "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    /// #   "chunk_key_encoding": {"name": "default"}}"#;
    /// # let document = format!(r#"{{"zarr_format": 3, "node_type": "group",
    /// #   "consolidated_metadata": {{"kind": "inline", "must_understand": false,
    /// #   "metadata": {{"inner/a": {array},
    /// #     "inner": {{"zarr_format": 3, "node_type": "group"}} }}}}}}"#);
    /// # let store = Arc::new(MemoryStore::new());
    /// # store.put(&Key::new("zarr.json")?, document.as_bytes())?;
    /// let root = Group::open_consolidated(store, &Prefix::root())?;
    /// assert_eq!(root.children()?, ["inner"]);
    /// assert_eq!(root.group("inner")?.array("a")?.shape(), [3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_consolidated(
        store: impl Into<Hierarchy>,
        prefix: &(impl AsPrefix + ?Sized),
    ) -> Result<Self, ArrayError> {
        let prefix = &prefix.to_prefix()?;
        let group = Self::open(store, prefix)?;
        match Snapshot::of(&group.metadata, prefix) {
            Some(snapshot) => Ok(Self { snapshot: Some(snapshot), ..group }),
            None => Err(ArrayError::NotConsolidated { path: node::display(prefix) }),
        }
    }

    /// The group with this document at `prefix`. Does not access the store.
    #[must_use]
    pub fn with_metadata(
        store: impl Into<Hierarchy>,
        prefix: &Prefix,
        metadata: GroupMetadata,
    ) -> Self {
        let hierarchy = store.into();
        Self {
            hierarchy,
            prefix: prefix.clone(),
            metadata: Arc::new(metadata),
            snapshot: None,
            policy: UpdatePolicy::default(),
            options: Options::new(),
        }
    }

    /// Creates a group at `prefix`, where there must be no node.
    ///
    /// # Errors
    /// [`ArrayError::Exists`], [`ArrayError::Unfinished`] if there is an unfinished copy,
    /// [`ArrayError::Path`] if the text is not a path, or an error of the store.
    pub fn create(
        store: Arc<dyn Store>,
        prefix: &(impl AsPrefix + ?Sized),
        metadata: GroupMetadata,
    ) -> Result<Self, ArrayError> {
        let (metadata, prefix) = (metadata.into_version_3(), &prefix.to_prefix()?);
        node::refuse_unfinished(&store, prefix)?;
        node::create(&store, prefix, metadata.json().as_bytes())?;
        update_consolidated(&store, prefix, Scope::Node, UpdatePolicy::default());
        Ok(Self::with_metadata(store, prefix, metadata))
    }

    /// Sets other [`Options`] for the arrays that are opened and created from it: limits of
    /// decoding, and third-party codecs.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Sets the policy for changes of its attributes when no lock excludes other processes. Groups
    /// and arrays that are opened from it have the same policy.
    #[must_use]
    pub fn with_update_policy(mut self, policy: UpdatePolicy) -> Self {
        self.policy = policy;
        self
    }

    /// The policy for partial updates.
    #[must_use]
    pub fn update_policy(&self) -> UpdatePolicy {
        self.policy
    }

    /// The options with which its arrays are opened.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Refuses to change a group of Zarr version 2.
    pub(crate) fn refuse_version_2(&self) -> Result<(), ArrayError> {
        node::refuse_version_2(self.metadata.is_version_2(), &self.prefix)
    }

    /// The same group with another document.
    pub(crate) fn with_document(&self, metadata: GroupMetadata) -> Self {
        Self { metadata: Arc::new(metadata), ..self.clone() }
    }

    /// The same group in another store with the same objects, such as a wrapper of its store, or
    /// the store of a session. Nothing is read.
    #[must_use]
    pub fn with_store(mut self, store: Arc<dyn Store>) -> Self {
        self.hierarchy = self.hierarchy.with_store(store);
        self
    }

    /// The store that holds the group, and the members of its arrays that consist of others.
    #[must_use]
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// The store that holds the group.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        self.hierarchy.store()
    }

    /// The metadata document.
    #[must_use]
    pub fn metadata(&self) -> &GroupMetadata {
        &self.metadata
    }

    /// The path of the group in the store.
    #[must_use]
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// Whether consolidated metadata is trusted for the nodes below.
    #[must_use]
    pub fn is_consolidated(&self) -> bool {
        self.snapshot.is_some()
    }

    /// The node at `path` below this group: `a` or `inner/a`.
    ///
    /// # Errors
    /// As [`open_node`](crate::open_node).
    pub fn node(&self, path: &str) -> Result<NodeMetadata, ArrayError> {
        let prefix = self.prefix.join(path)?;
        match self.snapshot.as_ref().and_then(|snapshot| snapshot.node(path)) {
            // Reading its own documents reports their fault.
            Some(Err(_)) if self.metadata.is_version_2() => node::open(self.store(), &prefix),
            Some(node) => node,
            None => node::open(self.store(), &prefix),
        }
    }

    /// Creates an array at `path` below this group.
    ///
    /// # Errors
    /// As [`Array::create`].
    pub fn create_array(&self, path: &str, metadata: ArrayMetadata) -> Result<Array, ArrayError> {
        self.refuse_version_2()?;
        let (store, prefix) = (self.store().clone(), self.prefix.join(path)?);
        let array = Array::create_with(store, &prefix, metadata, self.options.clone())?;
        Ok(array.with_update_policy(self.policy))
    }

    /// Creates a group at `path` below this one.
    ///
    /// # Errors
    /// As [`Group::create`].
    pub fn create_group(&self, path: &str, metadata: GroupMetadata) -> Result<Self, ArrayError> {
        self.refuse_version_2()?;
        let group = Self::create(self.store().clone(), &self.prefix.join(path)?, metadata)?;
        Ok(group.with_update_policy(self.policy).with_options(self.options.clone()))
    }

    /// Opens the array at `path` below this group.
    ///
    /// # Errors
    /// As [`Array::open`].
    pub fn array(&self, path: &str) -> Result<Array, ArrayError> {
        let prefix = self.prefix.join(path)?;
        match self.node(path)? {
            NodeMetadata::Array(metadata) => {
                let options = self.options.clone();
                let array = Array::with_metadata(&self.hierarchy, &prefix, metadata, options)?;
                Ok(array.with_update_policy(self.policy))
            }
            NodeMetadata::Group(_) => Err(ArrayError::NotArray { path: node::display(&prefix) }),
        }
    }

    /// Opens the group at `path` below this one. It trusts consolidated metadata if this one
    /// does.
    ///
    /// # Errors
    /// As [`Group::open`].
    pub fn group(&self, path: &str) -> Result<Self, ArrayError> {
        let prefix = self.prefix.join(path)?;
        match self.node(path)? {
            NodeMetadata::Group(metadata) => {
                let group = Self::with_metadata(&self.hierarchy, &prefix, metadata);
                let snapshot = self.snapshot.as_ref().and_then(|snapshot| snapshot.below(path));
                let options = self.options.clone();
                Ok(Self { snapshot, policy: self.policy, options, ..group })
            }
            NodeMetadata::Array(_) => Err(ArrayError::NotGroup { path: node::display(&prefix) }),
        }
    }

    /// The names of the nodes directly in this group, sorted.
    ///
    /// Lists the store: folders without a `zarr.json` are not nodes and are left out. If the store
    /// cannot list, as most HTTP servers, the names come from the group's consolidated metadata, if
    /// there is any. Only nodes with existing documents are returned.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn children(&self) -> Result<Vec<String>, ArrayError> {
        if let Some(snapshot) = &self.snapshot {
            return Ok(snapshot.children());
        }
        children(self.store(), &self.prefix, &self.metadata)
    }

    /// The nodes directly in this group by their names, sorted, each with its metadata or the error of
    /// [`node`](Self::node).
    ///
    /// Documents are read some hundred ahead, as many at once as the store answers. So memory does not
    /// grow with their lengths. Otherwise as [`children`](Self::children).
    ///
    /// # Errors
    /// Errors of listing.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Group;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{GroupMetadata, NodeMetadata};
    /// let store = Arc::new(MemoryStore::new());
    /// let root = Group::create(store, &Prefix::root(), GroupMetadata::new())?;
    /// root.create_group("weather", GroupMetadata::new())?;
    /// for (name, node) in root.nodes()? {
    ///     assert!(name == "weather" && matches!(node?, NodeMetadata::Group(_)));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nodes(
        &self,
    ) -> Result<impl Iterator<Item = (String, Result<NodeMetadata, ArrayError>)>, ArrayError> {
        let known = self.snapshot.as_ref().map(Snapshot::children);
        let read = match known {
            Some(_) => None,
            None => Some(nodes(self.store(), &self.prefix, &self.metadata)?),
        };
        let known = known.into_iter().flatten().map(|name| {
            let node = self.node(&name);
            (name, node)
        });
        Ok(known.chain(read.into_iter().flatten()))
    }
}
