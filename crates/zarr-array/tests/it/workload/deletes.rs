//! Groups with members, whose removal is interrupted at every operation.

use std::collections::BTreeSet;
use std::sync::Arc;

use zarr_array::store::{
    Fault, FaultStore, Key, LocalStore, MemoryStore, Prefix, Store, StoreExt as _,
};
use zarr_array::{Array, ArrayError, Deletion, Selection, delete_node, open_node};
use zarr_check::{CheckOptions, check};
use zarr_metadata::NodeMetadata;

use super::{Objects, objects, prefix, restore, states};

/// A hierarchy `g` next to an array `a`, and another one below the array, where there should be
/// none.
fn hierarchy() -> Objects {
    let states = states(1);
    let group = states[1]["zarr.json"].clone();
    let written = states[7].clone();
    let mut all = Objects::new();
    for path in ["", "g/", "g/empty/", "g/inner/", "g/inner/deep/"] {
        all.insert(format!("{path}zarr.json"), group.clone());
    }
    for (name, to) in [
        ("a", "a"),
        ("a", "g/a"),
        ("s", "g/inner/s"),
        ("a", "g/inner/deep/a"),
        ("s", "g/a/below"),
        ("s", "g/no group/s"),
    ] {
        for (key, bytes) in &written {
            if let Some(rest) = key.strip_prefix(name).filter(|rest| rest.starts_with('/')) {
                all.insert(format!("{to}{rest}"), bytes.clone());
            }
        }
    }
    all.insert("g/stray".to_owned(), vec![1]);
    all
}

/// Whether an object belongs to no node: these go first, and only on request.
fn is_other(key: &str) -> bool {
    key == "g/stray" || key.starts_with("g/a/below/")
}

fn delete_with_others(store: &Arc<dyn Store>) -> Result<(), ArrayError> {
    Deletion::plan(store, &prefix("g"))?.with_other_objects(true).run()
}

fn is_document(key: &&String) -> bool {
    key.ends_with("zarr.json")
}

/// Each node exists with everything it had, or not at all, and parents are removed first.
fn assert_whole_or_gone(store: &Arc<dyn Store>, old: &Objects, what: &str) {
    let found = objects(&**store);
    for (key, bytes) in &found {
        assert_eq!(old.get(key), Some(bytes), "{what}: {key}");
    }
    for key in old.keys().filter(|key| !key.starts_with("g/")) {
        assert!(found.contains_key(key), "{what}: {key} is another node's");
    }
    let gone: Vec<&String> =
        old.keys().filter(|key| !found.contains_key(*key) && !is_other(key)).collect();
    let documents: BTreeSet<&str> = found
        .keys()
        .filter(is_document)
        .filter(|key| key.starts_with("g/") && !is_other(key))
        .filter_map(|key| key.strip_suffix("zarr.json"))
        .collect();
    for key in gone {
        for document in &documents {
            assert!(!key.starts_with(document), "{what}: {document} is there without {key}");
        }
        assert!(is_document(&key) || documents.is_empty(), "{what}: {key} before {documents:?}");
    }
    for path in documents {
        let path = prefix(path.trim_end_matches('/'));
        if let Ok(NodeMetadata::Array(_)) = open_node(store, &path) {
            let array = Array::open(store.clone(), &path).expect("opens");
            array.read(Selection::whole(array.shape())).expect("reads");
        }
    }
    let mut named = BTreeSet::new();
    let options = CheckOptions::new();
    check(store, &Prefix::root(), &options, &mut |finding| {
        named.extend(finding.key().map(str::to_owned));
    })
    .unwrap_or_else(|error| panic!("{what}: {error}"));
    if !found.contains_key("g/zarr.json") && found.keys().any(|key| key.starts_with("g/")) {
        assert!(named.contains("g/"), "{what}: {named:?}");
    }
}

fn dies_at_every_operation(make: &dyn Fn() -> Arc<dyn Store>) {
    let old = hierarchy();
    let new: Objects = old
        .iter()
        .filter(|(key, _)| !key.starts_with("g/"))
        .map(|(key, bytes)| (key.clone(), bytes.clone()))
        .collect();
    let begin = || {
        let store = make();
        restore(&*store, &old);
        store
    };
    let counted = Arc::new(FaultStore::new(begin()));
    let shared: Arc<dyn Store> = counted.clone();
    delete_with_others(&shared).expect("deletes");
    let operations = counted.operations();
    assert!(objects(&*shared) == new);
    assert!(matches!(delete_with_others(&shared), Err(ArrayError::NotFound { .. })));
    let whole = begin();
    delete_with_others(&whole).expect("deletes");
    assert!(objects(&*whole) == new);
    for number in 0..operations {
        for fault in [Fault::DieBefore, Fault::DieAfter] {
            let what = format!("operation {number}, {fault:?}");
            let inner = begin();
            let dying = Arc::new(FaultStore::new(inner.clone()).at(number, fault));
            let shared: Arc<dyn Store> = dying.clone();
            let outcome = delete_with_others(&shared);
            assert!(dying.is_dead(), "{what}");
            assert!(outcome.is_err() || objects(&*inner) == new, "{what}");
            assert_whole_or_gone(&inner, &old, &what);
            match delete_with_others(&inner) {
                // The last operation may have taken effect.
                Ok(()) | Err(ArrayError::NotFound { .. }) => {}
                Err(error) => panic!("{what}: again: {error}"),
            }
            assert!(objects(&*inner) == new, "{what}: the result of doing it again");
        }
    }
}

#[test]
fn a_group_that_goes_takes_each_node_whole() {
    dies_at_every_operation(&|| Arc::new(MemoryStore::new()));
}

#[test]
fn a_local_group_that_goes_takes_each_node_whole() {
    let folder = zarr_store_tests::folder_in_memory();
    let count = std::cell::Cell::new(0_u32);
    dies_at_every_operation(&|| {
        count.set(count.get() + 1);
        let root = folder.path().join(count.get().to_string());
        Arc::new(LocalStore::create(root).expect("makes a store"))
    });
}

#[cfg(feature = "object_store")]
#[test]
fn a_group_on_object_storage_that_goes_takes_each_node_whole() {
    use object_store::memory::InMemory;
    use object_store::path::Path;
    use zarr_array::store::{ConditionalPut, RemoteStore, StoreOptions};
    dies_at_every_operation(&|| {
        let backend = Arc::new(InMemory::new());
        Arc::new(RemoteStore::new(
            backend,
            Path::default(),
            ConditionalPut::Supported,
            &StoreOptions::new(),
        ))
    });
}

/// A file that cannot be removed leaves no other node incomplete.
#[test]
fn a_document_that_cannot_be_removed_keeps_its_chunks() {
    let old = hierarchy();
    let inner: Arc<dyn Store> = Arc::new(MemoryStore::new());
    restore(&*inner, &old);
    let denied = Fault::Fail(std::io::ErrorKind::PermissionDenied);
    let stuck = Key::new("g/inner/s/zarr.json").expect("a key");
    let store: Arc<dyn Store> = Arc::new(FaultStore::new(inner.clone()).on(stuck, denied));
    delete_with_others(&store).expect_err("cannot be removed");
    assert_whole_or_gone(&inner, &old, "stuck");
}

/// Unless they are named, objects of no node keep everything as it is.
#[test]
fn objects_of_no_node_are_removed_on_request_only() {
    let old = hierarchy();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    restore(&*store, &old);
    let deletion = Deletion::plan(&store, &prefix("g")).expect("plans");
    let others: BTreeSet<&str> = deletion.other_objects().iter().map(Key::as_str).collect();
    let expected: BTreeSet<&str> =
        old.keys().map(String::as_str).filter(|key| is_other(key)).collect();
    assert_eq!(others, expected);
    let refused = delete_node(&store, &prefix("g")).expect_err("others are there");
    assert!(matches!(&refused, ArrayError::OtherObjects { count, .. } if *count == 7), "{refused}");
    assert!(objects(&*store) == old);
    // What appears after the plan stays.
    let late = Key::new("g/late.txt").expect("a key");
    store.put(&late, b"1").expect("memory");
    deletion.with_other_objects(true).run().expect("deletes");
    let left: Vec<String> =
        objects(&*store).into_keys().filter(|key| key.starts_with("g/")).collect();
    assert_eq!(left, ["g/late.txt"]);
}
