//! A list of indices along one axis, by chunk.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::axis::Axis;
use crate::error::GridError;
use crate::num::{to_u64, to_usize};

/// A list of indices of one axis, sorted by chunk; see [`Axis::listed`].
#[derive(Debug, Clone)]
pub struct Listed {
    /// Local indices, grouped by chunk, and the position of each in the list.
    locals: Vec<u64>,
    positions: Vec<u64>,
    groups: Vec<Group>,
}

#[derive(Debug, Clone)]
struct Group {
    chunk: u64,
    edge: u64,
    members: Range<usize>,
}

/// The indices of a list that lie in one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedCut<'a> {
    /// Number of the chunk.
    pub chunk: u64,
    /// Edge of the chunk, as it is stored.
    pub edge: u64,
    /// The elements, from the chunk's start, in the order of the list.
    pub in_chunk: &'a [u64],
    /// The position of each in the list.
    pub in_selection: &'a [u64],
}

impl Axis {
    /// A list of indices, in any order and with repetitions, by chunk.
    ///
    /// # Errors
    /// [`GridError::IndexOutOfBounds`].
    ///
    /// # Examples
    /// ```
    /// let axis = zarr_grid::Axis::from_edges(9, [2, 3, 4])?;
    /// let listed = axis.listed(&[8, 1, 5])?;
    /// let last = listed.cut(1).unwrap();
    /// assert_eq!((last.chunk, last.in_chunk, last.in_selection), (2, &[3, 0][..], &[0, 2][..]));
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn listed(&self, indices: &[u64]) -> Result<Listed, GridError> {
        let mut chunks = vec![0; indices.len()];
        let mut locals = vec![0; indices.len()];
        self.chunks_of(indices, &mut chunks, &mut locals)?;
        let mut positions: Vec<u64> = (0..to_u64(indices.len())).collect();
        if !chunks.is_sorted() {
            positions.sort_by_key(|&at| chunks[to_usize(at)]);
            locals = positions.iter().map(|&at| locals[to_usize(at)]).collect();
            chunks = positions.iter().map(|&at| chunks[to_usize(at)]).collect();
        }
        let mut end = 0;
        let groups = chunks.chunk_by(|a, b| a == b).map(|same| {
            let members = end..end + same.len();
            end = members.end;
            Group { chunk: same[0], edge: self.span(same[0]).1, members }
        });
        let groups = groups.collect();
        Ok(Listed { locals, positions, groups })
    }
}

impl Listed {
    /// Number of chunks that hold an index of the list.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Number of indices in the list.
    #[must_use]
    pub fn selected(&self) -> u64 {
        to_u64(self.locals.len())
    }

    /// The indices of the chunk that is number `at` among those touched.
    #[must_use]
    pub fn cut(&self, at: usize) -> Option<ListedCut<'_>> {
        self.groups.get(at).map(|group| self.cut_of(group))
    }

    /// All of them, in the order of the chunks.
    pub fn cuts(&self) -> impl ExactSizeIterator<Item = ListedCut<'_>> + DoubleEndedIterator {
        self.groups.iter().map(|group| self.cut_of(group))
    }

    fn cut_of(&self, Group { chunk, edge, members }: &Group) -> ListedCut<'_> {
        ListedCut {
            chunk: *chunk,
            edge: *edge,
            in_chunk: &self.locals[members.clone()],
            in_selection: &self.positions[members.clone()],
        }
    }
}
