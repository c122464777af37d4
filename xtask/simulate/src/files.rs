//! A store with locks between processes, as that of local files: whole objects, no conditional puts.

use std::io::{self, IoSlice};
use std::sync::Arc;

use zarr_store::{
    Capabilities, DirEntry, Key, Links, Listing, LockGuard, LockScope, ObjectMeta, Operation,
    Prefix, PutMode, PutOutcome, ReadRange, Store, StoreError, Version,
};

use crate::world::{Connection, Content, Does, Failure, Stored};

/// The store of one process of a client.
#[derive(Debug)]
pub(crate) struct Files(pub(crate) Connection);

impl Files {
    fn run<T>(
        &self,
        (operation, does): (Operation, Does),
        name: &str,
        effect: impl FnOnce(&mut Content) -> T,
    ) -> Result<T, StoreError> {
        let fail = |failure: Failure| StoreError::io(operation, name, io::Error::other(failure));
        self.0.turn().map_err(fail)?;
        let line = format!("{operation} {name}");
        self.0.request(does, &line, effect).map(|(done, _)| done).map_err(fail)
    }

    /// The keys below a prefix.
    fn keys(&self, prefix: &Prefix) -> Result<Vec<Key>, StoreError> {
        let start = if prefix.is_root() { String::new() } else { format!("{prefix}/") };
        let found = self.run((Operation::List, Does::List), prefix.as_str(), |content| {
            let keys = content.objects.keys().filter(|key| key.starts_with(&start));
            keys.cloned().collect::<Vec<_>>()
        })?;
        found.into_iter().map(|key| Ok(Key::new(key)?)).collect()
    }
}

fn meta(stored: &Stored) -> ObjectMeta {
    let size = stored.bytes.len() as u64;
    let version = Some(Version::from_numbers([stored.written, size, 0, 0]));
    ObjectMeta { size, version, modified: None }
}

fn listing<'s, T: Send + 's>(found: Result<Vec<T>, StoreError>) -> Listing<'s, T> {
    match found {
        Ok(found) => Box::new(found.into_iter().map(Ok)),
        Err(error) => Box::new(std::iter::once(Err(error))),
    }
}

impl Store for Files {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let found = self.run((Operation::Get, Does::Read), key.as_str(), |content| {
            content.objects.get(key.as_str()).cloned()
        })?;
        out.clear();
        let Some(found) = found else { return Ok(None) };
        range.copy(key, &found.bytes, out)?;
        Ok(Some(meta(&found)))
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        mode.require_overwrite(key)?;
        let bytes: Arc<[u8]> = pieces.iter().flat_map(|piece| piece.iter().copied()).collect();
        self.run((Operation::Put, Does::Write), key.as_str(), |content| {
            content.put(key.as_str(), bytes)
        })?;
        Ok(PutOutcome::Written)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.run((Operation::Delete, Does::Write), key.as_str(), |content| {
            content.objects.remove(key.as_str());
        })
    }

    fn list(&self, prefix: &Prefix, _: Links) -> Listing<'_, Key> {
        listing(self.keys(prefix))
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        let entries = self.keys(prefix).and_then(|keys| {
            let mut entries = Vec::new();
            for key in keys {
                let name = prefix.strip(&key).unwrap_or_default();
                entries.push(match name.split_once('/') {
                    Some((folder, _)) => DirEntry::Prefix(prefix.join(folder)?),
                    None => DirEntry::Object(key),
                });
            }
            entries.dedup();
            Ok(entries)
        });
        listing(entries)
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        let held = self
            .0
            .lock(key.as_str())
            .map_err(|failure| StoreError::io(Operation::Lock, key, io::Error::other(failure)))?;
        Ok(LockGuard::new(LockScope::AllProcesses, held))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::new()
    }
}
