//! A store in memory.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io::IoSlice;
use std::ops::{Bound, ControlFlow};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::api::assemble;
use super::lock_table::LockTable;
use super::{
    DirEntry, Key, Links, Location, LockGuard, LockScope, ObjectMeta, Operation, Prefix,
    PutOutcome, ReadRange, Store, StoreError, Version,
};
use crate::hash::fnv1a;

/// Keys that a listing copies at a time, so that no lock is held while a visitor runs.
const LIST_BATCH: usize = 1024;

/// The objects are divided by a hash of their keys, so that threads that use different ones seldom
/// meet at a lock.
const STRIPES: usize = 64;

/// A store in the memory of this process, for tests and for arrays that need not last.
///
/// A clone is another handle of the same store. Conditional puts and locks reach every user there
/// can be, since no other process sees the store.
///
/// # Examples
/// ```
/// use zarr_store::{Key, MemoryStore, Store, StoreExt};
///
/// let store = MemoryStore::new();
/// let key = Key::new("c/0")?;
/// store.put(&key, b"chunk")?;
/// assert_eq!(store.read(&key)?.as_deref(), Some(&b"chunk"[..]));
/// # Ok::<(), zarr_store::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MemoryStore {
    stripes: Arc<[RwLock<Objects>; STRIPES]>,
    locks: Arc<LockTable<Key>>,
    /// As no other store in memory has, of whatever process.
    number: u64,
}

#[derive(Debug, Default)]
struct Objects {
    /// `str` order of the keys, so that what lies below a prefix is one range.
    by_key: BTreeMap<String, Object>,
    /// Counts writes: no two states of any of these objects have the same number.
    writes: u64,
}

#[derive(Debug, Clone)]
struct Object {
    bytes: Arc<Vec<u8>>,
    version: u64,
}

impl Object {
    fn meta(&self) -> ObjectMeta {
        ObjectMeta {
            size: self.bytes.len() as u64,
            version: Some(Version::from_numbers([self.version, 0, 0, 0])),
        }
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        let number = RandomState::new().hash_one("memory");
        let stripes = Arc::new(std::array::from_fn(|_| RwLock::default()));
        Self { stripes, locks: Arc::new(LockTable::new()), number }
    }

    #[expect(clippy::indexing_slicing, reason = "the index is a remainder of the length")]
    fn stripe(&self, key: &Key) -> &RwLock<Objects> {
        &self.stripes[(fnv1a(key.as_str().as_bytes()) % STRIPES as u64) as usize]
    }

    fn write(&self, key: &Key) -> RwLockWriteGuard<'_, Objects> {
        self.stripe(key).write().unwrap_or_else(PoisonError::into_inner)
    }

    fn object(&self, key: &Key) -> Option<Object> {
        read(self.stripe(key)).by_key.get(key.as_str()).cloned()
    }

    /// The first key from `after` on, in the order of all keys.
    fn first_from(&self, after: &Bound<String>) -> Option<String> {
        let mut least: Option<String> = None;
        for stripe in self.stripes.iter() {
            let from = (after.as_ref().map(String::as_str), Bound::Unbounded);
            match read(stripe).by_key.range::<str, _>(from).next() {
                Some((key, _)) if least.as_ref().is_none_or(|least| key < least) => {
                    least = Some(key.clone());
                }
                _ => {}
            }
        }
        least
    }
}

// No user code runs while a map is locked, so that poison carries no information.
fn read(stripe: &RwLock<Objects>) -> RwLockReadGuard<'_, Objects> {
    stripe.read().unwrap_or_else(PoisonError::into_inner)
}

/// Visits the keys of a stripe that begin with `start`.
fn list(
    stripe: &RwLock<Objects>,
    start: &str,
    visit: &mut dyn FnMut(Key) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, StoreError> {
    let mut after = Bound::Included(start.to_owned());
    loop {
        let batch: Vec<String> = read(stripe)
            .by_key
            .range((after, Bound::Unbounded))
            .map(|(key, _)| key)
            .take_while(|key| key.starts_with(start))
            .take(LIST_BATCH)
            .cloned()
            .collect();
        let Some(last) = batch.last().cloned() else { return Ok(ControlFlow::Continue(())) };
        for key in &batch {
            if visit(Key::new(key)?).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        after = Bound::Excluded(last);
    }
}

impl Objects {
    fn insert(&mut self, key: &Key, bytes: Arc<Vec<u8>>) {
        self.writes += 1;
        let object = Object { bytes, version: self.writes };
        self.by_key.insert(key.as_str().to_owned(), object);
    }
}

/// The text that every key below `prefix` begins with.
fn start_of(prefix: &Prefix) -> String {
    if prefix.is_root() { String::new() } else { format!("{prefix}/") }
}

impl Store for MemoryStore {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        out.clear();
        let Some(object) = self.object(key) else { return Ok(None) };
        range.copy(key, &object.bytes, out)?;
        Ok(Some(object.meta()))
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        Ok(self.object(key).map(|object| object.meta()))
    }

    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
        // Copied before the map is locked: readers wait for a pointer, not for the copy.
        let bytes = Arc::new(bytes.to_vec());
        self.write(key).insert(key, bytes);
        Ok(())
    }

    fn put_vectored(&self, key: &Key, pieces: &[IoSlice<'_>]) -> Result<(), StoreError> {
        let bytes = Arc::new(assemble(key, pieces)?);
        self.write(key).insert(key, bytes);
        Ok(())
    }

    // Put together once, where a single piece would be copied.
    fn is_vectored(&self) -> bool {
        true
    }

    fn conditional_put(&self) -> bool {
        true
    }

    fn put_if(
        &self,
        key: &Key,
        bytes: &[u8],
        expected: Option<&Version>,
    ) -> Result<PutOutcome, StoreError> {
        let bytes = Arc::new(bytes.to_vec());
        let mut objects = self.write(key);
        let current = objects.by_key.get(key.as_str()).and_then(|object| object.meta().version);
        if current.as_ref() != expected {
            return Ok(PutOutcome::Changed);
        }
        objects.insert(key, bytes);
        Ok(PutOutcome::Written)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.write(key).by_key.remove(key.as_str());
        Ok(())
    }

    fn list(
        &self,
        prefix: &Prefix,
        _: Links,
        visit: &mut dyn FnMut(Key) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let start = start_of(prefix);
        for stripe in self.stripes.iter() {
            if list(stripe, &start, visit)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn list_dir(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let start = start_of(prefix);
        let mut after = Bound::Included(start.clone());
        loop {
            let Some(key) = self.first_from(&after) else { return Ok(()) };
            let Some(rest) = key.strip_prefix(&start) else { return Ok(()) };
            let child = rest.split_once('/').map(|(child, _)| child.to_owned());
            let entry = if let Some(child) = child {
                // '0' is the character after '/': the search goes on past all of the child's keys.
                after = Bound::Included(format!("{start}{child}0"));
                DirEntry::Prefix(prefix.join(&child)?)
            } else {
                let object = DirEntry::Object(Key::new(&key)?);
                after = Bound::Excluded(key);
                object
            };
            if visit(entry).is_break() {
                return Ok(());
            }
        }
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        let held = self.locks.lock(key.clone());
        let held = held.ok_or_else(|| StoreError::too_many_forks(Operation::Lock, key))?;
        Ok(LockGuard::new(LockScope::AllProcesses, held))
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        Some(Location::new(format!("memory {:016x}", self.number), prefix.segments()))
    }
}
