//! The state of a source that a copy has: that of its first listing.
//!
//! # The rule
//! A copy is a copy of one state, or it names the objects that changed and ends with an error. So
//! what every read finds is what the listing before the first read told, and what a listing after
//! the last read tells. [`SourceStore`](crate::source_store::SourceStore) is the only way from a copy to its source, so that no read
//! is forgotten.
//!
//! # Memory
//! Up to a limit, the first listing is kept whole. Then each read is compared at once: a copy never
//! has an object of another state, so a resume may skip what is stored; what was added is another
//! source to it. Of more objects, and of
//! stores that cannot list, only digests of blocks of the listing are kept, and the versions that
//! were read since the last comparison. There, a resume compares bytes.

use std::collections::hash_map::{Entry, HashMap};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use zarr_array::parallel;
use zarr_array::unfinished::is_of_copy;
use zarr_store::{Key, ObjectMeta, Operation, Prefix, Store, StoreError};

use crate::content::{ContentDigest, each_object, hash_of};
use crate::error::{TransferError, source};
use crate::listed::{is_as_listed, is_listed_again};

/// Bytes of the memory of a copy for one object of its source whose description is kept.
const BYTES_PER_OBJECT: u64 = 2048;

/// So many descriptions are kept in any case.
const FEWEST_OBJECTS: usize = 1 << 12;

/// Blocks of a listing that is not kept whole.
const BLOCKS: u64 = 1 << 16;

/// The most names in an error.
const MOST_NAMES: usize = 10;

/// A description of each object; `None` for an object that is not there.
type Described = HashMap<Box<str>, Option<ObjectMeta>>;

/// The objects of a source before its first read.
pub(crate) struct SourceState {
    store: Arc<dyn Store>,
    prefix: Prefix,
    content: Option<ContentDigest>,
    first: First,
    /// The most descriptions to keep.
    most: usize,
    /// What was read and is not compared yet.
    reads: Mutex<Described>,
    /// Some of the objects that are known to have changed.
    changed: Mutex<Changes>,
}

/// The first listing.
enum First {
    Whole(BTreeMap<Box<str>, Option<ObjectMeta>>),
    Blocks(Vec<ContentDigest>),
    /// The store cannot list.
    Unlisted,
}

/// The objects that have changed.
#[derive(Clone, Default)]
struct Changes {
    /// The names of some.
    names: BTreeSet<String>,
    count: u64,
}

impl Changes {
    fn add(&mut self, name: &str) {
        if self.names.contains(name) {
            return;
        }
        self.count += 1;
        if self.names.len() < MOST_NAMES {
            self.names.insert(name.to_owned());
        }
    }
}

impl fmt::Debug for SourceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceState").field("store", &self.store).finish_non_exhaustive()
    }
}

impl SourceState {
    /// Lists everything at and below a node.
    pub(crate) fn of(
        store: &Arc<dyn Store>,
        prefix: &Prefix,
        memory: u64,
    ) -> Result<Self, TransferError> {
        let most = usize::try_from(memory / BYTES_PER_OBJECT).unwrap_or(usize::MAX);
        Self::with_most(store, prefix, most.max(FEWEST_OBJECTS))
    }

    fn with_most(
        store: &Arc<dyn Store>,
        prefix: &Prefix,
        most: usize,
    ) -> Result<Self, TransferError> {
        let mut content = ContentDigest::default();
        let mut first = First::Whole(BTreeMap::new());
        let is_listed = each_object(&**store, prefix, &mut |name, meta| {
            match &meta {
                Some(meta) => content.add_object(name, meta),
                None => content.add_document(name, ""),
            }
            match &mut first {
                First::Whole(objects) if objects.len() < most => {
                    objects.insert(name.into(), meta);
                }
                First::Whole(objects) => {
                    let mut blocks = vec![ContentDigest::default(); block_of("").1];
                    let before = objects.iter().map(|(name, meta)| (&**name, meta.as_ref()));
                    for (name, meta) in before.chain([(name, meta.as_ref())]) {
                        add_to(&mut blocks, name, meta);
                    }
                    first = First::Blocks(blocks);
                }
                First::Blocks(blocks) => add_to(blocks, name, meta.as_ref()),
                First::Unlisted => {}
            }
        })?;
        Ok(Self {
            store: Arc::clone(store),
            prefix: prefix.clone(),
            content: is_listed.then_some(content),
            first: if is_listed { first } else { First::Unlisted },
            most,
            reads: Mutex::default(),
            changed: Mutex::default(),
        })
    }

    /// The digest of the objects; `None` if the store cannot list.
    pub(crate) fn content(&self) -> Option<ContentDigest> {
        self.content
    }

    /// The store itself.
    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Whether no read of another state is ever passed on.
    pub(crate) fn compares_at_once(&self) -> bool {
        matches!(self.first, First::Whole(_))
    }

    /// Refuses a listing of everything below a prefix that has another number of objects than the
    /// first listing: what was removed before it was read is not noticed by reads.
    pub(crate) fn check_listed(&self, below: &Prefix, count: u64) -> Result<(), TransferError> {
        if !zarr_store::step!("copy: count of the objects of a folder") {
            return Ok(());
        }
        let First::Whole(objects) = &self.first else { return Ok(()) };
        let Some(path) = zarr_store::path_below(below.as_str(), self.prefix.as_str()) else {
            return Ok(());
        };
        let start = if path.is_empty() { String::new() } else { format!("{path}/") };
        let first = objects
            .range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded))
            .take_while(|(name, _)| name.starts_with(&start));
        match u64::try_from(first.count()).is_ok_and(|first| first == count) {
            true => Ok(()),
            false => Err(self.told(self.changes()?)),
        }
    }

    /// The result of work that read from this source, unless the source has changed meanwhile.
    pub(crate) fn of_one_state<T>(
        &self,
        result: Result<T, TransferError>,
    ) -> Result<T, TransferError> {
        match result {
            // A change may have broken the read.
            Err(error @ TransferError::Source(_)) => match self.changes() {
                Ok(changes) if changes.count > 0 => Err(self.told(changes)),
                _ => Err(error),
            },
            Err(error) => Err(error),
            Ok(done) if !zarr_store::step!("copy: listing after the last read") => Ok(done),
            Ok(done) => match self.changes()? {
                changes if changes.count == 0 => Ok(done),
                changes => Err(self.told(changes)),
            },
        }
    }

    fn told(&self, changes: Changes) -> TransferError {
        let key = |name: &String| match self.prefix.is_root() {
            true => name.clone(),
            false => format!("{}/{name}", self.prefix),
        };
        let keys = changes.names.iter().map(key).collect();
        TransferError::ChangedMeanwhile { keys, count: changes.count }
    }

    /// Compares what a read found.
    pub(crate) fn check(
        &self,
        operation: Operation,
        key: &Key,
        found: Option<&ObjectMeta>,
    ) -> Result<(), StoreError> {
        if !zarr_store::step!("copy: comparison of each read with the listing") {
            return Ok(());
        }
        let Some(name) = self.prefix.strip(key) else { return Ok(()) };
        // The marker of this copy appears at its source if both are the same place.
        if is_of_copy(key.name()) {
            return Ok(());
        }
        let is_same = match &self.first {
            First::Whole(objects) => match (objects.get(name), found) {
                (Some(listed), found) => is_as_listed(listed.as_ref(), found),
                (None, None) => true,
                // It was added, or is behind a second link, which listings do not follow.
                (None, Some(_)) => self.is_as_read_before(name, found)?,
            },
            First::Blocks(_) | First::Unlisted => self.is_as_read_before(name, found)?,
        };
        if is_same {
            return Ok(());
        }
        lock(&self.changed).add(name);
        let message = "it changed while it was copied";
        Err(StoreError::io(operation, key, io::Error::other(message)))
    }

    /// Remembers what a read found, unless that object was read before.
    fn is_as_read_before(
        &self,
        name: &str,
        found: Option<&ObjectMeta>,
    ) -> Result<bool, StoreError> {
        let is_full = {
            let mut reads = lock(&self.reads);
            match reads.entry(name.into()) {
                Entry::Occupied(before) => return Ok(is_as_listed(before.get().as_ref(), found)),
                Entry::Vacant(new) => new.insert(found.cloned()),
            };
            reads.len() >= self.most
        };
        if !is_full {
            return Ok(true);
        }
        match self.changes() {
            Ok(changes) => Ok(changes.count == 0),
            Err(TransferError::Source(zarr_array::ArrayError::Store(error))) => Err(error),
            Err(error) => {
                Err(StoreError::io(Operation::List, &self.prefix, io::Error::other(error)))
            }
        }
    }

    /// The objects that are not as the first listing told, or as they were read.
    fn changes(&self) -> Result<Changes, TransferError> {
        let mut changes = lock(&self.changed).clone();
        let mut reads = std::mem::take(&mut *lock(&self.reads));
        match &self.first {
            First::Whole(objects) => {
                self.changes_of(objects, &mut changes)?;
                self.look_up(reads, &mut changes)?;
            }
            First::Blocks(first) => {
                let mut now = vec![ContentDigest::default(); first.len()];
                each_object(&*self.store, &self.prefix, &mut |name, meta| {
                    add_to(&mut now, name, meta.as_ref());
                    if let Some(read) = reads.remove(name)
                        && !is_as_listed(meta.as_ref(), read.as_ref())
                    {
                        changes.add(name);
                    }
                })?;
                // What remains is not there now.
                let gone = reads.iter().filter(|(_, read)| read.is_some());
                gone.for_each(|(name, _)| changes.add(name));
                if changes.count == 0 && *first != now {
                    self.newest(first, &now, &mut changes)?;
                }
            }
            First::Unlisted => self.look_up(reads, &mut changes)?,
        }
        *lock(&self.changed) = changes.clone();
        Ok(changes)
    }

    /// Looks up what was read, and no listing tells.
    fn look_up(&self, reads: Described, changes: &mut Changes) -> Result<(), TransferError> {
        let reads: Vec<(Box<str>, Option<ObjectMeta>)> = reads.into_iter().collect();
        let threads = parallel::requests(&*self.store);
        let now = parallel::map(&reads, threads, |(name, _)| {
            Store::head(&*self.store, &self.prefix.key(name)?)
        });
        for ((name, read), now) in reads.iter().zip(now.map_err(source)?) {
            if !is_as_listed(now.as_ref(), read.as_ref()) {
                changes.add(name);
            }
        }
        Ok(())
    }

    fn changes_of(
        &self,
        first: &BTreeMap<Box<str>, Option<ObjectMeta>>,
        changes: &mut Changes,
    ) -> Result<(), TransferError> {
        let mut seen = 0_usize;
        each_object(&*self.store, &self.prefix, &mut |name, meta| match first.get(name) {
            Some(first) => {
                seen += 1;
                if !is_listed_again(first.as_ref(), meta.as_ref()) {
                    changes.add(name);
                }
            }
            None => changes.add(name),
        })?;
        if seen < first.len() {
            let mut gone: BTreeSet<&str> = first.keys().map(|name| &**name).collect();
            each_object(&*self.store, &self.prefix, &mut |name, _| {
                gone.remove(name);
            })?;
            gone.into_iter().for_each(|name| changes.add(name));
        }
        Ok(())
    }

    /// The newest object of each block that differs: which of a block changed is not known.
    fn newest(
        &self,
        first: &[ContentDigest],
        now: &[ContentDigest],
        changes: &mut Changes,
    ) -> Result<(), TransferError> {
        let differs = |block: &usize| first.get(*block) != now.get(*block);
        let mut newest: BTreeMap<usize, (Option<SystemTime>, String)> =
            (0..first.len()).filter(differs).map(|block| (block, (None, String::new()))).collect();
        each_object(&*self.store, &self.prefix, &mut |name, meta| {
            let Some(newest) = newest.get_mut(&block_of(name).0) else { return };
            let time = meta.and_then(|meta| meta.modified);
            if newest.1.is_empty() || time > newest.0 {
                *newest = (time, name.to_owned());
            }
        })?;
        for (_, name) in newest.into_values() {
            match name.is_empty() {
                // It was removed, and only a digest of its name is known.
                true => changes.count += 1,
                false => changes.add(&name),
            }
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The block of a name, and the number of blocks.
fn block_of(name: &str) -> (usize, usize) {
    let [block, all] = [hash_of(&[name.as_bytes()]).checked_rem(BLOCKS).unwrap_or(0), BLOCKS]
        .map(|number| usize::try_from(number).unwrap_or(0));
    (block, all)
}

fn add_to(blocks: &mut [ContentDigest], name: &str, meta: Option<&ObjectMeta>) {
    if let Some(block) = blocks.get_mut(block_of(name).0) {
        block.add_state(name, meta);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source_store::SourceStore;
    use zarr_store::{MemoryStore, StoreExt};

    fn key(name: &str) -> Key {
        Key::new(name).expect("a key")
    }

    /// A state of 20 objects of which at most `most` are kept, and the store of it.
    fn state(most: usize) -> (Arc<dyn Store>, SourceStore) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        for number in 0..20 {
            store.put(&key(&format!("a/c/{number}")), b"old").expect("puts");
        }
        let prefix = Prefix::new("a").expect("a prefix");
        let state = SourceState::with_most(&store, &prefix, most).expect("lists");
        (store, SourceStore::new(Arc::new(state)))
    }

    fn changed(store: &SourceStore) -> Vec<String> {
        match store.state().of_one_state(Ok(())) {
            Ok(()) => Vec::new(),
            Err(TransferError::ChangedMeanwhile { keys, .. }) => keys,
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn blocks_tell_what_was_replaced_added_or_removed() {
        for most in [0, 7, 20, 100] {
            let (_, same) = state(most);
            assert!(changed(&same).is_empty(), "{most}");
            let (inner, replaced) = state(most);
            inner.put(&key("a/c/3"), b"new").expect("puts");
            assert_eq!(changed(&replaced), ["a/c/3"], "{most}");
            let (inner, added) = state(most);
            inner.put(&key("a/d"), b"new").expect("puts");
            assert_eq!(changed(&added), ["a/d"], "{most}");
            let (inner, removed) = state(most);
            Store::delete(&*inner, &key("a/c/3")).expect("deletes");
            match removed.state().of_one_state(Ok(())) {
                Err(TransferError::ChangedMeanwhile { keys, count: 1 }) => {
                    // Of a block, only a digest is known.
                    assert_eq!(keys.len(), usize::from(most >= 20), "{most}");
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// The store counts versions: what is put back is another state.
    #[test]
    fn reads_are_compared_with_each_other_and_with_a_later_listing() {
        for most in [0, 1, 7, 20] {
            let (inner, read) = state(most);
            let get = |name| StoreExt::read(&read, &key(name));
            assert!(get("a/c/1").is_ok() && get("a/c/1").is_ok(), "{most}");
            assert_eq!(get("a/x").expect("is not there"), None);
            inner.put(&key("a/c/1"), b"new").expect("puts");
            assert!(get("a/c/1").is_err() || most == 0, "{most}");
            assert_eq!(changed(&read), ["a/c/1"], "{most}");
        }
    }

    #[test]
    fn a_listing_with_fewer_objects_is_told() {
        let (inner, store) = state(100);
        let folder = Prefix::new("a/c").expect("a prefix");
        store.state().check_listed(&folder, 20).expect("as many");
        Store::delete(&*inner, &key("a/c/3")).expect("deletes");
        assert!(store.state().check_listed(&folder, 19).is_err());
    }
}
