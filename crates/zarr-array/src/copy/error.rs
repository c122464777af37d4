//! What can go wrong with a copy.

use crate::error::ArrayError;
use crate::store::{FullMessage, KeyError, StoreError};

/// Why a copy was refused, or did not end.
///
/// Messages are complete; `source` returns nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The source could not be read.
    #[error("source: {0}")]
    Source(ArrayError),
    /// The target could not be written.
    #[error("target: {0}")]
    Target(ArrayError),
    /// The two share objects: the target is the source, or one lies in the other.
    #[error("target {path}: source and target lie in each other")]
    Overlap {
        /// The target's path.
        path: String,
    },
    /// The source is an unfinished copy itself: what it lacks would be taken for fill values.
    #[error("source {path}: itself an unfinished copy: finish it first")]
    UnfinishedSource {
        /// The path of the source, or of an array or group in it.
        path: String,
    },
    /// What the caller says of an array whose metadata was to change.
    #[error("{path}: {}", FullMessage(cause.as_ref()))]
    Change {
        /// The array's path.
        path: String,
        /// Why it cannot be copied.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no node at the target, but something else, which is not removed either: only chunks
    /// of an array that was there are, by an overwrite.
    #[error("target {path}: there is no node here, but {key}: remove what is here first")]
    NotEmpty {
        /// The target's path.
        path: String,
        /// An object that is there.
        key: String,
    },
    /// There is something at the target already.
    #[error("target {path}: there is a node here already")]
    Exists {
        /// The target's path.
        path: String,
    },
    /// There is an unfinished copy at the target.
    #[error("target {path}: an unfinished copy is here: resume it, or overwrite it")]
    Unfinished {
        /// The target's path.
        path: String,
    },
    /// What is at the target is not this copy, interrupted.
    #[error("target {path}: not an interrupted copy of this source with these chunks and codecs")]
    OtherCopy {
        /// The target's path.
        path: String,
    },
    /// A copy was to be resumed, but what is at the target has no sign of one: it may be finished,
    /// or something else altogether.
    #[error("target {path}: there is a node here, but no interrupted copy")]
    NotInterrupted {
        /// The target's path.
        path: String,
    },
    /// The arrays differ in what a copy cannot change.
    #[error("cannot copy {source_shape:?} of {source_type} to {target_shape:?} of {target_type}")]
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
    /// A single chunk of the target does not fit into the memory that was given.
    #[error(
        "one chunk of the target needs {needed} bytes of memory (its elements, and the buffers to \
         decode and encode them), more than the {limit} allowed"
    )]
    Memory {
        /// Bytes for the smallest task there can be.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// An object is copied as it is, and does not fit into the memory that was given.
    #[error("object {key} has {size} bytes, more than the {limit} of memory allowed")]
    Object {
        /// Its key.
        key: String,
        /// Its size.
        size: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// An array that is not read here can only be copied as it is.
    #[error("{path}: elements cannot be read here, so that chunks and codecs must stay: {cause}")]
    NotDecodable {
        /// The array's path.
        path: String,
        /// Why they cannot be read.
        cause: ArrayError,
    },
    /// What was written reads back as something else.
    #[error("target {path}: elements from {start:?} on read back as others than were written")]
    Verify {
        /// The target's path.
        path: String,
        /// The first index of the task that differs.
        start: Vec<u64>,
    },
    /// An object that was written reads back as something else.
    #[error("object {key} reads back as other bytes than were written")]
    VerifyObject {
        /// Its key.
        key: String,
    },
}

impl From<KeyError> for TransferError {
    fn from(error: KeyError) -> Self {
        Self::Target(error.into())
    }
}

pub(super) fn source(error: impl Into<ArrayError>) -> TransferError {
    match error.into() {
        ArrayError::Unfinished { path, .. } => TransferError::UnfinishedSource { path },
        error => TransferError::Source(error),
    }
}

pub(super) fn target(error: impl Into<ArrayError>) -> TransferError {
    TransferError::Target(error.into())
}

/// Store errors of the target, which is where most can go wrong.
impl From<StoreError> for TransferError {
    fn from(error: StoreError) -> Self {
        target(error)
    }
}
