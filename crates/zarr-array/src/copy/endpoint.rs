//! The two ends of a copy, and whether they are distinct.

use std::sync::Arc;

use super::error::{TransferError, source};
use crate::change::{Scope, follow};
use crate::node::{self, METADATA_KEY};
use crate::store::{DirEntry, Key, KeyError, Prefix, Store, StoreError, UpdatePolicy};
use crate::unfinished::MARKER;

/// The source or the target of a copy: a node with everything below it, or the place for it.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint<'a> {
    pub(super) store: &'a Arc<dyn Store>,
    pub(super) prefix: &'a Prefix,
}

impl<'a> Endpoint<'a> {
    /// The node at `prefix` in `store`.
    #[must_use]
    pub fn new(store: &'a Arc<dyn Store>, prefix: &'a Prefix) -> Self {
        Self { store, prefix }
    }

    /// Another place in the same store.
    pub(super) fn at(self, prefix: &'a Prefix) -> Self {
        Self { prefix, ..self }
    }

    pub(super) fn document(self) -> Result<Key, KeyError> {
        self.prefix.key(METADATA_KEY)
    }

    /// The node's path for messages.
    pub(super) fn path(self) -> String {
        node::display(self.prefix)
    }

    /// Refuses ends that share objects: such a copy would remove its own source, or never end.
    /// Compares the locations that the stores report. Two stores that report none are the same if
    /// they are the same object in memory.
    pub(super) fn apart(self, to: Self) -> Result<(), TransferError> {
        let overlap = match (self.store.location(self.prefix), to.store.location(to.prefix)) {
            (Some(from), Some(to)) => from.overlaps(&to),
            _ => {
                let same = std::ptr::addr_eq(Arc::as_ptr(self.store), Arc::as_ptr(to.store));
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
    pub(super) fn follow(self) {
        follow(self.store, self.prefix, Scope::Subtree, UpdatePolicy::default());
    }

    /// Removes files that killed writers left next to the objects.
    pub(super) fn clean(self) -> Result<(), StoreError> {
        self.store.clean(self.prefix, &mut |_| {})
    }

    /// Refuses a group that contains an unfinished copy, which is not a node yet and would be
    /// left out.
    pub(super) fn refuse_unfinished_children(self, nodes: &[String]) -> Result<(), TransferError> {
        let mut others = Vec::new();
        for entry in self.store.list_dir(self.prefix) {
            let prefix = match entry {
                Ok(DirEntry::Prefix(prefix)) => prefix,
                Ok(DirEntry::Object(_)) => continue,
                // The nodes come from consolidated metadata.
                Err(StoreError::Remote { .. } | StoreError::Unsupported { .. }) => return Ok(()),
                Err(error) => return Err(source(error)),
            };
            let path = prefix.as_str();
            let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
            if nodes.binary_search_by(|node| node.as_str().cmp(name)).is_err() {
                others.push(prefix);
            }
        }
        others.iter().try_for_each(|prefix| self.at(prefix).refuse_unfinished())
    }

    /// Refuses a source that is an unfinished copy: its missing chunks would read as fill values.
    pub(super) fn refuse_unfinished(self) -> Result<(), TransferError> {
        if self.store.head(&self.prefix.key(MARKER)?).map_err(source)?.is_some() {
            return Err(TransferError::UnfinishedSource { path: self.path() });
        }
        Ok(())
    }
}
