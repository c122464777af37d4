//! Work in parts, for the tasks of a cluster's scheduler: which chunks and objects belong to which.

use std::fmt;
use std::hash::Hasher as _;
use std::num::NonZero;
use std::ops::Range;
use std::str::FromStr;

use fnv::FnvHasher;
use zarr_grid::{Grid, GridError, boxes};

/// One of several parts of a piece of work, such as part 3 of 16, numbered from 1.
///
/// Each part owns whole chunks (shards, where there are any) of every array, and all parts together
/// own every chunk once. The array alone determines the owner of each chunk, so the tasks of a
/// scheduler need not communicate.
///
/// Within an array the chunks of a part are neighbours in C order. The numbers of chunks of two
/// parts differ by at most one. Arrays with fewer chunks than there are parts are distributed by
/// their paths.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Array, Part};
/// # use zarr_array::store::{MemoryStore, Prefix};
/// # use zarr_metadata::{ArrayBuilder, DataType};
/// # let metadata = ArrayBuilder::new([90], DataType::Uint8).chunks([[31, 28, 31].into()]).build()?;
/// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
/// let mut elements = 0;
/// for number in 1..=2 {
///     for region in Part::new(number, 2)?.regions(&array)? {
///         elements += array.read(region)?.len();
///     }
/// }
/// assert_eq!(elements, 90);
///
/// let part: Part = "3/16".parse()?;
/// assert_eq!((part.number(), part.of(), part.is_first()), (3, 16, false));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    number: u32,
    of: NonZero<u32>,
}

impl Part {
    /// The most parts: more than the schedulers of clusters run as one job.
    pub const MOST: u32 = zarr_journal::MOST_PARTS;

    /// Part `number` of `of`.
    ///
    /// # Errors
    /// [`PartError`] unless `number` is from 1 to `of`, and `of` at most [`MOST`](Part::MOST).
    pub fn new(number: u32, of: u32) -> Result<Self, PartError> {
        match NonZero::new(of) {
            Some(parts) if (1..=of).contains(&number) && of <= Self::MOST => {
                Ok(Self { number, of: parts })
            }
            _ => Err(PartError { found: format!("{number}/{of}") }),
        }
    }

    /// The number of the part, from 1.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// Whether it is the first part, which also does work that belongs to no chunk.
    #[must_use]
    pub fn is_first(self) -> bool {
        self.number == 1
    }

    /// The number of parts.
    #[must_use]
    pub fn of(self) -> u32 {
        self.of.get()
    }

    /// The chunks of the array `name` that belong to this part.
    pub fn chunks(self, grid: &Grid, name: &str) -> Result<OwnedChunks, GridError> {
        let counts = grid.occupied().to_vec();
        let all = u128::from(grid.all_chunks()?.len());
        let of = NonZero::<u64>::from(self.of);
        // Small arrays do not all begin with the same part.
        let turn = u64::from(self.number).saturating_add(hash(name) >> 1) % of;
        // Neither is more than `all`, which is of `u64`.
        let bound = |turn: u64| {
            let bound = u128::from(turn).saturating_mul(all) / NonZero::<u128>::from(of);
            u64::try_from(bound).unwrap_or(u64::MAX)
        };
        Ok(OwnedChunks { counts, range: bound(turn)..bound(turn.saturating_add(1)) })
    }

    /// Whether an object that is no chunk of an array belongs to this part.
    pub fn owns_object(self, name: &str) -> bool {
        hash(name) % NonZero::<u64>::from(self.of) == u64::from(self.number.saturating_sub(1))
    }
}

/// FNV-1a, identical in every process and version.
fn hash(name: &str) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(name.as_bytes());
    hasher.finish()
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Part {
    type Err = PartError;

    fn from_str(text: &str) -> Result<Self, PartError> {
        let error = || PartError { found: text.to_owned() };
        let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse().map_err(|_| error()),
            false => Err(error()),
        };
        let (part, of) = text.split_once('/').ok_or_else(error)?;
        Self::new(number(part)?, number(of)?).map_err(|_| error())
    }
}

/// An impossible [`Part`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "part {} is not allowed: parts are numbered from 1, such as 3/16, and at most {} in number",
    zarr_metadata::Printable(found),
    Part::MOST
)]
pub struct PartError {
    found: String,
}

crate::store::debug_as_text!(PartError);

/// Occupied chunks of one array that are neighbours in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedChunks {
    /// The number of occupied chunks per axis.
    counts: Vec<u64>,
    /// Their numbers in C order.
    range: Range<u64>,
}

impl OwnedChunks {
    /// Whether a chunk is one of them; `None` if the array has no such chunk.
    pub fn contains(&self, chunk: &[u64]) -> Option<bool> {
        if chunk.len() != self.counts.len() {
            return None;
        }
        let mut number = 0_u64;
        for (index, count) in chunk.iter().zip(&self.counts) {
            if index >= count {
                return None;
            }
            // Less than the number of chunks.
            number = number.saturating_mul(*count).saturating_add(*index);
        }
        Some(self.range.contains(&number))
    }

    /// The elements of these chunks, as boxes.
    pub fn regions(&self, grid: &Grid) -> Vec<Vec<Range<u64>>> {
        let elements = |chunks: &Vec<Range<u64>>| {
            let axes = chunks.iter().zip(grid.axes()).map(|(chunks, axis)| {
                let start = axis.start(chunks.start).unwrap_or(0);
                let last = chunks.end.saturating_sub(1);
                start..axis.clipped(last).map_or(start, |last| last.end)
            });
            axes.collect()
        };
        boxes(self.range.clone(), &self.counts).iter().map(elements).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use zarr_grid::Axis;

    use super::*;

    fn grids() -> Vec<Grid> {
        let months = || Axis::from_edges(80, [31, 28, 31]).expect("valid");
        let regular = |extent, edge| Axis::regular(extent, edge).expect("valid");
        vec![
            Grid::new([]),
            Grid::new([months()]),
            Grid::new([regular(10, 3), months()]),
            Grid::new([regular(5, 2), regular(4, 4), regular(7, 2)]),
            Grid::new([regular(0, 2), regular(4, 4)]),
        ]
    }

    /// Compared with a count of every chunk in every part.
    #[test]
    fn each_chunk_is_of_one_part_and_regions_are_whole_chunks() {
        for grid in grids() {
            let all = grid.occupied_chunks().expect("few");
            for of in (1..=20).chain([1000]) {
                let mut owners = BTreeMap::<Vec<u64>, u32>::new();
                let mut sizes = Vec::new();
                for number in 1..=of {
                    let part = Part::new(number, of).expect("valid");
                    let owned = part.chunks(&grid, "some/name").expect("few");
                    let mut mine = 0;
                    let mut parts = grid.all_chunks().expect("few");
                    while let Some(chunk) = parts.next_part() {
                        mine += u64::from(owned.contains(chunk.chunk()).expect("is there"));
                    }
                    let regions = owned.regions(&grid);
                    assert!(regions.len() <= (2 * grid.rank()).max(1));
                    let mut covered = 0;
                    for region in &regions {
                        let mut parts = grid.chunks(region).expect("within");
                        while let Some(chunk) = parts.next_part() {
                            let whole = chunk.axes().iter().enumerate().all(|(d, axis)| {
                                grid.axes()[d]
                                    .clipped(chunk.chunk()[d])
                                    .is_some_and(|all| axis.len() == all.end - all.start)
                            });
                            assert!(whole, "{grid:?} {part} {region:?}");
                            assert_eq!(owned.contains(chunk.chunk()), Some(true));
                            assert_eq!(owners.insert(chunk.chunk().to_vec(), number), None);
                            covered += 1;
                        }
                    }
                    assert_eq!(covered, mine);
                    sizes.push(mine);
                }
                assert_eq!(owners.len() as u64, all);
                let least = sizes.iter().min().expect("parts");
                assert!(sizes.iter().all(|size| size - least <= 1), "{sizes:?}");
            }
        }
    }

    #[test]
    fn no_chunk_of_the_array_is_nobodys() {
        let grid = Grid::regular(&[4, 4], &[2, 2]).expect("valid");
        let owned = Part::new(1, 1).expect("valid").chunks(&grid, "").expect("few");
        assert_eq!(owned.contains(&[2, 0]), None);
        assert_eq!(owned.contains(&[0]), None);
        assert_eq!(owned.contains(&[1, 1]), Some(true));
    }

    /// Small arrays and other objects are spread over the parts.
    #[test]
    fn small_arrays_are_spread() {
        let grid = Grid::regular(&[1], &[1]).expect("valid");
        let mut counts = [0_u32; 8];
        let mut objects = [0_u32; 8];
        for number in 1..=8 {
            let part = Part::new(number, 8).expect("valid");
            for name in 0..800 {
                let owned = part.chunks(&grid, &format!("v{name}")).expect("few");
                counts[number as usize - 1] += u32::from(owned.contains(&[0]).expect("is there"));
                {
                    objects[number as usize - 1] +=
                        u32::from(part.owns_object(&format!("c/{name}")));
                }
            }
        }
        assert_eq!(counts.iter().sum::<u32>(), 800);
        assert!(counts.iter().all(|count| (50..150).contains(count)), "{counts:?}");
        assert!(objects == [0; 8] || objects.iter().all(|count| (50..150).contains(count)));
    }

    #[test]
    fn parts_are_numbered_from_one() {
        for text in ["1/1", "3/16", "100000/100000"] {
            let part: Part = text.parse().expect("valid");
            assert_eq!(part.to_string(), text);
        }
        for text in [
            "0/16",
            "17/16",
            "0/0",
            "1/100001",
            "3",
            "3/",
            "/3",
            "+1/2",
            "-1/2",
            "1/2/3",
            "1 / 2",
            "99999999999/2",
            "",
            "\u{1b}[2J/2",
        ] {
            let error = text.parse::<Part>().expect_err(text).to_string();
            assert!(error.starts_with("part ") && !error.contains('\u{1b}'), "{error}");
        }
    }
}
