//! Steps of the protocol that no simulated run needs: see `docs/steps.md`.

use std::sync::Arc;

use zarr_array::store::{LocalStore, MemoryStore, Prefix, Store};
use zarr_array::{Array, ArrayError, Deletion, delete_node};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, DataType};
use zarr_store_tests::LockedChanges;

fn metadata(length: u64) -> ArrayMetadata {
    ArrayBuilder::new([length], DataType::Uint8).build().expect("valid")
}

#[test]
fn a_new_document_is_put_under_a_lock() {
    let store = Arc::new(LockedChanges::without_conditions());
    Array::create(store.clone(), &Prefix::root(), metadata(3)).expect("creates");
    assert!(!store.was_changed_without(), "put without a lock");
}

#[test]
fn a_document_that_is_there_is_not_replaced() {
    let store = Arc::new(LockedChanges::without_conditions());
    Array::create(store.clone(), &Prefix::root(), metadata(3)).expect("creates");
    let again = Array::create(store.clone(), &Prefix::root(), metadata(4));
    assert!(matches!(again, Err(ArrayError::Exists { .. })), "{again:?}");
    assert_eq!(Array::open(store, &Prefix::root()).expect("opens").shape(), [3]);
}

/// A deletion that slept after it had listed the objects, while another made it and a new array.
#[test]
fn an_array_that_was_made_meanwhile_is_not_deleted() {
    let folder = tempfile::tempdir().expect("a folder");
    let stores: [Arc<dyn Store>; 3] = [
        Arc::new(MemoryStore::new()),
        Arc::new(LockedChanges::without_conditions()),
        Arc::new(LocalStore::open(folder.path()).expect("opens")),
    ];
    let at = Prefix::new("a").expect("a prefix");
    for store in stores {
        let make = |value| {
            let array = Array::create(store.clone(), &at, metadata(3)).expect("creates");
            array.write(0..3, &[value; 3]).expect("writes");
        };
        make(1);
        let slept = Deletion::plan(&store, &at).expect("plans");
        delete_node(&store, &at).expect("deletes");
        make(2);
        let refused = slept.run();
        assert!(matches!(refused, Err(ArrayError::Stale { .. })), "{refused:?}");
        let array = Array::open(store.clone(), &at).expect("is there");
        assert_eq!(array.read(0..3).expect("reads"), [2; 3]);
        // Where nobody has made one, two deletions are one.
        let slept = Deletion::plan(&store, &at).expect("plans");
        delete_node(&store, &at).expect("deletes");
        slept.run().expect("has nothing to do");
    }
    assert!(!folder.path().join("a").exists(), "the folders of locks are removed");
}

#[cfg(unix)]
mod local {
    use std::fs::File;
    use std::path::PathBuf;
    use std::sync::Mutex;

    use zarr_array::store::{AsyncStore, KeyFilter, Layer, StoreError};

    use super::*;

    /// Notes whether the lock of a document is held when chunks are removed.
    #[derive(Debug)]
    struct Watched {
        inner: LocalStore,
        lock: PathBuf,
        held: Mutex<Vec<bool>>,
    }

    impl Layer for Watched {
        type Inner = LocalStore;

        fn inner(&self) -> &LocalStore {
            &self.inner
        }

        fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
            None
        }

        fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
            None
        }

        fn delete_where(&self, prefix: &Prefix, which: &KeyFilter) -> Result<(), StoreError> {
            let file = File::open(&self.lock);
            let is_held = file.is_ok_and(|file| file.try_lock().is_err());
            self.held.lock().expect("is free").push(is_held);
            Store::delete_where(&self.inner, prefix, which)
        }
    }

    /// Whoever would create one waits.
    #[test]
    fn no_array_is_created_where_chunks_are_being_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Arc::new(Watched {
            inner: LocalStore::open(folder.path()).expect("opens"),
            lock: folder.path().join("a/.zarr-kit-lock.zarr.json"),
            held: Mutex::default(),
        });
        let at = Prefix::new("a").expect("a prefix");
        let array = Array::create(store.clone(), &at, metadata(3)).expect("creates");
        array.write(0..3, &[1; 3]).expect("writes");
        let shared: Arc<dyn Store> = store.clone();
        delete_node(&shared, &at).expect("deletes");
        // Last come the folders of the locks.
        assert_eq!(*store.held.lock().expect("is free"), [true, false]);
        assert!(!folder.path().join("a").exists());
    }
}
