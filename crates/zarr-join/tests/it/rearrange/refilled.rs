//! Groups that are appended to after chunks that are not full, ended at every operation.

use std::sync::Arc;

use zarr_array::Group;
use zarr_array::store::{Fault, FaultStore, LocalStore, MemoryStore, Store};
use zarr_join::rearrange::{Span, refuse_half_rearranged};
use zarr_metadata::{ChunkGrid, GroupMetadata};

use super::groups::{at, named, open, run, settle};
use super::{BYTES, SLASH, document, filled, found, objects, regular, rows};

/// A group of two arrays in chunks of two along their dimension, one of them along its second axis.
fn build(store: Arc<dyn Store>, first: u8, length: u64, fill: &str) -> Arc<dyn Store> {
    let with_fill = |document: String| document.replace("\"fill_value\": 0", fill);
    for path in ["", "g"] {
        Group::create(store.clone(), &at(path), GroupMetadata::new()).expect("new");
    }
    let time = named(&document(&[length], &regular(&[2]), SLASH, BYTES), "[\"time\"]");
    filled(store.clone(), &at("g/time"), &time, first);
    let temp = with_fill(document(&[2, length], &regular(&[1, 2]), SLASH, BYTES));
    filled(store.clone(), &at("g/temp"), &named(&temp, "[\"x\", \"time\"]"), first + 10);
    store
}

fn in_memory(first: u8, length: u64) -> Arc<dyn Store> {
    build(Arc::new(MemoryStore::new()), first, length, FILL)
}

const FILL: &str = "\"fill_value\": 0";

#[test]
fn appends_after_chunks_that_are_not_full_end_old_or_new() {
    let other = Group::open(in_memory(100, 2), &at("g")).expect("opens");
    let spans = [Span::Kept(0..3), Span::Inserted(other)];
    let (old, whole) = (objects(&*in_memory(0, 3)), in_memory(0, 3));
    let counted = Arc::new(FaultStore::new(whole.clone()));
    run(&(counted.clone() as Arc<dyn Store>), &spans).expect("appends");
    let new = objects(&*whole);
    for (path, axis) in [("g/time", 0), ("g/temp", 1)] {
        let all = |store: &Arc<dyn Store>| rows(&open(store, path).expect("opens"), axis);
        assert_eq!(all(&whole), [all(&in_memory(0, 3)), all(&in_memory(100, 2))].concat());
        let grid = open(&whole, path).expect("opens").metadata().chunk_grid().clone();
        assert!(matches!(grid, ChunkGrid::Regular { .. }), "{path} {grid:?}");
    }
    let (mut undone, mut done) = (0, 0);
    for number in 0..counted.operations() {
        let store = in_memory(0, 3);
        let dying: Arc<dyn Store> =
            Arc::new(FaultStore::new(store.clone()).at(number, Fault::DieAfter));
        let result = run(&dying, &spans);
        settle(&store).expect("settles");
        let now = objects(&*store);
        assert!(now == new || (result.is_err() && now == old), "operation {number}");
        assert_eq!(found(&store), Vec::<&str>::new(), "operation {number}");
        undone += u32::from(now == old);
        done += u32::from(now == new);
    }
    assert!(undone > 20 && done > 20, "{undone} {done}");
}

/// Where some arrays are the new ones already, the others follow with what was written since.
#[test]
fn a_write_before_the_repair_is_kept() {
    let other = Group::open(in_memory(100, 2), &at("g")).expect("opens");
    let spans = [Span::Kept(0..3), Span::Inserted(other)];
    let folder = tempfile::tempdir().expect("a folder");
    let make = |number: u64, is_local: bool| {
        let store: Arc<dyn Store> = match is_local {
            true => {
                Arc::new(LocalStore::create(folder.path().join(number.to_string())).expect("new"))
            }
            false => Arc::new(MemoryStore::new()),
        };
        build(store, 0, 3, FILL)
    };
    let whole = make(0, false);
    let counted = Arc::new(FaultStore::new(whole.clone()));
    run(&(counted.clone() as Arc<dyn Store>), &spans).expect("appends");
    let expected = |path: &str, axis| {
        let mut rows = rows(&open(&whole, path).expect("opens"), axis);
        rows[2].fill(77);
        rows
    };
    let mut written = 0;
    for number in 0..counted.operations() {
        for is_local in [false, true] {
            let store = make(number + 1, is_local);
            let dying: Arc<dyn Store> =
                Arc::new(FaultStore::new(store.clone()).at(number, Fault::DieAfter));
            let _died = run(&dying, &spans);
            let group = Group::open(store.clone(), &at("g")).expect("opens");
            if refuse_half_rearranged(&group).is_ok() {
                continue;
            }
            for (path, axis) in [("g/time", 0), ("g/temp", 1)] {
                let array = open(&store, path).expect("opens");
                let mut region: Vec<_> = array.shape().iter().map(|length| 0..*length).collect();
                region[axis] = 2..3;
                let count = array.shape().iter().product::<u64>() / array.shape()[axis];
                let elements = vec![77; usize::try_from(count).expect("few")];
                array.write(region.as_slice(), &elements).expect("writes");
            }
            settle(&store).expect("settles");
            for (path, axis) in [("g/time", 0), ("g/temp", 1)] {
                let found = rows(&open(&store, path).expect("opens"), axis);
                assert_eq!(found, expected(path, axis), "operation {number}: {path}");
            }
            written += 1;
        }
    }
    assert!(written > 2, "{written}");
}

#[test]
fn absent_elements_keep_their_value() {
    let store = build(Arc::new(MemoryStore::new()), 100, 2, "\"fill_value\": 9");
    let other = Group::open(store, &at("g")).expect("opens");
    let spans = [Span::Kept(0..3), Span::Inserted(other)];
    let error = run(&in_memory(0, 3), &spans).expect_err("is refused").to_string();
    assert!(error.contains("temp") && error.contains("fill value: found 9, expected 0"), "{error}");
}
