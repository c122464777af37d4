//! The asynchronous face of a store.

use std::fmt;
use std::pin::Pin;

use super::{ByteRange, Key, MemoryStore, ObjectMeta, PutOutcome, Store, StoreError, Version};

/// The answer of an asynchronous operation, to be awaited on any executor.
///
/// It borrows nothing, so that it can be moved to another task. Dropped before its end, it is given
/// up: a read leaves no trace, a write has taken effect whole or not at all.
pub type StoreFuture<T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'static>>;

/// The operations of a [`Store`] that move bytes, without blocking the thread.
///
/// Buffers go in and come back by value: a dropped future takes its buffer with it. All else is as
/// in [`Store`], whose methods of the same names say more.
pub trait AsyncStore: fmt::Debug + Send + Sync {
    /// Reads the whole object into `buffer`, in place of what it held; `None` if there is none.
    ///
    /// # Errors
    /// As for [`Store::get_versioned`].
    fn get(&self, key: &Key, buffer: Vec<u8>) -> StoreFuture<Option<Object>>;

    /// Reads parts of one object into `buffer`, one after another; `None` if there is no object.
    ///
    /// # Errors
    /// As for [`Store::get_ranges`].
    fn get_ranges(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        buffer: Vec<u8>,
    ) -> StoreFuture<Option<Object>>;

    /// Size and version of an object, `None` if there is none.
    ///
    /// # Errors
    /// As for [`Store::head`].
    fn head(&self, key: &Key) -> StoreFuture<Option<ObjectMeta>>;

    /// Writes the whole object, in place of any before it.
    ///
    /// # Errors
    /// As for [`Store::put`].
    fn put(&self, key: &Key, bytes: Vec<u8>) -> StoreFuture<()>;

    /// Whether [`put_if`](AsyncStore::put_if) works and is atomic between processes.
    fn conditional_put(&self) -> bool;

    /// Writes the whole object only if its version is still `expected`; `None` expects that there
    /// is no object.
    ///
    /// # Errors
    /// As for [`Store::put_if`].
    fn put_if(
        &self,
        key: &Key,
        bytes: Vec<u8>,
        expected: Option<Version>,
    ) -> StoreFuture<PutOutcome>;

    /// Removes the object; a missing one is no error.
    ///
    /// # Errors
    /// As for [`Store::delete`].
    fn delete(&self, key: &Key) -> StoreFuture<()>;
}

/// What was read of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// The bytes asked for, in the buffer that was given for them.
    pub bytes: Vec<u8>,
    /// Size and version of the whole object.
    pub meta: ObjectMeta,
}

/// Nothing here ever waits, so that every future is ready at once.
impl AsyncStore for MemoryStore {
    fn get(&self, key: &Key, mut buffer: Vec<u8>) -> StoreFuture<Option<Object>> {
        let found = self.get_versioned(key, &mut buffer);
        ready(found.map(|meta| meta.map(|meta| Object { bytes: buffer, meta })))
    }

    fn get_ranges(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        mut buffer: Vec<u8>,
    ) -> StoreFuture<Option<Object>> {
        let found = Store::get_ranges(self, key, ranges, &mut buffer);
        ready(found.map(|meta| meta.map(|meta| Object { bytes: buffer, meta })))
    }

    fn head(&self, key: &Key) -> StoreFuture<Option<ObjectMeta>> {
        ready(Store::head(self, key))
    }

    fn put(&self, key: &Key, bytes: Vec<u8>) -> StoreFuture<()> {
        ready(Store::put(self, key, &bytes))
    }

    fn conditional_put(&self) -> bool {
        true
    }

    fn put_if(
        &self,
        key: &Key,
        bytes: Vec<u8>,
        expected: Option<Version>,
    ) -> StoreFuture<PutOutcome> {
        ready(Store::put_if(self, key, &bytes, expected.as_ref()))
    }

    fn delete(&self, key: &Key) -> StoreFuture<()> {
        ready(Store::delete(self, key))
    }
}

fn ready<T: Send + 'static>(result: Result<T, StoreError>) -> StoreFuture<T> {
    Box::pin(std::future::ready(result))
}
