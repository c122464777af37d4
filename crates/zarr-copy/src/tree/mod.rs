//! Copies a node and everything below it.

mod first_visit;
mod in_parts;
mod together;
mod walk;

use std::collections::HashMap;
use std::iter;
use zarr_array::names_without_key;
use zarr_array::node;
use zarr_array::unfinished::{MARKER, REARRANGE_MARKER};
use zarr_metadata::{ArrayMetadata, NodeMetadata};
use zarr_store::{Key, Prefix, StoreExt as _};

use crate::array::copy_one;
use crate::array_copy::{ArrayCopy, Change};
use crate::begin::{begin, withdraw};
use crate::conventions::{Axes, refuse_stale_index_below, stale_index};
use crate::documents::Pending;
use crate::endpoint::Endpoint;
use crate::error::{TransferError, source, target};
use crate::marker::TargetState;
use crate::objects::{copy_below, copy_others, documents_below};
use crate::parts::Share;
use crate::plan::CopyPlan;
use crate::region_index::make_region_index;
use crate::source_store::OneState;
use crate::tree::first_visit::FirstVisit;
use crate::tree::in_parts::copy_group_in_parts;
use crate::tree::together::{Together, Waiting};
use crate::tree::walk::{Step, Visit, Walk};
use crate::{CopyOptions, CopyProgress, CopySummary, PartStatus, UnfitArray};

/// Copies the node at `from` and everything below it to `to`, each array with the metadata that
/// `change` makes from the source's.
///
/// Arrays with unchanged metadata are copied object by object, even if their elements cannot be
/// read. Nodes in folders without a document are copied too. So are objects that belong to no node,
/// unless [`CopyOptions::nodes_only`] is set. Entries of changed arrays in consolidated metadata
/// change with them. The document of each node is put when everything below it is complete.
///
/// Visits the whole source before anything is written or removed, to refuse early. So `change` is
/// called twice for each array.
///
/// The array `region_index` of a copied group of VCF-Zarr, which refers to chunks by number, is made again of the
/// copied arrays if these have other chunks of variants.
///
/// With [`CopyOptions::keep_unfit`], an array of a group is copied unchanged, and listed in
/// [`CopySummary::kept`], if it cannot be read or its new metadata does not fit. So is a node with
/// an invalid document, with everything below it. An array of Zarr version 2 that version 3 cannot
/// express is not in the copy, and listed in [`CopySummary::untranslated`].
///
/// # Errors
/// As [`copy_array`](crate::copy_array); [`TransferError::NotDecodable`] if an array that cannot
/// be read is to change; [`TransferError::Change`] with the error of `change`.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_copy::{CopyOptions, Endpoint, copy_tree};
/// use zarr_store::{Key, MemoryStore, Prefix, Store, StoreExt};
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
    progress: &mut dyn FnMut(&Prefix, CopyProgress),
) -> Result<CopySummary, TransferError> {
    let checked = to.store.checked();
    let to = Endpoint::new(checked.as_ref().unwrap_or(to.store), to.prefix);
    // If the files without a key cannot be listed, the copy does not begin.
    let without_key = match options.tells_without_key() {
        true => names_without_key(&**from.store, from.prefix).map_err(source)?,
        false => Vec::new(),
    };
    // Refuses a source that is no node before everything below it is listed.
    node::open(from.store, from.prefix).map_err(source)?;
    let mut axes = Axes::of(from);
    let change = &mut |prefix: &Prefix, array: &ArrayMetadata| {
        let changed = match options.ome_0_5 {
            true => change(prefix, &axes.named(prefix, array)?)?,
            false => change(prefix, array)?,
        };
        refuse_stale_index_below(from, prefix, array, &changed)?;
        Ok(changed)
    };
    let left_out = stale_index(from, change)?;
    let has_index = left_out.is_some();
    let options = &CopyOptions { left_out, ..options.clone() };
    let watched = OneState::of(from, options)?;
    let (from, options) = (watched.endpoint(from), &watched.options);
    let mut summary = copy_node(from, to, change, options, progress)
        .or_else(|error| from.of_one_state(Err(error)))?;
    if has_index && summary.part.is_none_or(|state| state == PartStatus::Completed) {
        make_region_index(to.store, to.prefix).map_err(target)?;
        summary.made_region_index = true;
    }
    Ok(CopySummary { without_key, ..summary })
}

/// Copies the array or group at `from`.
fn copy_node(
    from: Endpoint<'_>,
    to: Endpoint<'_>,
    change: &mut Change<'_>,
    options: &CopyOptions,
    progress: &mut dyn FnMut(&Prefix, CopyProgress),
) -> Result<CopySummary, TransferError> {
    match node::open(from.store, from.prefix).map_err(source)? {
        NodeMetadata::Array(metadata) => {
            let job = ArrayCopy::new(from, to, metadata, change, options)?;
            let progress = &mut |done| progress(from.prefix, done);
            let work = |found, share: &Share<'_>| job.run(found, share, options, progress);
            let look = &mut || job.check();
            copy_one(job.marker()?, from, &job.changed, options, look, work)
        }
        NodeMetadata::Group(group) => {
            // A part of an unfinished tree may lack anything.
            for prefix in from.prefix.ancestors().skip(1) {
                from.at(&prefix).refuse_unfinished()?;
            }
            let mut first = FirstVisit::new(from, to, options);
            if let Some(part) = options.checked_part()? {
                return copy_group_in_parts(&mut first, &group, part, change, progress);
            }
            let marker = first.group_marker(from, to, &group, change)?;
            let marker = marker.with_content(from.digest());
            let mut marker =
                marker.with_intermediates(options.place_of_intermediates()).of_this_run();
            if options.resume {
                marker.set_below(Some(first.below(change)?));
            }
            let tree = begin(&mut marker, &[from], None, options, &mut |marker| {
                marker.set_below(Some(first.below(change)?));
                Ok(())
            })?;
            let mut summary = CopySummary::default();
            let all = Share::all(&marker)?;
            let store = all.store_for(tree);
            let held = to.in_store(&store);
            let together = Together { from, to, tree, share: &all, options };
            let (mut waiting, mut documents) = (Vec::new(), Vec::new());
            // None wait at the end: the last step is the end of this group.
            let walked = Walk::new(from, to, options).try_for_each(|step| {
                let Step { prefix, new, visit } = step?;
                let (here, there) = (from.at(&prefix), held.at(&new));
                let is_full = waiting.len() >= together.at_once().get();
                if is_full || !matches!(visit, Visit::Array(_)) {
                    summary.add(together.copy(&mut waiting, &mut documents, change, progress)?);
                }
                match visit {
                    // The document of the root exists.
                    Visit::Group(_) if here.prefix == from.prefix => {}
                    Visit::Group(group) => {
                        all.check()?;
                        first.group_marker(here, there, &group, change)?.begin_within(tree)?;
                    }
                    Visit::GroupEnd(group) => {
                        summary.groups += 1;
                        summary.add_ome(here.prefix, &group, options);
                        if here.prefix != from.prefix {
                            let below = first.group_marker(here, there, &group, change)?;
                            documents.push(below.pending()?);
                        }
                    }
                    Visit::Array(metadata) => {
                        waiting.push(Waiting { prefix, new, metadata: *metadata });
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
                        for (key, new) in documents_below(here, there)? {
                            let bytes = here.store.read(&key).map_err(source)?;
                            documents.extend(bytes.map(|bytes| Pending { key: new, bytes }));
                        }
                    }
                    Visit::Untranslated(cause) => {
                        summary.untranslated.push(UnfitArray::new(here, &cause));
                    }
                    Visit::Others(keys) => {
                        let owned = all.objects(there.prefix);
                        summary.add(copy_others((here, there), &keys, &owned, tree, options)?);
                    }
                }
                Ok(())
            });
            // Before any document is put.
            let ended = from.of_one_state(walked).and_then(|()| marker.end(&documents, tree));
            if let (Err(error), TargetState::Fresh) = (&ended, tree) {
                withdraw(&marker, error);
            }
            ended.map(|()| {
                to.refresh_above();
                summary
            })
        }
    }
}

/// The plan of [`copy_tree`] for each array, with its prefix in the source: the reads and the
/// memory. Nothing is written. `None` for arrays that are copied object by object.
///
/// # Errors
/// Errors of reading the source, and of the new metadata of an array.
pub fn plan_tree(
    from: Endpoint<'_>,
    to: Endpoint<'_>,
    change: &mut Change<'_>,
    options: &CopyOptions,
) -> Result<Vec<(Prefix, Option<CopyPlan>)>, TransferError> {
    let mut plans = Vec::new();
    for step in Walk::new(from, to, options) {
        let Step { prefix, new, visit: Visit::Array(metadata) } = step? else { continue };
        let (here, there) = (from.at(&prefix), to.at(&new));
        // As `copy_tree` does.
        let job = match prefix == *from.prefix {
            true => ArrayCopy::new(here, there, *metadata, change, options)?,
            false => ArrayCopy::within(here, there, *metadata, change, options)?,
        };
        let plan = job.plan(options)?;
        plans.push((prefix, plan));
    }
    Ok(plans)
}

/// The arrays that [`copy_tree`] would copy from `from`, each with its prefix in the store, for a
/// look before a copy. It ends after an error.
///
/// # Errors
/// Errors of reading the source.
pub fn source_arrays(
    from: Endpoint<'_>,
) -> impl Iterator<Item = Result<(Prefix, ArrayMetadata), TransferError>> {
    Walk::of(from, HashMap::new()).filter_map(|step| match step {
        Ok(Step { prefix, visit: Visit::Array(metadata), .. }) => Some(Ok((prefix, *metadata))),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    })
}

/// The objects below the node at `from` that belong to no node, which [`copy_tree`] copies too, each with
/// its path below the node. Markers of work are none of them. It ends after an error.
///
/// # Errors
/// Errors of reading the source.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_copy::{Endpoint, other_objects};
/// use zarr_store::{Key, MemoryStore, Prefix, Store, StoreExt};
///
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// store.put(&Key::new("zarr.json")?, br#"{"zarr_format": 3, "node_type": "group"}"#)?;
/// store.put(&Key::new("shapes.parquet")?, b"a table")?;
/// let root = Prefix::root();
/// let others: Vec<(String, Key)> =
///     other_objects(Endpoint::new(&store, &root)).collect::<Result<_, _>>()?;
/// assert_eq!(others, [("shapes.parquet".to_owned(), Key::new("shapes.parquet")?)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn other_objects(
    from: Endpoint<'_>,
) -> impl Iterator<Item = Result<(String, Key), TransferError>> {
    other_objects_beside(from, iter::empty())
}

/// As [`other_objects`], where the caller knows some or all nodes, each with whether it is an array: nothing is
/// asked about these.
///
/// # Errors
/// As there.
pub fn other_objects_beside(
    from: Endpoint<'_>,
    nodes: impl IntoIterator<Item = (Prefix, bool)>,
) -> impl Iterator<Item = Result<(String, Key), TransferError>> {
    let of_step = |step: Result<Step, TransferError>| match step {
        Ok(Step { visit: Visit::Others(keys), .. }) => keys.into_iter().map(Ok).collect(),
        Ok(_) => Vec::new(),
        Err(error) => vec![Err(error)],
    };
    let is_marker = |key: &Key| [MARKER, REARRANGE_MARKER].contains(&key.name());
    let prefix = from.prefix.clone();
    let all = Walk::of(from, nodes.into_iter().collect()).flat_map(of_step);
    all.filter(move |key| !key.as_ref().is_ok_and(is_marker)).map(move |key| {
        let key = key?;
        Ok((prefix.strip(&key).unwrap_or_default().to_owned(), key))
    })
}
