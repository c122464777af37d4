//! Locks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::operations::{found, key};
use crate::Store;

/// Tests that a lock excludes other threads, and is free again when its guard is dropped. Documents
/// are locked together, and chunks within: see [`Store::lock`].
///
/// # Panics
/// If two threads hold one lock. If a store has the same lock for a document and a chunk, the test
/// waits forever.
pub fn locks(store: &dyn Store) {
    let [document, other, chunk] =
        ["locks/a/zarr.json", "locks/b/zarr.json", "locks/a/c/0"].map(key);
    let both = [other.clone(), document.clone(), other];
    let alone = |key| found(format_args!("lock of {key}"), store.lock(key));
    let together = || found("lock_all", store.lock_all(&both));
    for _ in 0..2 {
        let (held, within) = (together(), alone(&chunk));
        assert_eq!(held.scope(), within.scope(), "whom locks exclude");
        drop((held, within));
        let (held, within) = (alone(&document), alone(&chunk));
        drop((held, within));
    }
    // The thread begins to wait before the lock is free, or later. Either way it is free by then.
    let is_free = AtomicBool::new(false);
    let waits = |lock: &(dyn Fn() + Sync)| {
        lock();
        assert!(is_free.load(Ordering::SeqCst), "two threads hold one lock");
    };
    for hold in [true, false] {
        is_free.store(false, Ordering::SeqCst);
        let held = if hold { alone(&document) } else { together() };
        thread::scope(|scope| {
            scope.spawn(|| waits(&|| drop(alone(&document))));
            scope.spawn(|| waits(&|| drop(together())));
            thread::yield_now();
            is_free.store(true, Ordering::SeqCst);
            drop(held);
        });
    }
}
