//! Objects made of objects of other stores.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;

use zarr_store::{
    FaultStore, LocalStore, MemoryStore, ObjectMeta, PutFrom, Sharing, Store, StoreExt as _,
};
use zarr_store_tests::{key, keys_below};

const BOTH: [(Sharing, &[PutFrom]); 2] = [
    (Sharing::HardLink, &[PutFrom::Linked]),
    (Sharing::Never, &[PutFrom::Reflinked, PutFrom::Copied]),
];

fn local(folder: &Path, name: &str) -> LocalStore {
    LocalStore::create(folder.join(name)).unwrap()
}

fn head(store: &dyn Store, name: &str) -> ObjectMeta {
    store.head(&key(name)).unwrap().unwrap()
}

fn inode(store: &LocalStore, name: &str) -> u64 {
    fs::symlink_metadata(store.root().join(name)).unwrap().ino()
}

#[test]
fn a_file_is_linked_or_cloned_into_a_new_folder_and_over_another() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (local(folder.path(), "from"), local(folder.path(), "to"));
    from.put(&key("a/b"), b"bytes").unwrap();
    for (sharing, outcomes) in BOTH {
        for (name, times) in [("c/d/e", 2), ("old", 1)] {
            to.put(&key("old"), b"something else").unwrap();
            // The second time there is the same file already.
            for _ in 0..times {
                let meta = head(&from, "a/b");
                let done = to.put_from(&key(name), &from, &key("a/b"), &meta, sharing).unwrap();
                assert!(outcomes.contains(&done), "{done:?}");
                assert_eq!(to.read(&key(name)).unwrap().unwrap(), b"bytes");
                let same = inode(&from, "a/b") == inode(&to, name);
                assert_eq!(same, sharing == Sharing::HardLink);
            }
        }
        assert_eq!(to.leftovers(&zarr_store::Prefix::root()).count(), 0);
    }
    // A write gives the target a file of its own.
    to.put(&key("c/d/e"), b"new").unwrap();
    assert_eq!(from.read(&key("a/b")).unwrap().unwrap(), b"bytes");
}

#[test]
fn another_version_of_the_source_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (local(folder.path(), "from"), local(folder.path(), "to"));
    from.put(&key("a"), b"bytes").unwrap();
    let before = head(&from, "a");
    from.put(&key("a"), b"other").unwrap();
    to.put(&key("kept"), b"kept").unwrap();
    for (sharing, _) in BOTH {
        for name in ["new", "kept"] {
            let done = to.put_from(&key(name), &from, &key("a"), &before, sharing).unwrap();
            assert_eq!(done, PutFrom::Changed);
        }
    }
    from.delete(&key("a")).unwrap();
    let done = to.put_from(&key("new"), &from, &key("a"), &before, Sharing::HardLink).unwrap();
    assert_eq!(done, PutFrom::Changed);
    assert_eq!(keys_below(&to, "").into_iter().collect::<Vec<_>>(), ["kept"]);
    assert_eq!(to.read(&key("kept")).unwrap().unwrap(), b"kept");
    assert_eq!(fs::read_dir(to.root()).unwrap().count(), 1);
}

#[test]
fn a_symbolic_link_is_followed_and_one_that_leads_outside_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (local(folder.path(), "from"), local(folder.path(), "to"));
    from.put(&key("a"), b"bytes").unwrap();
    symlink("a", from.root().join("inner")).unwrap();
    let meta = head(&from, "inner");
    let done = to.put_from(&key("x"), &from, &key("inner"), &meta, Sharing::HardLink).unwrap();
    assert!(matches!(done, PutFrom::Reflinked | PutFrom::Copied), "{done:?}");
    assert_eq!(to.read(&key("x")).unwrap().unwrap(), b"bytes");
    assert!(!fs::symlink_metadata(to.root().join("x")).unwrap().is_symlink());

    fs::write(folder.path().join("secret"), b"bytes").unwrap();
    symlink("../secret", from.root().join("outer")).unwrap();
    assert!(to.put_from(&key("y"), &from, &key("outer"), &meta, Sharing::Never).is_err());
    assert_eq!(to.head(&key("y")).unwrap(), None);
}

#[test]
fn stores_without_files_leave_it_to_the_caller() {
    let folder = tempfile::tempdir().unwrap();
    let (local, memory) = (local(folder.path(), "local"), MemoryStore::new());
    local.put(&key("a"), b"bytes").unwrap();
    memory.put(&key("a"), b"bytes").unwrap();
    let pairs: [(&dyn Store, &dyn Store); 2] = [(&local, &memory), (&memory, &local)];
    for (from, to) in pairs {
        let meta = head(from, "a");
        let done = to.put_from(&key("b"), from, &key("a"), &meta, Sharing::HardLink).unwrap();
        assert_eq!(done, PutFrom::Unsupported);
        assert_eq!(to.head(&key("b")).unwrap(), None);
    }
}

#[test]
fn a_fault_store_counts_it_as_one_operation() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (local(folder.path(), "from"), local(folder.path(), "to"));
    from.put(&key("a"), b"bytes").unwrap();
    let meta = head(&from, "a");
    let to = FaultStore::new(to).at(1, zarr_store::Fault::DieBefore);
    let linked = to.put_from(&key("b"), &from, &key("a"), &meta, Sharing::HardLink);
    assert_eq!(linked.unwrap(), PutFrom::Linked);
    assert!(to.put_from(&key("c"), &from, &key("a"), &meta, Sharing::HardLink).is_err());
    assert_eq!(to.inner().head(&key("c")).unwrap(), None);
}

#[cfg(feature = "object_store")]
#[test]
fn object_storage_copies_within_a_bucket() {
    use std::sync::Arc;

    use object_store::memory::InMemory;
    use object_store::path::Path;
    use zarr_store::{ConditionalPut, RemoteStore, StoreOptions};

    let open = |backend: &Arc<InMemory>, base: &str| {
        let options = StoreOptions::new();
        RemoteStore::new(backend.clone(), Path::from(base), ConditionalPut::Supported, &options)
    };
    let (one, two) = (Arc::new(InMemory::new()), Arc::new(InMemory::new()));
    let (from, to, other) = (open(&one, "x y/from"), open(&one, "to"), open(&two, "to"));
    from.put(&key("a b"), b"bytes").unwrap();
    let meta = head(&from, "a b");
    let put = |to: &RemoteStore, name: &str, meta: &ObjectMeta| {
        to.put_from(&key(name), &from, &key("a b"), meta, Sharing::Never).unwrap()
    };
    assert_eq!(put(&to, "c/d", &meta), PutFrom::Copied);
    assert_eq!(to.read(&key("c/d")).unwrap().unwrap(), b"bytes");
    assert_eq!(put(&other, "c/d", &meta), PutFrom::Unsupported);
    from.put(&key("a b"), b"other").unwrap();
    assert_eq!(put(&to, "new", &meta), PutFrom::Changed);
    assert_eq!(to.head(&key("new")).unwrap(), None);
    from.delete(&key("a b")).unwrap();
    assert_eq!(put(&to, "new", &meta), PutFrom::Changed);
}
