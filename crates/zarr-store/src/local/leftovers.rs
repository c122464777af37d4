//! Files in a store that are not objects.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::list::{Step, Walk};
use super::{LocalStore, lock_file, names};
#[cfg(doc)]
use crate::Store;
use crate::{Links, Listing, Operation, Prefix, StoreError};

/// A file in a local store that is not an object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// The path of the file.
    pub path: PathBuf,
    /// The kind of file.
    pub kind: LeftoverKind,
    /// Whether a living process has locked it: then it is in use, not left over. Also false if the
    /// file system has no locks.
    pub in_use: bool,
}

/// Kinds of files that are not objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftoverKind {
    /// An unfinished write. Harmless; [`Store::clean`](crate::Store::clean) removes it. So
    /// does the next writer that finds a leftover lock of the same dead writer in its folder.
    Temporary,
    /// An advisory lock. Harmless; [`Store::clean`](crate::Store::clean) removes it. So does
    /// the next update of its object, or of another object in the same folder with a leftover lock.
    Lock,
    /// Not written by this crate: a name that no key can have, or a file that is not regular, such
    /// as a pipe.
    Foreign,
}

impl LocalStore {
    /// Every file below `prefix` that is not an object: temporary and lock files of killed or
    /// living writers, and files with names that no key can have.
    ///
    /// # Errors
    /// As for [`Store::list`].
    pub fn leftovers(&self, prefix: &Prefix) -> Listing<'_, Leftover> {
        let steps = Walk::new(self, prefix, Links::AsObjects);
        Box::new(steps.filter_map(|step| match step {
            Ok(Step::Other(path) | Step::Dangling(_, path) | Step::LinkToOther(_, path)) => {
                Some(Ok(leftover(path)))
            }
            Ok(Step::Object(_) | Step::FolderEnd(_)) => None,
            Err(error) => Some(Err(error)),
        }))
    }
}

/// Calls `found` with the name of everything below `prefix` that is neither an object nor a file of
/// this crate.
pub(super) fn without_key(
    store: &LocalStore,
    prefix: &Prefix,
    found: &mut dyn FnMut(&str),
) -> Result<(), StoreError> {
    for step in Walk::new(store, prefix, Links::Follow) {
        let step = step?;
        let (Step::Other(path) | Step::Dangling(_, path) | Step::LinkToOther(_, path)) = step
        else {
            continue;
        };
        if kind_of(&path) == LeftoverKind::Foreign {
            found(&name_below(store, &path));
        }
    }
    Ok(())
}

/// The path of a file in the store, as keys are written.
fn name_below(store: &LocalStore, path: &Path) -> String {
    let name = path.strip_prefix(&store.root).unwrap_or(path).to_string_lossy();
    name.replace(std::path::MAIN_SEPARATOR, "/")
}

fn kind_of(path: &Path) -> LeftoverKind {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if names::is_temporary(&name) {
        LeftoverKind::Temporary
    } else if names::is_lock(&name) {
        LeftoverKind::Lock
    } else {
        LeftoverKind::Foreign
    }
}

fn leftover(path: PathBuf) -> Leftover {
    let kind = kind_of(&path);
    let in_use = kind != LeftoverKind::Foreign && is_locked(&path);
    Leftover { path, kind, in_use }
}

/// Removes the leftover files of dead writers below `prefix`, and reports each.
pub(super) fn clean(
    store: &LocalStore,
    prefix: &Prefix,
    removed: &mut dyn FnMut(&str),
) -> Result<(), StoreError> {
    for step in Walk::new(store, prefix, Links::AsObjects) {
        let Step::Other(path) = step? else { continue };
        let name = name_below(store, &path);
        let gone = remove_unless_held(&path)
            .map_err(|error| StoreError::io(Operation::Delete, &name, error))?;
        if gone {
            removed(&name);
        }
    }
    Ok(())
}

/// Removes the leftover files that dead writers of the file at `path` left beside it, but not
/// `own`, and reports each.
pub(super) fn clean_beside(
    path: &Path,
    own: Option<&Path>,
    removed: &mut dyn FnMut(&str),
) -> Result<(), StoreError> {
    let fail = |error| StoreError::io(Operation::Delete, path.display(), error);
    let Some(folder) = path.parent() else { return Ok(()) };
    let of = path.file_name().unwrap_or_default().to_string_lossy();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let path = entry.path();
        let is_other = names::is_temporary_of(&name, &of) && own != Some(path.as_path());
        if is_other && remove_unless_held(&path).map_err(fail)? {
            removed(&name);
        }
    }
    Ok(())
}

/// Removes a temporary or lock file unless a living process is seen to hold it; returns whether it
/// did.
///
/// If locks do not reach the host of a living writer, its temporary file may be removed. Its rename
/// then fails, and it writes the object again.
pub(super) fn remove_unless_held(path: &Path) -> io::Result<bool> {
    remove(path, Proof::NotHeld)
}

/// Removes the leftover files in a folder of writers that are certainly dead.
///
/// Called only when a dead holder's lock file was found in the folder, so that not every write
/// reads the folder. Removes only temporary files of the current boot of this system. Then the same
/// kernel granted the writer's lock, on any file system, and if it grants the lock again, the lock
/// is free. Lock files are removed by the protocol of their holders. Nothing depends on success.
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

/// The proof that a file is unused.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// Its lock, taken.
    Lock,
    /// No holder was seen, perhaps because there are no locks.
    NotHeld,
}

fn remove(path: &Path, proof: Proof) -> io::Result<bool> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ours = names::is_temporary(&name) || names::is_lock(&name);
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
    let file = match lock_file::again_if_refused(|| lock_file::open_existing(path)) {
        Ok(file) => file,
        Err(error) => return gone(error),
    };
    match lock_file::locked(|| Ok(file.try_lock()?)) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
        Err(error) if proof == Proof::NotHeld && lock_file::has_no_locks(&error) => {}
        Err(error) => return Err(error),
    }
    // It may have become an object since, or another file may have taken its place.
    if !lock_file::is_at(&file, path)? {
        return Ok(false);
    }
    fs::remove_file(path).map(|()| true).or_else(gone)
}

fn is_locked(path: &Path) -> bool {
    // Opening a pipe would wait for its other end, and a link leads elsewhere.
    if !fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file()) {
        return false;
    }
    let Ok(file) = lock_file::open_existing(path) else { return false };
    if !crate::step!("leftovers: lock of their writer") {
        return false;
    }
    let locked = lock_file::locked(|| Ok(file.try_lock_shared()?));
    locked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without locks, the caller's own file looks like a leftover.
    #[test]
    fn what_the_caller_writes_is_not_left_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = folder.path().join("x.zip");
        let own = folder.path().join(names::temporary("x.zip"));
        fs::write(&own, "half").expect("writes");
        let mut removed = 0;
        clean_beside(&archive, Some(&own), &mut |_| removed += 1).expect("cleans");
        assert!(own.exists());
        clean_beside(&archive, None, &mut |_| removed += 1).expect("cleans");
        assert!(!own.exists());
        assert_eq!(removed, 1);
    }
}
