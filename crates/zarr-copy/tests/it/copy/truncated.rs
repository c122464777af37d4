//! Sources that send other bytes of an object than they list.

use std::sync::Arc;

use zarr_array::store::{
    Key, Links, Listing, MemoryStore, ObjectMeta, Prefix, ReadRange, Store, StoreError,
    StoreExt as _,
};
use zarr_copy::{CopyOptions, TransferError};
use zarr_store_tests::{hand_on, key};

use super::ends::{array, copy};

/// Changes a chunk just before it is read, or sends half of it.
#[derive(Debug)]
struct Other {
    inner: MemoryStore,
    changed: Option<&'static [u8]>,
}

impl Store for Other {
    hand_on!(inner: head put_opts delete list list_dir lock);

    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let is_chunk = key.as_str().starts_with("a/c/");
        if let Some(changed) = self.changed.filter(|_| is_chunk) {
            self.inner.put(key, changed)?;
        }
        let found = self.inner.get(key, range, out)?;
        if is_chunk && self.changed.is_none() {
            out.truncate(out.len() / 2);
        }
        Ok(found)
    }

    fn list_described(&self, prefix: &Prefix) -> Option<Listing<'_, (Key, ObjectMeta)>> {
        let described = |key: Result<Key, StoreError>| {
            let key = key?;
            let meta = self.inner.head(&key)?.expect("is there");
            Ok((key, meta))
        };
        Some(Box::new(self.inner.list(prefix, Links::Follow).map(described)))
    }
}

/// A source with the array `a`.
fn source(changed: Option<&'static [u8]>) -> Arc<dyn Store> {
    let inner = MemoryStore::new();
    let shared: Arc<dyn Store> = Arc::new(inner.clone());
    array(&shared, "a");
    Arc::new(Other { inner, changed })
}

#[test]
fn a_truncated_object_is_not_copied() {
    let to: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let error = copy((&source(None), "a"), (&to, ""), None, &CopyOptions::new()).unwrap_err();
    let error = error.to_string();
    assert!(error.starts_with("source: cannot read \"a/c/"), "{error}");
    assert!(error.contains("bytes were read of an object of"), "{error}");
    assert!(to.read(&key("zarr.json")).unwrap().is_none());
}

#[test]
fn an_object_that_changes_after_its_listing_is_named() {
    let to: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let from = source(Some(b"new"));
    let error = copy((&from, "a"), (&to, ""), None, &CopyOptions::new()).unwrap_err();
    let TransferError::ChangedMeanwhile { keys, .. } = error else { panic!("{error}") };
    assert!(keys.iter().all(|key| key.starts_with("a/c/")), "{keys:?}");
    assert!(to.read(&key("c/0/0")).unwrap().is_none());
}
