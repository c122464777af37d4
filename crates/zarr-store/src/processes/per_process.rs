//! Values that a forked process must not share with its parent.
//!
//! `fork` copies the memory of a process and only one of its threads. Thread pools, sockets, and
//! locks of other threads are copied without the threads that serve or release them. Waiting for
//! any of them would never end. Python's `multiprocessing` forks.

use std::array;
use std::fmt;
use std::mem;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many processes, each forked from the one before, may use the same value.
const GENERATIONS: usize = 16;

/// A value that each process creates for itself: a child of `fork` neither uses nor drops the
/// inherited value.
///
/// A forked process has only the thread that forked. It would wait forever for other threads, for
/// their channels and sockets, and for their locks.
///
/// # Examples
/// ```
/// use zarr_store::PerProcess;
///
/// static NUMBER: PerProcess<u32> = PerProcess::new();
/// let mine = NUMBER.get(std::process::id);
/// assert_eq!(mine, Some(&std::process::id()));
/// ```
///
/// # Limits
/// There is room for 16 processes, each forked from the one before. If a process has the reused ID
/// of a dead ancestor, it uses the ancestor's value. IDs are reused after tens of thousands of
/// processes at the earliest.
pub struct PerProcess<T> {
    // One per process, claimed by its ID in one step: no process waits for a value that another one
    // was creating when it forked.
    slots: [Slot<T>; GENERATIONS],
}

struct Slot<T> {
    /// ID of the process; 0 for none, since no process has this ID.
    owner: AtomicU32,
    value: OnceLock<T>,
}

impl<T> PerProcess<T> {
    /// No value in any process yet.
    #[must_use]
    pub const fn new() -> Self {
        let slots =
            [const { Slot { owner: AtomicU32::new(0), value: OnceLock::new() } }; GENERATIONS];
        Self { slots }
    }

    /// This process's value, which `make` creates at first use; `None` if too many ancestors of the
    /// process have their own values.
    pub fn get(&self, make: impl FnOnce() -> T) -> Option<&T> {
        let process = process_id();
        let slot = self.slots.iter().find(|slot| {
            let (free, relaxed) = (0, Ordering::Relaxed);
            let claimed = slot.owner.compare_exchange(free, process, relaxed, relaxed);
            claimed.is_ok() || claimed == Err(process)
        })?;
        Some(slot.value.get_or_init(make))
    }
}

/// This process's ID. A page of a browser has none, and asking for it panics; nothing forks there.
fn process_id() -> u32 {
    if cfg!(all(target_family = "wasm", target_os = "unknown")) { 1 } else { process::id() }
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        let process = process_id();
        for slot in &mut self.slots {
            // Dropping a value of an ancestor could wait for its threads.
            if *slot.owner.get_mut() != process {
                mem::forget(slot.value.take());
            }
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for PerProcess<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made: [_; GENERATIONS] = array::from_fn(|at| self.slots.get(at)?.value.get());
        f.debug_list().entries(made.into_iter().flatten()).finish()
    }
}
