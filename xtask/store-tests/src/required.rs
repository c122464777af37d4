//! A store that wraps another and forwards what it must, and nothing else.

use std::io::IoSlice;

use zarr_store::{
    DirEntry, Key, Links, Listing, LockGuard, ObjectMeta, Prefix, PutMode, PutOutcome, ReadRange,
    Store, StoreError,
};

/// Forwards the required methods, and those that refuse by default.
#[derive(Debug)]
pub struct Required<S>(pub S);

impl<S: Store> Store for Required<S> {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        self.0.get(key, range, out)
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        self.0.put_opts(key, pieces, mode)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.0.delete(key)
    }

    fn list(&self, prefix: &Prefix, links: Links) -> Listing<'_, Key> {
        self.0.list(prefix, links)
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        self.0.list_dir(prefix)
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.0.lock(key)
    }
}
