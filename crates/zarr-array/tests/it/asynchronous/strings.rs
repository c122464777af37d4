//! Reading and writing strings without blocking, against what does.

use std::sync::Arc;
use std::thread;

use zarr_array::store::{
    Fault, FaultStore, Key, LocalStore, MemoryStore, Prefix, Store, UpdatePolicy,
};
use zarr_array::{Array, ArrayError, Selection};
use zarr_metadata::{ArrayBuilder, DataType};
use zarr_store_tests::objects;

use super::face::{Faced, Manner};
use super::gate::Gate;
use super::writes::{EDGES, Random, chunks_between, holding, open, open_through};
use super::{at_once, block_on, one_by_one, outcome, poll};

/// An array of strings, some of which are written.
fn create(store: Arc<dyn Store>) -> Array {
    let metadata = ArrayBuilder::new(EDGES, DataType::String).chunk_shape([8, 14]).fill_value("?");
    let metadata = metadata.build().expect("valid");
    let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
    let strings: Vec<String> = (0..44 * 70).map(|n| "é".repeat(n % 11)).collect();
    array.write_as([0..44, 0..70], &strings).expect("writes");
    array
}

/// Strings are read as by reads that block, and a read of them can be dropped.
#[test]
fn strings_are_those_of_reads_that_block() {
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = create(memory.clone());
    let mut random = Random(2);
    for round in 0..60 {
        let selection = random.selection();
        let wanted = array.read_as::<String>(&selection).expect("reads");
        for face in super::faces(&memory) {
            let array = open(face).asynchronous();
            let array = array.with_chunks_in_flight(at_once([1, 2, 16][round % 3]));
            let found = block_on(array.read_as::<String>(&selection)).expect("reads");
            assert_eq!(found, wanted);
            let found = block_on(array.read_as::<Vec<u8>>(&selection)).expect("reads");
            assert!(found.iter().eq(wanted.iter().map(str::as_bytes)));
        }
    }
    let outside = block_on(array.asynchronous().read_as::<String>([0..61, 0..1]));
    assert!(matches!(outside, Err(ArrayError::Selection { .. })), "{outside:?}");
    for stop in 0..25 {
        let gate = Gate::new(memory.clone(), stop);
        let store: Arc<dyn Store> = Arc::new(gate.clone());
        let array = Array::with_metadata(
            store.clone(),
            &Prefix::root(),
            array.metadata().clone(),
            zarr_codec::Options::new(),
        );
        let array = array.expect("binds");
        let mut read = one_by_one(&array).read_as::<String>(Selection::whole(&EDGES));
        while !gate.reached(|| true) {
            assert!(poll(read.as_mut()).is_pending());
            thread::yield_now();
        }
        drop(read);
        gate.open();
        drop(array);
        while Arc::strong_count(&store) > 1 {
            thread::yield_now();
        }
        assert_eq!(gate.operations(), stop + 1);
    }
}

/// Strings for a selection, sometimes all of them the fill value.
fn strings(random: &mut Random, selection: &Selection) -> Vec<String> {
    let count: u64 = selection.shape().iter().product();
    let same = random.below(4) == 0;
    let mut string = |n: u64| match same {
        true => "?".to_owned(),
        false => format!("{n}{}", "ü".repeat(usize::try_from(random.below(30)).expect("small"))),
    };
    (0..count).map(&mut string).collect()
}

#[test]
fn strings_are_written_as_by_writes_that_block() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
    let runtime = runtime.expect("starts");
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("makes a folder"));
    let [kinds, oracles] = folders.each_ref().map(|folder| {
        let local = LocalStore::create(folder.path()).expect("makes a store");
        let far = Faced::new(Arc::new(MemoryStore::new()), Manner::Blocking);
        let kinds: Vec<Arc<dyn Store>> = vec![
            Arc::new(MemoryStore::new()),
            Arc::new(far),
            Arc::new(local),
            #[cfg(feature = "object_store")]
            crate::workload::remote(),
        ];
        kinds.iter().for_each(|store| drop(create(Arc::clone(store))));
        kinds
    });
    let mut random = Random(3);
    for round in 0..24 {
        let selection = random.selection();
        let strings = strings(&mut random, &selection);
        let stored = random.below(4) == 0;
        for (store, oracle) in kinds.iter().zip(&oracles) {
            let set = |array: Array| {
                let array = array.with_update_policy(UpdatePolicy::AcceptSingleProcess);
                array.with_empty_chunks_stored(stored)
            };
            set(open(Arc::clone(oracle))).write_as(&selection, &strings).expect("writes");
            let array = set(open(Arc::clone(store))).asynchronous();
            let array = array.with_chunks_in_flight(at_once([1, 2, 16][round % 3]));
            match round % 3 {
                0 => block_on(array.write_as(&selection, strings.clone())),
                1 => {
                    let strings: Arc<[String]> = strings.as_slice().into();
                    let write = array.write_as(&selection, strings);
                    runtime.block_on(runtime.spawn(write)).expect("ends")
                }
                _ => {
                    let bytes: Vec<Vec<u8>> =
                        strings.iter().map(|string| string.clone().into_bytes()).collect();
                    block_on(array.write_as(&selection, bytes))
                }
            }
            .expect("writes");
            assert!(objects(&**store) == objects(&**oracle), "{selection:?} {store:?}");
        }
    }
}

#[test]
fn wrong_strings_are_refused_before_anything_is_written() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = create(store.clone());
    let before = objects(&*store);
    let outside = block_on(array.asynchronous().write_as([0..61, 0..1], vec!["a"; 61]));
    assert!(matches!(outside, Err(ArrayError::Selection { .. })), "{outside:?}");
    let short = block_on(array.asynchronous().write_as([0..2, 0..2], vec!["a"; 3]));
    assert!(matches!(short, Err(ArrayError::ElementCount { found: 3, .. })), "{short:?}");
    assert!(objects(&*store) == before);
    let numbers = super::create(Arc::new(MemoryStore::new()), super::REGULAR, &super::chains()[0]);
    let numbers = block_on(numbers.asynchronous().write_as([0..1, 0..1], ["a"]));
    assert!(matches!(numbers, Err(ArrayError::ElementType { .. })), "{numbers:?}");
}

/// At every operation: the error, what it says of the chunks, and the objects are those of a
/// write that blocks.
#[test]
fn faults_in_writes_of_strings_are_those_of_writes_that_block() {
    let memory = MemoryStore::new();
    create(Arc::new(memory.clone()));
    let before = objects(&memory);
    let selection = Selection::parse("5:45, 10:50", &EDGES).expect("parses");
    let strings: Vec<String> = (0..40 * 40).map(|n| n.to_string()).collect();
    let write = |number, fault, blocking| {
        let inner = holding(&before);
        let store = Arc::new(FaultStore::new(inner.clone()).at(number, fault));
        let array = open_through(&inner, store.clone());
        let array = array.with_threads(at_once(1));
        let written = match blocking {
            true => array.write_as(&selection, &strings),
            false => block_on(one_by_one(&array).write_as(&selection, strings.clone())),
        };
        (outcome(written.map(|()| Vec::new())), objects(&inner), store.operations())
    };
    let (done, _, operations) = write(u64::MAX, Fault::DieBefore, true);
    done.expect("writes");
    assert!(operations > 20, "{operations}");
    for number in 0..operations {
        for fault in [
            Fault::Fail(std::io::ErrorKind::StorageFull),
            Fault::DieBefore,
            Fault::DieAfter,
            Fault::Truncate(3),
        ] {
            let (wanted, found) = (write(number, fault, true), write(number, fault, false));
            assert!(found == wanted, "{number} {fault:?}: {:?}, {:?}", found.0, wanted.0);
        }
    }
    let failing = FaultStore::new(memory.clone())
        .on(Key::new("c/3/2").expect("a key"), Fault::Fail(std::io::ErrorKind::StorageFull));
    let array = open_through(&memory, Arc::new(failing)).with_threads(at_once(2));
    let error = block_on(array.asynchronous().write_as(&selection, strings));
    assert!(matches!(error, Err(ArrayError::Incomplete { .. })), "{error:?}");
}

/// Dropped at every operation: the chunk that is being written is finished, and no other is begun.
#[test]
fn a_write_of_strings_can_be_dropped_at_any_operation() {
    let memory = MemoryStore::new();
    create(Arc::new(memory.clone()));
    let before = objects(&memory);
    let selection = Selection::parse("5:45, 10:50", &EDGES).expect("parses");
    let strings: Vec<String> = (0..40 * 40).map(|n| n.to_string()).collect();
    let after = {
        let store = holding(&before);
        open(Arc::new(store.clone())).write_as(&selection, &strings).expect("writes");
        objects(&store)
    };
    for stop in 0.. {
        let inner = holding(&before);
        let gate = Gate::new(Arc::new(inner.clone()), stop);
        let store: Arc<dyn Store> = Arc::new(gate.clone());
        let array = open_through(&inner, store.clone());
        let mut write = one_by_one(&array).write_as(&selection, strings.clone());
        let mut ended = false;
        while !ended && !gate.reached(|| true) {
            ended = matches!(poll(write.as_mut()), std::task::Poll::Ready(Ok(())));
            thread::yield_now();
        }
        drop(write);
        let whole = chunks_between(&objects(&inner), &before, &after);
        gate.open();
        drop(array);
        while Arc::strong_count(&store) > 1 {
            thread::yield_now();
        }
        if ended {
            assert!(objects(&inner) == after);
            assert!(stop > 20, "{stop}");
            break;
        }
        let found = chunks_between(&objects(&inner), &before, &after);
        assert!(found <= whole + 1, "{stop}");
    }
}
