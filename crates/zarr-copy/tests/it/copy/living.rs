//! Copies that another process takes over while they run.

use std::sync::{Arc, Mutex};

use zarr_array::store::{
    AsyncStore, Fault, FaultStore, Key, Layer, Listing, LockGuard, LockScope, MemoryStore,
    Operation, Prefix, Store, StoreError, StoreExt as _,
};
use zarr_array::{Array, Selection};
use zarr_copy::{CopyOptions, MARKER, TransferError};
use zarr_store_tests::objects;

use super::copy;
use super::ends::{self, array, group, prefix};
use super::passes::{columns, direct, rows, slabs};

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

type Shared = Arc<dyn Store>;
type Meanwhile = Box<dyn FnOnce() + Send>;

/// Does something else before an operation on a key.
struct Hooked {
    inner: Shared,
    operation: Operation,
    key: &'static str,
    left: Arc<Mutex<(usize, Option<Meanwhile>)>>,
}

impl Hooked {
    /// Before the read of a chunk.
    fn new(inner: &Shared, chunk: &'static str, reads: usize, then: Meanwhile) -> Arc<Self> {
        Self::before(inner, (Operation::Get, chunk), reads, then)
    }

    fn before(
        inner: &Shared,
        (operation, key): (Operation, &'static str),
        count: usize,
        then: Meanwhile,
    ) -> Arc<Self> {
        let left = Arc::new(Mutex::new((count, Some(then))));
        Arc::new(Self { inner: inner.clone(), operation, key, left })
    }

    fn meet(&self, operation: Operation, key: &str) {
        if operation != self.operation || !key.starts_with(self.key) {
            return;
        }
        let then = {
            let mut left = self.left.lock().unwrap();
            left.0 = left.0.saturating_sub(1);
            if left.0 == 0 { left.1.take() } else { None }
        };
        if let Some(then) = then {
            then();
        }
    }
}

impl std::fmt::Debug for Hooked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hooked")
    }
}

impl Layer for Hooked {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    fn pass<T>(
        &self,
        operation: Operation,
        key: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.meet(operation, key);
        work()
    }

    fn pass_listing<'s, T: Send + 's>(
        &'s self,
        prefix: &Prefix,
        list: impl FnOnce() -> Listing<'s, T>,
    ) -> Listing<'s, T> {
        self.meet(Operation::List, prefix.as_str());
        list()
    }

    /// Not at all before listings: the other is then on the same thread.
    fn lock_all(&self, keys: &[Key]) -> Result<LockGuard, StoreError> {
        keys.iter().for_each(|key| self.meet(Operation::Lock, key.as_str()));
        match self.operation {
            Operation::List => Ok(LockGuard::new(LockScope::Process, ())),
            _ => Store::lock_all(&*self.inner, keys),
        }
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        Layer::lock_all(self, std::slice::from_ref(key))
    }

    fn around(&self, inner: Shared) -> Option<Shared> {
        let (operation, key, left) = (self.operation, self.key, Arc::clone(&self.left));
        Some(Arc::new(Self { inner, operation, key, left }))
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }
}

/// The other removes the intermediate, whose chunks then read as the fill value.
#[test]
fn a_copy_in_two_passes_stops_where_another_has_resumed_and_finished_it() {
    let (from, _) = rows();
    let options = CopyOptions::new().memory(500 << 10);
    for reads in [1, 60] {
        let inner: Shared = Arc::new(MemoryStore::new());
        let (source, to, resume) = (from.clone(), inner.clone(), options.clone().resume(true));
        let other = move || drop(copy(&source, to, columns(), &resume).expect("resumes"));
        let to = Hooked::new(&inner, "zarr-kit-intermediate/c", reads, Box::new(other));
        let stopped = copy(&from, to, columns(), &options);
        assert!(matches!(stopped, Err(TransferError::Removed { .. })), "{reads} {stopped:?}");
        assert!(objects(&*inner) == direct(), "{reads}");
    }
}

/// The first copy would put the document, where the other has removed its chunks.
#[test]
fn a_copy_stops_where_another_has_begun_anew() {
    let (from, _) = rows();
    let options = CopyOptions::new().memory(64 << 20);
    let memory = MemoryStore::new();
    let inner: Shared = Arc::new(memory.clone());
    let (source, over) = (from.clone(), options.clone().overwrite(true));
    let other = move || {
        let dying = FaultStore::new(memory).at(40, Fault::DieBefore);
        copy(&source, Arc::new(dying), columns(), &over).expect_err("dies");
    };
    let store = Hooked::new(from.store(), "c/", 50, Box::new(other));
    let hooked = Array::open(store, &Prefix::root()).expect("opens");
    let stopped = copy(&hooked, inner.clone(), columns(), &options);
    assert!(matches!(stopped, Err(TransferError::Removed { .. })), "{stopped:?}");
    let found = objects(&*inner);
    assert!(!found.contains_key("zarr.json") && found.contains_key(MARKER), "{:?}", found.keys());
    copy(&from, inner.clone(), columns(), &options.resume(true)).expect("resumes");
    assert!(objects(&*inner) == direct());
}

/// Nothing is put, since all elements are fill values. A put would notice the other run.
#[test]
fn a_run_that_was_overtaken_reads_no_further() {
    let (from, store) = rows();
    for key in objects(from.store()).into_keys().filter(|key| key.starts_with("c/")) {
        Store::delete(&*store, &self::key(&key)).expect("deletes");
    }
    let options = CopyOptions::new().memory(400 << 10);
    let inner: Shared = Arc::new(MemoryStore::new());
    let (source, to, resume) = (from.clone(), inner.clone(), options.clone().resume(true));
    let other = move || drop(copy(&source, to, slabs(), &resume).expect("resumes"));
    let all = Hooked::new(from.store(), "c/", usize::MAX, Box::new(|| ()));
    let second: Shared = all.clone();
    let hooked = Hooked::new(&second, "c/", 2, Box::new(other));
    let from = Array::open(hooked, &Prefix::root()).expect("opens");
    let stopped = copy(&from, inner, slabs(), &options);
    assert!(matches!(stopped, Err(TransferError::Removed { .. })), "{stopped:?}");
    // Of 64 chunks.
    let read = usize::MAX - all.left.lock().unwrap().0;
    assert!(read <= 16, "{read}");
}

/// The first copy finds a damaged chunk, and removes its marker. Before each listing of the target, another
/// copies from a source without damage.
#[test]
fn a_run_that_gives_up_removes_nothing_of_another() {
    let (from, _) = rows();
    let (damaged, store) = rows();
    store.put(&key("c/0/0"), b"damaged").expect("puts");
    let options = CopyOptions::new().memory(64 << 20);
    for listing in 1..20 {
        let inner: Shared = Arc::new(MemoryStore::new());
        let (source, to, over) = (from.clone(), inner.clone(), options.clone().overwrite(true));
        let other = move || drop(copy(&source, to, columns(), &over).expect("copies"));
        let hooked = Hooked::before(&inner, (Operation::List, ""), listing, Box::new(other));
        copy(&damaged, hooked.clone(), columns(), &options).expect_err("is damaged");
        if hooked.left.lock().unwrap().1.is_some() {
            assert!(listing > 2, "gives up after listings");
            break;
        }
        let copied = Array::open(inner, &Prefix::root()).expect("is finished");
        // By elements: a copy that follows another stores fill values too.
        assert!(
            copied.read(Selection::whole(from.shape())).expect("reads")
                == from.read(Selection::whole(from.shape())).expect("reads"),
            "{listing}"
        );
    }
}

/// Each run clears the target. The later one's document and chunks stay, and so does its marker.
#[test]
fn a_run_stops_clearing_where_another_has_begun() {
    let (from, _) = rows();
    let over = CopyOptions::new().memory(64 << 20).overwrite(true);
    let document = (Operation::Lock, "zarr.json");
    // Before the run looks, when it is about to mark, and when it is about to remove the document
    // and the chunks.
    let places = [(document, 1), (document, 2), ((Operation::Get, MARKER), 3)];
    for (place, count) in places {
        for dies_at in [None, Some(40)] {
            let memory = MemoryStore::new();
            let inner: Shared = Arc::new(memory.clone());
            copy(&from, inner.clone(), columns(), &CopyOptions::new()).expect("copies");
            let (source, options) = (from.clone(), over.clone());
            let other = move || match dies_at {
                None => drop(copy(&source, Arc::new(memory), columns(), &options).expect("copies")),
                Some(at) => {
                    let dying = FaultStore::new(memory).at(at, Fault::DieBefore);
                    copy(&source, Arc::new(dying), columns(), &options).expect_err("dies");
                }
            };
            let hooked = Hooked::before(&inner, place, count, Box::new(other));
            let first = copy(&from, hooked.clone(), columns(), &over);
            assert!(hooked.left.lock().unwrap().1.is_none(), "{place:?} {count}");
            let found = objects(&*inner);
            match (count, dies_at) {
                (1, None) => drop(first.expect("the other has ended")),
                (1, Some(_)) => {
                    assert!(matches!(first, Err(TransferError::Unfinished { .. })), "{first:?}");
                }
                _ => assert!(matches!(first, Err(TransferError::Removed { .. })), "{first:?}"),
            }
            match dies_at {
                None => assert!(found == direct(), "{place:?} {count}"),
                Some(_) => {
                    let chunks = found.keys().filter(|key| key.starts_with("c/")).count();
                    assert!(chunks > 5 && found.contains_key(MARKER), "{place:?} {count}");
                }
            }
        }
    }
}

/// The other removes the marker that the run has found.
#[test]
fn a_run_tells_that_another_has_ended_before_it_clears() {
    let (from, _) = rows();
    let over = CopyOptions::new().memory(64 << 20).overwrite(true);
    let memory = MemoryStore::new();
    let dying = FaultStore::new(memory.clone()).at(40, Fault::DieBefore);
    copy(&from, Arc::new(dying), columns(), &over).expect_err("dies");
    let inner: Shared = Arc::new(memory);
    let (source, to, options) = (from.clone(), inner.clone(), over.clone());
    let other = move || drop(copy(&source, to, columns(), &options).expect("copies"));
    let hooked = Hooked::before(&inner, (Operation::Lock, "zarr.json"), 2, Box::new(other));
    let stopped = copy(&from, hooked, columns(), &over);
    assert!(matches!(stopped, Err(TransferError::Removed { .. })), "{stopped:?}");
    assert!(objects(&*inner) == direct());
}

#[test]
fn a_copy_of_a_group_stops_where_another_has_resumed_and_finished_it() {
    let from: Shared = Arc::new(MemoryStore::new());
    group(&from, "");
    array(&from, "a");
    array(&from, "b");
    let options = CopyOptions::new().memory(1000);
    for chunks in [None, Some([7, 5])] {
        let inner: Shared = Arc::new(MemoryStore::new());
        let (source, to, resume) = (from.clone(), inner.clone(), options.clone().resume(true));
        let other = move || {
            ends::copy((&source, ""), (&to, ""), chunks, &resume).expect("resumes");
        };
        let hooked: Shared = Hooked::new(&from, "a/c", 2, Box::new(other));
        let stopped = ends::copy((&hooked, ""), (&inner, ""), chunks, &options);
        assert!(matches!(stopped, Err(TransferError::Removed { .. })), "{stopped:?}");
        Array::open(inner.clone(), &prefix("b")).expect("is there");
        assert!(!objects(&inner).keys().any(|key| key.contains(MARKER)));
    }
}

/// Markers of releases without a number of the run.
#[test]
fn an_older_marker_is_resumed() {
    let from: Shared = Arc::new(MemoryStore::new());
    array(&from, "a");
    let options = CopyOptions::new().memory(1000);
    let inner = MemoryStore::new();
    let dying: Shared = Arc::new(FaultStore::new(inner.clone()).at(14, Fault::DieBefore));
    ends::copy((&from, "a"), (&dying, ""), Some([7, 5]), &options).expect_err("dies");
    let marker = inner.read(&key(MARKER)).expect("reads").expect("is there");
    let marker = String::from_utf8(marker).expect("text");
    let older: Vec<&str> = marker.lines().filter(|line| !line.contains("\"run\"")).collect();
    assert_eq!(older.len() + 1, marker.lines().count(), "{marker}");
    let older = older.join("\n") + "\n";
    inner.put(&key(MARKER), older.as_bytes()).expect("puts");
    let to: Shared = Arc::new(inner);
    ends::copy((&from, "a"), (&to, ""), Some([7, 5]), &options.resume(true)).expect("resumes");
}
