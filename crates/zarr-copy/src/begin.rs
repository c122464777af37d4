//! Prepares the target of a copy: an empty target with a marker.

use zarr_array::node::{self, METADATA_KEY, ROOT};
use zarr_array::unfinished::{
    MARKER, REARRANGE_MARKER, Unfinished, is_ended, is_marker, is_of_copy,
};
use zarr_array::version_2;
use zarr_metadata::{ArrayMetadata, NodeMetadata};
use zarr_store::{DirEntry, Key, Links, PutOutcome, StoreExt as _};

use crate::CopyOptions;
use crate::endpoint::Endpoint;
use crate::error::{TransferError, source, target};
use crate::marker::{Marker, Step, TargetState};
use crate::tasks::intermediate_place::INTERMEDIATE;

/// Prepares the target of a copy, so that it has either nothing except the marker, or this copy,
/// interrupted.
///
/// `from` are the source nodes of the target: one, unless it joins several. `metadata` is the
/// target's, if it is an array. `look` is called before anything is written or removed, to refuse
/// early; it may tell the marker more of the copy.
///
/// # Steps
/// 1. The marker is put.
/// 2. If the source now has that marker too, it is the target under another name: the marker that
///    was there before is put again or, without one, this one is removed. Nothing else happens. So
///    it is if the source cannot be read.
/// 3. Files that killed writers left are removed, even if the copy is resumed, or was to be
///    resumed but is finished.
/// 4. If there is something to remove, the marker records that. The document is removed first,
///    then all documents below it from the top down, then everything else. Then the marker
///    records that this is done.
///
/// If this is interrupted before step 4, the old node is whole; after step 1 the marker shows it.
/// While its chunks are being removed, a node has no document, and the new node gets one only when
/// it is complete. So a document at the target always belongs to a whole node, the old or the new
/// one.
pub(crate) fn begin(
    marker: &mut Marker<'_>,
    from: &[Endpoint<'_>],
    metadata: Option<&ArrayMetadata>,
    options: &CopyOptions,
    look: &mut dyn FnMut(&mut Marker<'_>) -> Result<(), TransferError>,
) -> Result<TargetState, TransferError> {
    let to = marker.to;
    for from in from {
        from.apart(to)?;
        from.refuse_unfinished()?;
    }
    // An intermediate is no node of a hierarchy.
    if !from.is_empty() {
        node::refuse_place(to.store, to.prefix).map_err(target)?;
    }
    let replace = options.overwrite && !options.resume;
    let before = marker.stored()?;
    let ended = before.as_deref().filter(|text| is_ended(text));
    let unfinished = before.as_deref().filter(|_| ended.is_none());
    let found = unfinished.map(|text| marker.step_of(text));
    let document = to.store.read(&to.document()?)?;
    // An object of another program with the marker's name does not tell whose the others are.
    let is_ours = !replace || document.is_some() || before.as_deref().is_some_and(is_marker);
    let found = found.filter(|step| step.is_some() || is_ours);
    let occupied = match (found, &document) {
        (None, None) => match content_of_target(to, metadata)? {
            TargetContent::Nothing => unfinished.is_some(),
            TargetContent::Chunk(_) if replace => true,
            TargetContent::Chunk(key) | TargetContent::Other(key) => {
                return Err(TransferError::NotEmpty { path: to.path(), key: key.to_string() });
            }
        },
        _ if replace => true,
        (Some(Some(_)), None) if !options.resume => {
            return Err(TransferError::Unfinished { path: to.path() });
        }
        (Some(None), None) => return Err(marker.other()?),
        _ if !options.resume => return Err(TransferError::Exists { path: to.path() }),
        (Some(Some(Step::Copying)), _) => {
            to.clean()?;
            marker.take_over()?;
            zarr_store::reached!("copy: resumed");
            let is_finished = marker.is_finished()?;
            return Ok(marker.found_with(is_finished));
        }
        (Some(Some(Step::Clearing | Step::Ended)), _) => {
            zarr_store::reached!("copy: clearing is resumed");
            true
        }
        (Some(None), _) => return Err(marker.other()?),
        (None, Some(_)) => {
            zarr_store::reached!("copy: nothing to resume");
            // The copy was killed after its marker was removed, so it is complete, and nothing
            // shows that it was this copy. Its leftover files are removed.
            to.clean()?;
            return Err(TransferError::NotInterrupted { path: to.path() });
        }
    };
    if replace
        && document.is_some()
        && let Some(key) = foreign(from, to, options)?
    {
        return Err(match key.as_str().strip_suffix(REARRANGE_MARKER) {
            Some("") => TransferError::Rearranging { path: ROOT.to_owned() },
            Some(path) => {
                TransferError::Rearranging { path: path.trim_end_matches('/').to_owned() }
            }
            None => TransferError::Foreign { path: to.path(), key: key.to_string() },
        });
    }
    look(marker)?;
    let put = if occupied { Step::Clearing } else { Step::Copying };
    if occupied {
        marker.find_out(before.as_deref(), true)?;
        let _held = marker.lock()?;
        marker.replace(before.as_deref(), put)?;
    } else if marker.put_first(ended)? == PutOutcome::Changed {
        // Another copy has begun since.
        return Err(TransferError::Unfinished { path: to.path() });
    }
    if let Err(error) = from.iter().try_for_each(|from| from.refuse_unfinished()) {
        marker.restore(before.as_deref(), put)?;
        return Err(match error {
            TransferError::UnfinishedSource { .. } => TransferError::Overlap { path: to.path() },
            error => error,
        });
    }
    if !occupied && to.store.head(&to.document()?)?.is_some() {
        marker.restore(before.as_deref(), put)?;
        return Err(TransferError::Exists { path: to.path() });
    }
    to.clean()?;
    if occupied {
        zarr_store::reached!("copy: the target is cleared");
        let array = document.map(|document| NodeMetadata::from_json(&document));
        clear(marker, matches!(array, Some(Ok(NodeMetadata::Array(_)))))?;
        let _held = marker.lock()?;
        let clearing = marker.text(Step::Clearing);
        marker.replace(Some(clearing.as_bytes()), Step::Copying)?;
    }
    Ok(TargetState::Fresh)
}

/// Undoes the start of a failed copy, if its target has nothing except markers: then there is
/// nothing to resume. Chunks stay, together with the markers. After a failure of a store,
/// everything stays.
pub(crate) fn withdraw(marker: &Marker<'_>, cause: &TransferError) {
    if matches!(cause, TransferError::Source(cause) | TransferError::Target(cause) if cause.is_of_store())
    {
        return;
    }
    // Anything that cannot be removed stays, as if the copy had been killed.
    let _stays = remove_markers(marker);
}

/// Removes the markers at a target if it has nothing else; the marker of the whole copy goes last.
/// Those of another process stay.
pub(crate) fn remove_markers(marker: &Marker<'_>) -> Result<(), TransferError> {
    let to = marker.to;
    let held = marker.lock()?;
    // Folders first: with no object in them they are empty ones of a file system. Where no lock keeps
    // another copy away, a folder that appears later has its chunks.
    let mut prefixes = Vec::new();
    for entry in to.store.list_dir(to.prefix) {
        if let DirEntry::Prefix(prefix) = entry? {
            prefixes.push(prefix);
        }
    }
    for key in to.store.list(to.prefix, Links::AsObjects) {
        if key?.name() != MARKER {
            return Ok(());
        }
    }
    marker.check(Step::Copying)?;
    prefixes.iter().try_for_each(|prefix| to.store.delete_prefix(prefix))?;
    marker.remove(&held)
}

/// The contents of a target that has neither a document nor a marker that is understood.
pub(crate) enum TargetContent {
    Nothing,
    /// Only chunks of an earlier array, or of an intermediate of its copy. This is one of them.
    Chunk(Key),
    Other(Key),
}

pub(crate) fn content_of_target(
    to: Endpoint<'_>,
    metadata: Option<&ArrayMetadata>,
) -> Result<TargetContent, TransferError> {
    let is_chunk = |key: &Key| {
        let name = to.prefix.strip(key).unwrap_or_default();
        // After an interrupted deletion of an unfinished copy, chunks of its intermediate remain,
        // too.
        let is_between = name.split('/').next() == Some(INTERMEDIATE);
        metadata.is_some_and(|metadata| {
            let keys = metadata.chunk_key_encoding();
            is_between || keys.decode(name, metadata.shape().len()).is_some()
        })
    };
    let mut found = TargetContent::Nothing;
    for key in to.store.list(to.prefix, Links::Follow) {
        let key = key?;
        if to.prefix.strip(&key) == Some(MARKER) {
            continue;
        }
        if !is_chunk(&key) {
            return Ok(TargetContent::Other(key));
        }
        found = TargetContent::Chunk(key);
    }
    Ok(found)
}

/// An object at a target that an overwrite would remove unasked: it belongs to no node there, and
/// the copy does not replace it.
fn foreign(
    from: &[Endpoint<'_>],
    to: Endpoint<'_>,
    options: &CopyOptions,
) -> Result<Option<Key>, TransferError> {
    let is_foreign = |key: &Key| {
        let name = to.prefix.strip(key).unwrap_or_default();
        // A join of several nodes takes over none of their other objects.
        let [from] = from else { return Ok::<_, TransferError>(true) };
        if options.nodes_only {
            return Ok(true);
        }
        Ok(from.store.head(&from.prefix.key(name)?).map_err(source)?.is_none())
    };
    // What has no document yet is of the copy that is unfinished there.
    let unfinished = Unfinished::at(&**to.store, to.prefix)?.is_some();
    let mut waiting = vec![to.prefix.clone()];
    while let Some(prefix) = waiting.pop() {
        // A link is removed, and its target stays.
        let first = to.store.list(&prefix, Links::AsObjects).next().transpose()?;
        if first.is_some_and(|key| key.as_str() == prefix.as_str()) {
            continue;
        }
        let here = to.at(&prefix);
        let document = to.store.read(&here.document()?)?;
        let node = document.as_deref().map(NodeMetadata::from_json);
        if let Some(Ok(NodeMetadata::Array(array))) = &node {
            // Before the chunks at other keys that the rearrangement left.
            let marker = prefix.key(REARRANGE_MARKER)?;
            if to.store.head(&marker)?.is_some() && is_foreign(&marker)? {
                return Ok(Some(marker));
            }
            let (encoding, rank) = (array.chunk_key_encoding(), array.shape().len());
            for key in to.store.list(&prefix, Links::AsObjects) {
                let key = key?;
                let name = prefix.strip(&key).unwrap_or_default();
                // Programs that migrate an array to version 3 leave its documents of version 2.
                let is_of_array = is_of_node(name)
                    || version_2::NAMES.contains(&name)
                    || encoding.decode(name, rank).is_some();
                if !is_of_array && is_foreign(&key)? {
                    return Ok(Some(key));
                }
            }
            continue;
        }
        if node.is_none() && (unfinished || Unfinished::at(&**to.store, &prefix)?.is_some()) {
            // An object that an unfinished copy has put there.
            continue;
        }
        for entry in to.store.list_dir(&prefix) {
            match entry? {
                DirEntry::Prefix(prefix) => waiting.push(prefix),
                DirEntry::Object(key) => {
                    if !is_of_node(key.name()) && is_foreign(&key)? {
                        return Ok(Some(key));
                    }
                }
            }
        }
    }
    Ok(None)
}

/// Whether an object of this name is a node's document, or a copy's marker or record.
fn is_of_node(name: &str) -> bool {
    name == METADATA_KEY || is_of_copy(name)
}

/// Removes everything except the marker, documents first; links are removed, not their targets.
/// Stops where another copy has taken over, which may have put chunks already.
fn clear(marker: &Marker<'_>, is_array: bool) -> Result<(), TransferError> {
    let to = marker.to;
    let store = &**to.store;
    let held = marker.hold()?.store(to.store);
    let documents = match is_array {
        true => vec![to.document()?],
        false => node::documents(store, to.prefix).map_err(target)?,
    };
    for document in documents {
        let keys = [marker.key.clone(), document.clone()];
        let _held = zarr_store::lock_step!("copy: lock of an old document", store.lock_all(&keys))?;
        if zarr_store::step!("copy: look at the marker before an old document is removed") {
            marker.check(Step::Clearing)?;
        }
        store.delete(&document)?;
    }
    // Some file systems skip entries of a folder that shrinks while it is read.
    loop {
        let (mut prefixes, mut removed) = (Vec::new(), false);
        for entry in store.list_dir(to.prefix) {
            match entry? {
                DirEntry::Prefix(prefix) => prefixes.push(prefix),
                DirEntry::Object(key) if to.prefix.strip(&key) == Some(MARKER) => {}
                DirEntry::Object(key) => {
                    held.delete(&key)?;
                    removed = true;
                }
            }
        }
        for prefix in prefixes {
            held.delete_prefix(&prefix)?;
        }
        if !removed {
            break;
        }
    }
    for key in store.list(to.prefix, Links::AsObjects) {
        let key = key?;
        if to.prefix.strip(&key) != Some(MARKER) {
            return Err(TransferError::NotEmpty { path: to.path(), key: key.to_string() });
        }
    }
    Ok(())
}
