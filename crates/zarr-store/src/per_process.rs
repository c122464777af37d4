//! What a process must not share with the one that it was forked from.
//!
//! `fork` copies the memory of a process and only one of its threads. Thread pools, sockets and locks
//! that other threads held are then there without whoever would serve or release them, and waiting
//! for any of them would never end. Python's `multiprocessing` forks.

use std::array;
use std::fmt;
use std::mem;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many processes of a line, each forked from the one before, may use the same value.
const GENERATIONS: usize = 16;

/// A value that is made anew in each process: a child of `fork` neither uses nor drops what it
/// inherited.
///
/// Threads, their channels, sockets and locks that others hold are of no use in a forked process,
/// which has only the thread that forked: whoever waited for one of them would do so for ever.
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
/// There is room for a line of 16 processes, each forked from the one before. A process with the
/// number of an ancestor that has ended takes its value for its own: numbers come again after tens of
/// thousands of processes at the earliest.
pub struct PerProcess<T> {
    // One for each process, claimed by its number in one step: no process waits for what another one
    // was making when it forked.
    slots: [Slot<T>; GENERATIONS],
}

struct Slot<T> {
    /// Number of the process; 0 for none, which is the number of no process.
    owner: AtomicU32,
    value: OnceLock<T>,
}

impl<T> PerProcess<T> {
    /// Without a value in any process.
    #[must_use]
    pub const fn new() -> Self {
        let slots =
            [const { Slot { owner: AtomicU32::new(0), value: OnceLock::new() } }; GENERATIONS];
        Self { slots }
    }

    /// This process's value, which `make` makes at first; `None` if the process has more ancestors
    /// with values of their own than there is room for.
    pub fn get(&self, make: impl FnOnce() -> T) -> Option<&T> {
        let process = process::id();
        let slot = self.slots.iter().find(|slot| {
            let (free, relaxed) = (0, Ordering::Relaxed);
            let claimed = slot.owner.compare_exchange(free, process, relaxed, relaxed);
            claimed.is_ok() || claimed == Err(process)
        })?;
        Some(slot.value.get_or_init(make))
    }
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        let process = process::id();
        for slot in &mut self.slots {
            // To drop what an ancestor made could wait for its threads.
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
