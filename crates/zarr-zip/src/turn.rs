//! One session of an archive at a time, among threads and processes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use zarr_store::{Key, LockGuard, Operation, PerProcess, Store, StoreError};

use super::write::container;

/// The archives with an open session in this process, and the threads that began them.
static BEGUN: PerProcess<Mutex<HashMap<PathBuf, ThreadId>>> = PerProcess::new();

/// The only session of an archive, until dropped.
#[derive(Debug)]
pub(super) struct Turn {
    // Dropped before the lock, which the next session waits for.
    _begun: Begun,
    _lock: LockGuard,
}

#[derive(Debug)]
struct Begun(PathBuf);

impl Turn {
    /// Waits for the lock of the archive, which is `key` of `store` and the file at `path`.
    ///
    /// A thread that has the turn itself would wait for ever: that is an error.
    pub(super) fn wait(store: &Arc<dyn Store>, key: &Key, path: &Path) -> Result<Self, StoreError> {
        let begun = BEGUN.get(Mutex::default);
        let begun = begun.ok_or_else(|| StoreError::too_many_forks(Operation::Lock, key))?;
        let here = thread::current().id();
        if begun.lock().unwrap_or_else(PoisonError::into_inner).get(path) == Some(&here) {
            let reason = "this thread has a session of the archive already: write through that one, \
                          or end it first";
            return Err(container(path, reason));
        }
        let lock = zarr_store::lock_step!("archive: lock", store.lock(key))?;
        begun.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), here);
        Ok(Self { _begun: Begun(path.to_owned()), _lock: lock })
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(begun) = BEGUN.get(Mutex::default) {
            begun.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
        }
    }
}
