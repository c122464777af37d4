//! Orthogonal selections: a range, a stepped range or a list of indices on each axis.

use alloc::vec::Vec;
use core::ops::Range;

use smallvec::SmallVec;

use crate::chunks::PerAxis;
use crate::error::GridError;
use crate::grid::{Grid, product};
use crate::listed::Listed;
use crate::num::{to_u64, to_usize};
use crate::stepped::Stepped;

/// What to select along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Select<'a> {
    /// All indices of a range.
    Range(Range<u64>),
    /// The first index of a range and every so many after it.
    Step {
        /// The range, which the last selected index need not reach.
        range: Range<u64>,
        /// Distance of selected indices, at least 1.
        step: u64,
    },
    /// These indices, in this order, which may repeat.
    Indices(&'a [u64]),
}

/// A selection that is the product of one on each axis; see [`Grid::select`].
#[derive(Debug, Clone)]
pub struct Selection<'g> {
    axes: Vec<AxisSelection<'g>>,
    shape: Vec<u64>,
    len: u64,
}

#[derive(Debug, Clone)]
enum AxisSelection<'g> {
    Stepped(Stepped<'g>),
    Listed(Listed),
}

/// The selected elements of one chunk along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisPart<'s> {
    /// Every `step`-th one, and their positions in the selection follow each other.
    Step {
        /// The first, from the chunk's start.
        in_chunk: u64,
        /// Distance in the chunk.
        step: u64,
        /// Position of the first in the selection.
        in_selection: u64,
        /// How many there are.
        len: u64,
    },
    /// One by one.
    Indices {
        /// Each, from the chunk's start.
        in_chunk: &'s [u64],
        /// The position of each in the selection.
        in_selection: &'s [u64],
    },
}

impl AxisPart<'_> {
    /// Number of selected elements, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is no empty part")]
    pub fn len(&self) -> u64 {
        match self {
            AxisPart::Step { len, .. } => *len,
            AxisPart::Indices { in_chunk, .. } => to_u64(in_chunk.len()),
        }
    }
}

/// The part of a selection that lies in one chunk: one entry an axis in each slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelectionPart<'a> {
    /// Number of the chunk on each axis.
    pub chunk: &'a [u64],
    /// Shape at which the chunk is stored (SD-05).
    pub chunk_shape: &'a [u64],
    /// What is selected on each axis; the selected elements are the product.
    pub axes: &'a [AxisPart<'a>],
    whole: &'a [bool],
}

impl SelectionPart<'_> {
    /// Whether all elements of the chunk that lie within the array are known to be selected, so
    /// that writing them needs nothing of what is stored. Lists of indices are not looked into.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.whole.iter().all(|&whole| whole)
    }
}

impl Grid {
    /// The chunks that an orthogonal selection touches, each with what is selected in it.
    ///
    /// # Errors
    /// [`GridError::Rank`]; on their axis [`GridError::ZeroStep`],
    /// [`GridError::RangeOutOfBounds`], [`GridError::IndexOutOfBounds`];
    /// [`GridError::TooManyChunks`].
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::{AxisPart, Grid, Select};
    ///
    /// let grid = Grid::regular(&[10, 10], &[5, 4])?;
    /// // Rows 7, 0 and 1, of each the columns 0 and 5.
    /// let columns = Select::Step { range: 0..10, step: 5 };
    /// let selection = grid.select(&[Select::Indices(&[7, 0, 1]), columns])?;
    /// assert_eq!(selection.shape(), [3, 2]);
    /// assert_eq!(selection.len(), 4); // chunks
    /// let mut parts = selection.parts();
    /// let part = parts.next_part().unwrap();
    /// assert_eq!(part.chunk, [0, 0]);
    /// assert_eq!(part.axes[0], AxisPart::Indices { in_chunk: &[0, 1], in_selection: &[1, 2] });
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn select(&self, axes: &[Select<'_>]) -> Result<Selection<'_>, GridError> {
        self.check_rank("selections", axes.len())?;
        let mut selections = Vec::with_capacity(axes.len());
        for (d, (axis, select)) in self.axes().iter().zip(axes).enumerate() {
            let made = match select {
                Select::Range(range) => axis.stepped(range.clone(), 1).map(AxisSelection::Stepped),
                Select::Step { range, step } => {
                    axis.stepped(range.clone(), *step).map(AxisSelection::Stepped)
                }
                Select::Indices(indices) => axis.listed(indices).map(AxisSelection::Listed),
            };
            selections.push(made.map_err(|error| error.on_axis(d))?);
        }
        let shape = selections.iter().map(AxisSelection::selected).collect();
        let counts: Vec<u64> = selections.iter().map(AxisSelection::parts).collect();
        let len = product(&counts).ok_or(GridError::TooManyChunks)?;
        Ok(Selection { axes: selections, shape, len })
    }
}

impl AxisSelection<'_> {
    fn selected(&self) -> u64 {
        match self {
            AxisSelection::Stepped(stepped) => stepped.selected(),
            AxisSelection::Listed(listed) => listed.selected(),
        }
    }

    fn parts(&self) -> u64 {
        match self {
            AxisSelection::Stepped(stepped) => stepped.remaining(),
            AxisSelection::Listed(listed) => to_u64(listed.len()),
        }
    }
}

impl Selection<'_> {
    /// Shape of what is selected: the number of indices on each axis.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Number of chunks that are touched, which is that of the [parts](Selection::parts).
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What is selected along one axis, chunk by chunk: the numbers of the chunks, ascending, with
    /// their parts. [`parts`](Selection::parts) is the product of these. None past the last axis.
    pub fn axis(&self, axis: usize) -> impl Iterator<Item = (u64, AxisPart<'_>)> {
        let mut lane = self.axes.get(axis).map(|axis| Lane::new(axis, 0));
        core::iter::from_fn(move || lane.as_mut()?.next().map(|found| (found.chunk, found.part)))
    }

    /// The chunks in C order, each with its part.
    pub fn parts(&self) -> SelectionParts<'_> {
        let rank = self.axes.len();
        let empty = AxisPart::Indices { in_chunk: &[], in_selection: &[] };
        SelectionParts {
            selection: self,
            lanes: self.axes.iter().map(|axis| Lane::new(axis, 0)).collect(),
            chunk: SmallVec::from_elem(0, rank),
            chunk_shape: SmallVec::from_elem(0, rank),
            axes: SmallVec::from_elem(empty, rank),
            whole: SmallVec::from_elem(true, rank),
            next: 0,
            end: self.len,
            moved: true,
        }
    }
}

/// The parts of one axis that are still to come in the present row.
#[derive(Debug, Clone)]
enum Lane<'s> {
    Stepped(Stepped<'s>),
    Listed { listed: &'s Listed, at: usize },
}

struct LanePart<'s> {
    chunk: u64,
    edge: u64,
    part: AxisPart<'s>,
    is_whole: bool,
}

impl<'s> Lane<'s> {
    fn new(axis: &'s AxisSelection<'_>, skip: u64) -> Lane<'s> {
        match axis {
            AxisSelection::Stepped(stepped) => {
                let mut stepped = stepped.clone();
                stepped.skip_parts(skip);
                Lane::Stepped(stepped)
            }
            AxisSelection::Listed(listed) => Lane::Listed { listed, at: to_usize(skip) },
        }
    }

    fn next(&mut self) -> Option<LanePart<'s>> {
        match self {
            Lane::Stepped(stepped) => {
                let cut = stepped.next()?;
                let part = AxisPart::Step {
                    in_chunk: cut.in_chunk,
                    step: stepped.step(),
                    in_selection: cut.in_selection,
                    len: cut.len,
                };
                Some(LanePart { chunk: cut.chunk, edge: cut.edge, part, is_whole: cut.is_whole })
            }
            Lane::Listed { listed, at } => {
                let cut = listed.cut(*at)?;
                *at += 1;
                let part =
                    AxisPart::Indices { in_chunk: cut.in_chunk, in_selection: cut.in_selection };
                Some(LanePart { chunk: cut.chunk, edge: cut.edge, part, is_whole: false })
            }
        }
    }
}

/// The chunks that a selection touches, lazily and in C order; see [`Selection::parts`].
///
/// Lends its parts, and gives some of them by number, as [`Chunks`](crate::Chunks) does.
#[derive(Debug, Clone)]
#[must_use = "parts are worked out as they are asked for"]
pub struct SelectionParts<'s> {
    selection: &'s Selection<'s>,
    lanes: PerAxis<Lane<'s>>,
    chunk: PerAxis<u64>,
    chunk_shape: PerAxis<u64>,
    axes: PerAxis<AxisPart<'s>>,
    whole: PerAxis<bool>,
    next: u64,
    end: u64,
    moved: bool,
}

impl<'s> SelectionParts<'s> {
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

    /// Of the parts that are left, numbered from 0, those of `range`, clamped to what there is.
    pub fn range(&self, range: Range<u64>) -> SelectionParts<'s> {
        let place = |ahead: u64| self.next.saturating_add(ahead).min(self.end);
        let (start, end) = (place(range.start), place(range.end));
        let moved = self.moved || start != self.next;
        SelectionParts { next: start, end: end.max(start), moved, ..self.clone() }
    }

    /// The next part, lent until the one after it is asked for.
    pub fn next_part(&mut self) -> Option<SelectionPart<'_>> {
        if self.next == self.end {
            return None;
        }
        // From the last axis on: an axis that is done starts over, and the one before it moves.
        let mut ahead = self.next;
        for (d, axis) in self.selection.axes.iter().enumerate().rev() {
            if self.moved {
                let count = axis.parts();
                self.lanes[d] = Lane::new(axis, ahead % count);
                ahead /= count;
            } else if let Some(found) = self.lanes[d].next() {
                self.set(d, found);
                break;
            } else {
                self.lanes[d] = Lane::new(axis, 0);
            }
            if let Some(found) = self.lanes[d].next() {
                self.set(d, found);
            }
        }
        self.moved = false;
        self.next += 1;
        Some(SelectionPart {
            chunk: &self.chunk,
            chunk_shape: &self.chunk_shape,
            axes: &self.axes,
            whole: &self.whole,
        })
    }

    fn set(&mut self, axis: usize, found: LanePart<'s>) {
        self.chunk[axis] = found.chunk;
        self.chunk_shape[axis] = found.edge;
        self.axes[axis] = found.part;
        self.whole[axis] = found.is_whole;
    }
}
