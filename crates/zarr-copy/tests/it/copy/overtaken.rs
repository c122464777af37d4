//! Copies that stop while another run takes over, and then go on: at each operation of the first run,
//! the other is killed at each of its own. What is resumed then is whole.

use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix, Store};
use zarr_array::unfinished::{Unfinished, is_ended};
use zarr_array::{Array, Group, Part, delete_node};
use zarr_copy::{CopyOptions, Endpoint, MARKER, TransferError, copy_tree};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, DataType, GroupMetadata};
use zarr_store_tests::{Apart, Stage, objects, prefix, sampled};

type Shared = Arc<dyn Store>;

/// The second chunk has only fill values, and is not stored.
const VALUES: [u8; 6] = [1, 2, 0, 0, 5, 6];

/// All chunks are stored.
const FULL: [u8; 6] = [1, 2, 3, 4, 5, 6];

fn array_of(chunk: u64) -> ArrayMetadata {
    ArrayBuilder::new([6], DataType::Uint8).chunk_shape([chunk]).build().expect("valid")
}

fn source(values: [u8; 6]) -> Shared {
    let store: Shared = Arc::new(MemoryStore::new());
    Group::create(store.clone(), &Prefix::root(), GroupMetadata::new()).expect("creates");
    Group::create(store.clone(), &prefix("g"), GroupMetadata::new()).expect("creates");
    for path in ["a", "g/b"] {
        let array = Array::create(store.clone(), &prefix(path), array_of(2)).expect("creates");
        array.write(0..6, &values).expect("writes");
    }
    store
}

/// A copy into chunks of this length, or as they are.
fn copy(
    from: &Shared,
    to: &Shared,
    chunk: Option<u64>,
    options: &CopyOptions,
) -> Result<(), TransferError> {
    copy_tree(
        Endpoint::new(from, &Prefix::root()),
        Endpoint::new(to, &prefix("to")),
        &mut |_, old| Ok(chunk.map_or_else(|| old.clone(), array_of)),
        options,
        &mut |_, _| {},
    )
    .map(drop)
}

/// Refuses a target that lacks anything.
fn is_whole(store: &Shared, values: [u8; 6], at: &str) {
    for path in ["to/a", "to/g/b"] {
        let array = Array::open(store.clone(), &prefix(path));
        let array = array.unwrap_or_else(|error| panic!("{at}: {error}"));
        let read = array.read(0..6).unwrap_or_else(|error| panic!("{at}: {error}"));
        assert_eq!(read, values, "{at}: {path}");
    }
    for (key, text) in objects(store) {
        assert!(!key.contains(MARKER) || is_ended(&text), "{at}: {key}");
    }
}

/// The first copy has chunks of length `first`, the other of length `other`.
fn is_overtaken(apart: Apart, first: Option<u64>, other: Option<u64>, takes: &CopyOptions) {
    is_overtaken_after(apart, [None, first, other], takes);
}

/// As [`is_overtaken`] after a copy with chunks of length `old`, which the first overwrites.
fn is_overtaken_after(apart: Apart, [old, first, other]: [Option<u64>; 3], takes: &CopyOptions) {
    // No late chunk of other elements can be told in the place of one that is not stored.
    let is_sparse = apart == Apart::Locks || other.is_some() || first == other;
    let values = if is_sparse { VALUES } else { FULL };
    let from = source(values);
    let again = CopyOptions::new().memory(4000);
    let new = again.clone().overwrite(old.is_some());
    let takes = takes.clone().memory(4000);
    let (mut stops, mut goes_on) = (0, true);
    while goes_on {
        let (mut kills, mut lives) = (0, false);
        while !lives {
            let at = format!("{apart:?} {first:?} {other:?} stopped at {stops}, killed at {kills}");
            let memory = MemoryStore::new();
            if old.is_some() {
                let store: Shared = Arc::new(memory.clone());
                copy(&from, &store, old, &again).expect("copies");
            }
            let stage = Stage::new(memory.clone(), apart, stops, kills);
            let ((one, stopped), (two, killed)) = stage.run(
                |store| copy(&from, &store, first, &new),
                |store| copy(&from, &store, other, &takes),
            );
            (goes_on, lives) = (stopped, !killed);
            kills += sampled(3) as u64;
            let resumed = Stage::new(memory.clone(), apart, u64::MAX, u64::MAX);
            let again = |chunk| {
                let options = again.clone().resume(true);
                resumed.run(|store| copy(&from, &store, chunk, &options), |_| ()).0.0
            };
            let result = match again(other) {
                Err(TransferError::OtherCopy { .. }) => again(first),
                result => result,
            };
            match result {
                Ok(()) | Err(TransferError::NotInterrupted { .. }) => {}
                // It tells the user what to do, and nothing is lost in silence.
                Err(TransferError::OtherDocument { .. })
                    if apart == Apart::Conditions && first != other =>
                {
                    continue;
                }
                Err(error) => panic!("{at}: {error}; {one:?}; {two:?}"),
            }
            let store: Shared = Arc::new(memory);
            is_whole(&store, values, &at);
        }
        stops += sampled(2) as u64;
    }
}

#[test]
fn a_copy_that_was_begun_anew_while_it_slept_loses_nothing() {
    for apart in [Apart::Locks, Apart::Conditions] {
        for chunk in [None, Some(3)] {
            is_overtaken(apart, chunk, chunk, &CopyOptions::new().overwrite(true));
        }
    }
}

/// Where only conditions keep processes apart, a removal that was sent before is not prevented.
#[test]
fn an_overwrite_that_slept_removes_nothing_of_the_next() {
    let takes = CopyOptions::new().overwrite(true);
    is_overtaken_after(Apart::Locks, [Some(2), Some(3), Some(3)], &takes);
}

#[test]
fn a_copy_that_was_resumed_while_it_slept_loses_nothing() {
    for apart in [Apart::Locks, Apart::Conditions] {
        for chunk in [None, Some(3)] {
            is_overtaken(apart, chunk, chunk, &CopyOptions::new().resume(true));
        }
    }
}

#[test]
fn a_copy_that_was_replaced_by_another_while_it_slept_changes_nothing_of_that() {
    for apart in [Apart::Locks, Apart::Conditions] {
        for (first, other) in [(None, Some(3)), (Some(3), None), (Some(3), Some(6))] {
            is_overtaken(apart, first, other, &CopyOptions::new().overwrite(true));
        }
    }
}

/// A document that is there, as builds before put it when they were overtaken, does not tell that
/// chunks are.
#[test]
fn a_resume_believes_the_listing_and_not_a_document() {
    let from = source(VALUES);
    let whole: Shared = Arc::new(MemoryStore::new());
    copy(&from, &whole, Some(3), &CopyOptions::new()).expect("copies");
    let whole = objects(&*whole);
    for missing in ["to/a/c/0", "to/a/c/1", "to/g/b/c/1"] {
        // The marker as it is when all but the documents is there.
        let memory = MemoryStore::new();
        let dying = zarr_array::store::FaultStore::new(memory.clone())
            .on(zarr_store_tests::key("to/a/c/0"), zarr_array::store::Fault::DieBefore);
        let dying: Shared = Arc::new(dying);
        copy(&from, &dying, Some(3), &CopyOptions::new()).expect_err("dies");
        let store: Shared = Arc::new(memory);
        for (key, bytes) in &whole {
            if key != missing {
                zarr_array::store::StoreExt::put(&*store, &zarr_store_tests::key(key), bytes)
                    .expect("puts");
            }
        }
        copy(&from, &store, Some(3), &CopyOptions::new().resume(true)).expect("resumes");
        assert_eq!(objects(&*store), whole, "{missing}");
    }
}

/// A part that stops before it puts the marker, or later, while another process makes the whole copy and
/// somebody changes it.
#[test]
fn a_part_that_begins_when_all_is_done_leaves_no_marker() {
    let from = source(FULL);
    let part = Part::new(1, 1).expect("a part");
    let options = CopyOptions::new().memory(4000).part(part);
    for apart in [Apart::Locks, Apart::Conditions] {
        let (mut stops, mut goes_on, mut refused) = (0, true, 0);
        while goes_on {
            let at = format!("{apart:?} stopped at {stops}");
            let memory = MemoryStore::new();
            let stage = Stage::new(memory.clone(), apart, stops, u64::MAX);
            let ((one, stopped), _) = stage.run(
                |store| copy(&from, &store, None, &options),
                |store| {
                    copy(&from, &store, None, &options).expect("copies");
                    let group = Group::open(store, &prefix("to")).expect("opens");
                    group.update_attributes(&[("changed", Some("1"))]).expect("changes");
                },
            );
            (goes_on, stops) = (stopped, stops + 1);
            refused += u32::from(one.is_err());
            let store: Shared = Arc::new(memory);
            if stopped {
                assert!(Group::open(store.clone(), &prefix("to")).is_ok(), "{at}: {one:?}");
            }
            is_whole(&store, FULL, &at);
        }
        assert!(refused > 0, "{apart:?}");
    }
}

/// A part that stops while another process makes the whole copy, deletes it, and begins one in two parts.
#[test]
fn a_part_that_goes_on_leaves_the_marker_of_a_later_copy() {
    let from = source(FULL);
    let part = |of| CopyOptions::new().memory(4000).part(Part::new(1, of).expect("a part"));
    for apart in [Apart::Locks, Apart::Conditions] {
        let (mut stops, mut goes_on) = (0, true);
        while goes_on {
            let at = format!("{apart:?} stopped at {stops}");
            let memory = MemoryStore::new();
            let stage = Stage::new(memory.clone(), apart, stops, u64::MAX);
            let ((one, stopped), _) = stage.run(
                |store| copy(&from, &store, None, &part(1)),
                |store| {
                    copy(&from, &store, None, &part(1)).expect("copies");
                    delete_node(&store, &prefix("to")).expect("deletes");
                    copy(&from, &store, None, &part(2)).expect("begins");
                },
            );
            (goes_on, stops) = (stopped, stops + 1);
            let there = Unfinished::at(&memory, &prefix("to")).expect("reads");
            assert_eq!(there.and_then(|there| there.parts), Some(2), "{at}: {one:?}");
        }
    }
}
