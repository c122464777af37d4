//! The store trait.

use std::fmt;
use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::Arc;

use super::{
    AsyncStore, Capabilities, DirEntry, Extension, GetInto, Key, Links, Listing, Location,
    LockGuard, ObjectFile, ObjectMeta, Prefix, PutFrom, PutMode, PutOutcome, ReadRange, Session,
    Sharing, StoreError,
};

/// Keys and their bytes: all that an array needs of its storage.
///
/// Blocking and object-safe; every method may be called from any number of threads at once. Callers
/// find shorthands in [`StoreExt`](super::StoreExt), such as `put(key, bytes)` and `read(key)`.
///
/// # Implementing
/// Six methods are required. All others have a default that is correct for every store; override
/// one if the store can do better. A store that wraps another and forwards only the required
/// methods is safe to use: it may be slower, and updates that need what it does not forward are
/// refused.
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
    /// Takes no lock: see [`replace`](super::replace) for objects that others may be updating.
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
    /// The holder of the lock of an array's document (`zarr.json`) may take those of its chunks,
    /// one at a time, as appending to an array does. Nobody may take any other lock while holding
    /// one, nor the same one twice: two threads could wait for each other forever. A store must
    /// therefore not make the lock of a document and that of a chunk one lock; two chunks may share
    /// theirs.
    ///
    /// # Errors
    /// Whatever keeps the store from locking.
    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError>;

    /// Begins a session: puts that take effect together. Waits for another session of the store to
    /// end, if there may be only one at a time.
    ///
    /// `None`, the default, if the store has no sessions. Callers use [`Session::begin`]. A store
    /// that wraps another hands its sessions on [wrapped](Session::wrapped); where that is forgotten,
    /// each put takes effect by itself, which may take longer.
    ///
    /// # Errors
    /// Whatever keeps the store from beginning one.
    fn session(&self) -> Result<Option<Session>, StoreError> {
        Ok(None)
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

    /// What the store can do beyond the required methods. By default nothing.
    fn capabilities(&self) -> Capabilities {
        Capabilities::new()
    }

    /// Removes what dead writers left below `prefix` and is not an object: unfinished files and
    /// locks. Calls `removed` with the name of each in the store.
    ///
    /// Keeps what a living process is seen to hold. A living writer that cannot be seen, on another
    /// host that shares no locks with this one, is delayed and loses nothing.
    ///
    /// By default does nothing: the store leaves nothing behind. A store that wraps another should
    /// forward it.
    ///
    /// # Errors
    /// Whatever keeps the store from looking or removing; some files may then be gone.
    fn clean(&self, prefix: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        let _ = (prefix, removed);
        Ok(())
    }

    /// Calls `found` with the name of everything below `prefix` that readers of the storage see and
    /// that is no object, because no key can have its name, or because it is no regular file: what
    /// no listing has, so that copies and checks have to tell of it. Of a folder with such a name,
    /// only the folder. Links are followed as for [`Links::Follow`]. What [`clean`](Store::clean)
    /// removes is left out.
    ///
    /// By default nothing: every name in the store is a key. A store that wraps another should
    /// forward it.
    ///
    /// # Errors
    /// As for [`list`](Store::list).
    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        let _ = (prefix, found);
        Ok(())
    }

    /// Where the objects below `prefix` are, to tell whether two stores share them; `None`, the
    /// default, if the store does not know.
    ///
    /// Links are followed as far as they lead somewhere.
    fn location(&self, prefix: &Prefix) -> Option<Location> {
        let _ = prefix;
        None
    }

    /// Makes `key` an object with the bytes of the object `from_key` of the store `from`, without
    /// reading them into this process: by a hard link, a reflink, or a copy within the system or
    /// the server. `expected` is the source's size and version, as [`head`](Store::head) gave it.
    ///
    /// Atomic, as a put without condition.
    ///
    /// By default [`PutFrom::Unsupported`]: the caller reads and puts.
    ///
    /// # Errors
    /// As for [`put_opts`](Store::put_opts).
    fn put_from(
        &self,
        key: &Key,
        from: &dyn Store,
        from_key: &Key,
        expected: &ObjectMeta,
        sharing: Sharing,
    ) -> Result<PutFrom, StoreError> {
        let _ = (key, from, from_key, expected, sharing);
        Ok(PutFrom::Unsupported)
    }

    /// The object as a file of this machine, for another store to [put](Store::put_from); `None`
    /// if there is no such object, or, by default, if the store does not keep each object in a
    /// file.
    ///
    /// # Errors
    /// As for [`get`](Store::get).
    fn file(&self, key: &Key) -> Result<Option<ObjectFile>, StoreError> {
        let _ = key;
        Ok(None)
    }

    /// The path of the object's file, whether or not there is one, for another store to link;
    /// `None`, the default, if the store does not keep each object in a file. Links in the path are
    /// not checked: compare the [version](ObjectMeta::version) of what is found there.
    ///
    /// # Errors
    /// [`StoreError::Reserved`] if no object can have this key.
    fn file_path(&self, key: &Key) -> Result<Option<PathBuf>, StoreError> {
        let _ = key;
        Ok(None)
    }

    /// The store's asynchronous interface, if it has one of its own: reads that wait for responses
    /// without a thread each.
    ///
    /// `None` by default: the store is then read on threads where blocking is allowed. These belong
    /// to no runtime of the caller's: a store that needs a runtime keeps a handle to it.
    fn asynchronous(&self) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    /// What a layer above has to know of the node at `prefix` and the store does not understand: for
    /// an array that consists of others, `zarr_array::Members`.
    ///
    /// `None` by default. A store that wraps another should forward it; where that is forgotten, a
    /// store with such nodes refuses to read what cannot be read without it.
    fn extension(&self, prefix: &Prefix) -> Option<Extension> {
        let _ = prefix;
        None
    }

    /// The same store, with puts that verify what they have written: its length, and its ETag or
    /// the like. A put that the store acknowledged but did not store is then an error.
    ///
    /// `None` by default: there is nobody else to ask than the store that has just answered.
    fn checked(&self) -> Option<Arc<dyn Store>> {
        None
    }
}
