//! Walking the folders of a store.

use std::fs::{self, DirEntry as FolderEntry, FileType, ReadDir};
use std::io;
use std::iter;
use std::path::{Path, PathBuf};

use super::path::is_absent;
use super::{LocalStore, names};
use crate::store::listing::{failed_listing, until_error};
use crate::{DirEntry, Key, Links, Listing, Operation, Prefix, StoreError};

/// One step of a walk.
pub(super) enum Step {
    /// A file, or a link that the walk does not follow.
    Object(Key),
    /// A link that leads to nothing that is there: reading it is an error.
    Dangling(Key, PathBuf),
    /// A link that leads to no file and no folder, such as a pipe or itself: nothing to read, but
    /// something to delete.
    LinkToOther(Key, PathBuf),
    /// Something that is not an object.
    Other(PathBuf),
    /// A folder below the start; all its contents have been walked.
    FolderEnd(PathBuf),
}

/// A walk through everything below a prefix, which reads folders as it advances. An error is the
/// last item.
pub(super) struct Walk<'s> {
    store: &'s LocalStore,
    links: Links,
    /// Where it starts; `None` once it has.
    start: Option<Prefix>,
    /// The open folders: one entry for each level, not for each file.
    folders: Vec<Folder>,
}

/// A folder being read.
struct Folder {
    entries: ReadDir,
    path: PathBuf,
    prefix: Prefix,
    /// Whether a link was followed on the way here. A second one is not: links could otherwise be
    /// arranged to make a walk endless, or exponential in their number.
    linked: bool,
}

impl Folder {
    fn open(
        store: &LocalStore,
        path: PathBuf,
        prefix: Prefix,
        linked: bool,
    ) -> Result<Option<Self>, StoreError> {
        let entries = read_folder(store, &prefix, &path)?;
        Ok(entries.map(|entries| Self { entries, path, prefix, linked }))
    }
}

/// The kind of an entry of a folder.
enum Kind {
    Folder {
        linked: bool,
    },
    Object,
    /// A link that leads to nothing that is there.
    Dangling,
    Other,
}

impl<'s> Walk<'s> {
    pub(super) fn new(store: &'s LocalStore, prefix: &Prefix, links: Links) -> Self {
        Self { store, links, start: Some(prefix.clone()), folders: Vec::new() }
    }

    fn step(&mut self) -> Result<Option<Step>, StoreError> {
        if let Some(prefix) = self.start.take() {
            let path = self.store.folder_of(Operation::List, &prefix)?;
            self.folders.extend(Folder::open(self.store, path, prefix, false)?);
        }
        while let Some(folder) = self.folders.last_mut() {
            let Some(entry) = folder.entries.next() else {
                if let Some(Folder { path, prefix, .. }) = self.folders.last() {
                    let fail = |error| StoreError::io(Operation::List, prefix, error);
                    self.store.flush_seen(path).map_err(fail)?;
                }
                match self.folders.pop() {
                    Some(done) if !self.folders.is_empty() => {
                        return Ok(Some(Step::FolderEnd(done.path)));
                    }
                    _ => continue,
                }
            };
            let fail = |error| StoreError::io(Operation::List, &folder.prefix, error);
            let entry = entry.map_err(fail)?;
            let path = entry.path();
            let Some(key) = key_of(&folder.prefix, &entry) else {
                return Ok(Some(Step::Other(path)));
            };
            let follow = self.links == Links::Follow && !folder.linked;
            match kind_of(self.store, &entry, &path, follow).map_err(fail)? {
                None => {}
                Some(Kind::Folder { linked }) => {
                    let linked = linked || folder.linked;
                    self.folders.extend(Folder::open(self.store, path, Prefix::from(key), linked)?);
                }
                Some(Kind::Object) => return Ok(Some(Step::Object(key))),
                Some(Kind::Dangling) => return Ok(Some(Step::Dangling(key, path))),
                Some(Kind::Other) if path.is_symlink() => {
                    return Ok(Some(Step::LinkToOther(key, path)));
                }
                Some(Kind::Other) => return Ok(Some(Step::Other(path))),
            }
        }
        Ok(None)
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<Step, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.folders.clear();
        }
        step.transpose()
    }
}

/// The key of a folder's entry; `None` for names of our own and names that no key can have.
fn key_of(prefix: &Prefix, entry: &FolderEntry) -> Option<Key> {
    let name = entry.file_name();
    let name = name.to_str().filter(|name| !name.starts_with(names::RESERVED))?;
    prefix.key(name).ok()
}

/// `None` for an entry that is gone since the folder was read.
fn kind_of(
    store: &LocalStore,
    entry: &FolderEntry,
    path: &Path,
    follow: bool,
) -> io::Result<Option<Kind>> {
    match entry.file_type() {
        Ok(file_type) => classify(store, path, file_type, follow).map(Some),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A link that is not followed or leads nowhere counts as an object, so that it is not overlooked;
/// reading it reports why it is no object.
fn classify(store: &LocalStore, path: &Path, kind: FileType, follow: bool) -> io::Result<Kind> {
    if kind.is_dir() {
        return Ok(Kind::Folder { linked: false });
    }
    if kind.is_file() {
        return Ok(Kind::Object);
    }
    if !kind.is_symlink() {
        return Ok(Kind::Other);
    }
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => {
            let enter = follow && (store.outside_links || !store.leads_outside(path)?);
            Ok(if enter { Kind::Folder { linked: true } } else { Kind::Object })
        }
        Ok(meta) if meta.is_file() => Ok(Kind::Object),
        Err(error) if is_absent(&error) => Ok(Kind::Dangling),
        // A device or a pipe, or a circle.
        Ok(_) | Err(_) => Ok(Kind::Other),
    }
}

/// The entries of a folder, `None` if there is no such folder.
fn read_folder(
    store: &LocalStore,
    prefix: &Prefix,
    path: &Path,
) -> Result<Option<ReadDir>, StoreError> {
    match fs::read_dir(path) {
        Ok(entries) => Ok(Some(entries)),
        Err(error) if is_absent(&error) => {
            store.check_unlooked(prefix.as_str(), path)?;
            Ok(None)
        }
        Err(error) => Err(StoreError::io(Operation::List, prefix, error)),
    }
}

pub(super) fn list<'s>(store: &'s LocalStore, prefix: &Prefix, links: Links) -> Listing<'s, Key> {
    if links == Links::AsObjects {
        match store.linked_folder(Operation::List, prefix) {
            Ok(None) => {}
            Ok(Some(_)) => {
                let link = Key::new(prefix.as_str()).map_err(StoreError::from);
                return Box::new(iter::once(link));
            }
            Err(error) => return failed_listing(error),
        }
    }
    Box::new(Walk::new(store, prefix, links).filter_map(move |step| match step {
        Ok(Step::Object(key) | Step::Dangling(key, _)) => Some(Ok(key)),
        Ok(Step::LinkToOther(key, _)) => (links == Links::AsObjects).then_some(Ok(key)),
        Ok(Step::Other(_) | Step::FolderEnd(_)) => None,
        Err(error) => Some(Err(error)),
    }))
}

pub(super) fn list_dir<'s>(store: &'s LocalStore, prefix: &Prefix) -> Listing<'s, DirEntry> {
    let folder = store.folder_of(Operation::List, prefix);
    let prefix = prefix.clone();
    let entries = match folder.and_then(|folder| read_folder(store, &prefix, &folder)) {
        Ok(entries) => entries.into_iter().flatten(),
        Err(error) => return failed_listing(error),
    };
    // As in a walk; a caller may take its steps one by one.
    let follow = !store.passes_link(&prefix);
    Box::new(until_error(entries.filter_map(move |entry| {
        let found = entry.and_then(|entry| child(store, &prefix, &entry, follow));
        found.map_err(|error| StoreError::io(Operation::List, &prefix, error)).transpose()
    })))
}

/// `None` if the entry is neither an object nor a prefix of objects.
fn child(
    store: &LocalStore,
    prefix: &Prefix,
    entry: &FolderEntry,
    follow: bool,
) -> io::Result<Option<DirEntry>> {
    let Some(key) = key_of(prefix, entry) else { return Ok(None) };
    Ok(match kind_of(store, entry, &entry.path(), follow)? {
        Some(Kind::Folder { .. }) => Some(DirEntry::Prefix(Prefix::from(key))),
        Some(Kind::Object | Kind::Dangling) => Some(DirEntry::Object(key)),
        Some(Kind::Other) | None => None,
    })
}
