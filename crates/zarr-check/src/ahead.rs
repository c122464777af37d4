//! Arrays that are looked into before it is their turn, several at once: most of the time of a check
//! of many small arrays is that of waiting for answers.

use std::convert::Infallible;
use std::iter;
use std::num::NonZeroUsize;

use zarr_array::node::METADATA_KEY;
use zarr_array::{ArrayError, Hierarchy, parallel};
use zarr_metadata::NodeMetadata;
use zarr_store::{Prefix, StoreExt as _};

use crate::hierarchy::{Ahead, Looked, Walk};
use crate::options::CheckOptions;

/// The most nodes that are looked at together.
const MOST: usize = 256;

/// The most of them at once, each on its own thread.
const AT_ONCE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(127);

impl Walk<'_> {
    /// What was seen of the node at `prefix`, which is looked at now with those after it unless it was
    /// before. `None` where there was no document.
    ///
    /// Chunks are not decoded ahead: that takes memory, of which one array may have all.
    pub(crate) fn ahead(&mut self, prefix: &Prefix, waiting: &[Prefix]) -> Option<Ahead> {
        if self.options.data {
            return None;
        }
        if !self.looked.contains_key(prefix) {
            let (store, options) = (self.store, self.options);
            let next = iter::once(prefix).chain(waiting.iter().rev());
            let next = next.take(MOST).filter(|prefix| !self.looked.contains_key(prefix));
            let next: Vec<&Prefix> = next.collect();
            let threads = parallel::requests(&***store).min(AT_ONCE);
            let Ok(seen) = parallel::map(&next, threads, |prefix| {
                Ok::<_, Infallible>(look(store, options, prefix))
            });
            let seen = next.iter().zip(seen);
            self.looked.extend(seen.filter_map(|(prefix, seen)| Some(((*prefix).clone(), seen?))));
        }
        self.looked.remove(prefix)
    }

    /// Reports what was found in an array.
    pub(crate) fn add(&mut self, looked: Looked) -> Result<(), ArrayError> {
        looked.findings.into_iter().for_each(|finding| self.found_in_chunk(finding));
        self.summary.arrays = self.summary.arrays.saturating_add(looked.summary.arrays);
        self.summary.chunks = self.summary.chunks.saturating_add(looked.summary.chunks);
        looked.result
    }
}

/// Errors are those of the node's turn, when it is read again.
fn look(store: &Hierarchy, options: &CheckOptions, prefix: &Prefix) -> Option<Ahead> {
    let key = prefix.key(METADATA_KEY).ok()?;
    let document = store.read(&key).ok()??;
    let Ok(NodeMetadata::Array(array)) = NodeMetadata::from_json(&document) else {
        return Some(Ahead::Document(document));
    };
    let mut findings = Vec::new();
    let mut report = |finding| findings.push(finding);
    let mut walk = Walk::new(store, options, &mut report, None);
    let result = walk.of_version_3(prefix, &key, array);
    let summary = walk.summary;
    Some(Ahead::Array(Looked { findings, summary, result }))
}
