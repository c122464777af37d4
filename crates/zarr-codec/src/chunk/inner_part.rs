//! The inner chunks of a shard as parts of its chunk, to change some of them.

use std::ops::Range;

use zarr_view::{CopyError, View};

use super::{ChunkCodec, Empty, Encoded, Input, Order};
use crate::array_to_bytes::shard::ShardCodec;
use crate::error::{ChunkError, ChunkErrorKind};
use crate::scratch::Scratch;
use crate::transform::Slice;

/// Changes inner chunks of a shard, each by itself; made by [`ChunkCodec::inner_changes`]. All
/// shapes and indices have the axes of the chunk, whatever their order in the shard.
#[derive(Clone, Debug)]
pub struct InnerChanges<'c> {
    shard: &'c ShardCodec,
    /// The axis of the chunk for each axis of the shard, and the reverse.
    order: &'c [usize],
    reverse: Vec<usize>,
    shape: Vec<usize>,
}

/// The part of a region that lies in one inner chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerPart {
    /// The number of the inner chunk, in C order of the shard.
    pub number: usize,
    /// The indices of the inner chunk.
    pub indices: Vec<Slice>,
    /// Their place in the region.
    pub place: Vec<Range<usize>>,
    /// Whether they are all of the inner chunk.
    pub is_whole: bool,
}

impl ChunkCodec {
    /// Changes of single inner chunks, if the chunk is a shard, no codec follows it, and the codecs
    /// before it only reorder axes. In other chunks a change of one inner chunk changes all bytes.
    #[must_use]
    pub fn inner_changes(&self) -> Option<InnerChanges<'_>> {
        let shard = self.shard().filter(|_| self.bound.bytes_to_bytes.is_empty())?;
        let order = self.transform.order()?;
        let (mut reverse, mut shape) = (vec![0; order.len()], vec![0; order.len()]);
        for ((place, axis), size) in order.iter().enumerate().zip(shard.inner().shape()) {
            *reverse.get_mut(*axis)? = place;
            *shape.get_mut(*axis)? = *size;
        }
        Some(InnerChanges { shard, order, reverse, shape })
    }
}

impl<'c> InnerChanges<'c> {
    /// The shard.
    #[must_use]
    pub fn shard(&self) -> &'c ShardCodec {
        self.shard
    }

    /// The shape of the inner chunks.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of the inner chunk with this index in the grid of inner chunks.
    #[must_use]
    pub fn number(&self, index: &[usize]) -> usize {
        let counts = self.order.iter().zip(self.shard.grid_shape());
        counts.fold(0, |number, (axis, count)| number * count + index[*axis])
    }

    /// The index of the first element of an inner chunk.
    #[must_use]
    pub fn origin(&self, number: usize) -> Vec<usize> {
        let index = self.shard.chunk_index(number);
        self.reverse.iter().zip(&self.shape).map(|(place, size)| index[*place] * size).collect()
    }

    /// The parts of a region, in C order of the chunk.
    #[must_use]
    pub fn parts(&self, region: &[Slice]) -> Vec<InnerPart> {
        let mut parts = vec![(Vec::new(), Vec::new(), Vec::new())];
        for (slice, size) in region.iter().zip(&self.shape) {
            let mut pieces = Vec::new();
            let mut done = 0_usize;
            while done < slice.count {
                let first = slice.start + done * slice.step;
                let within = first % size;
                let left = (size - within).div_ceil(slice.step.max(1));
                let count = left.clamp(1, slice.count - done);
                let end = done + count;
                let indices = Slice { start: within, count, step: slice.step };
                pieces.push((first / size, indices, done..end));
                done = end;
            }
            parts = parts
                .iter()
                .flat_map(|(index, indices, place)| {
                    pieces.iter().map(move |(at, slice, range)| {
                        let with = |mut list: Vec<_>, next| {
                            list.push(next);
                            list
                        };
                        let index = [index.as_slice(), &[*at]].concat();
                        let indices: Vec<Slice> = [indices.as_slice(), &[*slice]].concat();
                        (index, indices, with(Clone::clone(place), range.clone()))
                    })
                })
                .collect();
        }
        let part = |(index, indices, place): (Vec<usize>, Vec<Slice>, Vec<Range<usize>>)| {
            let mut axes = indices.iter().zip(&self.shape);
            let is_whole = axes.all(|(slice, size)| *slice == Slice::from(0..*size));
            InnerPart { number: self.number(&index), indices, place, is_whole }
        };
        parts.into_iter().map(part).collect()
    }

    /// Encodes an inner chunk from the elements of a view of its shape; `None` if all of them are
    /// `fill`, so that it need not be stored.
    ///
    /// # Errors
    /// As [`ChunkCodec::encode`], with the index of the inner chunk.
    pub fn encode(
        &self,
        number: usize,
        data: &[u8],
        view: &View,
        fill: &[u8],
        scratch: &mut Scratch,
    ) -> Result<Option<Vec<u8>>, ChunkError> {
        let failed = |kind: ChunkErrorKind| self.shard.inner().failed(kind);
        let mut out = Vec::new();
        let encoded = view
            .permute(self.order)
            .map_err(|error| failed(CopyError::from(error).into()))
            .and_then(|view| {
                let input = Input { data, view: &view, fill };
                self.shard.inner().encode_unless_empty(input, Empty::Leave, &mut out, scratch)
            });
        let encoded = encoded.map_err(|error| self.shard.error_in(number, error))?;
        Ok((encoded == Encoded::Chunk).then_some(out))
    }

    /// Lets `change` modify the elements of an inner chunk through a view of its shape, and encodes it
    /// again. `old` are its encoded bytes; `None` if it is not stored, and all its elements are
    /// `fill`. Returns `None` if they are afterwards.
    ///
    /// # Errors
    /// As [`ChunkCodec::decode`] and [`ChunkCodec::encode`], with the index of the inner chunk; those
    /// of `change`.
    pub fn change(
        &self,
        number: usize,
        old: Option<&mut Vec<u8>>,
        fill: &[u8],
        scratch: &mut Scratch,
        change: impl FnOnce(&View, &mut [u8]) -> Result<(), CopyError>,
    ) -> Result<Option<Vec<u8>>, ChunkError> {
        let inner = self.shard.inner();
        let failed = |error: CopyError| inner.failed(error.into());
        let run = || {
            let mut elements = match old {
                Some(old) => inner.decode_elements(old, Order::Stored, fill, scratch)?,
                None => inner.filled_elements(Order::Stored, fill, scratch)?,
            };
            let (view, bytes) = elements.parts_mut();
            let view = view.permute(&self.reverse).map_err(|error| failed(error.into()))?;
            change(&view, bytes).map_err(failed)?;
            let mut out = Vec::new();
            let encoded = inner.encode_elements(elements, fill, &mut out, scratch)?;
            Ok((encoded == Encoded::Chunk).then_some(out))
        };
        run().map_err(|error| self.shard.error_in(number, error))
    }
}
