//! Nodes of the hierarchy: their documents, their names, and checks of the place of a new node.
//!
//! Users of [`Array`](crate::Array) and [`Group`](crate::Group) do not need it. It is for programs
//! that work on whole hierarchies, such as copies, checks and joins, and that must judge nodes as
//! these two do.

use std::collections::BTreeSet;
use std::sync::Arc;

use zarr_journal::{REARRANGE_MARKER, Unfinished, UnfinishedParts, UnfinishedWork, is_of_copy};
use zarr_metadata::{GroupMetadata, NodeMetadata};

pub use crate::array::refuse_unwritable;
pub use crate::documents::{DOCUMENTS, METADATA_KEY, metadata_key};
use crate::error::ArrayError;
use crate::hierarchy::version_2;
use crate::store::{Key, Links, Prefix, PutOutcome, Store, StoreError, StoreExt as _};

/// Reads the metadata of the node at `prefix`: its `zarr.json` or, where there is none, its
/// documents of Zarr version 2. Metadata of version 2 is translated to version 3;
/// [`is_version_2`](zarr_metadata::NodeDocument::is_version_2) is then true.
///
/// # Errors
/// [`ArrayError::NotFound`] if there is no node; [`ArrayError::Unfinished`] for an unfinished copy,
/// which has no document yet; [`ArrayError::Metadata`] if the document is not valid.
pub fn open(store: &Arc<dyn Store>, prefix: &Prefix) -> Result<NodeMetadata, ArrayError> {
    if let Some(node) = of_version_3(store, prefix)? {
        return Ok(node);
    }
    if let Some(node) = version_2::open(store, prefix)? {
        return Ok(node);
    }
    // A copy of a group puts all documents at its end.
    prefix.ancestors().try_for_each(|place| refuse_unfinished(store, &place))?;
    Err(ArrayError::NotFound { path: display(prefix) })
}

/// Whether two documents of a node have the same meaning. Their consolidated metadata is ignored:
/// writers include it in only one of the two.
#[must_use]
pub fn is_same(one: &NodeMetadata, other: &NodeMetadata) -> bool {
    match (one, other) {
        (NodeMetadata::Group(one), NodeMetadata::Group(other)) => {
            let alone = |group: &GroupMetadata| group.without_consolidated_metadata().ok();
            alone(one) == alone(other)
        }
        _ => one == other,
    }
}

/// The metadata in the `zarr.json` at `prefix`, if there is one.
pub(crate) fn of_version_3(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
) -> Result<Option<NodeMetadata>, ArrayError> {
    let key = prefix.key(METADATA_KEY)?;
    let Some(document) = store.read(&key)? else { return Ok(None) };
    NodeMetadata::from_json(&document)
        .map(Some)
        .map_err(|cause| ArrayError::Metadata { key: key.to_string(), cause })
}

/// The reason why a node cannot have this name, by rules that [`Prefix`] does not check; `None` if
/// it can.
///
/// # Spec
/// Zarr v3 core 3.1, "Node names".
#[must_use]
pub fn name_error(name: &str) -> Option<&'static str> {
    if name.starts_with("__") {
        return Some("begins with __, which is reserved");
    }
    if name == METADATA_KEY {
        return Some("is the name of its document");
    }
    name.bytes().all(|byte| byte == b'.').then_some("is of periods alone")
}

/// Writes the document of a new node, unless there is one. The caller makes sure that there is no
/// unfinished copy.
pub(crate) fn create(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    document: &[u8],
) -> Result<(), ArrayError> {
    refuse_place(store, prefix)?;
    let key = prefix.key(METADATA_KEY)?;
    match put_new(&**store, &key, document)? {
        PutOutcome::Written => Ok(()),
        PutOutcome::Changed => Err(ArrayError::Exists { path: display(prefix) }),
    }
}

/// Writes an object unless it exists: by a conditional put or, if the store has none, under the
/// lock of the store.
///
/// # Errors
/// Errors of the store.
pub fn put_new(store: &dyn Store, key: &Key, bytes: &[u8]) -> Result<PutOutcome, StoreError> {
    if store.capabilities().conditional_put && crate::store::step!("new object: conditional put") {
        return store.put_if(key, bytes, None);
    }
    let _guard = crate::store::lock_step!("new object: lock", store.lock(key))?;
    if crate::store::step!("new object: look") && store.head(key)?.is_some() {
        crate::store::reached!("put of a new object: there is one");
        return Ok(PutOutcome::Changed);
    }
    store.put(key, bytes)?;
    Ok(PutOutcome::Written)
}

/// Refuses a place where no new node can be, whether or not there is one.
///
/// # Errors
/// [`ArrayError::NodeName`] for a name that nodes cannot have; [`ArrayError::NotGroup`] within an
/// array, of which the root of the store may be a part; [`ArrayError::Version2`] at or within a node
/// of Zarr version 2; errors of the store.
pub fn refuse_place(store: &Arc<dyn Store>, prefix: &Prefix) -> Result<(), ArrayError> {
    // Above a node is no array.
    match is_place_in_node(store, prefix)? {
        true => Ok(()),
        false => refuse_array_above_root(store),
    }
}

/// Makes the checks within the store. Whether there is a node around the place in it.
fn is_place_in_node(store: &Arc<dyn Store>, prefix: &Prefix) -> Result<bool, ArrayError> {
    // Nodes of others may have these names, and neither paths nor copies tell them from documents.
    let is_other_document = |name: &str| {
        is_of_copy(name) || name == REARRANGE_MARKER || version_2::NAMES.contains(&name)
    };
    for name in prefix.segments() {
        let other = is_other_document(name).then_some("is the name of another document");
        if let Some(reason) = name_error(name).or(other) {
            let (path, name) = (display(prefix), name.to_owned());
            return Err(ArrayError::NodeName { path, name, reason });
        }
    }
    let is_in_node = refuse_in_array(store, prefix)?;
    refuse_version_2(version_2::is_at(store, prefix)?, prefix).map(|()| is_in_node)
}

/// Refuses a place within an array, where readers do not look for nodes, or within a group of
/// version 2, where readers do not look for nodes of version 3.
/// Whether there is a node around it in the store.
fn refuse_in_array(store: &Arc<dyn Store>, prefix: &Prefix) -> Result<bool, ArrayError> {
    let mut is_in_node = false;
    for prefix in prefix.ancestors().skip(1) {
        is_in_node |= refuse_array(store, &prefix, store.read(&prefix.key(METADATA_KEY)?)?)?;
    }
    Ok(is_in_node)
}

/// As [`refuse_in_array`], above the root of the store.
fn refuse_array_above_root(store: &Arc<dyn Store>) -> Result<(), ArrayError> {
    for (outer, root) in store.outer_stores() {
        for above in root.ancestors().skip(1) {
            let document = match outer.read(&above.key(METADATA_KEY)?) {
                Err(error @ StoreError::Remote { .. }) if !error.cannot_list() => {
                    return Err(error.into());
                }
                // Who denies access has no nodes for this user.
                read => read.ok().flatten(),
            };
            if refuse_array(&outer, &above, document)? {
                break;
            }
        }
    }
    Ok(())
}

/// Refuses an array of this document, or a node of version 2 if there is none. Whether there is a node.
fn refuse_array(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    document: Option<Vec<u8>>,
) -> Result<bool, ArrayError> {
    match document.map(|document| NodeMetadata::from_json(&document)) {
        Some(Ok(NodeMetadata::Array(_))) => Err(ArrayError::NotGroup { path: display(prefix) }),
        Some(_) => Ok(true),
        None => refuse_version_2(version_2::is_at(store, prefix)?, prefix).map(|()| false),
    }
}

/// The name of a store's root in messages.
pub const ROOT: &str = "the root";

/// Refuses a place where there is an unfinished copy, which has no document yet.
pub(crate) fn refuse_unfinished(store: &Arc<dyn Store>, prefix: &Prefix) -> Result<(), ArrayError> {
    match Unfinished::at(&**store, prefix)? {
        Some(Unfinished { from, kind, work, parts }) => {
            // A creation cannot be resumed: there are no chunks to put.
            let resumable = kind.is_some() && work != UnfinishedWork::Creation;
            let parts = parts.map(|of| UnfinishedParts::at(&**store, prefix, of)).transpose()?;
            let parts = parts.map(Box::new);
            crate::store::reached!("node: an unfinished copy");
            Err(ArrayError::Unfinished { path: display(prefix), from, work, resumable, parts })
        }
        None => Ok(()),
    }
}

/// Refuses nodes that an unfinished copy or join makes, alone or with a group above them: both read
/// a document again once it is put, and compare it when they are resumed. An unfinished creation
/// does not, and cannot be resumed. A place above several nodes is asked once.
///
/// # Errors
/// [`ArrayError::Unfinished`] with the place of the marker; errors of the store.
pub fn refuse_unfinished_above<'p>(
    store: &Arc<dyn Store>,
    prefixes: impl IntoIterator<Item = &'p Prefix>,
) -> Result<(), ArrayError> {
    let places: BTreeSet<Prefix> = prefixes.into_iter().flat_map(Prefix::ancestors).collect();
    // Longer places first.
    for place in places.iter().rev() {
        match refuse_unfinished(store, place) {
            Err(ArrayError::Unfinished { work: UnfinishedWork::Creation, .. }) => {}
            copied => copied?,
        }
    }
    Ok(())
}

/// Refuses to change a node of Zarr version 2.
///
/// # Errors
/// [`ArrayError::Version2`].
pub fn refuse_version_2(is_version_2: bool, prefix: &Prefix) -> Result<(), ArrayError> {
    match is_version_2 {
        true => Err(ArrayError::Version2 { path: display(prefix) }),
        false => Ok(()),
    }
}

/// The documents of a node and of all nodes below it, parents first; none of Zarr
/// version 2.
///
/// # Errors
/// Errors of listing.
pub fn documents(store: &dyn Store, prefix: &Prefix) -> Result<Vec<Key>, ArrayError> {
    let mut documents = Vec::new();
    for key in store.list(prefix, Links::AsObjects) {
        documents.extend(Some(key?).filter(|key| key.name() == METADATA_KEY));
    }
    documents.sort_by_cached_key(depth);
    Ok(documents)
}

/// The number of folders that a key is in.
pub(crate) fn depth(key: &Key) -> usize {
    key.as_str().matches('/').count()
}

/// A node's path for messages, with a name for the root.
#[must_use]
pub fn display(prefix: &Prefix) -> String {
    if prefix.is_root() { ROOT.to_owned() } else { prefix.as_str().to_owned() }
}

/// Whether an object of this name in the folder of an array is one of its documents.
#[must_use]
pub fn is_of_array(name: &str, is_version_2: bool) -> bool {
    name == METADATA_KEY || (is_version_2 && version_2::OF_ARRAY.contains(&name))
}
