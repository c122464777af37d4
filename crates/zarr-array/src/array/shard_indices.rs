//! A cache of shard indices, within a limit.

use std::sync::Arc;

use zarr_codec::ShardIndex;

use crate::array::recent::Recent;
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
/// versions: only indices of [settled](crate::array::settled) objects are put here.
#[derive(Debug)]
pub(super) struct Indices(Recent<Cached>);

impl Default for Indices {
    fn default() -> Self {
        Self(Recent::new(LIMIT))
    }
}

impl Indices {
    pub(super) fn get(&self, shard: &[u64]) -> Option<Cached> {
        self.0.get(shard)
    }

    pub(super) fn insert(&self, shard: &[u64], index: &Arc<ShardIndex>, version: &Option<Version>) {
        let is_same = |known: Cached| Arc::ptr_eq(&known.index, index) && known.version == *version;
        if !self.get(shard).is_some_and(is_same) {
            let cached = Cached { index: Arc::clone(index), version: version.clone() };
            self.0.insert(shard, cached, index.len().saturating_mul(16));
        }
    }

    pub(super) fn remove(&self, shard: &[u64]) {
        self.0.remove(shard);
    }
}
