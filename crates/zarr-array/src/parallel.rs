//! Divides numbered items between threads, which take them in order until all are done or one fails.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::store::{Store, is_interrupted};

/// The processors that this process may use. They are counted once: a count reads files of the
/// system, which takes as long as a small chunk.
#[must_use]
pub fn cores() -> NonZeroUsize {
    static CORES: LazyLock<NonZeroUsize> =
        LazyLock::new(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
    *CORES
}

/// Calls `work` with ranges that make up `0..items`, on up to `threads` threads including this one;
/// each thread has its own state.
///
/// # Errors
/// The error of the lowest range that failed. After an error no new range begins.
pub fn for_each<S, E: Send>(
    items: u64,
    threads: NonZeroUsize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, Range<u64>) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let threads = u64::try_from(threads.get()).unwrap_or(1).min(items);
    if threads <= 1 {
        return if items == 0 { Ok(()) } else { work(&mut state(), 0..items) };
    }
    // Few items per range, so that threads end together; several if there are very many items, so
    // that threads mostly write to separate places.
    let batch = (items.checked_div(threads).unwrap_or(0) / 64).clamp(1, 1024);
    let next = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    let first_error: Mutex<Option<(u64, E)>> = Mutex::new(None);
    let run = || {
        let mut state = state();
        while !failed.load(Ordering::Relaxed) {
            let start = next.fetch_add(batch, Ordering::Relaxed);
            if start >= items {
                break;
            }
            let end = start.saturating_add(batch).min(items);
            if let Err(error) = work(&mut state, start..end) {
                failed.store(true, Ordering::Relaxed);
                let mut slot = first_error.lock().unwrap_or_else(PoisonError::into_inner);
                if slot.as_ref().is_none_or(|(first, _)| start < *first) {
                    *slot = Some((start, error));
                }
            }
        }
    };
    let others = AtomicU64::new(threads.saturating_sub(1));
    let caller = thread::current();
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| {
                let _ends = Ends { others: &others, caller: &caller };
                run();
            });
        }
        run();
        // Another thread may wait for a lock, and only this one is asked for signals.
        while others.load(Ordering::Acquire) > 0 {
            thread::park_timeout(PAUSE);
            let _remembered = is_interrupted();
        }
    });
    let first_error = first_error.into_inner().unwrap_or_else(PoisonError::into_inner);
    first_error.map_or(Ok(()), |(_, error)| Err(error))
}

/// The time between two questions whether to give up, while other threads work.
const PAUSE: Duration = Duration::from_millis(50);

/// Wakes the caller when a thread ends, also by a panic.
struct Ends<'a> {
    others: &'a AtomicU64,
    caller: &'a Thread,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.others.fetch_sub(1, Ordering::Release);
        self.caller.unpark();
    }
}

/// The number of threads for work that waits for a store: as many as the store answers at once, at
/// least one per core.
#[must_use]
pub fn requests(store: &dyn Store) -> NonZeroUsize {
    store.capabilities().requests_in_flight.max(cores())
}

/// Calls `work` with each item, on up to `threads` threads including this one.
///
/// # Errors
/// The error of the first item that failed. After an error no new range of items begins.
pub fn each<I: Sync, E: Send>(
    items: &[I],
    threads: NonZeroUsize,
    work: impl Fn(&I) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
    for_each(
        count,
        threads,
        || (),
        |(), range| {
            let at = |index: u64| usize::try_from(index).unwrap_or(usize::MAX);
            let items = &items[at(range.start)..at(range.end)];
            items.iter().try_for_each(&work)
        },
    )
}

/// The result of `work` for each item, in the order of the items.
///
/// # Errors
/// The error of the first item that failed.
pub fn map<I: Sync, T: Send + Sync, E: Send>(
    items: &[I],
    threads: NonZeroUsize,
    work: impl Fn(&I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let slots: Vec<(&I, OnceLock<T>)> = items.iter().map(|item| (item, OnceLock::new())).collect();
    each(&slots, threads, |(item, made)| {
        let _first = made.set(work(item)?);
        Ok(())
    })?;
    Ok(slots.into_iter().filter_map(|(_, made)| made.into_inner()).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::store::interruptible;

    #[test]
    fn the_caller_is_asked_while_other_threads_wait() {
        let asked = Arc::new(AtomicBool::new(false));
        let has_begun = AtomicBool::new(false);
        let caller = thread::current().id();
        let until = |flag: &AtomicBool| {
            while !flag.load(Ordering::SeqCst) {
                thread::yield_now();
            }
        };
        let work = |(): &mut (), _: Range<u64>| {
            if thread::current().id() == caller {
                until(&has_begun);
            } else {
                has_begun.store(true, Ordering::SeqCst);
                until(&asked);
            }
            Ok::<(), ()>(())
        };
        let answer = Arc::clone(&asked);
        let question = Arc::new(move || !answer.swap(true, Ordering::SeqCst));
        let two = NonZeroUsize::new(2).unwrap();
        interruptible(question, || for_each(2, two, || (), work)).unwrap();
    }

    #[test]
    fn every_item_is_visited_once() {
        for threads in 1..=5 {
            for items in [0, 1, 2, 7, 64, 1000, 20_000] {
                let visits: Vec<AtomicU64> = (0..items).map(|_| AtomicU64::new(0)).collect();
                let threads = NonZeroUsize::new(threads).unwrap();
                let work = |(): &mut (), range: Range<u64>| {
                    for item in range {
                        visits[usize::try_from(item).unwrap()].fetch_add(1, Ordering::Relaxed);
                    }
                    Ok::<(), ()>(())
                };
                for_each(items, threads, || (), work).unwrap();
                assert!(visits.iter().all(|visit| visit.load(Ordering::Relaxed) == 1));
            }
        }
    }

    /// The error does not depend on which thread is faster: items before a failed one have begun.
    #[test]
    fn the_error_is_that_of_the_lowest_item() {
        let (failed, threads) = (AtomicBool::new(false), NonZeroUsize::new(2).unwrap());
        let work = |(): &mut (), range: Range<u64>| {
            while range.start == 0 && !failed.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            failed.store(true, Ordering::Relaxed);
            // By now the other error is most likely kept.
            thread::sleep(std::time::Duration::from_millis(20 * (1 - range.start)));
            Err(range.start)
        };
        assert_eq!(for_each(2, threads, || (), work), Err::<(), _>(0));
    }

    #[test]
    fn an_error_stops_the_others() {
        let begun = AtomicU64::new(0);
        let work = |(): &mut (), range: Range<u64>| {
            begun.fetch_add(1, Ordering::Relaxed);
            if range.contains(&3) { Err(range.start) } else { Ok(()) }
        };
        let threads = NonZeroUsize::new(2).unwrap();
        assert_eq!(for_each(1_000_000, threads, || (), work), Err(0));
        assert!(begun.load(Ordering::Relaxed) < 1_000_000 / 64);
    }
}
