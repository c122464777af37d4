//! Stores that cannot list, such as plain HTTP: their keys as far as metadata tells them.

use std::collections::BTreeMap;
use std::fmt;
use std::iter;
use std::sync::{Arc, Once, OnceLock};

use zarr_grid::unravel;
use zarr_metadata::{ArrayMetadata, NodeMetadata};

use crate::error::ArrayError;
use crate::hierarchy::node::{self, METADATA_KEY};
use crate::hierarchy::version_2;
use crate::hierarchy::without_key;
use crate::layout::ChunkLayout;
use crate::parallel;
use crate::store::{
    AsyncStore, DirEntry, Key, Layer, Links, Listing, ObjectMeta, Operation, Prefix, Store,
    StoreError, failed_listing, path_below,
};

/// A store that lists by metadata if the store below it cannot list, as most HTTP servers cannot.
///
/// The nodes come from the consolidated metadata of the group at the root, in Zarr version 2 its
/// `.zmetadata`; or the root is an array. The keys of an array are its documents and the existing
/// chunks of its grid. Each key is looked up, as many at once as the store allows requests in
/// flight. Objects that belong to no node are not listed. If the store can list, its own listings
/// are used.
///
/// # Errors
/// Listings fail with [`StoreError::Unsupported`] if the root has no consolidated metadata.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::store::{MemoryStore, Store};
/// use zarr_array::UnlistedStore;
///
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// let store = UnlistedStore::new(store, || eprintln!("the server does not list"));
/// ```
pub struct UnlistedStore {
    store: Arc<dyn Store>,
    shared: Arc<Shared>,
}

struct Shared {
    told: Box<dyn Fn() + Send + Sync>,
    once: Once,
    /// The contents by metadata, once a listing has failed.
    nodes: OnceLock<Arc<Nodes>>,
}

/// The nodes of a hierarchy.
#[derive(Debug)]
struct Nodes {
    /// The names that their documents may have.
    documents: &'static [&'static str],
    /// By path, which is empty for the root. `None` for groups and for arrays with an invalid
    /// document.
    arrays: BTreeMap<String, Option<ArrayMetadata>>,
}

impl UnlistedStore {
    /// The store; `told` is called at the first listing that metadata answers.
    pub fn new(store: Arc<dyn Store>, told: impl Fn() + Send + Sync + 'static) -> Self {
        let (told, once, nodes) = (Box::new(told), Once::new(), OnceLock::new());
        Self { store, shared: Arc::new(Shared { told, once, nodes }) }
    }

    /// The contents by metadata, in place of a listing that failed with `error`.
    fn nodes(&self, prefix: &Prefix, error: StoreError) -> Result<Arc<Nodes>, StoreError> {
        if !error.cannot_list() {
            return Err(error);
        }
        let nodes = match self.shared.nodes.get() {
            Some(nodes) => Arc::clone(nodes),
            None => {
                let node = match node::open(&self.store, &Prefix::root()) {
                    Ok(node) => node,
                    Err(ArrayError::Store(error)) => return Err(error),
                    Err(_) => return Err(error),
                };
                let Some(nodes) = self.below(node)? else {
                    return Err(StoreError::unsupported(
                        Operation::List,
                        prefix,
                        "listing, and the group at its root no consolidated metadata, which would \
                         tell the names (zarr-kit consolidate writes it; an array can be named \
                         itself)",
                    ));
                };
                Arc::clone(self.shared.nodes.get_or_init(|| Arc::new(nodes)))
            }
        };
        self.shared.once.call_once(|| (self.shared.told)());
        Ok(nodes)
    }

    /// The root and the nodes of its consolidated metadata; `None` for a group without any.
    fn below(&self, root: NodeMetadata) -> Result<Option<Nodes>, StoreError> {
        let documents: &[&str] = match root.is_version_2() {
            true => &version_2::NAMES,
            false => &[METADATA_KEY],
        };
        let group = match root {
            NodeMetadata::Array(array) => {
                let arrays = BTreeMap::from([(String::new(), Some(array))]);
                return Ok(Some(Nodes { documents, arrays }));
            }
            NodeMetadata::Group(group) => group,
        };
        let Some(consolidated) = group.consolidated_metadata() else { return Ok(None) };
        let mut arrays = BTreeMap::from([(String::new(), None)]);
        for (path, node) in consolidated.nodes() {
            let Ok(prefix) = Prefix::new(path) else { continue };
            let node = match node {
                // For some nodes of version 2, consolidated metadata refers to their own documents.
                Err(_) if group.is_version_2() => match version_2::open(&self.store, &prefix) {
                    Err(ArrayError::Store(error)) => return Err(error),
                    node => node.ok().flatten(),
                },
                node => node.ok(),
            };
            let array = match node {
                Some(NodeMetadata::Array(array)) => Some(array),
                // A node with an invalid document is listed without chunks.
                Some(NodeMetadata::Group(_)) | None => None,
            };
            arrays.insert(path.to_owned(), array);
        }
        Ok(Some(Nodes { documents, arrays }))
    }

    /// The keys below a prefix that exist, of the nodes at and below it, and of the array around it.
    fn known(&self, prefix: &Prefix, nodes: &Nodes) -> Listing<'_, Key> {
        let documents = nodes.documents;
        let nodes: Vec<(String, Option<ArrayMetadata>)> = nodes
            .arrays
            .iter()
            .filter(|(path, array)| {
                let within = path_below(prefix.as_str(), path).is_some() && array.is_some();
                within || path_below(path, prefix.as_str()).is_some()
            })
            .map(|(path, array)| (path.clone(), array.clone()))
            .collect();
        let prefix = prefix.clone();
        let candidates =
            nodes.into_iter().flat_map(move |(path, array)| keys_of(&path, array, documents));
        let mut candidates = candidates.filter(move |key| match key {
            Ok(key) => prefix.strip(key).is_some(),
            Err(_) => true,
        });
        let most = self.inner().capabilities().requests_in_flight.get().max(1);
        let batches = iter::from_fn(move || {
            let batch: Vec<_> = candidates.by_ref().take(most).collect();
            (!batch.is_empty()).then_some(batch)
        });
        Box::new(batches.flat_map(|batch| self.existing(batch)))
    }

    /// The existing keys among these, looked up at once.
    fn existing(&self, keys: Vec<Result<Key, StoreError>>) -> Vec<Result<Key, StoreError>> {
        let threads = self.inner().capabilities().requests_in_flight;
        let keys = keys.into_iter().collect::<Result<Vec<Key>, _>>();
        let existing = keys.and_then(|keys| {
            let found = parallel::map(&keys, threads, |key| self.inner().head(key))?;
            let pairs = keys.into_iter().zip(found);
            Ok(pairs.filter_map(|(key, found)| found.map(|_| Ok(key))).collect())
        });
        existing.unwrap_or_else(|error| vec![Err(error)])
    }
}

/// The documents of a node, and the chunks of an array, whether they exist or not.
fn keys_of(
    path: &str,
    array: Option<ArrayMetadata>,
    documents: &'static [&'static str],
) -> impl Iterator<Item = Result<Key, StoreError>> + Send + use<> {
    // Only paths of nodes are known.
    let prefix = Prefix::new(path).unwrap_or_else(|_| Prefix::root());
    let place = prefix.clone();
    let documents = documents.iter().map(move |name| place.key(name).map_err(StoreError::from));
    // An array with a grid that is not understood is not read either.
    let layout = array.and_then(|array| ChunkLayout::new(&prefix, &array).ok());
    let chunks = layout.into_iter().flat_map(|layout| {
        let numbers = 0..layout.grid().occupied_chunks().unwrap_or(u64::MAX);
        numbers.map_while(move |number| {
            let index = unravel(number, layout.grid().occupied())?;
            Some(layout.key(&index).map_err(StoreError::from))
        })
    });
    documents.chain(chunks)
}

impl fmt::Debug for UnlistedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UnlistedStore").field(&self.store).finish()
    }
}

impl Layer for UnlistedStore {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.store
    }

    fn around(&self, store: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        Some(Arc::new(Self { store, shared: Arc::clone(&self.shared) }))
    }

    fn around_reads(&self, reads: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        Some(reads)
    }

    fn list(&self, prefix: &Prefix, links: Links) -> Listing<'_, Key> {
        let mut listed = self.inner().list(prefix, links);
        match (listed.next(), links) {
            // A deletion must know its objects with certainty.
            (Some(Err(error)), Links::Follow) => {
                let nodes = self.nodes(prefix, error);
                nodes.map_or_else(failed_listing, |nodes| self.known(prefix, &nodes))
            }
            (first, _) => Box::new(first.into_iter().chain(listed)),
        }
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        let mut listed = self.inner().list_dir(prefix);
        let error = match listed.next() {
            Some(Err(error)) => error,
            first => return Box::new(first.into_iter().chain(listed)),
        };
        let entries = self.nodes(prefix, error).and_then(|nodes| {
            let mut entries = Vec::new();
            if nodes.arrays.contains_key(prefix.as_str()) {
                let documents = nodes.documents.iter();
                let documents = documents.map(|name| prefix.key(name).map_err(StoreError::from));
                for key in self.existing(documents.collect()) {
                    entries.push(DirEntry::Object(key?));
                }
            }
            for path in nodes.arrays.keys() {
                let path = Prefix::new(path)?;
                if path.parent().as_ref() == Some(prefix) {
                    entries.push(DirEntry::Prefix(path));
                }
            }
            Ok(entries)
        });
        entries.map_or_else(failed_listing, |entries| Box::new(entries.into_iter().map(Ok)))
    }

    /// Not known of listings that metadata answers.
    fn list_described(&self, _: &Prefix) -> Option<Listing<'_, (Key, ObjectMeta)>> {
        None
    }

    /// Nothing if the store below cannot list.
    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        without_key::each(&*self.store, prefix, found)
    }
}
