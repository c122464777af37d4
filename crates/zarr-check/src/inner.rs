//! Inner chunks that stored shards lack, by the indices of the shards alone.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use zarr_array::{Array, ArrayError, node, parallel};
use zarr_metadata::Codec;
use zarr_store::Key;

use crate::absent::NAMED;
use crate::finding::{Finding, MISSING, rule_of_chunk, unexamined};
use crate::options::CheckOptions;

/// Shards whose indices are read before more are listed.
const BATCH: usize = 4096;

/// Counts the inner chunks of the stored shards of an array.
pub(crate) struct InnerChunks<'a> {
    array: &'a Array,
    threads: NonZeroUsize,
    /// Whether all chunks are decoded, which finds damaged indices.
    is_decoded: bool,
    batch: Vec<(Key, Vec<u64>, Option<u64>)>,
    found: Found,
}

/// What the indices say.
#[derive(Default)]
struct Found {
    total: u64,
    missing: u64,
    /// The first that are missing, in C order of the shards.
    first: Vec<(Vec<u64>, Finding)>,
    /// Shards whose index was not read.
    unread: Vec<Finding>,
}

impl<'a> InnerChunks<'a> {
    /// `None` for an array without shards.
    pub(crate) fn new(array: &'a Array, options: &CheckOptions) -> Option<Self> {
        let is_sharding = |codec: &Codec| matches!(codec, Codec::ShardingIndexed(_));
        array.metadata().codecs().iter().any(is_sharding).then(|| Self {
            array,
            threads: options.threads.max(array.store().capabilities().requests_in_flight),
            is_decoded: options.data,
            batch: Vec::new(),
            found: Found::default(),
        })
    }

    /// Adds a stored shard.
    pub(crate) fn add(
        &mut self,
        key: &Key,
        index: &[u64],
        size: Option<u64>,
    ) -> Result<(), ArrayError> {
        self.batch.push((key.clone(), index.to_vec(), size));
        if self.batch.len() >= BATCH { self.read() } else { Ok(()) }
    }

    fn read(&mut self) -> Result<(), ArrayError> {
        let shards = std::mem::take(&mut self.batch);
        let this = &*self;
        let all = Mutex::new(Found::default());
        let items = u64::try_from(shards.len()).unwrap_or(u64::MAX);
        parallel::for_each(items, this.threads, Found::default, |found, range| {
            for item in range {
                let item = usize::try_from(item).ok();
                let Some((key, index, size)) = item.and_then(|item| shards.get(item)) else {
                    continue;
                };
                found.shard(this, key, index, *size)?;
            }
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.join(std::mem::take(found));
            Ok::<_, ArrayError>(())
        })?;
        self.found.join(all.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }

    /// The findings: the first missing inner chunks, and the number of all.
    pub(crate) fn findings(mut self) -> Result<Vec<Finding>, ArrayError> {
        self.read()?;
        let Found { total, missing, first, mut unread } = self.found;
        let more = missing.saturating_sub(u64::try_from(first.len()).unwrap_or(u64::MAX));
        unread.extend(first.into_iter().map(|(_, finding)| finding));
        if more > 0 {
            let message = format!(
                "{missing} of {total} inner chunks of the stored shards are not stored: {more} more \
                 than named"
            );
            let document = node::metadata_key(self.array.prefix());
            unread.push(Finding::new(MISSING, message).with_key(document));
        }
        Ok(unread)
    }
}

impl Found {
    fn shard(
        &mut self,
        InnerChunks { array, is_decoded, .. }: &InnerChunks<'_>,
        key: &Key,
        chunk: &[u64],
        size: Option<u64>,
    ) -> Result<(), ArrayError> {
        let content = match array.shard_content(chunk, size) {
            Ok(Some(content)) => content,
            Ok(None) => {
                let why =
                    "which inner chunks the shard has: codecs before or after the index hide it";
                self.unread.push(unexamined(key, why));
                return Ok(());
            }
            Err(ArrayError::Chunk { .. }) if *is_decoded => return Ok(()),
            Err(ArrayError::Chunk { cause, .. }) => {
                let finding = Finding::new(rule_of_chunk(cause.kind()), cause.to_string());
                self.unread.push(finding.with_key(key.as_str()));
                return Ok(());
            }
            Err(ArrayError::Store(error)) if error.is_of_one_object() => {
                self.unread.push(unexamined(key, error));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let mut named = 0;
        for inner in content.inner_chunks() {
            self.total += 1;
            if inner.bytes.is_some() {
                continue;
            }
            self.missing += 1;
            if named < NAMED {
                named += 1;
                let message = format!(
                    "inner chunk {:?} is not stored; it reads as the fill value",
                    inner.index
                );
                let finding = Finding::new(MISSING, message).with_key(key.as_str());
                let finding = finding.with_region(array.prefix().as_str(), inner.region);
                self.first.push((chunk.to_vec(), finding));
            }
        }
        self.cut();
        Ok(())
    }

    fn join(&mut self, other: Self) {
        self.total += other.total;
        self.missing += other.missing;
        self.first.extend(other.first);
        self.unread.extend(other.unread);
        self.cut();
    }

    /// Keeps the first that are missing.
    fn cut(&mut self) {
        // Stable: the inner chunks of a shard stay in order.
        self.first.sort_by(|a, b| a.0.cmp(&b.0));
        self.first.truncate(NAMED);
    }
}
