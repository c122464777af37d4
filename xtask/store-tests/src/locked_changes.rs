//! A layer that tells whether objects were changed without a lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zarr_store::{
    AsyncStore, Capabilities, Key, Layer, LockGuard, MemoryStore, Operation, Store, StoreError,
};

/// A store in memory that knows whether any object was put or removed while no lock was held.
#[derive(Debug, Default)]
pub struct LockedChanges {
    inner: MemoryStore,
    has_no_conditions: bool,
    is_held: Arc<AtomicBool>,
    without: AtomicBool,
}

impl LockedChanges {
    /// One that has locks and no conditional puts.
    pub fn without_conditions() -> Self {
        Self { has_no_conditions: true, ..Self::default() }
    }

    /// Whether an object was changed while no lock was held.
    pub fn was_changed_without(&self) -> bool {
        self.without.load(Ordering::Relaxed)
    }

    /// Whether a lock is held now.
    pub fn is_held(&self) -> bool {
        self.is_held.load(Ordering::Relaxed)
    }
}

/// Not held any more once it is dropped.
struct Held(Arc<AtomicBool>, #[expect(dead_code, reason = "is dropped")] LockGuard);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Layer for LockedChanges {
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
        if matches!(operation, Operation::Put | Operation::Delete) && !self.is_held() {
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
        match self.has_no_conditions {
            true => Capabilities::new(),
            false => Store::capabilities(&self.inner),
        }
    }

    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }
}
