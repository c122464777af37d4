//! Copies a node and everything below it.

use std::collections::HashMap;
use std::sync::Arc;

use zarr_metadata::{ArrayMetadata, ConsolidatedMetadata, GroupMetadata, NodeMetadata};

use super::begin::{begin, withdraw};
use super::endpoint::Endpoint;
use super::error::{TransferError, source, target};
use super::job::{Change, Job};
use super::marker::{Marker, TargetState};
use super::objects::{copy_below, copy_others};
use super::parts::Share;
use super::tree_parts::{copy_array_in_parts, copy_group_in_parts};
use super::{CopyOptions, CopySummary, Progress, UnfitArray};
use crate::error::ArrayError;
use crate::node;
use crate::store::{Key, MemoryStore, Prefix, Store};
use crate::unfinished::Kind;
use crate::version_2;

/// Copies the node at `from` and everything below it to `to`, each array with the metadata that
/// `change` makes from that of the source.
///
/// Arrays whose metadata does not change are copied object by object, even if their elements
/// cannot be read. Nodes in folders without a document are copied too, and so are objects that belong
/// to no node, unless [`CopyOptions::nodes_only`] leaves those out. Entries of changed arrays in
/// consolidated metadata change with them. The document of each node is put when everything below
/// it is complete.
///
/// Visits the whole source before anything is written or removed, to refuse what can be refused,
/// so `change` is called twice for each array.
///
/// With [`CopyOptions::keep_unfit`], an array of a group that cannot be read, or that its new metadata
/// does not fit, is copied as it is and listed in [`CopySummary::kept`], and so is a node whose document
/// is not valid, with everything below it. An array of Zarr version 2
/// that version 3 cannot express is not in the copy, and listed in [`CopySummary::untranslated`].
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
        NodeMetadata::Array(metadata) => {
            let job = Job::new(from, to, metadata, change, options)?;
            if let Some(part) = options.checked_part()? {
                let progress = &mut |done| progress(from.prefix, done);
                return copy_array_in_parts(job, from, part, options, progress);
            }
            let marker = job.marker()?;
            let target = Some(&job.changed);
            let found = begin(&marker, &[from], target, options, &mut || Ok(()))?;
            let progress = &mut |done| progress(from.prefix, done);
            let all = Share::all(to.prefix);
            let result = marker.finish(found, || job.run(found, &all, options, progress));
            result.inspect(|_| to.follow()).inspect_err(|error| {
                if found == TargetState::Fresh {
                    withdraw(to, error);
                }
            })
        }
        NodeMetadata::Group(group) => {
            // A part of an unfinished tree may lack anything.
            let mut above = from.prefix.parent();
            while let Some(prefix) = above {
                from.at(&prefix).refuse_unfinished()?;
                above = prefix.parent();
            }
            let mut first = FirstVisit { from, to, options, changed: None };
            if let Some(part) = options.checked_part()? {
                return copy_group_in_parts(&mut first, &group, part, change, progress);
            }
            let all = Share::all(to.prefix);
            let marker = first.group_marker(from, to, &group, change)?;
            let tree =
                begin(&marker, &[from], None, options, &mut || first.changed(change).map(drop))?;
            let mut summary = CopySummary::default();
            let walked = walk(from, to, &mut |here, there, visit| {
                match visit {
                    // The document of the root exists.
                    Visit::Group(_) if here.prefix == from.prefix => {}
                    Visit::Group(group) => {
                        first.group_marker(here, there, group, change)?.begin_within(tree)?;
                    }
                    Visit::GroupEnd(group) => {
                        let marker = first.group_marker(here, there, group, change)?;
                        let found = match tree != TargetState::Fresh && marker.is_finished()? {
                            true => TargetState::Finished,
                            false => TargetState::Fresh,
                        };
                        let one = CopySummary { groups: 1, ..CopySummary::default() };
                        summary.add(marker.finish(found, || Ok(one))?);
                    }
                    Visit::Array(metadata) => {
                        let job = Job::within(here, there, *metadata, change, options)?;
                        let marker = job.marker()?;
                        let found = marker.begin_within(tree)?;
                        let progress = &mut |done| progress(here.prefix, done);
                        summary.kept.extend(job.kept());
                        summary
                            .add(marker.finish(found, || job.run(found, &all, options, progress))?);
                    }
                    Visit::Invalid(cause) | Visit::Untranslated(cause) if !options.keep_unfit => {
                        return Err(source(cause));
                    }
                    Visit::Invalid(cause) => {
                        summary.kept.push(UnfitArray::new(here, &cause));
                        summary.add(copy_below(
                            here,
                            there,
                            &all.objects(there.prefix),
                            tree,
                            options,
                        )?);
                    }
                    Visit::Untranslated(cause) => {
                        summary.untranslated.push(UnfitArray::new(here, &cause));
                    }
                    Visit::Others(keys) => {
                        let owned = all.objects(there.prefix);
                        summary.add(copy_others((here, there), keys, &owned, tree, options)?);
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

/// Calls `visit` with each array that [`copy_tree`] would copy from `from`, and with its prefix in the
/// store: to see before a copy what it would meet.
///
/// # Errors
/// Those of reading the source, and those of `visit`.
pub fn visit_arrays(
    from: Endpoint<'_>,
    visit: &mut dyn FnMut(&Prefix, &ArrayMetadata) -> Result<(), TransferError>,
) -> Result<(), TransferError> {
    // A place that shares nothing with the source.
    let nowhere: Arc<dyn Store> = Arc::new(MemoryStore::new());
    walk(from, Endpoint::new(&nowhere, &Prefix::root()), &mut |here, _, node| match node {
        Visit::Array(metadata) => visit(here.prefix, &metadata),
        _ => Ok(()),
    })
}

/// The documents of arrays that change, by their prefix in the source.
pub(super) type Changed = HashMap<String, String>;

/// The visit of the source before anything is written or removed, to refuse what can be refused.
///
/// A copy that is resumed was checked when it began. It visits the source first only if
/// consolidated metadata repeats the documents of arrays that change.
pub(super) struct FirstVisit<'a> {
    pub(super) from: Endpoint<'a>,
    pub(super) to: Endpoint<'a>,
    pub(super) options: &'a CopyOptions,
    /// What it found, once it was made.
    changed: Option<Changed>,
}

impl FirstVisit<'_> {
    /// The documents of arrays that change.
    pub(super) fn changed(&mut self, change: &mut Change<'_>) -> Result<&Changed, TransferError> {
        let changed = match self.changed.take() {
            Some(changed) => changed,
            None => self.visit(change)?,
        };
        Ok(self.changed.insert(changed))
    }

    fn visit(&self, change: &mut Change<'_>) -> Result<Changed, TransferError> {
        let mut changed = Changed::new();
        // Whether an array takes the change, and the first that cannot.
        let (mut is_taken, mut unfit) = (false, None);
        walk(self.from, self.to, &mut |here, there, visit| match visit {
            Visit::Array(metadata) => {
                let job = Job::within(here, there, *metadata, change, self.options)?;
                is_taken |= job.is_re_encoded();
                if job.metadata.json() != job.changed.json() {
                    changed.insert(here.prefix.as_str().to_owned(), job.changed.json().to_owned());
                }
                unfit = unfit.take().or(job.unfit);
                Ok(())
            }
            Visit::Invalid(cause) | Visit::Untranslated(cause) if !self.options.keep_unfit => {
                Err(source(cause))
            }
            // Finds links out of the store, and objects that may not be read.
            Visit::Others(keys) if !self.options.nodes_only => {
                keys.iter().try_for_each(|key| match here.store.head(key).map_err(source)? {
                    Some(_) => Ok(()),
                    None => Err(TransferError::NoObject { key: key.to_string() }),
                })
            }
            _ => Ok(()),
        })?;
        // A change that no array takes is a mistake.
        match unfit {
            Some(error) if !is_taken => Err(error),
            _ => Ok(changed),
        }
    }

    /// The marker of a group's copy.
    pub(super) fn group_marker<'m>(
        &mut self,
        from: Endpoint<'_>,
        to: Endpoint<'m>,
        group: &GroupMetadata,
        change: &mut Change<'_>,
    ) -> Result<Marker<'m>, TransferError> {
        let document = match group.consolidated_metadata() {
            Some(consolidated) => {
                document_of(group, consolidated, from, to, self.changed(change)?)?
            }
            None => group.json().to_owned(),
        };
        Marker::new(from, group.json(), to, Kind::Group, document)
    }
}

/// What a walk visits.
pub(super) enum Visit<'a> {
    Array(Box<ArrayMetadata>),
    /// A node whose document is not valid, and why.
    Invalid(ArrayError),
    /// An array of Zarr version 2 that version 3 cannot express, and why.
    Untranslated(ArrayError),
    /// A group, before its members.
    Group(&'a GroupMetadata),
    /// A group, after its members.
    GroupEnd(&'a GroupMetadata),
    /// Objects that belong to no node, directly in a group or in a folder without a document.
    Others(&'a [Key]),
}

/// What a walk has yet to visit.
enum Ahead {
    Node(Prefix, Prefix),
    /// A folder without a document, which may contain nodes.
    Folder(Prefix, Prefix),
    GroupEnd(Prefix, Prefix, GroupMetadata),
}

/// Calls `visit` with each node of the source and its target, and with the objects that belong to no
/// node.
pub(super) fn walk(
    from: Endpoint<'_>,
    to: Endpoint<'_>,
    visit: &mut dyn FnMut(Endpoint<'_>, Endpoint<'_>, Visit<'_>) -> Result<(), TransferError>,
) -> Result<(), TransferError> {
    let mut ahead = vec![Ahead::Node(from.prefix.clone(), to.prefix.clone())];
    while let Some(next) = ahead.pop() {
        let (prefix, new, is_node) = match next {
            Ahead::Node(prefix, new) => (prefix, new, true),
            Ahead::Folder(prefix, new) => (prefix, new, false),
            Ahead::GroupEnd(prefix, new, group) => {
                visit(from.at(&prefix), to.at(&new), Visit::GroupEnd(&group))?;
                continue;
            }
        };
        let (here, there) = (from.at(&prefix), to.at(&new));
        if prefix != *from.prefix {
            // Through a link, a node may be in another place than its parent.
            here.apart(to)?;
            here.refuse_unfinished()?;
        }
        let mut is_version_2 = false;
        if is_node {
            let group = match node::open(from.store, &prefix) {
                Ok(NodeMetadata::Array(metadata)) => {
                    visit(here, there, Visit::Array(Box::new(metadata)))?;
                    continue;
                }
                Ok(NodeMetadata::Group(group)) => group,
                Err(error) => {
                    visit(here, there, unreadable(here, error)?)?;
                    continue;
                }
            };
            is_version_2 = group.is_version_2();
            visit(here, there, Visit::Group(&group))?;
            ahead.push(Ahead::GroupEnd(prefix.clone(), new.clone(), group));
        }
        let content = here.content(is_node, is_version_2)?;
        if !content.others.is_empty() {
            visit(here, there, Visit::Others(&content.others))?;
        }
        for (name, is_node) in content.members.into_iter().rev() {
            let (prefix, new) = (prefix.join(&name).map_err(source)?, new.join(&name)?);
            ahead.push(if is_node { Ahead::Node(prefix, new) } else { Ahead::Folder(prefix, new) });
        }
    }
    Ok(())
}

/// What becomes of a node whose document cannot be read; the error itself if it is none of the
/// document, or that of a group of version 2.
fn unreadable<'a>(here: Endpoint<'_>, error: ArrayError) -> Result<Visit<'a>, TransferError> {
    if !matches!(error, ArrayError::Metadata { .. }) {
        return Err(source(error));
    }
    if here.store.head(&here.document()?).map_err(source)?.is_some() {
        return Ok(Visit::Invalid(error));
    }
    match version_2::is_array(&**here.store, here.prefix).map_err(source)? {
        true => Ok(Visit::Untranslated(error)),
        false => Err(source(error)),
    }
}

/// The document of a group's copy: the source's, except for the entries of changed arrays in its
/// consolidated metadata.
fn document_of(
    group: &GroupMetadata,
    consolidated: ConsolidatedMetadata<'_>,
    from: Endpoint<'_>,
    to: Endpoint<'_>,
    changed: &Changed,
) -> Result<String, TransferError> {
    let mut any = false;
    // What is not translated in consolidated metadata is an error of the node, or there is no node.
    let is_left_out = |path: &str| {
        group.is_version_2() && !matches!(consolidated.node(path), Some(Ok(NodeMetadata::Group(_))))
    };
    let mut entries = Vec::new();
    for (path, json) in consolidated.entries() {
        let prefix = from.prefix.join(path).ok();
        let new = prefix.and_then(|prefix| changed.get(prefix.as_str()));
        any |= new.is_some();
        if new.is_none() && is_left_out(path) {
            any = true;
            continue;
        }
        entries.push((path, new.map_or(json, String::as_str)));
    }
    if !any {
        return Ok(group.json().to_owned());
    }
    let group = group.with_consolidated_metadata(entries).map_err(|cause| {
        target(ArrayError::Metadata { key: node::metadata_key(to.prefix), cause })
    })?;
    Ok(group.json().to_owned())
}
