//! From the caller to a shard: inner chunks in C order, without inner chunks of the fill value
//! only.

use std::ops::Range;

use zarr_metadata::IndexLocation;
use zarr_view::{CopyError, View};

use super::index::ABSENT;
use super::{ShardCodec, advance};
use crate::bytes_to_bytes::reserve;
use crate::chunk::{Empty, Encoded, Input, SmallChunkCopy};
use crate::error::{ChunkError, ChunkErrorKind};
use crate::length::widen;
use crate::scratch::{Scratch, ShardScratch};

impl ShardCodec {
    /// Encodes a shard into `out`, which is emptied first.
    ///
    /// The view of `input` has the shard's shape. An inner chunk is not stored if all its elements
    /// equal the fill value, bit by bit (SD-48).
    pub(crate) fn encode(
        &self,
        input: Input<'_>,
        empty: Empty,
        out: &mut Vec<u8>,
        scratch: &mut ShardScratch,
    ) -> Result<Encoded, ChunkError> {
        let ShardScratch { index, encoded, inner } = scratch;
        let mut writer = self.writer(out, index)?;
        let chunks = self.inner_chunks();
        let mut result = Encoded::Empty;
        let mut source = InnerChunks::new(self, input);
        let mut at = vec![0; self.grid.len()];
        for _ in 0..chunks {
            let content =
                source.encode(&at, encoded, inner).map_err(|error| error.in_inner_chunk(&at))?;
            match content {
                None => writer.leave_out(),
                Some(bytes) => {
                    result = Encoded::Chunk;
                    writer.append(bytes)?;
                }
            }
            advance(&mut at, self.grid.iter().copied());
        }
        if result == Encoded::Empty && empty == Empty::Leave {
            return Ok(result);
        }
        writer.finish(encoded, inner)?;
        Ok(result)
    }

    /// Begins a shard in `out`; `out` and `index` are emptied first. The writer must be given
    /// every inner chunk in C order.
    pub(crate) fn writer<'w>(
        &'w self,
        out: &'w mut Vec<u8>,
        index: &'w mut Vec<u8>,
    ) -> Result<ShardWriter<'w>, ChunkError> {
        let failed = |kind| self.place.chunk_error(kind);
        out.clear();
        index.clear();
        if self.location == IndexLocation::Start {
            reserve(out, self.index_len).map_err(failed)?;
            out.resize(self.index_len, 0);
        }
        let chunks = self.inner_chunks();
        reserve(index, chunks * 16).map_err(failed)?;
        Ok(ShardWriter { codec: self, out, index })
    }
}

/// Writes a shard: inner chunks without gaps, then the index.
pub(crate) struct ShardWriter<'w> {
    codec: &'w ShardCodec,
    out: &'w mut Vec<u8>,
    /// The entries so far.
    index: &'w mut Vec<u8>,
}

impl ShardWriter<'_> {
    /// Appends the next inner chunk.
    pub(crate) fn append(&mut self, chunk: &[u8]) -> Result<(), ChunkError> {
        let offset = widen(self.out.len());
        // Doubling, since the length of the inner chunks is not known.
        self.out.try_reserve(chunk.len()).map_err(|_| {
            self.codec.place.chunk_error(ChunkErrorKind::OutOfMemory { bytes: widen(chunk.len()) })
        })?;
        self.out.extend_from_slice(chunk);
        self.entry(offset, widen(chunk.len()));
        Ok(())
    }

    /// Marks the next inner chunk as not stored.
    pub(crate) fn leave_out(&mut self) {
        self.entry(ABSENT, ABSENT);
    }

    fn entry(&mut self, offset: u64, length: u64) {
        self.index.extend_from_slice(&offset.to_le_bytes());
        self.index.extend_from_slice(&length.to_le_bytes());
    }

    /// Writes the index; `encoded` is a buffer for it.
    pub(crate) fn finish(
        self,
        encoded: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        let Self { codec, out, index } = self;
        let failed = |kind| codec.place.chunk_error(kind);
        let whole = View::contiguous(codec.index.shape());
        let whole = whole.map_err(|error| failed(CopyError::from(error).into()))?;
        codec.index.encode(index, &whole, &[0; 8], encoded, scratch)?;
        match codec.location {
            IndexLocation::Start => {
                let place = out.get_mut(..encoded.len()).expect("room was made for the index");
                place.copy_from_slice(encoded);
            }
            IndexLocation::End => {
                reserve(out, encoded.len()).map_err(failed)?;
                out.extend_from_slice(encoded);
            }
        }
        Ok(())
    }
}

/// The elements of a shard, encoded one inner chunk at a time.
struct InnerChunks<'a> {
    codec: &'a ShardCodec,
    input: Input<'a>,
    /// If inner chunks are small: how each is encoded, and the fill value to compare it with.
    planned: Option<(SmallChunkCopy<'a>, Vec<u8>)>,
}

impl<'a> InnerChunks<'a> {
    fn new(codec: &'a ShardCodec, input: Input<'a>) -> Self {
        let unmasked = Some(input.view).filter(|view| view.mask().is_none());
        let planned =
            unmasked.and_then(|view| SmallChunkCopy::encoder(&codec.inner, view.strides()));
        let planned = planned.map(|planned| (planned, codec.inner.stored_fill(input.fill)));
        Self { codec, input, planned }
    }

    /// Encodes the inner chunk at `at`. Returns its bytes, in `out` or elsewhere, or nothing if it
    /// need not be stored.
    fn encode<'b>(
        &'b mut self,
        at: &[usize],
        out: &'b mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Option<&'b [u8]>, ChunkError> {
        let Self { codec, input, .. } = *self;
        let inner = &codec.inner;
        let Some((planned, fill)) = &mut self.planned else {
            let part = codec
                .part(input.view, at)
                .map_err(|error| codec.place.chunk_error(error.into()))?;
            let input = Input { view: &part, ..input };
            let content = inner.encode_unless_empty(input, Empty::Leave, out, scratch)?;
            return Ok((content == Encoded::Chunk).then_some(out));
        };
        // Within the view: the cells of the grid together have its shape, so nothing overflows.
        let steps = at.iter().zip(inner.shape()).zip(input.view.strides());
        let first = steps.fold(input.view.offset(), |first, ((at, size), stride)| {
            first.wrapping_add(at.wrapping_mul(*size).cast_signed().wrapping_mul(*stride))
        });
        let first = first.cast_unsigned() * inner.element_size();
        planned.encode(input.data.get(first..).unwrap_or_default(), fill, out, scratch)
    }
}

impl ShardCodec {
    /// The elements of the inner chunk at `at`.
    fn part(&self, view: &View, at: &[usize]) -> Result<View, CopyError> {
        let sizes = at.iter().zip(self.inner.shape());
        let ranges: Vec<Range<usize>> = sizes
            .map(|(at, size)| {
                let start = at * size;
                start..start + size
            })
            .collect();
        Ok(view.shrink(&ranges)?)
    }
}
