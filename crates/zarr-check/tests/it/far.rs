//! Stores that answer many requests at once, each after a while.

use std::io::IoSlice;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use zarr_array::Hierarchy;
use zarr_array::store::{
    Capabilities, DirEntry, Key, Links, Listing, LockGuard, MemoryStore, ObjectMeta, Prefix,
    PutMode, PutOutcome, ReadRange, Store, StoreError, StoreExt as _,
};
use zarr_check::{CheckOptions, check};

use crate::check::{BYTES, GROUP, array};

/// Answers reads of members' objects only when this many are waiting, but not never.
#[derive(Debug)]
struct Far {
    inner: MemoryStore,
    awaited: usize,
    /// The current number of requests, and the maximum.
    asked: Mutex<(usize, usize)>,
    more: Condvar,
}

impl Store for Far {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new().requests_in_flight(NonZeroUsize::new(self.awaited).expect("some"))
    }

    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        if key.as_str().contains('/') {
            let mut asked = self.asked.lock().expect("nobody panics");
            asked.0 += 1;
            asked.1 = asked.1.max(asked.0);
            self.more.notify_all();
            let alone = |asked: &mut (usize, usize)| asked.1 < self.awaited;
            let waited = self.more.wait_timeout_while(asked, Duration::from_secs(5), alone);
            waited.expect("nobody panics").0.0 -= 1;
        }
        self.inner.get(key, range, out)
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        self.inner.head(key)
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        self.inner.put_opts(key, pieces, mode)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.inner.delete(key)
    }

    fn list(&self, prefix: &Prefix, links: Links) -> Listing<'_, Key> {
        self.inner.list(prefix, links)
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        self.inner.list_dir(prefix)
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.inner.lock(key)
    }
}

/// The most requests at once during a check without findings.
fn most_at_once(objects: &[(String, Vec<u8>)], awaited: usize, options: &CheckOptions) -> usize {
    let inner = MemoryStore::new();
    for (key, bytes) in objects {
        inner.put(&Key::new(key).expect("a key"), bytes).expect("puts");
    }
    let (asked, more) = Default::default();
    let store = Arc::new(Far { inner, awaited, asked, more });
    let shared: Arc<dyn Store> = store.clone();
    let none = &mut |finding| panic!("{finding}");
    check(Hierarchy::from(shared), &Prefix::root(), options, none).expect("checks");
    store.asked.lock().expect("nobody panics").1
}

#[test]
fn chunks_are_read_as_many_at_once_as_the_store_answers() {
    let document = array("uint8", BYTES, "").replace("[6]", "[160]");
    let mut objects = vec![("zarr.json".to_owned(), document.into_bytes())];
    objects.extend((0..40).map(|at| (format!("c/{at}"), vec![1, 2, 3, 4])));
    assert_eq!(most_at_once(&objects, 20, &CheckOptions::new().data(true)), 20);
}

#[test]
fn arrays_of_a_group_are_looked_into_as_many_at_once_as_the_store_answers() {
    let mut objects = vec![("zarr.json".to_owned(), GROUP.into())];
    let uint8 = array("uint8", BYTES, "");
    for at in 0..40 {
        objects.push((format!("{at}/zarr.json"), uint8.clone().into_bytes()));
        objects.push((format!("{at}/c/0"), vec![1, 2, 3, 4]));
    }
    assert_eq!(most_at_once(&objects, 20, &CheckOptions::new()), 20);
    let data = CheckOptions::new().data(true);
    assert_eq!(most_at_once(&objects, 16, &data), 16);
    // A part of this memory is too little for a chunk.
    assert_eq!(most_at_once(&objects, 16, &data.memory(4)), 16);
}
