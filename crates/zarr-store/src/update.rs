//! Changes of objects that others may be changing too.

use std::hash::{BuildHasher, RandomState};
use std::io::IoSlice;
use std::thread;
use std::time::Duration;

use super::{
    Key, LockScope, Operation, PutMode, PutOutcome, ReadRange, Store, StoreError, StoreExt as _,
    Version,
};

/// How often an update by conditional put is tried before it gives up.
const MAX_ATTEMPTS: u32 = 100;

/// Whether an object may be updated in a store that cannot exclude other processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum UpdatePolicy {
    /// No: an update is safe from every other writer, or is refused.
    #[default]
    RequireExclusion,
    /// Yes: an update is safe only from other threads of this process. For a store that no other
    /// process writes.
    AcceptSingleProcess,
}

/// The change that an update makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Keep the object unchanged.
    Keep,
    /// Write the bytes in the buffer.
    Put,
    /// Remove it.
    ///
    /// Refused with [`StoreError::Unsupported`] unless [`Current::can_delete`].
    Delete,
}

/// The state of an object before an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Current {
    /// Whether there is an object.
    pub exists: bool,
    /// Whether it can be removed. It cannot if only conditional puts exclude others, since there is
    /// no conditional delete: write equivalent bytes instead.
    pub can_delete: bool,
}

impl Current {
    /// The state of an object.
    #[must_use]
    pub fn new(exists: bool, can_delete: bool) -> Self {
        Self { exists, can_delete }
    }
}

/// Reads an object, calls `change` and writes the result, without losing any other update of the
/// same object.
///
/// `change` gets the object's bytes in the buffer (none if it does not exist), and replaces them
/// there with the bytes that [`Change::Put`] writes. It may be called more than once, each time
/// with newer bytes. It must not lock or update another object.
///
/// Uses the best mechanism of the store: a lock that excludes all processes, else a conditional put
/// with retries, else `policy` decides. This excludes other updates, [`replace`] and [`remove`].
/// It does not exclude plain puts: an update may overwrite the bytes of a concurrent plain put.
///
/// # Errors
/// The error that `change` returns; [`StoreError::NoExclusion`] if the store has no mechanism and
/// `policy` requires one; [`StoreError::Contention`] if other writers were faster too often; errors
/// of the store.
///
/// # Examples
/// ```
/// use zarr_store::{update, Change, Key, MemoryStore, StoreError, StoreExt, UpdatePolicy};
///
/// let store = MemoryStore::new();
/// let key = Key::new("counter")?;
/// let mut buffer = Vec::new();
/// for _ in 0..3 {
///     update(&store, &key, UpdatePolicy::default(), &mut buffer, |_, bytes| {
///         bytes.push(b'|');
///         Ok::<_, StoreError>(Change::Put)
///     })?;
/// }
/// assert_eq!(store.read(&key)?.as_deref(), Some(&b"|||"[..]));
/// # Ok::<(), StoreError>(())
/// ```
pub fn update<E: From<StoreError>>(
    store: &dyn Store,
    key: &Key,
    policy: UpdatePolicy,
    buffer: &mut Vec<u8>,
    mut change: impl FnMut(Current, &mut Vec<u8>) -> Result<Change, E>,
) -> Result<(), E> {
    exclusively(store, key, policy, |exclusion| {
        if exclusion == Exclusion::Locked {
            let exists = store.read_into(key, buffer)?;
            match change(Current { exists, can_delete: true }, buffer)? {
                Change::Keep => {}
                Change::Put => store.put(key, buffer)?,
                Change::Delete => store.delete(key)?,
            }
            return Ok(PutOutcome::Written);
        }
        let found = store.get(key, ReadRange::All, buffer)?;
        let expected = match &found {
            None => None,
            Some(meta) if meta.version.is_some() => meta.version.as_ref(),
            // Without a version nothing can be expected of it.
            Some(_) => return Err(StoreError::NoExclusion { key: key.to_string() }.into()),
        };
        match change(Current { exists: found.is_some(), can_delete: false }, buffer)? {
            Change::Keep => Ok(PutOutcome::Written),
            Change::Put => {
                Ok(store.put_opts(key, &[IoSlice::new(buffer)], exclusion.mode(expected))?)
            }
            Change::Delete => {
                let missing = "conditional delete";
                Err(StoreError::unsupported(Operation::Delete, key, missing).into())
            }
        }
    })
}

/// How an attempt of [`exclusively`] is kept apart from other updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exclusion {
    /// By a lock, which excludes other holders until the attempt ends.
    Locked,
    /// By the version: the attempt puts on the [condition](crate::PutMode::expecting) that the object
    /// is still of the version that it has read.
    Conditional,
}

impl Exclusion {
    /// How an attempt puts an object of which it has read this version; `None` if there was none.
    #[must_use]
    pub fn mode(self, read: Option<&Version>) -> PutMode<'_> {
        match self {
            Self::Conditional if crate::step!("update: condition of the put") => {
                PutMode::expecting(read)
            }
            Self::Conditional | Self::Locked => PutMode::Overwrite,
        }
    }
}

/// Calls `attempt` under the best mechanism of the store that excludes other updates of an object, as
/// [`update`] does, for updates that need not read the whole object. It is called again after
/// [`PutOutcome::Changed`]: the object was changed meanwhile.
///
/// # Errors
/// As [`update`].
pub fn exclusively<E: From<StoreError>>(
    store: &dyn Store,
    key: &Key,
    policy: UpdatePolicy,
    mut attempt: impl FnMut(Exclusion) -> Result<PutOutcome, E>,
) -> Result<(), E> {
    let guard = crate::lock_step!("update: lock", store.lock(key))?;
    let is_conditional =
        guard.scope() != LockScope::AllProcesses && store.capabilities().conditional_put;
    let exclusion = match is_conditional {
        true => Exclusion::Conditional,
        false
            if guard.scope() == LockScope::Process && policy == UpdatePolicy::RequireExclusion =>
        {
            return Err(StoreError::NoExclusion { key: key.to_string() }.into());
        }
        false => {
            crate::reached!("update: under a lock");
            Exclusion::Locked
        }
    };
    for number in 0..MAX_ATTEMPTS {
        if attempt(exclusion)? == PutOutcome::Written {
            return Ok(());
        }
        crate::reached!("update: others were faster");
        thread::sleep(pause(number));
    }
    Err(StoreError::Contention { key: key.to_string(), attempts: MAX_ATTEMPTS }.into())
}

/// Writes the whole object while excluding updates of it: no update reads the old bytes before this
/// write and writes after it.
///
/// # Errors
/// As for [`Store::put_opts`] and [`Store::lock`].
pub fn replace(store: &dyn Store, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
    let _guard = crate::lock_step!("replace: lock", store.lock(key))?;
    store.put(key, bytes)
}

/// As [`replace`], from pieces one after another.
///
/// # Errors
/// As [`replace`].
pub fn replace_vectored(
    store: &dyn Store,
    key: &Key,
    pieces: &[IoSlice<'_>],
) -> Result<(), StoreError> {
    let _guard = crate::lock_step!("replace by pieces: lock", store.lock(key))?;
    store.put_vectored(key, pieces)
}

/// Removes the object while excluding updates of it.
///
/// # Errors
/// As for [`Store::delete`] and [`Store::lock`].
pub fn remove(store: &dyn Store, key: &Key) -> Result<(), StoreError> {
    let _guard = crate::lock_step!("remove: lock", store.lock(key))?;
    store.delete(key)
}

/// A pause that grows from attempt to attempt, from 1 to 64 ms on average.
fn pause(attempt: u32) -> Duration {
    jitter(Duration::from_millis(1 << attempt.min(6)))
}

/// A random time from half of the given one to one and a half of it, so that writers do not keep
/// colliding. The random hash keys of the standard library serve as its source.
pub(crate) fn jitter(average: Duration) -> Duration {
    #[cfg(feature = "simulation")]
    if let Some(pause) = crate::simulation::pause(average) {
        return pause;
    }
    let random = RandomState::new().hash_one(average);
    // Between 0 and 1.
    let part = f64::from(u32::try_from(random >> 32).unwrap_or(u32::MAX)) / f64::from(u32::MAX);
    average.mul_f64(0.5 + part)
}
