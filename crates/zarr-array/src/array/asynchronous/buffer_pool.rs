//! A pool of reusable memory.

use std::sync::{Mutex, PoisonError};

/// The items not in use, at most as many as were in use at once.
#[derive(Default)]
pub(super) struct BufferPool<T>(Mutex<Vec<T>>);

impl<T: Default> BufferPool<T> {
    pub(super) fn take(&self) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub(super) fn give(&self, free: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(free);
    }
}
