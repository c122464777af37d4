//! Mutual exclusion by name within a process.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// How many names can be taken or given back without disturbing each other.
const STRIPES: usize = 64;

/// A set of names, each held by at most one thread at a time.
///
/// Memory follows the names held now, not the names ever seen.
#[derive(Debug)]
pub(super) struct LockTable<T> {
    stripes: Box<[Stripe<T>]>,
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
    /// How many threads wait for one of them.
    waiting: usize,
}

/// Holds one name until dropped.
#[derive(Debug)]
pub(super) struct Held<T: Eq + Hash> {
    table: Arc<LockTable<T>>,
    name: T,
}

impl<T: Clone + Eq + Hash> LockTable<T> {
    pub(super) fn new() -> Self {
        let stripes = (0..STRIPES)
            .map(|_| Stripe {
                names: Mutex::new(Names { held: HashSet::new(), waiting: 0 }),
                freed: Condvar::new(),
            })
            .collect();
        Self { stripes, hasher: RandomState::new() }
    }

    /// Waits until nobody holds `name`, then holds it.
    pub(super) fn lock(self: &Arc<Self>, name: T) -> Held<T> {
        let stripe = self.stripe(&name);
        // Nothing panics while a stripe is locked, so that poison carries no information.
        let mut names = stripe.names.lock().unwrap_or_else(PoisonError::into_inner);
        while names.held.contains(&name) {
            names.waiting += 1;
            names = stripe.freed.wait(names).unwrap_or_else(PoisonError::into_inner);
            names.waiting -= 1;
        }
        names.held.insert(name.clone());
        drop(names);
        Held { table: Arc::clone(self), name }
    }
}

impl<T: Eq + Hash> LockTable<T> {
    #[expect(clippy::indexing_slicing, reason = "the index is a remainder of the length")]
    fn stripe(&self, name: &T) -> &Stripe<T> {
        let hash = self.hasher.hash_one(name);
        &self.stripes[(hash % STRIPES as u64) as usize]
    }
}

impl<T: Eq + Hash> Drop for Held<T> {
    fn drop(&mut self) {
        let stripe = self.table.stripe(&self.name);
        let mut names = stripe.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.held.remove(&self.name);
        // Telling nobody is a system call too.
        if names.waiting > 0 {
            // Waiters of other names in this stripe wake too, look, and wait on.
            stripe.freed.notify_all();
        }
    }
}
