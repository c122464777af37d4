//! The asynchronous face of a store.

use std::fmt;
use std::pin::Pin;

use super::{Key, ObjectMeta, ReadRange, StoreError};

/// The answer of an asynchronous operation, to be awaited on any executor.
///
/// It borrows nothing, so that it can be moved to another task. Dropped before its end, it is given
/// up and leaves no trace.
pub type StoreFuture<T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'static>>;

/// The reads of a [`Store`](super::Store), without blocking the thread: what
/// [`Store::asynchronous`](super::Store::asynchronous) gives.
///
/// Buffers go in and come back by value: a dropped future takes its buffer with it. All else is as
/// in [`Store`](super::Store), whose methods of the same names say more. Writes, locks and listings
/// block: run them on a thread where that is allowed.
pub trait AsyncStore: fmt::Debug + Send + Sync {
    /// Reads `range` of an object into `buffer`, in place of what it held; `None` if there is no
    /// such object.
    ///
    /// # Errors
    /// As for [`Store::get`](super::Store::get).
    fn get(&self, key: &Key, range: ReadRange<'_>, buffer: Vec<u8>) -> StoreFuture<Option<Object>>;
}

/// What was read of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// The bytes asked for, in the buffer that was given for them.
    pub bytes: Vec<u8>,
    /// Size and version of the whole object.
    pub meta: ObjectMeta,
}
