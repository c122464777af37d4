//! References and shared pointers to stores are stores.

use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::Arc;

use super::{
    AsyncStore, Capabilities, DirEntry, Extension, GetInto, Key, Links, Listing, Location,
    LockGuard, ObjectFile, ObjectMeta, Prefix, PutFrom, PutMode, PutOutcome, ReadRange, Session,
    Sharing, Store, StoreError,
};

macro_rules! forward {
    ($pointer:ty) => {
        impl<S: Store + ?Sized> Store for $pointer {
            fn get(
                &self,
                key: &Key,
                range: ReadRange<'_>,
                out: &mut Vec<u8>,
            ) -> Result<Option<ObjectMeta>, StoreError> {
                (**self).get(key, range, out)
            }

            fn put_opts(
                &self,
                key: &Key,
                pieces: &[IoSlice<'_>],
                mode: PutMode<'_>,
            ) -> Result<PutOutcome, StoreError> {
                (**self).put_opts(key, pieces, mode)
            }

            fn get_into(&self, key: &Key, out: &mut [u8]) -> Result<GetInto, StoreError> {
                (**self).get_into(key, out)
            }

            fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
                (**self).head(key)
            }

            fn delete(&self, key: &Key) -> Result<(), StoreError> {
                (**self).delete(key)
            }

            fn delete_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
                (**self).delete_prefix(prefix)
            }

            fn list(&self, prefix: &Prefix, links: Links) -> Listing<'_, Key> {
                (**self).list(prefix, links)
            }

            fn list_described(&self, prefix: &Prefix) -> Option<Listing<'_, (Key, ObjectMeta)>> {
                (**self).list_described(prefix)
            }

            fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
                (**self).list_dir(prefix)
            }

            fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
                (**self).lock(key)
            }

            fn clean(
                &self,
                prefix: &Prefix,
                removed: &mut dyn FnMut(&str),
            ) -> Result<(), StoreError> {
                (**self).clean(prefix, removed)
            }

            fn without_key(
                &self,
                prefix: &Prefix,
                found: &mut dyn FnMut(&str),
            ) -> Result<(), StoreError> {
                (**self).without_key(prefix, found)
            }

            fn capabilities(&self) -> Capabilities {
                (**self).capabilities()
            }

            fn put_from(
                &self,
                key: &Key,
                from: &dyn Store,
                from_key: &Key,
                expected: &ObjectMeta,
                sharing: Sharing,
            ) -> Result<PutFrom, StoreError> {
                (**self).put_from(key, from, from_key, expected, sharing)
            }

            fn file(&self, key: &Key) -> Result<Option<ObjectFile>, StoreError> {
                (**self).file(key)
            }

            fn file_path(&self, key: &Key) -> Result<Option<PathBuf>, StoreError> {
                (**self).file_path(key)
            }

            fn asynchronous(&self) -> Option<Arc<dyn AsyncStore>> {
                (**self).asynchronous()
            }

            fn session(&self) -> Result<Option<Session>, StoreError> {
                (**self).session()
            }

            fn checked(&self) -> Option<Arc<dyn Store>> {
                (**self).checked()
            }

            fn extension(&self, prefix: &Prefix) -> Option<Extension> {
                (**self).extension(prefix)
            }

            fn location(&self, prefix: &Prefix) -> Option<Location> {
                (**self).location(prefix)
            }
        }
    };
}

forward!(&S);
forward!(Arc<S>);
forward!(Box<S>);
