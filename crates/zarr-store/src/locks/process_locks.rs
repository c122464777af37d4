//! Locks for stores without their own locks.

use std::sync::Arc;

use crate::locks::lock_table::LockTable;
use crate::{Key, LockGuard, LockScope, StoreError};

/// Locks among the threads of this process, for [`Store::lock`](crate::Store::lock) of a store
/// without its own locks.
///
/// A clone shares the locks. A forked process starts with all locks free.
///
/// # Examples
/// ```
/// use zarr_store::{Key, LockScope, ProcessLocks};
///
/// let locks = ProcessLocks::new();
/// let guard = locks.lock(&Key::new("c/0")?)?;
/// assert_eq!(guard.scope(), LockScope::Process);
/// # Ok::<(), zarr_store::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ProcessLocks(Arc<LockTable<Key>>);

impl ProcessLocks {
    /// A set of free locks.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(LockTable::new()))
    }

    /// Waits until no other thread holds the lock of `key`, and takes it.
    ///
    /// # Errors
    /// [`StoreError::Forked`] if this process has more forked ancestors with locks than there is
    /// room for.
    pub fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        let held = self.0.lock(key.clone()).map_err(|cause| cause.of(key))?;
        Ok(LockGuard::new(LockScope::Process, held))
    }
}

impl Default for ProcessLocks {
    fn default() -> Self {
        Self::new()
    }
}
