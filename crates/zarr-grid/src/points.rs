//! Single elements anywhere in the array, by chunk.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::error::GridError;
use crate::grid::Grid;
use crate::num::{to_u64, to_usize};

/// Points sorted by chunk; see [`Grid::points`].
#[derive(Debug, Clone)]
pub struct Points {
    rank: usize,
    /// Chunk and local indices, `rank` for each point, in the sorted order.
    chunks: Vec<u64>,
    locals: Vec<u64>,
    /// Position of each point among those given.
    positions: Vec<u64>,
    groups: Vec<Range<usize>>,
}

/// The points that lie in one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointGroup<'a> {
    /// Number of the chunk on each axis.
    pub chunk: &'a [u64],
    /// The points' indices from the chunk's first element, as many for each as there are axes.
    pub in_chunk: &'a [u64],
    /// The position of each among the points given.
    pub positions: &'a [u64],
}

impl Grid {
    /// Points by chunk, in C order of the chunks; in one chunk they keep their order.
    ///
    /// # Shapes and units
    /// `points` holds one index an axis for each point, one point after the other. A grid of rank
    /// 0 has no way to say how many there are, and takes none.
    ///
    /// # Errors
    /// [`GridError::Length`] if the last point is incomplete; [`GridError::IndexOutOfBounds`] on
    /// its axis.
    ///
    /// # Examples
    /// ```
    /// let grid = zarr_grid::Grid::regular(&[10, 10], &[5, 5])?;
    /// let points = grid.points(&[9, 9, 0, 1, 7, 6])?;
    /// let last = points.groups().last().unwrap();
    /// assert_eq!((last.chunk, last.in_chunk), (&[1, 1][..], &[4, 4, 2, 1][..]));
    /// assert_eq!(last.positions, [0, 2]);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn points(&self, points: &[u64]) -> Result<Points, GridError> {
        let (rank, found) = (self.rank(), points.len());
        let count = found.checked_div(rank).unwrap_or(0);
        if count * rank != found {
            let expected = found.checked_next_multiple_of(rank).unwrap_or(0);
            return Err(GridError::Length { what: "coordinates", found, expected });
        }
        let mut chunks = vec![0; found];
        let mut locals = vec![0; found];
        let mut column = vec![0; count];
        let [mut chunk, mut local] = [vec![0; count], vec![0; count]];
        for (d, axis) in self.axes().iter().enumerate() {
            column
                .iter_mut()
                .zip(points.iter().skip(d).step_by(rank))
                .for_each(|(to, from)| *to = *from);
            axis.chunks_of(&column, &mut chunk, &mut local).map_err(|error| error.on_axis(d))?;
            let spread = |to: &mut [u64], from: &[u64]| {
                to.iter_mut().skip(d).step_by(rank).zip(from).for_each(|(to, from)| *to = *from);
            };
            spread(&mut chunks, &chunk);
            spread(&mut locals, &local);
        }
        let mut positions: Vec<u64> = (0..to_u64(count)).collect();
        let row = |at: u64| to_usize(at) * rank..(to_usize(at) + 1) * rank;
        let order = |a: &u64, b: &u64| chunks[row(*a)].cmp(&chunks[row(*b)]);
        if !positions.is_sorted_by(|a, b| order(a, b).is_le()) {
            positions.sort_by(order);
            let sorted = |from: &[u64]| -> Vec<u64> {
                positions.iter().flat_map(|&at| &from[row(at)]).copied().collect()
            };
            (chunks, locals) = (sorted(&chunks), sorted(&locals));
        }
        let mut groups: Vec<Range<usize>> = Vec::new();
        for at in 0..count {
            let same =
                |last: &Range<usize>| chunks[row(to_u64(at))] == chunks[row(to_u64(last.start))];
            match groups.last_mut() {
                Some(last) if same(last) => last.end = at + 1,
                _ => groups.push(at..at + 1),
            }
        }
        Ok(Points { rank, chunks, locals, positions, groups })
    }
}

impl Points {
    /// Number of chunks that hold a point.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The points of each chunk that holds any, in C order of the chunks.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = PointGroup<'_>> + DoubleEndedIterator {
        let Points { rank, chunks, locals, positions, groups } = self;
        groups.iter().map(move |members| PointGroup {
            chunk: &chunks[members.start * rank..(members.start + 1) * rank],
            in_chunk: &locals[members.start * rank..members.end * rank],
            positions: &positions[members.clone()],
        })
    }
}
