//! Helpers that the tests of zarr-store and of crates above it share.
//!
//! # Non-goals
//! Nothing here is a test, and nothing is published.

#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as the tests do")]

mod changing;
pub mod child;
mod counted_chunks;
pub mod executor;
mod few_locks;
mod locked_changes;
pub mod modified;
pub mod required;
pub mod scripted;
pub mod server;
#[cfg(unix)]
pub mod small_disk;
mod stage;
mod wrapper;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

pub use changing::{Change, Changing};
pub use counted_chunks::CountedChunks;
pub use few_locks::FewLocks;
pub use locked_changes::LockedChanges;
pub use stage::{Apart, Stage};
pub use zarr_store as store;
use zarr_store::{Key, Links, Prefix, Store, StoreExt as _};

/// The step in which a test takes its cases: all with `cargo xtask exhaustive`, else one of `step`.
#[must_use]
pub fn sampled(step: usize) -> usize {
    if std::env::var_os("ZARR_KIT_EXHAUSTIVE").is_some() { 1 } else { step }
}

/// A folder for tests that make and remove many files: in memory, if the system has such a place.
/// Disks take most of the time of these tests.
#[must_use]
pub fn folder_in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Sets a flag when it is dropped, also by a panic: threads that wait for the flag would never end, and
/// the test with them.
#[derive(Debug)]
pub struct SetAtEnd<'f>(pub &'f AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// A path as it stands in documents, where a backslash would begin an escape.
#[must_use]
pub fn text_of(path: &std::path::Path) -> String {
    path.display().to_string().replace(std::path::MAIN_SEPARATOR, "/")
}

/// The key `text`.
#[must_use]
pub fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

/// The prefix `text`.
#[must_use]
pub fn prefix(text: &str) -> Prefix {
    Prefix::new(text).unwrap()
}

/// Every key below a prefix, each of which must be listed once.
pub fn keys_below(store: &dyn Store, below: &str) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for key in store.list(&prefix(below), Links::Follow) {
        let key = key.unwrap();
        assert!(keys.insert(key.to_string()), "{key} was listed twice");
    }
    keys
}

/// What the store tells of below a prefix as no object, sorted.
pub fn without_key(store: &dyn Store, below: &str) -> Vec<String> {
    let mut names = Vec::new();
    store.without_key(&prefix(below), &mut |name| names.push(name.to_owned())).unwrap();
    names.sort();
    names
}

/// Every object of a store.
pub type Objects = BTreeMap<String, Vec<u8>>;

/// The objects of a store, without those that others remove meanwhile.
pub fn objects(store: &dyn Store) -> Objects {
    let keys = store.list(&Prefix::root(), Links::Follow);
    keys.filter_map(|key| {
        let key = key.expect("lists");
        Some((key.to_string(), store.read(&key).expect("reads")?))
    })
    .collect()
}

/// Puts all objects into a new store.
pub fn restore(store: &dyn Store, objects: &Objects) {
    for (name, bytes) in objects {
        store.put(&key(name), bytes).expect("puts");
    }
}
