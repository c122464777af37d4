//! Keeps consolidated metadata up to date with the changes of this library.

use std::collections::BTreeMap;
use std::sync::Arc;

use zarr_metadata::{GroupMetadata, MetadataError, NodeMetadata};

use crate::error::ArrayError;
use crate::hierarchy::children::nodes;
use crate::hierarchy::node::{self, METADATA_KEY};
use crate::store::{Change, Prefix, Store, StoreError, StoreExt as _, UpdatePolicy, update};

/// Documents by the path of their node, parents before their members.
pub(super) type Documents = BTreeMap<String, String>;

/// The nodes that a change affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The document of one node.
    Node,
    /// A node and everything below it.
    Subtree,
}

/// Updates the consolidated metadata of the groups above `prefix` after a change there, also of those
/// above the root of the store.
///
/// The change itself is done, so a failure here is not an error of the change. The store is told. The
/// metadata is then out of date, as after a change by another program, and `check` reports it.
pub(crate) fn update_consolidated(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    scope: Scope,
    policy: UpdatePolicy,
) {
    let _out_of_date = each_above(store, prefix, scope, policy);
}

/// Updates the consolidated metadata of the groups above `prefix` from the node there and the nodes
/// below it. If there is no node any more, its entries are removed. Groups above the root of the store
/// are updated too, in its [outer stores](Store::outer_stores).
///
/// Use it after changes by other programs. Groups without consolidated metadata stay as they are.
///
/// # Errors
/// The first error of the store, which the [store is told](Store::out_of_date) too. All groups are
/// tried.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::store::{MemoryStore, Prefix, Store, UpdatePolicy};
/// use zarr_array::refresh_consolidated;
///
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// let rain = Prefix::new("weather/rain")?;
/// refresh_consolidated(&store, &rain, UpdatePolicy::RequireExclusion)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn refresh_consolidated(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    policy: UpdatePolicy,
) -> Result<(), ArrayError> {
    each_above(store, prefix, Scope::Subtree, policy)
}

/// As [`update_consolidated`], and returns the first error too. All groups are tried.
fn each_above(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    scope: Scope,
    policy: UpdatePolicy,
) -> Result<(), ArrayError> {
    let mut result = Ok(());
    for group in prefix.ancestors().skip(1) {
        let followed = update_group(store, &group, &[prefix], scope, policy);
        result = result.and(followed);
    }
    told(store, result.and(above_root(store, &[prefix], scope, policy)))
}

/// Tells the store of an error.
fn told(store: &Arc<dyn Store>, followed: Result<(), ArrayError>) -> Result<(), ArrayError> {
    followed.inspect_err(|cause| store.out_of_date(cause))
}

/// Updates the groups above the root of the store. From the nearest node above it upwards, every
/// folder of a hierarchy is a node.
fn above_root(
    store: &Arc<dyn Store>,
    prefixes: &[&Prefix],
    scope: Scope,
    policy: UpdatePolicy,
) -> Result<(), ArrayError> {
    let mut result = Ok(());
    for (outer, root) in store.outer_stores() {
        let places = prefixes.iter().map(|prefix| root.join(prefix.as_str()));
        let places: Vec<Prefix> = places.collect::<Result<_, _>>()?;
        let places: Vec<&Prefix> = places.iter().collect();
        let is_own = prefixes.iter().any(|prefix| prefix.is_root());
        let mut is_above_node = !is_own && is_node(&outer, &root)?;
        for group in root.ancestors().skip(1) {
            match is_node(&outer, &group)? {
                true => {
                    is_above_node = true;
                    let followed = update_group(&outer, &group, &places, scope, policy);
                    result = result.and(followed);
                }
                false if is_above_node => break,
                false => {}
            }
        }
    }
    result
}

/// Whether there is a node of version 3 at `prefix`. Folders and servers that deny access count as no
/// nodes: many do so for places outside of those that a user may read.
fn is_node(store: &Arc<dyn Store>, prefix: &Prefix) -> Result<bool, ArrayError> {
    match store.head(&prefix.key(METADATA_KEY)?) {
        Err(error @ StoreError::Remote { .. }) if !error.cannot_list() => Err(error.into()),
        found => Ok(found.is_ok_and(|found| found.is_some())),
    }
}

/// As [`refresh_consolidated`], after changes of the documents of several nodes (not of the nodes
/// below them). Each group above any of them gets one new document for all changes.
///
/// # Errors
/// The first error of the store. All groups are tried.
pub fn refresh_consolidated_of(
    store: &Arc<dyn Store>,
    prefixes: &[&Prefix],
    policy: UpdatePolicy,
) -> Result<(), ArrayError> {
    let mut groups: BTreeMap<Prefix, Vec<&Prefix>> = BTreeMap::new();
    for prefix in prefixes {
        for group in prefix.ancestors().skip(1) {
            groups.entry(group).or_default().push(prefix);
        }
    }
    let followed = groups
        .iter()
        .map(|(group, prefixes)| update_group(store, group, prefixes, Scope::Node, policy));
    let followed = followed.fold(Ok(()), Result::and);
    told(store, followed.and(above_root(store, prefixes, Scope::Node, policy)))
}

fn update_group(
    store: &Arc<dyn Store>,
    above: &Prefix,
    prefixes: &[&Prefix],
    scope: Scope,
    policy: UpdatePolicy,
) -> Result<(), ArrayError> {
    // Most groups have none, which can be seen without a lock. Creation has read the document
    // too, but before the node was there: a group that was consolidated in between lacks it.
    let Some(document) = store.read(&above.key(METADATA_KEY)?)? else { return Ok(()) };
    match NodeMetadata::from_json(&document) {
        Ok(NodeMetadata::Group(group)) if group.consolidated_metadata().is_some() => {}
        _ => return Ok(()),
    }
    let paths: Vec<&str> = prefixes
        .iter()
        .map(|prefix| prefix.as_str().get(above.key_start()..).unwrap_or_default())
        .collect();
    let read = || {
        let mut documents = Documents::new();
        for path in &paths {
            documents.extend(below(store, above, path, scope)?);
        }
        Ok::<_, ArrayError>(documents)
    };
    let early = match crate::store::step!("consolidated metadata: documents are read for the put") {
        true => None,
        false => Some(read()?),
    };
    change(store, above, policy, |group| {
        let Some(consolidated) = group.consolidated_metadata() else { return Ok(None) };
        let is_one = |other: &str, path: &str| {
            let Some(rest) = other.strip_prefix(path) else { return false };
            rest.is_empty() || (scope == Scope::Subtree && rest.starts_with('/'))
        };
        let before: BTreeMap<&str, &str> = consolidated.entries().collect();
        let mut entries: Documents = before
            .iter()
            .filter(|(other, _)| !paths.iter().any(|path| is_one(other, path)))
            .map(|(other, json)| ((*other).to_owned(), (*json).to_owned()))
            .collect();
        entries.extend(match &early {
            None => read()?,
            Some(early) => early.clone(),
        });
        let is_same = |(path, json): (&String, &String)| {
            before.get(path.as_str()).is_some_and(|before| is_same_entry(before, json))
        };
        if entries.len() == before.len() && entries.iter().all(is_same) {
            return Ok(None);
        }
        with_entries(above, group, &entries).map(Some)
    })
    .map(drop)
}

/// Whether an entry need not be written again: other programs write JSON differently.
fn is_same_entry(before: &str, json: &str) -> bool {
    let read = |json: &str| NodeMetadata::from_json(json.as_bytes());
    before == json
        || matches!((read(before), read(json)), (Ok(before), Ok(own)) if node::is_same(&before, &own))
}

/// Changes the document of the group at `prefix` in one step, so that no concurrent change is
/// lost. `None` if there is no group, or `change` made no change.
pub(super) fn change(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    policy: UpdatePolicy,
    mut change: impl FnMut(&GroupMetadata) -> Result<Option<GroupMetadata>, ArrayError>,
) -> Result<Option<GroupMetadata>, ArrayError> {
    let key = prefix.key(METADATA_KEY)?;
    let mut changed = None;
    update(&**store, &key, policy, &mut Vec::new(), |_, document| {
        let Ok(NodeMetadata::Group(group)) = NodeMetadata::from_json(document) else {
            return Ok::<_, ArrayError>(Change::Keep);
        };
        changed = change(&group)?;
        match &changed {
            Some(new) if new.json() != group.json() => {
                document.clear();
                document.extend_from_slice(new.json().as_bytes());
                Ok(Change::Put)
            }
            _ => Ok(Change::Keep),
        }
    })?;
    Ok(changed)
}

pub(super) fn with_entries(
    prefix: &Prefix,
    group: &GroupMetadata,
    entries: &Documents,
) -> Result<GroupMetadata, ArrayError> {
    let entries = entries.iter().map(|(path, json)| (path.as_str(), json.as_str()));
    group.with_consolidated_metadata(entries).map_err(|cause| wrong(prefix, cause))
}

/// The documents of the node at `path` below `root`, if there is one, and of its members.
pub(super) fn below(
    store: &Arc<dyn Store>,
    root: &Prefix,
    path: &str,
    scope: Scope,
) -> Result<Documents, ArrayError> {
    let mut documents = Documents::new();
    let mut groups = Vec::new();
    let mut add = |path: String, node, groups: &mut Vec<_>| {
        let json = match node {
            NodeMetadata::Array(array) => array.json().to_owned(),
            NodeMetadata::Group(group) => {
                let without = group.without_consolidated_metadata();
                let without = without.map_err(|cause| {
                    root.join(&path).map_or_else(ArrayError::from, |prefix| wrong(&prefix, cause))
                })?;
                groups.push((path.clone(), group));
                without.json().to_owned()
            }
        };
        if !path.is_empty() {
            documents.insert(path, json);
        }
        Ok::<(), ArrayError>(())
    };
    match node::open(store, &root.join(path)?) {
        Ok(node) => add(path.to_owned(), node, &mut groups)?,
        Err(ArrayError::NotFound { .. }) => {}
        Err(error) => return Err(error),
    }
    while let Some((path, group)) = groups.pop().filter(|_| scope == Scope::Subtree) {
        for (name, node) in nodes(store, &root.join(&path)?, &group)? {
            let path = if path.is_empty() { name } else { format!("{path}/{name}") };
            add(path, node?, &mut groups)?;
        }
    }
    Ok(documents)
}

pub(super) fn wrong(prefix: &Prefix, cause: MetadataError) -> ArrayError {
    ArrayError::Metadata { key: node::metadata_key(prefix), cause }
}
