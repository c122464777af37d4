//! The requirements for every store, tested on those of this crate and on what stands before them.

use std::sync::Arc;

use zarr_store::{
    Durability, FaultStore, Links, LocalStore, LockScope, MemoryStore, Store, StoreExt as _,
    conformance,
};
use zarr_store_tests::required::Required;
use zarr_store_tests::{key, prefix};

#[test]
fn memory() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    conformance::all(&store);
    assert_eq!(store.lock(&key("a")).unwrap().scope(), LockScope::AllProcesses);
}

/// A million keys are listed a thousand at a time, and one level of them without the rest.
#[test]
fn a_million_keys() {
    let store = MemoryStore::new();
    for n in 0..1_000_000_u32 {
        store.put(&key(&format!("a/c/{}/{}", n / 1000, n % 1000)), b"").unwrap();
    }
    let keys = store.list(&prefix("a"), Links::Follow);
    assert_eq!(keys.inspect(|key| assert!(key.is_ok())).count(), 1_000_000);
    assert_eq!(store.list_dir(&prefix("a/c")).count(), 1000);
}

#[test]
fn local() {
    let folder = tempfile::tempdir().unwrap();
    for durability in [Durability::ProcessEnd, Durability::PowerFailure] {
        let store: Arc<dyn Store> =
            Arc::new(LocalStore::open(folder.path()).unwrap().with_durability(durability));
        conformance::all(&store);
        // Nothing is left behind: no lock file, no temporary file, no folder.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(store.lock(&key("a")).unwrap().scope(), LockScope::AllProcesses);
    }
}

#[test]
fn what_stands_before_stores() {
    let store = MemoryStore::new();
    conformance::whole_objects(&&store);
    conformance::listings(&Box::new(store.clone()));
    conformance::ranges(&(Box::new(store.clone()) as Box<dyn Store>));
    let stores: [Arc<dyn Store>; 3] = [
        Arc::new(Arc::new(store.clone()) as Arc<dyn Store>),
        Arc::new(FaultStore::new(store.clone())),
        Arc::new(Required(store)),
    ];
    stores.iter().for_each(conformance::all);
}

/// A store that says of every object that it is one byte longer is found out, with what and where.
#[test]
fn what_is_wrong_is_told() {
    let store: Arc<dyn Store> = Arc::new(
        FaultStore::new(MemoryStore::new()).on(key("pieces/c/0"), zarr_store::Fault::Truncate(3)),
    );
    let panic = std::thread::spawn(move || conformance::all(&store)).join().unwrap_err();
    let message = panic.downcast::<String>().unwrap();
    assert!(message.starts_with("7 bytes in pieces of 7 are not read as"), "{message}");
}
