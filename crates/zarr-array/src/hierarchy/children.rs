//! The nodes directly in a group.

use std::convert::Infallible;
use std::iter;
use std::num::NonZeroUsize;
use std::sync::Arc;

use zarr_metadata::{GroupMetadata, NodeMetadata};

use crate::error::ArrayError;
use crate::hierarchy::node;
use crate::hierarchy::snapshot::Snapshot;
use crate::hierarchy::version_2;
use crate::parallel;
use crate::store::{DirEntry, Prefix, Store};

/// The most documents that are looked up at once, each on its own thread.
const MAX_LOOKUPS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(127);

/// Documents that are read before the first is used, so that memory does not grow with the group.
const BATCH: usize = 256;

/// The names of the nodes directly in the group at `prefix`, sorted. If the store cannot list, they
/// come from the group's consolidated metadata.
pub(crate) fn children(
    store: &dyn Store,
    prefix: &Prefix,
    metadata: &GroupMetadata,
) -> Result<Vec<String>, ArrayError> {
    let prefixes = candidates(store, prefix, metadata)?;
    let looked_up = |prefix: &Prefix| {
        Ok::<_, ArrayError>(
            (metadata.is_version_2() && version_2::is_at(store, prefix)?)
                || store.head(&prefix.key(node::METADATA_KEY)?)?.is_some(),
        )
    };
    // A node that cannot be looked up, such as a link to itself, does not hide other nodes: its
    // name is listed, and opening it says why.
    let Ok(is_node) = parallel::map(&prefixes, lookups(store), |prefix| {
        Ok::<_, Infallible>(looked_up(prefix).unwrap_or(true))
    });
    let nodes = prefixes.iter().zip(is_node).filter(|(_, is_node)| *is_node);
    Ok(nodes.map(|(prefix, _)| name(prefix)).collect())
}

/// As [`children`], each with its metadata or why that cannot be read: one request for each node.
pub(crate) fn nodes<'s>(
    store: &'s Arc<dyn Store>,
    prefix: &Prefix,
    metadata: &GroupMetadata,
) -> Result<impl Iterator<Item = (String, Result<NodeMetadata, ArrayError>)> + use<'s>, ArrayError>
{
    let is_version_2 = metadata.is_version_2();
    let mut ahead = candidates(&**store, prefix, metadata)?.into_iter();
    Ok(iter::from_fn(move || {
        let batch: Vec<Prefix> = ahead.by_ref().take(BATCH).collect();
        let Ok(found) = parallel::map(&batch, lookups(&**store), |prefix| {
            Ok::<_, Infallible>(match node::of_version_3(store, prefix).transpose() {
                None if is_version_2 => version_2::open(store, prefix).transpose(),
                node => node,
            })
        });
        let named = |(prefix, node): (_, Option<_>)| Some((name(prefix), node?));
        (!batch.is_empty()).then(|| batch.iter().zip(found).filter_map(named).collect::<Vec<_>>())
    })
    .flatten())
}

/// How many documents are looked up at once.
fn lookups(store: &dyn Store) -> NonZeroUsize {
    parallel::requests(store).min(MAX_LOOKUPS)
}

/// The places directly in a group where nodes may be, sorted.
fn candidates(
    store: &dyn Store,
    prefix: &Prefix,
    metadata: &GroupMetadata,
) -> Result<Vec<Prefix>, ArrayError> {
    let listed = store.list_dir(prefix).filter_map(|entry| match entry {
        Ok(DirEntry::Prefix(prefix)) => Some(Ok(prefix)),
        Ok(DirEntry::Object(_)) => None,
        Err(error) => Some(Err(error)),
    });
    match listed.collect::<Result<Vec<_>, _>>() {
        Ok(mut prefixes) => {
            prefixes.sort();
            Ok(prefixes)
        }
        Err(error) => match Snapshot::of(metadata, prefix) {
            Some(snapshot) if error.cannot_list() => {
                let names = snapshot.children();
                Ok(names.iter().map(|name| prefix.join(name)).collect::<Result<_, _>>()?)
            }
            _ => Err(error.into()),
        },
    }
}

fn name(prefix: &Prefix) -> String {
    prefix.segments().last().unwrap_or_default().to_owned()
}
