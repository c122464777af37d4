//! `sharding_indexed`: a chunk (shard) of smaller inner chunks, with an index of their positions.
//!
//! The index is separate from the inner chunks: [`ShardIndex`] is parsed from its own bytes and
//! gives the position of each inner chunk. So a reader can first fetch the index and then only the
//! inner chunks that it needs.

mod decode;
mod encode;
mod index;
mod rewrite;

use std::ops::Range;

use zarr_metadata::{DataType, IndexLocation, Rule, Sharding};

use crate::chain::Chain;
use crate::chunk::ChunkCodec;
use crate::codec_path::CodecPath;
use crate::error::{ChainError, ChainErrorKind, ChunkError, ChunkErrorKind, s};
use crate::length::widen;
use crate::options::Options;
use crate::symbolic::{AxisEdges, Dimension, Shape};

pub(crate) use decode::{Available, IndexBytes, ShardDecoder};
pub use index::ShardIndex;
pub use rewrite::{NewInnerChunks, ShardPiece};

/// `sharding_indexed`, bound to its data type and to all shapes that reach it.
#[derive(Clone, Debug)]
pub(crate) struct Shard {
    inner_shape: Vec<u64>,
    pub(crate) inner: Chain,
    index: Chain,
    location: IndexLocation,
}

impl Shard {
    /// Binds a configuration to every shape that reaches it. The inner chunk shape must divide
    /// each (SD-34).
    pub(crate) fn bind(
        sharding: &Sharding,
        data_type: &DataType,
        shape: &Shape<'_>,
        place: &CodecPath,
        options: &Options,
    ) -> Result<Self, ChainError> {
        let inner_shape = &sharding.chunk_shape;
        let grid = grid(inner_shape, shape).map_err(|kind| place.error(kind))?;
        let within = |member: &str| format!("{}.configuration.{member}", place.path());
        let edges = shape.inner_edges(inner_shape);
        let inner =
            Chain::bind_at(&within("codecs"), &sharding.codecs, data_type, &edges, options)?;
        // An offset and a length for each inner chunk.
        let mut entries = grid;
        entries.push(Dimension::constant(2));
        let index = Chain::bind_shape(
            &within("index_codecs").into(),
            &sharding.index_codecs,
            &DataType::Uint64,
            shape.with(entries),
            // An offset without some of its bits points to other bytes: never allow that loss.
            &options.clone().allow_loss(false),
        )?;
        if !index.has_fixed_size() {
            return Err(index.path().error(ChainErrorKind::INDEX_SIZE));
        }
        Ok(Self {
            inner_shape: inner_shape.clone(),
            inner,
            index,
            location: sharding.index_location,
        })
    }

    /// The first codec of the inner chains that can be read but not written, if there is one.
    pub(crate) fn read_only(&self) -> Option<&CodecPath> {
        self.inner.read_only().or(self.index.read_only())
    }
}

/// The number of inner chunks per dimension.
fn grid(inner_shape: &[u64], shape: &Shape<'_>) -> Result<Vec<Dimension>, ChainErrorKind> {
    if inner_shape.len() != shape.rank() {
        let (found, rank) = (inner_shape.len(), shape.rank());
        let reason = format!(
            "chunk_shape has {found} dimension{}, but the array that reaches the codec has {rank}",
            s(found == 1)
        );
        let member = ".configuration.chunk_shape";
        return Err(ChainErrorKind::broken(Rule::SHARDING_RANK, member, reason));
    }
    let axes = inner_shape.iter().zip(&shape.dimensions).enumerate();
    axes.map(|(axis, (&inner, dimension))| {
        let too_small = || {
            let reason = format!(
                "chunk_shape[{axis}] is {inner}, which does not always divide {}, the length of that \
                 dimension when it reaches the codec",
                shape.describe(dimension)
            );
            let member = format!(".configuration.chunk_shape[{axis}]");
            ChainErrorKind::broken(Rule::SHARDING_DIVIDES, member, reason)
        };
        if inner == 0 {
            return Err(too_small());
        }
        shape.divided(dimension, inner)?.ok_or_else(too_small)
    })
    .collect()
}

/// Decodes and encodes shards of one shape: the array-to-bytes codec of a [`ChunkCodec`].
///
/// # Spec
/// Zarr v3 "Sharding codec".
#[derive(Clone, Debug)]
pub struct ShardCodec {
    inner: Box<ChunkCodec>,
    index: Box<ChunkCodec>,
    index_len: usize,
    location: IndexLocation,
    /// The shape of the shard.
    shape: Vec<usize>,
    /// The number of inner chunks per dimension.
    grid: Vec<usize>,
    /// The paths of the codec and of the index's chain in the document.
    place: CodecPath,
    index_place: CodecPath,
}

impl ShardCodec {
    /// The codec of shards of shape `shape`, one of the shapes that the codec was bound to.
    pub(crate) fn new(
        shard: &Shard,
        place: &CodecPath,
        shape: &[usize],
    ) -> Result<Self, ChainError> {
        let index_place = shard.index.path();
        // A shape that the chain was not bound to may fail here, as it would when bound.
        let edges: Vec<_> = shape.iter().map(|size| AxisEdges::one(widen(*size))).collect();
        let within = Shape::of_grid(&edges).and_then(|shape| {
            let grid = grid(&shard.inner_shape, &shape)?;
            grid.iter()
                .map(|count| shape.size(count).ok_or(ChainErrorKind::SIZE_OVERFLOW))
                .collect::<Result<Vec<u64>, _>>()
        });
        let grid = within.map_err(|kind| place.error(kind))?;
        let index_shape: Vec<u64> = grid.iter().copied().chain([2]).collect();
        let inner = Box::new(shard.inner.for_shape(&shard.inner_shape)?);
        let index = Box::new(shard.index.for_shape(&index_shape)?);
        let index_len = index.encoded_len().and_then(|length| usize::try_from(length).ok());
        let index_len = index_len.ok_or_else(|| index_place.error(ChainErrorKind::INDEX_SIZE))?;
        let too_large = || ChainErrorKind::AddressSpace { shape: index_shape.clone() };
        let grid: Option<Vec<usize>> = grid.iter().map(|n| usize::try_from(*n).ok()).collect();
        Ok(Self {
            inner,
            index,
            index_len,
            location: shard.location,
            shape: shape.to_vec(),
            grid: grid.ok_or_else(|| place.error(too_large()))?,
            place: place.clone(),
            index_place: index_place.clone(),
        })
    }

    /// The number of inner chunks per dimension of the encoded shape.
    #[must_use]
    pub fn grid_shape(&self) -> &[usize] {
        &self.grid
    }

    /// The position in that grid of inner chunk number `chunk`, counted in C order.
    #[must_use]
    pub fn chunk_index(&self, chunk: usize) -> Vec<usize> {
        unravel(chunk, &self.grid)
    }

    /// The inner chunk, counted in C order, that holds element `position` of the shard, and the
    /// index of the element in it. `None` if the shard has no such element.
    ///
    /// `position` is counted in C order of the encoded shape, as
    /// [`ArrayTransform::stored_position`](crate::ArrayTransform::stored_position) returns it.
    #[must_use]
    pub fn locate(&self, position: usize) -> Option<(usize, Vec<usize>)> {
        let elements = self.shape.iter().try_fold(1_usize, |n, size| n.checked_mul(*size))?;
        (position < elements).then_some(())?;
        let index = unravel(position, &self.shape);
        let mut chunk = 0_usize;
        let mut local = Vec::with_capacity(index.len());
        for ((at, inner), count) in index.iter().zip(self.inner.shape()).zip(&self.grid) {
            chunk = chunk.checked_mul(*count)?.checked_add(at.checked_div(*inner)?)?;
            local.push(at.checked_rem(*inner)?);
        }
        Some((chunk, local))
    }

    /// Converts an error of inner chunk `chunk`, counted in C order, to an error of the shard
    /// that names the inner chunk.
    #[must_use]
    pub fn error_in(&self, chunk: usize, error: ChunkError) -> ChunkError {
        error.in_inner_chunk(&self.chunk_index(chunk))
    }

    /// The error of a problem in inner chunk `chunk`.
    #[must_use]
    pub fn inner_error(&self, chunk: usize, kind: ChunkErrorKind) -> ChunkError {
        self.error_in(chunk, self.inner.failed(kind))
    }

    /// The error of a shard of this length, which has no room for the index.
    #[must_use]
    pub fn too_short(&self, found: u64) -> ChunkError {
        self.error(ChunkErrorKind::EncodedLength { found, least: self.index_len() })
    }

    /// The codec of the inner chunks.
    #[must_use]
    pub fn inner(&self) -> &ChunkCodec {
        &self.inner
    }

    /// Whether the index is at the start or at the end.
    #[must_use]
    pub fn index_location(&self) -> IndexLocation {
        self.location
    }

    /// The length of the encoded index in bytes.
    #[must_use]
    pub fn index_len(&self) -> u64 {
        widen(self.index_len)
    }

    /// The bytes of the encoded index in a shard of `shard_len` bytes, `None` if it is too short.
    #[must_use]
    pub fn index_range(&self, shard_len: u64) -> Option<Range<u64>> {
        let rest = shard_len.checked_sub(self.index_len())?;
        Some(match self.location {
            IndexLocation::Start => 0..self.index_len(),
            IndexLocation::End => rest..shard_len,
        })
    }

    /// The byte range that inner chunks may use: everything except the index (SD-59).
    fn chunk_range(&self, shard_len: u64) -> Range<u64> {
        match self.location {
            IndexLocation::Start => self.index_len()..shard_len,
            IndexLocation::End => 0..shard_len.saturating_sub(self.index_len()),
        }
    }
}

/// Advances to the next cell of a grid in C order; `false` past the last one.
fn advance(at: &mut [usize], grid: impl DoubleEndedIterator<Item = usize>) -> bool {
    for (at, count) in at.iter_mut().rev().zip(grid.rev()) {
        *at += 1;
        if *at < count {
            return true;
        }
        *at = 0;
    }
    false
}

/// The indices of cell `number`, in C order, of a grid without an axis of length 0.
pub(crate) fn unravel(mut number: usize, grid: &[usize]) -> Vec<usize> {
    let mut index = vec![0; grid.len()];
    for (slot, count) in index.iter_mut().zip(grid).rev() {
        *slot = number % count;
        number /= count;
    }
    index
}

/// The part of bytes in memory with this range of the format.
pub(crate) fn slice<'a>(bytes: &'a [u8], range: &Range<u64>) -> Option<&'a [u8]> {
    let start = usize::try_from(range.start).ok()?;
    bytes.get(start..usize::try_from(range.end).ok()?)
}
