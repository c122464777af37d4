//! Where a codec is in the metadata document, for messages.

use std::sync::Arc;

use zarr_metadata::Codec;

use crate::error::{ChainError, ChainErrorKind, ChunkError, ChunkErrorKind};

/// A codec's place in the document and its name, for messages.
///
/// The path is put together when it is needed: those of long chains deep inside of shards would
/// take more memory than the document.
#[derive(Clone, Debug)]
pub(crate) struct CodecPath {
    /// The path of the list that the codec is in.
    list: Arc<str>,
    /// Where it is in the list; none for the list itself.
    index: Option<usize>,
    name: Box<str>,
}

/// Characters of a codec's name in a message.
const NAME: usize = 64;

impl CodecPath {
    /// The place of a whole chain.
    pub(crate) fn of_chain(list: &Arc<str>) -> Self {
        Self { list: Arc::clone(list), index: None, name: "chain".into() }
    }

    pub(crate) fn of_codec(list: &Arc<str>, index: usize, codec: &Codec) -> Self {
        // Of a name without end, what a message has room for.
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
