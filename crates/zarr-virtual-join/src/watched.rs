//! A member's store, with checks: no object is newer than the join, and an absent chunk counts as
//! the fill value only while the member exists.

use std::io;
use std::sync::Arc;

use zarr_array::store::{
    AsyncStore, Capabilities, DirEntry, GetInto, Key, Links, Listing, Location, ModifiedObject,
    Object, ObjectMeta, ObjectSource, Operation, Prefix, ReadRange, Store, StoreError, StoreFuture,
    Version,
};

use crate::document::Latest;

/// Reads of another store. An object that was modified after the member was joined is an error. If
/// an object is absent, the document of the array is looked up. If the document is absent too, the
/// read is an error, not the fill value.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) inner: Arc<dyn Store>,
    pub(crate) document: Arc<Watch>,
    pub(crate) joined: Joined,
}

/// When a member was joined; `None` if its objects may be modified later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joined(pub(crate) Option<Latest>);

/// The document of an array as it was when the member was opened.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) key: Key,
    pub(crate) size: u64,
    pub(crate) version: Option<Version>,
}

impl Watch {
    /// Compares with the document as it is now.
    fn check(&self, found: Option<&ObjectMeta>) -> Result<(), StoreError> {
        let changed = |kind, message: &str| {
            Err(StoreError::io(Operation::Get, &self.key, io::Error::new(kind, message)))
        };
        match found {
            None => changed(io::ErrorKind::NotFound, "it was removed after the join was opened"),
            Some(meta) if meta.size != self.size || meta.version != self.version => {
                changed(io::ErrorKind::Other, "it was changed after the join was opened")
            }
            Some(_) => Ok(()),
        }
    }
}

impl Joined {
    /// Passes on the metadata of an object, unless it is newer than the join. Stores that do not
    /// know when an object was modified are believed.
    fn accept(
        self,
        operation: Operation,
        key: &Key,
        meta: ObjectMeta,
    ) -> Result<ObjectMeta, StoreError> {
        match (self.0, meta.modified) {
            (Some(joined), Some(modified)) if !joined.accepts(modified) => {
                zarr_array::store::reached!("virtual join: a newer chunk");
                Err(StoreError::Modified(Box::new(ModifiedObject {
                    operation,
                    key: key.to_string(),
                    modified,
                    latest: joined.recorded,
                    meaning: "when its array was joined",
                })))
            }
            _ => Ok(meta),
        }
    }
}

impl Watched {
    /// Passes on the found metadata; if there is none, checks the document first.
    fn checked(
        &self,
        operation: Operation,
        key: &Key,
        found: Option<ObjectMeta>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let Some(meta) = found else {
            zarr_array::store::reached!("virtual join: a chunk is not stored");
            if zarr_array::store::step!("virtual join: look at the document of a missing chunk") {
                self.document.check(self.inner.head(&self.document.key)?.as_ref())?;
            }
            return Ok(None);
        };
        self.joined.accept(operation, key, meta).map(Some)
    }
}

/// The asynchronous interface of such a store.
#[derive(Debug)]
struct WatchedReads {
    inner: Arc<dyn AsyncStore>,
    document: Arc<Watch>,
    joined: Joined,
}

impl AsyncStore for WatchedReads {
    fn get(&self, key: &Key, range: ReadRange<'_>, buffer: Vec<u8>) -> StoreFuture<Option<Object>> {
        let found = self.inner.get(key, range, buffer);
        let (inner, document) = (Arc::clone(&self.inner), Arc::clone(&self.document));
        let (key, joined) = (key.clone(), self.joined);
        Box::pin(async move {
            let Some(Object { bytes, meta }) = found.await? else {
                // The interface has no request for the size and version alone.
                let last = inner.get(&document.key, ReadRange::Suffix(1), Vec::new()).await?;
                if zarr_array::store::step!("virtual join: look in an asynchronous read") {
                    document.check(last.map(|last| last.meta).as_ref())?;
                }
                return Ok(None);
            };
            let meta = joined.accept(Operation::Get, &key, meta)?;
            Ok(Some(Object { bytes, meta }))
        })
    }
}

/// What a store of a virtual join lacks.
pub(crate) const READ_ONLY: &str =
    "writes: it is a virtual join, and its members are changed where they are";

impl Store for Watched {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        self.checked(Operation::Get, key, self.inner.get(key, range, out)?)
    }

    fn get_into(&self, key: &Key, out: &mut [u8]) -> Result<GetInto, StoreError> {
        match self.inner.get_into(key, out)? {
            // Perhaps the member is another one now: a get finds out.
            GetInto::Missing => Ok(GetInto::Unsupported),
            GetInto::Read(meta) => self.joined.accept(Operation::Get, key, meta).map(GetInto::Read),
            GetInto::Unsupported => Ok(GetInto::Unsupported),
        }
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        self.checked(Operation::Head, key, self.inner.head(key)?)
    }

    fn lacks(&self) -> &'static str {
        READ_ONLY
    }

    fn list(&self, prefix: &Prefix, links: Links) -> Listing<'_, Key> {
        self.inner.list(prefix, links)
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        self.inner.list_dir(prefix)
    }

    fn refuse_inflated(&self, key: &Key, most: u64) -> Result<(), StoreError> {
        self.inner.refuse_inflated(key, most)
    }

    fn capabilities(&self) -> Capabilities {
        let requests = self.inner.capabilities().requests_in_flight;
        Capabilities::new().requests_in_flight(requests)
    }

    fn asynchronous(&self) -> Option<Arc<dyn AsyncStore>> {
        let inner = self.inner.asynchronous()?;
        let (document, joined) = (Arc::clone(&self.document), self.joined);
        Some(Arc::new(WatchedReads { inner, document, joined }))
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        self.inner.location(prefix)
    }

    fn reads_from(&self, prefix: &Prefix, place: &Location) -> Result<bool, StoreError> {
        self.inner.reads_from(prefix, place)
    }

    fn source(&self, key: &Key) -> Result<Option<ObjectSource>, StoreError> {
        // The object is the joined one.
        match self.head(key)? {
            Some(_) => self.inner.source(key),
            None => Ok(None),
        }
    }

    fn check_absent_chunks(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.inner.check_absent_chunks(prefix)
    }

    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        self.inner.without_key(prefix, found)
    }
}
