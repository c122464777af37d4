//! A cache of shard indices, within a limit.

use std::collections::HashMap;
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
/// returns, so no shard is read with another version's index, as far as the store can distinguish
/// versions: files that are replaced by others of the same length and inode differ in their time,
/// to the resolution of the clock.
#[derive(Debug, Default)]
pub(super) struct Indices {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    shards: HashMap<Box<[u64]>, Cached>,
    bytes: usize,
}

impl Indices {
    pub(super) fn get(&self, shard: &[u64]) -> Option<Cached> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.shards.get(shard).cloned()
    }

    pub(super) fn insert(&self, shard: &[u64], index: &Arc<ShardIndex>, version: &Option<Version>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = size(index);
        if kept.bytes.saturating_add(bytes) > LIMIT {
            *kept = Kept::default();
        }
        if bytes <= LIMIT {
            let cached = Cached { index: Arc::clone(index), version: version.clone() };
            let old = kept.shards.insert(shard.into(), cached);
            let freed = old.map_or(0, |old| size(&old.index));
            kept.bytes = kept.bytes.saturating_add(bytes).saturating_sub(freed);
        }
    }

    pub(super) fn remove(&self, shard: &[u64]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = kept.shards.remove(shard) {
            kept.bytes = kept.bytes.saturating_sub(size(&old.index));
        }
    }
}

fn size(index: &ShardIndex) -> usize {
    index.len().saturating_mul(16)
}
