//! An asynchronous face for stores that block.

use std::sync::Arc;

use super::runtime::Task;
use super::{
    AsyncStore, ByteRange, Key, Object, ObjectMeta, Operation, PutOutcome, Store, StoreError,
    StoreFuture, Version,
};

/// A blocking store with an asynchronous face: its operations run on threads of their own.
///
/// A put that is dropped once it has begun is finished all the same.
#[derive(Debug, Clone)]
pub struct Offload<S: ?Sized> {
    store: Arc<S>,
}

impl<S: Store + ?Sized + 'static> Offload<S> {
    /// The asynchronous face of `store`.
    pub fn new(store: Arc<S>) -> Self {
        Self { store }
    }

    fn run<T: Send + 'static>(
        &self,
        operation: Operation,
        key: &Key,
        work: impl FnOnce(&S, &Key) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<T> {
        let store = Arc::clone(&self.store);
        let key = key.clone();
        let name = key.to_string();
        Box::pin(async move {
            Task::start_blocking(operation, &name, move || work(&store, &key))?.await
        })
    }
}

impl<S: Store + ?Sized + 'static> AsyncStore for Offload<S> {
    fn get(&self, key: &Key, mut buffer: Vec<u8>) -> StoreFuture<Option<Object>> {
        self.run(Operation::Get, key, move |store, key| {
            let meta = store.get_versioned(key, &mut buffer)?;
            Ok(meta.map(|meta| Object { bytes: buffer, meta }))
        })
    }

    fn get_ranges(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        mut buffer: Vec<u8>,
    ) -> StoreFuture<Option<Object>> {
        let ranges = ranges.to_vec();
        self.run(Operation::Get, key, move |store, key| {
            let meta = store.get_ranges(key, &ranges, &mut buffer)?;
            Ok(meta.map(|meta| Object { bytes: buffer, meta }))
        })
    }

    fn head(&self, key: &Key) -> StoreFuture<Option<ObjectMeta>> {
        self.run(Operation::Head, key, |store, key| store.head(key))
    }

    fn put(&self, key: &Key, bytes: Vec<u8>) -> StoreFuture<()> {
        self.run(Operation::Put, key, move |store, key| store.put(key, &bytes))
    }

    fn conditional_put(&self) -> bool {
        self.store.conditional_put()
    }

    fn put_if(
        &self,
        key: &Key,
        bytes: Vec<u8>,
        expected: Option<Version>,
    ) -> StoreFuture<PutOutcome> {
        self.run(Operation::Put, key, move |store, key| {
            store.put_if(key, &bytes, expected.as_ref())
        })
    }

    fn delete(&self, key: &Key) -> StoreFuture<()> {
        self.run(Operation::Delete, key, |store, key| store.delete(key))
    }
}
