//! Files in a store that are no objects.

use std::fs::{self, File, TryLockError};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::list::{Found, walk};
use super::{LocalStore, lock, names};
#[cfg(doc)]
use crate::Store;
use crate::{Links, Operation, Prefix, StoreError};

/// A file in a local store that is no object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub kind: LeftoverKind,
    /// Whether a living process holds it: it is then in use, and no leftover yet. False too where
    /// the file system has no locks.
    pub in_use: bool,
}

/// What a file that is no object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftoverKind {
    /// A write that was never finished. Harmless; [`Store::clean`] removes it, and so does whoever
    /// next finds a lock in its folder that the same dead writer left.
    Temporary,
    /// An advisory lock. Harmless; the next update of its object, or of another that was left
    /// locked in the same folder, removes it, and so does [`Store::clean`].
    Lock,
    /// A name that no key can have, or a file of a kind that holds no bytes. Not ours.
    Foreign,
}

pub(super) fn leftovers(
    store: &LocalStore,
    prefix: &Prefix,
    visit: &mut dyn FnMut(Leftover) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    walk(store, prefix, Links::AsObjects, &mut |found| {
        let Found::Other(path) = found else { return Ok(ControlFlow::Continue(())) };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let kind = if names::is_temporary(&name) {
            LeftoverKind::Temporary
        } else if names::is_lock(&name) {
            LeftoverKind::Lock
        } else {
            LeftoverKind::Foreign
        };
        let in_use = kind != LeftoverKind::Foreign && is_locked(&path);
        Ok(visit(Leftover { path, kind, in_use }))
    })
}

/// Removes what writers left below `prefix` that are not alive, and tells what.
pub(super) fn clean(
    store: &LocalStore,
    prefix: &Prefix,
    removed: &mut dyn FnMut(&str),
) -> Result<(), StoreError> {
    walk(store, prefix, Links::AsObjects, &mut |found| {
        if let Found::Other(path) = found {
            let name = path.strip_prefix(&store.root).unwrap_or(&path).to_string_lossy();
            let gone = remove_unless_held(&path)
                .map_err(|error| StoreError::io(Operation::Delete, &name, error))?;
            if gone {
                removed(&name);
            }
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Removes a temporary or lock file unless a living process is known to hold it; whether it did.
///
/// Where locks do not reach the host of a living writer, its temporary file may go: its rename then
/// fails, and it writes the object once more.
pub(super) fn remove_unless_held(path: &Path) -> io::Result<bool> {
    remove(path, Proof::NotHeld)
}

/// Removes what the dead left in a folder, where that is certain.
///
/// Called when a lock file of the folder was found left by a dead holder: so that a folder is not
/// read at each write. Only temporary files of this system's own boot are touched: then the kernel that
/// gave the writer its lock is the one that is asked now, whatever file system lies between, and if
/// it gives the lock away nobody holds it. Lock files are removed by the protocol of those who
/// hold them. Nothing depends on success.
pub(super) fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if names::is_of_this_boot(&name) || names::is_lock(&name) {
            let _stays = remove(&entry.path(), Proof::Lock);
        }
    }
}

/// What shows that nobody uses a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// Its lock, taken.
    Lock,
    /// That nobody was found to hold it, also because there are no locks.
    NotHeld,
}

fn remove(path: &Path, proof: Proof) -> io::Result<bool> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Where lock files are not removed by who holds them, nobody else may either.
    let ours = names::is_temporary(&name) || cfg!(unix) && names::is_lock(&name);
    if !ours {
        return Ok(false);
    }
    let gone = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Ok(false),
        _ => Err(error),
    };
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => return Ok(false),
        Err(error) => return gone(error),
    }
    let file = match lock::open_existing(path) {
        Ok(file) => file,
        Err(error) => return gone(error),
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(false),
        Err(TryLockError::Error(error)) => match proof {
            Proof::NotHeld if error.kind() == io::ErrorKind::Unsupported => {}
            _ => return Err(error),
        },
    }
    // It may have become an object since, or another file have taken its place.
    if !lock::is_at(&file, path)? {
        return Ok(false);
    }
    fs::remove_file(path).map(|()| true).or_else(gone)
}

fn is_locked(path: &Path) -> bool {
    // A pipe would wait for its other end, and a link leads elsewhere.
    if !fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file()) {
        return false;
    }
    let Ok(file) = File::open(path) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}
