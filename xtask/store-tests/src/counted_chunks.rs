//! A layer that counts what is read and put of chunks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarr_store::{AsyncStore, Key, Layer, ObjectMeta, Operation, ReadRange, Store, StoreError};

/// Counts the bytes that are read of objects below `c/`, and how often such objects are put.
#[derive(Debug, Default)]
pub struct CountedChunks<S> {
    /// The store that is counted.
    pub inner: S,
    read: AtomicU64,
    puts: AtomicU64,
}

impl<S> CountedChunks<S> {
    /// Counts from now on.
    pub fn new(inner: S) -> Self {
        Self { inner, read: AtomicU64::new(0), puts: AtomicU64::new(0) }
    }

    /// The bytes that were read and the puts since the last call.
    pub fn taken(&self) -> [u64; 2] {
        [&self.read, &self.puts].map(|count| count.swap(0, Ordering::Relaxed))
    }
}

fn is_chunk(name: &str) -> bool {
    name.starts_with("c/")
}

impl<S: Store> Layer for CountedChunks<S> {
    type Inner = S;

    fn inner(&self) -> &S {
        &self.inner
    }

    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let found = Store::get(&self.inner, key, range, out)?;
        if is_chunk(key.as_str()) {
            self.read.fetch_add(out.len() as u64, Ordering::Relaxed);
        }
        Ok(found)
    }

    fn pass<T>(
        &self,
        operation: Operation,
        name: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if operation == Operation::Put && is_chunk(name) {
            self.puts.fetch_add(1, Ordering::Relaxed);
        }
        work()
    }
}
