//! Reads the pieces of a part of a chunk, several by one request.

use std::borrow::Cow;
use std::ops::{Deref, Range};
use std::sync::Arc;

use smallvec::SmallVec;
use zarr_codec::{ChunkCodec, ChunkError, ChunkReader, Need, Scratch, ShardIndex, Slice};
use zarr_view::{CopyError, Output, View};

use crate::counts::{PerAxis, bytes_of, narrow};
use crate::selection::gather::GatherBuffers;
use crate::selection::pieces::{MOST_RANGES, PieceLimits, Pieces, Target};
use crate::transfer::ChunkRegion;

/// Readers of the pieces of a part, batch after batch. The pieces of a batch are fetched together: as
/// many as their encoded bytes allow.
pub(crate) struct PieceReaders<C> {
    codec: C,
    /// `None` if the part is one piece.
    pieces: Option<Arc<Pieces>>,
    limits: PieceLimits,
    /// Whether all bytes of the chunk are read, so that they are checked.
    whole: bool,
    /// The readers of the current batch, and the number of the first of them.
    batch: SmallVec<[ChunkReader<C>; 1]>,
    first: usize,
    /// If the batch has several readers: the ranges that they need together, with the start of each in
    /// the fetched bytes.
    ranges: Vec<Range<u64>>,
    starts: Vec<usize>,
}

impl<C: Deref<Target = ChunkCodec> + Clone> PieceReaders<C> {
    /// Begins to read a part.
    pub(crate) fn new(
        codec: C,
        part: &ChunkRegion<'_>,
        pieces: Option<Arc<Pieces>>,
        limits: PieceLimits,
        whole: bool,
    ) -> Self {
        let (batch, ranges, starts) = (SmallVec::new(), Vec::new(), Vec::new());
        // In several pieces everything is checked, too: see `Pieces::new`.
        let is_one = pieces.as_ref().is_none_or(|pieces| pieces.len() == 1);
        let whole = whole || part.is_whole && is_one;
        Self { codec, pieces, limits, whole, batch, first: 0, ranges, starts }
    }

    /// The number of pieces.
    fn len(&self) -> usize {
        self.pieces.as_ref().map_or(1, |pieces| pieces.len())
    }

    /// Whether the whole part has been read.
    pub(crate) fn is_done(&self) -> bool {
        self.batch.is_empty() && self.first >= self.len()
    }

    /// Whether the index of a shard is needed next; it is needed before the first batch.
    pub(crate) fn needs_index(&self) -> bool {
        matches!(self.batch.as_slice(), [reader] if reader.needs_index())
    }

    /// The index of the shard, once it has been read.
    pub(crate) fn index(&self) -> Option<&Arc<ShardIndex>> {
        self.batch.first()?.index()
    }

    /// Whether the part is read piece by piece.
    pub(crate) fn is_cut(&self) -> bool {
        self.pieces.is_some()
    }

    /// Begins the next batch. `view` is that of the part.
    pub(crate) fn begin(
        &mut self,
        part: &ChunkRegion<'_>,
        view: &View,
        index: Option<&Arc<ShardIndex>>,
    ) -> Result<(), CopyError> {
        self.first += self.batch.len();
        self.batch.clear();
        self.ranges.clear();
        let mut bytes = 0_u64;
        for number in self.first..self.len() {
            let mut reader = self.reader(part, view, number)?;
            if self.whole {
                self.batch.push(reader);
                continue;
            }
            if let Some(index) = index {
                reader.use_index(Arc::clone(index));
            }
            if self.pieces.is_none() {
                self.batch.push(reader);
                break;
            }
            let ranges = match reader.need() {
                // The bytes of all serve every piece.
                Need::All => {
                    self.whole = true;
                    self.batch.clear();
                    return self.begin(part, view, index);
                }
                Need::Ranges(ranges) if !reader.needs_index() => ranges,
                _ => {
                    self.batch.push(reader);
                    break;
                }
            };
            let len = |range: &Range<u64>| range.end - range.start;
            bytes = ranges.iter().map(len).fold(bytes, u64::saturating_add);
            let count = self.ranges.len().saturating_add(ranges.len());
            let is_full = bytes > self.limits.bytes || count > MOST_RANGES;
            if is_full && !self.batch.is_empty() {
                break;
            }
            self.ranges.extend_from_slice(ranges);
            self.batch.push(reader);
        }
        if self.batch.len() > 1 {
            self.join_ranges();
        }
        Ok(())
    }

    /// Joins the ranges of all readers where they overlap or lie near each other.
    fn join_ranges(&mut self) {
        let Self { ranges, starts, limits, .. } = self;
        ranges.retain(|range| !range.is_empty());
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        ranges.dedup_by(|range, last| {
            let is_near = range.start <= last.end.saturating_add(limits.range_cost);
            if is_near {
                last.end = last.end.max(range.end);
            }
            is_near
        });
        starts.clear();
        let mut next = 0_usize;
        for range in ranges {
            starts.push(next);
            next = next.saturating_add(narrow(range.end.saturating_sub(range.start)));
        }
    }

    fn region<'p>(&'p self, part: &ChunkRegion<'p>, number: usize) -> Cow<'p, [Slice]> {
        match &self.pieces {
            None => Cow::Borrowed(part.in_chunk),
            Some(pieces) => pieces.region(number),
        }
    }

    fn reader(
        &self,
        part: &ChunkRegion<'_>,
        view: &View,
        number: usize,
    ) -> Result<ChunkReader<C>, CopyError> {
        let Self { codec, limits: PieceLimits { range_cost, .. }, .. } = self;
        let region = self.region(part, number);
        if self.whole {
            return Ok(ChunkReader::whole(codec.clone(), &region));
        }
        let new = |view: &View| ChunkReader::new(codec.clone(), &region, view, *range_cost);
        Ok(match self.pieces.as_ref().map(|pieces| pieces.target(number)) {
            None => new(view),
            Some(Target::Box(ranges)) => new(&view.shrink(&ranges)?),
            Some(Target::Moves(_)) => new(&View::contiguous(&counts(&region))?),
        })
    }

    /// The bytes that the batch needs.
    pub(crate) fn need(&self) -> Need<'_> {
        match self.batch.as_slice() {
            [] => Need::Nothing,
            [reader] => reader.need(),
            _ if self.whole => Need::All,
            _ => Need::Ranges(&self.ranges),
        }
    }

    /// Whether the batch needs no bytes: none of its inner chunks is stored.
    pub(crate) fn is_free(&self) -> bool {
        matches!(self.need(), Need::Ranges(ranges) if ranges.iter().all(Range::is_empty))
    }

    /// Takes the bytes of the index.
    pub(crate) fn supply_index(
        &mut self,
        bytes: &[u8],
        object_len: u64,
        scratch: &mut Scratch,
    ) -> Result<Option<Arc<ShardIndex>>, ChunkError> {
        let Some(reader) = self.batch.first_mut() else { return Ok(None) };
        reader.supply_index(bytes, Some(object_len), scratch)?;
        let index = reader.index().cloned();
        // The batch begins again, with the index.
        self.batch.clear();
        Ok(index)
    }

    /// Takes the bytes of the batch, and decodes its pieces to their places in `out`.
    pub(crate) fn supply(
        &mut self,
        bytes: &[u8],
        object_len: Option<u64>,
        out: &mut Output<'_>,
        fill: &[u8],
        scratch: &mut Scratch,
        buffers: &mut GatherBuffers,
    ) -> Result<(), PieceError> {
        let Self { pieces, batch, first, ranges, starts, .. } = self;
        let is_alone = batch.len() == 1;
        let mut gathered = std::mem::take(&mut buffers.ranges);
        for (reader, number) in batch.iter_mut().zip(*first..) {
            let bytes = match reader.need() {
                Need::Ranges(needed) if !is_alone => {
                    part_of(bytes, ranges, starts, needed, &mut gathered)
                }
                _ => bytes,
            };
            match pieces.as_ref().map(|pieces| (pieces, pieces.target(number))) {
                None => reader.supply(bytes, object_len, out, fill, scratch)?,
                Some((_, Target::Box(ranges))) => {
                    reader.supply(bytes, object_len, &mut out.shrink(&ranges)?, fill, scratch)?;
                }
                Some((pieces, Target::Moves(moves))) => {
                    let shape = counts(&pieces.region(number));
                    let size = out.element_size();
                    let too_large = || CopyError::Memory { bytes: usize::MAX };
                    let length = bytes_of(&shape, size).ok_or_else(too_large)?;
                    let part = bytes_of(pieces.part_shape(), size).ok_or_else(too_large)?;
                    let view = View::contiguous(&shape).map_err(CopyError::from)?;
                    let around = buffers.room(length)?;
                    let mut to = Output::new(around, &view, size)?;
                    reader.supply(bytes, object_len, &mut to, fill, scratch)?;
                    if let Some(place) = out.as_mut_slice() {
                        moves.run(around, place);
                    } else {
                        let (around, part) = buffers.rooms(length, part)?;
                        moves.run(around, part);
                    }
                }
            }
        }
        buffers.ranges = gathered;
        Ok(())
    }

    /// Moves the elements that were gathered in a buffer to `out`, after the last batch.
    pub(crate) fn finish(
        &self,
        out: &mut Output<'_>,
        buffers: &mut GatherBuffers,
    ) -> Result<(), CopyError> {
        let has_moves = self.pieces.as_ref().is_some_and(|pieces| pieces.has_moves());
        if !has_moves || out.as_mut_slice().is_some() {
            return Ok(());
        }
        let length = out.view().len() * out.element_size();
        let (_, part) = buffers.rooms(0, length)?;
        let view = View::contiguous(out.view().shape())?;
        out.copy_from(&view, part, out.element(), &[])
    }
}

/// Why a batch could not be decoded.
pub(crate) enum PieceError {
    Chunk(ChunkError),
    Copy(CopyError),
}

impl From<ChunkError> for PieceError {
    fn from(error: ChunkError) -> Self {
        Self::Chunk(error)
    }
}

impl From<CopyError> for PieceError {
    fn from(error: CopyError) -> Self {
        Self::Copy(error)
    }
}

fn counts(region: &[Slice]) -> PerAxis<usize> {
    region.iter().map(|slice| slice.count).collect()
}

/// The bytes of the `needed` ranges, concatenated, from those of ranges that contain them.
fn part_of<'b>(
    bytes: &'b [u8],
    ranges: &[Range<u64>],
    starts: &[usize],
    needed: &[Range<u64>],
    gathered: &'b mut Vec<u8>,
) -> &'b [u8] {
    let find = |range: &Range<u64>| {
        let after = ranges.partition_point(|found| found.start <= range.start);
        let at = after.checked_sub(1)?;
        let ahead = narrow(range.start.checked_sub(ranges.get(at)?.start)?);
        let start = starts.get(at)?.checked_add(ahead)?;
        bytes.get(start..start.checked_add(narrow(range.end.checked_sub(range.start)?))?)
    };
    // Ranges that were fetched are found; a decoder reports bytes that are missing.
    match needed {
        [range] => find(range).unwrap_or_default(),
        needed => {
            gathered.clear();
            needed.iter().filter_map(find).for_each(|range| gathered.extend_from_slice(range));
            gathered
        }
    }
}
