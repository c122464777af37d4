//! A store that all processes know by the same place.
//!
//! Threads of one process share the locks of all buckets of a name. Here processes are threads, and
//! need a name each; but a copy is resumed only from the place where it began.

use std::io::IoSlice;
use std::sync::Arc;

use zarr_store::{
    Capabilities, DirEntry, Key, KeyFilter, Links, Listing, Location, LockGuard, ObjectMeta,
    Prefix, PutMode, PutOutcome, ReadRange, Store, StoreError,
};

#[derive(Debug)]
pub(crate) struct Placed(pub(crate) Arc<dyn Store>);

impl Store for Placed {
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

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        self.0.head(key)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.0.delete(key)
    }

    fn delete_where(&self, prefix: &Prefix, which: &KeyFilter) -> Result<(), StoreError> {
        self.0.delete_where(prefix, which)
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

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn checked(&self) -> Option<Arc<dyn Store>> {
        self.0.checked().map(|store| Arc::new(Self(store)) as Arc<dyn Store>)
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        Some(Location::new("simulated", prefix.segments()))
    }
}
