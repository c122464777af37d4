//! The chunks of a region, one after the other.

use core::ops::Range;

use smallvec::SmallVec;

use crate::cuts::{Cut, Cuts};
use crate::error::GridError;
use crate::grid::product;

/// Ranks up to this need no allocation.
const INLINE: usize = 4;

/// One entry an axis.
pub(crate) type PerAxis<T> = SmallVec<[T; INLINE]>;

/// The part of a region that lies in one chunk: one entry an axis in each slice, lengths in
/// elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPart<'a> {
    /// Number of the chunk on each axis.
    pub chunk: &'a [u64],
    /// Shape at which the chunk is stored: its edges, never clipped to the array (SD-05).
    pub chunk_shape: &'a [u64],
    /// Where the part starts, from the chunk's first element.
    pub in_chunk: &'a [u64],
    /// Where the part starts, from the region's first element.
    pub in_region: &'a [u64],
    /// Shape of the part.
    pub shape: &'a [u64],
    whole: &'a [bool],
}

impl ChunkPart<'_> {
    /// Whether the part is all of the chunk that lies within the array, so that writing it needs
    /// nothing of what is stored.
    ///
    /// A chunk at the array's end may still hold more, past it: there `shape` is less than
    /// `chunk_shape`.
    #[inline]
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.whole.iter().all(|&whole| whole)
    }
}

/// One axis: its parts from the first one, and those still to come in the present row.
#[derive(Debug, Clone)]
struct Lane<'g> {
    all: Cuts<'g>,
    rest: Cuts<'g>,
    count: u64,
}

/// The chunks that a region touches, lazily and in C order; see
/// [`Grid::chunks`](crate::Grid::chunks).
///
/// Parts are lent, not given: each [`next_part`](Chunks::next_part) writes over the one before,
/// which is what makes a step cost a few nanoseconds. The parts are numbered from 0, and
/// [`range`](Chunks::range) takes some of them, to share the work between threads.
#[derive(Debug, Clone)]
#[must_use = "parts are worked out as they are asked for"]
pub struct Chunks<'g> {
    lanes: PerAxis<Lane<'g>>,
    now: Now,
    /// Number of the part that comes next, and of the one to stop at.
    next: u64,
    end: u64,
    /// The next part is not the one after what `now` holds.
    moved: bool,
}

/// The present part, an array a field so that it can be lent as slices.
#[derive(Debug, Clone)]
struct Now {
    chunk: PerAxis<u64>,
    chunk_shape: PerAxis<u64>,
    in_chunk: PerAxis<u64>,
    in_region: PerAxis<u64>,
    shape: PerAxis<u64>,
    whole: PerAxis<bool>,
}

impl Now {
    fn new(rank: usize) -> Now {
        let zeros = || SmallVec::from_elem(0, rank);
        Now {
            chunk: zeros(),
            chunk_shape: zeros(),
            in_chunk: zeros(),
            in_region: zeros(),
            shape: zeros(),
            whole: SmallVec::from_elem(true, rank),
        }
    }

    #[inline]
    fn set(&mut self, axis: usize, cut: Cut) {
        self.chunk[axis] = cut.chunk;
        self.chunk_shape[axis] = cut.edge;
        self.in_chunk[axis] = cut.in_chunk;
        self.in_region[axis] = cut.in_region;
        self.shape[axis] = cut.len;
        self.whole[axis] = cut.is_whole;
    }
}

impl<'g> Chunks<'g> {
    /// The product of the axes' parts.
    pub(crate) fn new(
        cuts: impl Iterator<Item = Result<Cuts<'g>, GridError>>,
    ) -> Result<Chunks<'g>, GridError> {
        let lane = |all: Cuts<'g>| Lane { count: all.remaining(), rest: all.clone(), all };
        let lanes = cuts.map(|cuts| cuts.map(lane)).collect::<Result<PerAxis<_>, _>>()?;
        let counts: PerAxis<u64> = lanes.iter().map(|lane| lane.count).collect();
        let end = product(&counts).ok_or(GridError::TooManyChunks)?;
        let now = Now::new(lanes.len());
        Ok(Chunks { lanes, now, next: 0, end, moved: true })
    }

    /// Number of parts that are left.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.end - self.next
    }

    /// Whether no part is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.next == self.end
    }

    /// The parts of each axis: the region's parts are their product.
    pub fn cuts(&self) -> impl ExactSizeIterator<Item = Cuts<'g>> + '_ {
        self.lanes.iter().map(|lane| lane.all.clone())
    }

    /// Of the parts that are left, numbered from 0, those of `range`, clamped to what there is.
    ///
    /// Takes a look-up on each axis, however far ahead.
    ///
    /// # Examples
    /// ```
    /// let grid = zarr_grid::Grid::regular(&[100, 100], &[10, 10])?;
    /// let all = grid.all_chunks()?;
    /// let mut late = all.range(42..100);
    /// assert_eq!(late.next_part().unwrap().chunk, [4, 2]);
    /// assert_eq!(late.len(), 57);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn range(&self, range: Range<u64>) -> Chunks<'g> {
        let place = |ahead: u64| self.next.saturating_add(ahead).min(self.end);
        let (start, end) = (place(range.start), place(range.end));
        let mut chunks = self.clone();
        chunks.end = end.max(start);
        if start != self.next {
            chunks.next = start;
            chunks.moved = true;
        }
        chunks
    }

    /// Two of about the same length, the first half and the second.
    pub fn split(&self) -> (Chunks<'g>, Chunks<'g>) {
        let middle = self.len() / 2;
        (self.range(0..middle), self.range(middle..self.len()))
    }

    /// The next part, lent until the one after it is asked for.
    #[inline]
    pub fn next_part(&mut self) -> Option<ChunkPart<'_>> {
        if self.next == self.end {
            return None;
        }
        if self.moved {
            self.seek();
        } else {
            self.step();
        }
        self.next += 1;
        let now = &self.now;
        Some(ChunkPart {
            chunk: &now.chunk,
            chunk_shape: &now.chunk_shape,
            in_chunk: &now.in_chunk,
            in_region: &now.in_region,
            shape: &now.shape,
            whole: &now.whole,
        })
    }

    /// Calls `visit` with every part that is left, until it breaks off with an error.
    ///
    /// # Errors
    /// The first one of `visit`.
    pub fn try_for_each<E>(
        mut self,
        mut visit: impl FnMut(ChunkPart<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(part) = self.next_part() {
            visit(part)?;
        }
        Ok(())
    }

    /// From the present part to the one after it: the last axis moves, and where one is done it
    /// starts over and the one before it moves.
    #[inline]
    fn step(&mut self) {
        for (axis, lane) in self.lanes.iter_mut().enumerate().rev() {
            if let Some(cut) = lane.rest.next() {
                return self.now.set(axis, cut);
            }
            if lane.count > 1 {
                lane.rest = lane.all.clone();
                if let Some(cut) = lane.rest.next() {
                    self.now.set(axis, cut);
                }
            }
        }
    }

    /// To the part numbered `next`, which exists, from anywhere.
    #[cold]
    fn seek(&mut self) {
        self.moved = false;
        let mut ahead = self.next;
        for (axis, lane) in self.lanes.iter_mut().enumerate().rev() {
            lane.rest = lane.all.clone();
            lane.rest.skip_parts(ahead % lane.count);
            ahead /= lane.count;
            if let Some(cut) = lane.rest.next() {
                self.now.set(axis, cut);
            }
        }
    }
}
