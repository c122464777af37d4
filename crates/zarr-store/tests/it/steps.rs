//! Steps of the protocol that no simulated run needs: see `docs/steps.md`.

use zarr_store::{
    Change, Store, StoreError, StoreExt as _, UpdatePolicy, remove, replace, replace_vectored,
    update,
};
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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;
    use zarr_store::LocalStore;

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

    /// The file that it waited for is not at its place any more, and another holds the new one.
    #[test]
    fn a_file_that_was_removed_meanwhile_is_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK);
        let first = File::create(&path).unwrap();
        first.lock().unwrap();
        let store = LocalStore::open(folder.path()).unwrap();
        let is_free = Arc::new(AtomicBool::new(false));
        let waiting = {
            let is_free = Arc::clone(&is_free);
            thread::spawn(move || {
                let _guard = Store::lock(&store, &key("x")).unwrap();
                is_free.load(Ordering::SeqCst)
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
        assert!(waiting.join().unwrap(), "held while another held it");
    }
}
