//! The path of a codec in the metadata document, for messages.

use std::sync::Arc;

use zarr_metadata::Codec;

use crate::error::{ChainError, ChainErrorKind, ChunkError, ChunkErrorKind};

/// The path of a codec in the document and its name, for messages.
///
/// The text of the path is built when it is needed: the paths of long chains deep within shards
/// would take more memory than the document.
#[derive(Clone, Debug)]
pub(crate) struct CodecPath {
    /// The path of the list that the codec is in.
    list: Arc<str>,
    /// Its index in the list; `None` for the list itself.
    index: Option<usize>,
    name: Box<str>,
}

/// Characters of a codec's name in a message.
const NAME: usize = 64;

impl CodecPath {
    /// The path of a whole chain.
    pub(crate) fn of_chain(list: &Arc<str>) -> Self {
        Self { list: Arc::clone(list), index: None, name: "chain".into() }
    }

    pub(crate) fn of_codec(list: &Arc<str>, index: usize, codec: &Codec) -> Self {
        // Cut a very long name to the length that fits in a message.
        let name = match codec.name().char_indices().nth(NAME) {
            Some((end, _)) => format!("{}...", codec.name().get(..end).unwrap_or_default()).into(),
            None => codec.name().into(),
        };
        Self { list: Arc::clone(list), index: Some(index), name }
    }

    /// The codec's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The JSON path.
    pub(crate) fn path(&self) -> String {
        match self.index {
            Some(index) => format!("{}[{index}]", self.list),
            None => self.list.to_string(),
        }
    }

    pub(crate) fn error(&self, kind: ChainErrorKind) -> ChainError {
        ChainError::new(&self.path(), &self.name, kind)
    }

    pub(crate) fn chunk_error(&self, kind: ChunkErrorKind) -> ChunkError {
        ChunkError::new(&self.path(), &self.name, kind)
    }
}
