//! Changes of objects that others may be changing.

use std::hash::{BuildHasher, RandomState};
use std::io::IoSlice;
use std::thread;
use std::time::Duration;

use super::{Key, LockScope, Operation, PutOutcome, ReadRange, Store, StoreError, StoreExt as _};

/// How often an update by conditional put is tried before it gives up.
const MAX_ATTEMPTS: u32 = 100;

/// Whether an object may be updated where nothing keeps other processes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum UpdatePolicy {
    /// Refuse: an update is safe from every other writer, or does not happen.
    #[default]
    RequireExclusion,
    /// Go ahead, safe from the threads of this process alone. For a store that nobody else writes.
    AcceptSingleProcess,
}

/// What an update makes of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Leave it as it is.
    Keep,
    /// Write the bytes that are now in the buffer.
    Put,
    /// Remove it.
    ///
    /// Refused with [`StoreError::Unsupported`] unless [`Current::can_delete`].
    Delete,
}

/// What an update finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Current {
    /// Whether there is an object.
    pub exists: bool,
    /// Whether it can be removed. Where only conditional puts keep others out it cannot, for want
    /// of a conditional delete: write what means the same instead.
    pub can_delete: bool,
}

/// Reads an object, lets `change` make something of it, and writes the result, so that no other
/// update of the same object is lost.
///
/// `change` is given the object's bytes in the buffer (none if it does not exist) and leaves there
/// what [`Change::Put`] is to write. It may be called more than once, each time with
/// newer bytes. It must not lock or update another object.
///
/// The best mechanism that the store has is taken: a lock that reaches all processes, else a
/// conditional put with retries, else what `policy` says. Only updates, [`replace`] and [`remove`]
/// take part: a plain put at the same time may be overwritten with what was read before it.
///
/// # Errors
/// What `change` returns; [`StoreError::NoExclusion`] if the store has no mechanism and `policy`
/// requires one; [`StoreError::Contention`] if others were faster too often; errors of the store.
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
    let guard = store.lock(key)?;
    if guard.scope() == LockScope::AllProcesses || !store.conditional_put() {
        if guard.scope() == LockScope::Process && policy == UpdatePolicy::RequireExclusion {
            return Err(StoreError::NoExclusion { key: key.to_string() }.into());
        }
        let exists = store.read_into(key, buffer)?;
        match change(Current { exists, can_delete: true }, buffer)? {
            Change::Keep => {}
            Change::Put => store.put(key, buffer)?,
            Change::Delete => store.delete(key)?,
        }
        return Ok(());
    }
    for attempt in 0..MAX_ATTEMPTS {
        let found = store.get(key, ReadRange::All, buffer)?;
        let expected = match &found {
            None => None,
            Some(meta) if meta.version.is_some() => meta.version.as_ref(),
            // Without a version nothing can be expected of it.
            Some(_) => return Err(StoreError::NoExclusion { key: key.to_string() }.into()),
        };
        match change(Current { exists: found.is_some(), can_delete: false }, buffer)? {
            Change::Keep => return Ok(()),
            Change::Put => {
                if store.put_if(key, buffer, expected)? == PutOutcome::Written {
                    return Ok(());
                }
            }
            Change::Delete => {
                return Err(StoreError::Unsupported {
                    operation: Operation::Delete,
                    key: key.to_string(),
                    missing: "conditional delete",
                }
                .into());
            }
        }
        thread::sleep(pause(attempt));
    }
    Err(StoreError::Contention { key: key.to_string(), attempts: MAX_ATTEMPTS }.into())
}

/// Writes the whole object, keeping out updates of it: none of them reads the old bytes before
/// and writes after.
///
/// # Errors
/// As for [`Store::put`] and [`Store::lock`].
pub fn replace(store: &dyn Store, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
    let _guard = store.lock(key)?;
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
    let _guard = store.lock(key)?;
    store.put_vectored(key, pieces)
}

/// Removes the object, keeping out updates of it.
///
/// # Errors
/// As for [`Store::delete`] and [`Store::lock`].
pub fn remove(store: &dyn Store, key: &Key) -> Result<(), StoreError> {
    let _guard = store.lock(key)?;
    store.delete(key)
}

/// Waits longer from attempt to attempt, 1 to 64 ms, and not as long as the others: the hash keys
/// of this process stand in for a source of random numbers.
fn pause(attempt: u32) -> Duration {
    let most = 1000_u64 << attempt.min(6);
    let random = RandomState::new().hash_one(attempt);
    Duration::from_micros(most / 2 + random % most)
}
