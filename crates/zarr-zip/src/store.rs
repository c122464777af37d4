//! The store in an archive.

use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::Arc;

use zarr_store::{
    Capabilities, DirEntry, Key, Links, Listing, Location, LockGuard, ObjectMeta, Operation,
    Prefix, PutMode, PutOutcome, ReadRange, Session, Store, StoreError, TemporaryFile,
    failed_listing, sorted,
};

use super::archive::Archive;
use super::handle::{ATTEMPTS, ZipStore, refuse_deletion};
use super::session::ZipSession;
use super::turn::Turn;

impl Store for ZipStore {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let mut archive = self.known();
        let mut attempt = 0;
        loop {
            attempt += 1;
            let has = |archive: &Arc<Archive>| archive.entries.contains_key(key.as_str());
            if !archive.as_ref().is_some_and(has) {
                archive = self.current()?;
            }
            let entry = archive.as_ref().and_then(|archive| archive.entries.get(key.as_str()));
            let (Some(old), Some(entry)) = (&archive, entry) else {
                out.clear();
                return Ok(None);
            };
            let error = match old.get(key, entry, range, self.documents, out) {
                Ok(()) => return Ok(Some(old.meta(entry))),
                Err(error) => error,
            };
            match self.refreshed()? {
                Some(new) if attempt < ATTEMPTS && !Arc::ptr_eq(&new, old) => archive = Some(new),
                _ => return Err(error),
            }
        }
    }

    /// A session with one put.
    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        let Some(session) = self.session()? else {
            let missing = "way to write to a zip archive in another store: write a local one, and \
                           put it there";
            return Err(StoreError::unsupported(Operation::Put, key, missing));
        };
        let outcome = session.store().put_opts(key, pieces, mode)?;
        session.commit()?;
        Ok(outcome)
    }

    fn session(&self) -> Result<Option<Session>, StoreError> {
        let begin = |path: &PathBuf| ZipSession::begin(self, path.clone());
        self.inner.path.as_ref().map(begin).transpose()
    }

    /// Of the archive as it is now: who keeps what was read asks so whether it still counts.
    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        Ok(self.refreshed()?.and_then(|archive| archive.head(key)))
    }

    fn refuse_inflated(&self, key: &Key, most: u64) -> Result<(), StoreError> {
        let archive = match self.known() {
            Some(known) if known.entries.contains_key(key.as_str()) => Some(known),
            _ => self.current()?,
        };
        let entry = archive.as_ref().and_then(|archive| archive.entries.get(key.as_str()));
        let (Some(archive), Some(entry)) = (&archive, entry) else { return Ok(()) };
        archive.refuse_inflated(key, entry, most)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        match self.head(key)? {
            Some(_) => Err(refuse_deletion(key)),
            None => Ok(()),
        }
    }

    fn list(&self, prefix: &Prefix, _: Links) -> Listing<'_, Key> {
        Box::new(self.described(prefix).map(|found| found.map(|(key, _)| key)))
    }

    fn list_described(&self, prefix: &Prefix) -> Option<Listing<'_, (Key, ObjectMeta)>> {
        Some(self.described(prefix))
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        let children = |archive: Arc<Archive>| sorted::children(&archive.entries, prefix);
        let children = self.current().and_then(|archive| archive.map(children).transpose());
        children.map_or_else(failed_listing, |it| Box::new(it.into_iter().flatten().map(Ok)))
    }

    /// Excludes the threads that use this store. Sessions exclude all others.
    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.inner.locks.lock(key)
    }

    /// Conditional puts work, since there is one session at a time.
    fn capabilities(&self) -> Capabilities {
        let requests = self.inner.store.capabilities().requests_in_flight;
        let is_written = self.inner.path.is_some();
        Capabilities::new()
            .conditional_put(is_written)
            .vectored_put(is_written)
            .requests_in_flight(requests)
            .checksums(true)
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        let archive = self.inner.store.location(&Prefix::from(self.inner.key.clone()))?;
        Some(archive.below(prefix))
    }

    /// Removes the leftover files of dead writers beside this archive, while there is no session.
    fn clean(&self, _: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        let Some(path) = &self.inner.path else { return Ok(()) };
        let _turn = Turn::wait(&self.inner.store, &self.inner.key, path)?;
        TemporaryFile::clean_beside(path, None, removed)
    }

    /// Names such as `../a` are below the root and no other prefix.
    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        if let Some(archive) = self.current()? {
            sorted::names_below(&archive.without_key, prefix).for_each(found);
        }
        Ok(())
    }
}
