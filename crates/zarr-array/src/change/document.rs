//! The document of an array while the array changes.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use zarr_metadata::{ArrayMetadata, NodeMetadata};

use crate::array::Array;
use crate::error::ArrayError;
use crate::hierarchy::node::{self, METADATA_KEY};
use crate::store::{
    Key, LockGuard, LockScope, PutOutcome, ReadRange, StoreError, StoreExt as _, UpdatePolicy,
    Version,
};

/// The objects that a change writes besides the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// None: a conditional put excludes others if locks do not.
    Document,
    /// Chunks, which no conditional put of the document protects.
    Chunks,
}

/// The document of an array, read again and locked against other changes until this is dropped.
///
/// While it is locked, chunks may be changed, and no other document: consolidated metadata of the
/// groups above follows later. See [`Store::lock`](crate::store::Store::lock).
#[derive(Debug)]
pub struct LockedDocument<'a> {
    array: &'a Array,
    key: Key,
    /// The document as it is stored.
    current: ArrayMetadata,
    /// The version that a conditional put expects; `None` under a lock that works between processes.
    expected: Option<Version>,
    _guard: Arc<LockGuard>,
}

impl<'a> LockedDocument<'a> {
    /// Locks the document of an array, and reads it.
    ///
    /// # Errors
    /// [`ArrayError::Stale`] if others have changed the array since it was opened;
    /// [`ArrayError::NoLock`] if no lock keeps others from changing it, unless the
    /// [policy](Array::with_update_policy) accepts that; [`ArrayError::Version2`]; or an error of the
    /// store.
    pub fn lock(array: &'a Array, extent: Extent) -> Result<Self, ArrayError> {
        // Before taking any lock: the store may be read-only.
        array.refuse_version_2()?;
        let key = array.prefix().key(METADATA_KEY)?;
        let guard = crate::store::lock_step!("document: lock", array.store().lock(&key))?;
        let document = Self::within(Arc::new(guard), array, extent)?;
        document.refuse_stale()?;
        Ok(document)
    }

    /// Reads the document of an array as it is now. `guard` holds its lock, together with others: see
    /// [`Store::lock_all`](crate::store::Store::lock_all).
    ///
    /// # Errors
    /// As for [`lock`](Self::lock), except [`Stale`](ArrayError::Stale): the caller checks this by
    /// [`refuse_stale`](Self::refuse_stale).
    pub fn within(
        guard: Arc<LockGuard>,
        array: &'a Array,
        extent: Extent,
    ) -> Result<Self, ArrayError> {
        let key = array.prefix().key(METADATA_KEY)?;
        array.refuse_version_2()?;
        let store = array.store();
        let path = || node::display(array.prefix());
        let locked = guard.scope() == LockScope::AllProcesses;
        let strict = !locked && array.update_policy() == UpdatePolicy::RequireExclusion;
        let conditional = !locked && store.capabilities().conditional_put;
        if strict && extent == Extent::Chunks {
            return Err(ArrayError::NoLock { path: path() });
        }
        let mut document = Vec::new();
        let Some(meta) = store.get(&key, ReadRange::All, &mut document)? else {
            return Err(ArrayError::NotFound { path: path() });
        };
        let expected = meta.version.filter(|_| conditional);
        if strict && expected.is_none() {
            crate::store::reached!("document: nothing excludes others");
            return Err(StoreError::NoExclusion { key: key.to_string() }.into());
        }
        let wrong = |cause| ArrayError::Metadata { key: key.to_string(), cause };
        let NodeMetadata::Array(current) = NodeMetadata::from_json(&document).map_err(wrong)?
        else {
            return Err(ArrayError::NotArray { path: path() });
        };
        Ok(Self { array, key, current, expected, _guard: guard })
    }

    /// Refuses a document that others have changed since the array was opened.
    ///
    /// # Errors
    /// [`ArrayError::Stale`].
    pub fn refuse_stale(&self) -> Result<(), ArrayError> {
        let wrong = |cause| ArrayError::Metadata { key: self.key.to_string(), cause };
        // Others may have changed only the attributes, which no chunk depends on.
        let bare = |metadata: &ArrayMetadata| metadata.with_attributes("{}").map_err(wrong);
        let is_compared = crate::store::step!("document: comparison with the opened one");
        if is_compared && bare(&self.current)? != bare(self.array.metadata())? {
            crate::store::reached!("document: stale");
            return Err(self.stale());
        }
        Ok(())
    }

    /// The document as it is stored.
    #[must_use]
    pub fn current(&self) -> &ArrayMetadata {
        &self.current
    }

    /// Its key.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Writes the new document, unless it equals the old one.
    ///
    /// # Errors
    /// [`ArrayError::Stale`] if others have changed it meanwhile; or an error of the store.
    pub fn put(&self, metadata: &ArrayMetadata) -> Result<(), ArrayError> {
        let text = metadata.json();
        if text == self.current.json() { Ok(()) } else { self.put_text(text) }
    }

    /// As [`put`](LockedDocument::put), with unique white space at the end of the document. After a
    /// lost response, a store takes equal bytes of another writer for the sent bytes.
    pub(super) fn put_unique(&self, metadata: &ArrayMetadata) -> Result<(), ArrayError> {
        let text = metadata.json().trim_end();
        if text == self.current.json().trim_end() {
            return Ok(());
        }
        if !crate::store::step!("document: unique bytes of an append") {
            return self.put_text(text);
        }
        self.put_text(&unique(text))
    }

    /// Puts the same document with unique white space at its end, if only conditions exclude others: a
    /// put of another process on the condition of the bytes before fails then. The lock is given back.
    ///
    /// # Errors
    /// As for [`put`](LockedDocument::put).
    pub fn renew(self) -> Result<(), ArrayError> {
        match self.expected {
            Some(_) if crate::store::step!("repair: documents are put anew") => {
                self.put_text(&unique(self.current.json().trim_end()))
            }
            _ => Ok(()),
        }
    }

    fn put_text(&self, text: &str) -> Result<(), ArrayError> {
        self.array.check_wanted()?;
        let store = self.array.store();
        let Some(expected) = &self.expected else {
            return Ok(store.put(&self.key, text.as_bytes())?);
        };
        if !crate::store::step!("document: condition of the put") {
            return Ok(store.put(&self.key, text.as_bytes())?);
        }
        match store.put_if(&self.key, text.as_bytes(), Some(expected))? {
            PutOutcome::Written => Ok(()),
            PutOutcome::Changed => {
                crate::store::reached!("document: others were faster");
                Err(self.stale())
            }
        }
    }

    fn stale(&self) -> ArrayError {
        ArrayError::Stale { path: node::display(self.array.prefix()) }
    }
}

/// The text of a document with unique white space at its end.
fn unique(text: &str) -> String {
    let random = RandomState::new().hash_one(text);
    let space = |bit: u32| if random.rotate_right(bit) & 1 == 0 { ' ' } else { '\t' };
    let spaces: String = (0..u64::BITS).map(space).collect();
    format!("{text}\n{spaces}\n")
}
