//! The turn of who waits to have a lock alone.
//!
//! The system shares a lock with everybody who comes while somebody waits to have it alone, who
//! might wait for ever where others always share it. So who waits locks a second file, for which
//! those who come to share the lock wait in turn. They wait a moment only: somebody who shares it
//! already may want it again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::lock_file::{LockableFile, is_at, locked, open_existing, open_or_create};
use super::names;
use crate::Key;
use crate::locks::interruption::{given_up, is_interrupted};
use crate::locks::lock_table::TURN;

/// A file that is locked while its owner waits; removed when dropped.
#[derive(Debug)]
pub(super) struct Turn {
    file: LockableFile,
    path: PathBuf,
}

/// The place of the file beside the lock file of a key.
fn path_of(key: &Key, lock: &Path) -> PathBuf {
    lock.with_file_name(names::turn(key.name()))
}

impl Turn {
    /// Takes the turn, if others share the lock file and nobody else has it.
    pub(super) fn take(key: &Key, lock: &Path) -> Option<Self> {
        let shared = open_existing(lock).ok()?;
        locked(|| Ok(shared.try_lock_shared()?)).ok()?;
        let path = path_of(key, lock);
        let (file, _) = open_or_create(&path).ok()?;
        locked(|| Ok(file.try_lock()?)).ok()?;
        is_at(&file, &path).is_ok_and(|is_at| is_at).then_some(Self { file, path })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if is_at(&self.file, &self.path).is_ok_and(|is_at| is_at) {
            let _stays = fs::remove_file(&self.path);
        }
    }
}

/// Lets somebody go first who waits to have the lock file of a key alone.
pub(super) fn wait_for_turn(key: &Key, lock: &Path) -> io::Result<()> {
    const PAUSE: Duration = Duration::from_millis(5);
    let path = path_of(key, lock);
    let mut begun: Option<Instant> = None;
    // There is none, almost always.
    while let Ok(file) = open_existing(&path) {
        match locked(|| Ok(file.try_lock_shared()?)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if begun.get_or_insert_with(Instant::now).elapsed() >= TURN {
                    break;
                }
                if is_interrupted() {
                    return Err(given_up());
                }
                thread::sleep(PAUSE);
            }
            locked => {
                // Who waited was killed. The file is removed by who has it alone: another who shares
                // it might remove one that is taken since. Windows refuses that to who shares it.
                let _ = file.unlock();
                if locked.is_ok()
                    && self::locked(|| Ok(file.try_lock()?)).is_ok()
                    && is_at(&file, &path)?
                {
                    let _stays = fs::remove_file(&path);
                }
                break;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn a_turn_that_somebody_looks_at_is_removed_by_nobody_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let key = Key::new("x").expect("a key");
        let lock = folder.path().join(names::lock("x"));
        let turn = path_of(&key, &lock);
        fs::write(&turn, b"").expect("writes");
        // Another open file stands for that of another process.
        let other = File::open(&turn).expect("is there");
        other.lock_shared().expect("shares");
        wait_for_turn(&key, &lock).expect("does not wait");
        assert!(turn.exists());
        drop(other);
        wait_for_turn(&key, &lock).expect("does not wait");
        assert!(!turn.exists());
    }
}
