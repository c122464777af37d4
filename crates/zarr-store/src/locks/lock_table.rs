//! Mutual exclusion by name within a process.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::interruption::{PAUSE, given_up, is_interrupted};
use crate::processes::per_process::PerProcess;
use crate::{Key, Operation, StoreError};

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
        self.take(name, |held| held.is_none(), |_| 0)
    }

    /// Waits until nobody has `name` alone, then shares it. A thread may share a name twice: who waits
    /// to have it alone does not hold others up.
    pub(crate) fn share(self: &Arc<Self>, name: T) -> Result<Held<T>, Unlocked> {
        self.take(name, |held| held != Some(0), |held| held.unwrap_or(0) + 1)
    }

    /// Waits until `name` is free by the number of those who share it, which then becomes `taken`.
    fn take(
        self: &Arc<Self>,
        name: T,
        is_free: fn(Option<usize>) -> bool,
        taken: fn(Option<usize>) -> usize,
    ) -> Result<Held<T>, Unlocked> {
        let stripe = self.stripe(&name).ok_or(Unlocked::TooManyForks)?;
        // Nothing panics while a stripe is locked, so a poisoned lock means nothing.
        let mut names = stripe.names.lock().unwrap_or_else(PoisonError::into_inner);
        while !is_free(names.held.get(&name).copied()) {
            names.waiting += 1;
            let waited = stripe.freed.wait_timeout(names, PAUSE);
            names = waited.unwrap_or_else(PoisonError::into_inner).0;
            names.waiting -= 1;
            if !is_free(names.held.get(&name).copied()) {
                // Asking may take long, or lock something itself.
                drop(names);
                if is_interrupted() {
                    return Err(Unlocked::GivenUp);
                }
                names = stripe.names.lock().unwrap_or_else(PoisonError::into_inner);
            }
        }
        let shared = taken(names.held.get(&name).copied());
        names.held.insert(name.clone(), shared);
        drop(names);
        Ok(Held { table: Arc::clone(self), name })
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
            names: Mutex::new(Names { held: HashMap::new(), waiting: 0 }),
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
