//! Which parts of two arrays differ, without reading a chunk for several of them.
//!
//! Where the chunks of two arrays cross, such as rows and columns, each piece of one array touches many
//! chunks of the other. So each array is read once, in its own order, and only sums are kept: for each
//! tile of the arrays, the sum of a hash of each element with its place. The hash has a random key.
//! Two tiles with different elements have equal sums with a probability of about 2^-64.

use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;

/// The most tiles, each with eight bytes per array.
const MOST_TILES: u64 = 1 << 16;

/// Odd numbers with about as many bits of one as of zero.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// The tiles of two arrays of one shape, all of the same size but at the end.
pub(super) struct Tiles<'s> {
    shape: &'s [u64],
    edges: Vec<u64>,
    /// Tiles on each axis.
    counts: Vec<u64>,
    keys: [u64; 2],
}

/// The sums of the tiles of one array; `None` for tiles with elements that cannot be read.
pub(super) type Sums = Vec<Option<u64>>;

impl<'s> Tiles<'s> {
    /// Tiles of at most so many elements, unless they are too many.
    pub(super) fn new(shape: &'s [u64], most: u64) -> Self {
        let counts = |edges: &[u64]| -> Vec<u64> {
            shape.iter().zip(edges).map(|(length, edge)| length.div_ceil(*edge)).collect()
        };
        let mut edges: Vec<u64> = shape.iter().map(|length| (*length).max(1)).collect();
        while product(&edges) > most {
            let mut halved = edges.clone();
            halved.iter_mut().max().into_iter().for_each(|longest| *longest = longest.div_ceil(2));
            if product(&counts(&halved)) > MOST_TILES {
                break;
            }
            edges = halved;
        }
        let random = RandomState::new();
        let keys = [random.hash_one(0), random.hash_one(1) | 1];
        Self { shape, counts: counts(&edges), edges, keys }
    }

    /// The sums of no elements.
    pub(super) fn sums(&self) -> Sums {
        vec![Some(0); usize::try_from(product(&self.counts)).unwrap_or(0)]
    }

    /// The boxes of the tiles whose sums differ, in C order.
    pub(super) fn different(&self, one: &Sums, other: &Sums) -> Vec<Vec<Range<u64>>> {
        let pairs = (0_u64..).zip(one.iter().zip(other));
        let differ = pairs.filter(|(_, (one, other))| one.is_none() || one != other);
        let tiles = differ.filter_map(|(number, _)| zarr_grid::unravel(number, &self.counts));
        let axes = |tile: Vec<u64>| {
            let axes = tile.into_iter().zip(&self.edges).zip(self.shape);
            axes.map(|((at, edge), length)| {
                let start = at.saturating_mul(*edge);
                start..start.saturating_add(*edge).min(*length)
            })
            .collect()
        };
        tiles.map(axes).collect()
    }

    /// Adds the elements of a box, in C order.
    pub(super) fn add<'e>(
        &self,
        sums: &mut Sums,
        region: &[Range<u64>],
        mut elements: impl Iterator<Item = &'e [u8]>,
    ) {
        let at = |index: &[u64], axis: usize| index.get(axis).copied().unwrap_or(0);
        // Lines along the last axis, cut where tiles end.
        let last = region.len().saturating_sub(1);
        let (end, edge) = (region.last().map_or(1, |axis| axis.end), at(&self.edges, last).max(1));
        let mut index: Vec<u64> = region.iter().map(|axis| axis.start).collect();
        loop {
            let start = at(&index, last);
            let stop = (start / edge).saturating_add(1).saturating_mul(edge).min(end);
            let mut place = ravel(&index, self.shape);
            let mut sum = 0_u64;
            let length = usize::try_from(stop - start).unwrap_or(usize::MAX);
            for element in elements.by_ref().take(length) {
                sum = sum.wrapping_add(self.hash(place, element));
                place = place.wrapping_add(1);
            }
            let tile: Vec<u64> =
                index.iter().zip(&self.edges).map(|(at, edge)| at / edge).collect();
            let tile = usize::try_from(ravel(&tile, &self.counts)).unwrap_or(usize::MAX);
            if let Some(Some(total)) = sums.get_mut(tile) {
                *total = total.wrapping_add(sum);
            }
            index.last_mut().into_iter().for_each(|at| *at = stop);
            if !carry(&mut index, region) {
                return;
            }
        }
    }

    /// The tiles of a box cannot be compared by their sums.
    pub(super) fn skip(&self, sums: &mut Sums, region: &[Range<u64>]) {
        let touched = region.iter().zip(&self.edges);
        let touched: Vec<Range<u64>> =
            touched.map(|(axis, edge)| axis.start / edge..axis.end.div_ceil(*edge)).collect();
        let mut tile: Vec<u64> = touched.iter().map(|axis| axis.start).collect();
        loop {
            let number = usize::try_from(ravel(&tile, &self.counts)).unwrap_or(usize::MAX);
            sums.get_mut(number).into_iter().for_each(|sum| *sum = None);
            tile.last_mut().into_iter().for_each(|at| *at += 1);
            if !carry(&mut tile, &touched) {
                return;
            }
        }
    }

    fn hash(&self, place: u64, element: &[u8]) -> u64 {
        let [first, second] = self.keys;
        // The place is hashed first: of two elements that change places, the sum changes.
        let mut hash = folded(place ^ first, FACTORS[0]);
        for word in element.chunks(8) {
            let mut bytes = [0; 8];
            bytes.iter_mut().zip(word).for_each(|(to, from)| *to = *from);
            hash = folded(hash ^ u64::from_le_bytes(bytes), second).wrapping_add(FACTORS[1]);
        }
        // The length, of elements of variable length.
        hash ^ u64::try_from(element.len()).unwrap_or(u64::MAX).wrapping_mul(FACTORS[1])
    }
}

/// The halves of a product of 128 bits, one over the other.
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a).wrapping_mul(u128::from(b));
    let low = u64::try_from(product & u128::from(u64::MAX)).unwrap_or(0);
    low ^ u64::try_from(product >> 64).unwrap_or(0)
}

fn product(lengths: &[u64]) -> u64 {
    lengths.iter().copied().fold(1, u64::saturating_mul)
}

/// The number of an index in C order, modulo 2^64.
fn ravel(index: &[u64], shape: &[u64]) -> u64 {
    let axes = index.iter().zip(shape);
    axes.fold(0, |sum: u64, (at, length)| sum.wrapping_mul(*length).wrapping_add(*at))
}

/// Carries an index past the end of a box's axis to the axis before; false past the end of the box.
pub(super) fn carry(index: &mut [u64], region: &[Range<u64>]) -> bool {
    let mut is_past = true;
    let last = index.len();
    for (axis, (at, range)) in index.iter_mut().zip(region).enumerate().rev() {
        if axis + 1 < last {
            *at += 1;
        }
        is_past = *at >= range.end;
        if !is_past {
            break;
        }
        *at = range.start;
    }
    !is_past
}

#[cfg(test)]
mod tests {
    use super::Tiles;

    fn elements(region: &[std::ops::Range<u64>], value: impl Fn(u64, u64) -> u16) -> Vec<[u8; 2]> {
        let (rows, columns) = (region[0].clone(), region[1].clone());
        let of_row = |row| columns.clone().map(move |column| (row, column));
        rows.flat_map(of_row).map(|(row, column)| value(row, column).to_le_bytes()).collect()
    }

    /// All ways to cut an array into two boxes have the sums of the whole.
    #[test]
    fn sums_do_not_depend_on_the_order_of_reading() {
        let shape = [7, 10];
        let tiles = Tiles::new(&shape, 6);
        let value = |row: u64, column: u64| u16::try_from(row * 100 + column).expect("small");
        let sums = |boxes: &[[std::ops::Range<u64>; 2]]| {
            let mut sums = tiles.sums();
            for region in boxes {
                let elements = elements(region, value);
                tiles.add(&mut sums, region, elements.iter().map(|element| &element[..]));
            }
            sums
        };
        let whole = sums(&[[0..7, 0..10]]);
        assert!(whole.len() > 12 && whole.iter().all(|sum| *sum != Some(0)));
        for row in 1..7 {
            assert!(sums(&[[0..row, 0..10], [row..7, 0..10]]) == whole, "{row}");
        }
        for column in 1..10 {
            assert!(sums(&[[0..7, column..10], [0..7, 0..column]]) == whole, "{column}");
        }
    }

    /// One change, two elements that change places, and a value that moves, each anywhere.
    #[test]
    fn any_change_is_in_a_different_tile() {
        let shape = [4, 6];
        let whole = [0..4, 0..6];
        let tiles = Tiles::new(&shape, 24);
        let sums = |values: &[[u8; 2]]| {
            let mut sums = tiles.sums();
            tiles.add(&mut sums, &whole, values.iter().map(|element| &element[..]));
            sums
        };
        let values = elements(&whole, |row, column| u16::from(row * column % 2 == 1) * 7);
        let before = sums(&values);
        assert!(tiles.different(&before, &before).is_empty());
        for first in 0..24 {
            for second in 0..24 {
                for by in [0, 1, 7] {
                    let mut changed = values.clone();
                    changed.swap(first, second);
                    changed[first][0] ^= by;
                    if changed != values {
                        let found = tiles.different(&before, &sums(&changed));
                        assert_eq!(found, std::slice::from_ref(&whole), "{first} {second} {by}");
                    }
                }
            }
        }
    }

    #[test]
    fn tiles_that_cannot_be_read_are_different() {
        let shape = [5, 5];
        let tiles = Tiles::new(&shape, 9);
        let mut sums = tiles.sums();
        tiles.skip(&mut sums, &[0..1, 3..5]);
        assert_eq!(tiles.different(&sums, &sums), [[0..3, 3..5]]);
    }
}
