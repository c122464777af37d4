//! Copies a node and everything below it.

use std::error::Error;

use zarr_metadata::{ArrayMetadata, GroupMetadata};

use super::array::Prepared;
use super::begin::{begin, withdraw};
use super::endpoint::Endpoint;
use super::error::{TransferError, source, target};
use super::marker::{Marker, TargetState};
use super::objects::copy_objects;
use super::{CopyOptions, CopySummary, Progress};
use crate::array::Array;
use crate::error::ArrayError;
use crate::group::Group;
use crate::node::{self, Node};
use crate::store::Prefix;
use crate::unfinished::Kind;

/// Makes the metadata of an array's copy from that of the source.
type Change<'a> =
    dyn FnMut(&Prefix, &ArrayMetadata) -> Result<ArrayMetadata, Box<dyn Error + Send + Sync>> + 'a;

/// Copies the node at `from` and everything below it to `to`, each array with the metadata that
/// `change` makes from that of the source.
///
/// Arrays whose metadata does not change are copied object by object, even if their elements
/// cannot be read. Consolidated metadata of groups is left out, because it would have to be made
/// again. The document of each node is put when everything below it is complete.
///
/// Visits the whole source before anything is written or removed, to refuse what can be refused,
/// so `change` is called twice for each array.
///
/// # Errors
/// As [`copy_array`](super::copy_array); [`TransferError::NotDecodable`] if an array that cannot
/// be read is to change; [`TransferError::Change`] with the error of `change`.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::copy::{CopyOptions, Endpoint, copy_tree};
/// use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt};
///
/// let from: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// from.put(&Key::new("a/zarr.json")?, br#"{"zarr_format": 3, "node_type": "group"}"#)?;
/// let to: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// let summary = copy_tree(
///     Endpoint::new(&from, &Prefix::new("a")?),
///     Endpoint::new(&to, &Prefix::root()),
///     &mut |_, metadata| Ok(metadata.clone()),
///     &CopyOptions::new().verify(true),
///     &mut |_, _| {},
/// )?;
/// assert_eq!(summary.groups, 1);
/// assert!(to.read(&Key::new("zarr.json")?)?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn copy_tree(
    from: Endpoint<'_>,
    to: Endpoint<'_>,
    change: &mut Change<'_>,
    options: &CopyOptions,
    progress: &mut dyn FnMut(&Prefix, Progress),
) -> Result<CopySummary, TransferError> {
    let checked = to.store.checked();
    let to = Endpoint::new(checked.as_ref().unwrap_or(to.store), to.prefix);
    match node::open(from.store, from.prefix).map_err(source)? {
        Node::Array(metadata) => {
            let job = Job::new(from, to, metadata, change, options)?;
            let marker = job.marker()?;
            let target = Some(&job.changed);
            let found = begin(&marker, from, target, options, &mut || Ok(()))?;
            let progress = &mut |done| progress(from.prefix, done);
            let result = marker.finish(found, || job.run(found, options, progress));
            result.inspect(|_| to.follow()).inspect_err(|error| {
                if found == TargetState::Fresh {
                    withdraw(to, error);
                }
            })
        }
        Node::Group(group) => {
            // A part of an unfinished tree may lack anything.
            let mut above = from.prefix.parent();
            while let Some(prefix) = above {
                from.at(&prefix).refuse_unfinished()?;
                above = prefix.parent();
            }
            let marker = group_marker(from, to, &group)?;
            let look = &mut || {
                walk(from, to, &mut |here, there, visit| match visit {
                    Visit::Array(metadata) => {
                        Job::new(here, there, *metadata, change, options).map(drop)
                    }
                    Visit::Group(_) | Visit::GroupEnd(_) => Ok(()),
                })
            };
            let tree = begin(&marker, from, None, options, look)?;
            let mut summary = CopySummary::default();
            let walked = walk(from, to, &mut |here, there, visit| {
                match visit {
                    // The document of the root exists.
                    Visit::Group(_) if here.prefix == from.prefix => {}
                    Visit::Group(group) => {
                        group_marker(here, there, group)?.begin_within(tree)?;
                    }
                    Visit::GroupEnd(group) => {
                        let marker = group_marker(here, there, group)?;
                        let found = match tree != TargetState::Fresh && marker.is_finished()? {
                            true => TargetState::Finished,
                            false => TargetState::Fresh,
                        };
                        let one = CopySummary { groups: 1, ..CopySummary::default() };
                        summary.add(marker.finish(found, || Ok(one))?);
                    }
                    Visit::Array(metadata) => {
                        let job = Job::new(here, there, *metadata, change, options)?;
                        let marker = job.marker()?;
                        let found = marker.begin_within(tree)?;
                        let progress = &mut |done| progress(here.prefix, done);
                        summary.add(marker.finish(found, || job.run(found, options, progress))?);
                    }
                }
                Ok(())
            });
            if let (Err(error), TargetState::Fresh) = (&walked, tree) {
                withdraw(to, error);
            }
            walked.map(|()| {
                to.follow();
                summary
            })
        }
    }
}

/// The nodes that a walk visits.
enum Visit<'a> {
    Array(Box<ArrayMetadata>),
    /// A group, before its members.
    Group(&'a GroupMetadata),
    /// A group, after its members.
    GroupEnd(&'a GroupMetadata),
}

/// The nodes that a walk has yet to visit.
enum Ahead {
    Node(Prefix, Prefix),
    GroupEnd(Prefix, Prefix, GroupMetadata),
}

/// Calls `visit` with each node of the source and its target.
fn walk(
    from: Endpoint<'_>,
    to: Endpoint<'_>,
    visit: &mut dyn FnMut(Endpoint<'_>, Endpoint<'_>, Visit<'_>) -> Result<(), TransferError>,
) -> Result<(), TransferError> {
    let mut ahead = vec![Ahead::Node(from.prefix.clone(), to.prefix.clone())];
    while let Some(next) = ahead.pop() {
        let (prefix, new) = match next {
            Ahead::Node(prefix, new) => (prefix, new),
            Ahead::GroupEnd(prefix, new, group) => {
                visit(from.at(&prefix), to.at(&new), Visit::GroupEnd(&group))?;
                continue;
            }
        };
        let here = from.at(&prefix);
        if prefix != *from.prefix {
            // Through a link, a node may lie elsewhere than its parent.
            here.apart(to)?;
            here.refuse_unfinished()?;
        }
        let group = match node::open(from.store, &prefix).map_err(source)? {
            Node::Array(metadata) => {
                visit(here, to.at(&new), Visit::Array(Box::new(metadata)))?;
                continue;
            }
            Node::Group(group) => group,
        };
        visit(here, to.at(&new), Visit::Group(&group))?;
        let children = Group::open(from.store.clone(), &prefix)
            .and_then(|group| group.children())
            .map_err(source)?;
        here.refuse_unfinished_children(&children)?;
        ahead.push(Ahead::GroupEnd(prefix.clone(), new.clone(), group));
        for name in children.iter().rev() {
            ahead.push(Ahead::Node(prefix.join(name).map_err(source)?, new.join(name)?));
        }
    }
    Ok(())
}

/// The marker of a group's copy.
fn group_marker<'a>(
    from: Endpoint<'_>,
    to: Endpoint<'a>,
    group: &GroupMetadata,
) -> Result<Marker<'a>, TransferError> {
    Marker::new(from, group.json(), to, Kind::Group, document_of(group, to)?)
}

/// The copy of one array, checked as far as possible before anything is written.
struct Job<'a> {
    from: Endpoint<'a>,
    to: Endpoint<'a>,
    document: String,
    changed: ArrayMetadata,
    /// The source and the prepared copy, unless it is copied object by object.
    elements: Option<(Array, Prepared)>,
}

impl<'a> Job<'a> {
    fn new(
        from: Endpoint<'a>,
        to: Endpoint<'a>,
        metadata: ArrayMetadata,
        change: &mut Change<'_>,
        options: &CopyOptions,
    ) -> Result<Self, TransferError> {
        let changed = change(from.prefix, &metadata)
            .map_err(|cause| TransferError::Change { path: from.path(), cause })?;
        let document = metadata.json().to_owned();
        if document == changed.json() {
            return Ok(Self { from, to, document, changed, elements: None });
        }
        let (store, options_of_source) = (from.store.clone(), options.source_options());
        let array = Array::with_metadata(store, from.prefix, metadata, options_of_source);
        let array = match array {
            Ok(array) => array,
            Err(error @ (ArrayError::Chain { .. } | ArrayError::DataType { .. })) => {
                return Err(TransferError::NotDecodable { path: from.path(), cause: error });
            }
            Err(error) => return Err(source(error)),
        };
        let prepared =
            Prepared::new(&array, to.store.clone(), to.prefix, changed.clone(), options)?;
        Ok(Self { from, to, document, changed, elements: Some((array, prepared)) })
    }

    fn marker(&self) -> Result<Marker<'a>, TransferError> {
        Marker::new(self.from, &self.document, self.to, Kind::Array, self.changed.json().to_owned())
    }

    fn run(
        self,
        found: TargetState,
        options: &CopyOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<CopySummary, TransferError> {
        match self.elements {
            None => copy_objects(self.from, self.to, found, options, progress),
            Some((array, prepared)) => prepared.run(&array, found, options, progress),
        }
    }
}

/// The document of a group's copy.
fn document_of(group: &GroupMetadata, to: Endpoint<'_>) -> Result<String, TransferError> {
    // Unchanged if there is nothing to leave out.
    if group.consolidated_metadata().is_none() {
        return Ok(group.json().to_owned());
    }
    group.without_consolidated_metadata().map(|group| group.json().to_owned()).map_err(|cause| {
        let key = node::metadata_key(to.prefix);
        target(ArrayError::Metadata { key, cause })
    })
}
