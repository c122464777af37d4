//! Changes of single inner chunks of a shard.

use super::VariableChunkCodec;
use super::shard::ShapedShard;
use crate::array_to_bytes::shard::ShardCodec;
use crate::chunk::Encoded;
use crate::error::ChunkError;

/// Changes inner chunks of a shard of elements of variable length, each by itself; made by
/// [`VariableChunkCodec::inner_changes`].
#[derive(Clone, Debug)]
pub struct VariableInnerChanges<'c> {
    codec: &'c VariableChunkCodec,
    shard: &'c ShapedShard,
}

impl VariableChunkCodec {
    /// Changes of single inner chunks, if the chunk is a shard and no codec follows it.
    #[must_use]
    pub fn inner_changes(&self) -> Option<VariableInnerChanges<'_>> {
        let shard = self.shard().filter(|_| !self.has_codecs_after())?;
        Some(VariableInnerChanges { codec: self, shard })
    }
}

impl<'c> VariableInnerChanges<'c> {
    /// The grid and the index of the shard.
    #[must_use]
    pub fn shard(&self) -> &'c ShardCodec {
        self.shard.codec()
    }

    /// The number of the inner chunk that holds an element, counted in C order of the chunk, and the
    /// element's number in C order of the inner chunk.
    #[must_use]
    pub fn place(&self, element: usize) -> (usize, usize) {
        self.shard.split(self.codec.stored(element))
    }

    /// The number of elements of an inner chunk.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.shard.inner().elements()
    }

    /// Replaces elements of an inner chunk, by their number in it, and encodes it again; of a number
    /// that is given twice, the last counts. `old` are its encoded bytes; `None` if it is not stored,
    /// and all its elements are `fill`. Returns `None` if they are afterwards.
    ///
    /// # Errors
    /// As [`VariableChunkCodec::decode`] and [`VariableChunkCodec::encode`], with the index of the
    /// inner chunk.
    pub fn change(
        &self,
        number: usize,
        old: Option<&[u8]>,
        fill: &[u8],
        new: &[(usize, &[u8])],
    ) -> Result<Option<Vec<u8>>, ChunkError> {
        let inner = self.shard.inner();
        let run = || {
            let decoded = old.map(|old| inner.decode_all(old, fill)).transpose()?;
            let mut list: Vec<&[u8]> = inner.room()?;
            match &decoded {
                Some(decoded) => list.extend(decoded.iter()),
                None => list.resize(inner.elements(), fill),
            }
            for (at, element) in new {
                if let Some(slot) = list.get_mut(*at) {
                    *slot = element;
                }
            }
            let mut out = Vec::new();
            let content = inner.encode(&list, fill, &mut out)?;
            Ok((content == Encoded::Chunk).then_some(out))
        };
        run().map_err(|error| self.shard().error_in(number, error))
    }
}
