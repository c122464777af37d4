//! A region and the chunks that it touches: what moves from where to where.

use std::ops::Range;

use zarr_codec::Slice;
use zarr_grid::{ChunkPart, PartIndices, SelectedAxis, SelectedChunks};
use zarr_view::{CopyError, Output, View};

use crate::array::Array;
use crate::error::ArrayError;
use crate::region::Region;

/// Bytes of a region's elements.
pub(crate) fn region_len(region: &Region, element_size: usize) -> Result<usize, ArrayError> {
    let length = region
        .elements()
        .and_then(|elements| usize::try_from(elements).ok()?.checked_mul(element_size));
    length
        .filter(|length| isize::try_from(*length).is_ok())
        .ok_or_else(|| too_large(region, element_size))
}

pub(crate) fn too_large(region: &Region, element_size: usize) -> ArrayError {
    let elements = region.axes().iter().fold(1_u128, |n, axis| n.saturating_mul(axis.count.into()));
    ArrayError::RegionTooLarge { elements, element_size }
}

/// Bytes of so many elements of this size, `None` past what a buffer can hold.
pub(crate) fn bytes_of(counts: &[usize], element_size: usize) -> Option<usize> {
    if counts.contains(&0) {
        return Some(0);
    }
    let bytes = counts.iter().try_fold(element_size, |bytes, count| bytes.checked_mul(*count));
    bytes.filter(|bytes| isize::try_from(*bytes).is_ok())
}

/// The first `length` bytes of memory that is used again, whatever they hold.
pub(crate) fn room(buffer: &mut Vec<u8>, length: usize) -> Result<&mut [u8], CopyError> {
    if buffer.len() < length {
        *buffer = zarr_view::zeroed(length)?;
    }
    Ok(buffer.get_mut(..length).unwrap_or_default())
}

/// Refuses a buffer that is not as long as the elements that belong there.
pub(crate) fn check_length(found: usize, expected: usize) -> Result<(), ArrayError> {
    if found == expected {
        return Ok(());
    }
    let wide = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
    Err(ArrayError::BufferLength { found: wide(found), expected: wide(expected) })
}

/// What is number `linear` in C order of so many on each axis: its number on each.
pub(crate) fn number(
    mut linear: u64,
    counts: impl DoubleEndedIterator<Item = usize>,
) -> Vec<usize> {
    let mut number: Vec<usize> = counts
        .rev()
        .map(|count| {
            let count = u64::try_from(count).unwrap_or(u64::MAX).max(1);
            let at = linear % count;
            linear /= count;
            narrow(at)
        })
        .collect();
    number.reverse();
    number
}

/// Why a part of a region is no list of indices.
const STEPS_ONLY: &str = "a region selects with steps only";

/// The part of a region that lies in one chunk.
pub(crate) struct Part<'a> {
    /// Number of the chunk on each axis.
    pub(crate) chunk: &'a [u64],
    /// Its shape as it is stored.
    pub(crate) chunk_shape: &'a [u64],
    /// The part's indices within the chunk.
    pub(crate) in_chunk: &'a [Slice],
    /// The part's place in the caller's elements, a box.
    pub(crate) in_region: &'a [Range<usize>],
    /// Number of the part on each axis, of those that the region has.
    pub(crate) number: &'a [usize],
    /// Whether the part is all of the chunk that lies within the array.
    pub(crate) is_whole: bool,
}

impl<'a> Part<'a> {
    /// These elements of a chunk, wherever they go.
    pub(crate) fn of_chunk(
        chunk: &'a [u64],
        chunk_shape: &'a [u64],
        in_chunk: &'a [Slice],
        is_whole: bool,
    ) -> Self {
        Self { chunk, chunk_shape, in_chunk, in_region: &[], number: &[], is_whole }
    }

    /// Whether the part is all of the chunk as it is stored: nothing of it lies past the array's
    /// end, where others may have appended.
    pub(crate) fn fills_chunk(&self) -> bool {
        let mut axes = self.in_chunk.iter().zip(self.chunk_shape);
        self.is_whole && axes.all(|(slice, edge)| slice.count == narrow(*edge))
    }
}

/// The elements of parts, in memory that is used again from part to part.
#[derive(Default)]
struct Places {
    in_chunk: Vec<Slice>,
    in_region: Vec<Range<usize>>,
}

impl Places {
    fn part<'a>(&'a mut self, part: &'a ChunkPart<'_>, number: &'a [usize]) -> Part<'a> {
        self.in_chunk.clear();
        self.in_region.clear();
        for axis in part.axes() {
            // All numbers are within the caller's buffer or the chunk, whose codec checks that the
            // address space holds it.
            let PartIndices::Step { in_chunk: start, step, in_selection, len } = axis.indices
            else {
                unreachable!("{STEPS_ONLY}");
            };
            let (count, first) = (narrow(len), narrow(in_selection));
            self.in_chunk.push(Slice { start: narrow(start), count, step: narrow(step) });
            self.in_region.push(first..first.saturating_add(count));
        }
        let Self { in_chunk, in_region } = self;
        let (chunk, chunk_shape) = (part.chunk(), part.chunk_shape());
        Part { chunk, chunk_shape, in_chunk, in_region, number, is_whole: part.is_whole() }
    }
}

/// A region of an array against a buffer of the caller's.
pub(crate) struct Transfer<'a> {
    selection: SelectedChunks<'a>,
    /// Where each axis's parts start in the region, the first aside.
    cuts: Vec<Vec<usize>>,
    view: View,
}

impl<'a> Transfer<'a> {
    /// Checks the region against the array, and the length of the buffer against the region.
    pub(crate) fn new(
        array: &'a Array,
        region: &Region,
        buffer_len: usize,
    ) -> Result<Self, ArrayError> {
        region.check(array.shape())?;
        check_length(buffer_len, region_len(region, array.element_size())?)?;
        let counts: Vec<usize> = region.axes().iter().map(|axis| narrow(axis.count)).collect();
        let mut view = View::contiguous(&counts).map_err(CopyError::from)?;
        for (axis, indices) in region.axes().iter().enumerate() {
            if indices.step < 0 {
                view = view.flip(axis).map_err(CopyError::from)?;
            }
        }
        let grid_error =
            |cause| ArrayError::Grid { key: array.prefix().as_str().to_owned(), cause };
        let selection = array.grid().select(&region.selects()).map_err(grid_error)?;
        let starts = |axis: &SelectedAxis<'_>| {
            axis.parts().skip(1).map(|part| narrow(part.in_selection().start)).collect()
        };
        let cuts = selection.axes().iter().map(starts).collect();
        Ok(Self { selection, cuts, view })
    }

    /// The caller's elements in the array's direction: axes read backwards are flipped.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// How many chunks hold any of the region's elements.
    pub(crate) fn parts(&self) -> u64 {
        self.selection.len()
    }

    /// The numbers of these chunks on each axis.
    pub(crate) fn chunks(&self) -> Vec<Vec<u64>> {
        let axes = self.selection.axes().iter();
        axes.map(|axis| axis.parts().map(|part| part.chunk).collect()).collect()
    }

    /// The caller's elements cut into the parts' places, to be written from several threads.
    pub(crate) fn cut<'o>(
        &self,
        out: &'o mut [u8],
        element_size: usize,
    ) -> Result<zarr_view::OutputGrid<'o>, CopyError> {
        Output::new(out, &self.view, element_size)?.grid(&self.cuts)
    }

    /// As [`cut`](Transfer::cut), for threads that outlive the caller.
    #[cfg(feature = "async")]
    pub(crate) fn cut_owned(
        &self,
        out: Vec<u8>,
        element_size: usize,
    ) -> Result<zarr_view::OwnedGrid, CopyError> {
        zarr_view::OwnedGrid::new(out, &self.view, element_size, &self.cuts)
    }

    /// Calls `visit` with the parts numbered in `range`, in C order of the chunks.
    pub(crate) fn for_each_part(
        &self,
        range: Range<u64>,
        mut visit: impl FnMut(&Part<'_>) -> Result<(), ArrayError>,
    ) -> Result<(), ArrayError> {
        let counts = self.cuts.iter().map(|cuts| cuts.len().saturating_add(1));
        let mut number = number(range.start, counts);
        let mut parts = self.selection.parts().range(range);
        let mut places = Places::default();
        while let Some(part) = parts.next_part() {
            visit(&places.part(part, &number))?;
            for (at, cuts) in number.iter_mut().zip(&self.cuts).rev() {
                *at = if *at < cuts.len() { at.saturating_add(1) } else { 0 };
                if *at > 0 {
                    break;
                }
            }
        }
        Ok(())
    }
}

pub(crate) fn narrow(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
