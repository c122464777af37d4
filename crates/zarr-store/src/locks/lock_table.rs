//! Mutual exclusion by name within a process.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::interruption::{PAUSE, given_up, is_interrupted};
use crate::processes::per_process::PerProcess;
use crate::{Key, Operation, StoreError};

/// How long somebody who waits to have a lock alone goes before those who come to share it.
pub(crate) const TURN: Duration = Duration::from_secs(1);

/// How many names can be locked or released without waiting for each other.
const STRIPES: usize = 64;

/// A set of names, each locked by at most one thread at a time, or shared by any number of threads.
///
/// Memory is proportional to the locked names. A forked process has none: the threads that locked
/// them are in its parent.
#[derive(Debug)]
pub(crate) struct LockTable<T> {
    stripes: PerProcess<Box<[Stripe<T>]>>,
    hasher: RandomState,
}

#[derive(Debug)]
struct Stripe<T> {
    names: Mutex<Names<T>>,
    freed: Condvar,
}

#[derive(Debug)]
struct Names<T> {
    /// The number of threads that share each name; 0 if one has it alone.
    held: HashMap<T, usize>,
    /// The number of threads that wait to have a name alone.
    alone: HashMap<T, usize>,
    /// The number of threads that wait for one of them.
    waiting: usize,
}

/// Holds one name until dropped.
#[derive(Debug)]
pub(crate) struct Held<T: Eq + Hash> {
    table: Arc<LockTable<T>>,
    name: T,
}

impl<T: Clone + Eq + Hash> LockTable<T> {
    pub(crate) fn new() -> Self {
        Self { stripes: PerProcess::new(), hasher: RandomState::new() }
    }

    /// Waits until `name` is free, then locks it.
    pub(crate) fn lock(self: &Arc<Self>, name: T) -> Result<Held<T>, Unlocked> {
        self.take(name, true)
    }

    /// Waits until nobody has `name` alone, then shares it. Who waits to have it alone goes first, but
    /// a thread may share a name twice, so nobody is held up for longer than [`TURN`].
    pub(crate) fn share(self: &Arc<Self>, name: T) -> Result<Held<T>, Unlocked> {
        self.take(name, false)
    }

    fn take(self: &Arc<Self>, name: T, alone: bool) -> Result<Held<T>, Unlocked> {
        let stripe = self.stripe(&name).ok_or(Unlocked::TooManyForks)?;
        // Nothing panics while a stripe is locked, so a poisoned lock means nothing.
        let mut names = stripe.names.lock().unwrap_or_else(PoisonError::into_inner);
        // Only who waits looks at the clock.
        let mut begun: Option<Instant> = None;
        let mut is_late = false;
        let mut waits = false;
        while !names.is_free(&name, alone, is_late) {
            let begun = *begun.get_or_insert_with(Instant::now);
            if alone && !waits {
                waits = true;
                *names.alone.entry(name.clone()).or_default() += 1;
            }
            names.waiting += 1;
            let waited = stripe.freed.wait_timeout(names, PAUSE);
            names = waited.unwrap_or_else(PoisonError::into_inner).0;
            names.waiting -= 1;
            is_late = begun.elapsed() >= TURN;
            if !names.is_free(&name, alone, is_late) {
                // Asking may take long, or lock something itself.
                drop(names);
                let gives_up = is_interrupted();
                names = stripe.names.lock().unwrap_or_else(PoisonError::into_inner);
                if gives_up {
                    names.end_wait(&name, waits);
                    return Err(Unlocked::GivenUp);
                }
            }
        }
        names.end_wait(&name, waits);
        let shared = if alone { 0 } else { names.held.get(&name).copied().unwrap_or(0) + 1 };
        names.held.insert(name.clone(), shared);
        drop(names);
        Ok(Held { table: Arc::clone(self), name })
    }
}

impl<T: Clone + Eq + Hash> Names<T> {
    /// Whether a name can be had alone, or be shared. `is_late` says that whoever waits to have it alone
    /// had the turn.
    fn is_free(&self, name: &T, alone: bool, is_late: bool) -> bool {
        match self.held.get(name) {
            None => alone || is_late || !self.alone.contains_key(name),
            Some(0) => false,
            Some(_) => !alone && (is_late || !self.alone.contains_key(name)),
        }
    }

    /// Ends a wait to have a name alone, if there was one.
    fn end_wait(&mut self, name: &T, waits: bool) {
        match self.alone.get_mut(name).filter(|_| waits) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) => drop(self.alone.remove(name)),
            None => {}
        }
    }
}

/// Why a name was not locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unlocked {
    /// [`PerProcess`] has no room left.
    TooManyForks,
    /// The wait was [interrupted](crate::interruptible).
    GivenUp,
}

impl Unlocked {
    /// The error of locking this key.
    pub(crate) fn of(self, key: &Key) -> StoreError {
        match self {
            Self::TooManyForks => StoreError::too_many_forks(Operation::Lock, key),
            Self::GivenUp => StoreError::io(Operation::Lock, key, given_up()),
        }
    }
}

impl<T: Eq + Hash> LockTable<T> {
    fn stripe(&self, name: &T) -> Option<&Stripe<T>> {
        let stripe = |_| Stripe {
            names: Mutex::new(Names { held: HashMap::new(), alone: HashMap::new(), waiting: 0 }),
            freed: Condvar::new(),
        };
        let stripes = self.stripes.get(|| (0..STRIPES).map(stripe).collect())?;
        let hash = self.hasher.hash_one(name);
        stripes.get((hash % STRIPES as u64) as usize)
    }
}

impl<T: Eq + Hash> Drop for Held<T> {
    fn drop(&mut self) {
        let Some(stripe) = self.table.stripe(&self.name) else { return };
        let mut names = stripe.names.lock().unwrap_or_else(PoisonError::into_inner);
        match names.held.get_mut(&self.name) {
            Some(shared) if *shared > 1 => {
                *shared -= 1;
                return;
            }
            _ => drop(names.held.remove(&self.name)),
        }
        // Notifying costs a system call even if no thread waits.
        if names.waiting > 0 {
            // Waiters for other names in this stripe wake too, check, and wait again.
            stripe.freed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Whoever comes to share a name waits for the turn of who wants it alone, however often other
    /// names are released meanwhile.
    #[test]
    fn a_turn_lasts_however_often_others_wake() {
        let table = Arc::new(LockTable::new());
        let shared = table.share(0).expect("shares");
        thread::scope(|scope| {
            let alone = scope.spawn(|| table.lock(0).map(drop));
            while table.stripe(&0).expect("a stripe").names.lock().expect("no panic").waiting == 0 {
                thread::yield_now();
            }
            let begun = Instant::now();
            let late = scope.spawn(|| {
                let held = table.share(0).map(drop);
                (held, Instant::now())
            });
            while !late.is_finished() {
                for name in 1..1000_u32 {
                    drop(table.lock(name).expect("locks"));
                }
                thread::sleep(Duration::from_millis(1));
            }
            let (held, then) = late.join().expect("ends");
            held.expect("shares");
            assert!(then.duration_since(begun) >= TURN);
            drop(shared);
            alone.join().expect("ends").expect("locks");
        });
    }
}
