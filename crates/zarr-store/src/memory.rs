//! A store in memory.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io::IoSlice;
use std::iter;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::vec;

use super::buffer::assemble;
use super::{
    Capabilities, DirEntry, GetInto, Key, Links, Listing, Location, LockGuard, LockScope,
    ObjectMeta, Prefix, PutMode, PutOutcome, ReadRange, Store, StoreError, Version,
};
use crate::hash::fnv1a;
use crate::locks::lock_table::LockTable;
use crate::sorted::start_of;

/// Keys that a listing copies at a time, so that it holds no lock between its items.
const LIST_BATCH: usize = 1024;

/// Objects are divided among this many maps by a hash of their keys, so that threads that use
/// different objects seldom wait for each other.
const STRIPES: usize = 64;

/// A store in the memory of this process, for tests and for temporary arrays.
///
/// A clone is another handle of the same store. Conditional puts and locks exclude every other
/// user, since no other process sees the store.
///
/// # Examples
/// ```
/// use zarr_store::{Key, MemoryStore, StoreExt};
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
    /// Identifies the store among all stores in memory, of any process.
    number: u64,
}

#[derive(Debug, Default)]
struct Objects {
    /// Ordered as `str`, so that the keys below a prefix are one range.
    by_key: BTreeMap<String, Object>,
    /// Counts writes, so that no two versions of these objects have the same number.
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
            modified: None,
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

    /// The first key after the bound, in the order of all keys.
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

// No caller's code runs while a map is locked, so a poisoned lock means nothing.
fn read(stripe: &RwLock<Objects>) -> RwLockReadGuard<'_, Objects> {
    stripe.read().unwrap_or_else(PoisonError::into_inner)
}

/// The keys of a stripe that begin with `start`.
struct StripeKeys<'s> {
    stripe: &'s RwLock<Objects>,
    start: String,
    after: Bound<String>,
    batch: vec::IntoIter<String>,
}

impl Iterator for StripeKeys<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if let Some(key) = self.batch.next() {
            return Some(key);
        }
        let batch: Vec<String> = read(self.stripe)
            .by_key
            .range::<str, _>((self.after.as_ref().map(String::as_str), Bound::Unbounded))
            .map(|(key, _)| key)
            .take_while(|key| key.starts_with(&self.start))
            .take(LIST_BATCH)
            .cloned()
            .collect();
        self.after = Bound::Excluded(batch.last()?.clone());
        self.batch = batch.into_iter();
        self.batch.next()
    }
}

impl Objects {
    fn insert(&mut self, key: &Key, bytes: Arc<Vec<u8>>) {
        self.writes += 1;
        let object = Object { bytes, version: self.writes };
        self.by_key.insert(key.as_str().to_owned(), object);
    }
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

    fn get_into(&self, key: &Key, out: &mut [u8]) -> Result<GetInto, StoreError> {
        let Some(object) = self.object(key) else { return Ok(GetInto::Missing) };
        if object.bytes.len() != out.len() {
            return Ok(GetInto::Unsupported);
        }
        out.copy_from_slice(&object.bytes);
        Ok(GetInto::Read(object.meta()))
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        Ok(self.object(key).map(|object| object.meta()))
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        // Copied before the map is locked: readers wait for a pointer, not for the copy.
        let bytes = Arc::new(assemble(key, pieces)?);
        let mut objects = self.write(key);
        let current = objects.by_key.get(key.as_str()).and_then(|object| object.meta().version);
        let is_met = match mode {
            PutMode::Overwrite => true,
            PutMode::Create => current.is_none(),
            PutMode::Update(expected) => current.as_ref() == Some(expected),
        };
        if !is_met {
            return Ok(PutOutcome::Changed);
        }
        objects.insert(key, bytes);
        Ok(PutOutcome::Written)
    }

    // Vectored: the pieces are copied once, as a single one would be.
    fn capabilities(&self) -> Capabilities {
        Capabilities::new().conditional_put(true).vectored_put(true)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.write(key).by_key.remove(key.as_str());
        Ok(())
    }

    fn list(&self, prefix: &Prefix, _: Links) -> Listing<'_, Key> {
        let start = start_of(prefix);
        let keys = self.stripes.iter().flat_map(move |stripe| StripeKeys {
            stripe,
            after: Bound::Included(start.clone()),
            start: start.clone(),
            batch: Vec::new().into_iter(),
        });
        Box::new(keys.map(|key| Ok(Key::new(key)?)))
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        let (prefix, start) = (prefix.clone(), start_of(prefix));
        let mut after = Bound::Included(start.clone());
        Box::new(iter::from_fn(move || {
            let key = self.first_from(&after)?;
            let rest = key.strip_prefix(&start)?;
            Some(match rest.split_once('/') {
                Some((child, _)) => {
                    // '0' is the character after '/': continue after all keys of the child.
                    after = Bound::Included(format!("{start}{child}0"));
                    prefix.join(child).map(DirEntry::Prefix).map_err(StoreError::from)
                }
                None => {
                    let object = Key::new(&key);
                    after = Bound::Excluded(key);
                    object.map(DirEntry::Object).map_err(StoreError::from)
                }
            })
        }))
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        let held = self.locks.lock(key.clone()).map_err(|cause| cause.of(key))?;
        Ok(LockGuard::new(LockScope::AllProcesses, held))
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        Some(Location::new(format!("memory {:016x}", self.number), prefix.segments()))
    }
}
