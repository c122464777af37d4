//! What a chunk should have been written as, inner chunks of shards included: what was decoded is
//! encoded again.

use zarr_codec::{AxisEdges, Chain, ChunkCodec, Encoded, Options};
use zarr_metadata::{Codec, CodecKind, DataType};
use zarr_view::{CopyError, View};

use super::chunks::{Buffers, Decoding, decode};
use crate::array::Array;
use crate::error::ArrayError;

/// A chain up to its array-to-bytes codec: what that writes is settled by the elements alone.
///
/// A shard may lay its inner chunks out in many ways, so that it is the chain within that counts.
pub(super) enum Canonical {
    Elements(Chain),
    Shard(Box<Canonical>),
}

/// What is in a chunk whose bytes have been decoded without fault.
pub(super) enum Content {
    /// What a writer should have left.
    Canonical,
    /// The fill value only.
    Empty,
    /// Bits that no element has: which byte.
    Bits(String),
    /// Inner chunks of such kinds: the first of each and how many more.
    Shard { empty: Option<(Vec<usize>, u64)>, bits: Option<((Vec<usize>, String), u64)> },
}

impl Canonical {
    /// `None` where the chain cannot be bound, which has been said.
    pub(super) fn new(codecs: &[Codec], data_type: &DataType, edges: &[AxisEdges]) -> Option<Self> {
        let leaf = codecs.iter().position(|codec| codec.kind() == Some(CodecKind::ArrayToBytes))?;
        if let Some(Codec::ShardingIndexed(sharding)) = codecs.get(leaf) {
            let edges: Vec<_> =
                sharding.chunk_shape.iter().map(|size| AxisEdges::one(*size)).collect();
            return Some(Self::Shard(Box::new(Self::new(&sharding.codecs, data_type, &edges)?)));
        }
        let chain =
            Chain::bind_with(codecs.get(..=leaf)?, data_type, edges, Options::new()).ok()?;
        Some(Self::Elements(chain))
    }

    /// Looks at the chunk that has just been decoded in `buffers`.
    pub(super) fn inspect(
        &self,
        array: &Array,
        shape: &[u64],
        codec: &ChunkCodec,
        buffers: &mut Buffers,
    ) -> Result<Content, ArrayError> {
        match self {
            Self::Elements(chain) => elements(chain, array, shape, codec, buffers),
            Self::Shard(inner) => inner.shard(array, codec, buffers),
        }
    }

    fn shard(
        &self,
        array: &Array,
        codec: &ChunkCodec,
        buffers: &mut Buffers,
    ) -> Result<Content, ArrayError> {
        let Buffers { encoded, scratch, spare, .. } = buffers;
        let Some(shard) = codec.shard() else { return Ok(Content::Canonical) };
        // The shard has been decoded, so that none of this fails.
        let Ok(bytes) = codec.decompress(encoded, scratch) else { return Ok(Content::Canonical) };
        let part = |range: std::ops::Range<u64>| {
            bytes.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
        };
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let index = shard
            .index_range(length)
            .and_then(part)
            .and_then(|encoded| shard.parse_index(encoded, Some(length), spare).ok());
        let Some(index) = index else { return Ok(Content::Canonical) };
        let inner = shard.inner();
        let shape: Option<Vec<u64>> =
            inner.shape().iter().map(|size| u64::try_from(*size).ok()).collect();
        let Some(shape) = shape else { return Ok(Content::Canonical) };
        let mut within = Buffers::default();
        let (mut empty, mut bits) = (Found::default(), Found::default());
        let mut all_empty = true;
        for number in 0..index.len() {
            let Some(chunk) = index.range(number).and_then(part) else { continue };
            within.encoded.clear();
            within.encoded.extend_from_slice(chunk);
            match decode(array, inner, &mut within) {
                Ok(()) => {}
                Err(Decoding::Chunk(_)) => continue,
                Err(Decoding::Copy(error)) => return Err(error.into()),
            }
            let at = || shard.chunk_index(number);
            let content = self.inspect(array, &shape, inner, &mut within)?;
            all_empty &= matches!(content, Content::Empty);
            match content {
                Content::Canonical => {}
                Content::Empty => empty.add(at),
                Content::Bits(found) => bits.add(|| (at(), found)),
                Content::Shard { empty: Some((first, _)), .. } => {
                    // Where in the inner chunk's own inner chunks is more than a line should say.
                    empty.add(|| [at(), first].concat());
                }
                Content::Shard { bits: Some(((first, found), _)), .. } => {
                    bits.add(|| ([at(), first].concat(), found));
                }
                Content::Shard { .. } => {}
            }
        }
        if all_empty {
            return Ok(Content::Empty);
        }
        Ok(Content::Shard { empty: empty.first_and_others(), bits: bits.first_and_others() })
    }
}

/// The first of several, and how many.
struct Found<T> {
    first: Option<T>,
    count: u64,
}

impl<T> Default for Found<T> {
    fn default() -> Self {
        Self { first: None, count: 0 }
    }
}

impl<T> Found<T> {
    fn add(&mut self, found: impl FnOnce() -> T) {
        self.first.get_or_insert_with(found);
        self.count = self.count.saturating_add(1);
    }

    fn first_and_others(self) -> Option<(T, u64)> {
        Some((self.first?, self.count.saturating_sub(1)))
    }
}

/// Encodes the elements again.
fn elements(
    chain: &Chain,
    array: &Array,
    shape: &[u64],
    codec: &ChunkCodec,
    buffers: &mut Buffers,
) -> Result<Content, ArrayError> {
    let Ok(plain) = chain.for_shape(shape) else { return Ok(Content::Canonical) };
    let Buffers { encoded, decoded, again, scratch, spare } = buffers;
    let whole = View::contiguous(codec.shape()).map_err(CopyError::from)?;
    // A chain that only reads has nothing to compare with.
    let Ok(content) = plain.encode(decoded, &whole, array.fill(), again, spare) else {
        return Ok(Content::Canonical);
    };
    if content == Encoded::Empty {
        return Ok(Content::Empty);
    }
    let Ok(leaf) = codec.decompress(encoded, scratch) else { return Ok(Content::Canonical) };
    let differs = leaf.iter().zip(again.iter()).position(|(found, expected)| found != expected);
    Ok(differs.map_or(Content::Canonical, |byte| {
        let at = |bytes: &[u8]| bytes.get(byte).copied().unwrap_or_default();
        Content::Bits(format!("byte {byte} is {:#04x}, expected {:#04x}", at(leaf), at(again)))
    }))
}
