//! From the caller to a shard: inner chunks in C order, without those that hold only the fill
//! value.

use std::ops::Range;

use zarr_metadata::IndexLocation;
use zarr_view::{CopyError, View};

use super::index::ABSENT;
use super::{ShardCodec, advance};
use crate::bytes_to_bytes::{reserve, widen};
use crate::chunk::{Empty, Encoded, Input, SmallChunkCopy};
use crate::error::{ChunkError, ChunkErrorKind};
use crate::scratch::{Scratch, ShardScratch};

impl ShardCodec {
    /// Encodes a shard into `out`, which is emptied first.
    ///
    /// The view of `input` has the shard's shape. An inner chunk whose elements all equal the fill
    /// value, bit by bit (SD-48), is left out.
    pub(crate) fn encode(
        &self,
        input: Input<'_>,
        empty: Empty,
        out: &mut Vec<u8>,
        scratch: &mut ShardScratch,
    ) -> Result<Encoded, ChunkError> {
        let failed = |kind| self.place.chunk_error(kind);
        let ShardScratch { index, encoded, inner } = scratch;
        out.clear();
        index.clear();
        if self.location == IndexLocation::Start {
            reserve(out, self.index_len).map_err(failed)?;
            out.resize(self.index_len, 0);
        }
        let chunks = self.grid.iter().fold(1_usize, |n, count| n.saturating_mul(*count));
        reserve(index, chunks.saturating_mul(16)).map_err(failed)?;
        let mut result = Encoded::Empty;
        let mut source = InnerChunks::new(self, input);
        let mut at = vec![0; self.grid.len()];
        for _ in 0..chunks {
            let content =
                source.encode(&at, encoded, inner).map_err(|error| error.in_inner_chunk(&at))?;
            let (offset, length) = match content {
                None => (ABSENT, ABSENT),
                Some(bytes) => {
                    result = Encoded::Chunk;
                    let offset = widen(out.len());
                    // Doubling, since the length of the inner chunks is not known.
                    out.try_reserve(bytes.len()).map_err(|_| {
                        failed(ChunkErrorKind::OutOfMemory { bytes: widen(bytes.len()) })
                    })?;
                    out.extend_from_slice(bytes);
                    (offset, widen(bytes.len()))
                }
            };
            index.extend_from_slice(&offset.to_le_bytes());
            index.extend_from_slice(&length.to_le_bytes());
            advance(&mut at, self.grid.iter().copied());
        }
        if result == Encoded::Empty && empty == Empty::Leave {
            return Ok(result);
        }
        let whole = View::contiguous(self.index.shape());
        let whole = whole.map_err(|error| failed(CopyError::from(error).into()))?;
        self.index.encode(index, &whole, &[0; 8], encoded, inner)?;
        match self.location {
            IndexLocation::Start => {
                let place = out.get_mut(..encoded.len()).expect("room was made for the index");
                place.copy_from_slice(encoded);
            }
            IndexLocation::End => {
                reserve(out, encoded.len()).map_err(failed)?;
                out.extend_from_slice(encoded);
            }
        }
        Ok(result)
    }
}

/// The elements of a shard, encoded one inner chunk at a time.
struct InnerChunks<'a> {
    codec: &'a ShardCodec,
    input: Input<'a>,
    /// If inner chunks are small: how each is encoded, and what it is compared with.
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
        // Within the view, whose shape the grid's cells make up, so nothing overflows.
        let steps = at.iter().zip(inner.shape()).zip(input.view.strides());
        let first = steps.fold(input.view.offset(), |first, ((at, size), stride)| {
            first.wrapping_add(at.wrapping_mul(*size).cast_signed().wrapping_mul(*stride))
        });
        let first = first.cast_unsigned().saturating_mul(inner.element_size());
        planned.encode(input.data.get(first..).unwrap_or_default(), fill, out, scratch)
    }
}

impl ShardCodec {
    /// The elements of the inner chunk at `at`.
    fn part(&self, view: &View, at: &[usize]) -> Result<View, CopyError> {
        let sizes = at.iter().zip(self.inner.shape());
        let ranges: Vec<Range<usize>> = sizes
            .map(|(at, size)| {
                let start = at.saturating_mul(*size);
                start..start.saturating_add(*size)
            })
            .collect();
        Ok(view.shrink(&ranges)?)
    }
}
