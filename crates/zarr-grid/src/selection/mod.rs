//! A selection of indices along one axis.

pub(crate) mod axis_part;
mod indices;
pub(crate) mod selected_axis;
pub(crate) mod selected_chunks;
mod strided;

use alloc::vec::Vec;
use core::ops::Range;

use crate::num::{to_u64, to_usize};

/// A selection of indices along one axis.
///
/// # Examples
/// ```
/// use zarr_grid::AxisSelection;
///
/// let rows = AxisSelection::from([7, 0, 1]);
/// assert_eq!((rows.len(), rows.get(1), rows.bounds()), (3, Some(0), 0..8));
/// let every_other = AxisSelection::Step { range: 0..10, step: 2 }; // 0, 2, 4, 6, 8
/// assert_eq!(every_other.bounds(), 0..9);
/// let backwards = AxisSelection::Step { range: 0..10, step: -3 }; // 9, 6, 3, 0
/// assert_eq!(backwards.slice(1..3), AxisSelection::Step { range: 3..7, step: -3 }); // 6, 3
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum AxisSelection {
    /// One index. Arrays drop the axis from the result's shape, as numpy does.
    Index(u64),
    /// All indices of a range.
    Range(Range<u64>),
    /// The first index of a range and every `step`-th after it. If the step is negative: the last
    /// index and every `-step`-th before it, descending.
    Step {
        /// The range, which need not end with a selected index.
        range: Range<u64>,
        /// Distance from one index to the next, not 0.
        step: i64,
    },
    /// These indices, in this order, which may repeat.
    Indices(Vec<u64>),
    /// The indices with a true entry. There is one entry for each index of the axis.
    Mask(Vec<bool>),
}

impl AxisSelection {
    /// The first index, and how many are selected: each is `step` after the one before, or `-step`
    /// before it if the step is negative. Saturates where indices exceed `u64`.
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::AxisSelection;
    ///
    /// assert!(AxisSelection::steps(9, 3, -4).indices().eq([9, 5, 1]));
    /// ```
    #[must_use]
    pub fn steps(start: u64, count: u64, step: i64) -> AxisSelection {
        let reach = count.saturating_sub(1).saturating_mul(step.unsigned_abs());
        let range = match step {
            _ if count == 0 => 0..0,
            ..0 => start.saturating_sub(reach)..start.saturating_add(1),
            _ => start..start.saturating_add(reach).saturating_add(1),
        };
        AxisSelection::Step { range, step }
    }

    /// Number of selected indices; of a step of 0, as of a step of 1.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            AxisSelection::Index(_) => 1,
            AxisSelection::Range(range) => length(range),
            AxisSelection::Step { range, step } => count(length(range), step.unsigned_abs()),
            AxisSelection::Indices(indices) => to_u64(indices.len()),
            AxisSelection::Mask(mask) => to_u64(mask.iter().filter(|is| **is).count()),
        }
    }

    /// Whether no index is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            AxisSelection::Mask(mask) => !mask.contains(&true),
            _ => self.len() == 0,
        }
    }

    /// The index at a position of the selection. Takes a pass over a mask, and constant time
    /// otherwise.
    #[must_use]
    pub fn get(&self, position: u64) -> Option<u64> {
        match self {
            AxisSelection::Index(index) => (position == 0).then_some(*index),
            AxisSelection::Range(range) => {
                (position < length(range)).then(|| range.start.saturating_add(position))
            }
            AxisSelection::Step { range, step } => {
                let distance = position.checked_mul(step.unsigned_abs())?;
                let index = match *step < 0 {
                    true => range.end.checked_sub(1)?.checked_sub(distance)?,
                    false => range.start.checked_add(distance)?,
                };
                range.contains(&index).then_some(index)
            }
            AxisSelection::Indices(indices) => {
                indices.get(usize::try_from(position).ok()?).copied()
            }
            AxisSelection::Mask(mask) => selected(mask).nth(usize::try_from(position).ok()?),
        }
    }

    /// The selected indices in order. Takes constant time for each, and one pass over a mask.
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::AxisSelection;
    ///
    /// assert!(AxisSelection::from(3..5).indices().eq([3, 4]));
    /// assert!(AxisSelection::from(vec![true, false, true]).indices().eq([0, 2]));
    /// ```
    pub fn indices(&self) -> impl Iterator<Item = u64> + '_ {
        let (computed, mask) = match self {
            AxisSelection::Mask(mask) => (0, mask.as_slice()),
            _ => (self.len(), &[][..]),
        };
        (0..computed).filter_map(|position| self.get(position)).chain(selected(mask))
    }

    /// The smallest range that holds all selected indices; an empty one if there are none.
    #[must_use]
    pub fn bounds(&self) -> Range<u64> {
        let ends = match self {
            AxisSelection::Indices(indices) => {
                indices.iter().min().copied().zip(indices.iter().max().copied())
            }
            AxisSelection::Mask(mask) => {
                let last = || mask.iter().rposition(|is| *is).map(to_u64);
                selected(mask).next().zip(last())
            }
            _ => self
                .get(0)
                .zip(self.len().checked_sub(1).and_then(|last| self.get(last)))
                .map(|(first, last)| (first.min(last), first.max(last))),
        };
        ends.map_or(0..0, |(first, last)| first..last.saturating_add(1))
    }

    /// The part of the selection at these positions, clamped to its length.
    #[must_use]
    pub fn slice(&self, positions: Range<u64>) -> AxisSelection {
        let end = positions.end.min(self.len());
        let positions = positions.start.min(end)..end;
        match self {
            AxisSelection::Index(index) if !positions.is_empty() => AxisSelection::Index(*index),
            AxisSelection::Indices(indices) => {
                let range = to_usize(positions.start)..to_usize(positions.end);
                AxisSelection::Indices(indices[range].to_vec())
            }
            AxisSelection::Mask(mask) => {
                let some = selected(mask).skip(to_usize(positions.start));
                AxisSelection::Indices(some.take(to_usize(length(&positions))).collect())
            }
            _ => {
                let step = match self {
                    AxisSelection::Step { step, .. } => *step,
                    _ => 1,
                };
                let last = positions.end.checked_sub(1);
                let ends = self.get(positions.start).zip(last.and_then(|last| self.get(last)));
                let range = ends
                    .filter(|_| !positions.is_empty())
                    .map_or(0..0, |(a, b)| a.min(b)..a.max(b).saturating_add(1));
                match step {
                    1 => AxisSelection::Range(range),
                    step => AxisSelection::Step { range, step },
                }
            }
        }
    }
}

impl From<Range<u64>> for AxisSelection {
    fn from(range: Range<u64>) -> Self {
        AxisSelection::Range(range)
    }
}

impl From<u64> for AxisSelection {
    fn from(index: u64) -> Self {
        AxisSelection::Index(index)
    }
}

impl From<Vec<u64>> for AxisSelection {
    fn from(indices: Vec<u64>) -> Self {
        AxisSelection::Indices(indices)
    }
}

impl From<&[u64]> for AxisSelection {
    fn from(indices: &[u64]) -> Self {
        indices.to_vec().into()
    }
}

impl<const N: usize> From<[u64; N]> for AxisSelection {
    fn from(indices: [u64; N]) -> Self {
        indices.to_vec().into()
    }
}

impl From<Vec<bool>> for AxisSelection {
    fn from(mask: Vec<bool>) -> Self {
        AxisSelection::Mask(mask)
    }
}

impl From<&[bool]> for AxisSelection {
    fn from(mask: &[bool]) -> Self {
        mask.to_vec().into()
    }
}

/// The indices with a true entry.
pub(crate) fn selected(mask: &[bool]) -> impl Iterator<Item = u64> {
    (0..).zip(mask).filter_map(|(index, is)| is.then_some(index))
}

/// How many of `length` indices are selected with this step, from the first on.
#[inline]
pub(crate) fn count(length: u64, step: u64) -> u64 {
    if step <= 1 { length } else { length.div_ceil(step) }
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}
