//! New nodes in stores that have locks and no conditional puts: see `docs/steps.md`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zarr_array::store::{
    AsyncStore, Capabilities, Key, Layer, LockGuard, MemoryStore, Operation, Prefix, Store,
    StoreError,
};
use zarr_array::{Array, ArrayError};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, DataType};

/// Tells whether something was put without a lock.
#[derive(Debug, Default)]
struct Locks {
    inner: MemoryStore,
    is_held: Arc<AtomicBool>,
    without: AtomicBool,
}

/// Not held any more once it is dropped.
struct Held(Arc<AtomicBool>, #[expect(dead_code, reason = "is dropped")] LockGuard);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Layer for Locks {
    type Inner = MemoryStore;

    fn inner(&self) -> &MemoryStore {
        &self.inner
    }

    fn pass<T>(
        &self,
        operation: Operation,
        _: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if operation == Operation::Put && !self.is_held.load(Ordering::Relaxed) {
            self.without.store(true, Ordering::Relaxed);
        }
        work()
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        let guard = Store::lock(&self.inner, key)?;
        self.is_held.store(true, Ordering::Relaxed);
        Ok(LockGuard::new(guard.scope(), Held(Arc::clone(&self.is_held), guard)))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::new()
    }

    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }
}

fn metadata(length: u64) -> ArrayMetadata {
    ArrayBuilder::new([length], DataType::Uint8).build().expect("valid")
}

#[test]
fn a_new_document_is_put_under_a_lock() {
    let store = Arc::new(Locks::default());
    Array::create(store.clone(), &Prefix::root(), metadata(3)).expect("creates");
    assert!(!store.without.load(Ordering::Relaxed), "put without a lock");
}

#[test]
fn a_document_that_is_there_is_not_replaced() {
    let store = Arc::new(Locks::default());
    Array::create(store.clone(), &Prefix::root(), metadata(3)).expect("creates");
    let again = Array::create(store.clone(), &Prefix::root(), metadata(4));
    assert!(matches!(again, Err(ArrayError::Exists { .. })), "{again:?}");
    assert_eq!(Array::open(store, &Prefix::root()).expect("opens").shape(), [3]);
}
