//! A selection and the chunks that it touches: which elements move from where to where.

use std::mem;
use std::ops::Range;
use std::sync::Arc;

use zarr_codec::Slice;
use zarr_grid::{
    AxisPart, AxisSelection, ChunkPart, ChunkParts, PartIndices, SelectedAxis, SelectedChunks,
};
use zarr_view::{CopyError, Output, View};

use crate::counts::{PerAxis, bytes_of, narrow, number, wide};
use crate::error::ArrayError;
use crate::layout::ChunkLayout;
use crate::selection::Selection;
use crate::selection::gather::{as_slice, slice_around};
use crate::selection::index_moves::{IndexMoves, Pair};
use crate::selection::pieces::{AxisIndices, Pieces};

/// Refuses a buffer with another length than its elements.
pub(crate) fn check_length(found: usize, expected: usize) -> Result<(), ArrayError> {
    if found == expected {
        return Ok(());
    }
    Err(ArrayError::BufferLength { found: wide(found), expected: wide(expected) })
}

/// The part of a selection that lies in one chunk.
pub(crate) struct ChunkRegion<'a> {
    /// Number of the chunk on each axis.
    pub(crate) chunk: &'a [u64],
    /// Its shape as it is stored.
    pub(crate) chunk_shape: &'a [u64],
    /// The box of the chunk's indices to read: the part itself or, for a list without a constant
    /// step, the box around it.
    pub(crate) in_chunk: &'a [Slice],
    /// The part's place in the caller's elements: a box of [`Transfer::view`].
    pub(crate) place: &'a [Range<usize>],
    /// Number of the part on each axis, among the parts of the selection.
    pub(crate) number: &'a [usize],
    /// Whether the part covers all of the chunk within the array.
    pub(crate) is_whole: bool,
    /// The selection along each axis, if there are lists.
    lists: Option<&'a [AxisPart<'a>]>,
    /// As `lists`, of a region that is kept: the list of each axis that has one.
    owned_lists: &'a [Option<Vec<u64>>],
    /// Boxes around points; the elements of the part are the points.
    pub(crate) points: Option<&'a Arc<Pieces>>,
}

impl<'a> ChunkRegion<'a> {
    /// A box of a chunk, for any destination.
    pub(crate) fn of_chunk(
        chunk: &'a [u64],
        chunk_shape: &'a [u64],
        in_chunk: &'a [Slice],
        is_whole: bool,
    ) -> Self {
        let (place, number, owned_lists): (&[_], &[_], &[_]) = (&[], &[], &[]);
        let (lists, points) = (None, None);
        Self { chunk, chunk_shape, in_chunk, place, number, is_whole, lists, owned_lists, points }
    }

    /// Points of a chunk, for a destination of one axis. `is_whole`: whether they are read with the
    /// whole chunk around them.
    pub(crate) fn of_points(
        chunk: &'a [u64],
        chunk_shape: &'a [u64],
        points: &'a Arc<Pieces>,
        is_whole: bool,
    ) -> Self {
        Self { points: Some(points), ..Self::of_chunk(chunk, chunk_shape, &[], is_whole) }
    }

    /// The indices of the chunk to read, on each axis.
    pub(crate) fn indices(&self) -> impl Iterator<Item = AxisIndices<'a>> + Clone + use<'a> {
        let Self { lists, owned_lists, in_chunk, .. } = *self;
        in_chunk.iter().enumerate().map(move |(number, slice)| {
            let owned = || owned_lists.get(number)?.as_deref();
            let listed = lists.and_then(|axes| match axes.get(number)?.indices {
                PartIndices::List { in_chunk, .. } => Some(in_chunk),
                PartIndices::Step { .. } => None,
            });
            match listed.or_else(owned) {
                Some(list) if as_slice(list).is_none() => AxisIndices::List(list),
                _ => AxisIndices::Slice(*slice),
            }
        })
    }

    /// Whether the part is not a box with steps.
    pub(crate) fn has_lists(&self) -> bool {
        self.lists.is_some() || !self.owned_lists.is_empty()
    }

    /// The same part, to be kept.
    #[cfg(feature = "async")]
    pub(crate) fn to_owned(&self) -> OwnedRegion {
        let lists = self.indices().map(|axis| match axis {
            AxisIndices::List(list) => Some(list.to_vec()),
            AxisIndices::Slice(_) => None,
        });
        OwnedRegion {
            chunk: self.chunk.to_vec(),
            chunk_shape: self.chunk_shape.to_vec(),
            in_chunk: self.in_chunk.to_vec(),
            is_whole: self.is_whole,
            lists: if self.has_lists() { lists.collect() } else { Vec::new() },
        }
    }

    /// Whether the part covers all of the chunk as stored: no element of it is past the array's
    /// end, where others may have appended.
    pub(crate) fn fills_chunk(&self) -> bool {
        if self.points.is_some() {
            return false;
        }
        let mut axes = self.in_chunk.iter().zip(self.chunk_shape);
        self.is_whole && axes.all(|(slice, edge)| slice.count == narrow(*edge))
    }
}

/// A part of a chunk that outlives the walk over the chunks.
pub(crate) struct OwnedRegion {
    pub(crate) chunk: Vec<u64>,
    pub(crate) chunk_shape: Vec<u64>,
    pub(crate) in_chunk: Vec<Slice>,
    pub(crate) is_whole: bool,
    /// The list of each axis that is selected by one; empty if none is.
    pub(crate) lists: Vec<Option<Vec<u64>>>,
}

impl OwnedRegion {
    pub(crate) fn region(&self) -> ChunkRegion<'_> {
        let Self { chunk, chunk_shape, in_chunk, is_whole, lists } = self;
        ChunkRegion {
            owned_lists: lists,
            ..ChunkRegion::of_chunk(chunk, chunk_shape, in_chunk, *is_whole)
        }
    }
}

/// The elements of parts, in memory that is reused from part to part.
#[derive(Default)]
struct Boxes {
    in_chunk: PerAxis<Slice>,
    place: PerAxis<Range<usize>>,
}

impl Boxes {
    fn part<'a>(
        &'a mut self,
        transfer: &Transfer<'_>,
        part: &'a ChunkPart<'_>,
        number: &'a [usize],
    ) -> ChunkRegion<'a> {
        self.in_chunk.clear();
        self.place.clear();
        // All numbers are within the caller's buffer or the chunk; the chunk's codec checks that it
        // fits the address space.
        let all = transfer.selected.shape.iter().zip(&transfer.list_cuts);
        for ((axis, (size, cuts)), number) in part.axes().iter().zip(all).zip(number) {
            let start = match axis.indices {
                PartIndices::Step { in_chunk, step, len, in_selection, reversed } => {
                    let (start, count) = (narrow(in_chunk), narrow(len));
                    self.in_chunk.push(Slice { start, count, step: narrow(step) });
                    // The view of an axis that is read backwards is flipped.
                    let before = narrow(in_selection);
                    if reversed { size - (before + count) } else { before }
                }
                PartIndices::List { in_chunk, .. } => {
                    self.in_chunk.push(slice_around(in_chunk));
                    number.checked_sub(1).map_or(0, |last| cuts[last])
                }
            };
            self.place.push(start..start + narrow(axis.len()));
        }
        let Self { in_chunk, place } = self;
        let (chunk, chunk_shape) = (part.chunk(), part.chunk_shape());
        let (is_whole, lists) = (part.is_whole(), transfer.has_lists.then_some(part.axes()));
        ChunkRegion {
            place,
            number,
            lists,
            ..ChunkRegion::of_chunk(chunk, chunk_shape, in_chunk, is_whole)
        }
    }
}

/// A selection checked against an array.
pub(crate) struct Selected<'a> {
    pub(crate) chunks: SelectedChunks<'a>,
    /// The shape, including the axes given by one index.
    pub(crate) shape: PerAxis<usize>,
    element_size: usize,
    /// Bytes of the elements.
    pub(crate) length: usize,
}

impl<'a> Selected<'a> {
    /// Memory is proportional to the selection's own lists.
    pub(crate) fn in_layout(
        layout: &'a ChunkLayout,
        element_size: usize,
        selection: &Selection,
    ) -> Result<Self, ArrayError> {
        let chunks = layout.select(selection)?;
        let shape: PerAxis<usize> = chunks.shape().iter().map(|count| narrow(*count)).collect();
        let length = bytes_of(&shape, element_size);
        let mut selected = Self { chunks, shape, element_size, length: 0 };
        selected.length = length.ok_or_else(|| selected.too_large())?;
        Ok(selected)
    }

    pub(crate) fn too_large(&self) -> ArrayError {
        let counts = self.chunks.shape().iter();
        let elements = counts.fold(1_u128, |n, count| n.saturating_mul((*count).into()));
        ArrayError::SelectionTooLarge { elements, element_size: self.element_size }
    }

    /// The moves from the order in which parts are read to the order of the selection; `None` if
    /// they are equal, because all lists are in the order of the chunks. Memory is proportional to
    /// the elements, for which there must be room.
    pub(crate) fn order(&self) -> Option<IndexMoves> {
        let axes = self.chunks.axes().iter();
        // No memory for indices of axes without lists: it would be many times the memory of the elements.
        if self.length == 0 || !axes.clone().any(is_list) {
            return None;
        }
        let mut same = true;
        let pairs: Vec<Vec<Pair>> = axes
            .map(|axis| {
                let mut pairs = Vec::with_capacity(narrow(axis.len()));
                for part in axis.parts() {
                    let len = pairs.len();
                    match part.indices {
                        PartIndices::List { in_selection, .. } => {
                            pairs.extend((len..).zip(in_selection.iter().map(|at| narrow(*at))));
                        }
                        // The view already reverses it.
                        PartIndices::Step { .. } => {
                            pairs.extend((len..).zip(len..).take(narrow(part.len())));
                        }
                    }
                }
                same &= pairs.iter().all(|(from, to)| from == to);
                pairs
            })
            .collect();
        (!same).then(|| IndexMoves::new(&pairs, &self.shape, &self.shape, self.element_size))
    }

    /// Zeros in place of the elements.
    pub(crate) fn zeroed(&self) -> Result<Vec<u8>, ArrayError> {
        zarr_view::zeroed(self.length).map_err(|_| self.too_large())
    }
}

/// A selection of an array together with a buffer of the caller.
///
/// The elements lie in the buffer in the order of the chunks, except for axes selected backwards.
/// Lists that go back and forth between chunks are [put in order](Selected::order) afterwards.
pub(crate) struct Transfer<'a> {
    pub(crate) selected: Selected<'a>,
    /// The start of the parts of each axis that has a list, except the first.
    list_cuts: PerAxis<Vec<usize>>,
    view: View,
    has_lists: bool,
}

impl<'a> Transfer<'a> {
    /// Checks the length of the buffer. Memory is proportional to the selection's own lists.
    pub(crate) fn new(selected: Selected<'a>, buffer_len: usize) -> Result<Self, ArrayError> {
        check_length(buffer_len, selected.length)?;
        let view = match selected.shape.contains(&0) {
            false => View::contiguous(&selected.shape),
            // A view counts 0 as 1, and the other sizes may multiply to too much.
            true => View::contiguous(&vec![0; selected.shape.len()]),
        };
        Self::in_view(selected, view.map_err(CopyError::from)?)
    }

    /// As [`new`](Transfer::new), for elements at the positions of a view of the selection's
    /// shape.
    pub(crate) fn in_view(selected: Selected<'a>, mut view: View) -> Result<Self, ArrayError> {
        let mut has_lists = false;
        let mut list_cuts = PerAxis::new();
        for (number, axis) in selected.chunks.axes().iter().enumerate() {
            if axis.is_reversed() {
                view = view.flip(number).map_err(CopyError::from)?;
            }
            let is_list = is_list(axis);
            has_lists |= is_list;
            list_cuts.push(if is_list { cuts(axis) } else { Vec::new() });
        }
        Ok(Self { selected, list_cuts, view, has_lists })
    }

    /// The caller's elements in the direction of the array: axes read backwards are flipped.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// The caller's elements for a part: a range of indices for each of their axes, and the view
    /// that turns these, in C order, to the direction of the array.
    pub(crate) fn asked(
        &self,
        selection: &Selection,
        part: &ChunkRegion<'_>,
    ) -> Result<(PerAxis<Range<usize>>, View), CopyError> {
        let lengths: PerAxis<usize> = part.place.iter().map(Range::len).collect();
        let mut view = View::contiguous(&lengths)?;
        let mut ranges = PerAxis::new();
        let axes = self.selected.chunks.axes().iter().zip(selection.axes());
        for (number, ((axis, given), place)) in axes.zip(part.place).enumerate() {
            let mut range = place.clone();
            if axis.is_reversed() {
                view = view.flip(number)?;
                let size = narrow(axis.len());
                range = size - place.end..size - place.start;
            }
            if !matches!(given, AxisSelection::Index(_)) {
                ranges.push(range);
            }
        }
        Ok((ranges, view))
    }

    /// Whether an axis is selected by a list without a constant step.
    pub(crate) fn has_lists(&self) -> bool {
        self.has_lists
    }

    /// For lists, the pairs of a position in the whole selection and an index in a part's chunk, on
    /// each axis.
    pub(crate) fn scattered(&self, part: &ChunkRegion<'_>) -> Option<Vec<Vec<Pair>>> {
        let pairs = |axis: &AxisPart<'_>| -> Vec<Pair> {
            axis.iter().map(|(index, position)| (narrow(position), narrow(index))).collect()
        };
        Some(part.lists?.iter().map(pairs).collect())
    }

    /// The number of chunks that contain elements of the selection.
    pub(crate) fn parts(&self) -> u64 {
        self.selected.chunks.len()
    }

    /// The start of each axis's parts in the selection, except the first. There are no more starts
    /// than elements, and the elements are in memory.
    fn cuts(&self) -> PerAxis<Vec<usize>> {
        let axes = self.selected.chunks.axes().iter();
        match self.parts() {
            // If an axis has no elements, the other axes have no parts.
            0 => axes.map(|_| Vec::new()).collect(),
            _ => axes.map(cuts).collect(),
        }
    }

    /// The caller's elements, all in one place.
    pub(crate) fn output<'o>(&self, out: &'o mut [u8]) -> Result<Output<'o>, CopyError> {
        Output::new(out, &self.view, self.selected.element_size)
    }

    /// An output of the selection's shape in the direction of the array, as [`view`](Transfer::view)
    /// is.
    pub(crate) fn in_order_of_chunks<'o>(
        &self,
        mut out: Output<'o>,
    ) -> Result<Output<'o>, CopyError> {
        for (number, axis) in self.selected.chunks.axes().iter().enumerate() {
            if axis.is_reversed() {
                out = out.into_flipped(number)?;
            }
        }
        Ok(out)
    }

    /// The caller's elements cut into the places of the parts, to be written from several threads. The
    /// output's axes all ascend.
    pub(crate) fn cut<'o>(&self, out: Output<'o>) -> Result<zarr_view::OutputGrid<'o>, CopyError> {
        out.grid(&self.cuts())
    }

    /// As [`cut`](Transfer::cut), for bytes and for threads that outlive the caller.
    #[cfg(feature = "async")]
    pub(crate) fn cut_owned<M: AsMut<[u8]> + Send + 'static>(
        &self,
        out: M,
    ) -> Result<zarr_view::OwnedGrid<M>, CopyError> {
        zarr_view::OwnedGrid::new(out, &self.view, self.selected.element_size, &self.cuts())
    }

    /// Calls `visit` with the parts numbered in `range`, in C order of the chunks.
    pub(crate) fn for_each_part(
        &self,
        range: Range<u64>,
        mut visit: impl FnMut(&ChunkRegion<'_>) -> Result<(), ArrayError>,
    ) -> Result<(), ArrayError> {
        let mut regions = self.regions(range);
        while let Some(part) = regions.next_region() {
            visit(&part)?;
        }
        Ok(())
    }

    /// The parts numbered in `range`, in C order of the chunks. The first of a stepped range may
    /// take a step for each run of edges before it; each further one takes constant time.
    pub(crate) fn regions(&self, range: Range<u64>) -> Regions<'_> {
        let axes = self.selected.chunks.axes().iter();
        let counts: PerAxis<usize> = axes.map(|axis| narrow(axis.parts().remaining())).collect();
        let number = number(range.start, counts.iter().copied());
        let mut parts = self.selected.chunks.parts();
        if range != (0..parts.len()) {
            parts = parts.range(range);
        }
        Regions { transfer: self, parts, counts, number, is_begun: false, boxes: Boxes::default() }
    }
}

/// The parts of a selection, one after the other.
pub(crate) struct Regions<'a> {
    transfer: &'a Transfer<'a>,
    parts: ChunkParts<'a>,
    /// The number of parts on each axis.
    counts: PerAxis<usize>,
    /// The number of the part that was lent last, or of the first one.
    number: PerAxis<usize>,
    is_begun: bool,
    boxes: Boxes,
}

impl Regions<'_> {
    /// Lends the next part.
    pub(crate) fn next_region(&mut self) -> Option<ChunkRegion<'_>> {
        let part = self.parts.next_part()?;
        if mem::replace(&mut self.is_begun, true) {
            for (at, count) in self.number.iter_mut().zip(&self.counts).rev() {
                *at += 1;
                if *at < *count {
                    break;
                }
                *at = 0;
            }
        }
        Some(self.boxes.part(self.transfer, part, &self.number))
    }
}

/// Whether an axis is selected by a list without a constant step.
fn is_list(axis: &SelectedAxis<'_>) -> bool {
    axis.parts().next().is_some_and(|part| matches!(part.indices, PartIndices::List { .. }))
}

/// The start of an axis's parts in the selection, except the first.
fn cuts(axis: &SelectedAxis<'_>) -> Vec<usize> {
    let mut end = 0_usize;
    let ends = axis.parts().map(|part| {
        end += narrow(part.len());
        end
    });
    let mut cuts: Vec<usize> = ends.collect();
    cuts.pop();
    cuts
}
