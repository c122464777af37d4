//! A part of a store as a store.

use std::error::Error;
use std::io::IoSlice;
use std::sync::Arc;

use crate::{
    Capabilities, DirEntry, GetInto, Key, KeyFilter, Links, Listing, Location, LockGuard,
    ObjectMeta, ObjectSource, PieceWriter, Prefix, PutMode, PutOutcome, ReadRange, Rewrite,
    RewritePiece, Session, Store, StoreError, failed_listing,
};

/// The objects below a prefix of another store. Errors name keys as the other store does.
#[derive(Debug)]
pub(crate) struct Below {
    store: Arc<dyn Store>,
    base: Prefix,
}

impl Below {
    fn key(&self, key: &Key) -> Result<Key, StoreError> {
        Ok(self.base.key(key.as_str())?)
    }

    fn prefix(&self, prefix: &Prefix) -> Result<Prefix, StoreError> {
        Ok(self.base.join(prefix.as_str())?)
    }

    fn strip(&self, key: &Key) -> Result<Key, StoreError> {
        Ok(Key::new(self.base.strip(key).unwrap_or_default())?)
    }
}

/// The store, or the objects below a prefix of it.
pub(crate) fn below(store: Arc<dyn Store>, base: Prefix) -> Arc<dyn Store> {
    if base.is_root() { store } else { Arc::new(Below { store, base }) }
}

impl Store for Below {
    fn lacks(&self) -> &'static str {
        self.store.lacks()
    }

    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        self.store.get(&self.key(key)?, range, out)
    }

    fn get_into(&self, key: &Key, out: &mut [u8]) -> Result<GetInto, StoreError> {
        self.store.get_into(&self.key(key)?, out)
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        self.store.put_opts(&self.key(key)?, pieces, mode)
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        self.store.head(&self.key(key)?)
    }

    fn refuse_inflated(&self, key: &Key, most: u64) -> Result<(), StoreError> {
        self.store.refuse_inflated(&self.key(key)?, most)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.store.delete(&self.key(key)?)
    }

    fn delete_where(&self, prefix: &Prefix, which: &KeyFilter) -> Result<(), StoreError> {
        let (below, which) = (self.base.clone(), Arc::clone(which));
        let which: KeyFilter = Arc::new(move |key| {
            let own = below.strip(key).and_then(|name| Key::new(name).ok());
            own.is_some_and(|key| which(&key))
        });
        self.store.delete_where(&self.prefix(prefix)?, &which)
    }

    fn list(&self, prefix: &Prefix, links: Links) -> Listing<'_, Key> {
        self.prefix(prefix).map_or_else(failed_listing, |prefix| {
            Box::new(self.store.list(&prefix, links).map(|key| self.strip(&key?)))
        })
    }

    fn list_described(&self, prefix: &Prefix) -> Option<Listing<'_, (Key, ObjectMeta)>> {
        let listed = self.store.list_described(&self.prefix(prefix).ok()?)?;
        Some(Box::new(listed.map(|found| {
            let (key, meta) = found?;
            Ok((self.strip(&key)?, meta))
        })))
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        let entry = |entry| match entry? {
            DirEntry::Object(key) => Ok(DirEntry::Object(self.strip(&key)?)),
            DirEntry::Prefix(prefix) => {
                let key = Key::new(prefix.as_str())?;
                Ok(DirEntry::Prefix(Prefix::from(self.strip(&key)?)))
            }
        };
        self.prefix(prefix)
            .map_or_else(failed_listing, |prefix| Box::new(self.store.list_dir(&prefix).map(entry)))
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.store.lock(&self.key(key)?)
    }

    fn lock_all(&self, keys: &[Key]) -> Result<LockGuard, StoreError> {
        let keys: Result<Vec<Key>, StoreError> = keys.iter().map(|key| self.key(key)).collect();
        self.store.lock_all(&keys?)
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn session(&self) -> Result<Option<Session>, StoreError> {
        let below = |store| Some(below(store, self.base.clone()));
        Ok(self.store.session()?.and_then(|session| session.wrapped(below)))
    }

    fn outer_stores(&self) -> Vec<(Arc<dyn Store>, Prefix)> {
        vec![(Arc::clone(&self.store), self.base.clone())]
    }

    fn out_of_date(&self, cause: &(dyn Error + 'static)) {
        self.store.out_of_date(cause);
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        self.store.location(&self.prefix(prefix).ok()?)
    }

    fn reads_from(&self, prefix: &Prefix, place: &Location) -> Result<bool, StoreError> {
        self.store.reads_from(&self.prefix(prefix)?, place)
    }

    fn rewrite(
        &self,
        key: &Key,
        expected: &ObjectMeta,
        pieces: &[RewritePiece<'_>],
    ) -> Result<Rewrite, StoreError> {
        self.store.rewrite(&self.key(key)?, expected, pieces)
    }

    fn put_in_pieces(&self, key: &Key) -> Result<Option<Box<dyn PieceWriter + '_>>, StoreError> {
        self.store.put_in_pieces(&self.key(key)?)
    }

    fn source(&self, key: &Key) -> Result<Option<ObjectSource>, StoreError> {
        self.store.source(&self.key(key)?)
    }

    fn check_absent_chunks(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.store.check_absent_chunks(&self.prefix(prefix)?)
    }

    fn clean(&self, prefix: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        self.store.clean(&self.prefix(prefix)?, removed)
    }

    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        let start = self.base.key_start();
        self.store.without_key(&self.prefix(prefix)?, &mut |name| {
            found(name.get(start..).unwrap_or(name));
        })
    }
}
