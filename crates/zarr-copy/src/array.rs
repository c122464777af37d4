//! Copies one array into another.

use std::sync::Arc;

use zarr_array::node;
use zarr_array::unfinished::Kind;
use zarr_array::{Array, Hierarchy};
use zarr_metadata::{ArrayMetadata, NodeMetadata};
use zarr_store::{Prefix, Store};

use crate::begin::{begin, withdraw};
use crate::endpoint::Endpoint;
use crate::error::TransferError;
use crate::intermediate::{Intermediate, remove_left};
use crate::marker::{Marker, TargetState};
use crate::parts::{Share, copy_part_of_array};
use crate::plan::CopyPlan;
use crate::prepared::Prepared;
use crate::source_store::OneState;
use crate::tasks::route::Route;
use crate::{CopyOptions, CopyProgress, CopySummary};

/// Copies the elements of `from` to a new array with this metadata.
///
/// Shape and data type must equal the source's. Chunks, codecs, fill value and the rest of
/// the document may differ.
///
/// # Errors
/// [`TransferError::Memory`] if the copy of one chunk does not fit in [`CopyOptions::memory`];
/// [`TransferError::Overlap`] if the target lies in the source or the source in the target;
/// [`TransferError::UnfinishedSource`] if the source is an unfinished copy itself;
/// [`TransferError::Exists`] if there is a node at the target and neither `resume` nor `overwrite`
/// is set; [`TransferError::NotEmpty`] if other objects are there; [`TransferError::OtherCopy`] and
/// [`TransferError::NotInterrupted`] if the target does not hold this copy, interrupted. If it
/// does: [`TransferError::SourceChanged`] if the objects of the source have changed since,
/// [`TransferError::OtherDocument`] if another program has put a document there, and
/// [`TransferError::Unfinished`] unless `resume` is set. [`TransferError::OtherParts`],
/// [`TransferError::Removed`] and [`TransferError::PartOverwrites`] of a [part](CopyOptions::part);
/// [`TransferError::ChangedMeanwhile`] if the source changes while it is copied; otherwise errors of
/// reading and writing. Chunks that were written before an error stay, to be
/// resumed; without any, the target is empty again.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_copy::{CopyOptions, copy_array};
/// use zarr_store::{MemoryStore, Prefix};
/// use zarr_array::{Array, Selection};
/// use zarr_metadata::{ArrayBuilder, ChunkGrid, DataType};
///
/// let metadata = ArrayBuilder::new([59], DataType::Uint8).chunk_shape([10]).build()?;
/// let from = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
/// from.write(9..11, &[1, 2])?;
///
/// let months = ChunkGrid::Rectilinear { chunk_shapes: vec![[31, 28].into()] };
/// let months = from.metadata().with_shape_and_grid(from.shape(), &months)?;
/// let store = Arc::new(MemoryStore::new());
/// let options = CopyOptions::new();
/// let (to, _) = copy_array(&from, store, &Prefix::root(), months, &options, &mut |_| {})?;
/// assert_eq!(to.read(8..12)?, [0, 1, 2, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn copy_array(
    from: &Array,
    store: Arc<dyn Store>,
    prefix: &Prefix,
    metadata: ArrayMetadata,
    options: &CopyOptions,
    progress: &mut dyn FnMut(CopyProgress),
) -> Result<(Array, CopySummary), TransferError> {
    let source = Hierarchy::from(from.store());
    let here = Endpoint::in_hierarchy(&source, from.prefix());
    let watched = OneState::of(here, options)?;
    let (here, options) = (watched.endpoint(here), &watched.options);
    let from = &from.clone().with_store(Arc::clone(here.store));
    copy_opened((here, from), (store, prefix), metadata, options, progress)
        .or_else(|error| here.of_one_state(Err(error)))
}

/// Copies an array from which one state is read.
fn copy_opened(
    (here, from): (Endpoint<'_>, &Array),
    (store, prefix): (Arc<dyn Store>, &Prefix),
    metadata: ArrayMetadata,
    options: &CopyOptions,
    progress: &mut dyn FnMut(CopyProgress),
) -> Result<(Array, CopySummary), TransferError> {
    let store = store.checked().unwrap_or(store);
    refuse_other_document(here, from)?;
    let prepared = Prepared::new(from, store.clone(), prefix, metadata, options)?;
    let there = Endpoint::new(&store, prefix);
    let metadata = prepared.to.metadata();
    let document = from.metadata().json();
    let marker = Marker::new(here, document, there, Kind::Array, metadata.json().to_owned())?;
    let ends = (here, from);
    let work = |found, share: &Share<'_>| run(&prepared, ends, found, share, options, progress);
    let summary = copy_one(marker, here, metadata, options, &mut || Ok(()), work)?;
    Ok((prepared.to, summary))
}

/// Refuses an array whose elements are stored in another way than when it was opened.
fn refuse_other_document(here: Endpoint<'_>, from: &Array) -> Result<(), TransferError> {
    let Ok(NodeMetadata::Array(found)) = node::open(here.store, here.prefix) else {
        // An array may be opened without a document.
        return Ok(());
    };
    let opened = from.metadata();
    let is_same = found.shape() == opened.shape()
        && found.data_type() == opened.data_type()
        && found.chunk_grid() == opened.chunk_grid()
        && found.chunk_key_encoding() == opened.chunk_key_encoding()
        && found.fill_value() == opened.fill_value()
        && found.codecs() == opened.codecs();
    match is_same {
        true => Ok(()),
        false => Err(TransferError::changed(node::metadata_key(here.prefix))),
    }
}

/// Copies one array, or a part of it; its copy has this marker, and `metadata` is the target's.
/// `look` refuses what is known before the target is cleared, and `work` puts the chunks.
pub(crate) fn copy_one(
    marker: Marker<'_>,
    from: Endpoint<'_>,
    metadata: &ArrayMetadata,
    options: &CopyOptions,
    look: &mut dyn FnMut() -> Result<(), TransferError>,
    work: impl FnOnce(TargetState, &Share<'_>) -> Result<CopySummary, TransferError>,
) -> Result<CopySummary, TransferError> {
    let marker = marker.with_content(from.digest());
    let work = |found, share: &Share<'_>| from.of_one_state(work(found, share));
    let marker = marker.with_intermediates(options.place_of_intermediates()).of_this_run();
    if let Some(part) = options.checked_part()? {
        return copy_part_of_array(marker, part, from, metadata, options, work);
    }
    let mut marker = marker;
    let found = begin(&mut marker, &[from], Some(metadata), options, &mut |_| look())?;
    let result = Share::all(&marker).and_then(|all| work(found, &all));
    let result = result.and_then(|summary| marker.end(&[], found).map(|()| summary));
    result.inspect(|_| marker.to.refresh_above()).inspect_err(|error| {
        if found == TargetState::Fresh {
            withdraw(&marker, error);
        }
    })
}

/// Writes all missing chunks of the share, through an intermediate if that saves many reads. The
/// caller handles marker and document.
pub(crate) fn run(
    prepared: &Prepared,
    (here, from): (Endpoint<'_>, &Array),
    found: TargetState,
    share: &Share<'_>,
    options: &CopyOptions,
    progress: &mut dyn FnMut(CopyProgress),
) -> Result<CopySummary, TransferError> {
    let prepared = &prepared.of_share(share, found);
    let plan = CopyPlan::new(from, prepared, share.is_all(), options)?;
    let (route, times) = (plan.route, plan.times());
    let progress = &mut |at: CopyProgress| progress(CopyProgress { route, times, ..at });
    let (Some(passes), Some(intermediate)) =
        (&plan.passes, Intermediate::of(&plan, &prepared.to, share, options)?)
    else {
        if share.is_all() {
            remove_left(&prepared.to, found, share, options)?;
        }
        let is_sparse = route == Route::Sparse;
        return prepared.copy(from, found, share, options, is_sparse, progress);
    };
    let first = intermediate
        .fill((here, from), found, share, options, &mut |at| progress(at.of_pass(0)))?;
    let second = Prepared::new(
        intermediate.array(),
        prepared.to.store().clone(),
        prepared.to.prefix(),
        prepared.to.metadata().clone(),
        &options.clone().codecs(prepared.to.options().other_codecs().clone()),
    )?
    .with_tasks(passes.second.clone());
    let second = second.of_share(share, found);
    let progress = &mut |at: CopyProgress| progress(at.of_pass(1));
    let from = intermediate.array();
    let summary = second.copy(from, found, share, options, false, progress)?;
    // Before the document is put: a node has nothing beside its chunks.
    intermediate.remove()?;
    let tasks = summary.tasks + first.tasks;
    let skipped = summary.skipped + first.skipped;
    Ok(CopySummary { tasks, skipped, intermediates: 1, ..summary })
}
