//! Failures while elements are moved.

use crate::codec_path::CodecPath;
use crate::error::{ChunkError, ChunkErrorKind};

/// A failure to move elements: here, or in an inner codec, which has added its path.
#[derive(Debug)]
pub(crate) enum NestedError {
    Here(ChunkErrorKind),
    Inner(ChunkError),
}

impl NestedError {
    /// The error, attributed to the codec at `place` unless it already names another.
    pub(crate) fn at(self, place: &CodecPath) -> ChunkError {
        match self {
            Self::Here(kind) => place.chunk_error(kind),
            Self::Inner(error) => error,
        }
    }
}

impl<K: Into<ChunkErrorKind>> From<K> for NestedError {
    fn from(kind: K) -> Self {
        Self::Here(kind.into())
    }
}

impl From<ChunkError> for NestedError {
    fn from(error: ChunkError) -> Self {
        Self::Inner(error)
    }
}
