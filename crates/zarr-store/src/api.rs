//! The store trait and what its methods take and give.

use std::fmt;
use std::io::IoSlice;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::{AsyncStore, Key, Location, Operation, Prefix, ReadRange, StoreError, reserve};

/// Keys and their bytes: the whole of what an array needs from its storage.
///
/// Blocking and object-safe; every method may be called from any number of threads at once.
/// A put is atomic: readers see the old bytes or the new, never a mixture or a part.
/// Buffers are the caller's, so that a reader of many chunks allocates once; their contents after
/// an error are unspecified.
///
/// # Spec
/// Zarr v3 core, "Abstract store interface": the readable, writeable and listable stores together.
pub trait Store: fmt::Debug + Send + Sync {
    /// Reads `range` of an object into `out`, in place of what it held. `None` and an empty `out`
    /// if there is no such object.
    ///
    /// All bytes are of one version of the object, and the answer says which, so that a caller
    /// can tell whether two calls saw the same object.
    ///
    /// # Errors
    /// [`StoreError::Range`] or [`StoreError::Suffix`] with the object's size if it has fewer bytes
    /// than asked for; whatever keeps the store from knowing; never for a missing object.
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError>;

    /// Size and version of an object, `None` if there is none.
    ///
    /// # Errors
    /// Whatever keeps the store from knowing; never for a missing object.
    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError>;

    /// Writes the whole object, in place of any before it.
    ///
    /// Takes no lock: see [`replace`](super::replace) for objects that others may be updating.
    ///
    /// # Errors
    /// The object is then what it was before; a remote store may also have written it if the
    /// answer was lost.
    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError>;

    /// Writes the whole object from pieces, one after another; otherwise as [`put`](Store::put).
    ///
    /// # Errors
    /// As for [`put`](Store::put).
    fn put_vectored(&self, key: &Key, pieces: &[IoSlice<'_>]) -> Result<(), StoreError> {
        match pieces {
            [bytes] => self.put(key, bytes),
            pieces => self.put(key, &assemble(key, pieces)?),
        }
    }

    /// Whether [`put_vectored`](Store::put_vectored) saves a copy: it does not put the object
    /// together first.
    fn is_vectored(&self) -> bool {
        false
    }

    /// Whether [`put_if`](Store::put_if) works and is atomic between processes.
    fn conditional_put(&self) -> bool {
        false
    }

    /// Writes the whole object only if its version is still `expected`; `None` expects that there
    /// is no object.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`] unless [`conditional_put`](Store::conditional_put); otherwise as
    /// for [`put`](Store::put).
    fn put_if(
        &self,
        key: &Key,
        bytes: &[u8],
        expected: Option<&Version>,
    ) -> Result<PutOutcome, StoreError> {
        let _ = (bytes, expected);
        Err(StoreError::Unsupported {
            operation: Operation::Put,
            key: key.to_string(),
            missing: "conditional writes",
        })
    }

    /// Removes the object; a missing one is no error.
    ///
    /// # Errors
    /// The object may then still be there.
    fn delete(&self, key: &Key) -> Result<(), StoreError>;

    /// Removes every object below `prefix`, in unspecified order, and empty folders with them. Of
    /// what is there by a link, `prefix` itself among it, the link alone is removed.
    ///
    /// # Errors
    /// Some of the objects may then be gone; calling again goes on.
    fn delete_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        let mut result = Ok(());
        self.list(prefix, Links::AsObjects, &mut |key| match self.delete(&key) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                result = Err(error);
                ControlFlow::Break(())
            }
        })?;
        result
    }

    /// Calls `visit` with every key below `prefix`, in unspecified order, until it breaks off.
    ///
    /// Memory does not grow with the number of keys. `visit` may use the store; whether it meets
    /// keys made or removed meanwhile is unspecified. `links` matters to stores that have links.
    ///
    /// # Errors
    /// Whatever keeps the store from listing; never for a prefix without keys.
    fn list(
        &self,
        prefix: &Prefix,
        links: Links,
        visit: &mut dyn FnMut(Key) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Calls `visit` with what lies directly below `prefix`: objects, and prefixes of further
    /// keys. As [`list`](Store::list) otherwise.
    ///
    /// # Errors
    /// As for [`list`](Store::list).
    fn list_dir(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Waits for the advisory lock of `key` and takes it, until the guard is dropped.
    ///
    /// It keeps out other holders of the same lock and nobody else: reads and plain puts go on.
    /// How far it reaches is [`LockGuard::scope`].
    ///
    /// # Locks within locks
    /// Whoever holds the lock of an array's document (`zarr.json`) may take those of its chunks, one
    /// at a time, as appending to an array does. No other
    /// lock may be taken by whoever holds one, nor the same one twice, or two could wait for each
    /// other for ever. A store must therefore not make the lock of a document and that of a chunk
    /// one lock; two chunks may share theirs.
    ///
    /// # Errors
    /// Whatever keeps the store from locking.
    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError>;

    /// Removes what writers that are dead left below `prefix` and is no object: unfinished files
    /// and locks. `removed` is told each of them by its name in the store.
    ///
    /// Not what a living process is known to hold. One that is alive and cannot be seen, on another
    /// host that shares no locks with this one, is delayed by it, and loses nothing.
    ///
    /// Does nothing unless a store says otherwise: it leaves nothing. One that hands on what
    /// another does must hand on this too.
    ///
    /// # Errors
    /// Whatever keeps the store from looking or removing; some may be gone then.
    fn clean(&self, prefix: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        let _ = (prefix, removed);
        Ok(())
    }

    /// How many requests to have under way at once, where there is so much to do: more than there
    /// are cores for a store far away, whose answers are waited for.
    ///
    /// A hint, which costs time alone if it is wrong. 1 unless a store says otherwise: it answers
    /// as fast as a thread can ask.
    fn requests_in_flight(&self) -> NonZeroUsize {
        NonZeroUsize::MIN
    }

    /// The store's asynchronous face, if it has one of its own: reads that wait for their answers
    /// without a thread each.
    ///
    /// `None` unless a store says otherwise: it is then read on threads where blocking is allowed.
    /// Those belong to no runtime of the caller's: a store that works by one keeps its handle.
    fn asynchronous(&self) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    /// The same store, with puts that look at what they have written: whether it is as long as it
    /// was, and has the ETag or the like that the store answered with. A put that is not there, though
    /// the store said so, is then an error.
    ///
    /// `None` unless a store says otherwise: there is nobody else to ask than who has just answered.
    fn checked(&self) -> Option<Arc<dyn Store>> {
        None
    }

    /// Where the objects below `prefix` are, so that it can be told whether they are also those of
    /// another store; `None` if the store does not know.
    ///
    /// Links are followed as far as there is something to follow.
    fn location(&self, prefix: &Prefix) -> Option<Location> {
        let _ = prefix;
        None
    }
}

/// The pieces as one.
pub(super) fn assemble(key: &Key, pieces: &[IoSlice<'_>]) -> Result<Vec<u8>, StoreError> {
    let total = pieces.iter().fold(0_u64, |sum, piece| sum.saturating_add(piece.len() as u64));
    let mut bytes = Vec::new();
    reserve(key, &mut bytes, total)?;
    for piece in pieces {
        bytes.extend_from_slice(piece);
    }
    Ok(bytes)
}

/// What a store knows of an object besides its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectMeta {
    /// Size in bytes.
    pub size: u64,
    /// Which version of the object this is; `None` if the store does not tell versions apart.
    pub version: Option<Version>,
}

/// One state of one object, as its store tells it from others: an ETag, a counter, or inode and
/// time of a file. Only equality means anything.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Version(Text);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Text {
    Numbers([u64; 4]),
    Tag(Arc<str>),
}

impl Version {
    /// A version told by numbers, such as a counter or what identifies a file.
    #[must_use]
    pub fn from_numbers(numbers: [u64; 4]) -> Self {
        Self(Text::Numbers(numbers))
    }

    /// A version told by a text, such as an ETag.
    #[must_use]
    pub fn from_tag(tag: &str) -> Self {
        Self(Text::Tag(Arc::from(tag)))
    }

    /// The text it was made of, if it was.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        match &self.0 {
            Text::Numbers(_) => None,
            Text::Tag(tag) => Some(tag),
        }
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Text::Numbers(numbers) => write!(f, "Version({numbers:?})"),
            Text::Tag(tag) => write!(f, "Version({tag:?})"),
        }
    }
}

/// How a conditional put ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum PutOutcome {
    /// The object was as expected and now holds the new bytes.
    Written,
    /// The object was not as expected and is as it was.
    Changed,
}

/// What a listing makes of links, such as symbolic links of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// What is there by a link is listed where the link is: for whoever reads.
    Follow,
    /// A link is an object itself, which can be [deleted](Store::delete), and what it leads to is not
    /// listed: for whoever deletes. If the prefix itself is a link, it is listed and nothing else.
    AsObjects,
}

/// One entry directly below a prefix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum DirEntry {
    /// An object.
    Object(Key),
    /// A prefix with keys below it (a local store: a folder, perhaps an empty one).
    Prefix(Prefix),
}

/// Whom a lock keeps out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockScope {
    /// Other threads of this process.
    Process,
    /// Every other holder, in whatever process.
    AllProcesses,
}

/// A lock that is held until this is dropped.
#[must_use = "the lock is given back when the guard is dropped"]
pub struct LockGuard {
    scope: LockScope,
    _held: Box<dyn Send>,
}

impl LockGuard {
    /// A guard that gives the lock back by dropping `held`.
    pub fn new(scope: LockScope, held: impl Send + 'static) -> Self {
        Self { scope, _held: Box::new(held) }
    }

    /// Whom it keeps out.
    #[must_use]
    pub fn scope(&self) -> LockScope {
        self.scope
    }
}

impl fmt::Debug for LockGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockGuard").field("scope", &self.scope).finish_non_exhaustive()
    }
}
