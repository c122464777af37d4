//! The direct children of a group or folder: nodes, and objects that belong to no node.

use std::convert::Infallible;

use zarr_array::node::{self, METADATA_KEY};
use zarr_array::unfinished::{MARKER, REARRANGE_MARKER, Unfinished};
use zarr_array::version_2;
use zarr_array::{ArrayError, Hierarchy, parallel};
use zarr_store::{DirEntry, Key, Links, Prefix, Store as _};

use crate::finding::{Finding, NODE_NAME, STRAY, VERSION_2, leads_nowhere, migrated, unexamined};
use crate::hierarchy::{Parent, Walk, unfinished};
use crate::rearranging;

/// Kinds of folders.
enum Place {
    /// A node, or the place of an unfinished one.
    Node,
    OfVersion2,
    Folder,
    /// The keys of its children are too long.
    TooLong,
}

impl Walk<'_> {
    /// Pushes the nodes directly below `prefix` on the stack, the first on top, and reports
    /// objects that are not nodes.
    pub(crate) fn children(
        &mut self,
        prefix: &Prefix,
        parent: Parent,
        waiting: &mut Vec<Prefix>,
    ) -> Result<(), ArrayError> {
        let strict = parent != Parent::Folder;
        let owned = std::mem::take(&mut self.owned);
        let mut entries = self.store.list_dir(prefix).collect::<Result<Vec<_>, _>>()?;
        entries.sort();
        let folders: Vec<&Prefix> = entries
            .iter()
            .filter_map(|entry| match entry {
                DirEntry::Prefix(child) => Some(child),
                DirEntry::Object(_) => None,
            })
            .collect();
        let store = self.store;
        let Ok(places) = parallel::map(&folders, parallel::requests(&***store), |child| {
            Ok::<_, Infallible>(place(store, child, parent))
        });
        let mut places = places.into_iter();
        let mut nodes = Vec::new();
        for entry in entries {
            match entry {
                DirEntry::Prefix(child) => {
                    let looked = match places.next().unwrap_or(Ok(Place::TooLong)) {
                        Ok(Place::Node) => {
                            self.name(&child);
                            nodes.push(child);
                            continue;
                        }
                        // Version 2 reserves no names.
                        Ok(Place::OfVersion2) => {
                            nodes.push(child);
                            continue;
                        }
                        Ok(Place::TooLong) => {
                            let why = "a key below it is longer than keys may be";
                            self.found(unexamined(format_args!("{child}/"), why));
                            continue;
                        }
                        Ok(Place::Folder)
                            if child
                                .segments()
                                .last()
                                .is_some_and(|name| owned.contains(&name)) =>
                        {
                            continue;
                        }
                        // Names that the specification reserves for extensions.
                        Ok(Place::Folder) if is_reserved(&child) => continue,
                        Ok(Place::Folder) if strict => self.stray_prefix(&child),
                        Ok(Place::Folder) => Ok(()),
                        Err(error) => Err(error),
                    };
                    match looked {
                        Err(ArrayError::Store(error)) if error.is_of_one_object() => {
                            self.found(unexamined(format_args!("{child}/"), error));
                        }
                        looked => looked?,
                    }
                }
                DirEntry::Object(key) if strict => {
                    let name = prefix.strip(&key).unwrap_or_default();
                    if version_2::NAMES.contains(&name) {
                        if parent == Parent::GroupOfVersion2 {
                            continue;
                        }
                        self.found(migrated(&key));
                    } else if name == MARKER {
                        if let Some(copy) = Unfinished::at(&**self.store, prefix)? {
                            self.found(unfinished(&key, "group", copy.work));
                        }
                    } else if name == REARRANGE_MARKER {
                        let finding = rearranging::group_of(&**self.store, prefix, &key)?;
                        self.found(finding);
                    } else if name != METADATA_KEY
                        && !owned.contains(&name)
                        && !leads_nowhere(&**self.store, &key)
                    {
                        self.found(
                            Finding::new(STRAY, "belongs to no node").with_key(key.as_str()),
                        );
                    }
                }
                DirEntry::Object(_) => {}
            }
        }
        waiting.extend(nodes.into_iter().rev());
        Ok(())
    }

    /// Reports a folder in a group that is not a node.
    fn stray_prefix(&mut self, prefix: &Prefix) -> Result<(), ArrayError> {
        for name in version_2::NAMES {
            let Ok(key) = prefix.key(name) else { continue };
            if self.store.head(&key)?.is_some() {
                let message =
                    "a node of Zarr version 2, which is not found in a group of version 3";
                self.found(Finding::new(VERSION_2, message).with_key(key.as_str()));
                return Ok(());
            }
        }
        // A copy that was withdrawn may leave its marker, which has ended.
        let is_stray = |key: &Result<Key, _>| !matches!(key, Ok(key) if key.name() == MARKER);
        if self.store.list(prefix, Links::Follow).find(is_stray).transpose()?.is_some() {
            let message = "objects that belong to no node: there is no zarr.json";
            self.found(Finding::new(STRAY, message).with_key(format!("{}/", prefix.as_str())));
        }
        Ok(())
    }

    /// Reports a node if the specification does not allow its name.
    fn name(&mut self, prefix: &Prefix) {
        let name = prefix.segments().last().unwrap_or_default();
        if let Some(reason) = node::name_error(name) {
            let finding = Finding::new(NODE_NAME, format!("the node's name {name:?} {reason}"));
            self.found(finding.with_key(node::metadata_key(prefix)));
        }
    }
}

fn place(store: &Hierarchy, child: &Prefix, parent: Parent) -> Result<Place, ArrayError> {
    let Ok(key) = child.key(METADATA_KEY) else { return Ok(Place::TooLong) };
    if store.head(&key)?.is_some() {
        return Ok(Place::Node);
    }
    if parent != Parent::Group && version_2::is_at(&**store, child)? {
        return Ok(Place::OfVersion2);
    }
    if Unfinished::at(&**store, child)?.is_none() {
        zarr_store::reached!("check: a folder of no node");
        return Ok(Place::Folder);
    }
    zarr_store::reached!("check: a copy without a document");
    Ok(Place::Node)
}

/// Whether a folder is reserved for extensions: its name begins with `__`.
fn is_reserved(prefix: &Prefix) -> bool {
    prefix.segments().last().is_some_and(|name| name.starts_with("__"))
}
