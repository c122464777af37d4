//! Work on many objects, by several threads.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use zarr_array::store::Store;

/// How many threads do work that waits for a store: as many as it answers at once, and not fewer
/// than there are cores.
pub(crate) fn threads_for(store: &dyn Store) -> NonZeroUsize {
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    store.capabilities().requests_in_flight.max(cores)
}

/// Calls `work` for each item, on up to `threads` threads including this one. After the first error
/// no further item begins, and that error is returned.
pub(crate) fn for_each<T: Sync, E: Send>(
    items: &[T],
    threads: NonZeroUsize,
    work: impl Fn(usize, &T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    // Items that take microseconds are handed out in batches: asking for each would cost too much.
    let batch = items.len().checked_div(threads.get().saturating_mul(16)).unwrap_or(1).clamp(1, 64);
    let batches = items.len().div_ceil(batch);
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let first = Mutex::new(None);
    let run = || {
        loop {
            let start = next.fetch_add(1, Ordering::Relaxed).saturating_mul(batch);
            let Some(rest) = items.get(start..).filter(|rest| !rest.is_empty()) else { return };
            for (offset, item) in rest.iter().take(batch).enumerate() {
                if failed.load(Ordering::Relaxed) {
                    return;
                }
                if let Err(error) = work(start.saturating_add(offset), item) {
                    failed.store(true, Ordering::Relaxed);
                    first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    return;
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.get().min(batches) {
            scope.spawn(run);
        }
        run();
    });
    first.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_visited_once() {
        for count in [0, 1, 5, 1000] {
            for threads in 1..4 {
                let visits: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                let items: Vec<usize> = (0..count).collect();
                let threads = NonZeroUsize::new(threads).expect("not 0");
                for_each(&items, threads, |at, item| {
                    assert_eq!(at, *item);
                    visits[at].fetch_add(1, Ordering::Relaxed);
                    Ok::<(), ()>(())
                })
                .expect("nothing fails");
                assert!(visits.iter().all(|visits| visits.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn the_first_error_is_returned_and_ends_the_work() {
        let items: Vec<usize> = (0..1000).collect();
        let begun = AtomicUsize::new(0);
        let result = for_each(&items, NonZeroUsize::MIN, |_, item| {
            begun.fetch_add(1, Ordering::Relaxed);
            if *item == 7 { Err(*item) } else { Ok(()) }
        });
        assert_eq!((result, begun.into_inner()), (Err(7), 8));
    }
}
