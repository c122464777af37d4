//! The part of one chunk that is selected along one axis.

use core::ops::Range;

use crate::num::{to_u64, to_usize};

/// The part of one chunk that is selected along one axis. Lengths are in elements.
///
/// # Examples
/// ```
/// use zarr_grid::Axis;
///
/// let axis = Axis::from_edges(10, [4, 6])?;
/// let selected = axis.select(&(2..10).into())?;
/// let part = selected.parts().nth(1).expect("a part of chunk 1");
/// assert_eq!((part.chunk, part.edge, part.is_whole), (1, 6, true));
/// # Ok::<(), zarr_grid::GridError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxisPart<'s> {
    /// Number of the chunk.
    pub chunk: u64,
    /// Edge of the chunk: its stored length (SD-05).
    pub edge: u64,
    /// The selected indices.
    pub indices: PartIndices<'s>,
    /// Whether these are all indices of the chunk within the extent. False for lists of indices and
    /// masks, which are not examined.
    pub is_whole: bool,
}

/// Selected indices of one chunk along one axis, and their positions in the selection.
///
/// # Examples
/// ```
/// use zarr_grid::{Axis, AxisSelection, PartIndices};
///
/// let axis = Axis::from_edges(10, [4, 6])?;
/// let odd = axis.select(&AxisSelection::Step { range: 1..10, step: 2 })?; // 1, 3, 5, 7, 9
/// let part = odd.parts().nth(1).ok_or("a part")?; // 5, 7 and 9, in the chunk from 4 on
/// let PartIndices::Step { in_chunk, step, in_selection, len, .. } = part.indices else {
///     return Err("a list".into());
/// };
/// assert_eq!((in_chunk, step, in_selection, len), (1, 2, 2, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartIndices<'s> {
    /// Every `step`-th index; their positions in the selection are consecutive.
    Step {
        /// The lowest index, from the chunk's start.
        in_chunk: u64,
        /// Distance in the chunk, at least 1.
        step: u64,
        /// The lowest of their positions in the selection.
        in_selection: u64,
        /// The number of indices, at least 1.
        len: u64,
        /// Whether the highest index has the lowest position, as with a negative step.
        reversed: bool,
    },
    /// A list of indices.
    List {
        /// The indices, from the chunk's start.
        in_chunk: &'s [u64],
        /// The position of each index in the selection, ascending.
        in_selection: &'s [u64],
    },
}

impl<'s> AxisPart<'s> {
    /// Number of selected indices, at least 1.
    #[inline]
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is no empty part")]
    pub fn len(&self) -> u64 {
        match self.indices {
            PartIndices::Step { len, .. } => len,
            PartIndices::List { in_chunk, .. } => to_u64(in_chunk.len()),
        }
    }

    /// The smallest range of the chunk, from its start, that holds all selected indices.
    #[must_use]
    pub fn in_chunk(&self) -> Range<u64> {
        match self.indices {
            PartIndices::Step { in_chunk, step, len, .. } => {
                in_chunk..in_chunk + (len - 1) * step + 1
            }
            PartIndices::List { in_chunk, .. } => around(in_chunk.iter()),
        }
    }

    /// The smallest range of positions in the selection that holds all selected indices.
    #[must_use]
    pub fn in_selection(&self) -> Range<u64> {
        match self.indices {
            PartIndices::Step { in_selection, len, .. } => in_selection..in_selection + len,
            PartIndices::List { in_selection, .. } => around(in_selection.iter()),
        }
    }

    /// Each selected index, from the chunk's start, with its position in the selection. For a step
    /// the indices ascend, for a list the positions.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + use<'s> {
        let indices = self.indices;
        (0..self.len()).map(move |n| match indices {
            PartIndices::Step { in_chunk, step, in_selection, len, reversed } => {
                let position = if reversed { len - n - 1 } else { n };
                (in_chunk + n * step, in_selection + position)
            }
            PartIndices::List { in_chunk, in_selection } => {
                (in_chunk[to_usize(n)], in_selection[to_usize(n)])
            }
        })
    }
}

/// The smallest range that holds all of these.
fn around<'i>(indices: impl Iterator<Item = &'i u64> + Clone) -> Range<u64> {
    let first = indices.clone().min().copied().unwrap_or(0);
    first..indices.max().map_or(0, |last| last.saturating_add(1))
}
