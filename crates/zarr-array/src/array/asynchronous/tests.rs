//! Tests that need to block the decoding threads.

use std::num::NonZeroUsize;
use std::panic::{self, AssertUnwindSafe};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use futures_executor::block_on;
use futures_util::future::join_all;
use zarr_metadata::ArrayMetadata;

use crate::array::Array;
use crate::error::ArrayError;
use crate::selection::Selection;
use crate::store::{AsyncStore, Key, MemoryStore, Object, Prefix, ReadRange, Store, StoreFuture};
use crate::threads::{DECODERS, FAST, cores};
use crate::transfer::{Selected, Transfer};

/// Answers at once, and counts its answers.
#[derive(Debug, Default)]
struct Ready {
    store: MemoryStore,
    requests: AtomicUsize,
}

impl AsyncStore for Ready {
    fn get(&self, key: &Key, range: ReadRange<'_>, _: Vec<u8>) -> StoreFuture<Option<Object>> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let mut bytes = Vec::new();
        let found = self.store.get(key, range, &mut bytes);
        let found = found.map(|meta| meta.map(|meta| Object { bytes, meta }));
        Box::pin(std::future::ready(found))
    }
}

/// Blocks all threads of both pools until it is dropped.
struct Busy {
    state: Arc<(Mutex<(usize, bool)>, Condvar)>,
    tasks: Vec<Pin<Box<dyn Future<Output = std::io::Result<()>>>>>,
    _only: MutexGuard<'static, ()>,
}

impl Busy {
    fn new() -> Self {
        /// Two tests with half of the threads each would deadlock.
        static ONLY: Mutex<()> = Mutex::new(());
        let only = ONLY.lock().unwrap_or_else(PoisonError::into_inner);
        let state = Arc::new((Mutex::new((0, false)), Condvar::new()));
        let mut tasks: Vec<Pin<Box<dyn Future<Output = _>>>> = Vec::new();
        let pools = [&DECODERS, &FAST];
        for pool in pools.into_iter().cycle().take(2 * cores().get()) {
            let state = Arc::clone(&state);
            let mut task = Box::pin(pool.run(move || {
                let mut held = state.0.lock().unwrap();
                held.0 += 1;
                state.1.notify_all();
                drop(state.1.wait_while(held, |held| !held.1).unwrap());
            }));
            assert!(poll(task.as_mut()).is_pending());
            tasks.push(task);
        }
        let held = state.0.lock().unwrap();
        drop(state.1.wait_while(held, |held| held.0 < tasks.len()).unwrap());
        Self { state, tasks, _only: only }
    }

    fn release(&mut self) {
        self.state.0.lock().unwrap().1 = true;
        self.state.1.notify_all();
        for task in block_on(join_all(self.tasks.drain(..))) {
            task.unwrap();
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.release();
    }
}

fn poll<T>(future: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Ten chunks, packed; each element is one more than the one before.
fn array() -> (Arc<Ready>, Array) {
    let document = br#"{"zarr_format": 3, "node_type": "array", "shape": [100],
      "data_type": "uint8", "fill_value": 7, "codecs": [{"name": "packbits"}],
      "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10]}},
      "chunk_key_encoding": {"name": "default"}}"#;
    let face = Arc::new(Ready::default());
    let metadata = ArrayMetadata::from_json(document).unwrap();
    let array = Array::create(Arc::new(face.store.clone()), &Prefix::root(), metadata).unwrap();
    array.write(0..100, &(0..100).collect::<Vec<u8>>()).unwrap();
    (face, array)
}

/// The whole array, for a buffer of the same length.
fn all(array: &Array) -> Transfer<'_> {
    Transfer::new(Selected::new(array, &Selection::from(0..100)).unwrap(), 100).unwrap()
}

#[test]
fn the_poller_only_asks_while_others_decode() {
    let (face, array) = array();
    for threads in [1, 64] {
        face.requests.store(0, Ordering::SeqCst);
        let mut busy = Busy::new();
        let mut array = array.clone().with_threads(NonZeroUsize::new(threads).unwrap());
        array.in_flight = NonZeroUsize::new(4);
        let transfer = all(&array);
        let mut read = pin!(array.read_from(Some(face.clone()), &transfer, vec![0; 100]));
        for _ in 0..3 {
            // Four answers have arrived, and no more are requested, because no thread decodes.
            assert!(poll(read.as_mut()).is_pending());
            assert_eq!(face.requests.load(Ordering::SeqCst), 4);
        }
        busy.release();
        assert_eq!(block_on(read).unwrap(), (0..100).collect::<Vec<u8>>());
        assert_eq!(face.requests.load(Ordering::SeqCst), 10);
    }
}

#[test]
fn a_dropped_read_leaves_nothing_behind() {
    let (face, array) = array();
    let mut busy = Busy::new();
    let shared = Arc::downgrade(&array.shared);
    let transfer = all(&array);
    let mut read = Box::pin(array.read_from(Some(face.clone()), &transfer, vec![0; 100]));
    let mut other = array.asynchronous().read(0..100);
    assert!(poll(read.as_mut()).is_pending() && poll(other.as_mut()).is_pending());
    let asked = face.requests.load(Ordering::SeqCst);
    drop((read, other));
    drop(transfer);
    busy.release();
    drop(array);
    // Cancelled decoding is removed when a thread gets to it.
    while shared.strong_count() > 0 {
        thread::yield_now();
    }
    assert_eq!(face.requests.load(Ordering::SeqCst), asked);
}

#[test]
fn a_panic_goes_on_in_whoever_waits() {
    for round in 0..2 * cores().get() {
        let work = DECODERS.run(move || {
            panic::resume_unwind(Box::new(round));
        });
        let caught = panic::catch_unwind(AssertUnwindSafe(|| block_on(work)));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&round));
    }
    assert_eq!(block_on(DECODERS.run(|| 5)).unwrap(), 5);
}

#[test]
fn what_waits_on_a_thread_of_the_pool_for_another_is_done_there() {
    // As many as there are threads; each waits for one more.
    let work = (0..2 * cores().get()).map(|number| {
        FAST.run(move || {
            let more = FAST.run(move || number);
            block_on(more).unwrap()
        })
    });
    let done: Vec<usize> = block_on(join_all(work)).into_iter().map(Result::unwrap).collect();
    assert_eq!(done, (0..done.len()).collect::<Vec<_>>());
}

#[test]
fn a_buffer_is_used_again_if_it_is_large_enough() {
    let (_, array) = array();
    let region = Selection::from(5..25);
    for (length, capacity, same) in [(100, 100, true), (0, 20, true), (3, 19, false)] {
        let mut buffer = Vec::with_capacity(capacity);
        buffer.resize(length, 0xff);
        let address = buffer.as_ptr();
        let found = block_on(array.asynchronous().read_into(&region, buffer)).unwrap();
        assert_eq!(found, (5..25).collect::<Vec<u8>>());
        assert!(!same || (found.as_ptr(), found.capacity()) == (address, capacity));
    }
    let beyond = block_on(array.asynchronous().read(99..101)).unwrap_err();
    assert!(matches!(beyond, ArrayError::Selection { .. }), "{beyond}");
}
