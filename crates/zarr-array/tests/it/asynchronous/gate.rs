//! A store that stops at an operation until a test lets it go on.

use std::io::IoSlice;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use zarr_array::store::{
    Capabilities, Key, ObjectMeta, PutMode, PutOutcome, ReadRange, Store, StoreError,
};
use zarr_store_tests::hand_on;

#[derive(Debug)]
struct State {
    /// Operations so far.
    operations: u64,
    /// The one that stops, and all after it.
    stop: u64,
}

/// Operations are reads, puts, deletes and locks, counted from 0.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    inner: Arc<dyn Store>,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl Gate {
    pub(super) fn new(inner: Arc<dyn Store>, stop: u64) -> Self {
        let state = State { operations: 0, stop };
        Self { inner, state: Arc::new((Mutex::new(state), Condvar::new())) }
    }

    /// How many operations have come, the one that has stopped included.
    pub(super) fn operations(&self) -> u64 {
        self.state.0.lock().expect("nobody panics").operations
    }

    /// Waits until an operation has stopped; `false` if everything has ended without.
    pub(super) fn reached(&self, has_ended: impl Fn() -> bool) -> bool {
        loop {
            let state = self.state.0.lock().expect("nobody panics");
            if state.operations > state.stop {
                return true;
            }
            drop(state);
            if has_ended() {
                return false;
            }
            thread::yield_now();
        }
    }

    pub(super) fn open(&self) {
        self.state.0.lock().expect("nobody panics").stop = u64::MAX;
        self.state.1.notify_all();
    }

    fn pass(&self) {
        let mut state = self.state.0.lock().expect("nobody panics");
        state.operations += 1;
        let number = state.operations - 1;
        drop(self.state.1.wait_while(state, |state| number >= state.stop).expect("nobody panics"));
    }
}

impl Store for Gate {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        self.pass();
        self.inner.get(key, range, out)
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        self.pass();
        self.inner.put_opts(key, pieces, mode)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.pass();
        self.inner.delete(key)
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    hand_on!(inner: list list_dir lock);
}
