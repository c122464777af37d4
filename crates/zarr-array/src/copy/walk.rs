//! Walks through the nodes of a hierarchy, and the objects that belong to no node.

use zarr_metadata::{ArrayMetadata, GroupMetadata, NodeMetadata};

use super::endpoint::Endpoint;
use super::error::{TransferError, source};
use crate::error::ArrayError;
use crate::node;
use crate::store::{Key, Prefix};
use crate::version_2;

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
