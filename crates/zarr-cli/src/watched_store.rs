//! A store that tells what is read from another and written to it: for measurements and progress.

use std::fmt::Debug;
use std::io::IoSlice;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zarr_kit::Prefix;
use zarr_kit::array::store::{
    Capabilities, DirEntry, Extension, GetInto, Key, Links, Listing, Location, LockGuard,
    ObjectMeta, PutMode, PutOutcome, ReadRange, Store, StoreError,
};

/// Is told, by any number of threads at once.
pub(crate) trait Watch: Debug + Send + Sync {
    /// So many bytes of an object have been read, or there is no such object.
    fn got(&self, _bytes: Option<u64>, _took: Duration) {}

    /// An object of so many bytes has been written.
    fn put(&self, _key: &Key, _bytes: u64) {}

    /// An object has been removed, or was not there.
    fn deleted(&self, _key: &Key) {}
}

/// Forwards all that commands on arrays need. What it does not forward has a default that is slower
/// at most.
#[derive(Debug)]
pub(crate) struct WatchedStore {
    pub(crate) inner: Arc<dyn Store>,
    pub(crate) watch: Arc<dyn Watch>,
}

impl Store for WatchedStore {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let begun = Instant::now();
        let found = self.inner.get(key, range, out)?;
        let bytes = u64::try_from(out.len()).unwrap_or(u64::MAX);
        self.watch.got(found.as_ref().map(|_| bytes), begun.elapsed());
        Ok(found)
    }

    fn get_into(&self, key: &Key, out: &mut [u8]) -> Result<GetInto, StoreError> {
        let begun = Instant::now();
        let read = self.inner.get_into(key, out)?;
        let bytes = match read {
            GetInto::Unsupported => return Ok(read),
            GetInto::Missing => None,
            GetInto::Read(_) => Some(u64::try_from(out.len()).unwrap_or(u64::MAX)),
        };
        self.watch.got(bytes, begun.elapsed());
        Ok(read)
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        let outcome = self.inner.put_opts(key, pieces, mode)?;
        let bytes = pieces.iter().map(|piece| u64::try_from(piece.len()).unwrap_or(u64::MAX)).sum();
        self.watch.put(key, bytes);
        Ok(outcome)
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        self.inner.head(key)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.inner.delete(key)?;
        self.watch.deleted(key);
        Ok(())
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.inner.delete_prefix(prefix)
    }

    fn list(&self, prefix: &Prefix, links: Links) -> Listing<'_, Key> {
        self.inner.list(prefix, links)
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        self.inner.list_dir(prefix)
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.inner.lock(key)
    }

    fn clean(&self, prefix: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        self.inner.clean(prefix, removed)
    }

    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        self.inner.without_key(prefix, found)
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        self.inner.location(prefix)
    }

    fn extension(&self, prefix: &Prefix) -> Option<Extension> {
        self.inner.extension(prefix)
    }
}
