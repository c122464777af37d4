//! Stores in which shards are rewritten.

use std::io::IoSlice;
use std::path::Path;
use std::sync::{Arc, Mutex};

use zarr_array::store::{
    AsyncStore, Key, Layer, LocalStore, LockGuard, LockScope, MemoryStore, PutMode, PutOutcome,
    Store, StoreError, StoreExt as _,
};

/// A store that only conditional puts protect from other processes, as object storage.
#[derive(Debug, Default)]
pub(super) struct Conditional {
    inner: MemoryStore,
    /// Another shard, which is put before the next put of one.
    pub(super) other: Mutex<Option<Vec<u8>>>,
}

impl Layer for Conditional {
    type Inner = MemoryStore;

    fn inner(&self) -> &MemoryStore {
        &self.inner
    }

    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    fn lock(&self, _: &Key) -> Result<LockGuard, StoreError> {
        Ok(LockGuard::new(LockScope::Process, ()))
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        let other = match key.as_str().starts_with("c/") {
            true => self.other.lock().expect("no panic").take(),
            false => None,
        };
        if let Some(other) = other {
            self.inner.put(key, &other)?;
        }
        Store::put_opts(&self.inner, key, pieces, mode)
    }
}

/// One store of each kind: it assembles files, or has locks, or conditional puts.
pub(super) fn stores(folder: &Path) -> Vec<Arc<dyn Store>> {
    vec![
        Arc::new(LocalStore::create(folder).expect("a store")),
        Arc::new(MemoryStore::new()),
        Arc::new(Conditional::default()),
    ]
}
