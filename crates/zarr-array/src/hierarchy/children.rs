//! The nodes directly in a group.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use zarr_metadata::GroupMetadata;

use crate::error::ArrayError;
use crate::hierarchy::node;
use crate::hierarchy::snapshot::Snapshot;
use crate::hierarchy::version_2;
use crate::parallel;
use crate::store::{DirEntry, Prefix, Store};

/// The most documents that are looked up at once, each on its own thread.
const MAX_LOOKUPS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(127);

/// The names of the nodes directly in the group at `prefix`, sorted; of a store that cannot list,
/// those that the group's consolidated metadata has.
pub(crate) fn children(
    store: &dyn Store,
    prefix: &Prefix,
    metadata: &GroupMetadata,
) -> Result<Vec<String>, ArrayError> {
    let listed = store.list_dir(prefix).filter_map(|entry| match entry {
        Ok(DirEntry::Prefix(prefix)) => Some(Ok(prefix)),
        Ok(DirEntry::Object(_)) => None,
        Err(error) => Some(Err(error)),
    });
    let prefixes = match listed.collect::<Result<Vec<_>, _>>() {
        Ok(prefixes) => prefixes,
        Err(error) => match Snapshot::of(metadata, prefix) {
            Some(snapshot) if error.cannot_list() => {
                let names = snapshot.children();
                let prefixes = names.iter().map(|name| prefix.join(name));
                prefixes.collect::<Result<_, _>>()?
            }
            _ => return Err(error.into()),
        },
    };
    let mut names = nodes_among(store, &prefixes, metadata.is_version_2())?;
    names.sort();
    Ok(names)
}

/// The names of those that have a document, also of Zarr version 2 in a group of that. Looks up as
/// many at once as the store allows requests in flight.
fn nodes_among(
    store: &dyn Store,
    prefixes: &[Prefix],
    is_version_2: bool,
) -> Result<Vec<String>, ArrayError> {
    let names = Mutex::new(Vec::new());
    let count = u64::try_from(prefixes.len()).unwrap_or(u64::MAX);
    let threads = store.capabilities().requests_in_flight.min(MAX_LOOKUPS);
    parallel::for_each(
        count,
        threads,
        || (),
        |(), range| {
            let at = |index: u64| usize::try_from(index).unwrap_or(usize::MAX);
            for prefix in prefixes.get(at(range.start)..at(range.end)).unwrap_or_default() {
                if (is_version_2 && version_2::is_at(store, prefix)?)
                    || store.head(&prefix.key(node::METADATA_KEY)?)?.is_some()
                {
                    let path = prefix.as_str();
                    let name = path.rsplit_once('/').map_or(path, |(_, name)| name).to_owned();
                    names.lock().unwrap_or_else(PoisonError::into_inner).push(name);
                }
            }
            Ok::<(), ArrayError>(())
        },
    )?;
    Ok(names.into_inner().unwrap_or_else(PoisonError::into_inner))
}
