//! Exports of a store that changes meanwhile.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use zarr_references::{Exported, export};
use zarr_store::{
    AsyncStore, Key, Layer, Listing, LocalStore, ObjectMeta, Operation, Prefix, Store, StoreError,
    StoreExt as _,
};
use zarr_store_tests::key;

/// A change of the store.
type Change = fn(&dyn Store);

/// Makes the change before one of its operations.
#[derive(Debug)]
struct Changing {
    inner: LocalStore,
    change: Change,
    /// How many operations come before it.
    left: AtomicUsize,
    describes: bool,
}

impl Changing {
    fn turn(&self) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            (self.change)(&self.inner);
        }
    }
}

impl Layer for Changing {
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

    fn pass<T>(
        &self,
        _: Operation,
        _: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.turn();
        work()
    }

    fn pass_listing<'s, T: Send + 's>(
        &'s self,
        _: &Prefix,
        list: impl FnOnce() -> Listing<'s, T>,
    ) -> Listing<'s, T> {
        self.turn();
        list()
    }

    fn list_described(&self, prefix: &Prefix) -> Option<Listing<'_, (Key, ObjectMeta)>> {
        self.turn();
        self.inner.list_described(prefix).filter(|_| self.describes)
    }
}

const DOCUMENT: &[u8] = br#"{"shape": [4], "chunk_grid": {"name": "regular"}}"#;

fn store(folder: &Path) -> LocalStore {
    let store = LocalStore::create(folder).unwrap();
    for name in ["a/c/0", "a/c/1", "b/c/0"] {
        store.put(&key(name), b"chunk").unwrap();
    }
    for name in ["a/zarr.json", "b/zarr.json"] {
        store.put(&key(name), DOCUMENT).unwrap();
    }
    store
}

/// Longer, gone, new, and a document of a larger array with a chunk more.
const CHANGES: [(Change, &str); 4] = [
    (|store| store.put(&key("a/c/1"), b"a longer chunk").unwrap(), "a/c/1"),
    (|store| store.delete(&key("a/c/0")).unwrap(), "a/c/0"),
    (|store| store.put(&key("b/c/1"), b"chunk").unwrap(), "b/c/1"),
    (
        |store| {
            store.put(&key("b/c/1"), b"chunk").unwrap();
            let document = br#"{"shape": [8], "chunk_grid": {"name": "regular"}}"#;
            store.put(&key("b/zarr.json"), document).unwrap();
        },
        "b/",
    ),
];

#[test]
fn references_are_of_one_state() {
    for describes in [true, false] {
        for (change, name) in CHANGES {
            let (mut refused, mut new) = (0, 0);
            for left in 0..100 {
                let folder = tempfile::tempdir().unwrap();
                let inner = store(folder.path());
                let at = || export(&inner, &Prefix::root()).unwrap();
                let before: Exported = at();
                let changing = Changing {
                    inner: inner.clone(),
                    change,
                    left: AtomicUsize::new(left),
                    describes,
                };
                let exported = export(&changing, &Prefix::root());
                let is_changed = changing.left.load(Ordering::SeqCst) > left;
                if !is_changed {
                    break;
                }
                match exported {
                    Ok(exported) if exported == before => {}
                    Ok(exported) => {
                        assert_eq!(exported, at(), "{name} {left}");
                        new += 1;
                    }
                    Err(error) => {
                        let error = error.to_string();
                        assert!(error.contains(name) && error.contains("changed"), "{error}");
                        refused += 1;
                    }
                }
            }
            assert!(refused > 0 && new > 0, "{name}: {refused}, {new}");
        }
    }
}
