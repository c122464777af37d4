//! Copies one part of a group and everything below it.

use zarr_array::Part;
use zarr_metadata::GroupMetadata;
use zarr_store::{Key, Prefix, StoreExt as _};

use crate::array_copy::{ArrayCopy, Change};
use crate::documents::Pending;
use crate::error::{TransferError, source};
use crate::marker::Marker;
use crate::objects::{copy_below, copy_others, documents_below};
use crate::parts::{Joined, PartRun, Share};
use crate::tree::first_visit::FirstVisit;
use crate::tree::walk::{Step, Visit, Walk};
use crate::{CopyProgress, CopySummary, UnfitArray};

/// Copies a part of a group.
///
/// Each part visits the whole source first; the parts compare their findings by the marker. Nodes
/// below the root have no markers, and get their documents when all parts are done.
pub(crate) fn copy_group_in_parts(
    first: &mut FirstVisit<'_>,
    group: &GroupMetadata,
    part: Part,
    change: &mut Change<'_>,
    progress: &mut dyn FnMut(&Prefix, CopyProgress),
) -> Result<CopySummary, TransferError> {
    let (from, to, options) = (first.from, first.to, first.options);
    first.changed(change)?;
    let mut below = Vec::new();
    documents(first, change, &mut |document| {
        below.push(match document {
            Document::Node(marker) => marker.hashes(to.prefix),
            Document::Kept(key, bytes) => Marker::hashes_of_document(to.prefix, key, bytes),
        });
        Ok(())
    })?;
    let marker = first.group_marker(from, to, group, change)?;
    let marker = marker.with_content(from.digest());
    let mut marker = marker.in_parts(part.of(), &below, options.nodes_only);
    let mut run = PartRun::new(&mut marker, part);
    let joined = run.join(from, None)?;
    if matches!(joined, Joined::Node | Joined::Complete) {
        // The document of a group says little of its members, and another program may have put it.
        documents(first, change, &mut |document| {
            let is_there = match document {
                Document::Node(node) => match node.is_finished() {
                    Err(TransferError::OtherDocument { .. }) => false,
                    found => found?,
                },
                Document::Kept(key, bytes) => to.store.read(key)?.as_deref() == Some(bytes),
            };
            match is_there {
                true => Ok(()),
                false if joined == Joined::Node => Err(TransferError::Exists { path: to.path() }),
                false => Err(TransferError::OtherDocument { path: to.path() }),
            }
        })?;
    }
    let work = &mut |found, share: &Share<'_>| {
        let mut summary = CopySummary::default();
        let store = share.store_for(found);
        let held = to.in_store(&store);
        for step in Walk::new(from, to, options) {
            let Step { prefix, new, visit } = step?;
            let (here, there) = (from.at(&prefix), held.at(&new));
            match visit {
                Visit::Group(_) => {}
                // The first visit has refused them if they are not to be kept.
                Visit::Invalid(cause) => {
                    let owned = share.objects(there.prefix);
                    summary.kept.push(UnfitArray::new(here, &cause));
                    summary.add(copy_below(here, there, &owned, found, options)?);
                }
                Visit::Untranslated(cause) => {
                    summary.untranslated.push(UnfitArray::new(here, &cause));
                }
                Visit::GroupEnd(group) => {
                    summary.groups += 1;
                    summary.add_ome(here.prefix, &group, options);
                }
                Visit::Array(metadata) => {
                    let job = ArrayCopy::within(here, there, *metadata, change, options)?;
                    let progress = &mut |done| progress(here.prefix, done);
                    summary.kept.extend(job.kept());
                    summary.add(job.run(found, share, options, progress)?);
                }
                Visit::Others(keys) => {
                    let owned = share.objects(there.prefix);
                    summary.add(copy_others((here, there), &keys, &owned, found, options)?);
                }
            }
        }
        Ok(summary)
    };
    let mut summary = run.work(joined, |found, share| from.of_one_state(work(found, share)))?;
    let pending = || {
        let mut pending = Vec::new();
        documents(first, change, &mut |document| {
            pending.push(match document {
                Document::Node(node) => node.pending()?,
                Document::Kept(key, bytes) => Pending { key: key.clone(), bytes: bytes.to_vec() },
            });
            Ok(())
        })?;
        Ok(pending)
    };
    summary.part = Some(run.end(joined, pending)?);
    Ok(summary)
}

/// A document that the target gets below its root, when all parts are done.
enum Document<'a> {
    /// The document of a node, by the marker that the node would have.
    Node(Marker<'a>),
    /// An unchanged document at or below a node with an invalid document: its key in the target,
    /// and its bytes.
    Kept(&'a Key, &'a [u8]),
}

/// Calls `visit` with each document below the root, members before their groups. It is no iterator,
/// because markers borrow their prefixes from the walk.
fn documents(
    first: &mut FirstVisit<'_>,
    change: &mut Change<'_>,
    visit: &mut dyn FnMut(Document<'_>) -> Result<(), TransferError>,
) -> Result<(), TransferError> {
    let (from, to, options) = (first.from, first.to, first.options);
    for step in Walk::new(from, to, options) {
        let Step { prefix, new, visit: node } = step?;
        let (here, there) = (from.at(&prefix), to.at(&new));
        match node {
            Visit::GroupEnd(_) if prefix == *from.prefix => {}
            Visit::GroupEnd(group) => {
                visit(Document::Node(first.group_marker(here, there, &group, change)?))?;
            }
            Visit::Array(metadata) => {
                let job = ArrayCopy::within(here, there, *metadata, change, options)?;
                visit(Document::Node(job.marker()?))?;
            }
            Visit::Invalid(_) => {
                for (key, new) in &documents_below(here, there)? {
                    if let Some(bytes) = here.store.read(key).map_err(source)? {
                        visit(Document::Kept(new, &bytes))?;
                    }
                }
            }
            // An untranslated array is not in the copy, and has no document there.
            Visit::Group(_) | Visit::Untranslated(_) | Visit::Others(_) => {}
        }
    }
    Ok(())
}
