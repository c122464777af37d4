//! `zarr_store`, with what is [built here](crate::shuttled).

use std::path::Path;
use std::sync::Arc;

pub(crate) use ::zarr_store::*;

pub(crate) use crate::locks::process_locks::ProcessLocks;
pub(crate) use crate::processes::per_process::PerProcess;

shuttle::lazy_static! {
    /// The locks of local files.
    static ref LOCKS: ProcessLocks = ProcessLocks::new();
}

/// A folder of local files, whose locks are shuttle's.
#[derive(Debug)]
pub(crate) struct LocalStore(::zarr_store::LocalStore);

impl LocalStore {
    pub(crate) fn open(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        ::zarr_store::LocalStore::open(folder).map(Self)
    }
}

impl Layer for LocalStore {
    type Inner = ::zarr_store::LocalStore;

    fn inner(&self) -> &Self::Inner {
        &self.0
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        LOCKS.lock(key)
    }

    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }
}
