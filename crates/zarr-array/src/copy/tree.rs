//! A node and all below it.

use std::sync::Arc;

use zarr_codec::Options;
use zarr_metadata::{ArrayMetadata, GroupMetadata, MetadataError};

use super::array::copy_array;
use super::error::{TransferError, source, target};
use super::objects::copy_objects;
use super::{CopyOptions, CopySummary, Progress};
use crate::array::Array;
use crate::error::ArrayError;
use crate::group::Group;
use crate::node::{self, METADATA_KEY, Node};
use crate::store::{Prefix, Store};

/// Copies the node at `from` and all below it to `to`, each array with the metadata that `change`
/// makes of its own.
///
/// Arrays whose metadata stays the same are copied object by object, also where their elements
/// cannot be read here. Consolidated metadata of groups is left out: it would have to be made
/// anew. Groups come before what is in them.
///
/// # Errors
/// As [`copy_array`]; [`TransferError::NotDecodable`] if an array that cannot be read is to change;
/// what `change` says, as [`TransferError::Target`].
pub fn copy_tree(
    from: (&Arc<dyn Store>, &Prefix),
    to: (&Arc<dyn Store>, &Prefix),
    change: &mut dyn FnMut(&Prefix, &ArrayMetadata) -> Result<ArrayMetadata, ArrayError>,
    options: &CopyOptions,
    progress: &mut dyn FnMut(&Prefix, Progress),
) -> Result<CopySummary, TransferError> {
    let mut summary = CopySummary::default();
    let mut waiting = vec![(from.1.clone(), to.1.clone())];
    while let Some((prefix, new)) = waiting.pop() {
        match node::open(from.0, &prefix).map_err(source)? {
            Node::Group(group) => {
                let children = Group::open(from.0.clone(), &prefix).map_err(source)?;
                let children = children.children().map_err(source)?;
                copy_group(&group, to.0, &new, options)?;
                summary.groups = summary.groups.saturating_add(1);
                for name in children.iter().rev() {
                    let child = prefix.join(name).map_err(source)?;
                    waiting.push((child, new.join(name)?));
                }
            }
            Node::Array(metadata) => {
                let changed = change(&prefix, &metadata).map_err(target)?;
                let progress = &mut |done: Progress| progress(&prefix, done);
                let (here, there) = ((from.0, &prefix), (to.0, &new));
                summary.add(copy_one(here, there, metadata, changed, options, progress)?);
            }
        }
    }
    Ok(summary)
}

fn copy_one(
    from: (&Arc<dyn Store>, &Prefix),
    to: (&Arc<dyn Store>, &Prefix),
    metadata: ArrayMetadata,
    changed: ArrayMetadata,
    options: &CopyOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<CopySummary, TransferError> {
    let document = metadata.to_json();
    if document == changed.to_json() {
        return copy_objects(from, to, &document, options, progress);
    }
    let array = Array::with_metadata(from.0.clone(), from.1, metadata, Options::default());
    let array = match array {
        Ok(array) => array,
        Err(error @ (ArrayError::Chain { .. } | ArrayError::DataType { .. })) => {
            let path = node::display(from.1);
            return Err(TransferError::NotDecodable { path, source: error });
        }
        Err(error) => return Err(source(error)),
    };
    copy_array(&array, to.0.clone(), to.1, changed, options, progress).map(|(_, summary)| summary)
}

fn copy_group(
    group: &GroupMetadata,
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    options: &CopyOptions,
) -> Result<(), TransferError> {
    let key = prefix.key(METADATA_KEY)?;
    let document = without_consolidated(group)
        .map_err(|source| target(ArrayError::Metadata { key: key.to_string(), source }))?;
    if let Some(existing) = store.get(&key)? {
        if options.overwrite && !options.resume {
            store.delete_prefix(prefix)?;
        } else if !options.resume {
            return Err(TransferError::Exists { path: node::display(prefix) });
        } else if existing == document.as_bytes() {
            return Ok(());
        } else {
            return Err(TransferError::OtherCopy { path: node::display(prefix) });
        }
    }
    Ok(store.put(&key, document.as_bytes())?)
}

fn without_consolidated(group: &GroupMetadata) -> Result<String, MetadataError> {
    if group.consolidated_metadata().is_none() {
        return Ok(group.to_json());
    }
    let new = GroupMetadata::new();
    Ok(match group.attributes() {
        "{}" => new.to_json(),
        attributes => new.with_attributes(attributes)?.to_json(),
    })
}
