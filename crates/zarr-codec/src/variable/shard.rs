//! Shards of elements of variable length.

use std::collections::BTreeMap;
use std::ops::Range;

use zarr_metadata::{Codec, DataType, Sharding};

use super::chain::VariableChain;
use super::{ByteStrings, Slots, VariableChunkCodec};
use crate::array_to_bytes::shard::{self, Available, ShardCodec, ShardIndex, unravel};
use crate::chunk::Encoded;
use crate::codec_path::CodecPath;
use crate::error::{ChainError, ChunkError};
use crate::options::Options;
use crate::partial::shard::InnerChunks;
use crate::scratch::Scratch;
use crate::symbolic::Shape;

/// `sharding_indexed` over a chain for elements of variable length.
#[derive(Debug)]
pub(super) struct Shard {
    inner: VariableChain,
    inner_shape: Vec<u64>,
    /// The grid and the index, which are the same as for any shard. They are bound as a shard of
    /// numbers; its inner chunks are never decoded.
    layout: shard::Shard,
}

impl Shard {
    /// Binds a configuration to every shape that reaches it.
    pub(super) fn bind(
        sharding: &Sharding,
        data_type: &DataType,
        shape: &Shape<'_>,
        place: &CodecPath,
        options: &Options,
    ) -> Result<Self, ChainError> {
        let inner_shape = sharding.chunk_shape.clone();
        let numbers = Sharding::new(inner_shape.clone(), [Codec::bytes()])
            .with_index(sharding.index_codecs.clone(), sharding.index_location);
        let layout = shard::Shard::bind(&numbers, &DataType::Uint64, shape, place, options)?;
        let edges = shape.inner_edges(&inner_shape);
        let path = format!("{}.configuration.codecs", place.path());
        let inner = VariableChain::bind_at(&path, &sharding.codecs, data_type, &edges, options)?;
        Ok(Self { inner, inner_shape, layout })
    }

    /// The first codec that can be read but not written, if there is one.
    pub(super) fn read_only(&self) -> Option<&CodecPath> {
        self.inner.read_only().or(self.layout.read_only())
    }
}

/// Shards of elements of variable length, of one shape.
#[derive(Clone, Debug)]
pub(super) struct ShapedShard {
    inner: VariableChunkCodec,
    layout: ShardCodec,
    shape: Vec<usize>,
}

impl ShapedShard {
    pub(super) fn new(
        shard: &Shard,
        place: &CodecPath,
        shape: &[usize],
    ) -> Result<Self, ChainError> {
        let layout = ShardCodec::new(&shard.layout, place, shape)?;
        let inner = shard.inner.for_shape(&shard.inner_shape)?;
        Ok(Self { inner, layout, shape: shape.to_vec() })
    }

    pub(super) fn grid_shape(&self) -> &[usize] {
        self.layout.grid_shape()
    }

    /// The inner chunk of the element at `position`, in C order of the shard, and the element's
    /// number in C order of the inner chunk.
    pub(super) fn split(&self, mut position: usize) -> (usize, usize) {
        let (mut chunk, mut chunks) = (0, 1);
        let (mut within, mut elements) = (0, 1);
        let axes = self.shape.iter().zip(self.inner.shape()).zip(self.layout.grid_shape());
        for ((size, inner), count) in axes.rev() {
            let at = position % size;
            position /= size;
            chunk += at / inner * chunks;
            within += at % inner * elements;
            chunks *= count;
            elements *= inner;
        }
        (chunk, within)
    }

    /// The codec of the inner chunks.
    pub(super) fn inner(&self) -> &VariableChunkCodec {
        &self.inner
    }

    /// The grid and the index.
    pub(super) fn codec(&self) -> &ShardCodec {
        &self.layout
    }

    /// The inner chunks that hold the elements at these positions, in C order of the shard.
    pub(super) fn wanted(&self, positions: impl ExactSizeIterator<Item = usize>) -> Wanted {
        let mut wanted = Wanted { count: positions.len(), chunks: BTreeMap::new() };
        for (slot, position) in positions.enumerate() {
            let (chunk, within) = self.split(position);
            let (slots, elements) = wanted.chunks.entry(chunk).or_default();
            slots.push(slot);
            elements.push(within);
        }
        wanted
    }

    /// Decodes elements from the bytes of a shard.
    pub(super) fn decode_at(
        &self,
        bytes: &[u8],
        positions: impl ExactSizeIterator<Item = usize>,
        fill: &[u8],
    ) -> Result<ByteStrings, ChunkError> {
        let index = self.layout.read_index(bytes, &mut Scratch::new())?;
        self.decode(&self.wanted(positions), Available::Whole(bytes), &index, fill)
    }

    /// Decodes elements from the available bytes of a shard.
    pub(super) fn decode(
        &self,
        wanted: &Wanted,
        available: Available<'_>,
        index: &ShardIndex,
        fill: &[u8],
    ) -> Result<ByteStrings, ChunkError> {
        let failed = |kind| self.layout.error(kind);
        let mut out = Slots::filled_with(wanted.count, fill).map_err(failed)?;
        for (chunk, (slots, elements)) in &wanted.chunks {
            let Some(range) = index.range(*chunk) else { continue };
            let decoded = self
                .inner
                .decode_at(available.get(&range).unwrap_or_default(), elements, fill)
                .map_err(|error| self.layout.error_in(*chunk, error))?;
            slots.iter().zip(decoded.iter()).for_each(|(slot, element)| out.set(*slot, element));
        }
        out.finish().map_err(failed)
    }

    /// The stored inner chunks in which all elements are `fill`: the first, and how many others.
    pub(super) fn fill_only(
        &self,
        bytes: &[u8],
        fill: &[u8],
    ) -> Result<Option<(Vec<usize>, u64)>, ChunkError> {
        let index = self.layout.read_index(bytes, &mut Scratch::new())?;
        let chunks = self.grid_shape().iter().product();
        let mut found = None;
        for chunk in 0..chunks {
            let Some(range) = index.range(chunk) else { continue };
            let inner = shard::slice(bytes, &range).unwrap_or_default();
            let decoded = self.inner.decode_all(inner, fill);
            let decoded = decoded.map_err(|error| self.layout.error_in(chunk, error))?;
            if !decoded.iter().all(|element| element == fill) {
                continue;
            }
            match &mut found {
                Some((_, others)) => *others += 1,
                None => found = Some((unravel(chunk, self.grid_shape()), 0)),
            }
        }
        Ok(found)
    }

    /// Encodes the elements of a shard, in C order: inner chunks in C order, without inner chunks
    /// of the fill value only.
    pub(super) fn encode(
        &self,
        elements: &[&[u8]],
        fill: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkError> {
        let size = self.inner.elements();
        let mut chunks = vec![&[][..]; elements.len()];
        for (position, element) in elements.iter().enumerate() {
            let (chunk, within) = self.split(position);
            chunks[chunk * size + within] = element;
        }
        let (mut encoded, mut index) = (Vec::new(), Vec::new());
        let mut writer = self.layout.writer(out, &mut index)?;
        for (number, chunk) in chunks.chunks_exact(size.max(1)).enumerate() {
            let failed = |error| self.layout.error_in(number, error);
            match self.inner.encode(chunk, fill, &mut encoded).map_err(failed)? {
                Encoded::Empty => writer.leave_out(),
                Encoded::Chunk => writer.append(&encoded)?,
            }
        }
        writer.finish(&mut encoded, &mut Scratch::new())
    }
}

/// Elements of a shard, by inner chunk.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The number of elements.
    count: usize,
    /// For each inner chunk: the numbers of its elements in the result, and in C order of the inner
    /// chunk.
    chunks: BTreeMap<usize, (Vec<usize>, Vec<usize>)>,
}

impl Wanted {
    /// The number of inner chunks.
    pub(super) fn inner_chunks(&self) -> usize {
        self.chunks.len()
    }
}

impl InnerChunks for Wanted {
    fn needed(&self, _: &ShardCodec, index: &ShardIndex) -> impl Iterator<Item = Range<u64>> {
        self.chunks.keys().filter_map(|chunk| index.range(*chunk))
    }
}
