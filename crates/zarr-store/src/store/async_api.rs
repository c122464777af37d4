//! The asynchronous interface of a store.

use std::fmt;
use std::pin::Pin;

use crate::{Key, ObjectMeta, ReadRange, StoreError};

/// The result of an asynchronous operation, to be awaited on any executor.
///
/// It borrows nothing, so it can be moved to another task. Dropping it cancels the operation.
pub type StoreFuture<T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'static>>;

/// Reads of a [`Store`](crate::Store) that do not block the thread; see
/// [`Store::asynchronous`](crate::Store::asynchronous).
///
/// Buffers are passed and returned by value: a dropped future drops its buffer. Otherwise as the
/// method of the same name of [`Store`](crate::Store). Writes, locks and listings block: run them
/// on a thread where that is allowed.
pub trait AsyncStore: fmt::Debug + Send + Sync {
    /// Reads `range` of an object into `buffer`, replacing its contents; `None` if there is no such
    /// object.
    ///
    /// # Errors
    /// As for [`Store::get`](crate::Store::get).
    fn get(&self, key: &Key, range: ReadRange<'_>, buffer: Vec<u8>) -> StoreFuture<Option<Object>>;
}

/// The bytes that were read of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// The requested bytes, in the buffer that was passed.
    pub bytes: Vec<u8>,
    /// Size and version of the whole object.
    pub meta: ObjectMeta,
}
