//! From a shard to the caller: each inner chunk is decoded straight to where it goes.

use std::ops::Range;

use zarr_view::{CopyError, Output, ViewError};

use super::{ShardCodec, ShardIndex, unravel};
use crate::compressor::widen;
use crate::error::{ChunkError, ChunkErrorKind};
use crate::route::{Fault, Slice};
use crate::scratch::ShardScratch;

/// A shard in memory, its index parsed.
pub(crate) struct ShardDecoder<'s> {
    codec: &'s ShardCodec,
    encoded: &'s [u8],
    index: ShardIndex,
    /// The element of inner chunks that are not there.
    fill: &'s [u8],
    scratch: &'s mut ShardScratch,
}

/// What one dimension of a region takes of one inner chunk.
struct Piece {
    /// The inner chunk.
    chunk: usize,
    /// Its indices that are taken.
    indices: Slice,
    /// Where they go in the region.
    target: Range<usize>,
}

impl<'s> ShardDecoder<'s> {
    /// Parses the index of `encoded`, a whole shard.
    pub(crate) fn new(
        codec: &'s ShardCodec,
        encoded: &'s [u8],
        fill: &'s [u8],
        scratch: &'s mut ShardScratch,
    ) -> Result<Self, ChunkError> {
        let shard_len = widen(encoded.len());
        let range = codec.index_range(shard_len);
        let bytes = range.and_then(|range| slice(encoded, &range)).ok_or_else(|| {
            let kind = ChunkErrorKind::EncodedLength { found: shard_len, least: codec.index_len() };
            ChunkError::new(&codec.place.path, &codec.place.name, kind)
        })?;
        let entries = std::mem::take(&mut scratch.index);
        let index = codec.parse_index_into(entries, bytes, Some(shard_len), &mut scratch.inner)?;
        Ok(Self { codec, encoded, index, fill, scratch })
    }

    /// Writes the whole shard to `out`, which has its shape.
    ///
    /// What `out` has masked is not decoded.
    pub(crate) fn decode_box(&mut self, out: &mut Output<'_>) -> Result<(), Fault> {
        let shape = &self.codec.shape;
        let found = out.view().shape();
        if found != shape {
            let axes = shape.iter().zip(found).enumerate();
            let mut differing = axes.filter(|(_, (src, dst))| src != dst);
            let (axis, (&src, &dst)) = differing.next().unwrap_or((0, (&0, &0)));
            return Err(CopyError::Shape { axis, src, dst }.into());
        }
        if out.view().is_masked_out() {
            return Ok(());
        }
        let valid = out.view().valid_box();
        let region: Vec<Slice> = valid.iter().cloned().map(Slice::from).collect();
        self.decode(&region, &mut out.shrink(&valid)?)
    }

    /// Writes `region` of the shard to `out`, which has the region's shape and no mask.
    pub(crate) fn decode(&mut self, region: &[Slice], out: &mut Output<'_>) -> Result<(), Fault> {
        let codec = self.codec;
        let mut axes = Vec::with_capacity(region.len());
        for ((slice, inner), count) in region.iter().zip(codec.inner.shape()).zip(&codec.grid) {
            let pieces = pieces(slice, *inner, *count)?;
            if pieces.is_empty() {
                return Ok(());
            }
            axes.push(pieces);
        }
        let mut at = vec![0_usize; axes.len()];
        loop {
            let chosen: Vec<&Piece> =
                at.iter().zip(&axes).filter_map(|(at, pieces)| pieces.get(*at)).collect();
            self.decode_chunk(&chosen, out)?;
            // The next cell, the last dimension fastest.
            let turned = at.iter_mut().zip(&axes).rev().find_map(|(at, pieces)| {
                *at = at.saturating_add(1);
                if *at < pieces.len() {
                    return Some(());
                }
                *at = 0;
                None
            });
            if turned.is_none() {
                return Ok(());
            }
        }
    }

    /// Writes the part that a region takes of one inner chunk.
    fn decode_chunk(&mut self, pieces: &[&Piece], out: &mut Output<'_>) -> Result<(), Fault> {
        let codec = self.codec;
        let number = pieces.iter().zip(&codec.grid).fold(0_usize, |number, (piece, count)| {
            number.saturating_mul(*count).saturating_add(piece.chunk)
        });
        let target: Vec<Range<usize>> = pieces.iter().map(|piece| piece.target.clone()).collect();
        let mut out = out.shrink(&target)?;
        let Some(range) = self.index.range(number) else {
            return Ok(out.fill(self.fill)?);
        };
        // Within the shard, as parsing the index has checked.
        let encoded = slice(self.encoded, &range).unwrap_or_default();
        let indices: Vec<Slice> = pieces.iter().map(|piece| piece.indices).collect();
        let decoded =
            codec.inner.decode(encoded, &indices, &mut out, self.fill, &mut self.scratch.inner);
        decoded.map_err(|error| error.in_inner_chunk(&unravel(number, &codec.grid)).into())
    }
}

impl Drop for ShardDecoder<'_> {
    fn drop(&mut self) {
        self.scratch.index = std::mem::take(&mut self.index).into_buffer();
    }
}

/// What a slice of one dimension takes of each of `count` inner chunks of `inner` indices.
fn pieces(slice: &Slice, inner: usize, count: usize) -> Result<Vec<Piece>, Fault> {
    let Slice { start, count: wanted, step } = *slice;
    let size = inner.saturating_mul(count);
    let step = step.max(1);
    let last = wanted.checked_sub(1).map(|more| more.checked_mul(step)?.checked_add(start));
    if last.is_some_and(|last| last.is_none_or(|last| last >= size)) {
        let step = isize::try_from(step).unwrap_or(isize::MAX);
        let error = ViewError::Slice { axis: 0, start, step, count: wanted, size };
        return Err(CopyError::from(error).into());
    }
    let mut pieces = Vec::new();
    let mut done = 0_usize;
    while done < wanted {
        // Below `size`, as the last index is.
        let first = start.saturating_add(done.saturating_mul(step));
        let chunk = first.checked_div(inner).unwrap_or(0);
        let within = first.checked_rem(inner).unwrap_or(0);
        let left = inner.saturating_sub(within).div_ceil(step);
        let taken = left.min(wanted.saturating_sub(done)).max(1);
        let end = done.saturating_add(taken);
        let indices = Slice { start: within, count: taken, step };
        pieces.push(Piece { chunk, indices, target: done..end });
        done = end;
    }
    Ok(pieces)
}

/// A range of the format within bytes in memory.
fn slice<'a>(bytes: &'a [u8], range: &Range<u64>) -> Option<&'a [u8]> {
    let start = usize::try_from(range.start).ok()?;
    bytes.get(start..usize::try_from(range.end).ok()?)
}

#[cfg(test)]
mod tests {
    use super::{Slice, pieces};

    #[test]
    fn pieces_are_those_that_a_walk_finds() {
        for inner in 1..=4_usize {
            for count in 1..=4_usize {
                for start in 0..inner * count {
                    for step in 1..=5 {
                        for wanted in 0..=(inner * count - start).div_ceil(step) {
                            let slice = Slice { start, count: wanted, step };
                            let mut found = Vec::new();
                            for piece in pieces(&slice, inner, count).expect("within") {
                                let Slice { start, count, step } = piece.indices;
                                assert_eq!(piece.target.len(), count);
                                for (n, target) in piece.target.enumerate() {
                                    assert!(start + n * step < inner);
                                    found.push((target, piece.chunk * inner + start + n * step));
                                }
                            }
                            let expected: Vec<_> =
                                (0..wanted).map(|n| (n, start + n * step)).collect();
                            assert_eq!(found, expected, "{slice:?} of {count} x {inner}");
                        }
                    }
                }
            }
        }
    }
}
