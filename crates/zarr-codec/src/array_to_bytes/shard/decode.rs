//! From a shard to the caller: each inner chunk is decoded directly to its place.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};
use zarr_metadata::IndexLocation;
use zarr_view::{CopyError, CopyPlan, Output, View, ViewError};

use super::{ShardCodec, ShardIndex, advance, slice};
use crate::chunk::SmallChunkCopy;
use crate::error::ChunkError;
use crate::length::widen;
use crate::per_axis::PerAxis;
use crate::scratch::ShardScratch;
use crate::transform::{NestedError, Slice};

/// A shard in memory, its index parsed.
pub(crate) struct ShardDecoder<'s> {
    codec: &'s ShardCodec,
    available: Available<'s>,
    index: Index<'s>,
    /// The element of inner chunks that are not stored.
    fill: &'s [u8],
    scratch: &'s mut ShardScratch,
}

/// The bytes of an object that hold the index of a shard.
#[derive(Debug)]
pub(crate) enum IndexBytes {
    /// This range.
    Start(Range<u64>),
    /// The last bytes, this many.
    End(u64),
}

/// The bytes of a shard that are available.
#[derive(Clone, Copy)]
pub(crate) enum Available<'s> {
    /// All bytes of the shard.
    Whole(&'s [u8]),
    /// Some parts of the shard.
    Parts {
        /// The range of each part in the shard, ascending and disjoint, and its start in `bytes`.
        parts: &'s [(Range<u64>, usize)],
        /// The parts' bytes, concatenated.
        bytes: &'s [u8],
    },
}

impl<'s> Available<'s> {
    pub(crate) fn get(self, range: &Range<u64>) -> Option<&'s [u8]> {
        match self {
            Self::Whole(bytes) => slice(bytes, range),
            Self::Parts { parts, bytes } => {
                let after = parts.partition_point(|(part, _)| part.start <= range.start);
                let (part, at) = parts.get(after.checked_sub(1)?)?;
                let ahead = range.start.checked_sub(part.start)?;
                let start = widen(*at).checked_add(ahead)?;
                let len = range.end.checked_sub(range.start)?;
                (range.end <= part.end).then(|| slice(bytes, &(start..start.checked_add(len)?)))?
            }
        }
    }
}

/// The index, read here or supplied by the caller.
enum Index<'s> {
    Read(ShardIndex),
    Kept(&'s ShardIndex),
}

impl Index<'_> {
    fn range(&self, number: usize) -> Option<Range<u64>> {
        match self {
            Self::Read(index) => index.range(number),
            Self::Kept(index) => index.range(number),
        }
    }
}

/// The part of one inner chunk that belongs to a region, in one dimension.
struct InnerAxisPart {
    /// The inner chunk.
    chunk: usize,
    /// The selected indices of the inner chunk.
    indices: Slice,
    /// Their place in the region.
    target: Range<usize>,
}

impl InnerAxisPart {
    /// Whether it covers the whole dimension, of `size` indices, of its inner chunk.
    fn is_whole(&self, size: usize) -> bool {
        self.indices == Slice::from(0..size)
    }

    /// The elements of an inner chunk, in C order, from the first to the last of those selected:
    /// `before` are the selections of the outer dimensions. A dimension has at least one index selected.
    fn elements(before: Range<usize>, (axis_part, size): (&Self, &usize)) -> Range<usize> {
        let Slice { start, count, step } = axis_part.indices;
        let reach = (count - 1) * step;
        let last = (before.end - 1) * size;
        let first = before.start * size + start;
        first..last + start + reach + 1
    }
}

/// An inner chunk that a region touches.
#[derive(Debug)]
pub(crate) struct Touched {
    /// Counted in C order.
    pub(crate) number: usize,
    /// Its elements, in C order, from the first to the last of those in the region.
    pub(crate) elements: Range<usize>,
}

impl<'s> ShardDecoder<'s> {
    /// Parses the index of `encoded`, a whole shard.
    pub(crate) fn new(
        codec: &'s ShardCodec,
        encoded: &'s [u8],
        fill: &'s [u8],
        scratch: &'s mut ShardScratch,
    ) -> Result<Self, ChunkError> {
        let entries = std::mem::take(&mut scratch.index);
        let index = codec.read_index_into(entries, encoded, &mut scratch.inner)?;
        let (available, index) = (Available::Whole(encoded), Index::Read(index));
        Ok(Self { codec, available, index, fill, scratch })
    }

    /// A shard with a decoded index and some available bytes.
    pub(crate) fn with_index(
        codec: &'s ShardCodec,
        available: Available<'s>,
        index: &'s ShardIndex,
        fill: &'s [u8],
        scratch: &'s mut ShardScratch,
    ) -> Self {
        Self { codec, available, index: Index::Kept(index), fill, scratch }
    }

    /// Writes `region` of the shard to `out`, which has the region's shape and no mask.
    pub(crate) fn decode(
        &mut self,
        region: &[Slice],
        out: &mut Output<'_>,
    ) -> Result<(), NestedError> {
        let codec = self.codec;
        let mut axes = PerAxis::with_capacity(region.len());
        for ((slice, inner), count) in region.iter().zip(codec.inner.shape()).zip(&codec.grid) {
            let axis_parts: SmallVec<[InnerAxisPart; 1]> =
                axis_parts(slice, *inner, *count)?.collect();
            if axis_parts.is_empty() {
                return Ok(());
            }
            axes.push(axis_parts);
        }
        let mut places = None;
        let mut at = PerAxis::from_elem(0_usize, axes.len());
        loop {
            let axis_parts =
                || at.iter().zip(&axes).filter_map(|(at, axis_parts)| axis_parts.get(*at));
            let number = axis_parts()
                .zip(&codec.grid)
                .fold(0_usize, |number, (axis_part, count)| number * count + axis_part.chunk);
            if axis_parts()
                .zip(codec.inner.shape())
                .all(|(axis_part, size)| axis_part.is_whole(*size))
            {
                let places = match &mut places {
                    Some(places) => places,
                    none => {
                        none.insert(Places::new(codec, self.fill, &targets(axis_parts()), out)?)
                    }
                };
                self.decode_whole(number, axis_parts(), places, out)?;
            } else {
                self.decode_part(number, axis_parts(), out)?;
            }
            if !advance(&mut at, axes.iter().map(|axis_parts| axis_parts.len())) {
                return Ok(());
            }
        }
    }

    /// Writes all of one inner chunk.
    fn decode_whole<'p>(
        &mut self,
        number: usize,
        axis_parts: impl Iterator<Item = &'p InnerAxisPart> + Clone,
        places: &mut Places<'s>,
        out: &mut Output<'_>,
    ) -> Result<(), NestedError> {
        let Places { chunks, fill, at } = places;
        at.clear();
        at.extend(axis_parts.clone().map(|axis_part| axis_part.target.start));
        match (self.index.range(number), chunks, fill) {
            (None, _, Some(fill)) => Ok(out.run_at(at, fill, self.fill, &[])?),
            (Some(range), Some(chunks), _) => {
                let encoded = self.encoded(&range);
                let decoded = chunks.decode(encoded, at, out, &mut self.scratch.inner);
                Ok(decoded.map_err(|error| self.codec.error_in(number, error))?)
            }
            _ => self.decode_part(number, axis_parts, out),
        }
    }

    /// Writes the part of one inner chunk that belongs to a region.
    fn decode_part<'p>(
        &mut self,
        number: usize,
        axis_parts: impl Iterator<Item = &'p InnerAxisPart> + Clone,
        out: &mut Output<'_>,
    ) -> Result<(), NestedError> {
        let mut out = out.shrink(&targets(axis_parts.clone()))?;
        let Some(range) = self.index.range(number) else {
            return Ok(out.fill(self.fill)?);
        };
        let indices: PerAxis<Slice> =
            axis_parts.clone().map(|axis_part| axis_part.indices).collect();
        let elements = axis_parts.zip(self.codec.inner.shape()).fold(0..1, InnerAxisPart::elements);
        if let Some(window) = self.codec.window(&range, &elements) {
            let encoded = self.encoded(&window);
            return Ok(self.codec.inner.copy_window(encoded, &indices, &mut out)?);
        }
        let encoded = self.encoded(&range);
        let (inner, scratch) = (&self.codec.inner, &mut self.scratch.inner);
        let decoded = inner.decode(encoded, &indices, &mut out, self.fill, scratch);
        Ok(decoded.map_err(|error| self.codec.error_in(number, error))?)
    }

    /// The bytes of an inner chunk. They are within the shard, as parsing the index has checked,
    /// and were fetched if only parts are available.
    fn encoded(&self, range: &Range<u64>) -> &'s [u8] {
        self.available.get(range).unwrap_or_default()
    }
}

/// The target ranges of axis_parts, one per dimension of a region.
fn targets<'p>(axis_parts: impl Iterator<Item = &'p InnerAxisPart>) -> PerAxis<Range<usize>> {
    axis_parts.map(|axis_part| axis_part.target.clone()).collect()
}

/// How whole inner chunks are copied into a region, prepared for the first of them.
struct Places<'s> {
    /// For stored chunks, if they are small.
    chunks: Option<SmallChunkCopy<'s>>,
    /// For chunks that are not stored, if the fill value is one element.
    fill: Option<CopyPlan>,
    /// The first index of the current one's place.
    at: Vec<usize>,
}

impl<'s> Places<'s> {
    /// `first` is the place in `out` of one of the chunks.
    fn new(
        codec: &'s ShardCodec,
        fill: &[u8],
        first: &[Range<usize>],
        out: &Output<'_>,
    ) -> Result<Self, CopyError> {
        let place = out.view().shrink(first)?;
        // In a masked output, each place may have other masked elements.
        if out.view().mask().is_some() {
            return Ok(Self { chunks: None, fill: None, at: Vec::new() });
        }
        let element = out.element();
        let one = View::new(place.shape(), &vec![0; place.rank()], 0)?;
        let fill =
            Some(CopyPlan::new(&one, &place, element)?).filter(|_| fill.len() == element.size());
        Ok(Self { chunks: SmallChunkCopy::decoder(&codec.inner, &place), fill, at: Vec::new() })
    }
}

impl Drop for ShardDecoder<'_> {
    fn drop(&mut self) {
        if let Index::Read(index) = &mut self.index {
            self.scratch.index = std::mem::take(index).into_buffer();
        }
    }
}

impl ShardCodec {
    /// The number of inner chunks that a region touches. `None` if it does not fit.
    pub(crate) fn count_of(&self, region: &[Slice]) -> Option<usize> {
        if region.len() != self.grid.len() {
            return None;
        }
        let mut axes = region.iter().zip(self.inner.shape()).zip(&self.grid);
        axes.try_fold(1_usize, |all, ((slice, inner), count)| {
            let fits = axis_parts(slice, *inner, *count).is_ok();
            fits.then(|| all.checked_mul(axis_part_count(slice, *inner)))?
        })
    }

    /// The inner chunks that a region touches, in C order. `None` if it does not fit.
    pub(crate) fn chunks_of(&self, region: &[Slice]) -> Option<impl IntoIterator<Item = Touched>> {
        let mut touched: SmallVec<[Touched; 4]> = smallvec![Touched { number: 0, elements: 0..1 }];
        for ((slice, inner), count) in region.iter().zip(self.inner.shape()).zip(&self.grid) {
            let axis_parts = axis_parts(slice, *inner, *count).ok()?;
            let before = std::mem::take(&mut touched);
            for Touched { number, elements } in before {
                let row = number.checked_mul(*count)?;
                touched.extend(axis_parts.clone().map(|axis_part| Touched {
                    number: row + axis_part.chunk,
                    elements: InnerAxisPart::elements(elements.clone(), (&axis_part, inner)),
                }));
            }
        }
        Some(touched)
    }

    /// The bytes of a shard that hold these elements (in C order) of the inner chunk at `stored`;
    /// `None` if all of the inner chunk's bytes are needed.
    fn window(&self, stored: &Range<u64>, elements: &Range<usize>) -> Option<Range<u64>> {
        let window = self.inner.window(elements, stored.end - stored.start)?;
        let place = |at: u64| stored.start + at;
        Some(place(window.start)..place(window.end))
    }

    /// The bytes of a shard that are needed of an inner chunk; `None` if it is not stored.
    pub(crate) fn needed(&self, index: &ShardIndex, touched: &Touched) -> Option<Range<u64>> {
        let stored = index.range(touched.number)?;
        Some(self.window(&stored, &touched.elements).unwrap_or(stored))
    }

    /// The bytes that hold the index in an object with `after` bytes after the shard. If the
    /// index is at the end, they include those bytes.
    pub(crate) fn index_bytes(&self, after: u64) -> IndexBytes {
        let len = self.index_len();
        match self.location {
            IndexLocation::Start => IndexBytes::Start(0..len),
            IndexLocation::End => IndexBytes::End(len + after),
        }
    }

    /// The index within the bytes of [`index_bytes`](ShardCodec::index_bytes).
    pub(crate) fn index_of<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes.get(..self.index_len).unwrap_or(bytes)
    }
}

/// The part of each of `count` inner chunks, of `inner` indices each, that a slice of one
/// dimension selects.
fn axis_parts(
    slice: &Slice,
    inner: usize,
    count: usize,
) -> Result<impl Iterator<Item = InnerAxisPart> + Clone, NestedError> {
    let Slice { start, count: wanted, step } = *slice;
    let size = inner * count;
    let step = step.max(1);
    let last = wanted.checked_sub(1).map(|more| more.checked_mul(step)?.checked_add(start));
    if last.is_some_and(|last| last.is_none_or(|last| last >= size)) {
        let step = isize::try_from(step).unwrap_or(isize::MAX);
        let error = ViewError::Slice { axis: 0, start, step, count: wanted, size };
        return Err(CopyError::from(error).into());
    }
    let mut done = 0_usize;
    Ok(std::iter::from_fn(move || {
        if done >= wanted {
            return None;
        }
        let first = start + done * step;
        let (chunk, within) = (first / inner, first % inner);
        let left = (inner - within).div_ceil(step);
        let taken = left.min(wanted - done).max(1);
        let target = done..done + taken;
        done = target.end;
        Some(InnerAxisPart { chunk, indices: Slice { start: within, count: taken, step }, target })
    }))
}

/// The number of parts that [`axis_parts`] gives for a slice that fits.
fn axis_part_count(slice: &Slice, inner: usize) -> usize {
    let Slice { start, count, step } = *slice;
    let Some(more) = count.checked_sub(1).filter(|_| step < inner) else { return count };
    (start + more * step) / inner - start / inner + 1
}

#[cfg(test)]
mod tests {
    use super::{Slice, axis_part_count, axis_parts};

    #[test]
    fn pieces_are_those_that_a_walk_finds() {
        for inner in 1..=4_usize {
            for count in 1..=4_usize {
                for start in 0..inner * count {
                    for step in 1..=5 {
                        for wanted in 0..=(inner * count - start).div_ceil(step) {
                            let slice = Slice { start, count: wanted, step };
                            let mut found = Vec::new();
                            let parts = || axis_parts(&slice, inner, count).expect("within");
                            assert_eq!(axis_part_count(&slice, inner), parts().count());
                            for axis_part in parts() {
                                let Slice { start, count, step } = axis_part.indices;
                                assert_eq!(axis_part.target.len(), count);
                                for (n, target) in axis_part.target.enumerate() {
                                    assert!(start + n * step < inner);
                                    found
                                        .push((target, axis_part.chunk * inner + start + n * step));
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
