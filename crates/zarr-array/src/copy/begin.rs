//! From what is at a target to an empty target with a marker.

use std::ops::ControlFlow;

use zarr_metadata::{ArrayMetadata, NodeMetadata};

use super::CopyOptions;
use super::error::{TransferError, target};
use super::marker::{Found, Marker, Step};
use super::side::Side;
use crate::change::documents;
use crate::store::{DirEntry, Key, Links, StoreExt as _, remove};
use crate::unfinished::MARKER;

/// Makes the target of a copy ready: either there is nothing but the marker, or this copy,
/// interrupted.
///
/// `metadata` is that of the target, if it is an array. `look` is called before anything is written
/// or removed, to refuse what can be refused.
///
/// # Steps
/// 1. The marker is put.
/// 2. If the source now has that marker, too, it is the target by another name: the marker is
///    removed, and that was all.
/// 3. What killed writers left in files of their own is removed, also where a copy is resumed, or
///    was to be but is finished.
/// 4. Where something is to be removed, the marker says so, and the document goes first, then all
///    documents below it from the top down, then all else. Then the marker says that it is done.
///
/// Ended before 4 the old node is whole; ended after 1 the marker tells it; and of a node whose
/// chunks have begun to go there is no document. Nor is there one of the new node until all of it
/// is there: a document at the target is always that of a whole node, the old or the new.
pub(super) fn begin(
    marker: &Marker<'_>,
    from: Side<'_>,
    metadata: Option<&ArrayMetadata>,
    options: &CopyOptions,
    look: &mut dyn FnMut() -> Result<(), TransferError>,
) -> Result<Found, TransferError> {
    let to = marker.to;
    from.apart(to)?;
    from.refuse_unfinished()?;
    let replace = options.overwrite && !options.resume;
    let found = marker.find()?;
    let document = to.store.read(&to.document()?)?;
    let occupied = match (found, &document) {
        (None, None) => match stranger(to, metadata)? {
            Stranger::Nothing => false,
            Stranger::Chunk(_) if replace => true,
            Stranger::Chunk(key) | Stranger::Other(key) => {
                return Err(TransferError::NotEmpty { path: to.path(), key: key.to_string() });
            }
        },
        _ if replace => true,
        (Some(_), None) if !options.resume => {
            return Err(TransferError::Unfinished { path: to.path() });
        }
        _ if !options.resume => return Err(TransferError::Exists { path: to.path() }),
        (Some(Some(Step::Copying)), _) => {
            to.clean()?;
            return Ok(match marker.is_finished()? {
                true => Found::Finished,
                false => Found::Interrupted,
            });
        }
        (Some(Some(Step::Clearing)), _) => true,
        (Some(None), _) => return Err(TransferError::OtherCopy { path: to.path() }),
        (None, Some(_)) => {
            // Nothing is left to do of a copy that was killed after its marker went, nor does
            // anything tell that it was this one; but what it left is removed.
            to.clean()?;
            return Err(TransferError::NotInterrupted { path: to.path() });
        }
    };
    look()?;
    marker.put(if occupied { Step::Clearing } else { Step::Copying })?;
    if let Err(error) = from.refuse_unfinished() {
        marker.remove()?;
        return Err(match error {
            TransferError::UnfinishedSource { .. } => TransferError::Overlap { path: to.path() },
            error => error,
        });
    }
    to.clean()?;
    if occupied {
        let array = document.map(|document| NodeMetadata::from_json(&document));
        clear(to, matches!(array, Some(Ok(NodeMetadata::Array(_)))))?;
        marker.put(Step::Copying)?;
    }
    Ok(Found::Fresh)
}

/// What is at a target where there is neither a document nor a marker.
enum Stranger {
    Nothing,
    /// Chunks of an array that was there, and nothing else. This is one of them.
    Chunk(Key),
    Other(Key),
}

fn stranger(to: Side<'_>, metadata: Option<&ArrayMetadata>) -> Result<Stranger, TransferError> {
    let is_chunk = |key: &Key| {
        let name = to.prefix.strip(key).unwrap_or_default();
        metadata.is_some_and(|metadata| {
            metadata.chunk_key_encoding().decode(name, metadata.shape().len()).is_some()
        })
    };
    let mut found = Stranger::Nothing;
    to.store.list(to.prefix, Links::Follow, &mut |key| {
        if is_chunk(&key) {
            found = Stranger::Chunk(key);
            return ControlFlow::Continue(());
        }
        found = Stranger::Other(key);
        ControlFlow::Break(())
    })?;
    Ok(found)
}

/// Removes everything but the marker, documents first; of links what they are.
fn clear(to: Side<'_>, is_array: bool) -> Result<(), TransferError> {
    let store = &**to.store;
    let documents = match is_array {
        true => vec![to.document()?],
        false => documents(store, to.prefix).map_err(target)?,
    };
    for document in documents {
        remove(store, &document)?;
    }
    // Some file systems pass over entries of a folder that shrinks while it is read.
    loop {
        let (mut prefixes, mut removed, mut failed) = (Vec::new(), false, None);
        store.list_dir(to.prefix, &mut |entry| {
            match entry {
                DirEntry::Prefix(prefix) => prefixes.push(prefix),
                DirEntry::Object(key) if to.prefix.strip(&key) == Some(MARKER) => {}
                DirEntry::Object(key) => match store.delete(&key) {
                    Ok(()) => removed = true,
                    Err(error) => {
                        failed = Some(error);
                        return ControlFlow::Break(());
                    }
                },
            }
            ControlFlow::Continue(())
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        for prefix in prefixes {
            store.delete_prefix(&prefix)?;
        }
        if !removed {
            break;
        }
    }
    let mut left = None;
    store.list(to.prefix, Links::AsObjects, &mut |key| {
        if to.prefix.strip(&key) == Some(MARKER) {
            return ControlFlow::Continue(());
        }
        left = Some(key.to_string());
        ControlFlow::Break(())
    })?;
    left.map_or(Ok(()), |key| Err(TransferError::NotEmpty { path: to.path(), key }))
}
