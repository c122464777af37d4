//! The store trait.

use std::collections::BTreeSet;
use std::fmt;
use std::io::IoSlice;
use std::sync::Arc;

use crate::{
    AsyncStore, Capabilities, Cleaning, DirEntry, GetInto, Key, Linking, Links, Listing, LockGuard,
    ObjectMeta, Prefix, PutMode, PutOutcome, ReadRange, Session, StoreError,
};

/// Keys and their bytes: all that an array needs of its storage.
///
/// Blocking and object-safe; every method may be called from any number of threads at once. Callers
/// find shorthands in [`StoreExt`](crate::StoreExt), such as `put(key, bytes)` and `read(key)`.
///
/// # Implementing
/// Six methods are required. Five have a default that calls these, or tells the caller to: override
/// one if the store can do better. The last six tell what else the store can do, by default nothing:
/// what is more than an answer is an object of its own, such as [`Linking`], a [`Session`] or an
/// [`AsyncStore`].
///
/// # Wrapping
/// A store that wraps another is a [`Layer`](crate::Layer) if it passes on all that the other can do:
/// every operation then goes through one method. If it gives less, it implements this trait: it has
/// only what it implements, and gets nothing of the other by default. Either way no operation of the
/// inner store gets past it, and a wrapper that leaves an object out is slower, and safe.
///
/// # Spec
/// Zarr v3 core, "Abstract store interface": the readable, writeable and listable stores together.
pub trait Store: fmt::Debug + Send + Sync {
    /// Reads `range` of an object into `out`, replacing its contents. `None` and an empty `out` if
    /// there is no such object.
    ///
    /// All bytes are of one version of the object, which the result names: a caller can tell
    /// whether two calls read the same version. [`ReadRange::Ranges`] of no ranges reads no bytes
    /// and still reports size and version. After an error, the contents of `out` are unspecified.
    ///
    /// # Errors
    /// [`StoreError::Range`] or [`StoreError::Suffix`] with the object's size if it has fewer bytes
    /// than requested; whatever keeps the store from reading; never for a missing object.
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError>;

    /// Writes the whole object from `pieces`, one after another, on the condition that `mode` sets.
    ///
    /// A put is atomic: readers see the old bytes or the new ones, never a mixture or a part. With
    /// [`PutMode::Create`] and [`PutMode::Update`] the condition and the write are one atomic step,
    /// between processes too; a store that cannot do this refuses these modes, for example with
    /// [`PutMode::require_overwrite`], and does not claim
    /// [`conditional_put`](Capabilities::conditional_put).
    ///
    /// Takes no lock: see [`replace`](crate::replace) for objects that others may be updating.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`] if the store has no conditional puts. After any error the object
    /// is what it was before; a remote store may also have written it if the response was lost.
    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError>;

    /// Removes the object; a missing one is not an error.
    ///
    /// # Errors
    /// The object may then still be there.
    fn delete(&self, key: &Key) -> Result<(), StoreError>;

    /// Every key below `prefix`, in unspecified order; none if there is no such prefix.
    ///
    /// `links` matters only to stores that have links.
    ///
    /// # Errors
    /// As the last item, whatever keeps the store from listing.
    fn list(&self, prefix: &Prefix, links: Links) -> Listing<'_, Key>;

    /// What lies directly below `prefix`: objects, and prefixes of further keys. Links are
    /// followed.
    ///
    /// # Errors
    /// As for [`list`](Store::list).
    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry>;

    /// Waits for the advisory lock of `key` and takes it, until the guard is dropped.
    ///
    /// It excludes other holders of the same lock and nobody else: reads and plain puts go on.
    /// [`LockGuard::scope`] says which holders it excludes: those of this process, or all.
    ///
    /// # Nested locks
    /// Locks are of two kinds: those of chunks, and all others, which are those of documents
    /// (`zarr.json`) and of markers. Who needs several of the other kind takes them by one call of
    /// [`lock_all`](Store::lock_all), and then those of chunks one at a time. Nobody takes any other
    /// lock while holding one, nor the same one twice: two threads could wait for each other forever.
    ///
    /// So a store may have few locks: one for all chunks and one for all other keys are enough.
    /// These two must not be one.
    ///
    /// # Errors
    /// Whatever keeps the store from locking.
    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError>;

    /// Waits for the locks of all these keys and takes them, until the guard is dropped. Keys may be
    /// given twice. No key is that of a chunk.
    ///
    /// By default [locks](Store::lock) one after another, in the order of the keys: two callers
    /// never wait for each other. A store in which different keys may have the same lock must take
    /// each lock once, in an order of its own.
    ///
    /// # Errors
    /// As for [`lock`](Store::lock). None of the locks is held then.
    fn lock_all(&self, keys: &[Key]) -> Result<LockGuard, StoreError> {
        let keys: BTreeSet<&Key> = keys.iter().collect();
        let guards: Result<_, _> = keys.into_iter().map(|key| self.lock(key)).collect();
        Ok(LockGuard::all(guards?))
    }

    /// Size and version of an object, `None` if there is none.
    ///
    /// By default a [`get`](Store::get) of no bytes.
    ///
    /// # Errors
    /// Whatever keeps the store from knowing; never for a missing object.
    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        self.get(key, ReadRange::Ranges(&[]), &mut Vec::new())
    }

    /// Reads all of an object to the place where its bytes are needed, if it has as many bytes as
    /// `out`: the same as a [`get`](Store::get), without a buffer and a copy.
    ///
    /// By default [`GetInto::Unsupported`]: the caller gets and copies.
    ///
    /// # Errors
    /// As for [`get`](Store::get). Unless the object was [read](GetInto::Read), the contents of
    /// `out` are unspecified.
    fn get_into(&self, key: &Key, out: &mut [u8]) -> Result<GetInto, StoreError> {
        let _ = (key, out);
        Ok(GetInto::Unsupported)
    }

    /// The keys of [`list`](Store::list) with [`Links::Follow`], each with what listings of the store
    /// tell of its object, if they do. Two listings tell the same of an object that has not changed;
    /// [`head`](Store::head) may tell more, since some servers leave `ETag`s out of listings.
    ///
    /// `None` by default: the caller looks up each key.
    ///
    /// # Errors
    /// As for [`list`](Store::list).
    fn list_described(&self, prefix: &Prefix) -> Option<Listing<'_, (Key, ObjectMeta)>> {
        let _ = prefix;
        None
    }

    /// Removes every object below `prefix`, in unspecified order, and empty folders with them.
    /// Links are removed and not followed, also if `prefix` itself is one.
    ///
    /// By default lists with [`Links::AsObjects`] and deletes each key.
    ///
    /// # Errors
    /// Some of the objects may then be gone; calling again continues.
    fn delete_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.list(prefix, Links::AsObjects).try_for_each(|key| self.delete(&key?))
    }

    /// What writers and readers should know of the store before they ask. By default nothing.
    fn capabilities(&self) -> Capabilities {
        Capabilities::new()
    }

    /// Where the objects are, and objects made of those of other stores without reading them.
    ///
    /// `None` by default: bytes are read and put, and nobody can tell what other store has them.
    fn linking(&self) -> Option<&dyn Linking> {
        None
    }

    /// Access to what is in the storage and is no object.
    ///
    /// `None` by default: every name in the storage is a key, and writers leave nothing behind.
    fn cleaning(&self) -> Option<&dyn Cleaning> {
        None
    }

    /// The store's asynchronous interface, if it has one of its own: reads that wait for responses
    /// without a thread each.
    ///
    /// `None` by default: the store is then read on threads where blocking is allowed. These belong
    /// to no runtime of the caller's: a store that needs a runtime keeps a handle to it.
    fn asynchronous(&self) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    /// Begins a session: puts that take effect together. Waits for another session of the store to
    /// end, if there may be only one at a time.
    ///
    /// `None`, the default, if the store has no sessions: each put takes effect by itself. Callers use
    /// [`Session::begin`].
    ///
    /// # Errors
    /// Whatever keeps the store from beginning one.
    fn session(&self) -> Result<Option<Session>, StoreError> {
        Ok(None)
    }

    /// The same store, with puts that verify what they have written: its length, and its ETag or
    /// the like. A put that the store acknowledged but did not store is then an error.
    ///
    /// `None` by default: there is nobody else to ask than the store that has just answered.
    fn checked(&self) -> Option<Arc<dyn Store>> {
        None
    }
}
