//! The chunks that a selection touches, one after the other.

use alloc::vec::Vec;
use core::ops::Range;

use smallvec::SmallVec;

use crate::error::{GridError, GridErrorKind};
use crate::grid::{Grid, product};
use crate::num::to_u64;
use crate::selection::AxisSelection;
use crate::selection::axis_part::{AxisPart, PartIndices};
use crate::selection::selected_axis::{AxisParts, SelectedAxis};

/// Ranks up to this need no allocation.
const INLINE: usize = 4;

/// One entry per axis.
type PerAxis<T> = SmallVec<[T; INLINE]>;

/// The selected part of one chunk: the product of the selected indices of each axis.
///
/// # Examples
/// ```
/// use zarr_grid::Grid;
///
/// let grid = Grid::regular(&[10], &[4])?;
/// let last = grid.chunks(&[8..10])?.next().expect("a part of chunk 2");
/// assert_eq!((last.chunk(), last.chunk_shape(), last.is_whole()), (&[2][..], &[4][..], true));
/// # Ok::<(), zarr_grid::GridError>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct ChunkPart<'s> {
    chunk: PerAxis<u64>,
    chunk_shape: PerAxis<u64>,
    axes: PerAxis<AxisPart<'s>>,
}

impl<'s> ChunkPart<'s> {
    fn new(rank: usize) -> ChunkPart<'s> {
        let indices = PartIndices::List { in_chunk: &[], in_selection: &[] };
        let none = AxisPart { chunk: 0, edge: 0, indices, is_whole: true };
        let (zeros, axes) = (SmallVec::from_elem(0, rank), SmallVec::from_elem(none, rank));
        ChunkPart { chunk: zeros.clone(), chunk_shape: zeros, axes }
    }

    #[inline]
    fn set(&mut self, axis: usize, part: AxisPart<'s>) {
        self.chunk[axis] = part.chunk;
        self.chunk_shape[axis] = part.edge;
        self.axes[axis] = part;
    }

    /// Number of the chunk on each axis.
    #[inline]
    #[must_use]
    pub fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    /// Shape at which the chunk is stored: its edges, never clipped to the array (SD-05).
    #[inline]
    #[must_use]
    pub fn chunk_shape(&self) -> &[u64] {
        &self.chunk_shape
    }

    /// The selection along each axis.
    #[inline]
    #[must_use]
    pub fn axes(&self) -> &[AxisPart<'s>] {
        &self.axes
    }

    /// Whether all elements of the chunk within the array are selected, so that writing them needs
    /// no stored bytes.
    ///
    /// A chunk at the array's end may have more elements past the end, so fewer are selected than
    /// `chunk_shape` says. False for lists of indices and masks, which are not examined.
    #[inline]
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.axes.iter().all(|axis| axis.is_whole)
    }
}

/// By hand, since the derived one compares entry by entry.
impl Clone for ChunkPart<'_> {
    #[inline]
    fn clone(&self) -> Self {
        ChunkPart {
            chunk: SmallVec::from_slice(&self.chunk),
            chunk_shape: SmallVec::from_slice(&self.chunk_shape),
            axes: SmallVec::from_slice(&self.axes),
        }
    }
}

/// The chunks that a selection touches, lazily and in C order, each with its selected part;
/// see [`Grid::chunks`] and [`SelectedChunks::parts`].
///
/// The parts are numbered from 0. [`range`](ChunkParts::range) takes some of them, to divide the
/// work among threads.
#[derive(Debug, Clone)]
#[must_use = "parts are worked out as they are asked for"]
pub struct ChunkParts<'s> {
    lanes: PerAxis<Lane<'s>>,
    now: ChunkPart<'s>,
    /// Number of the part that comes next, and of the one to stop at.
    next: u64,
    end: u64,
    /// Whether the next part is not the one after `now`.
    moved: bool,
}

/// One axis: its parts from the first one, and those still to come in the present row.
#[derive(Debug, Clone)]
struct Lane<'s> {
    all: AxisParts<'s>,
    rest: AxisParts<'s>,
    count: u64,
}

impl<'s> ChunkParts<'s> {
    /// The product of the axes' parts.
    fn new(
        axes: impl Iterator<Item = Result<AxisParts<'s>, GridError>>,
    ) -> Result<ChunkParts<'s>, GridError> {
        let lane = |all: AxisParts<'s>| Lane { count: all.remaining(), rest: all.clone(), all };
        let lanes = axes.map(|parts| parts.map(lane)).collect::<Result<PerAxis<_>, _>>()?;
        let counts: PerAxis<u64> = lanes.iter().map(|lane| lane.count).collect();
        let end = product(&counts).ok_or(GridErrorKind::TooManyChunks)?;
        Ok(ChunkParts { now: ChunkPart::new(lanes.len()), lanes, next: 0, end, moved: true })
    }

    /// Number of remaining parts.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.end.saturating_sub(self.next)
    }

    /// Whether no part remains.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.next == self.end
    }

    /// The remaining parts in `range`, counted from 0; clamped to their number.
    ///
    /// Takes a look-up on each axis, however far ahead.
    ///
    /// # Examples
    /// ```
    /// let grid = zarr_grid::Grid::regular(&[100, 100], &[10, 10])?;
    /// let all = grid.all_chunks()?;
    /// let mut late = all.range(42..100);
    /// assert_eq!(late.next().unwrap().chunk(), [4, 2]);
    /// assert_eq!(late.len(), 57);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn range(&self, range: Range<u64>) -> ChunkParts<'s> {
        let place = |ahead: u64| self.next.saturating_add(ahead).min(self.end);
        let mut parts = self.clone();
        parts.end = place(range.end).max(place(range.start));
        parts.skip_to(place(range.start));
        parts
    }

    fn skip_to(&mut self, next: u64) {
        self.moved |= next != self.next;
        self.next = next;
    }

    /// As `next`, but lends the part until the next call. It avoids the copy of all axes: usually
    /// only one changes.
    #[inline]
    pub fn next_part(&mut self) -> Option<&ChunkPart<'s>> {
        if self.next == self.end {
            return None;
        }
        if self.moved {
            self.seek();
        } else {
            self.step();
        }
        self.next = self.next.saturating_add(1);
        Some(&self.now)
    }

    /// Advances to the next part: the last axis moves; an axis at its end starts again and the axis
    /// before it moves.
    #[inline]
    fn step(&mut self) {
        for (axis, lane) in self.lanes.iter_mut().enumerate().rev() {
            if let Some(part) = lane.rest.next() {
                return self.now.set(axis, part);
            }
            if lane.count > 1 {
                lane.rest = lane.all.clone();
                if let Some(part) = lane.rest.next() {
                    self.now.set(axis, part);
                }
            }
        }
    }

    /// Goes to the part numbered `next`, which exists.
    #[cold]
    fn seek(&mut self) {
        self.moved = false;
        let mut ahead = self.next;
        for (axis, lane) in self.lanes.iter_mut().enumerate().rev() {
            lane.rest = lane.all.clone();
            lane.rest.skip_parts(ahead % lane.count);
            ahead /= lane.count;
            if let Some(part) = lane.rest.next() {
                self.now.set(axis, part);
            }
        }
    }
}

impl<'s> Iterator for ChunkParts<'s> {
    type Item = ChunkPart<'s>;

    #[inline]
    fn next(&mut self) -> Option<ChunkPart<'s>> {
        self.next_part().cloned()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.len()).ok();
        (left.unwrap_or(usize::MAX), left)
    }

    fn nth(&mut self, n: usize) -> Option<ChunkPart<'s>> {
        self.skip_to(self.next.saturating_add(to_u64(n)).min(self.end));
        self.next()
    }
}

impl core::iter::FusedIterator for ChunkParts<'_> {}

/// The selection on each axis, sorted by chunk; see [`Grid::select`].
#[derive(Debug, Clone)]
pub struct SelectedChunks<'g> {
    axes: Vec<SelectedAxis<'g>>,
    shape: PerAxis<u64>,
    len: u64,
}

impl Grid {
    /// The chunks that an orthogonal selection touches, each with its selected part: the
    /// product of one selection per axis.
    ///
    /// # Errors
    /// [`Rank`](GridErrorKind::Rank); errors of [`Axis::select`](crate::Axis::select), with their
    /// axis; [`TooManyChunks`](GridErrorKind::TooManyChunks).
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::{AxisSelection, Grid};
    ///
    /// let grid = Grid::regular(&[10, 10], &[5, 4])?;
    /// // Rows 7, 0 and 1, of each the columns 0 and 5.
    /// let columns = AxisSelection::Step { range: 0..10, step: 5 };
    /// let selected = grid.select(&[[7, 0, 1].into(), columns])?;
    /// assert_eq!(selected.shape(), [3, 2]);
    /// assert_eq!(selected.len(), 4); // chunks
    /// let part = selected.parts().next().unwrap();
    /// assert_eq!(part.chunk(), [0, 0]);
    /// assert!(part.axes()[0].iter().eq([(0, 1), (1, 2)])); // rows 0 and 1, the list's 2nd and 3rd
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn select(&self, axes: &[AxisSelection]) -> Result<SelectedChunks<'_>, GridError> {
        self.check_rank("selections", axes.len())?;
        let selected = self.axes().iter().zip(axes).enumerate();
        let axes = selected
            .map(|(d, (axis, selection))| axis.select(selection).map_err(|e| e.on_axis(d)))
            .collect::<Result<Vec<_>, _>>()?;
        let shape = axes.iter().map(SelectedAxis::len).collect();
        let counts: PerAxis<u64> = axes.iter().map(|axis| axis.parts().remaining()).collect();
        let len = product(&counts).ok_or(GridErrorKind::TooManyChunks)?;
        Ok(SelectedChunks { axes, shape, len })
    }

    /// The chunks that a region touches, in C order, each with its part of the region.
    ///
    /// Nothing is computed in advance: memory is proportional to the rank.
    ///
    /// # Errors
    /// [`Rank`](GridErrorKind::Rank); [`RangeOutOfBounds`](GridErrorKind::RangeOutOfBounds) on its
    /// axis; [`TooManyChunks`](GridErrorKind::TooManyChunks).
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::{Axis, Grid};
    ///
    /// let grid = Grid::new([Axis::from_edges(5, [2, 3])?, Axis::regular(8, 4)?]);
    /// let mut parts = grid.chunks(&[1..4, 4..8])?;
    /// let part = parts.next().unwrap();
    /// assert_eq!((part.chunk(), part.chunk_shape()), (&[0, 1][..], &[2, 4][..]));
    /// assert_eq!(part.axes()[0].in_chunk(), 1..2);
    /// let part = parts.next().unwrap();
    /// assert_eq!((part.chunk(), part.chunk_shape()), (&[1, 1][..], &[3, 4][..]));
    /// assert_eq!(part.axes()[0].in_selection(), 1..3);
    /// assert!(parts.next().is_none());
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn chunks(&self, region: &[Range<u64>]) -> Result<ChunkParts<'_>, GridError> {
        self.check_rank("ranges", region.len())?;
        ChunkParts::new(self.axes().iter().zip(region).enumerate().map(|(d, (axis, range))| {
            axis.range_parts(range.clone()).map_err(|error| error.on_axis(d))
        }))
    }

    /// All occupied chunks, in C order.
    ///
    /// # Errors
    /// [`TooManyChunks`](GridErrorKind::TooManyChunks).
    pub fn all_chunks(&self) -> Result<ChunkParts<'_>, GridError> {
        ChunkParts::new(self.axes().iter().map(|axis| axis.range_parts(0..axis.extent())))
    }
}

impl SelectedChunks<'_> {
    /// Shape of the selection: the number of indices on each axis, 1 for a single index.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Number of touched chunks, and of [parts](SelectedChunks::parts).
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The selections on the axes; [`parts`](SelectedChunks::parts) is their product.
    #[must_use]
    pub fn axes(&self) -> &[SelectedAxis<'_>] {
        &self.axes
    }

    /// The chunks in C order, each with its selected part.
    pub fn parts(&self) -> ChunkParts<'_> {
        let lanes = self.axes.iter().map(|axis| {
            let all = axis.parts();
            Lane { count: all.remaining(), rest: all.clone(), all }
        });
        let now = ChunkPart::new(self.axes.len());
        ChunkParts { lanes: lanes.collect(), now, next: 0, end: self.len, moved: true }
    }
}
