//! Errors of copies.

use std::fmt;

use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::node::{self, ROOT};
use zarr_array::unfinished::REARRANGE_MARKER;
use zarr_grid::GridError;
use zarr_metadata::Printable;
use zarr_store::{FullMessage, KeyError, Remedy, StoreError};

/// The error of a copy.
///
/// Messages are complete; `source` returns `None`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The source could not be read.
    #[error("source: {0}")]
    Source(ArrayError),
    /// The target could not be written.
    #[error("target: {0}")]
    Target(ArrayError),
    /// Source and target share objects: the target is the source or holds a part of it, or one lies
    /// in the other.
    #[error("{}: source and target share objects", Node("target", path))]
    Overlap {
        /// The target's path.
        path: String,
    },
    /// The source is an unfinished copy itself: its missing chunks would be mistaken for fill
    /// values.
    #[error("{}: itself an unfinished copy: finish it first", Node("source", path))]
    UnfinishedSource {
        /// The path of the source, or of an array or group in it.
        path: String,
    },
    /// The caller's error about the change of an array's metadata.
    #[error("{}: {}", Printable(path), Printable(FullMessage(cause.as_ref())))]
    Change {
        /// The array's path.
        path: String,
        /// The reason why it cannot be copied.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no node at the target, but there are other objects. They are not removed: an
    /// overwrite removes only a node, or the remaining chunks of an array.
    #[error(
        "{}: there is no node here, but {}: remove the objects here first",
        Node("target", path),
        Printable(key)
    )]
    NotEmpty {
        /// The target's path.
        path: String,
        /// One of the objects.
        key: String,
    },
    /// There is a node at the target already.
    #[error("{}: there is a node here already", Node("target", path))]
    Exists {
        /// The target's path.
        path: String,
    },
    /// There is an unfinished copy at the target.
    #[error("{}: an unfinished copy is here: resume it, or overwrite it", Node("target", path))]
    Unfinished {
        /// The target's path.
        path: String,
    },
    /// The marker of the unfinished copy at the target has a version that is not known here.
    #[error(
        "{}: the marker of the unfinished copy here has version {found}, and version {allowed} is \
         known: resume the copy with the release that began it, or overwrite it",
        Node("target", path)
    )]
    MarkerVersion {
        /// The target's path.
        path: String,
        /// The marker's version.
        found: u64,
        /// The known version.
        allowed: u64,
    },
    /// The target does not hold this copy, interrupted.
    #[error(
        "{}: not an interrupted copy of this source with these chunks and codecs",
        Node("target", path)
    )]
    OtherCopy {
        /// The target's path.
        path: String,
    },
    /// Another program has put a document into the unfinished copy at the target.
    #[error(
        "{}: another program has put zarr.json here since the unfinished copy began: move it away, \
         then resume the copy",
        Node("target", path)
    )]
    OtherDocument {
        /// The path of the node.
        path: String,
    },
    /// The source has changed since the unfinished copy at the target began: objects were added,
    /// removed or replaced.
    #[error(
        "{}: the source has changed since the unfinished copy here began, which would have parts of \
         both: start again",
        Node("target", path)
    )]
    SourceChanged {
        /// The target's path.
        path: String,
    },
    /// Objects of the source were added, removed or replaced while they were copied. What was copied
    /// is not resumed: a copy has one state of its source.
    #[error("source: changed while it was copied: {}; start again when nothing changes it", Changed(keys, *count))]
    ChangedMeanwhile {
        /// Some of the objects that changed, by their keys in the source.
        keys: Vec<String>,
        /// The number of objects that are known to have changed.
        count: u64,
    },
    /// The unfinished copy at the target has its intermediates in another place, where they would
    /// remain.
    #[error(
        "{}: the unfinished copy here has its intermediates {}: resume it with the same place",
        Node("target", path),
        InPlace(place.as_deref())
    )]
    OtherIntermediates {
        /// The target's path.
        path: String,
        /// Their place, if not beside the chunks of the target.
        place: Option<String>,
    },
    /// The unfinished copy at the target is in another number of parts, or in none.
    #[error(
        "{}: the unfinished copy here is {}",
        Node("target", path),
        Parts(*of)
    )]
    OtherParts {
        /// The target's path.
        path: String,
        /// The number of its parts; `None` if one process makes it.
        of: Option<u32>,
    },
    /// The marker of the copy is gone, or belongs to another process now.
    #[error(
        "{}: another process has finished, resumed, restarted or removed this copy",
        Node("target", path)
    )]
    Removed {
        /// The target's path.
        path: String,
    },
    /// A part of a copy was to overwrite the target. If it ran again, it would remove the copies of
    /// the other parts.
    #[error("parts of a copy cannot overwrite: delete the node at the target first")]
    PartOverwrites,
    /// A copy was to be resumed, but the target has no marker of an interrupted copy: it may be
    /// finished, or not a copy.
    #[error("{}: there is a node here, but no interrupted copy", Node("target", path))]
    NotInterrupted {
        /// The target's path.
        path: String,
    },
    /// The arrays differ in a property that a copy cannot change.
    #[error(
        "cannot copy {source_shape:?} of {} to {target_shape:?} of {}",
        Printable(source_type),
        Printable(target_type)
    )]
    Mismatch {
        /// The source's shape.
        source_shape: Vec<u64>,
        /// Its data type.
        source_type: String,
        /// The target's shape.
        target_shape: Vec<u64>,
        /// Its data type.
        target_type: String,
    },
    /// The copy of a single chunk does not fit in the given memory.
    #[error(
        "{}: the copy of one chunk needs {needed} bytes of memory (its elements, and the buffers to \
         decode and encode chunks), more than the {limit} bytes allowed",
        Printable(path)
    )]
    Memory {
        /// The path of the array in the target.
        path: String,
        /// Whether chunks of the source need the most, so that no chunks of the target help.
        by_source: bool,
        /// Bytes for the smallest possible task.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// An object that is copied unchanged, or assembled from chunks as they are stored, does not fit in
    /// the given memory.
    #[error(
        "object {} has {size} bytes, more than the {limit} bytes of memory allowed",
        Printable(key)
    )]
    Object {
        /// Its key.
        key: String,
        /// Its size.
        size: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// A listed name in the source is not an object: it is a link that leads out of the store, or
    /// back to a folder around it.
    #[error(
        "{}: this is not an object but a link that leads out of the store or back to a folder around \
         it, or it was just removed",
        Printable(key)
    )]
    NoObject {
        /// Its key.
        key: String,
    },
    /// An overwrite would remove an object that belongs to no node, without replacing it.
    #[error(
        "{}: {} belongs to no node, and would be removed",
        Node("target", path),
        Printable(key)
    )]
    Foreign {
        /// The target's path.
        path: String,
        /// The object's key.
        key: String,
    },
    /// A rearrangement of the chunks of this array, or of the arrays of this group, was
    /// interrupted. Only a repair knows which chunks belong to which array.
    #[error(
        "{}: {REARRANGE_MARKER} remains from an interrupted rearrangement: repair it first",
        Printable(path)
    )]
    Rearranging {
        /// The path of the array or group.
        path: String,
    },
    /// The elements of an array cannot be read; it can only be copied unchanged.
    #[error(
        "{}: elements cannot be read here, so that chunks and codecs must stay: {cause}",
        Printable(path)
    )]
    NotDecodable {
        /// The array's path.
        path: String,
        /// The reason why they cannot be read.
        cause: ArrayError,
    },
    /// Written elements read back differently.
    #[error(
        "{}: verification failed: elements read back differ from the written elements; the first \
         is at index {start:?} or after it",
        Node("target", path)
    )]
    Verify {
        /// The target's path.
        path: String,
        /// The first index of the task that differs.
        start: Vec<u64>,
    },
    /// An object beside the chunks of the source has the key of a chunk in the copy, where chunks
    /// have other keys. One of the two would be lost, or the object would be read as a chunk.
    #[error(
        "source: {} is no chunk, but would have the key of a chunk in the copy, where keys differ: \
         rename it, or keep the encoding",
        Printable(key)
    )]
    ChunkKey {
        /// Its key in the source.
        key: String,
    },
    /// The parts of a chunk were not all encoded as inner chunks of its shard. Nothing was written.
    #[error(
        "object {}: its parts are no inner chunks of one shard, as which they were planned",
        Printable(key)
    )]
    NoShard {
        /// The key of the chunk.
        key: String,
    },
    /// A written object reads back differently.
    #[error(
        "object {}: verification failed: the bytes read back differ from the written bytes",
        Printable(key)
    )]
    VerifyObject {
        /// Its key.
        key: String,
    },
}

zarr_array::store::debug_as_text!(TransferError);

impl TransferError {
    /// The error of one object of the source that has changed.
    pub(crate) fn changed(key: impl ToString) -> Self {
        Self::ChangedMeanwhile { keys: vec![key.to_string()], count: 1 }
    }

    /// What would allow the copy, if the caller can.
    #[must_use]
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Source(cause) | Self::Target(cause) | Self::NotDecodable { cause, .. } => {
                cause.remedy()
            }
            _ => None,
        }
    }
}

/// The objects that changed.
struct Changed<'a>(&'a [String], u64);

impl fmt::Display for Changed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(keys, count) = *self;
        for (at, key) in keys.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{}", Printable(key))?;
        }
        let more = count.saturating_sub(u64::try_from(keys.len()).unwrap_or(u64::MAX));
        let and = if keys.is_empty() { "" } else { " and " };
        match more {
            0 => Ok(()),
            1 => write!(f, "{and}1 more object"),
            more => write!(f, "{and}{more} more objects"),
        }
    }
}

/// How many parts a copy is in.
struct Parts(Option<u32>);

impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(of) => write!(f, "in {of} parts: run the missing parts, or start again"),
            None => f.write_str("not in parts: resume it as a whole, or start again"),
        }
    }
}

/// A node at one end of a copy, `source` or `target`, and its path there.
struct Node<'a>(&'static str, &'a str);

impl fmt::Display for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(end, path) = self;
        match *path == ROOT {
            true => f.write_str(end),
            false => write!(f, "{end} {}", Printable(path)),
        }
    }
}

impl From<KeyError> for TransferError {
    fn from(error: KeyError) -> Self {
        Self::Target(error.into())
    }
}

pub(crate) fn source(error: impl Into<ArrayError>) -> TransferError {
    match error.into() {
        ArrayError::Unfinished { path, .. } => TransferError::UnfinishedSource { path },
        error => TransferError::Source(error),
    }
}

pub(crate) fn target(error: impl Into<ArrayError>) -> TransferError {
    let error = error.into();
    match overtaken(&error) {
        Some(path) => TransferError::Removed { path },
        None => TransferError::Target(error),
    }
}

/// The path of a node that another process makes now, if the error says that.
fn overtaken(error: &ArrayError) -> Option<String> {
    match error {
        ArrayError::Store(StoreError::Overtaken { marker, .. }) => {
            let folder = marker.rsplit_once('/').map_or("", |(folder, _)| folder);
            Some(if folder.is_empty() { ROOT.to_owned() } else { folder.to_owned() })
        }
        ArrayError::Incomplete { cause, .. } => overtaken(cause),
        _ => None,
    }
}

impl From<ArrayError> for TransferError {
    /// The error of writing a target: [`Removed`](Self::Removed) if another process has taken over, else
    /// [`Target`](Self::Target).
    fn from(error: ArrayError) -> Self {
        target(error)
    }
}

/// Store errors of the target, where most errors can occur.
impl From<StoreError> for TransferError {
    fn from(error: StoreError) -> Self {
        target(error)
    }
}

pub(crate) fn grid_error(array: &Array, cause: GridError) -> TransferError {
    target(ArrayError::Grid { key: node::metadata_key(array.prefix()), cause })
}

/// Where intermediates are, for messages.
struct InPlace<'a>(Option<&'a str>);

impl fmt::Display for InPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(place) => write!(f, "in {}", Printable(place)),
            None => f.write_str("beside its chunks"),
        }
    }
}
