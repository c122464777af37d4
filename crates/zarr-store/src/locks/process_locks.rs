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
pub struct ProcessLocks(Arc<LockTable<String>>);

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
        self.lock_below("", key)
    }

    /// As [`lock`](Self::lock), for a store whose root is at `root` in what the locks are of: stores with
    /// other roots share the locks of the same objects. The root may have characters that a key has not.
    ///
    /// # Errors
    /// As for [`lock`](Self::lock).
    ///
    /// # Examples
    /// ```
    /// use zarr_store::{Key, ProcessLocks};
    ///
    /// let locks = ProcessLocks::new();
    /// // Nobody else can lock `my data/a/c/0` meanwhile.
    /// let guard = locks.lock_below("my data", &Key::new("a/c/0")?)?;
    /// # drop(guard);
    /// # Ok::<(), zarr_store::StoreError>(())
    /// ```
    pub fn lock_below(&self, root: &str, key: &Key) -> Result<LockGuard, StoreError> {
        let name = if root.is_empty() { key.to_string() } else { format!("{root}/{key}") };
        let held = self.0.lock(name).map_err(|cause| cause.of(key))?;
        Ok(LockGuard::new(LockScope::Process, held))
    }
}

impl Default for ProcessLocks {
    fn default() -> Self {
        Self::new()
    }
}
