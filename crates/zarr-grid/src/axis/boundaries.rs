//! Sorted boundaries, and the interval between them that a value falls into.
//!
//! A binary search over a million boundaries misses the cache at most of its twenty steps. The
//! bucket table cuts the axis into equal buckets, a power of two wide and about a quarter as many
//! as there are intervals. For each bucket it records the interval of its first value:
//!
//! ```text
//! bounds   0   3 5   8  10  12  14    17  20
//!          |---|-|---|---|---|---|-----|---|
//! buckets  |               |               |      16 wide
//! table    0               5               7      the last entry is a sentinel
//! ```
//!
//! A value's interval lies between its bucket's entry and the next one's. If edges are similar, few
//! candidates remain. All are compared, without a branch that depends on the value. So a look-up
//! costs two loads that may miss the cache, and consecutive look-ups overlap.
//!
//! Many look-ups at once load the table for a block of values, then the boundaries for the block.
//! More loads overlap then than the processor finds by itself, and the comparisons take most of the
//! time. Four halvings of sixteen candidates are less work than eight comparisons, and need no second
//! entry of the table: an entry is marked where sixteen are too few. A single look-up compares eight,
//! because sixteen are in two cache lines.
//!
//! Where edges differ wildly, many candidates fall into one bucket. A static B-tree finds the
//! interval there: its lowest level has every 16th boundary, the next one every 256th, and so on. A
//! million boundaries have four levels above them, and all but the lowest stay in the cache.
//!
//! Boundaries below 2^32 take four bytes each: half the memory is half the misses.

use alloc::vec;
use alloc::vec::Vec;

use crate::num::{to_u64, to_usize};

/// Intervals to a bucket, on average.
const DENSITY: u64 = 4;

/// Candidates in a bucket that are all compared.
const WINDOW: usize = 8;

/// Entries of a node of the B-tree. As many sentinels follow the last boundary, so that a window or
/// a node is compared whole.
const FANOUT: usize = 16;

/// Marks the entry of a bucket with more than [`FANOUT`] candidates.
const CROWDED: u32 = 1 << 31;

/// Values with overlapping loads in [`Sorted::find_each`].
const BLOCK: usize = 32;

/// A boundary as it is kept.
pub(crate) trait Bound: Copy + Ord + Into<u64> {
    /// Larger than every value that is looked up.
    const SENTINEL: Self;

    /// The same number; the caller knows that it fits.
    fn narrow(value: u64) -> Self;
}

impl Bound for u64 {
    const SENTINEL: u64 = u64::MAX;

    #[inline]
    fn narrow(value: u64) -> u64 {
        value
    }
}

impl Bound for u32 {
    const SENTINEL: u32 = u32::MAX;

    #[inline]
    fn narrow(value: u64) -> u32 {
        u32::try_from(value).unwrap_or(u32::MAX)
    }
}

/// Boundaries while they are collected: `0 = b[0] < b[1] < ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bounds {
    /// All boundaries fit.
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl Bounds {
    /// Just the boundary 0.
    pub(crate) fn new() -> Bounds {
        Bounds::Narrow(vec![0])
    }

    /// `bound` is larger than the last one.
    #[inline]
    pub(crate) fn push(&mut self, bound: u64) {
        match (&mut *self, u32::try_from(bound)) {
            (Bounds::Narrow(bounds), Ok(bound)) => bounds.push(bound),
            (Bounds::Wide(bounds), _) => bounds.push(bound),
            (Bounds::Narrow(_), Err(_)) => self.widen(bound),
        }
    }

    #[cold]
    fn widen(&mut self, bound: u64) {
        if let Bounds::Narrow(bounds) = self {
            let wide = bounds.iter().map(|&bound| u64::from(bound)).chain([bound]);
            *self = Bounds::Wide(wide.collect());
        }
    }

    /// The lengths of the intervals.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = u64> + '_ {
        let (narrow, wide): (&[u32], &[u64]) = match self {
            Bounds::Narrow(bounds) => (bounds, &[]),
            Bounds::Wide(bounds) => (&[], bounds),
        };
        let narrow = narrow.windows(2).map(|pair| u64::from(pair[1] - pair[0]));
        narrow.chain(wide.windows(2).map(|pair| pair[1] - pair[0]))
    }
}

/// Boundaries `0 = b[0] < b[1] < ... < b[n]` of `n` intervals.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Boundaries {
    /// The last boundary fits.
    Narrow(Sorted<u32>),
    Wide(Sorted<u64>),
}

/// Runs the same code for either width.
macro_rules! either {
    ($boundaries:expr, $sorted:ident => $body:expr) => {
        match $boundaries {
            Boundaries::Narrow($sorted) => $body,
            Boundaries::Wide($sorted) => $body,
        }
    };
}

impl Boundaries {
    pub(crate) fn new(bounds: Bounds) -> Boundaries {
        match bounds {
            Bounds::Narrow(bounds) => Boundaries::Narrow(Sorted::new(bounds)),
            Bounds::Wide(bounds) => Boundaries::Wide(Sorted::new(bounds)),
        }
    }

    /// Number of intervals.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        either!(self, sorted => sorted.intervals)
    }

    /// Boundary number `at`, which is at most `len()`.
    #[inline]
    pub(crate) fn bound(&self, at: usize) -> u64 {
        either!(self, sorted => sorted.bound(at))
    }

    /// Length of interval number `at`, which is less than `len()`.
    #[inline]
    pub(crate) fn length(&self, at: usize) -> u64 {
        self.bound(at + 1) - self.bound(at)
    }

    /// The longest interval up to number `last`, which is less than `len()`.
    pub(crate) fn longest(&self, last: usize) -> u64 {
        either!(self, sorted => sorted.longest(last))
    }

    /// The last boundary.
    pub(crate) fn end(&self) -> u64 {
        self.bound(self.len())
    }

    /// The interval that holds `value`, which is less than `end()`, and where it starts.
    #[inline]
    pub(crate) fn find(&self, value: u64) -> (usize, u64) {
        debug_assert!(value < self.end());
        either!(self, sorted => sorted.find(value))
    }

    /// [`find`](Boundaries::find) for each of `values`, which are less than `end()`: the intervals,
    /// and how far behind its start each value is.
    pub(crate) fn find_each(&self, values: &[u64], found: &mut [u64], behind: &mut [u64]) {
        either!(self, sorted => sorted.find_each(values, found, behind));
    }

    /// The ends of the intervals from `from` on.
    pub(crate) fn ends(&self, from: usize) -> Ends<'_> {
        match self {
            Boundaries::Narrow(sorted) => Ends::Narrow(sorted.ends(from).iter()),
            Boundaries::Wide(sorted) => Ends::Wide(sorted.ends(from).iter()),
        }
    }
}

/// Ends of intervals, one after the other.
#[derive(Debug, Clone)]
pub(crate) enum Ends<'a> {
    Narrow(core::slice::Iter<'a, u32>),
    Wide(core::slice::Iter<'a, u64>),
}

impl Iterator for Ends<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        match self {
            Ends::Narrow(ends) => ends.next().map(|&end| end.into()),
            Ends::Wide(ends) => ends.next().copied(),
        }
    }
}

/// Boundaries of one width with their table.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Sorted<T> {
    /// `intervals + 1` boundaries, then [`FANOUT`] sentinels.
    bounds: Vec<T>,
    intervals: usize,
    /// The interval of the first value of each bucket, marked where the bucket is [`CROWDED`], then the
    /// last interval. Empty for at most [`WINDOW`] intervals, and for [`CROWDED`] intervals or more.
    table: Vec<u32>,
    /// Buckets are `1 << shift` wide.
    shift: u32,
    /// The levels of the B-tree above `bounds`, the lowest first: every [`FANOUT`]th entry of the
    /// level below, then sentinels. Empty where no bucket has more than [`WINDOW`] candidates.
    levels: Vec<Vec<T>>,
}

impl<T: Bound> Sorted<T> {
    /// `bounds` starts with 0 and increases.
    fn new(mut bounds: Vec<T>) -> Sorted<T> {
        debug_assert!(bounds.is_sorted_by(|a, b| a < b));
        let intervals = bounds.len().saturating_sub(1);
        let (table, shift) = table(&bounds);
        let crowded = |pair: &[u32]| interval(pair[1]) - interval(pair[0]) > WINDOW;
        let search =
            if table.is_empty() { intervals > WINDOW } else { table.windows(2).any(crowded) };
        let levels = if search { levels(&bounds) } else { Vec::new() };
        bounds.extend([T::SENTINEL; FANOUT]);
        Sorted { bounds, intervals, table, shift, levels }
    }

    #[inline]
    fn bound(&self, at: usize) -> u64 {
        self.bounds[at].into()
    }

    fn longest(&self, last: usize) -> u64 {
        let pairs = self.bounds[..=last + 1].windows(2);
        pairs.map(|pair| pair[1].into() - pair[0].into()).fold(0, u64::max)
    }

    fn ends(&self, from: usize) -> &[T] {
        &self.bounds[from + 1..=self.intervals]
    }

    #[inline]
    fn find(&self, value: u64) -> (usize, u64) {
        let (low, high) = self.candidates(value);
        let found = if high - low <= WINDOW {
            low + not_behind(&self.bounds[low + 1..low + 1 + WINDOW], T::narrow(value))
        } else {
            self.descend(T::narrow(value))
        };
        (found, self.bound(found))
    }

    fn find_each(&self, values: &[u64], found: &mut [u64], behind: &mut [u64]) {
        let out = found.chunks_mut(BLOCK).zip(behind.chunks_mut(BLOCK));
        for (values, (found, behind)) in values.chunks(BLOCK).zip(out) {
            let mut entries = [CROWDED; BLOCK];
            for (entry, &value) in entries.iter_mut().zip(values) {
                *entry = *self.table.get(self.bucket(value)).unwrap_or(&CROWDED);
            }
            // Loads the boundaries of the whole block before the first comparison waits for them.
            let mut first = [T::SENTINEL; BLOCK];
            for (first, &entry) in first.iter_mut().zip(&entries) {
                *first = self.bounds[interval(entry)];
            }
            core::hint::black_box(&first);
            let out = found.iter_mut().zip(behind);
            for ((&value, &entry), (found, behind)) in values.iter().zip(&entries).zip(out) {
                let (low, narrow) = (interval(entry), T::narrow(value));
                let at = match entry & CROWDED {
                    0 => low + last_not_behind(&self.bounds[low..], narrow),
                    _ => self.descend(narrow),
                };
                (*found, *behind) = (to_u64(at), value - self.bound(at));
            }
        }
    }

    /// The place of the bucket of `value` in the table, if there is a table.
    #[inline]
    fn bucket(&self, value: u64) -> usize {
        to_usize(value >> self.shift)
    }

    /// The first and the last interval that may hold `value`.
    #[inline]
    fn candidates(&self, value: u64) -> (usize, usize) {
        match self.table.get(self.bucket(value)..) {
            Some(&[low, high, ..]) => (interval(low), interval(high)),
            _ => (0, self.intervals - 1),
        }
    }

    /// The interval that holds `value`, by the B-tree.
    fn descend(&self, value: T) -> usize {
        let mut at = 0;
        for level in self.levels.iter().rev().chain([&self.bounds]) {
            at = at * FANOUT + last_not_behind(&level[at * FANOUT..], value);
        }
        at
    }
}

/// The interval in a table's entry.
#[inline]
fn interval(entry: u32) -> usize {
    to_usize((entry & !CROWDED).into())
}

/// The last of the first [`FANOUT`] entries of `bounds` that is at `value` or before it, or the first:
/// four halvings without a branch, so that look-ups overlap.
#[inline]
fn last_not_behind<T: Bound>(bounds: &[T], value: T) -> usize {
    let node: Option<&[T; FANOUT]> = bounds.first_chunk();
    node.map_or(0, |node| {
        [8, 4, 2, 1]
            .iter()
            .fold(0, |at, half| at + half * usize::from(node[(at + half) % FANOUT] <= value))
    })
}

/// How many of `bounds` are at `value` or before it.
#[inline]
fn not_behind<T: Bound>(bounds: &[T], value: T) -> usize {
    bounds.iter().map(|&bound| usize::from(bound <= value)).sum()
}

/// The levels of a B-tree above `bounds`, the lowest first. The highest fits into one node.
fn levels<T: Bound>(bounds: &[T]) -> Vec<Vec<T>> {
    let mut levels: Vec<Vec<T>> = Vec::new();
    let mut below = bounds;
    while below.len() > FANOUT {
        let mut level: Vec<T> = below.iter().step_by(FANOUT).copied().collect();
        let len = level.len();
        level.extend([T::SENTINEL; FANOUT]);
        levels.push(level);
        below = levels.last().map_or(&[], |level| &level[..len]);
    }
    levels
}

/// The bucket table and the shift that gives a value's bucket.
fn table<T: Bound>(bounds: &[T]) -> (Vec<u32>, u32) {
    let intervals = bounds.len().saturating_sub(1);
    let (Ok(count), Some(&last)) = (u32::try_from(intervals), bounds.last()) else {
        return (Vec::new(), 0);
    };
    if intervals <= WINDOW || count >= CROWDED {
        return (Vec::new(), 0);
    }
    let end: u64 = last.into();
    let buckets = |shift: u32| ((end - 1) >> shift).saturating_add(1);
    let most = to_u64(intervals).div_ceil(DENSITY);
    let mut shift = 0;
    while buckets(shift) > most {
        shift += 1;
    }
    // Each interval claims the first bucket that starts in it or after it. A later interval that
    // claims the same bucket is nearer. Buckets that none claims start in the interval of the one
    // before.
    let mut table = vec![0; to_usize(buckets(shift)) + 1];
    let round_up = (1_u64 << shift) - 1;
    for (interval, &start) in (0_u32..).zip(&bounds[..intervals]) {
        let start: u64 = start.into();
        // At most one past the last bucket, which is the sentinel's place.
        let bucket = (start >> shift) + u64::from(start & round_up != 0);
        table[to_usize(bucket)] = interval;
    }
    let mut nearest = 0;
    for entry in &mut table {
        nearest = nearest.max(*entry);
        *entry = nearest;
    }
    if let Some(sentinel) = table.last_mut() {
        *sentinel = count - 1;
    }
    for bucket in 1..table.len() {
        if interval(table[bucket]) - interval(table[bucket - 1]) >= FANOUT {
            table[bucket - 1] |= CROWDED;
        }
    }
    (table, shift)
}

impl core::fmt::Debug for Boundaries {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries((0..=self.len()).map(|at| self.bound(at))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every value of `bounds` is found where a walk finds it.
    fn check(bounds: Vec<u64>) {
        let mut pushed = Bounds::new();
        bounds[1..].iter().for_each(|&bound| pushed.push(bound));
        assert!(pushed.lengths().eq(bounds.windows(2).map(|pair| pair[1] - pair[0])));
        let boundaries = Boundaries::new(pushed);
        let narrow = boundaries.end() <= u32::MAX.into();
        assert_eq!(matches!(boundaries, Boundaries::Narrow(_)), narrow);
        let mut probes: Vec<u64> = bounds.iter().flat_map(|&b| [b, b.saturating_sub(1)]).collect();
        probes.extend(bounds.windows(2).map(|pair| pair[0] + (pair[1] - pair[0]) / 2));
        probes.retain(|&value| value < boundaries.end());
        let [mut found, mut behind] = [vec![0; probes.len()], vec![0; probes.len()]];
        boundaries.find_each(&probes, &mut found, &mut behind);
        for (value, each) in probes.into_iter().zip(found.into_iter().zip(behind)) {
            let walked = bounds[1..].iter().take_while(|&&bound| bound <= value).count();
            assert_eq!(boundaries.find(value), (walked, bounds[walked]), "{value}");
            assert_eq!(each, (to_u64(walked), value - bounds[walked]), "{value}");
        }
        assert!(boundaries.ends(0).eq(bounds[1..].iter().copied()));
        assert_eq!((boundaries.len(), boundaries.length(0)), (bounds.len() - 1, bounds[1]));
    }

    #[test]
    fn finds_every_value_whatever_the_spread() {
        for len in [1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 33, 255, 256, 300_u64] {
            check((0..=len).collect());
            check((0..=len).map(|i| i * 1000).collect());
            check((0..=len).map(|i| i * i * i).collect());
            check((0..=len).map(|i| i << 40).collect());
        }
        // One giant among dwarfs: all the others share the first bucket, or the last.
        for end in [u64::from(u32::MAX), u64::MAX] {
            check((0..=1000).chain([end]).collect());
            check((0..=5000).chain([end]).collect());
            check([0].into_iter().chain(end - 1000..=end).collect());
            check((0..=500).chain(end - 500..=end).collect());
        }
        // Buckets with about as many candidates as a window or a node has.
        for dwarfs in (5..20).chain([40]) {
            let edges = |giant| (0..20).flat_map(move |_| (0..dwarfs).map(|_| 1).chain([giant]));
            for giant in [1000, 1 << 40] {
                let ends = edges(giant).scan(0, |end, edge| {
                    *end += edge;
                    Some(*end)
                });
                check([0].into_iter().chain(ends).collect());
            }
        }
        // Edges double: a bucket's worth of them, and then buckets without any.
        check([0].into_iter().chain((0..64).map(|bit| 1 << bit)).collect());
    }
}
