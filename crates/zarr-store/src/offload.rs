//! An asynchronous interface for stores that block.

use std::sync::Arc;

use super::runtime::Task;
use super::{AsyncStore, Key, Object, Operation, ReadRange, Store, StoreFuture};

/// An asynchronous interface for a store that blocks: it is read on threads of this crate.
#[derive(Debug, Clone)]
pub struct Offload {
    store: Arc<dyn Store>,
}

impl Offload {
    /// An asynchronous interface of `store`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }
}

impl AsyncStore for Offload {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        mut buffer: Vec<u8>,
    ) -> StoreFuture<Option<Object>> {
        let (store, key, range) = (Arc::clone(&self.store), key.clone(), range.to_owned());
        let name = key.to_string();
        Box::pin(async move {
            let work = move || {
                let meta = store.get(&key, range.borrow(), &mut buffer)?;
                Ok(meta.map(|meta| Object { bytes: buffer, meta }))
            };
            Task::start_blocking(Operation::Get, &name, work)?.await
        })
    }
}
