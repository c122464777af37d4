//! The advisory lock of a key, shared.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::lock::{ALONE, HELD, SHARED, unlocked, wait_for};
use super::lock_file::{LockableFile, has_other_names, is_at, locked, open_or_create};
use super::turn::wait_for_turn;
use super::write::ATTEMPTS;
use super::{LocalStore, names};
use crate::{Key, LockGuard, LockScope, Operation, StoreError};

/// Shares the lock among the threads of this process, then among processes: each call has an open file
/// of its own, which the system locks apart from others.
///
/// The lock file stays, because others may share it. Who has it alone removes it; and so does who
/// shares it where the object is gone, since nobody may come who has it alone.
pub(super) fn lock_shared(store: &LocalStore, key: &Key) -> Result<LockGuard, StoreError> {
    let path = store.unchecked_path(key.as_str())?;
    let folder = path.parent().unwrap_or(&store.root);
    store.check_links(Operation::Lock, key.as_str(), folder)?;
    let fail = |error| StoreError::io(Operation::Lock, key, error);
    let folder = match dunce::canonicalize(folder) {
        Ok(folder) => folder,
        // What is not there is not in use.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(LockGuard::new(LockScope::AllProcesses, ()));
        }
        Err(error) => return Err(fail(error)),
    };
    let (object, path) = (folder.join(key.name()), folder.join(names::lock(key.name())));
    let held = HELD.share(path.clone()).map_err(|cause| cause.of(key))?;
    Ok(match lock_file(store, key, &path).map_err(fail)? {
        Locked::Yes(file) => {
            let shared = SharedFile { file, path, object };
            // Fields are dropped in order: the file's lock is released first.
            LockGuard::new(LockScope::AllProcesses, (shared, held))
        }
        Locked::NoFolder => LockGuard::new(LockScope::AllProcesses, held),
        Locked::NoLocks => LockGuard::new(LockScope::Process, held),
    })
}

enum Locked {
    Yes(LockableFile),
    /// It was removed meanwhile.
    NoFolder,
    NoLocks,
}

/// Opens and locks the file at `path`, and checks that it is still the file at this path.
fn lock_file(store: &LocalStore, key: &Key, path: &Path) -> io::Result<Locked> {
    wait_for_turn(key, path)?;
    for _ in 0..ATTEMPTS {
        let (file, found) = match open_or_create(path) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Locked::NoFolder),
            Err(error) => return Err(error),
        };
        if let Err(error) = wait_for(store, key, path, &file, &SHARED) {
            return unlocked(&file, found, path, error).map(|()| Locked::NoLocks);
        }
        let is_there =
            !crate::step!("shared lock: comparison after the wait") || is_at(&file, path)?;
        if is_there && !(found && has_other_names(&file)?) {
            return Ok(Locked::Yes(file));
        }
        file.unlock()?;
        if is_there {
            // Dead holders of several locks left it: who has it alone removes it.
            wait_for(store, key, path, &file, &ALONE)?;
            if is_at(&file, path)? {
                fs::remove_file(path)?;
            }
            file.unlock()?;
        }
    }
    let message = format!("its lock file was removed by others in each of {ATTEMPTS} attempts");
    Err(io::Error::new(io::ErrorKind::ResourceBusy, message))
}

/// A locked file, which others may have locked too; released when dropped.
#[derive(Debug)]
struct SharedFile {
    file: LockableFile,
    path: PathBuf,
    object: PathBuf,
}

impl Drop for SharedFile {
    fn drop(&mut self) {
        let is_gone = fs::symlink_metadata(&self.object)
            .is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        if !is_gone {
            return;
        }
        // From shared to alone, unless others share it. Windows refuses that to who shares it.
        let _ = self.file.unlock();
        let is_last = locked(|| Ok(self.file.try_lock()?)).is_ok()
            && is_at(&self.file, &self.path).is_ok_and(|is_at| is_at);
        if is_last {
            let _stays = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::{Store as _, StoreExt as _};

    #[test]
    fn a_shared_lock_excludes_who_takes_it_alone_and_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = LocalStore::open(folder.path()).expect("opens");
        let key = Key::new("a/x").expect("a key");
        let share = || lock_shared(&store, &key).expect("shares");
        // Nothing is made for what is not there.
        drop(share());
        assert!(!folder.path().join("a").exists());
        store.put(&key, b"1").expect("puts");
        let (one, two) = (share(), share());
        assert_eq!(one.scope(), LockScope::AllProcesses);
        let path = folder.path().join("a").join(names::lock("x"));
        // Another open file stands for that of another process.
        let other = File::open(&path).expect("is there");
        assert!(other.try_lock().is_err());
        drop(one);
        assert!(other.try_lock().is_err());
        drop(two);
        other.try_lock().expect("is free");
        drop(other);
        // Who has it alone removes the file, and so does the last who shares it where nothing is left.
        drop(store.lock(&key).expect("locks"));
        assert!(!path.exists());
        let shared = share();
        assert!(path.exists());
        store.delete(&key).expect("deletes");
        drop(shared);
        assert!(!path.exists());
    }
}
