//! Walking the folders of a store.

use std::fs::{self, FileType, ReadDir};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::path::is_absent;
use super::{LocalStore, names};
use crate::{DirEntry, Key, Links, Operation, Prefix, StoreError};

/// What a walk meets.
pub(super) enum Found {
    /// A file, or a link that the walk does not follow.
    Object(Key),
    /// Something that is no object.
    Other(PathBuf),
    /// A folder below the start, all of which has been met.
    FolderEnd(PathBuf),
}

/// A folder being read. The stack of them holds one open folder for each level, not one entry for
/// each file.
struct Frame {
    entries: ReadDir,
    path: PathBuf,
    prefix: Prefix,
    /// Whether a link was followed on the way here. A second one is not: links could otherwise be
    /// arranged to make a walk endless, or exponential in their number.
    linked: bool,
}

enum Entry {
    Folder { linked: bool },
    Object,
    Other,
}

/// Calls `visit` with everything below `prefix`.
pub(super) fn walk(
    store: &LocalStore,
    prefix: &Prefix,
    links: Links,
    visit: &mut dyn FnMut(Found) -> Result<ControlFlow<()>, StoreError>,
) -> Result<(), StoreError> {
    let start = store.folder_of(Operation::List, prefix)?;
    let Some(first) = read_folder(prefix, &start)? else { return Ok(()) };
    let mut stack =
        vec![Frame { entries: first, path: start, prefix: prefix.clone(), linked: false }];
    while let Some(frame) = stack.last_mut() {
        let Some(entry) = frame.entries.next() else {
            let done = stack.pop();
            if let (Some(done), false) = (done, stack.is_empty())
                && visit(Found::FolderEnd(done.path))?.is_break()
            {
                return Ok(());
            }
            continue;
        };
        let fail = |error| StoreError::io(Operation::List, &frame.prefix, error);
        let entry = entry.map_err(fail)?;
        let path = entry.path();
        let name = entry.file_name();
        let key = name
            .to_str()
            .filter(|name| !name.starts_with(names::RESERVED))
            .and_then(|name| frame.prefix.key(name).ok());
        let Some(key) = key else {
            if visit(Found::Other(path))?.is_break() {
                return Ok(());
            }
            continue;
        };
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            // Gone since the folder was read.
            Err(error) if is_absent(&error) => continue,
            Err(error) => return Err(fail(error)),
        };
        let follow = links == Links::Follow && !frame.linked;
        let found = match classify(store, &path, kind, follow).map_err(fail)? {
            Entry::Folder { linked } => {
                let prefix = Prefix::from(key);
                let linked = linked || frame.linked;
                if let Some(entries) = read_folder(&prefix, &path)? {
                    stack.push(Frame { entries, path, prefix, linked });
                }
                continue;
            }
            Entry::Object => Found::Object(key),
            Entry::Other => Found::Other(path),
        };
        if visit(found)?.is_break() {
            return Ok(());
        }
    }
    Ok(())
}

/// What a directory entry is to a store. A link that is not followed counts as an object, so that
/// it is not overlooked; reading it says why it is none.
fn classify(store: &LocalStore, path: &Path, kind: FileType, follow: bool) -> io::Result<Entry> {
    if kind.is_dir() {
        return Ok(Entry::Folder { linked: false });
    }
    if kind.is_file() {
        return Ok(Entry::Object);
    }
    if !kind.is_symlink() {
        return Ok(Entry::Other);
    }
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => {
            let enter = follow && (store.outside_links || !store.leads_outside(path)?);
            Ok(if enter { Entry::Folder { linked: true } } else { Entry::Object })
        }
        Ok(meta) if meta.is_file() => Ok(Entry::Object),
        // A device or a pipe, or nothing at all.
        Ok(_) | Err(_) => Ok(Entry::Other),
    }
}

/// The entries of a folder, `None` if there is no such folder.
fn read_folder(prefix: &Prefix, path: &Path) -> Result<Option<ReadDir>, StoreError> {
    match fs::read_dir(path) {
        Ok(entries) => Ok(Some(entries)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(StoreError::io(Operation::List, prefix, error)),
    }
}

pub(super) fn list(
    store: &LocalStore,
    prefix: &Prefix,
    links: Links,
    visit: &mut dyn FnMut(Key) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    if links == Links::AsObjects && store.linked_folder(Operation::List, prefix)?.is_some() {
        let _ = visit(Key::new(prefix.as_str())?);
        return Ok(());
    }
    walk(store, prefix, links, &mut |found| {
        Ok(match found {
            Found::Object(key) => visit(key),
            Found::Other(_) | Found::FolderEnd(_) => ControlFlow::Continue(()),
        })
    })
}

pub(super) fn list_dir(
    store: &LocalStore,
    prefix: &Prefix,
    visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let folder = store.folder_of(Operation::List, prefix)?;
    let Some(entries) = read_folder(prefix, &folder)? else { return Ok(()) };
    let fail = |error| StoreError::io(Operation::List, prefix, error);
    for entry in entries {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with(names::RESERVED)) else {
            continue;
        };
        let Ok(key) = prefix.key(name) else { continue };
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            Err(error) if is_absent(&error) => continue,
            Err(error) => return Err(fail(error)),
        };
        let found = match classify(store, &entry.path(), kind, true).map_err(fail)? {
            Entry::Folder { .. } => DirEntry::Prefix(Prefix::from(key)),
            Entry::Object => DirEntry::Object(key),
            Entry::Other => continue,
        };
        if visit(found).is_break() {
            return Ok(());
        }
    }
    Ok(())
}
