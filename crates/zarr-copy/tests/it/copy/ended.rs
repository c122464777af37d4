//! Markers of copies that have ended, which stay where no removal has a condition: they refuse nothing.

use std::sync::Arc;

use zarr_array::store::{MemoryStore, Store, StoreExt as _};
use zarr_array::unfinished::{CopyMarker, CopyStep, Kind, Unfinished, is_ended};
use zarr_array::{Array, Group, delete_node};
use zarr_check::{CheckOptions, check};
use zarr_copy::{CopyOptions, CopySummary, Endpoint, MARKER, TransferError, copy_tree};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, DataType, GroupMetadata};
use zarr_store_tests::{Apart, Stage, key, objects, prefix};

type Shared = Arc<dyn Store>;

fn array() -> ArrayMetadata {
    ArrayBuilder::new([4], DataType::Uint8).chunk_shape([2]).build().expect("valid")
}

/// A group with an array, and the marker of an ended copy beside the document of each.
fn tree() -> Shared {
    let store: Shared = Arc::new(MemoryStore::new());
    Group::create(store.clone(), &prefix("t"), GroupMetadata::new()).expect("creates");
    let made = Array::create(store.clone(), &prefix("t/a"), array()).expect("creates");
    made.write(0..4, &[1, 2, 3, 4]).expect("writes");
    for place in ["t", "t/a"] {
        mark(&store, place);
    }
    store
}

fn mark(store: &Shared, place: &str) {
    let marker =
        CopyMarker { run: Some("1".repeat(16)), ..CopyMarker::new(Kind::Group, [1, 2, 3]) };
    let text = marker.text(CopyStep::Ended);
    store.put(&key(&format!("{place}/{MARKER}")), text.as_bytes()).expect("puts");
}

fn copy(from: &Shared, to: &Shared, options: &CopyOptions) -> Result<CopySummary, TransferError> {
    let (here, there) = (prefix("t"), prefix("to"));
    let (here, there) = (Endpoint::new(from, &here), Endpoint::new(to, &there));
    copy_tree(here, there, &mut |_, old| Ok(old.clone()), options, &mut |_, _| {})
}

#[test]
fn a_node_with_one_is_read_checked_copied_and_deleted() {
    let store = tree();
    assert!(Group::open(store.clone(), &prefix("t")).is_ok());
    assert_eq!(Unfinished::at(&*store, &prefix("t")).expect("reads"), None);
    let mut found = Vec::new();
    check(&store, &prefix("t"), &CheckOptions::new(), &mut |finding| found.push(finding))
        .expect("checks");
    assert!(found.is_empty(), "{found:?}");

    // It is no content of a copy.
    let copied: Shared = Arc::new(MemoryStore::new());
    copy(&store, &copied, &CopyOptions::new()).expect("copies");
    let keys: Vec<String> = objects(&*copied).into_keys().collect();
    assert_eq!(keys, ["to/a/c/0", "to/a/c/1", "to/a/zarr.json", "to/zarr.json"]);
    let again = copy(&store, &store, &CopyOptions::new());
    again.expect("copies within one store");

    delete_node(&store, &prefix("t")).expect("deletes");
    assert!(!objects(&*store).keys().any(|key| key.starts_with("t/")));
}

#[test]
fn it_is_replaced_by_the_next_copy_and_refuses_none() {
    let from = tree();
    let new = CopyOptions::new();
    let to: Shared = Arc::new(MemoryStore::new());
    mark(&to, "to");
    copy(&from, &to, &new.clone().resume(true)).expect("an empty place");
    let there = objects(&*to);
    assert!(!there.contains_key(&format!("to/{MARKER}")), "this store has locks");

    mark(&to, "to");
    let refused = copy(&from, &to, &new).expect_err("there is a node");
    assert!(matches!(refused, TransferError::Exists { .. }), "{refused}");
    let refused = copy(&from, &to, &new.clone().resume(true)).expect_err("nothing is unfinished");
    assert!(matches!(refused, TransferError::NotInterrupted { .. }), "{refused}");
    copy(&from, &to, &new.overwrite(true)).expect("overwrites");
    assert_eq!(objects(&*to), there);
    mark(&to, "empty");
    Array::create(to.clone(), &prefix("empty"), array()).expect("an empty place");
    mark(&to, "other");
    Group::create(to, &prefix("other"), GroupMetadata::new()).expect("an empty place");
}

/// A store with conditions only keeps it, so that a removal that is late removes no other.
#[test]
fn it_stays_where_only_conditions_keep_processes_apart() {
    let from = tree();
    for (apart, stays) in [(Apart::Locks, false), (Apart::Conditions, true)] {
        let memory = MemoryStore::new();
        for options in [CopyOptions::new(), CopyOptions::new().overwrite(true)] {
            let stage = Stage::new(memory.clone(), apart, u64::MAX, u64::MAX);
            stage.run(|store| copy(&from, &store, &options).expect("copies"), |_| ());
            let there = objects(&memory);
            let marker = there.get(&format!("to/{MARKER}"));
            assert_eq!(marker.is_some_and(|text| is_ended(text)), stays, "{apart:?}");
            assert_eq!(there.len(), 4 + usize::from(stays));
        }
    }
}

/// Any version of a marker that has ended refuses nothing; what is no marker does.
#[test]
fn what_has_ended_is_told_by_its_step_alone() {
    let store: Shared = Arc::new(MemoryStore::new());
    let place = prefix("t");
    for (text, ended) in [
        (r#"{"unfinished_copy": {"version": 2, "step": "ended"}}"#, true),
        (r#"{"unfinished_copy": {"version": 1, "node": "array", "step": "copying"}}"#, false),
        (r#"{"unfinished_copy": {"step": "ended"}}"#, false),
        (r#"{"step": "ended"}"#, false),
        ("", false),
    ] {
        store.put(&key(&format!("t/{MARKER}")), text.as_bytes()).expect("puts");
        let found = Unfinished::at(&*store, &place).expect("reads");
        assert_eq!(found.is_none(), ended, "{text}");
    }
}
