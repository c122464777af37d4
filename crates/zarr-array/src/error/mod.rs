//! Errors of arrays and groups.

mod checks;
mod loss;
#[cfg(feature = "jiff")]
mod times;
mod words;
mod written;

use zarr_codec::{ChainError, ChunkError, ChunkErrorKind};
use zarr_grid::GridError;
use zarr_journal::{UnfinishedParts, UnfinishedWork};
use zarr_metadata::{MetadataError, Printable};

use crate::store::{Key, KeyError, Remedy, StoreError};
pub(crate) use checks::{check_count, grid_error};
pub use loss::Loss;
#[cfg(feature = "jiff")]
pub use times::TimeError;
use words::{of, other_objects, variable_methods, what_to_do};
pub(crate) use written::Touched;
pub use written::Written;

/// The error of opening, reading, writing or changing an array or group.
///
/// Every message is one complete line with the place of the fault: a node's path, a document's key
/// and JSON path, a chunk's key. `source` does not return an error that the message already shows;
/// the variants have it. So reports that print all levels print each part once.
///
/// ```
/// use std::error::Error;
/// use std::sync::Arc;
/// use zarr_array::store::{Key, MemoryStore, Prefix, StoreExt};
/// use zarr_array::{ArrayError, Group};
///
/// let store = Arc::new(MemoryStore::new());
/// store.put(&Key::new("zarr.json")?, br#"{"zarr_format": 4, "node_type": "group"}"#)?;
/// let error = Group::open(store, &Prefix::root()).unwrap_err();
/// assert_eq!(error.to_string(), "zarr.json: $.zarr_format: found 4, expected the integer 3");
/// assert!(error.source().is_none());
/// let ArrayError::Metadata { key, cause } = error else { unreachable!() };
/// assert_eq!((key.as_str(), cause.path()), ("zarr.json", "$.zarr_format"));
/// # Ok::<(), Box<dyn Error>>(())
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A path that is invalid in every store.
    #[error(transparent)]
    Path(#[from] KeyError),
    /// No node at this path.
    #[error("{}: no array or group here: there is no zarr.json", Printable(path))]
    NotFound {
        /// The node's path.
        path: String,
    },
    /// An unfinished copy, join or creation, which is not a node until it is complete.
    #[error(
        "{}: an unfinished {}{}: {}",
        Printable(path),
        work,
        Printable(of(from.as_deref())),
        what_to_do(*resumable, parts.as_deref())
    )]
    Unfinished {
        /// The path of the node that the copy makes.
        path: String,
        /// The source, if the copy's marker names it.
        from: Option<String>,
        /// The unfinished work.
        work: UnfinishedWork,
        /// Whether it can be resumed. The creation of an array cannot, nor a copy with a damaged
        /// marker.
        resumable: bool,
        /// Its parts, if several processes copy a part each.
        parts: Option<Box<UnfinishedParts>>,
    },
    /// A node of Zarr version 2 was to be changed.
    #[error(
        "{}: this is Zarr version 2, which is read and never written: a copy of it is version 3 and \
         can be changed",
        Printable(path)
    )]
    Version2 {
        /// The node's path.
        path: String,
    },
    /// There is a node where a new one was to be created.
    #[error("{}: there is already a node here", Printable(path))]
    Exists {
        /// The node's path.
        path: String,
    },
    /// A new node's path contains a name that nodes cannot have.
    #[error("{}: the node's name {name:?} {reason}", Printable(path))]
    NodeName {
        /// The new node's path.
        path: String,
        /// The name.
        name: String,
        /// The fault.
        reason: &'static str,
    },
    /// A group has no consolidated metadata although it was to be trusted.
    #[error("{}: the group has no consolidated metadata", Printable(path))]
    NotConsolidated {
        /// The group's path.
        path: String,
    },
    /// The place of a new array has chunks already, which would become part of it.
    #[error(
        "{}: there is no array here, but {} would be a chunk of it: delete it first",
        Printable(path),
        Printable(key)
    )]
    NotEmpty {
        /// The array's path.
        path: String,
        /// An object that would be one of its chunks.
        key: String,
    },
    /// The deletion of a node would remove objects that are not Zarr's.
    #[error(
        "{}: nothing was deleted: {}, such as {}; they are removed only on request",
        Printable(path),
        other_objects(*count, *may_be_chunks),
        Printable(first)
    )]
    OtherObjects {
        /// The node's path.
        path: String,
        /// One of the objects, relative to the node.
        first: String,
        /// Their number.
        count: u64,
        /// Whether they may be chunks of an array whose chunk key encoding is not known.
        may_be_chunks: bool,
    },
    /// A node's document has changed since the node was opened.
    #[error("{}: changed by others since it was opened; open it again", Printable(path))]
    Stale {
        /// The node's path.
        path: String,
    },
    /// A change of several objects was refused because no lock excludes other processes.
    #[error(
        "{path}: this changes several objects, and the store has no locks between processes, so that \
         another writer's change could be lost",
        path = Printable(path)
    )]
    NoLock {
        /// The node's path.
        path: String,
    },
    /// An append to a store without locks between processes failed after the array had grown.
    #[error(
        "{path}: the array has grown, but its new elements are not all written: {cause}; write them, \
         or resize the array to what it was",
        path = Printable(path)
    )]
    Grown {
        /// The array's path.
        path: String,
        /// The reason why they are not written.
        cause: Box<ArrayError>,
    },
    /// A resize changed the shape, but did not discard everything past the new end.
    #[error(
        "{path}: the array has its new shape, but chunks past its end are not all discarded: \
         {cause}; resize it to the same shape again to discard them",
        path = Printable(path)
    )]
    Undiscarded {
        /// The array's path.
        path: String,
        /// The reason why they are not discarded: an error of the store, or [`ArrayError::Stale`]
        /// if others changed the array meanwhile.
        cause: Box<ArrayError>,
    },
    /// A change of another crate is refused, such as a rearrangement of chunks.
    #[error("{}: {cause}", Printable(path))]
    Refused {
        /// The path of the array or group.
        path: String,
        /// The reason why it cannot be changed so. Its message has no control characters.
        cause: Box<dyn std::error::Error + Send + Sync>,
        /// What would allow the change.
        remedy: Option<Remedy>,
    },
    /// A write of several chunks failed before all were written.
    #[error("{cause}; {} of {} chunks were written", .written.count(), .written.total())]
    Incomplete {
        /// The chunks that were written.
        written: Box<Written>,
        /// The error, with the first chunk that failed.
        cause: Box<ArrayError>,
    },
    /// A member of an array that consists of others cannot be read.
    #[error("member {}: {cause}", Printable(member))]
    Member {
        /// The member's name.
        member: String,
        /// The fault.
        cause: Box<ArrayError>,
    },
    /// An array has changed since others were joined with it.
    #[error(
        "changed since it was joined: {what} is {}, and was {}",
        Printable(found),
        Printable(recorded)
    )]
    MemberChanged {
        /// The changed part.
        what: &'static str,
        /// The part as it is now.
        found: String,
        /// The part as it was.
        recorded: String,
    },
    /// An axis that the array does not have.
    #[error("axis {axis}: the array has {rank} {}", if *.rank == 1 { "axis" } else { "axes" })]
    Axis {
        /// The requested axis.
        axis: usize,
        /// The number of axes.
        rank: usize,
    },
    /// A group where an array is needed.
    #[error("{}: this is a group, not an array", Printable(path))]
    NotArray {
        /// The node's path.
        path: String,
    },
    /// An array where a group is needed.
    #[error("{}: this is an array, not a group", Printable(path))]
    NotGroup {
        /// The node's path.
        path: String,
    },
    /// A metadata document that is not valid.
    #[error("{}: {cause}", Printable(key))]
    Metadata {
        /// The document's key.
        key: String,
        /// The fault and its place.
        cause: MetadataError,
    },
    /// Edges are not a valid grid.
    #[error("{}: $.chunk_grid: {cause}", Printable(key))]
    Grid {
        /// The document's key.
        key: String,
        /// The fault of the edges.
        cause: GridError,
    },
    /// A codec chain does not fit.
    #[error("{}: {cause}", Printable(key))]
    Chain {
        /// The document's key.
        key: String,
        /// The fault and its place.
        cause: ChainError,
    },
    /// A chunk does not decode, or cannot be encoded.
    #[error("chunk {}: {cause}", Printable(key))]
    Chunk {
        /// The chunk's key.
        key: String,
        /// The fault.
        cause: ChunkError,
    },
    /// Other writers replaced a chunk again and again while it was read in parts.
    #[error(
        "chunk {}: replaced by others while it was read, in each of {attempts} attempts",
        Printable(key)
    )]
    Changing {
        /// The chunk's key.
        key: String,
        /// The number of attempts.
        attempts: u32,
    },
    /// A selection outside the array.
    #[error("selection: {cause}")]
    Selection {
        /// The fault and its axis.
        cause: GridError,
    },
    /// A view of the caller does not fit the selection.
    #[error(transparent)]
    Copy(#[from] zarr_view::CopyError),
    /// The length of a buffer differs from the selection's.
    #[error("buffer of {found} bytes, but the selection has {expected}")]
    BufferLength {
        /// Bytes given.
        found: u64,
        /// Bytes of the selection's elements.
        expected: u64,
    },
    /// The shape of an array differs from the selection's.
    #[error("elements of shape {found:?}, but the selection has shape {expected:?}")]
    Shape {
        /// The shape given.
        found: Vec<usize>,
        /// The selection's shape.
        expected: Vec<u64>,
    },
    /// The requested type or shape has another number of axes than the array.
    #[error("the array has {axes} {}, not {requested}", if *.axes == 1 { "axis" } else { "axes" })]
    Axes {
        /// Axes of the array.
        axes: usize,
        /// Axes of the type or shape.
        requested: usize,
    },
    /// The number of elements differs from the selection's.
    #[error("{found} element{}, but the selection has shape {expected:?}", if *.found == 1 { "" } else { "s" })]
    ElementCount {
        /// Elements given.
        found: u64,
        /// The selection's shape.
        expected: Vec<u64>,
    },
    /// A method for elements of fixed size was called on an array of variable length.
    #[error(
        "elements of data type {} have no fixed size: {} read and write them",
        Printable(data_type),
        variable_methods(data_type)
    )]
    VariableLength {
        /// The array's data type.
        data_type: String,
    },
    /// A selection that the machine's memory cannot hold.
    #[error("a selection of {elements} elements of {element_size} bytes does not fit into memory")]
    SelectionTooLarge {
        /// Elements of the selection.
        elements: u128,
        /// Bytes of one element.
        element_size: usize,
    },
    /// A Rust type does not match the data type.
    #[error("elements of data type {} cannot be taken as {requested}", Printable(data_type))]
    ElementType {
        /// The array's data type.
        data_type: String,
        /// The Rust type.
        requested: &'static str,
    },
    /// An element is not a valid value of the Rust type.
    #[error("an element of data type {} is not a value of {requested}", Printable(data_type))]
    ElementValue {
        /// The array's data type.
        data_type: String,
        /// The Rust type.
        requested: &'static str,
    },
    /// A time that cannot be converted without changing it.
    #[cfg(feature = "jiff")]
    #[error("element {element} of the selection, {value}, {cause}")]
    Time {
        /// Its number in the selection, in C order.
        element: usize,
        /// The element in steps of its unit, or the time.
        value: String,
        /// Why it cannot be converted.
        cause: TimeError,
    },
    /// A data type without elements of fixed size.
    #[error(
        "{}: $.data_type: elements of data type {} are not read here",
        Printable(key),
        Printable(data_type)
    )]
    DataType {
        /// The document's key.
        key: String,
        /// The data type's name.
        data_type: String,
    },
    /// The chunk grid or the encoding of chunk keys is not known here: the document can be read and
    /// changed, and objects can be copied, but the place of no element is known.
    #[error(
        "{}: $.{member}: {} is not known here, so elements cannot be read or written",
        Printable(key),
        Printable(name)
    )]
    Unknown {
        /// The document's key.
        key: String,
        /// `chunk_grid` or `chunk_key_encoding`.
        member: &'static str,
        /// The name that is not known.
        name: String,
    },
    /// The chain would change values of a write (SD-49).
    #[error(
        "{}: {loss}; {} of {} element{} would change",
        Printable(key),
        .loss.count,
        .loss.elements,
        if .loss.elements == 1 { "" } else { "s" }
    )]
    Loss {
        /// The document's key.
        key: String,
        /// The codec, the values, and the values after the loss.
        loss: Box<Loss>,
    },
    /// The chain would change the fill value (SD-49).
    #[error(
        "{}: $.fill_value: {} does not survive the codec chain: it would read back as {}",
        Printable(key),
        Printable(fill_value),
        Printable(read_back)
    )]
    FillValue {
        /// The document's key.
        key: String,
        /// The fill value.
        fill_value: String,
        /// The fill value after writing and reading it.
        read_back: String,
    },
    /// A codec of the chain refuses the fill value.
    #[error("{}: $.fill_value: {cause}", Printable(key))]
    RefusedFillValue {
        /// The document's key.
        key: String,
        /// The codec, and the fill value as its element 0.
        cause: ChunkError,
    },
}

crate::store::debug_as_text!(ArrayError);

impl ArrayError {
    /// Whether a store failed, which may work again later.
    #[must_use]
    pub fn is_of_store(&self) -> bool {
        match self {
            Self::Store(_) => true,
            Self::Incomplete { cause, .. } => cause.is_of_store(),
            _ => false,
        }
    }

    /// What would allow the operation, if the caller can.
    #[must_use]
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::NoLock { .. } => Some(Remedy::SoleWriter),
            Self::Refused { remedy, .. } => *remedy,
            Self::Store(cause) => cause.remedy(),
            Self::Member { cause, .. }
            | Self::Incomplete { cause, .. }
            | Self::Grown { cause, .. }
            | Self::Undiscarded { cause, .. } => cause.remedy(),
            _ => None,
        }
    }
}

/// The error of a chunk that does not decode, or cannot be encoded.
pub(crate) fn chunk_error(key: &Key, cause: ChunkError) -> ArrayError {
    ArrayError::Chunk { key: key.to_string(), cause }
}

/// Whether memory was exhausted: the chunk itself may be whole.
pub(crate) fn is_out_of_memory(error: &ChunkError) -> bool {
    matches!(error.kind(), ChunkErrorKind::OutOfMemory { .. })
}
