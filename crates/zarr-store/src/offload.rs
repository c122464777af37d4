//! An asynchronous face for stores that block.

use std::sync::Arc;

use super::runtime::Task;
use super::{
    AsyncStore, ByteRange, Key, Object, ObjectMeta, Operation, Store, StoreError, StoreFuture,
};

/// An asynchronous face for a store that blocks: it is read on threads of this crate.
#[derive(Debug, Clone)]
pub struct Offload {
    store: Arc<dyn Store>,
}

impl Offload {
    /// The asynchronous face of `store`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    fn read(
        &self,
        key: &Key,
        mut buffer: Vec<u8>,
        read: impl FnOnce(&dyn Store, &Key, &mut Vec<u8>) -> Result<Option<ObjectMeta>, StoreError>
        + Send
        + 'static,
    ) -> StoreFuture<Option<Object>> {
        let store = Arc::clone(&self.store);
        let key = key.clone();
        let name = key.to_string();
        Box::pin(async move {
            let work = move || {
                let meta = read(&*store, &key, &mut buffer)?;
                Ok(meta.map(|meta| Object { bytes: buffer, meta }))
            };
            Task::start_blocking(Operation::Get, &name, work)?.await
        })
    }
}

impl AsyncStore for Offload {
    fn get(&self, key: &Key, buffer: Vec<u8>) -> StoreFuture<Option<Object>> {
        self.read(key, buffer, |store, key, out| store.get_versioned(key, out))
    }

    fn get_ranges(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        buffer: Vec<u8>,
    ) -> StoreFuture<Option<Object>> {
        let ranges = ranges.to_vec();
        self.read(key, buffer, move |store, key, out| store.get_ranges(key, &ranges, out))
    }
}
