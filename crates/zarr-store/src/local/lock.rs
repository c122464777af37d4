//! The advisory lock of a key.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use super::lock_file::{
    LockableFile, has_no_locks, has_other_names, is_at, locked, open_or_create,
};
use super::turn::Turn;
use super::write::{ATTEMPTS, make_folder};
use super::{LocalStore, direct, leftovers, names};
use crate::locks::interruption::{PAUSE, given_up, is_interrupted};
use crate::locks::lock_table::LockTable;
use crate::{Key, LockGuard, LockScope, Operation, StoreError, Waiting};

/// The paths of the lock files that this process holds or waits for.
///
/// One per process: two stores may share a folder, or one may lie inside the other.
pub(super) static HELD: LazyLock<Arc<LockTable<PathBuf>>> =
    LazyLock::new(|| Arc::new(LockTable::new()));

/// First among the threads of this process, then among processes. So at most one thread per process
/// waits in the system, and threads exclude each other even without file locks.
pub(super) fn lock(store: &LocalStore, key: &Key) -> Result<LockGuard, StoreError> {
    lock_at(store, key, path_of(store, key)?, &mut None)
}

/// As [`lock`], in the order of the lock files. Links may lead from several keys to the same one.
///
/// The files are names of one file where the file system has hard links: then one open file locks
/// all of them.
pub(super) fn lock_all(store: &LocalStore, keys: &[Key]) -> Result<LockGuard, StoreError> {
    let paths: Result<BTreeMap<_, _>, StoreError> =
        keys.iter().map(|key| Ok((path_of(store, key)?, key))).collect();
    let mut held = None;
    let guards: Result<_, _> =
        paths?.into_iter().map(|(path, key)| lock_at(store, key, path, &mut held)).collect();
    Ok(LockGuard::all(guards?))
}

fn path_of(store: &LocalStore, key: &Key) -> Result<PathBuf, StoreError> {
    Ok(folder_of(store, key)?.join(names::lock(key.name())))
}

/// Locks the file at `path`, by another name of the file `last`, which the caller has locked before,
/// if it can. Then `last` is the file at `path`.
fn lock_at(
    store: &LocalStore,
    key: &Key,
    path: PathBuf,
    last: &mut Option<Arc<LockedFile>>,
) -> Result<LockGuard, StoreError> {
    let held = HELD.lock(path.clone()).map_err(|cause| cause.of(key))?;
    let Some((file, abandoned)) = lock_file(store, key, &path, last.as_ref())? else {
        return Ok(LockGuard::new(LockScope::Process, held));
    };
    if abandoned && let Some(folder) = path.parent() {
        leftovers::sweep(folder);
    }
    *last = Some(Arc::clone(&file));
    // Fields are dropped in order: the file's lock is released first.
    Ok(LockGuard::new(LockScope::AllProcesses, (LockFile { file, path }, held)))
}

/// The folder of an object as a path without links, created if missing: the lock belongs to the
/// file, through all links to it.
fn folder_of(store: &LocalStore, key: &Key) -> Result<PathBuf, StoreError> {
    let path = store.unchecked_path(key.as_str())?;
    let folder = path.parent().unwrap_or(&store.root);
    if let Some(Ok(_)) = direct::folder(folder) {
        return Ok(folder.to_owned());
    }
    let fail = |error| StoreError::io(Operation::Lock, key, error);
    store.check_links(Operation::Lock, key.as_str(), folder)?;
    for _ in 0..ATTEMPTS {
        match dunce::canonicalize(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                store.check_unlooked(key.as_str(), folder)?;
                make_folder(folder).map_err(fail)?;
            }
            result => return result.map_err(fail),
        }
    }
    let message = format!("its folder was removed by others in each of {ATTEMPTS} attempts");
    Err(fail(io::Error::new(io::ErrorKind::ResourceBusy, message)))
}

/// Opens and locks the file at `path`, and checks that it is still the file at this path. Its
/// previous holder may have removed it while this call waited, and another process may have created
/// a new one. Or makes the path another name of `last`, a file that is locked.
///
/// Also returns whether a dead holder left it: a living one removes it before releasing it. `None` if
/// the file system has no locks.
fn lock_file(
    store: &LocalStore,
    key: &Key,
    path: &Path,
    last: Option<&Arc<LockedFile>>,
) -> Result<Option<(Arc<LockedFile>, bool)>, StoreError> {
    let fail = |error| StoreError::io(Operation::Lock, key, error);
    let mut is_left = false;
    for _ in 0..ATTEMPTS {
        if let Some(last) = last
            && last.also_at(path)
        {
            return Ok(Some((Arc::clone(last), is_left)));
        }
        let (file, found) = match open_or_create(path) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_folder(path.parent().unwrap_or(path)).map_err(fail)?;
                continue;
            }
            Err(error) => return Err(fail(explained(error))),
        };
        if crate::step!("lock file: lock")
            && let Err(error) = wait_for(store, key, path, &file, &ALONE)
        {
            return unlocked(&file, found, path, error).map(|()| None).map_err(fail);
        }
        let is_there = !crate::step!("lock file: comparison after the wait")
            || is_at(&file, path).map_err(fail)?;
        if !is_there {
            continue;
        }
        let file = LockedFile { file, path: path.to_owned() };
        // It gives way to the file that is locked already. And whoever locked it by its other names
        // would lock this one too, and might wait for a lock that this caller holds.
        let gives_way = found
            && (last.is_some() || has_other_names(&file.file).map_err(fail)?)
            && fs::remove_file(path).is_ok();
        if !gives_way {
            return Ok(Some((Arc::new(file), found || is_left)));
        }
        // Released before the wait for the next: who holds that one may wait for this one, by another
        // of its names.
        is_left = true;
    }
    let message = format!("its lock file was removed by others in each of {ATTEMPTS} attempts");
    Err(fail(io::Error::new(io::ErrorKind::ResourceBusy, message)))
}

/// After a lock that failed: removes the file if this call made it and was refused at once. Who gave
/// up waited for another, who has it and removes it in the end; and a file that was found may be held
/// by a host whose file system has locks. No error if this one's has none.
pub(super) fn unlocked(file: &File, found: bool, path: &Path, error: io::Error) -> io::Result<()> {
    let may_go = !found && error.kind() != io::ErrorKind::Interrupted;
    if may_go && is_at(file, path).is_ok_and(|is_at| is_at) {
        let _ = fs::remove_file(path);
    }
    if has_no_locks(&error) { Ok(()) } else { Err(error) }
}

/// Says what takes many files: the lock of several nodes is a file of each, until they are changed.
fn explained(error: io::Error) -> io::Error {
    /// `EMFILE`.
    const TOO_MANY: i32 = 24;
    match error.raw_os_error() {
        Some(TOO_MANY) if cfg!(unix) => io::Error::other(
            "too many open files; where the file system has no hard links, a change of several \
             nodes holds the lock file of each; raise the limit of open files (ulimit -n)",
        ),
        _ => error,
    }
}

/// The time after which a wait for another process is told; the next ones are twice as long.
const QUIET: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_secs(5) };

/// How an open file is locked.
pub(super) struct How {
    is_alone: bool,
    at_once: fn(&File) -> Result<(), TryLockError>,
    waiting: fn(&File) -> io::Result<()>,
}

pub(super) const ALONE: How = How { is_alone: true, at_once: File::try_lock, waiting: File::lock };

pub(super) const SHARED: How =
    How { is_alone: false, at_once: File::try_lock_shared, waiting: File::lock_shared };

/// Locks an open file, once no other process holds its lock.
pub(super) fn wait_for(
    store: &LocalStore,
    key: &Key,
    path: &Path,
    file: &File,
    &How { is_alone, at_once, waiting }: &How,
) -> io::Result<()> {
    match locked(|| Ok(at_once(file)?)) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
        // Without a lock the other error is that of the call that waits, too.
        result => return result,
    }
    #[cfg(feature = "simulation")]
    if crate::simulation::is_running() {
        return locked(|| waiting(file));
    }
    // The system wakes the thread that waits in it at once, but interrupts it for no question. A lock
    // belongs to the open file, however many handles lead to it.
    let (done, is_done) = mpsc::channel();
    let other = file.try_clone()?;
    let wait = move || {
        // If nobody waits any more, nobody else would release it.
        if done.send(locked(|| waiting(&other))).is_err() {
            let _ = other.unlock();
        }
    };
    if thread::Builder::new().name("zarr-kit-lock".to_owned()).spawn(wait).is_err() {
        return locked(|| waiting(file));
    }
    let begun = Instant::now();
    let mut told = QUIET;
    let mut turn: Option<Turn> = None;
    loop {
        // Looked for again and again: they may come later.
        if is_alone && turn.is_none() && crate::step!("lock file: turn of who waits") {
            turn = Turn::take(key, path);
        }
        match is_done.recv_timeout(PAUSE) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the thread that waited for its lock has ended"));
            }
        }
        if is_interrupted() {
            return Err(given_up());
        }
        let waited = begun.elapsed();
        if waited >= told {
            told = told.saturating_mul(2);
            if let Some(on_wait) = &store.on_wait {
                on_wait.tell(&Waiting {
                    operation: Operation::Lock,
                    key: key.to_string(),
                    place: path.display().to_string(),
                    waited,
                    limit: Duration::MAX,
                });
            }
        }
    }
}

/// An open file that is locked, by all its names; released when dropped.
#[derive(Debug)]
struct LockedFile {
    file: LockableFile,
    /// Its first name.
    path: PathBuf,
}

impl LockedFile {
    /// Makes `path` another name of the file, unless there is a file or the file system cannot.
    fn also_at(&self, path: &Path) -> bool {
        // Elsewhere nobody could tell that a dead holder's file has other names.
        if !cfg!(unix) || fs::hard_link(&self.path, path).is_err() {
            return false;
        }
        // The first name may lead to a file of others, if this one was removed by hand.
        let is_own = !crate::step!("lock file: comparison of another name")
            || is_at(&self.file, path).is_ok_and(|is_at| is_at);
        if !is_own {
            let _stays = fs::remove_file(path);
        }
        is_own
    }
}

/// A name of a locked file; removed, and released with its last name, when dropped.
#[derive(Debug)]
struct LockFile {
    file: Arc<LockedFile>,
    path: PathBuf,
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Removed while still locked, so that waiting processes see that it is gone.
        //
        // Another file at the path is the lock of others: this one's was removed by hand, or by a host
        // that does not see locks. Without it a third writer would not wait for them.
        let is_own = !crate::step!("lock file: comparison before its removal")
            || is_at(&self.file.file, &self.path).is_ok_and(|is_at| is_at);
        if is_own {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interruptible;

    #[test]
    fn a_forked_process_does_not_prolong_a_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        let key = Key::new("x").expect("a key");
        let store = LocalStore::open(folder.path()).expect("opens");
        let (file, _) = lock_file(&store, &key, &path, None).expect("locks").expect("has locks");
        // As a fork copies it.
        let copy = file.file.try_clone().expect("copies");
        let waiting = File::open(&path).expect("opens");
        drop(LockFile { file, path });
        waiting.try_lock().expect("is free");
        drop(copy);
    }

    /// It may keep its name, so that nobody can open it, until those who waited for it close it.
    #[test]
    fn a_file_is_removed_while_others_wait_for_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = dunce::canonicalize(folder.path()).expect("is there").join(names::lock("x"));
        let store = LocalStore::open(folder.path()).expect("opens");
        let key = Key::new("x").expect("a key");
        let held = lock(&store, &key).expect("locks");
        // As another process does that waits.
        let waiting = File::open(&path).expect("is there");
        assert!(waiting.try_lock().is_err());
        assert!(is_at(&waiting, &path).expect("is found"));
        drop(held);
        waiting.try_lock().expect("is free");
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(100));
                drop(waiting);
            });
            let held = lock(&store, &key).expect("locks");
            let other = File::open(&path).expect("is there");
            assert!(other.try_lock().is_err());
            drop(held);
        });
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_others_gets_no_other_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let [path, other] = ["a", "b"].map(|name| folder.path().join(name));
        let file = LockedFile {
            file: LockableFile(File::create(&path).expect("creates")),
            path: path.clone(),
        };
        assert!(file.also_at(&other));
        fs::remove_file(&other).expect("removes");
        // Removed by hand while it is locked, and made anew by another process.
        fs::remove_file(&path).expect("removes");
        let _others = File::create(&path).expect("creates");
        assert!(!file.also_at(&other) && !other.exists());
    }

    /// Another process may lock the file between its creation and the lock of its creator.
    #[test]
    fn a_file_that_others_may_hold_stays_when_a_lock_is_given_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        let (file, found) = open_or_create(&path).expect("creates");
        assert!(!found);
        unlocked(&file, found, &path, given_up()).expect_err("is given up");
        assert!(path.exists());
        let no_locks = || io::ErrorKind::Unsupported.into();
        unlocked(&file, true, &path, no_locks()).expect("has no locks");
        assert!(path.exists());
        unlocked(&file, found, &path, no_locks()).expect("has no locks");
        drop(file);
        assert!(!path.exists());
    }

    /// Another open file stands for that of another process: their locks exclude each other, too.
    #[test]
    fn a_lock_of_others_is_named_and_can_be_given_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let key = Key::new("x").expect("a key");
        let path = dunce::canonicalize(folder.path()).expect("is there").join(names::lock("x"));
        let other = File::create(&path).expect("creates");
        other.lock().expect("locks");
        let (tell, told) = mpsc::channel();
        let store = LocalStore::open(folder.path()).expect("opens");
        let store = store.with_on_wait(move |waiting| drop(tell.send(waiting.to_string())));
        let given_up = interruptible(Arc::new(|| true), || lock(&store, &key));
        let error = given_up.expect_err("is given up").to_string();
        assert!(error.contains("interrupted while another holds its lock"), "{error}");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| lock(&store, &key).map(drop));
            let said = told.recv().expect("is told");
            let expected = format!(
                "another process has held the lock {:?} for 0 s",
                path.display().to_string()
            );
            assert_eq!(said, expected);
            drop(other);
            waiting.join().expect("ends").expect("locks");
        });
        // The thread that still waited for the first call gives the lock back.
        drop(lock(&store, &key).expect("locks again"));
    }

    /// A thread of this process that holds the lock is not named: it ends.
    #[test]
    fn a_lock_of_another_thread_can_be_given_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = LocalStore::open(folder.path()).expect("opens");
        let key = Key::new("x").expect("a key");
        let held = lock(&store, &key).expect("locks");
        thread::scope(|scope| {
            let waiting =
                scope.spawn(|| interruptible(Arc::new(|| true), || lock(&store, &key).map(drop)));
            waiting.join().expect("ends").expect_err("is given up");
        });
        drop(held);
        drop(lock(&store, &key).expect("is free"));
    }
}
