//! Steps of the protocol that no simulated run needs: see `docs/steps.md`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zarr_store::{
    AsyncStore, Change, Key, Layer, LockGuard, MemoryStore, Operation, Store, StoreError,
    StoreExt as _, UpdatePolicy, remove, replace, replace_vectored, update,
};
use zarr_store_tests::key;

/// Counts changes of objects that nobody has locked.
#[derive(Debug, Default)]
struct Locks {
    inner: MemoryStore,
    is_held: Arc<AtomicBool>,
    without: AtomicBool,
}

/// Not held any more once it is dropped.
struct Held(Arc<AtomicBool>, #[expect(dead_code, reason = "is dropped")] LockGuard);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Layer for Locks {
    type Inner = MemoryStore;

    fn inner(&self) -> &MemoryStore {
        &self.inner
    }

    fn pass<T>(
        &self,
        operation: Operation,
        _: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let is_change = matches!(operation, Operation::Put | Operation::Delete);
        if is_change && !self.is_held.load(Ordering::Relaxed) {
            self.without.store(true, Ordering::Relaxed);
        }
        work()
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        let guard = Store::lock(&self.inner, key)?;
        self.is_held.store(true, Ordering::Relaxed);
        Ok(LockGuard::new(guard.scope(), Held(Arc::clone(&self.is_held), guard)))
    }

    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }
}

type Work = fn(&Locks) -> Result<(), StoreError>;

fn is_made_under_the_lock(work: Work) {
    let store = Locks::default();
    work(&store).unwrap();
    assert!(!store.without.load(Ordering::Relaxed), "changed without the lock");
    assert!(!store.is_held.load(Ordering::Relaxed), "the lock is kept");
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
