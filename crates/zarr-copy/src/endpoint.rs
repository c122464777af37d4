//! The two ends of a copy, and whether they are distinct.

use std::sync::Arc;

use zarr_array::node::{self, METADATA_KEY};
use zarr_array::unfinished::Unfinished;
use zarr_array::version_2;
use zarr_array::{Group, Hierarchy, refresh_consolidated};
use zarr_store::{DirEntry, Key, KeyError, Prefix, Store, StoreError, UpdatePolicy};

use crate::content::ContentDigest;
use crate::error::{TransferError, source};
use crate::source_state::SourceState;

/// The direct children of a group or folder.
#[derive(Debug, Default)]
pub(crate) struct Content {
    /// The names of nodes and of folders without a document, each with whether it is a node.
    pub(crate) members: Vec<(String, bool)>,
    /// Objects that belong to no node.
    pub(crate) others: Vec<Key>,
}

/// The source or the target of a copy: a node with everything below it, or the place for it.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint<'a> {
    pub(crate) store: &'a Arc<dyn Store>,
    /// The same with the members of its arrays, if some arrays consist of others.
    hierarchy: Option<&'a Hierarchy>,
    /// The state of a source from which a copy reads.
    state: Option<&'a SourceState>,
    pub(crate) prefix: &'a Prefix,
}

impl<'a> Endpoint<'a> {
    /// The node at `prefix` in `store`.
    #[must_use]
    pub fn new(store: &'a Arc<dyn Store>, prefix: &'a Prefix) -> Self {
        Self { store, hierarchy: None, state: None, prefix }
    }

    /// The node at `prefix` in a hierarchy that may have arrays that consist of others.
    #[must_use]
    pub fn in_hierarchy(hierarchy: &'a Hierarchy, prefix: &'a Prefix) -> Self {
        Self { store: hierarchy, hierarchy: Some(hierarchy), state: None, prefix }
    }

    /// The same source, of which only this state is read, through `store`.
    pub(crate) fn of_state(self, store: &'a Hierarchy, state: &'a SourceState) -> Self {
        Self { store, hierarchy: Some(store), state: Some(state), ..self }
    }

    /// The digest of the objects of the source; `None` if its store cannot list.
    pub(crate) fn digest(self) -> Option<ContentDigest> {
        self.state?.content()
    }

    /// See [`SourceState::of_one_state`].
    pub(crate) fn of_one_state<T>(
        self,
        result: Result<T, TransferError>,
    ) -> Result<T, TransferError> {
        match self.state {
            Some(state) => state.of_one_state(result),
            None => result,
        }
    }

    /// See [`SourceState::check_listed`].
    pub(crate) fn check_listed(self, count: u64) -> Result<(), TransferError> {
        self.state.map_or(Ok(()), |state| state.check_listed(self.prefix, count))
    }

    /// The store with the members of its arrays.
    pub(crate) fn hierarchy(self) -> Hierarchy {
        self.hierarchy.map_or_else(|| Hierarchy::from(Arc::clone(self.store)), Hierarchy::clone)
    }

    /// The same place in a store that stands before this one.
    pub(crate) fn in_store(self, store: &'a Arc<dyn Store>) -> Self {
        Self { store, ..self }
    }

    /// Another place in the same store.
    pub(crate) fn at(self, prefix: &'a Prefix) -> Self {
        Self { prefix, ..self }
    }

    pub(crate) fn document(self) -> Result<Key, KeyError> {
        self.prefix.key(METADATA_KEY)
    }

    /// The node's path for messages.
    pub(crate) fn path(self) -> String {
        node::display(self.prefix)
    }

    /// Refuses ends that share objects: such a copy would remove its own source, or never end.
    /// Asks the source whether it reads from the location of the target. Without these, two stores
    /// are the same if they are the same object in memory.
    pub(crate) fn apart(self, to: Self) -> Result<(), TransferError> {
        let overlap = match to.store.location(to.prefix) {
            Some(to) => self.store.reads_from(self.prefix, &to).map_err(source)?,
            None => {
                let own = self.state.map_or(self.store, SourceState::store);
                let same = std::ptr::addr_eq(Arc::as_ptr(own), Arc::as_ptr(to.store));
                let within = |a: &Prefix, b: &Prefix| {
                    let mut a = a.segments();
                    b.segments().all(|segment| a.next() == Some(segment))
                };
                same && (within(self.prefix, to.prefix) || within(to.prefix, self.prefix))
            }
        };
        if overlap { Err(TransferError::Overlap { path: to.path() }) } else { Ok(()) }
    }

    /// Updates the consolidated metadata of the groups above after a finished copy.
    pub(crate) fn refresh_above(self) {
        // The copy is done. After a failure here, consolidated metadata is out of date, as after a
        // change by another program.
        let _out_of_date = refresh_consolidated(self.store, self.prefix, UpdatePolicy::default());
    }

    /// Removes files that killed writers left next to the objects.
    pub(crate) fn clean(self) -> Result<(), StoreError> {
        self.store.clean(self.prefix, &mut |_| {})
    }

    /// The direct children of a group, or of a folder without a document if `is_group` is false.
    ///
    /// # Errors
    /// [`TransferError::UnfinishedSource`] if it contains an unfinished copy, which is not a node yet.
    ///
    /// `is_version_2` says that it is a group of that, in which more objects are documents. Children that
    /// are known to be nodes are not looked at.
    pub(crate) fn content(
        self,
        is_group: bool,
        is_version_2: bool,
        is_known: &dyn Fn(&Prefix) -> bool,
    ) -> Result<Content, TransferError> {
        let is_document = |key: &Key| match key.name() {
            METADATA_KEY => is_group,
            name => is_version_2 && version_2::NAMES.contains(&name),
        };
        let mut content = Content::default();
        let mut folders = Vec::new();
        for entry in self.store.list_dir(self.prefix) {
            match entry {
                Ok(DirEntry::Prefix(prefix)) => folders.push(prefix),
                Ok(DirEntry::Object(key)) => {
                    content.others.extend(Some(key).filter(|key| !is_document(key)));
                }
                // The nodes come from consolidated metadata, and nothing else is known.
                Err(error) if is_group && error.cannot_list() => {
                    let names = self.children()?;
                    let members = names.into_iter().map(|name| (name, true)).collect();
                    return Ok(Content { members, others: Vec::new() });
                }
                Err(error) => return Err(source(error)),
            }
        }
        let nodes = match is_group && !folders.iter().all(is_known) {
            true => self.children()?,
            false => Vec::new(),
        };
        for prefix in folders {
            let name = prefix.segments().last().unwrap_or_default().to_owned();
            let is_node = match is_group {
                _ if is_known(&prefix) => true,
                true => nodes.binary_search(&name).is_ok(),
                false => {
                    let document = prefix.key(METADATA_KEY)?;
                    self.store.head(&document).map_err(source)?.is_some()
                        || version_2::is_at(&**self.store, &prefix).map_err(source)?
                }
            };
            if !is_node {
                self.at(&prefix).refuse_unfinished()?;
            }
            content.members.push((name, is_node));
        }
        content.members.sort();
        content.others.sort();
        Ok(content)
    }

    fn children(self) -> Result<Vec<String>, TransferError> {
        let group = Group::open(self.store.clone(), self.prefix);
        group.and_then(|group| group.children()).map_err(source)
    }

    /// Refuses a source that is an unfinished copy: its missing chunks would read as fill values.
    pub(crate) fn refuse_unfinished(self) -> Result<(), TransferError> {
        if Unfinished::at(&**self.store, self.prefix).map_err(source)?.is_some() {
            return Err(TransferError::UnfinishedSource { path: self.path() });
        }
        Ok(())
    }
}

/// The path of a node below the root of a copy.
pub(crate) fn below<'n>(root: &Prefix, node: &'n Prefix) -> &'n str {
    let path = node.as_str();
    path.strip_prefix(root.as_str()).unwrap_or(path).trim_start_matches('/')
}
