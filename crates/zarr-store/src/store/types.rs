//! The arguments and results of a store's methods.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::SystemTime;

use crate::{Key, Operation, Prefix, StoreError};

/// Whether the object with a key is concerned.
pub type KeyFilter = Arc<dyn Fn(&Key) -> bool + Send + Sync>;

/// Size and version of an object, and when it was modified.
///
/// Two are equal if size and version are equal. Servers that share their objects may give different
/// times for one version, and times in listings have other decimals than in reads.
#[derive(Debug, Clone)]
pub struct ObjectMeta {
    /// Size in bytes.
    pub size: u64,
    /// The version of the object; `None` if the store does not distinguish versions.
    pub version: Option<Version>,
    /// The time when the object was modified, by the clock of its server or file system and in its
    /// precision: for HTTP, cut to whole seconds. `None` if the store does not know.
    pub modified: Option<SystemTime>,
}

impl PartialEq for ObjectMeta {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size && self.version == other.version
    }
}

impl Eq for ObjectMeta {}

/// Identifies one state of one object: an ETag, a counter, or inode and time of a file. Only
/// equality has a meaning.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Version(Text);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Text {
    Numbers([u64; 4]),
    Tag(Arc<str>),
}

impl Version {
    /// A version made of numbers, such as a counter or the identity of a file.
    #[must_use]
    pub fn from_numbers(numbers: [u64; 4]) -> Self {
        Self(Text::Numbers(numbers))
    }

    /// A version from a text, such as an ETag.
    #[must_use]
    pub fn from_tag(tag: &str) -> Self {
        Self(Text::Tag(Arc::from(tag)))
    }

    /// The text, if the version was made from a text.
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

/// The result of [`Store::get_into`](crate::Store::get_into).
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum GetInto {
    /// The store does not read in this way, or the object has another length: use
    /// [`Store::get`](crate::Store::get).
    Unsupported,
    /// There is no such object.
    Missing,
    /// All bytes belong to this one version of the object.
    Read(ObjectMeta),
}

/// The condition on which [`Store::put_opts`](crate::Store::put_opts) writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutMode<'v> {
    /// No condition: an existing object is replaced.
    Overwrite,
    /// There is no object.
    Create,
    /// The version of the object is still this one.
    Update(&'v Version),
}

impl<'v> PutMode<'v> {
    /// [`Update`](PutMode::Update) of a version, [`Create`](PutMode::Create) without one.
    #[must_use]
    pub fn expecting(version: Option<&'v Version>) -> Self {
        version.map_or(Self::Create, Self::Update)
    }

    /// Refuses all modes but [`Overwrite`](PutMode::Overwrite): for stores without conditional
    /// puts.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`].
    pub fn require_overwrite(self, key: &Key) -> Result<(), StoreError> {
        match self {
            Self::Overwrite => Ok(()),
            Self::Create | Self::Update(_) => {
                Err(StoreError::unsupported(Operation::Put, key, "conditional writes"))
            }
        }
    }
}

/// The result of a put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum PutOutcome {
    /// The condition was met, and the object now holds the new bytes.
    Written,
    /// The condition was not met, and the object is unchanged.
    Changed,
}

/// The abilities of a store, from [`Store::capabilities`](crate::Store::capabilities).
///
/// # Examples
/// ```
/// use std::num::NonZeroUsize;
/// use zarr_store::Capabilities;
///
/// let many = NonZeroUsize::new(32).unwrap();
/// let capabilities = Capabilities::new().conditional_put(true).requests_in_flight(many);
/// assert!(capabilities.conditional_put && !capabilities.vectored_put);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct Capabilities {
    /// Whether [`PutMode::Create`] and [`PutMode::Update`] work, and are atomic between processes.
    pub conditional_put: bool,
    /// Whether a put of several pieces saves a copy, because the store does not assemble them
    /// first.
    pub vectored_put: bool,
    /// The number of requests to have in flight at once, if there is enough work: more than the
    /// cores for a remote store. It is a hint; a wrong one costs only time.
    pub requests_in_flight: NonZeroUsize,
    /// Whether puts take effect only when a session is committed: an operation that fails before has
    /// stored nothing.
    pub uncommitted: bool,
    /// Whether the store keeps a checksum of each object and compares it on every read of the whole
    /// object: changed bytes are an error.
    pub checksums: bool,
}

/// Bytes of a local file that are read in the time that one more range takes.
const NEAR_RANGE_COST: u64 = 3 << 10;

/// As [`NEAR_RANGE_COST`], for a remote store. At 20 ms per request and 50 MB/s per connection,
/// reading as many bytes costs less than a tenth of another request.
pub(crate) const FAR_RANGE_COST: u64 = 64 << 10;

impl Capabilities {
    /// The bytes that can be read in the time that one more range takes: 3 KiB, or 64 KiB if the
    /// store wants several [requests in flight](Capabilities::requests_in_flight), as remote stores
    /// do.
    #[must_use]
    pub fn range_cost(self) -> u64 {
        if self.requests_in_flight > NonZeroUsize::MIN { FAR_RANGE_COST } else { NEAR_RANGE_COST }
    }

    /// No conditional and no vectored puts, and one request at a time: the store responds as fast
    /// as a thread can ask.
    pub fn new() -> Self {
        Self {
            conditional_put: false,
            vectored_put: false,
            requests_in_flight: NonZeroUsize::MIN,
            uncommitted: false,
            checksums: false,
        }
    }

    /// Sets [`conditional_put`](Capabilities::conditional_put).
    pub fn conditional_put(mut self, supported: bool) -> Self {
        self.conditional_put = supported;
        self
    }

    /// Sets [`vectored_put`](Capabilities::vectored_put).
    pub fn vectored_put(mut self, supported: bool) -> Self {
        self.vectored_put = supported;
        self
    }

    /// Sets [`requests_in_flight`](Capabilities::requests_in_flight).
    pub fn requests_in_flight(mut self, requests: NonZeroUsize) -> Self {
        self.requests_in_flight = requests;
        self
    }

    /// Sets [`uncommitted`](Capabilities::uncommitted).
    pub fn uncommitted(mut self, uncommitted: bool) -> Self {
        self.uncommitted = uncommitted;
        self
    }

    /// Sets [`checksums`](Capabilities::checksums).
    pub fn checksums(mut self, stored: bool) -> Self {
        self.checksums = stored;
        self
    }
}

impl Default for Capabilities {
    fn default() -> Self {
        Self::new()
    }
}

/// How a listing treats links, such as the symbolic links of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// The target of a link is listed under the name of the link: for readers.
    Follow,
    /// A link is itself an object, which can be [deleted](crate::Store::delete), and its target is
    /// not listed: for deleting. If the prefix itself is a link, only the link is listed.
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

/// The other holders that a lock excludes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockScope {
    /// Other threads of this process.
    Process,
    /// All other threads, in any process.
    AllProcesses,
}

/// Holds a lock until dropped.
#[must_use = "the lock is released when the guard is dropped"]
pub struct LockGuard {
    scope: LockScope,
    _held: Box<dyn Send + Sync>,
}

impl LockGuard {
    /// A guard; dropping `held` releases the lock.
    pub fn new(scope: LockScope, held: impl Send + Sync + 'static) -> Self {
        Self { scope, _held: Box::new(held) }
    }

    /// Several guards as one. It excludes the holders that all of them exclude.
    pub fn all(guards: Vec<Self>) -> Self {
        let is_wide = guards.iter().all(|guard| guard.scope == LockScope::AllProcesses);
        let scope = if is_wide { LockScope::AllProcesses } else { LockScope::Process };
        Self::new(scope, guards)
    }

    /// The other holders that it excludes.
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
