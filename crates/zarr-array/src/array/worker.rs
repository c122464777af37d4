//! The state that a thread keeps from chunk to chunk, so that a chunk needs no allocation and no
//! contended lock.

use std::num::NonZeroUsize;
use std::sync::Arc;

use zarr_codec::{ChunkCodec, Scratch};

use crate::array::Array;
use crate::counts::narrow;
use crate::error::ArrayError;
use crate::layout::ChunkKeys;
use crate::parallel;
use crate::selection::gather::GatherBuffers;

/// The number of codecs that a thread caches if chunks have several shapes.
const CODECS: usize = 1 << u8::BITS;

/// A thread's state while it works on the chunks of an array.
pub(super) struct Worker<'a> {
    pub(super) keys: ChunkKeys<'a>,
    pub(super) codecs: Codecs<'a>,
    pub(super) buffers: ChunkBuffers,
}

impl<'a> Worker<'a> {
    pub(super) fn new(array: &'a Array) -> Self {
        Self::with_buffers(array, ChunkBuffers::default())
    }

    /// A worker for one of `parts` chunks that so many threads share: if there are fewer chunks than
    /// cores, several threads encode the inner chunks of one.
    pub(super) fn of_parts(array: &'a Array, threads: NonZeroUsize, parts: u64) -> Self {
        let threads = threads.min(parallel::cores()).get();
        let each = threads.checked_div(narrow(parts)).unwrap_or(0);
        let helpers = each.saturating_sub(1);
        Self::with_buffers(array, ChunkBuffers { helpers, ..ChunkBuffers::default() })
    }

    /// A worker that reuses the memory of another.
    pub(super) fn with_buffers(array: &'a Array, buffers: ChunkBuffers) -> Self {
        let keys = ChunkKeys::new(array.layout());
        let codecs = Codecs { array, kept: Vec::new() };
        Self { keys, codecs, buffers }
    }
}

/// Memory that is reused from chunk to chunk.
#[derive(Default)]
pub(super) struct ChunkBuffers {
    pub(super) encoded: Vec<u8>,
    pub(super) scratch: Scratch,
    pub(super) gathered: GatherBuffers,
    /// How many other threads may encode inner chunks of the chunk that this one works on.
    pub(super) helpers: usize,
}

/// The codecs that a thread has used, by chunk shape.
pub(super) struct Codecs<'a> {
    array: &'a Array,
    /// The last codec; from the second shape on, the last one per hash of a shape.
    kept: Vec<Option<Arc<ChunkCodec>>>,
}

impl Codecs<'_> {
    /// As [`Array::fixed_codec`].
    #[expect(clippy::indexing_slicing, reason = "the place is within the length")]
    pub(super) fn of(&mut self, chunk_shape: &[u64]) -> Result<&ChunkCodec, ArrayError> {
        if self.kept.is_empty() {
            self.kept.push(None);
        }
        let mut place = place(chunk_shape, self.kept.len());
        let codec = match self.kept[place].take() {
            Some(codec) if is_of(&codec, chunk_shape) => codec,
            other => {
                if other.is_some() {
                    self.kept.resize(CODECS, None);
                    place = self::place(chunk_shape, CODECS);
                }
                self.array.fixed_codec(chunk_shape)?
            }
        };
        Ok(self.kept[place].insert(codec))
    }
}

/// The slot for a shape's codec, among the given number.
fn place(chunk_shape: &[u64], places: usize) -> usize {
    // The golden ratio in 64 bits spreads close numbers over the highest bits.
    let spread = |hash: u64, edge: &u64| (hash ^ edge).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let [highest, ..] = chunk_shape.iter().fold(0, spread).to_be_bytes();
    usize::from(highest).checked_rem(places).unwrap_or(0)
}

fn is_of(codec: &ChunkCodec, chunk_shape: &[u64]) -> bool {
    codec.shape().iter().copied().eq(chunk_shape.iter().map(|edge| narrow(*edge)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{MemoryStore, Prefix};
    use zarr_codec::Options;
    use zarr_metadata::ArrayMetadata;

    #[test]
    fn each_shape_has_its_own_codec() {
        let document = br#"{"zarr_format": 3, "node_type": "array", "shape": [500, 500],
            "data_type": "uint8", "fill_value": 0, "codecs": [{"name": "bytes"}],
            "chunk_grid": {"name": "rectilinear",
              "configuration": {"kind": "inline", "chunk_shapes": [[1, 499], 3]}},
            "chunk_key_encoding": {"name": "default"}}"#;
        let metadata = ArrayMetadata::from_json(document).unwrap();
        let store = Arc::new(MemoryStore::new());
        let array = Array::with_metadata(store, &Prefix::root(), metadata, Options::new()).unwrap();
        let mut codecs = Worker::new(&array).codecs;
        // More shapes than slots, twice.
        for edges in (1..400_u64).chain(1..400) {
            let codec = codecs.of(&[edges, 400 - edges]).unwrap();
            assert_eq!(codec.shape(), [narrow(edges), narrow(400 - edges)]);
        }
    }
}
