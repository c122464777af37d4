//! The store trait.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::Arc;

use crate::{
    AsyncStore, Capabilities, DirEntry, GetInto, Key, KeyFilter, Links, Listing, Location,
    LockGuard, ObjectFile, ObjectMeta, ObjectSource, Operation, PieceWriter, Prefix, PutFrom,
    PutMode, PutOutcome, ReadRange, Rewrite, RewritePiece, Session, Sharing, StoreError,
};

/// Keys and their bytes: the storage of an array.
///
/// Blocking and object-safe; every method may be called from any number of threads at once. Callers
/// find shorthands in [`StoreExt`](crate::StoreExt), such as `put(key, bytes)` and `read(key)`.
///
/// # Implementing
/// Reads and listings are required: `get`, `list` and `list_dir`. A store that can be written also has
/// `put_opts`, `delete` and `lock`, which otherwise refuse. The others have a default that calls
/// these, tells the caller to do so, or says that the store has no such capability. Override one if
/// the store can do better. Two capabilities are objects of their own: a [`Session`] and an
/// [`AsyncStore`].
///
/// # Wrapping
/// A store that wraps another and passes on all its capabilities implements [`Layer`](crate::Layer):
/// every operation then goes through one method. A wrapper with fewer capabilities implements this
/// trait, and has only the capabilities that it implements. Either way, no operation reaches the
/// inner store without the wrapper. A wrapper that omits a capability is slower or refuses, but is safe.
///
/// # Examples
/// A store of objects in a map. `conformance::all`, of the feature `test-util`, tests it.
///
#[doc = include_str!("map_store.md")]
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
    /// than requested; any failure of reading. Never for a missing object.
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
    /// between processes too. A store that cannot do this refuses these modes, for example with
    /// [`PutMode::require_overwrite`], and does not claim
    /// [`conditional_put`](Capabilities::conditional_put).
    ///
    /// Takes no lock: see [`replace`](crate::replace) for objects that others may be updating.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`] if the store has no conditional puts, and by default. After any
    /// error the object is unchanged; but a remote store may have written it if the response was lost.
    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        let _ = (pieces, mode);
        Err(StoreError::unsupported(Operation::Put, key, self.lacks()))
    }

    /// Removes the object; a missing one is not an error.
    ///
    /// # Errors
    /// The object may then still be there. By default [`StoreError::Unsupported`].
    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        Err(StoreError::unsupported(Operation::Delete, key, self.lacks()))
    }

    /// Every key below `prefix`, in unspecified order; none if there is no such prefix.
    ///
    /// `links` matters only to stores that have links.
    ///
    /// # Errors
    /// Any failure of listing, as the last item.
    fn list(&self, prefix: &Prefix, links: Links) -> Listing<'_, Key>;

    /// The direct children of `prefix`: objects, and prefixes of further keys. Links are followed.
    ///
    /// # Errors
    /// As for [`list`](Store::list).
    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry>;

    /// Waits for the advisory lock of `key` and takes it, until the guard is dropped.
    ///
    /// It excludes other holders of the same lock, but not reads and plain puts.
    /// [`LockGuard::scope`] tells whether it excludes holders in this process only, or in all.
    ///
    /// # Nested locks
    /// There are two kinds of locks: of chunks, and of documents (`zarr.json`) and markers. A
    /// caller first takes all locks of documents by one call of [`lock_all`](Store::lock_all), then
    /// locks of chunks one at a time. It must not take any other lock while it holds one, nor the
    /// same lock twice. Otherwise two threads could wait for each other forever.
    ///
    /// So a store may have few locks: one for all chunks and one for all other keys are enough.
    /// These two must not be one.
    ///
    /// # Errors
    /// Any failure of locking. By default [`StoreError::Unsupported`].
    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        Err(StoreError::unsupported(Operation::Lock, key, self.lacks()))
    }

    /// What a store that is only read lacks, and why: the end of the errors of puts, deletions and
    /// locks. A store that can be written does not override it.
    fn lacks(&self) -> &'static str {
        "such operation"
    }

    /// Waits for the locks of all these keys and takes them, until the guard is dropped. Keys may be
    /// given twice. None may be the key of a chunk.
    ///
    /// By default [locks](Store::lock) one after another, in the order of the keys: two callers
    /// never wait for each other. A store in which different keys may have the same lock must take
    /// each lock once, in a fixed order.
    ///
    /// # Errors
    /// As for [`lock`](Store::lock). All locks are then released.
    fn lock_all(&self, keys: &[Key]) -> Result<LockGuard, StoreError> {
        let keys: BTreeSet<&Key> = keys.iter().collect();
        let guards: Result<_, _> = keys.into_iter().map(|key| self.lock(key)).collect();
        Ok(LockGuard::all(guards?))
    }

    /// Waits until nobody holds the lock of `key`, then shares it with others who call this, until the
    /// guard is dropped. `None`, the default, if the store has no shared locks.
    ///
    /// The one lock that may be taken under the lock of a chunk, and by a thread that shares it
    /// already. So who holds the lock of `key` alone must not wait for the lock of a chunk, and a
    /// store in which keys share a lock has no shared locks. The object of `key` need not exist; if
    /// its folder does not, nothing is created.
    ///
    /// # Errors
    /// As for [`lock`](Store::lock).
    fn lock_shared(&self, key: &Key) -> Result<Option<LockGuard>, StoreError> {
        let _ = key;
        Ok(None)
    }

    /// Size and version of an object, `None` if there is none.
    ///
    /// By default a [`get`](Store::get) of no bytes.
    ///
    /// # Errors
    /// Any failure of the look-up. Never for a missing object.
    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        self.get(key, ReadRange::Ranges(&[]), &mut Vec::new())
    }

    /// Reads a whole object into the caller's memory, if it has as many bytes as `out`: a
    /// [`get`](Store::get) without a buffer and a copy.
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

    /// Refuses an object of more than `most` bytes that is stored compressed, as in an archive that
    /// deflates: reading it would take memory beyond the size of the input. Objects that are stored
    /// uncompressed pass, and missing objects too.
    ///
    /// By default everything passes.
    ///
    /// # Errors
    /// [`StoreError::Container`] for such an object; otherwise as for [`head`](Store::head).
    fn refuse_inflated(&self, key: &Key, most: u64) -> Result<(), StoreError> {
        let _ = (key, most);
        Ok(())
    }

    /// The keys of [`list`](Store::list) with [`Links::Follow`], each with the size and version
    /// that listings of the store contain. Two listings describe an unchanged object in the same
    /// way; [`head`](Store::head) may contain more, since some servers have no `ETag`s in listings.
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
    /// A [`delete_where`](Store::delete_where) of all objects.
    ///
    /// # Errors
    /// As for [`delete_where`](Store::delete_where).
    fn delete_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        let all: KeyFilter = Arc::new(|_| true);
        self.delete_where(prefix, &all)
    }

    /// Removes the objects below `prefix` that `which` is true of, in unspecified order, and empty
    /// folders with them. Links are removed and not followed, also if `prefix` itself is one; a link
    /// has the key of its own path.
    ///
    /// By default lists with [`Links::AsObjects`] and deletes each such key. `which` may be called on
    /// another thread, where it must not block.
    ///
    /// # Errors
    /// Some of the objects may then be gone; calling again continues.
    fn delete_where(&self, prefix: &Prefix, which: &KeyFilter) -> Result<(), StoreError> {
        self.list(prefix, Links::AsObjects).try_for_each(|key| {
            let key = key?;
            if which(&key) { self.delete(&key) } else { Ok(()) }
        })
    }

    /// Properties that callers need before they choose a request. By default none.
    fn capabilities(&self) -> Capabilities {
        Capabilities::new()
    }

    /// The location of the objects below `prefix`, to tell whether two stores share them; `None` if
    /// the store does not know, as by default. Links are followed, except dangling links.
    fn location(&self, prefix: &Prefix) -> Option<Location> {
        let _ = prefix;
        None
    }

    /// Whether objects below `prefix` are read from objects at `place`, below it or around it: who
    /// removes the objects there removes them too. By default, those at the
    /// [location](Store::location) are. A store whose objects are parts of others looks at these.
    ///
    /// # Errors
    /// As for [`list`](Store::list), if the store cannot tell where its objects are.
    fn reads_from(&self, prefix: &Prefix, place: &Location) -> Result<bool, StoreError> {
        Ok(self.location(prefix).is_some_and(|own| own.overlaps(place)))
    }

    /// Puts the bytes of the object `from_key` of the store `from` at `key`, without reading them
    /// into this process: by a hard link, a reflink, or a copy within the system or the server.
    /// `expected` is the source's size and version, as [`head`](Store::head) gave it.
    ///
    /// Atomic, as a put without condition. By default [`PutFrom::Unsupported`]: the caller reads and puts.
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

    /// Replaces an object by one that is assembled from ranges of its own bytes and new ones, without
    /// reading the ranges into this process. `expected` is its size and version, as a
    /// [`get`](Store::get) gave it; the ranges must lie within that size.
    ///
    /// Atomic, as a put without condition. Callers hold the [lock](Store::lock) of the key. By default
    /// [`Rewrite::Unsupported`]: the caller reads and puts.
    ///
    /// # Errors
    /// As for [`put_opts`](Store::put_opts).
    fn rewrite(
        &self,
        key: &Key,
        expected: &ObjectMeta,
        pieces: &[RewritePiece<'_>],
    ) -> Result<Rewrite, StoreError> {
        let _ = (key, expected, pieces);
        Ok(Rewrite::Unsupported)
    }

    /// Begins an object that is written in pieces, and never in memory as a whole: [`PieceWriter::put`]
    /// puts it, atomically and on no condition. `None`, the default: the caller puts a whole object.
    ///
    /// # Errors
    /// As for [`put_opts`](Store::put_opts).
    fn put_in_pieces(&self, key: &Key) -> Result<Option<Box<dyn PieceWriter + '_>>, StoreError> {
        let _ = key;
        Ok(None)
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
    /// not checked: compare the [version](ObjectMeta::version) of the found file.
    ///
    /// # Errors
    /// [`StoreError::Reserved`] if no object can have this key.
    fn file_path(&self, key: &Key) -> Result<Option<PathBuf>, StoreError> {
        let _ = key;
        Ok(None)
    }

    /// The location of an object's bytes, for other programs to read them there. `None`, the
    /// default, if other programs cannot, or if there is no such object. Links are not followed.
    ///
    /// # Errors
    /// As for [`head`](Store::head).
    fn source(&self, key: &Key) -> Result<Option<ObjectSource>, StoreError> {
        let _ = key;
        Ok(None)
    }

    /// Checks that chunks without an object read as the fill value that the document of the array at
    /// `prefix` has: other programs, which read the [sources](Store::source), know no other value.
    /// By default they do.
    ///
    /// # Errors
    /// [`StoreError`] that names the array if some read as another value; as for
    /// [`head`](Store::head).
    fn check_absent_chunks(&self, prefix: &Prefix) -> Result<(), StoreError> {
        let _ = prefix;
        Ok(())
    }

    /// Removes the unfinished files and locks of dead writers below `prefix`. Calls `removed` with the
    /// name of each in the store.
    ///
    /// Keeps files that a living process has locked. The locks of a living writer on another host
    /// may be invisible, and its files are then removed: the writer is delayed, and loses nothing.
    /// By default does nothing: writers leave no files behind.
    ///
    /// # Errors
    /// Any failure of listing or removing; some files may then be gone.
    fn clean(&self, prefix: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        let _ = (prefix, removed);
        Ok(())
    }

    /// Calls `found` with the name of each file or folder below `prefix` that cannot be an object:
    /// no key can have its name, or it is not a regular file. Listings do not contain it, so copies
    /// and checks must report it. A folder with such a name is reported without its contents. Links
    /// are followed as for [`Links::Follow`](Links::Follow). Files that
    /// [`clean`](Store::clean) removes are left out.
    /// By default there are none: every name in the storage is a key.
    ///
    /// # Errors
    /// As for [`list`](Store::list).
    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        let _ = (prefix, found);
        Ok(())
    }

    /// The store's own asynchronous interface, if it has one: reads that wait for responses without
    /// a thread each.
    ///
    /// `None` by default: the store is then read on threads where blocking is allowed. These
    /// threads belong to no runtime of the caller: a store that needs a runtime keeps a handle to
    /// it.
    fn asynchronous(&self) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    /// Begins a session: puts that take effect together. Waits for another session of the store to
    /// end, if there may be only one at a time.
    ///
    /// `None`, the default, if the store has no sessions: each put takes effect alone. Callers use
    /// [`Session::begin`].
    ///
    /// # Errors
    /// Any failure of beginning a session.
    fn session(&self) -> Result<Option<Session>, StoreError> {
        Ok(None)
    }

    /// The same store, with puts that verify the written object: its length, and its ETag or the
    /// like. A put that the store acknowledged but did not store is then an error.
    ///
    /// `None` by default: the store cannot verify more than it has answered.
    fn checked(&self) -> Option<Arc<dyn Store>> {
        None
    }

    /// Larger stores that hold all objects of this one, each with the prefix that is this store's
    /// root: the file system of a folder, or the bucket of a path in it. Groups above the root are
    /// found there. There can be two for a folder that was opened through a link: first by the path
    /// as it was given, if the link may be followed, then by the path without links.
    ///
    /// None by default: nothing is known to be above the root.
    fn outer_stores(&self) -> Vec<(Arc<dyn Store>, Prefix)> {
        Vec::new()
    }

    /// Called after a change that is done, if the consolidated metadata of a group above it could not
    /// be brought up to date.
    ///
    /// Does nothing by default.
    fn out_of_date(&self, cause: &(dyn Error + 'static)) {
        let _ = cause;
    }
}
