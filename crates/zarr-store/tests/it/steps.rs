//! Steps of the protocol that no simulated run needs: see `docs/steps.md`.

use zarr_store::{Change, StoreError, UpdatePolicy, remove, replace, replace_vectored, update};
use zarr_store_tests::{LockedChanges, key};

type Work = fn(&LockedChanges) -> Result<(), StoreError>;

fn is_made_under_the_lock(work: Work) {
    let store = LockedChanges::default();
    work(&store).unwrap();
    assert!(!store.was_changed_without(), "changed without the lock");
    assert!(!store.is_held(), "the lock is kept");
}

#[test]
fn an_object_is_replaced_under_its_lock() {
    is_made_under_the_lock(|store| replace(store, &key("c/0"), b"new"));
}

#[test]
fn an_object_is_replaced_by_pieces_under_its_lock() {
    is_made_under_the_lock(|store| replace_vectored(store, &key("c/0"), &[]));
}

#[test]
fn an_object_is_removed_under_its_lock() {
    is_made_under_the_lock(|store| remove(store, &key("c/0")));
}

#[test]
fn an_object_is_updated_under_its_lock() {
    is_made_under_the_lock(|store| {
        update(
            store,
            &key("c/0"),
            UpdatePolicy::AcceptSingleProcess,
            &mut Vec::new(),
            |_, bytes| {
                bytes.push(1);
                Ok(Change::Put)
            },
        )
    });
}

#[cfg(unix)]
mod files {
    use std::fs::{self, File};
    use std::os::unix::fs::MetadataExt as _;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;
    use zarr_store::{Key, LocalStore, LockGuard, LockScope, Store, StoreExt as _};

    const LOCK: &str = ".zarr-kit-lock.x";

    /// Whoever removed the first file did not see its lock.
    #[test]
    fn the_lock_file_of_another_stays() {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::open(folder.path()).unwrap();
        let guard = Store::lock(&store, &key("x")).unwrap();
        let path = folder.path().join(LOCK);
        fs::remove_file(&path).unwrap();
        let _other = File::create(&path).unwrap();
        drop(guard);
        assert!(path.exists());
        store.put(&key("y"), b"").unwrap();
    }

    /// Waits for a file that is not at its place any more when it is free, while another holds the new
    /// one. Returns whether the lock was then given too early.
    fn was_given_early(lock: impl Fn(&LocalStore) + Send + 'static) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK);
        let first = File::create(&path).unwrap();
        first.lock().unwrap();
        let store = LocalStore::open(folder.path()).unwrap();
        let is_free = Arc::new(AtomicBool::new(false));
        let waiting = {
            let is_free = Arc::clone(&is_free);
            thread::spawn(move || {
                lock(&store);
                !is_free.load(Ordering::SeqCst)
            })
        };
        // With less time it waits for the second file, and the test finds nothing.
        thread::sleep(Duration::from_millis(300));
        fs::remove_file(&path).unwrap();
        let second = File::create(&path).unwrap();
        second.lock().unwrap();
        first.unlock().unwrap();
        thread::sleep(Duration::from_millis(300));
        is_free.store(true, Ordering::SeqCst);
        fs::remove_file(&path).unwrap();
        second.unlock().unwrap();
        waiting.join().unwrap()
    }

    /// While others share the lock, a second file says that somebody waits to have it alone.
    #[test]
    fn who_waits_to_have_a_lock_alone_takes_the_turn() {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::open(folder.path()).unwrap();
        let path = folder.path().join(LOCK);
        // Another process, which shares the lock.
        let other = File::create(&path).unwrap();
        other.lock_shared().unwrap();
        let waiting = thread::spawn(move || drop(Store::lock(&store, &key("x")).unwrap()));
        let files = || fs::read_dir(folder.path()).unwrap().count();
        let has_turn = (0..100).any(|_| {
            thread::sleep(Duration::from_millis(100));
            files() == 2
        });
        other.unlock().unwrap();
        waiting.join().unwrap();
        assert!(has_turn);
        // Nothing is left.
        assert_eq!(files(), 0);
    }

    #[test]
    fn a_file_that_was_removed_meanwhile_is_no_lock() {
        assert!(!was_given_early(|store| drop(Store::lock(store, &key("x")).unwrap())));
    }

    #[test]
    fn a_file_that_was_removed_meanwhile_is_no_shared_lock() {
        assert!(!was_given_early(|store| drop(store.lock_shared(&key("x")).unwrap())));
    }

    /// The keys of three nodes, and their lock files.
    fn nodes(folder: &Path) -> ([Key; 3], [PathBuf; 3]) {
        let keys = ["a/zarr.json", "b/zarr.json", "zarr.json"].map(key);
        let paths = ["a", "b", ""].map(|node| folder.join(node).join(".zarr-kit-lock.zarr.json"));
        (keys, paths)
    }

    /// Whoever changes many nodes opens one file.
    #[test]
    fn the_locks_of_several_nodes_are_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::open(folder.path()).unwrap();
        let (keys, paths) = nodes(folder.path());
        // One that a process left that was killed.
        fs::create_dir(folder.path().join("b")).unwrap();
        File::create(&paths[1]).unwrap();
        let guard = store.lock_all(&keys).unwrap();
        assert_eq!(guard.scope(), LockScope::AllProcesses);
        let files = paths.each_ref().map(|path| fs::metadata(path).unwrap());
        assert_eq!(
            files.each_ref().map(|file| (file.ino(), file.nlink())),
            [(files[0].ino(), 3); 3]
        );
        for path in &paths {
            File::open(path).unwrap().try_lock().unwrap_err();
        }
        drop(guard);
        assert!(paths.iter().all(|path| !path.exists()));
    }

    /// Otherwise two processes that lock two of the names each could wait for each other for ever.
    #[test]
    fn a_file_of_several_nodes_that_was_left_is_no_lock() {
        let locks: [fn(&LocalStore, &Key) -> LockGuard; 3] = [
            |store, key| Store::lock(store, key).unwrap(),
            |store, key| store.lock_all(&[key.clone(), self::key("c/zarr.json")]).unwrap(),
            |store, key| store.lock_shared(key).unwrap().unwrap(),
        ];
        for lock in locks {
            let folder = tempfile::tempdir().unwrap();
            let store = LocalStore::open(folder.path()).unwrap();
            let (keys, paths) = nodes(folder.path());
            fs::create_dir(folder.path().join("a")).unwrap();
            fs::create_dir(folder.path().join("b")).unwrap();
            File::create(&paths[0]).unwrap();
            fs::hard_link(&paths[0], &paths[1]).unwrap();
            let guard = lock(&store, &keys[0]);
            assert_eq!(guard.scope(), LockScope::AllProcesses);
            File::open(&paths[0]).unwrap().try_lock().expect_err("is locked");
            File::open(&paths[1]).unwrap().try_lock().expect("is free");
        }
    }
}
