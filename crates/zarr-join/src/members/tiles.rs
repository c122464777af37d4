//! The places of members in a joined array: a grid of tiles of any lengths.

use std::ops::Range;

/// A grid of tiles without gap or overlap: each tile is one member. Joining end to end is a grid
/// that has one tile on every other axis.
///
/// Tiles are numbered in C order: the last axis varies fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// The start of each tile on each axis, and the end of the last one: never empty.
    bounds: Vec<Vec<u64>>,
}

/// The place with this number, in C order: of tiles that are counted, so at least one on each axis.
pub(crate) fn place_of(mut number: usize, counts: &[usize]) -> Vec<usize> {
    let mut place = vec![0; counts.len()];
    for (at, count) in place.iter_mut().zip(counts).rev() {
        *at = number % count;
        number /= count;
    }
    place
}

/// The number of a place, in C order.
pub(crate) fn number_of(place: &[usize], counts: &[usize]) -> usize {
    place.iter().zip(counts).fold(0, |number: usize, (at, count)| number * count + at)
}

impl Tiles {
    /// Tiles with these lengths on each axis.
    ///
    /// # Errors
    /// [`TooLong`] if a sum exceeds `u64`.
    pub(crate) fn new(lengths: &[Vec<u64>]) -> Result<Self, TooLong> {
        let mut bounds = Vec::with_capacity(lengths.len());
        for (axis, lengths) in lengths.iter().enumerate() {
            let mut end = 0_u64;
            let mut axis_bounds = vec![0];
            for (tile, length) in lengths.iter().enumerate() {
                end = end.checked_add(*length).ok_or(TooLong { axis, tile })?;
                axis_bounds.push(end);
            }
            bounds.push(axis_bounds);
        }
        Ok(Self { bounds })
    }

    /// The shape of the joined array.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        self.bounds.iter().map(|bounds| bounds.last().copied().unwrap_or(0)).collect()
    }

    /// The number of tiles on each axis.
    #[must_use]
    pub fn counts(&self) -> Vec<usize> {
        self.bounds.iter().map(|bounds| bounds.len().saturating_sub(1)).collect()
    }

    /// The start of each tile on an axis, and the end of the last one; empty for an axis that does
    /// not exist.
    #[must_use]
    pub fn bounds(&self, axis: usize) -> &[u64] {
        self.bounds.get(axis).map_or(&[], Vec::as_slice)
    }

    /// The number of tile `tile` on each axis.
    #[must_use]
    pub fn place(&self, tile: usize) -> Vec<usize> {
        place_of(tile, &self.counts())
    }

    /// The tile with these numbers on the axes.
    #[must_use]
    pub fn tile(&self, place: &[usize]) -> usize {
        number_of(place, &self.counts())
    }

    /// The region of tile `tile` in the joined array.
    #[must_use]
    pub fn region(&self, tile: usize) -> Vec<Range<u64>> {
        let place = self.place(tile);
        let axes = self.bounds.iter().zip(place);
        axes.map(|(bounds, at)| bounds[at]..bounds[at + 1]).collect()
    }

    /// The tiles on an axis that have indices of `range`, by their numbers on that axis. Tiles of
    /// length 0 have none, but are included if they lie between others.
    #[must_use]
    pub fn overlapping(&self, axis: usize, range: Range<u64>) -> Range<usize> {
        let bounds = self.bounds(axis);
        if range.is_empty() {
            return 0..0;
        }
        // The last tile that starts at or before the first index, and the first that ends at or
        // after the last one.
        let starts = bounds.partition_point(|bound| *bound <= range.start);
        let ends = bounds.partition_point(|bound| *bound < range.end);
        starts.saturating_sub(1)..ends.min(bounds.len().saturating_sub(1))
    }
}

/// The tile with which an axis exceeds `u64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong {
    pub(crate) axis: usize,
    pub(crate) tile: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_agree_with_a_walk() {
        let lengths = [vec![3, 0, 2], vec![4], vec![1, 5]];
        let tiles = Tiles::new(&lengths).expect("small");
        assert_eq!((tiles.shape(), tiles.counts()), (vec![5, 4, 6], vec![3, 1, 2]));
        let mut tile = 0;
        for (a, first) in [0, 3, 3].into_iter().enumerate() {
            for (c, last) in [0, 1].into_iter().enumerate() {
                assert_eq!(tiles.place(tile), [a, 0, c]);
                assert_eq!(tiles.tile(&[a, 0, c]), tile);
                let expected = [first..first + lengths[0][a], 0..4, last..last + lengths[2][c]];
                assert_eq!(tiles.region(tile), expected);
                tile += 1;
            }
        }
    }

    #[test]
    fn overlapping_tiles_are_those_with_an_index_in_the_range() {
        let lengths = vec![3, 0, 2, 1, 0, 0, 4];
        let tiles = Tiles::new(std::slice::from_ref(&lengths)).expect("small");
        for start in 0..10 {
            for end in start + 1..=10 {
                let mut expected = Vec::new();
                let mut first = 0;
                for (tile, length) in lengths.iter().enumerate() {
                    if (first..first + length).any(|index| (start..end).contains(&index)) {
                        expected.push(tile);
                    }
                    first += length;
                }
                let found = tiles.overlapping(0, start..end);
                let nonempty: Vec<usize> = found.filter(|tile| lengths[*tile] > 0).collect();
                assert_eq!(nonempty, expected, "{start}..{end}");
            }
        }
        assert_eq!(tiles.overlapping(0, 4..4), 0..0);
    }

    #[test]
    fn a_sum_past_the_largest_number_names_the_tile() {
        let lengths = [vec![1], vec![u64::MAX, 1]];
        assert_eq!(Tiles::new(&lengths), Err(TooLong { axis: 1, tile: 1 }));
    }
}
