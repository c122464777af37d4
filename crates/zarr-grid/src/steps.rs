//! Sorted boundaries, and the interval between them that a value falls into.
//!
//! A binary search over a million boundaries misses the cache at most of its twenty steps. The
//! bucket table cuts the axis into as many equal buckets (a power of two wide) as there are
//! intervals, at most, and notes for each the interval that its first value falls into:
//!
//! ```text
//! bounds   0   3 5      12  14        20
//!          |---|-|-------|---|---------|
//! buckets  |       |       |       |         8 wide
//! table    0       2       4       4         the last entry is a sentinel
//! ```
//!
//! A value's interval lies between its bucket's entry and the next one's. Where edges are alike
//! that is one or two candidates; where they differ wildly many fall into one bucket, and the
//! search within it is binary, so the worst case is that of the search without a table.

use alloc::vec::Vec;

/// Intervals a plain binary search handles within a cache line or two.
const SMALL: usize = 16;

/// Candidates up to which stepping through them beats halving.
const SCAN: usize = 8;

/// Boundaries `0 = b[0] < b[1] < ... < b[n]` of `n` intervals.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Steps {
    bounds: Vec<u64>,
    /// Interval of the first value of each bucket, then `n - 1`; empty for few intervals.
    table: Vec<u32>,
    /// Buckets are `1 << shift` wide.
    shift: u32,
}

impl Steps {
    /// `bounds` starts with 0 and increases strictly.
    pub(crate) fn new(bounds: Vec<u64>) -> Steps {
        debug_assert!(bounds.first() == Some(&0) && bounds.is_sorted_by(|a, b| a < b));
        let intervals = bounds.len().saturating_sub(1);
        let mut steps = Steps { bounds, table: Vec::new(), shift: 0 };
        if intervals > SMALL {
            steps.build_table(intervals);
        }
        steps
    }

    fn build_table(&mut self, intervals: usize) {
        let last_value = self.end() - 1;
        let buckets = |shift: u32| (last_value >> shift).saturating_add(1);
        while buckets(self.shift) > crate::num::to_u64(intervals) {
            self.shift += 1;
        }
        self.table.reserve_exact(crate::num::to_usize(buckets(self.shift)) + 1);
        for (interval, end) in self.bounds[1..].iter().enumerate() {
            // More intervals than a `u32` counts are left to the plain search.
            let Ok(entry) = u32::try_from(interval) else {
                self.table = Vec::new();
                return;
            };
            let begun = crate::num::to_usize(((end - 1) >> self.shift) + 1);
            while self.table.len() < begun {
                self.table.push(entry);
            }
        }
        self.table.extend(u32::try_from(intervals - 1));
    }

    /// Number of intervals.
    pub(crate) fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The boundaries, one more than there are intervals.
    pub(crate) fn bounds(&self) -> &[u64] {
        &self.bounds
    }

    /// Boundary number `at`, which is at most `len()`.
    #[inline]
    pub(crate) fn bound(&self, at: usize) -> u64 {
        self.bounds[at]
    }

    /// The last boundary.
    pub(crate) fn end(&self) -> u64 {
        self.bounds[self.len()]
    }

    /// The interval that holds `value`, which is less than `end()`.
    #[inline]
    pub(crate) fn find(&self, value: u64) -> usize {
        debug_assert!(value < self.end());
        let bucket = crate::num::to_usize(value >> self.shift);
        let (mut low, high) = match self.table.get(bucket..) {
            Some(&[low, high, ..]) => {
                (crate::num::to_usize(low.into()), crate::num::to_usize(high.into()))
            }
            _ => (0, self.len() - 1),
        };
        if high - low > SCAN {
            return low + self.bounds[low + 1..=high].partition_point(|&bound| bound <= value);
        }
        while low < high && self.bounds[low + 1] <= value {
            low += 1;
        }
        low
    }
}

impl core::fmt::Debug for Steps {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(&self.bounds).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Every value of `bounds` is found where a walk finds it.
    fn check(bounds: Vec<u64>) {
        let steps = Steps::new(bounds.clone());
        let mut probes: Vec<u64> = bounds.iter().flat_map(|&b| [b, b.saturating_sub(1)]).collect();
        probes.extend(bounds.windows(2).map(|pair| pair[0] + (pair[1] - pair[0]) / 2));
        for value in probes.into_iter().filter(|&value| value < steps.end()) {
            let walked = bounds[1..].iter().take_while(|&&bound| bound <= value).count();
            assert_eq!(steps.find(value), walked, "{value}");
        }
    }

    #[test]
    fn finds_every_value_whatever_the_spread() {
        for len in [1, 2, 16, 17, 33, 300_u64] {
            check((0..=len).collect());
            check((0..=len).map(|i| i * 1000).collect());
            check((0..=len).map(|i| i * i * i).collect());
        }
        // One giant among dwarfs: all the others share the first bucket, or the last.
        let mut dwarfs: Vec<u64> = (0..=1000).collect();
        dwarfs.push(u64::MAX);
        check(dwarfs);
        let mut giant = vec![0];
        giant.extend(u64::MAX - 1000..=u64::MAX);
        check(giant);
    }
}
