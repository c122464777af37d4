//! Values by the number of a chunk, within a limit of bytes: what was used longest ago goes first.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// Values by the number of their chunk on each axis. All together, with their bookkeeping, they never
/// take more bytes than the limit.
#[derive(Debug)]
pub(super) struct Recent<V> {
    limit: usize,
    kept: Mutex<Kept<V>>,
}

/// The most recently used entries are kept longest.
#[derive(Debug)]
struct Kept<V> {
    entries: HashMap<Arc<[u64]>, Entry<V>>,
    /// The chunks in the order of their last use.
    order: BTreeMap<u64, Arc<[u64]>>,
    uses: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    used: u64,
    bytes: usize,
}

impl<V: Clone> Recent<V> {
    pub(super) fn new(limit: usize) -> Self {
        let kept = Kept { entries: HashMap::new(), order: BTreeMap::new(), uses: 0, bytes: 0 };
        Self { limit, kept: Mutex::new(kept) }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The bytes that a value and its bookkeeping take: without counting the latter, small values would
    /// take many times the limit.
    pub(super) fn cost(axes: usize, bytes: usize) -> usize {
        let beside = const { 2 * size_of::<Entry<V>>() + 128 };
        bytes.saturating_add(axes.saturating_mul(size_of::<u64>())).saturating_add(beside)
    }

    pub(super) fn get(&self, chunk: &[u64]) -> Option<V> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = &mut *kept;
        let entry = kept.entries.get_mut(chunk)?;
        if entry.used != kept.uses
            && let Some(name) = kept.order.remove(&entry.used)
        {
            kept.uses = kept.uses.saturating_add(1);
            entry.used = kept.uses;
            kept.order.insert(entry.used, name);
        }
        Some(entry.value.clone())
    }

    /// Keeps a value of so many bytes in place of the chunk's other one. One that exceeds the limit is
    /// not kept.
    pub(super) fn insert(&self, chunk: &[u64], value: V, bytes: usize) {
        let bytes = Self::cost(chunk.len(), bytes);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.remove(chunk);
        if bytes > self.limit {
            return;
        }
        while kept.bytes.saturating_add(bytes) > self.limit
            && let Some((_, oldest)) = kept.order.first_key_value()
        {
            let oldest = Arc::clone(oldest);
            kept.remove(&oldest);
        }
        kept.uses = kept.uses.saturating_add(1);
        kept.bytes = kept.bytes.saturating_add(bytes);
        let (used, name) = (kept.uses, Arc::from(chunk));
        kept.order.insert(used, Arc::clone(&name));
        kept.entries.insert(name, Entry { value, used, bytes });
    }

    pub(super) fn remove(&self, chunk: &[u64]) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).remove(chunk);
    }
}

impl<V> Kept<V> {
    fn remove(&mut self, chunk: &[u64]) {
        if let Some(old) = self.entries.remove(chunk) {
            self.order.remove(&old.used);
            self.bytes = self.bytes.saturating_sub(old.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 1 << 20;

    impl<V: Clone> Recent<V> {
        pub(crate) fn bytes(&self) -> usize {
            self.kept.lock().unwrap().bytes
        }

        fn has(&self, chunk: u64) -> bool {
            self.get(&[chunk]).is_some()
        }

        pub(crate) fn is_consistent(&self) -> bool {
            let kept = self.kept.lock().unwrap();
            let bytes: usize = kept.entries.values().map(|entry| entry.bytes).sum();
            let ordered = kept.order.iter().all(|(used, name)| kept.entries[name].used == *used);
            bytes == kept.bytes
                && bytes <= self.limit
                && kept.order.len() == kept.entries.len()
                && ordered
        }
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let recent = Recent::new(LIMIT);
        let fit = u64::try_from(LIMIT / Recent::<()>::cost(1, 0)).unwrap();
        (0..fit).for_each(|chunk| recent.insert(&[chunk], (), 0));
        assert!((0..fit).all(|chunk| recent.has(chunk)) && recent.is_consistent());
        // Twice as many as fit, with one of them used all the time.
        for chunk in fit..3 * fit {
            recent.insert(&[chunk], (), 0);
            assert!(recent.has(7));
        }
        assert!(recent.is_consistent());
        let kept: Vec<u64> = (0..3 * fit).filter(|chunk| recent.has(*chunk)).collect();
        let wanted: Vec<u64> = std::iter::once(7).chain(2 * fit + 1..3 * fit).collect();
        assert!(kept == wanted, "{} of {fit} kept, from {:?}", kept.len(), kept.first());
    }

    #[test]
    fn what_is_kept_twice_or_removed_is_counted_once() {
        let recent = Recent::new(LIMIT);
        for round in 0..1000_u64 {
            recent.insert(&[round % 7], round, 100);
            recent.remove(&[round % 5]);
            recent.remove(&[round % 11]);
        }
        assert!(recent.is_consistent());
        (0..7).for_each(|chunk| recent.remove(&[chunk]));
        assert_eq!(recent.bytes(), 0);
        assert!(recent.is_consistent());
    }

    #[test]
    fn one_that_exceeds_the_limit_is_not_kept_and_replaces_the_older_one() {
        let recent = Recent::new(LIMIT);
        recent.insert(&[0], 1, 10);
        recent.insert(&[1], 2, LIMIT - 3 * Recent::<i32>::cost(1, 10));
        recent.insert(&[0], 3, LIMIT);
        assert_eq!((recent.get(&[0]), recent.get(&[1])), (None, Some(2)));
        assert!(recent.is_consistent());
    }
}
