//! A cache of shard indices, within a limit.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use zarr_codec::ShardIndex;

use crate::store::Version;

/// Bytes of indices that an array caches.
const LIMIT: usize = 32 << 20;

/// An index, and the version of its shard.
#[derive(Clone, Debug)]
pub(super) struct Cached {
    pub(super) index: Arc<ShardIndex>,
    pub(super) version: Option<Version>,
}

/// Indices by the shard's number. A changed shard has another version, which every read of it
/// returns. So no shard is read with another version's index, as far as the store can distinguish
/// versions. If a file is replaced by another of the same length and inode, their times differ, to
/// the resolution of the clock.
#[derive(Debug, Default)]
pub(super) struct Indices {
    kept: Mutex<Kept>,
}

/// The most recently used entries are kept longest.
#[derive(Debug, Default)]
struct Kept {
    shards: HashMap<Arc<[u64]>, Entry>,
    /// The shards in the order of their last use.
    order: BTreeMap<u64, Arc<[u64]>>,
    uses: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    cached: Cached,
    used: u64,
    bytes: usize,
}

impl Indices {
    pub(super) fn get(&self, shard: &[u64]) -> Option<Cached> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = &mut *kept;
        let entry = kept.shards.get_mut(shard)?;
        if entry.used != kept.uses
            && let Some(name) = kept.order.remove(&entry.used)
        {
            kept.uses = kept.uses.saturating_add(1);
            entry.used = kept.uses;
            kept.order.insert(entry.used, name);
        }
        Some(entry.cached.clone())
    }

    pub(super) fn insert(&self, shard: &[u64], index: &Arc<ShardIndex>, version: &Option<Version>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.shards.get(shard).map(|entry| &entry.cached);
        if known.is_some_and(|known| Arc::ptr_eq(&known.index, index) && known.version == *version)
        {
            return;
        }
        kept.remove(shard);
        let bytes = size(shard, index);
        if bytes > LIMIT {
            return;
        }
        while kept.bytes.saturating_add(bytes) > LIMIT
            && let Some((_, oldest)) = kept.order.first_key_value()
        {
            let oldest = Arc::clone(oldest);
            kept.remove(&oldest);
        }
        kept.uses = kept.uses.saturating_add(1);
        kept.bytes = kept.bytes.saturating_add(bytes);
        let (used, name) = (kept.uses, Arc::from(shard));
        let cached = Cached { index: Arc::clone(index), version: version.clone() };
        kept.order.insert(used, Arc::clone(&name));
        kept.shards.insert(name, Entry { cached, used, bytes });
    }

    pub(super) fn remove(&self, shard: &[u64]) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).remove(shard);
    }
}

impl Kept {
    fn remove(&mut self, shard: &[u64]) {
        if let Some(old) = self.shards.remove(shard) {
            self.order.remove(&old.used);
            self.bytes = self.bytes.saturating_sub(old.bytes);
        }
    }
}

/// Bytes that an index and its bookkeeping take: without counting the latter, indices of one
/// chunk each would take many times the limit.
fn size(shard: &[u64], index: &ShardIndex) -> usize {
    const BESIDE: usize = 2 * size_of::<Entry>() + 128;
    index.len().saturating_mul(16).saturating_add(size_of_val(shard)).saturating_add(BESIDE)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Indices {
        fn keep(&self, shard: u64) {
            self.insert(&[shard], &Arc::default(), &None);
        }

        fn has(&self, shard: u64) -> bool {
            self.get(&[shard]).is_some()
        }

        fn is_consistent(&self) -> bool {
            let kept = self.kept.lock().unwrap();
            let bytes: usize = kept.shards.values().map(|entry| entry.bytes).sum();
            let ordered = kept.order.iter().all(|(used, name)| kept.shards[name].used == *used);
            bytes == kept.bytes
                && bytes <= LIMIT
                && kept.order.len() == kept.shards.len()
                && ordered
        }
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let indices = Indices::default();
        let fit = u64::try_from(LIMIT / size(&[0], &ShardIndex::default())).unwrap();
        (0..fit).for_each(|shard| indices.keep(shard));
        assert!((0..fit).all(|shard| indices.has(shard)) && indices.is_consistent());
        // Twice as many as fit, with one of them used all the time.
        for shard in fit..3 * fit {
            indices.keep(shard);
            assert!(indices.has(7));
        }
        assert!(indices.is_consistent());
        let kept: Vec<u64> = (0..3 * fit).filter(|shard| indices.has(*shard)).collect();
        let wanted: Vec<u64> = std::iter::once(7).chain(2 * fit + 1..3 * fit).collect();
        assert!(kept == wanted, "{} of {fit} kept, from {:?}", kept.len(), kept.first());
    }

    #[test]
    fn what_is_kept_twice_or_removed_is_counted_once() {
        let indices = Indices::default();
        for round in 0..1000_u64 {
            indices.keep(round % 7);
            indices.remove(&[round % 5]);
            indices.remove(&[round % 11]);
        }
        assert!(indices.is_consistent());
        (0..7).for_each(|shard| indices.remove(&[shard]));
        assert_eq!(indices.kept.lock().unwrap().bytes, 0);
        assert!(indices.is_consistent());
    }
}
