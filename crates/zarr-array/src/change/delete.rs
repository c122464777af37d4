//! Deleting nodes.

use std::sync::Arc;

use super::update_consolidated::{Scope, update_consolidated};
use crate::error::ArrayError;
use crate::hierarchy::node::{self, METADATA_KEY};
use crate::hierarchy::{Owner, Owners, version_2};
use crate::parallel;
use crate::store::{Key, KeyFilter, Links, LockScope, ObjectMeta, Prefix, Store, UpdatePolicy};

/// Deletes the node at `prefix` and everything of Zarr's below it.
///
/// As [`Deletion`] without other objects.
///
/// # Errors
/// As for [`Deletion::plan`] and [`Deletion::run`].
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
    Deletion::plan(store, prefix)?.run()
}

/// The deletion of a node and of everything of Zarr's below it.
///
/// Documents, chunks and what unfinished work of this library leaves are Zarr's. Every other object
/// is listed by [`other_objects`](Self::other_objects), and removed only
/// [on request](Self::with_other_objects). So are objects that may be chunks: those of an array whose
/// chunk key encoding is not known. An object that appears after the plan and is not Zarr's stays.
///
/// # Steps
/// 1. Lists all objects below the node, and reads the documents among them.
/// 2. Locks the documents, and compares the node's own with that of step 1. Until step 5 is done, no
///    node is created in the place of one of these, if the store's locks exclude other processes.
/// 3. Removes the other objects, if that was requested.
/// 4. Removes the documents: first the node's own, after which no reader sees a node. Documents of
///    groups go before documents of their members.
/// 5. Removes all chunks and markers, in no particular order.
///
/// So each node exists with all its chunks, or not at all. After an interruption objects remain
/// that `check` names as stray; before step 5 these can be whole nodes without a group. Calling
/// again removes them. Until then no array can be [created](crate::Array::create) in the place of a
/// deleted one, since it would show the old chunks as its own.
///
/// Symbolic links of a local store are removed, even at `prefix`; their targets stay. A link to a file
/// of another program in the store is an other object itself.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt};
/// use zarr_array::{ArrayError, Deletion, Group, delete_node};
/// use zarr_metadata::GroupMetadata;
///
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// Group::create(store.clone(), &Prefix::root(), GroupMetadata::new())?;
/// store.put(&Key::new("notes.txt")?, b"of another program")?;
/// let refused = delete_node(&store, &Prefix::root());
/// assert!(matches!(refused, Err(ArrayError::OtherObjects { .. })));
/// let deletion = Deletion::plan(&store, &Prefix::root())?;
/// assert_eq!(deletion.other_objects()[0].as_str(), "notes.txt");
/// deletion.with_other_objects(true).run()?;
/// assert!(store.head(&Key::new("notes.txt")?)?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Deletion {
    store: Arc<dyn Store>,
    prefix: Prefix,
    owners: Owners,
    objects: u64,
    others: Vec<Key>,
    may_be_chunks: bool,
    with_others: bool,
    documents: Vec<Key>,
    /// The node's own document when it was planned.
    planned: Option<ObjectMeta>,
}

impl Deletion {
    /// Finds what the deletion of the node at `prefix` would remove. Nothing is removed yet.
    ///
    /// # Errors
    /// [`ArrayError::NotFound`] if there is neither a node nor what an interrupted deletion leaves;
    /// [`ArrayError::Version2`] for a node of Zarr version 2; [`ArrayError::Store`] if the store
    /// fails.
    pub fn plan(store: &Arc<dyn Store>, prefix: &Prefix) -> Result<Self, ArrayError> {
        let missing = || ArrayError::NotFound { path: node::display(prefix) };
        // Before the listing: what is listed is of this node, or of a later one, which is noticed.
        let planned = document_of(&**store, prefix);
        let mut found = 0_u64;
        let mut documents = Vec::new();
        let mut owners = Owners::among(&**store, prefix, &mut |key| {
            found += 1;
            documents.extend(Some(key).filter(|key| key.name() == METADATA_KEY).cloned());
        })?;
        if found == 0 {
            return Err(missing());
        }
        // Listed, not looked up: a document may be a link that leads to itself.
        let has_document = documents.contains(&prefix.key(METADATA_KEY)?);
        node::refuse_version_2(!has_document && version_2::is_at(store, prefix)?, prefix)?;
        let mut others = Vec::new();
        for key in store.list(prefix, Links::AsObjects) {
            others.extend(Some(key?).filter(|key| owners.owner(key) != Owner::Zarr));
        }
        let others = owners.look_up_links(&**store, others)?;
        // A folder that is not a node may be anything.
        if !owners.has_root() && others.iter().any(|key| !owners.is_below_node(key)) {
            return Err(missing());
        }
        documents.retain(|key| owners.owner(key) == Owner::Zarr);
        documents.sort_by_cached_key(node::depth);
        let may_be_chunks = others.iter().any(|key| owners.owner(key) == Owner::Unknown);
        let count = u64::try_from(others.len()).unwrap_or(u64::MAX);
        let (store, prefix) = (Arc::clone(store), prefix.clone());
        let (objects, with_others) = (found.saturating_sub(count), false);
        Ok(Self {
            store,
            prefix,
            owners,
            objects,
            others,
            may_be_chunks,
            with_others,
            documents,
            planned,
        })
    }

    /// The number of nodes that are removed.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        u64::try_from(self.documents.len()).unwrap_or(u64::MAX)
    }

    /// The number of objects that are Zarr's, documents among them.
    #[must_use]
    pub fn objects(&self) -> u64 {
        self.objects
    }

    /// The objects below the node that are not Zarr's, or not known to be.
    #[must_use]
    pub fn other_objects(&self) -> &[Key] {
        &self.others
    }

    /// Whether some of the [other objects](Self::other_objects) may be chunks: those of an array whose
    /// chunk key encoding is not known.
    #[must_use]
    pub fn may_hold_chunks(&self) -> bool {
        self.may_be_chunks
    }

    /// Removes the [other objects](Self::other_objects) too. By default the deletion is refused if
    /// there are any.
    #[must_use]
    pub fn with_other_objects(mut self, with_others: bool) -> Self {
        self.with_others = with_others;
        self
    }

    /// Deletes the node.
    ///
    /// # Errors
    /// [`ArrayError::OtherObjects`] if there are other objects and they are not to be removed;
    /// nothing has been removed then. So it is after [`ArrayError::Stale`]: another process has put
    /// the node's document since. [`ArrayError::Store`] if the store fails.
    pub fn run(self) -> Result<(), ArrayError> {
        let Self { store, prefix, owners, others, documents, planned, .. } = self;
        if let Some(first) = others.first()
            && !self.with_others
        {
            return Err(ArrayError::OtherObjects {
                path: node::display(&prefix),
                first: prefix.strip(first).unwrap_or_default().to_owned(),
                count: u64::try_from(others.len()).unwrap_or(u64::MAX),
                may_be_chunks: self.may_be_chunks,
            });
        }
        // A deletion may sleep for hours, and go on when there is another node.
        let guard = match documents.is_empty() {
            true => None,
            false => {
                let keys = [&documents[..], &[prefix.key(METADATA_KEY)?]].concat();
                Some(crate::store::lock_step!("delete: lock", store.lock_all(&keys))?)
            }
        };
        // Another deletion may have begun; then the document is gone.
        let found = document_of(&*store, &prefix);
        if crate::store::step!("delete: comparison with the planned document")
            && found.is_some()
            && found != planned
        {
            return Err(ArrayError::Stale { path: node::display(&prefix) });
        }
        // One after another if a store does not answer several requests faster.
        let threads = store.capabilities().requests_in_flight;
        // Before the documents: after an interruption, a folder without a document could be anything.
        parallel::each(&others, threads, |key| store.delete(key))?;
        for level in documents.chunk_by(|a, b| node::depth(a) == node::depth(b)) {
            parallel::each(level, threads, |key| store.delete(key))?;
        }
        let own: KeyFilter = Arc::new(move |key| owners.owner(key) == Owner::Zarr);
        store.delete_where(&prefix, &own)?;
        if guard.is_some_and(|guard| guard.scope() == LockScope::AllProcesses) {
            // The folders of the locks, now that they are released.
            let none: KeyFilter = Arc::new(|_| false);
            store.delete_where(&prefix, &none)?;
        }
        update_consolidated(&store, &prefix, Scope::Subtree, UpdatePolicy::default());
        Ok(())
    }
}

/// The description of a node's document; `None` if there is none, or a link that leads nowhere.
fn document_of(store: &dyn Store, prefix: &Prefix) -> Option<ObjectMeta> {
    prefix.key(METADATA_KEY).ok().and_then(|key| store.head(&key).ok().flatten())
}
