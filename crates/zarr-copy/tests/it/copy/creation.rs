//! Arrays that are created in place of others, interrupted at every step.

use std::sync::Arc;

use zarr_array::store::{Fault, FaultStore, Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::unfinished::{REARRANGE_MARKER, UnfinishedWork};
use zarr_array::{Array, ArrayError, Group, Selection};
use zarr_check::{CheckOptions, check};
use zarr_copy::{MARKER, TransferError, create_over};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, DataType, GroupMetadata};
use zarr_store_tests::{Objects, objects};

use super::documents_are_of_whole_nodes;

type Shared = Arc<dyn Store>;

/// A new array of another shape and type, with chunks at the keys of the old one.
fn new() -> ArrayMetadata {
    ArrayBuilder::new([3, 3], DataType::Float32).chunk_shape([2, 2]).build().expect("valid")
}

/// A group with an array in it, or an array at the root.
fn old(path: &str) -> MemoryStore {
    let memory = MemoryStore::new();
    let store: Shared = Arc::new(memory.clone());
    if !path.is_empty() {
        Group::create(store.clone(), &Prefix::root(), GroupMetadata::new()).expect("creates");
    }
    let metadata = ArrayBuilder::new([4, 2], DataType::Uint8).chunk_shape([2, 1]).build();
    let array = Array::create(store, &prefix(path), metadata.expect("valid")).expect("creates");
    array.write(Selection::whole(&[4, 2]), &[1; 8]).expect("writes");
    memory
}

fn prefix(path: &str) -> Prefix {
    Prefix::new(path).expect("a path")
}

fn findings(store: &MemoryStore) -> Vec<&'static str> {
    let store: Shared = Arc::new(store.clone());
    let mut ids = Vec::new();
    let options = CheckOptions::new().data(true);
    check(&store, &Prefix::root(), &options, &mut |found| ids.push(found.id())).expect("checks");
    ids
}

#[test]
fn a_creation_that_dies_at_any_step_leaves_the_old_array_the_new_one_or_a_finding() {
    for path in ["", "a"] {
        let whole = old(path);
        let before = objects(&whole);
        let undisturbed = Arc::new(FaultStore::new(old(path)));
        create_over(undisturbed.clone(), &prefix(path), new()).expect("creates");
        let after = objects(undisturbed.inner());
        assert_eq!(after.len(), if path.is_empty() { 1 } else { 2 });
        let mut states = [0; 3];
        for step in 0..undisturbed.operations() {
            for fault in [Fault::DieBefore, Fault::DieAfter] {
                let at = format!("{path:?} {step} {fault:?}");
                let inner = old(path);
                let dying = Arc::new(FaultStore::new(inner.clone()).at(step, fault));
                let died = create_over(dying, &prefix(path), new());
                let found = objects(&inner);
                let [within, whole, made] =
                    [&found, &before, &after].map(|objects| below(objects, path));
                documents_are_of_whole_nodes(&within, &whole, &made, &at);
                let store: Shared = Arc::new(inner.clone());
                if found == before || found == after {
                    assert!(findings(&inner).is_empty(), "{at}");
                    states[usize::from(found == after)] += 1;
                } else {
                    died.expect_err(&at);
                    assert_eq!(findings(&inner), ["unfinished-copy"], "{at}");
                    is_told(&store, path, &before, &after, &at);
                    assert_eq!(objects(&inner), found, "{at}: nothing has changed");
                    states[2] += 1;
                }
                // The repair, which the finding names.
                create_over(store, &prefix(path), new()).expect(&at);
                assert_eq!(objects(&inner), after, "{at}");
            }
        }
        assert!(states.iter().all(|times| *times > 0), "{path:?}: {states:?}");
    }
}

/// The objects of a node.
fn below(objects: &Objects, path: &str) -> Objects {
    let own = objects.iter().filter(|(key, _)| key.starts_with(path));
    own.filter(|(key, _)| path.is_empty() || key.as_str() != "zarr.json")
        .map(|(key, bytes)| (key.clone(), bytes.clone()))
        .collect()
}

/// A place with a marker is the old array, the new one, or none that can be opened or made.
fn is_told(store: &Shared, path: &str, before: &Objects, after: &Objects, at: &str) {
    match Array::open(store.clone(), &prefix(path)) {
        Ok(array) => {
            let document = array.metadata().json().as_bytes();
            let key =
                if path.is_empty() { "zarr.json".to_owned() } else { format!("{path}/zarr.json") };
            assert!([before, after].iter().any(|all| all[&key] == document), "{at}");
        }
        Err(ArrayError::Unfinished { work, resumable, from, .. }) => {
            assert_eq!((work, resumable, from), (UnfinishedWork::Creation, false, None), "{at}");
            let again = Array::create(store.clone(), &prefix(path), new());
            assert!(matches!(again, Err(ArrayError::Unfinished { .. })), "{at}");
        }
        Err(error) => panic!("{at}: {error}"),
    }
}

#[test]
fn what_is_no_array_is_not_removed() {
    let put = |store: &MemoryStore, key: &str| {
        store.put(&Key::new(key).expect("a key"), b"{}").expect("puts");
    };
    let group = old("a");
    let foreign = old("");
    put(&foreign, "README.md");
    let version_2 = MemoryStore::new();
    put(&version_2, ".zarray");
    let folder = MemoryStore::new();
    put(&folder, "README.md");
    let unknown = MemoryStore::new();
    put(&unknown, MARKER);
    let rearranged = old("");
    put(&rearranged, REARRANGE_MARKER);
    put(&rearranged, "c.5");
    for (name, store) in [
        ("group", group),
        ("foreign", foreign),
        ("version 2", version_2),
        ("folder", folder),
        ("unknown", unknown),
        ("rearranged", rearranged),
    ] {
        let before = objects(&store);
        let error = create_over(Arc::new(store.clone()), &Prefix::root(), new()).expect_err(name);
        assert_eq!(objects(&store), before, "{name}");
        let is_expected = match name {
            "group" => matches!(error, TransferError::Target(ArrayError::NotArray { .. })),
            "foreign" => matches!(&error, TransferError::Foreign { key, .. } if key == "README.md"),
            "version 2" => matches!(error, TransferError::Target(ArrayError::Version2 { .. })),
            "folder" => matches!(error, TransferError::NotEmpty { .. }),
            "rearranged" => {
                matches!(&error, TransferError::Rearranging { path } if path == "the root")
            }
            _ => matches!(error, TransferError::Target(ArrayError::Unfinished { .. })),
        };
        assert!(is_expected, "{name}: {error}");
    }
}

#[test]
fn there_need_not_be_an_array() {
    let store = MemoryStore::new();
    // An unfinished copy in two passes was deleted, and that was interrupted.
    let left = Key::new("zarr-kit-intermediate/c/3/1").expect("a key");
    store.put(&left, b"chunk").expect("puts");
    create_over(Arc::new(store.clone()), &Prefix::root(), new()).expect("creates");
    let expected = MemoryStore::new();
    Array::create(Arc::new(expected.clone()), &Prefix::root(), new()).expect("creates");
    assert_eq!(objects(&store), objects(&expected));
    // Within an array there is no place for another.
    let within = create_over(Arc::new(store), &prefix("a"), new());
    assert!(matches!(within, Err(TransferError::Target(ArrayError::NotGroup { .. }))));
}
