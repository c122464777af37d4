//! Documents with other chunks, codecs and shards.

use super::array::ArrayMetadata;
use crate::chunk_grid::ChunkGrid;
use crate::codec::{Codec, Sharding};
use crate::error::{MetadataError, describe};

impl ArrayMetadata {
    /// The document without shards: their inner chunks become the chunks, with the inner codecs. The
    /// same document if shards are not its only codec.
    ///
    /// # Errors
    /// As [`with_codecs`](Self::with_codecs).
    pub fn without_shards(&self) -> Result<Self, MetadataError> {
        let [Codec::ShardingIndexed(shards)] = self.codecs() else { return Ok(self.clone()) };
        let inner = ChunkGrid::Regular { chunk_shape: shards.chunk_shape.clone() };
        self.with_shape_and_grid(self.shape(), &inner)?.with_codecs(&shards.codecs)
    }

    /// The document with other chunks, codecs and shards; `None` keeps what is there.
    ///
    /// With `shards`, chunks and codecs are those within the shards, given or kept; the index of
    /// shards stays as it is, or is at the end and has a checksum. Without `shards`, chunks are what is
    /// stored: an array whose chunks become the inner chunks of its shards has no shards any more.
    ///
    /// # Errors
    /// [`MetadataError`] if these do not fit each other or the array, or if chunks within shards would
    /// have several lengths on an axis.
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::{ArrayBuilder, ChunkGrid, Codec, DataType};
    ///
    /// let plain = ArrayBuilder::new([100], DataType::Uint8).chunk_shape([10]).build()?;
    /// let grid = |edge: u64| ChunkGrid::Regular { chunk_shape: vec![edge] };
    /// let sharded = plain.with_layout(None, None, Some(&grid(50)))?;
    /// assert_eq!(sharded.codecs(), [Codec::sharding([10], plain.codecs().to_vec())]);
    /// assert_eq!(*sharded.chunk_grid(), grid(50));
    ///
    /// let again = sharded.with_layout(Some(&grid(10)), None, None)?;
    /// assert_eq!((again.chunk_grid(), again.codecs()), (plain.chunk_grid(), plain.codecs()));
    /// # Ok::<(), zarr_metadata::MetadataError>(())
    /// ```
    pub fn with_layout(
        &self,
        chunks: Option<&ChunkGrid>,
        codecs: Option<&[Codec]>,
        shards: Option<&ChunkGrid>,
    ) -> Result<Self, MetadataError> {
        let index = match self.codecs() {
            [Codec::ShardingIndexed(shards)] => Some(shards),
            _ => None,
        };
        let mut changed = match (shards, chunks, index, codecs) {
            (Some(_), ..) => self.without_shards()?,
            (None, Some(ChunkGrid::Regular { chunk_shape }), Some(old), None)
                if *chunk_shape == old.chunk_shape =>
            {
                return self.without_shards();
            }
            _ => self.clone(),
        };
        if let Some(chunks) = chunks {
            changed = changed.with_shape_and_grid(self.shape(), chunks)?;
        }
        if let Some(codecs) = codecs {
            changed = changed.with_codecs(codecs)?;
        }
        let Some(shards) = shards else { return Ok(changed) };
        let ChunkGrid::Regular { chunk_shape } = changed.chunk_grid() else {
            let allowed = "chunks of one length on each axis, within shards";
            let found = describe(&changed.chunk_grid().to_json());
            return Err(MetadataError::unexpected(found, allowed).in_member("chunk_grid"));
        };
        let mut new = Sharding::new(chunk_shape.clone(), changed.codecs().to_vec());
        if let Some(old) = index {
            new.index_codecs.clone_from(&old.index_codecs);
            new.index_location = old.index_location;
        }
        let codecs = [Codec::ShardingIndexed(Box::new(new))];
        changed.with_codecs(&codecs)?.with_shape_and_grid(self.shape(), shards)
    }
}
