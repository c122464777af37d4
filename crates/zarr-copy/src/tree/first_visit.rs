//! The visit of a hierarchy before anything of its copy is written.

use std::collections::HashMap;

use zarr_array::ArrayError;
use zarr_array::node;
use zarr_array::unfinished::Kind;
use zarr_metadata::{ConsolidatedMetadata, GroupMetadata, NodeMetadata};

use crate::CopyOptions;
use crate::array_copy::{ArrayCopy, Change};
use crate::content::ContentDigest;
use crate::conventions;
use crate::endpoint::{Endpoint, below};
use crate::error::{TransferError, source, target};
use crate::marker::Marker;
use crate::tree::walk::{Step, Visit, Walk};
use zarr_store::Prefix;

/// The documents of arrays that change, by their prefix in the source.
type Changed = HashMap<String, String>;

/// What the first visit finds.
#[derive(Default)]
struct Visited {
    changed: Changed,
    below: ContentDigest,
}

/// The visit of the source before anything is written or removed, to refuse early.
///
/// A copy that is resumed visits it, too: its marker tells what the arrays will be.
pub(crate) struct FirstVisit<'a> {
    pub(crate) from: Endpoint<'a>,
    pub(crate) to: Endpoint<'a>,
    pub(crate) options: &'a CopyOptions,
    /// What the visit found, once it was made.
    visited: Option<Visited>,
}

impl<'a> FirstVisit<'a> {
    pub(crate) fn new(from: Endpoint<'a>, to: Endpoint<'a>, options: &'a CopyOptions) -> Self {
        Self { from, to, options, visited: None }
    }

    /// The documents of arrays that change.
    pub(crate) fn changed(&mut self, change: &mut Change<'_>) -> Result<&Changed, TransferError> {
        Ok(&self.visited(change)?.changed)
    }

    /// The digest of the documents that the arrays will have.
    pub(crate) fn below(
        &mut self,
        change: &mut Change<'_>,
    ) -> Result<ContentDigest, TransferError> {
        Ok(self.visited(change)?.below)
    }

    fn visited(&mut self, change: &mut Change<'_>) -> Result<&Visited, TransferError> {
        let visited = match self.visited.take() {
            Some(visited) => visited,
            None => self.visit(change)?,
        };
        Ok(self.visited.insert(visited))
    }

    fn visit(&self, change: &mut Change<'_>) -> Result<Visited, TransferError> {
        let mut visited = Visited::default();
        // Whether an array takes the change, and the first that cannot.
        let (mut is_taken, mut unfit) = (false, None);
        for step in Walk::new(self.from, self.to, self.options) {
            let Step { prefix, new, visit } = step?;
            match visit {
                Visit::Array(metadata) => {
                    let (here, there) = (self.from.at(&prefix), self.to.at(&new));
                    let job = ArrayCopy::within(here, there, *metadata, change, self.options)?;
                    job.check()?;
                    is_taken |= job.is_re_encoded();
                    if job.metadata.json() != job.changed.json() {
                        let document = job.changed.json().to_owned();
                        visited.changed.insert(prefix.as_str().to_owned(), document);
                    }
                    visited.below.add_document(below(self.to.prefix, &new), job.changed.json());
                    unfit = unfit.take().or(job.unfit);
                }
                Visit::Group(group) if self.options.ome_0_5 => {
                    if let Some(changed) = self.rewritten(&new, &group)? {
                        let document = changed.json().to_owned();
                        visited.changed.insert(prefix.as_str().to_owned(), document);
                    }
                }
                Visit::Invalid(cause) | Visit::Untranslated(cause) if !self.options.keep_unfit => {
                    return Err(source(cause));
                }
                // Finds links out of the store, and objects that may not be read.
                Visit::Others(keys) if !self.options.nodes_only => {
                    for key in &keys {
                        if self.from.store.head(key).map_err(source)?.is_none() {
                            return Err(TransferError::NoObject { key: key.to_string() });
                        }
                    }
                }
                _ => {}
            }
        }
        // A change that no array takes is a mistake.
        match unfit {
            Some(error) if !is_taken => Err(error),
            _ => Ok(visited),
        }
    }

    /// A group of OME-Zarr 0.4 as one of 0.5, if the options ask for it.
    fn rewritten(
        &self,
        to: &Prefix,
        group: &GroupMetadata,
    ) -> Result<Option<GroupMetadata>, TransferError> {
        if !self.options.ome_0_5 {
            return Ok(None);
        }
        conventions::ome_0_5(to, group)
            .map_err(|cause| target(ArrayError::Metadata { key: node::metadata_key(to), cause }))
    }

    /// The marker of a group's copy.
    pub(crate) fn group_marker<'m>(
        &mut self,
        from: Endpoint<'_>,
        to: Endpoint<'m>,
        group: &GroupMetadata,
        change: &mut Change<'_>,
    ) -> Result<Marker<'m>, TransferError> {
        let rewritten = self.rewritten(to.prefix, group)?;
        let group_now = rewritten.as_ref().unwrap_or(group);
        let document = match group_now.consolidated_metadata() {
            Some(consolidated) => {
                let left_out = self.options.left_out.as_ref();
                document_of(
                    group_now,
                    group.is_version_2(),
                    consolidated,
                    from,
                    to,
                    left_out,
                    self.changed(change)?,
                )?
            }
            None => group_now.json().to_owned(),
        };
        Marker::new(from, group.json(), to, Kind::Group, document)
    }
}

/// The document of a group's copy: the source's, except for the entries of changed arrays in its
/// consolidated metadata.
fn document_of(
    group: &GroupMetadata,
    is_version_2: bool,
    consolidated: ConsolidatedMetadata<'_>,
    from: Endpoint<'_>,
    to: Endpoint<'_>,
    left_out: Option<&Prefix>,
    changed: &Changed,
) -> Result<String, TransferError> {
    let mut any = false;
    // An entry of consolidated metadata that is not translated is an error of the node, or there is
    // no node.
    let is_left_out = |path: &str| {
        is_version_2 && !matches!(consolidated.node(path), Some(Ok(NodeMetadata::Group(_))))
    };
    let mut entries = Vec::new();
    for (path, json) in consolidated.entries() {
        let prefix = from.prefix.join(path).ok();
        let new = prefix.as_ref().and_then(|prefix| changed.get(prefix.as_str()));
        any |= new.is_some();
        if prefix.is_some() && prefix.as_ref() == left_out {
            any = true;
            continue;
        }
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
