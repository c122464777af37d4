//! References and shared pointers to stores are stores.

use std::io::IoSlice;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::{
    AsyncStore, DirEntry, Key, Links, Location, LockGuard, ObjectMeta, Prefix, PutOutcome,
    ReadRange, Store, StoreError, Version,
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

            fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
                (**self).head(key)
            }

            fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
                (**self).put(key, bytes)
            }

            fn put_vectored(&self, key: &Key, pieces: &[IoSlice<'_>]) -> Result<(), StoreError> {
                (**self).put_vectored(key, pieces)
            }

            fn is_vectored(&self) -> bool {
                (**self).is_vectored()
            }

            fn conditional_put(&self) -> bool {
                (**self).conditional_put()
            }

            fn put_if(
                &self,
                key: &Key,
                bytes: &[u8],
                expected: Option<&Version>,
            ) -> Result<PutOutcome, StoreError> {
                (**self).put_if(key, bytes, expected)
            }

            fn delete(&self, key: &Key) -> Result<(), StoreError> {
                (**self).delete(key)
            }

            fn delete_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
                (**self).delete_prefix(prefix)
            }

            fn list(
                &self,
                prefix: &Prefix,
                links: Links,
                visit: &mut dyn FnMut(Key) -> ControlFlow<()>,
            ) -> Result<(), StoreError> {
                (**self).list(prefix, links, visit)
            }

            fn list_dir(
                &self,
                prefix: &Prefix,
                visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
            ) -> Result<(), StoreError> {
                (**self).list_dir(prefix, visit)
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

            fn requests_in_flight(&self) -> NonZeroUsize {
                (**self).requests_in_flight()
            }

            fn asynchronous(&self) -> Option<Arc<dyn AsyncStore>> {
                (**self).asynchronous()
            }

            fn checked(&self) -> Option<Arc<dyn Store>> {
                (**self).checked()
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
