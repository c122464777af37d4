//! The target before a copy, and the result of an overwrite that is interrupted anywhere.

use std::collections::BTreeSet;
use std::sync::Arc;

use zarr_array::Selection;
use zarr_array::store::{Fault, FaultStore, Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_check::{CheckOptions, check};
use zarr_copy::{CopyOptions, MARKER, TransferError};
use zarr_store_tests::{Objects, objects};

use super::documents_are_of_whole_nodes;
use super::ends::{array, copy, group};

type Shared = Arc<dyn Store>;

fn holding(objects: &Objects) -> MemoryStore {
    let store = MemoryStore::new();
    for (key, bytes) in objects {
        store.put(&Key::new(key).expect("a key"), bytes).expect("puts");
    }
    store
}

/// A store with this node at its root.
fn node(kind: &str) -> MemoryStore {
    let memory = MemoryStore::new();
    let store: Shared = Arc::new(memory.clone());
    match kind {
        "array" => array(&store, ""),
        "group" => {
            group(&store, "");
            array(&store, "b");
            group(&store, "g");
            array(&store, "g/a");
        }
        "unfinished" => {
            array(&store, "");
            store.delete(&Key::new("c/0/1").expect("a key")).expect("deletes");
            store.put(&Key::new(MARKER).expect("a key"), b"of another copy").expect("puts");
        }
        "chunks" => {
            array(&store, "");
            store.delete(&Key::new("zarr.json").expect("a key")).expect("deletes");
        }
        other => panic!("{other}"),
    }
    memory
}

/// The ids of the findings of a check.
fn findings(store: &MemoryStore) -> BTreeSet<&'static str> {
    let store: Shared = Arc::new(store.clone());
    let mut ids = BTreeSet::new();
    let options = CheckOptions::new().data(true);
    check(&store, &Prefix::root(), &options, &mut |found| {
        ids.insert(found.id());
    })
    .expect("checks");
    ids
}

#[test]
fn an_overwrite_that_dies_at_any_step_never_looks_finished() {
    let options = CopyOptions::new().memory(1000);
    let overwrite = options.clone().overwrite(true);
    let mut steps = 0;
    for new in ["array", "group"] {
        let from: Shared = Arc::new(node(new));
        // Chunks that differ from the old node's, and the same chunks.
        for chunks in [Some([7, 5]), None] {
            let clean = MemoryStore::new();
            let target: Shared = Arc::new(clean.clone());
            copy((&from, ""), (&target, ""), chunks, &options).expect("copies");
            let expected = objects(&clean);
            for old in ["array", "group", "unfinished", "chunks"] {
                // Chunks that are left of an array do not belong to a group; fewer are left if
                // both are alike.
                let left_out = matches!((new, old), ("group", "chunks"));
                if left_out || chunks.is_none() && old != "group" {
                    continue;
                }
                let before = objects(&node(old));
                let counted = Arc::new(FaultStore::new(holding(&before)));
                let target: Shared = counted.clone();
                copy((&from, ""), (&target, ""), chunks, &overwrite).expect("copies");
                assert_eq!(objects(counted.inner()), expected);
                for step in 0..counted.operations() {
                    for fault in [Fault::DieBefore, Fault::DieAfter] {
                        let at = format!("{old} to {new} {chunks:?}: {fault:?} {step}");
                        let inner = holding(&before);
                        let target: Shared =
                            Arc::new(FaultStore::new(inner.clone()).at(step, fault));
                        let ended = copy((&from, ""), (&target, ""), chunks, &overwrite);
                        let found = objects(&inner);
                        steps += 1;
                        let untouched = found == before;
                        let finished = found == expected && !found.contains_key(MARKER);
                        // Threads copy objects in any order: the last step may not come last.
                        assert!(ended.is_err() || finished, "{at}");
                        if !untouched && !finished {
                            assert!(found.contains_key(MARKER), "{at}: {:?}", found.keys());
                            documents_are_of_whole_nodes(&found, &before, &expected, &at);
                            assert!(findings(&inner).contains("unfinished-copy"), "{at}");
                        }
                        // The copy can be resumed, unless it has not begun, or has finished.
                        let again: Shared = Arc::new(inner.clone());
                        match copy((&from, ""), (&again, ""), chunks, &options.clone().resume(true))
                        {
                            Ok(_) => assert_eq!(objects(&inner), expected, "{at}"),
                            Err(TransferError::NotInterrupted { .. }) => {
                                assert!(untouched || finished, "{at}");
                            }
                            Err(
                                TransferError::OtherCopy { .. } | TransferError::NotEmpty { .. },
                            ) => {
                                assert!(untouched && old != "array" && old != "group", "{at}");
                            }
                            Err(error) => panic!("{at}: {error}"),
                        }
                        // Or it can be started again.
                        if step % 4 != 0 {
                            continue;
                        }
                        let inner = holding(&found);
                        let again: Shared = Arc::new(inner.clone());
                        copy((&from, ""), (&again, ""), chunks, &overwrite).expect("overwrites");
                        assert_eq!(objects(&inner), expected, "{at}");
                    }
                }
            }
        }
    }
    assert!(steps > 500, "{steps}");
}

#[test]
fn chunks_that_are_there_before_a_copy_are_never_taken_for_its_own() {
    let from: Shared = Arc::new(node("array"));
    let options = CopyOptions::new().memory(1000);
    for chunks in [None, Some([6, 4]), Some([7, 5])] {
        let inner = node("chunks");
        inner.put(&Key::new("c/0/1").expect("a key"), &[9; 48]).expect("puts");
        let before = objects(&inner);
        let to: Shared = Arc::new(inner.clone());
        for options in [options.clone(), options.clone().resume(true)] {
            let refused = copy((&from, ""), (&to, ""), chunks, &options);
            assert!(matches!(refused, Err(TransferError::NotEmpty { .. })), "{refused:?}");
            assert_eq!(objects(&inner), before);
        }
        // Objects that are not chunks may belong to somebody: no copy removes them.
        to.put(&Key::new("thesis/chapter.tex").expect("a key"), b"\\end").expect("puts");
        let before = objects(&inner);
        let overwrite = options.clone().overwrite(true);
        match copy((&from, ""), (&to, ""), chunks, &overwrite) {
            Err(TransferError::NotEmpty { key, .. }) => assert_eq!(key, "thesis/chapter.tex"),
            other => panic!("{other:?}"),
        }
        assert_eq!(objects(&inner), before);
        to.delete(&Key::new("thesis/chapter.tex").expect("a key")).expect("deletes");
        copy((&from, ""), (&to, ""), chunks, &overwrite).expect("overwrites");
        let copied = zarr_array::Array::open(to, &Prefix::root()).expect("opens");
        assert_eq!(copied.read(Selection::whole(&super::SHAPE)).expect("reads"), super::elements());
    }
}
