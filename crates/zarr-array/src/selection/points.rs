//! Single elements of an array, and the chunks that hold them.

use zarr_grid::{Axis, Grid, GridError, GridErrorKind};

use crate::counts::narrow;
use crate::error::{ArrayError, check_count};

/// Single elements of an array: one list of indices per axis, all of the same length. Element `i`
/// has entry `i` of each list as its index, as in numpy's `a[rows, columns]` and zarr-python's
/// `vindex`.
///
/// An array without axes has one element, and its points have no lists.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::Array;
/// # use zarr_array::store::{MemoryStore, Prefix};
/// # use zarr_metadata::{ArrayBuilder, DataType};
/// use zarr_array::Points;
/// # let metadata = ArrayBuilder::new([4, 3], DataType::Uint8).chunk_shape([2, 2]).build()?;
/// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
///
/// let points = Points::from([[3, 0, 2], [0, 2, 1]]); // elements (3, 0), (0, 2) and (2, 1)
/// array.write(&points, &[30, 2, 21])?;
/// assert_eq!(array.read([2..4, 0..3])?, [0, 21, 0, 30, 0, 0]);
/// assert_eq!(array.read(&points)?, [30, 2, 21]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Points {
    axes: Vec<Vec<u64>>,
}

impl Points {
    /// The elements with these indices, one list per axis. Reads and writes check them.
    #[must_use]
    pub fn new(axes: Vec<Vec<u64>>) -> Self {
        Self { axes }
    }

    /// The elements for which a mask of this shape, in C order, is true; also in C order.
    ///
    /// # Errors
    /// [`ArrayError::ElementCount`] unless the mask has one entry per element of the shape.
    ///
    /// # Examples
    /// ```
    /// use zarr_array::Points;
    ///
    /// let points = Points::of_mask(&[2, 3], &[false, true, false, true, false, true])?;
    /// assert_eq!(points, Points::from([[0, 1, 1], [1, 0, 2]]));
    /// # Ok::<(), zarr_array::ArrayError>(())
    /// ```
    pub fn of_mask(shape: &[u64], mask: &[bool]) -> Result<Self, ArrayError> {
        check_count(mask.len(), shape)?;
        let mut axes = vec![Vec::new(); shape.len()];
        let mut index = vec![0_u64; shape.len()];
        for is_selected in mask {
            if *is_selected {
                axes.iter_mut().zip(&index).for_each(|(axis, index)| axis.push(*index));
            }
            for (at, length) in index.iter_mut().zip(shape).rev() {
                *at += 1;
                if *at < *length {
                    break;
                }
                *at = 0;
            }
        }
        // Without axes, no points and one point would look the same.
        match (shape, mask) {
            ([], [false]) => Err(ArrayError::ElementCount { found: 0, expected: Vec::new() }),
            _ => Ok(Self { axes }),
        }
    }

    /// The indices on each axis.
    #[must_use]
    pub fn axes(&self) -> &[Vec<u64>] {
        &self.axes
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.axes.first().map_or(1, Vec::len)
    }

    /// Whether there are no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index of the element at `position`, which is less than the length.
    pub(crate) fn index(&self, position: usize) -> impl Iterator<Item = u64> {
        self.axes.iter().map(move |axis| axis[position])
    }

    /// Refuses points of another rank, lists of different lengths, and indices outside the grid.
    fn check(&self, grid: &Grid) -> Result<(), GridError> {
        let (found, rank) = (self.axes.len(), grid.rank());
        if found != rank {
            return Err(GridErrorKind::Rank { what: "lists of indices", found, rank }.into());
        }
        for (number, (indices, axis)) in self.axes.iter().zip(grid.axes()).enumerate() {
            let (found, expected) = (indices.len(), self.len());
            if found != expected {
                let kind = GridErrorKind::Length { what: "indices", found, expected };
                return Err(GridError::from(kind).on_axis(number));
            }
            let extent = axis.extent();
            if let Some(index) = indices.iter().copied().find(|index| *index >= extent) {
                let kind = GridErrorKind::IndexOutOfBounds { index, extent };
                return Err(GridError::from(kind).on_axis(number));
            }
        }
        Ok(())
    }
}

impl From<&Points> for Points {
    fn from(points: &Points) -> Self {
        points.clone()
    }
}

impl From<Vec<Vec<u64>>> for Points {
    fn from(axes: Vec<Vec<u64>>) -> Self {
        Self { axes }
    }
}

impl<const RANK: usize> From<[Vec<u64>; RANK]> for Points {
    fn from(axes: [Vec<u64>; RANK]) -> Self {
        Self { axes: axes.into() }
    }
}

impl<const RANK: usize, const LEN: usize> From<[[u64; LEN]; RANK]> for Points {
    fn from(axes: [[u64; LEN]; RANK]) -> Self {
        Self { axes: axes.into_iter().map(Vec::from).collect() }
    }
}

/// The chunk of an index of the axis, and the index within it.
pub(crate) fn chunk_of(axis: &Axis, index: u64) -> Result<(u64, u64), ArrayError> {
    let outside = || GridErrorKind::IndexOutOfBounds { index, extent: axis.extent() };
    axis.chunk_of(index).ok_or_else(|| ArrayError::Selection { cause: outside().into() })
}

/// Points in groups; each group lies in one chunk.
pub(crate) struct Groups {
    /// Positions of points in the caller's lists: each group's together, in their order.
    order: Vec<usize>,
    /// Where each group ends in `order`.
    ends: Vec<usize>,
}

impl Groups {
    /// One group per chunk, in C order of the chunks. Memory is proportional to the points.
    pub(crate) fn by_chunk(grid: &Grid, points: &Points) -> Result<Self, ArrayError> {
        points.check(grid).map_err(|cause| ArrayError::Selection { cause })?;
        let chunk = |position| {
            let axes = grid.axes().iter().zip(points.index(position));
            axes.map(|(axis, index)| axis.chunk_of(index).map(|(chunk, _)| chunk))
        };
        let Some(chunks) = grid.occupied_chunks() else {
            // Too many chunks to number them: compare their numbers on each axis.
            let mut order: Vec<usize> = (0..points.len()).collect();
            order.sort_by(|a, b| chunk(*a).cmp(chunk(*b)));
            let ends = ends(&order, |a, b| chunk(a).eq(chunk(b)));
            return Ok(Self { order, ends });
        };
        let mut numbers = vec![0_u64; points.len()];
        for (axis, indices) in grid.axes().iter().zip(points.axes()) {
            for (number, index) in numbers.iter_mut().zip(indices) {
                let (chunk, _) = chunk_of(axis, *index)?;
                // All chunks together are fewer than 2^64.
                *number = *number * axis.occupied() + chunk;
            }
        }
        let order = sorted(&numbers, narrow(chunks));
        let number = |position: usize| numbers.get(position);
        let ends = ends(&order, |a, b| number(a) == number(b));
        Ok(Self { order, ends })
    }

    /// The number of groups.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The positions of the points of a group, in the caller's order.
    pub(crate) fn group(&self, number: usize) -> &[usize] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.order[start..self.ends[number]]
    }

    /// The positions of all points, group after group.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Where the groups end, except the last.
    pub(crate) fn cuts(&self) -> &[usize] {
        self.ends.split_last().map_or(&[], |(_, before)| before)
    }
}

/// The positions of numbers below `bound` in ascending order; equal ones stay in their order.
fn sorted(numbers: &[u64], bound: usize) -> Vec<usize> {
    if numbers.is_sorted() {
        return (0..numbers.len()).collect();
    }
    if bound > numbers.len().saturating_mul(2) {
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by_key(|position| numbers.get(*position));
        return order;
    }
    // Few enough to count how often each occurs, which takes one pass instead of a sort.
    let mut places = vec![0_usize; bound + 1];
    for number in numbers {
        if let Some(count) = places.get_mut(narrow(*number) + 1) {
            *count += 1;
        }
    }
    let mut before = 0_usize;
    for place in &mut places {
        before += *place;
        *place = before;
    }
    let mut order = vec![0; numbers.len()];
    for (position, number) in numbers.iter().enumerate() {
        if let Some(place) = places.get_mut(narrow(*number)) {
            if let Some(slot) = order.get_mut(*place) {
                *slot = position;
            }
            *place += 1;
        }
    }
    order
}

/// Where runs of positions that belong together end.
fn ends(order: &[usize], together: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut end = 0_usize;
    for run in order.chunk_by(|a, b| together(*a, *b)) {
        end += run.len();
        ends.push(end);
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_by_counting_and_by_comparing_alike() {
        let mut state = 1_u64;
        for length in 0..60 {
            for bound in [1, 2, 7, 40, 1000] {
                let numbers: Vec<u64> = (0..length)
                    .map(|_| {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        (state >> 33) % bound
                    })
                    .collect();
                let mut expected: Vec<usize> = (0..length).collect();
                expected.sort_by_key(|position| (numbers[*position], *position));
                assert_eq!(sorted(&numbers, narrow(bound)), expected, "{numbers:?}");
                assert_eq!(sorted(&numbers, usize::MAX), expected, "{numbers:?}");
            }
        }
    }
}
