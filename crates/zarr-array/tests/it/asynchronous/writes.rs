//! Writes that do not block, against writes that do: the same objects, byte for byte.

use std::sync::Arc;
use std::thread;

use zarr_array::store::{
    Fault, FaultStore, Key, LocalStore, MemoryStore, Prefix, Store, StoreExt as _,
};
use zarr_array::{Array, ArrayError, Selection};
use zarr_store_tests::{Objects, folder_in_memory, objects};

use super::face::{Faced, Manner};
use super::gate::Gate;
use super::{RECTILINEAR, REGULAR, at_once, block_on, chains, create, one_by_one, outcome, poll};

pub(super) const EDGES: [u64; 2] = [60, 70];

/// Numbers from a seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % limit
    }

    /// Along one axis: an index, a range, a range with a step, a list with repetitions.
    fn axis(&mut self, extent: u64) -> String {
        let (a, b) = (self.below(extent), self.below(extent + 1));
        let (start, end) = (a.min(b), a.max(b));
        match self.below(6) {
            0 => format!("{a}"),
            1 => ":".to_owned(),
            2 => format!("{start}:{end}"),
            3 => format!("{start}:{end}:{}", self.below(5) + 1),
            4 => format!("::-{}", self.below(9) + 1),
            _ => {
                let list: Vec<String> =
                    (0..self.below(9)).map(|_| self.below(extent).to_string()).collect();
                format!("[{}]", list.join(", "))
            }
        }
    }

    pub(super) fn selection(&mut self) -> Selection {
        let text = EDGES.map(|extent| self.axis(extent)).join(", ");
        Selection::parse(&text, &EDGES).expect("parses")
    }

    /// Elements for it, sometimes all of them the fill value.
    fn elements(&mut self, selection: &Selection) -> Vec<u16> {
        let count: u64 = selection.shape().iter().product();
        let same = self.below(4) == 0;
        (0..count)
            .map(|_| if same { 9 } else { u16::try_from(self.below(1 << 16)).expect("16 bits") })
            .collect()
    }
}

fn bytes(elements: &[u16]) -> Vec<u8> {
    elements.iter().flat_map(|element| element.to_le_bytes()).collect()
}

/// A store in memory with these objects.
pub(super) fn holding(objects: &Objects) -> MemoryStore {
    let store = MemoryStore::new();
    for (key, bytes) in objects {
        store.put(&Key::new(key.as_str()).expect("a key"), bytes).expect("puts");
    }
    store
}

pub(super) fn open(store: Arc<dyn Store>) -> Array {
    Array::open(store, &Prefix::root()).expect("opens")
}

/// Stores of every kind, with the array in them: in memory, the same far away, in a folder, and,
/// where it is compiled, behind a client of object storage.
fn kinds(grid: &str, codecs: &str, folder: &tempfile::TempDir) -> Vec<Arc<dyn Store>> {
    let local = LocalStore::create(folder.path()).expect("makes a store");
    let far = Faced::new(Arc::new(MemoryStore::new()), Manner::Blocking);
    let kinds: Vec<Arc<dyn Store>> = vec![
        Arc::new(MemoryStore::new()),
        Arc::new(far),
        Arc::new(local),
        #[cfg(feature = "object_store")]
        crate::workload::remote(),
    ];
    for store in &kinds {
        create(Arc::clone(store), grid, codecs);
    }
    kinds
}

#[test]
fn every_way_of_writing_stores_the_same() {
    let current = tokio::runtime::Builder::new_current_thread().build().expect("starts");
    let multi = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
    let multi = multi.expect("starts");
    let mut random = Random(1);
    for codecs in chains() {
        for grid in [REGULAR, RECTILINEAR] {
            let folders = [(); 2].map(|()| folder_in_memory());
            // What is removed and what stays as the fill value differs between kinds of stores.
            let [kinds, oracles] = folders.each_ref().map(|folder| kinds(grid, &codecs, folder));
            for round in 0..16 {
                let selection = random.selection();
                let elements = random.elements(&selection);
                let stored = random.below(4) == 0;
                for (store, oracle) in kinds.iter().zip(&oracles) {
                    let blocking = open(Arc::clone(oracle)).with_empty_chunks_stored(stored);
                    blocking.write_as(&selection, &elements).expect("writes");
                    let array = open(Arc::clone(store)).with_empty_chunks_stored(stored);
                    let on_one_thread = array.clone().with_threads(at_once(1)).asynchronous();
                    let array = array.asynchronous();
                    let array = array.with_chunks_in_flight(at_once([1, 2, 16][round % 3]));
                    match round % 4 {
                        0 => current.block_on(array.write(&selection, bytes(&elements))),
                        1 => {
                            let elements: Arc<[u16]> = elements.as_slice().into();
                            let write = array.write_as(&selection, elements);
                            multi.block_on(multi.spawn(write)).expect("ends")
                        }
                        #[cfg(feature = "ndarray")]
                        2 => {
                            let shape: Vec<usize> = selection
                                .shape()
                                .iter()
                                .map(|n| usize::try_from(*n).unwrap())
                                .collect();
                            let elements =
                                ndarray::ArrayD::from_shape_vec(shape.as_slice(), elements.clone());
                            let elements = elements.expect("as many");
                            // The same elements, the last axis slowest in memory.
                            let turned =
                                elements.t().as_standard_layout().into_owned().reversed_axes();
                            let elements = if round % 8 == 2 { elements } else { turned };
                            block_on(array.write_as(&selection, elements))
                        }
                        _ => block_on(on_one_thread.write(&selection, bytes(&elements))),
                    }
                    .expect("writes");
                    assert!(
                        objects(&**store) == objects(&**oracle),
                        "{codecs} {selection:?} {store:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn many_writes_at_once_lose_nothing() {
    // Elements of the same chunks, each written by another task.
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = create(store, REGULAR, &chains()[1]);
    let runtime = tokio::runtime::Builder::new_multi_thread().build().expect("starts");
    let rows: Vec<_> = (0..60)
        .map(|row| {
            let elements: Vec<u16> = (0..70).map(|column| row * 100 + column).collect();
            runtime.spawn(array.asynchronous().write_as((u64::from(row), 0..70), elements))
        })
        .collect();
    for row in rows {
        runtime.block_on(row).expect("ends").expect("writes");
    }
    let found = array.read_as::<u16>(Selection::whole(&EDGES)).expect("reads");
    let wanted: Vec<u16> =
        (0..60).flat_map(|row| (0..70).map(move |column| row * 100 + column)).collect();
    assert_eq!(found, wanted);
}

#[test]
fn what_is_refused_is_refused_before_anything_is_written() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = create(store.clone(), REGULAR, &chains()[0]);
    let before = objects(&*store);
    let outside = block_on(array.asynchronous().write_as([0..61, 0..1], vec![1_u16; 61]));
    assert!(matches!(outside, Err(ArrayError::Selection { .. })), "{outside:?}");
    let short = block_on(array.asynchronous().write([0..2, 0..1], vec![1, 2, 3]));
    assert!(matches!(short, Err(ArrayError::BufferLength { found: 3, expected: 4 })), "{short:?}");
    let other = block_on(array.asynchronous().write_as([0..2, 0..1], [1_i32, 2]));
    assert!(matches!(other, Err(ArrayError::ElementType { .. })), "{other:?}");
    #[cfg(feature = "ndarray")]
    {
        let elements = ndarray::arr2(&[[1_u16, 2]]).into_dyn();
        let turned = block_on(array.asynchronous().write_as([0..2, 0..1], elements));
        assert!(matches!(turned, Err(ArrayError::Shape { .. })), "{turned:?}");
    }
    assert!(objects(&*store) == before);
}

/// Values that would change are told as by a write that blocks.
#[test]
fn a_loss_is_that_of_a_write_that_blocks() {
    let codecs = r#"[{"name": "packbits", "configuration": {"last_bit": 9}}]"#;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [60, 70], "data_type": "uint16",
        "chunk_grid": {REGULAR}, "chunk_key_encoding": {{"name": "default"}}, "fill_value": 9,
        "codecs": {codecs}}}"#
    );
    let metadata = zarr_metadata::ArrayMetadata::from_json(document.as_bytes()).expect("valid");
    let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
    let array = array.with_threads(at_once(1));
    for text in ["3:50, :", "::-3, [4, 4, 60]"] {
        let selection = Selection::parse(text, array.shape()).expect("parses");
        let count = selection.shape().iter().product();
        let elements: Vec<u16> = (0..count).map(|n| if n % 97 == 50 { 1024 } else { 3 }).collect();
        let wanted = array.write_as(&selection, &elements).expect_err("a loss");
        let found =
            block_on(array.asynchronous().write_as(&selection, elements)).expect_err("a loss");
        assert_eq!(found.to_string(), wanted.to_string());
        assert!(found.to_string().contains("would store as 0"), "{found}");
    }
}

/// At every operation, in one thread: the error, what it says of the chunks, and the objects are
/// those of a write that blocks.
#[test]
fn faults_at_each_operation_are_those_of_writes_that_block() {
    let mut ended = 0;
    for codecs in chains() {
        let memory = MemoryStore::new();
        create(Arc::new(memory.clone()), REGULAR, &codecs);
        let before = objects(&memory);
        let selection = Selection::parse("5:45, 10:50", &EDGES).expect("parses");
        let elements: Vec<u16> = (0..40 * 40).map(|n| n * 3 + 1).collect();
        let write = |number, fault, blocking| {
            let inner = holding(&before);
            let store = Arc::new(FaultStore::new(inner.clone()).at(number, fault));
            let array = open_through(&inner, store.clone());
            let array = array.with_threads(at_once(1));
            let written = match blocking {
                true => array.write_as(&selection, &elements),
                false => block_on(one_by_one(&array).write_as(&selection, elements.clone())),
            };
            (outcome(written.map(|()| Vec::new())), objects(&inner), store.operations())
        };
        let (done, _, operations) = write(u64::MAX, Fault::DieBefore, true);
        done.expect("writes");
        for number in 0..operations {
            for fault in [
                Fault::Fail(std::io::ErrorKind::StorageFull),
                Fault::DieBefore,
                Fault::DieAfter,
                Fault::Truncate(3),
            ] {
                let (wanted, found) = (write(number, fault, true), write(number, fault, false));
                assert!(
                    found == wanted,
                    "{codecs} {number} {fault:?}: {:?}, {:?}",
                    found.0,
                    wanted.0
                );
                ended += usize::from(found.0.is_err());
            }
        }
    }
    assert!(ended > 300, "{ended}");
}

/// An array opened past the faults of a store.
pub(super) fn open_through(inner: &MemoryStore, store: Arc<dyn Store>) -> Array {
    let metadata = open(Arc::new(inner.clone())).metadata().clone();
    Array::with_metadata(store, &Prefix::root(), metadata, zarr_codec::Options::new())
        .expect("binds")
}

/// With several threads: what the error calls written is written, and all else but the chunk that
/// failed is as it was.
#[test]
fn an_error_tells_which_chunks_were_written() {
    let memory = MemoryStore::new();
    create(Arc::new(memory.clone()), REGULAR, &chains()[1]);
    let before = objects(&memory);
    let elements = vec![77_u16; 60 * 70];
    let after = {
        let store = holding(&before);
        let array = open(Arc::new(store.clone()));
        array.write_as(Selection::whole(&EDGES), &elements).expect("writes");
        objects(&store)
    };
    let failing = Key::new("c/3/2").expect("a key");
    let fault = Fault::Fail(std::io::ErrorKind::StorageFull);
    for threads in [1, 2, 4] {
        for manner in [None, Some(Manner::Blocking)] {
            let inner = holding(&before);
            let store: Arc<dyn Store> =
                Arc::new(FaultStore::new(inner.clone()).on(failing.clone(), fault));
            let store = match manner {
                None => store,
                Some(manner) => Arc::new(Faced::new(store, manner)),
            };
            let array = open_through(&inner, store).with_threads(at_once(threads));
            let error =
                block_on(array.asynchronous().write_as(Selection::whole(&EDGES), elements.clone()));
            let Err(ArrayError::Incomplete { written, cause }) = error else { panic!("{error:?}") };
            assert!(cause.to_string().contains("c/3/2"), "{cause}");
            // Nothing is written once the error is there: what is found now is what it says.
            let found = objects(&inner);
            assert_eq!(written.total(), 40);
            for (chunks, wanted) in [
                (written.chunks().collect::<Vec<_>>(), &after),
                (written.missing().collect(), &before),
            ] {
                for chunk in chunks {
                    let key = array.layout().key(&chunk).expect("a key").to_string();
                    assert_eq!(found.get(&key), wanted.get(&key), "{key}");
                }
            }
        }
    }
}

/// Dropped at every operation, while it waits for the store: the chunk that is being written is
/// finished, no other is begun, and all memory is given back.
#[test]
fn a_write_can_be_dropped_at_any_operation() {
    for (codecs, far) in [(0, false), (4, false), (1, true)] {
        let codecs = &chains()[codecs];
        let memory = MemoryStore::new();
        create(Arc::new(memory.clone()), REGULAR, codecs);
        let before = objects(&memory);
        let selection = Selection::parse("5:45, 10:50", &EDGES).expect("parses");
        let elements: Vec<u16> = (0..40 * 40).map(|n| n * 3 + 1).collect();
        let after = {
            let store = holding(&before);
            open(Arc::new(store.clone())).write_as(&selection, &elements).expect("writes");
            objects(&store)
        };
        for stop in 0.. {
            let inner = holding(&before);
            let gate = Gate::new(Arc::new(inner.clone()), stop);
            let store: Arc<dyn Store> = match far {
                false => Arc::new(gate.clone()),
                true => Arc::new(Faced::new(Arc::new(gate.clone()), Manner::Blocking)),
            };
            let array = open_through(&inner, store.clone());
            let array = array.with_threads(at_once(1));
            let mut write = one_by_one(&array).write_as(&selection, elements.clone());
            let mut ended = false;
            while !ended && !gate.reached(|| true) {
                ended = matches!(poll(write.as_mut()), std::task::Poll::Ready(Ok(())));
                thread::yield_now();
            }
            drop(write);
            let whole = (chunks_between(&objects(&inner), &before, &after), gate.operations());
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
            // At most the chunk that was being written, which takes few operations.
            let found = chunks_between(&objects(&inner), &before, &after);
            assert!(found <= whole.0 + 1, "{codecs} {stop}");
            assert!(gate.operations() <= whole.1 + 4, "{codecs} {stop}");
            open(Arc::new(inner.clone())).write_as(&selection, &elements).expect("writes");
            assert!(objects(&inner) == after, "{codecs} {stop}");
        }
    }
}

/// How many objects are new; each is as it was or as it should be.
pub(super) fn chunks_between(found: &Objects, before: &Objects, after: &Objects) -> usize {
    let keys = found.keys().chain(before.keys()).chain(after.keys());
    let keys: std::collections::BTreeSet<_> = keys.collect();
    keys.into_iter()
        .filter(|key| {
            let (is, was, should) = (found.get(*key), before.get(*key), after.get(*key));
            assert!(is == was || is == should, "{key}");
            is != was
        })
        .count()
}
