//! Mutual exclusion by name within a process.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::processes::per_process::PerProcess;

/// How many names can be locked or released without waiting for each other.
const STRIPES: usize = 64;

/// A set of names, each locked by at most one thread at a time.
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
    held: HashSet<T>,
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

    /// Waits until `name` is free, then locks it. `None` if [`PerProcess`] has no room left.
    pub(crate) fn lock(self: &Arc<Self>, name: T) -> Option<Held<T>> {
        let stripe = self.stripe(&name)?;
        // Nothing panics while a stripe is locked, so a poisoned lock means nothing.
        let mut names = stripe.names.lock().unwrap_or_else(PoisonError::into_inner);
        while names.held.contains(&name) {
            names.waiting += 1;
            names = stripe.freed.wait(names).unwrap_or_else(PoisonError::into_inner);
            names.waiting -= 1;
        }
        names.held.insert(name.clone());
        drop(names);
        Some(Held { table: Arc::clone(self), name })
    }
}

impl<T: Eq + Hash> LockTable<T> {
    fn stripe(&self, name: &T) -> Option<&Stripe<T>> {
        let stripe = |_| Stripe {
            names: Mutex::new(Names { held: HashSet::new(), waiting: 0 }),
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
        names.held.remove(&self.name);
        // Notifying costs a system call even if no thread waits.
        if names.waiting > 0 {
            // Waiters for other names in this stripe wake too, check, and wait again.
            stripe.freed.notify_all();
        }
    }
}
