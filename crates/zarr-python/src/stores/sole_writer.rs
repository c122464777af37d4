//! A store that nobody else writes, as its user says.

use std::sync::Arc;

use zarr_kit::Store;
use zarr_kit::array::store::{AsyncStore, Key, Layer, LockGuard, LockScope, Operation, StoreError};

/// Locks of the inner store count as if they excluded all processes.
#[derive(Debug)]
pub(crate) struct SoleWriter(pub(crate) Arc<dyn Store>);

impl Layer for SoleWriter {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.0
    }

    fn around(&self, store: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        Some(Arc::new(Self(store)))
    }

    fn around_reads(&self, reads: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        Some(reads)
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        let held = self.pass(Operation::Lock, key.as_str(), || self.inner().lock(key))?;
        Ok(LockGuard::new(LockScope::AllProcesses, held))
    }

    fn lock_all(&self, keys: &[Key]) -> Result<LockGuard, StoreError> {
        Ok(LockGuard::new(LockScope::AllProcesses, self.inner().lock_all(keys)?))
    }
}
