//! The one state of the members of which a document is made.
//!
//! What is read of a member while the document is made is the same at each read, and when it is
//! done: documents, and the elements that are compared. Chunks that are not read are compared with
//! the time at which this began, by whoever reads them from the virtual join.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use zarr_array::parallel;
use zarr_array::store::{
    AsyncStore, GetInto, Key, Layer, ObjectMeta, Operation, ReadRange, Store, StoreError,
};
use zarr_join::{Join, JoinError, JoinGroups};

use crate::error::VirtualJoinError;

/// The reads of all members since a time.
pub(crate) struct OneState {
    /// Before anything is read, so that no change is missed.
    pub(crate) since: SystemTime,
    members: Vec<Arc<Noted>>,
}

impl OneState {
    pub(crate) fn new() -> Self {
        Self { since: SystemTime::now(), members: Vec::new() }
    }

    /// The join, whose members are read through this.
    pub(crate) fn of_join(&mut self, join: Join) -> Join {
        join.with_stores(|name, store| self.noted(name, store))
    }

    /// As [`of_join`](Self::of_join).
    pub(crate) fn of_groups(&mut self, groups: JoinGroups) -> JoinGroups {
        groups.with_stores(|name, store| self.noted(name, store))
    }

    fn noted(&mut self, member: &str, inner: &Arc<dyn Store>) -> Arc<dyn Store> {
        let noted = Arc::new(Noted {
            inner: Arc::clone(inner),
            member: member.into(),
            reads: Mutex::default(),
            changed: OnceLock::new(),
        });
        self.members.push(Arc::clone(&noted));
        noted
    }

    /// What was made of the members, or failed, unless one of them changed meanwhile.
    pub(crate) fn checked<T>(
        &self,
        made: Result<T, VirtualJoinError>,
    ) -> Result<T, VirtualJoinError> {
        // The error of the read that noticed a change says less.
        for member in &self.members {
            if let Some(key) = member.changed.get() {
                let (member, key) = (member.member.clone(), key.as_str().into());
                return Err(JoinError::Changed { member, key }.into());
            }
        }
        let made = made?;
        self.look_again()?;
        Ok(made)
    }

    /// Looks at everything again that was read.
    fn look_again(&self) -> Result<(), JoinError> {
        if !zarr_array::store::step!("virtual join: look at what was read") {
            return Ok(());
        }
        let reads = self.members.iter().flat_map(|member| {
            let reads = std::mem::take(&mut *member.reads());
            reads.into_iter().map(move |(key, read)| (member, key, read))
        });
        let reads: Vec<_> = reads.collect();
        let Some((first, ..)) = reads.first() else { return Ok(()) };
        parallel::each(&reads, parallel::requests(&*first.inner), |(member, key, read)| {
            let name = || member.member.clone();
            match Store::head(&*member.inner, key) {
                Ok(now) if is_same(read.as_ref(), now.as_ref()) => Ok(()),
                Ok(_) => Err(JoinError::Changed { member: name(), key: key.as_str().into() }),
                Err(cause) => {
                    Err(JoinError::Member { member: name(), cause: Box::new(cause.into()) })
                }
            }
        })
    }
}

/// A store that remembers the version of each object that is read.
#[derive(Debug)]
struct Noted {
    inner: Arc<dyn Store>,
    member: Box<str>,
    /// `None` for an object that is not there.
    reads: Mutex<HashMap<Key, Option<ObjectMeta>>>,
    /// The first object of which two reads differ.
    changed: OnceLock<Key>,
}

impl Noted {
    fn reads(&self) -> MutexGuard<'_, HashMap<Key, Option<ObjectMeta>>> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(
        &self,
        operation: Operation,
        key: &Key,
        found: Option<&ObjectMeta>,
    ) -> Result<(), StoreError> {
        match self.reads().entry(key.clone()) {
            Entry::Vacant(new) => {
                new.insert(found.cloned());
                Ok(())
            }
            Entry::Occupied(before) if is_same(before.get().as_ref(), found) => Ok(()),
            Entry::Occupied(_) => {
                let _first = self.changed.set(key.clone());
                let message = "it changed while the join was made";
                Err(StoreError::io(operation, key, io::Error::other(message)))
            }
        }
    }
}

fn is_same(before: Option<&ObjectMeta>, now: Option<&ObjectMeta>) -> bool {
    match (before, now) {
        // Mirrors of one server give other times for one version.
        (Some(before), Some(now)) => {
            before == now && (now.version.is_some() || before.modified == now.modified)
        }
        (None, None) => true,
        _ => false,
    }
}

impl Layer for Noted {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    /// Members are not written.
    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let found = self.inner().get(key, range, out)?;
        self.note(Operation::Get, key, found.as_ref())?;
        Ok(found)
    }

    fn get_into(&self, key: &Key, out: &mut [u8]) -> Result<GetInto, StoreError> {
        let read = self.inner().get_into(key, out)?;
        match &read {
            GetInto::Unsupported => {}
            GetInto::Missing => self.note(Operation::Get, key, None)?,
            GetInto::Read(meta) => self.note(Operation::Get, key, Some(meta))?,
        }
        Ok(read)
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        let found = self.inner().head(key)?;
        self.note(Operation::Head, key, found.as_ref())?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use zarr_array::store::{MemoryStore, StoreExt as _, Version};

    use super::*;

    #[test]
    fn times_count_where_there_are_no_versions() {
        let meta = |version: Option<&str>, seconds| ObjectMeta {
            size: 1,
            version: version.map(Version::from_tag),
            modified: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)),
        };
        let is_same = |a: ObjectMeta, b: ObjectMeta| is_same(Some(&a), Some(&b));
        assert!(is_same(meta(Some("v"), 1), meta(Some("v"), 2)));
        assert!(!is_same(meta(Some("v"), 1), meta(Some("w"), 1)));
        assert!(is_same(meta(None, 1), meta(None, 1)));
        assert!(!is_same(meta(None, 1), meta(None, 2)));
    }

    #[test]
    fn a_change_between_two_reads_is_named() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let key = Key::new("zarr.json").expect("a key");
        let mut state = OneState::new();
        let noted = state.noted("a", &store);
        store.put(&key, b"1").expect("puts");
        noted.read(&key).expect("reads");
        store.put(&key, b"2").expect("puts");
        let made = noted.read(&key).map_err(VirtualJoinError::from);
        let error = state.checked(made).expect_err("has changed");
        let message = "a: zarr.json has changed since the join was planned: plan it again";
        assert_eq!(error.to_string(), message);
    }
}
