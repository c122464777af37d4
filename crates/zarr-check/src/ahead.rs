//! Prefetch of arrays: several are examined at once, ahead of the walk. A check of many small
//! arrays otherwise mostly waits for responses.

use std::convert::Infallible;
use std::iter;
use std::num::NonZeroUsize;

use zarr_array::node::METADATA_KEY;
use zarr_array::{ArrayError, ChunkLayout, Hierarchy, parallel};
use zarr_metadata::{ArrayMetadata, NodeMetadata};
use zarr_store::{Prefix, Store as _, StoreExt as _};

use crate::hierarchy::{Ahead, Looked, Walk};
use crate::options::CheckOptions;
use crate::summary::CheckWatch;

/// The most nodes that are looked at together.
const MOST: usize = 256;

/// The most of them at once, each on its own thread.
const AT_ONCE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(127);

/// The most arrays at once if chunks are decoded, each by as many threads as the store answers
/// requests.
const AT_ONCE_DECODED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(15);

impl Walk<'_> {
    /// The prefetched node at `prefix`. Unless it was fetched before, it is fetched now, together
    /// with the nodes after it. `None` if there was no document.
    ///
    /// If chunks are decoded, arrays share the memory. An array with chunks that may need more is
    /// not prefetched.
    pub(crate) fn ahead(&mut self, prefix: &Prefix, waiting: &[Prefix]) -> Option<Ahead> {
        let threads = match self.options.data {
            true => self.store.capabilities().requests_in_flight.min(AT_ONCE_DECODED),
            false => parallel::requests(&***self.store).min(AT_ONCE),
        };
        if self.options.data && threads == NonZeroUsize::MIN {
            return None;
        }
        if !self.looked.contains_key(prefix) {
            let store = self.store;
            let parts = u64::try_from(threads.get()).unwrap_or(u64::MAX);
            let memory = self.options.memory.checked_div(parts).unwrap_or(0);
            let options = &self.options.clone().memory(memory);
            let next = iter::once(prefix).chain(waiting.iter().rev());
            let next = next.take(MOST).filter(|prefix| !self.looked.contains_key(prefix));
            let next: Vec<&Prefix> = next.collect();
            let Ok(seen) = parallel::map(&next, threads, |prefix| {
                Ok::<_, Infallible>(look(store, options, prefix))
            });
            let seen = next.iter().zip(seen);
            self.looked.extend(seen.filter_map(|(prefix, seen)| Some(((*prefix).clone(), seen?))));
        }
        self.looked.remove(prefix)
    }

    /// Reports the findings in an array.
    pub(crate) fn add(&mut self, looked: Looked) -> Result<(), ArrayError> {
        self.tell(&looked.metadata);
        looked.findings.into_iter().for_each(|finding| self.found_in_chunk(finding));
        self.summary.arrays += looked.summary.arrays;
        self.summary.chunks += looked.summary.chunks;
        self.summary.bytes += looked.summary.bytes;
        looked.result
    }
}

/// Errors are reported at the node's turn, when it is read again.
fn look(store: &Hierarchy, options: &CheckOptions, prefix: &Prefix) -> Option<Ahead> {
    let key = prefix.key(METADATA_KEY).ok()?;
    let document = store.read(&key).ok()??;
    let Ok(NodeMetadata::Array(array)) = NodeMetadata::from_json(&document) else {
        return Some(Ahead::Document(document));
    };
    if options.data && (store.members(prefix).is_some() || !fits(prefix, &array, options.memory)) {
        return Some(Ahead::Document(document));
    }
    let mut findings = Vec::new();
    let mut report = |finding| findings.push(finding);
    let mut walk = Walk::new(store, options, &mut report, CheckWatch::default());
    let result = walk.of_version_3(prefix, &key, array.clone());
    let summary = walk.summary;
    Some(Ahead::Array(Box::new(Looked { metadata: array, findings, summary, result })))
}

/// Whether each chunk takes only a part of this memory, for any stored bytes.
fn fits(prefix: &Prefix, array: &ArrayMetadata, memory: u64) -> bool {
    let (Some(size), Ok(layout)) = (array.data_type().size(), ChunkLayout::new(prefix, array))
    else {
        return false;
    };
    let size = u64::try_from(size).unwrap_or(u64::MAX);
    layout.grid().largest_chunk().saturating_mul(size) <= memory.checked_div(4).unwrap_or(0)
}
