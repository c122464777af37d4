//! A histogram of numbers of unknown range.
//!
//! Bins have a width that is a power of two, and begin at its multiples. If a number is out of
//! range, neighbouring bins are merged into bins of twice the width. The counted numbers would have
//! had exactly these bins. So the result depends on the numbers only, not on their order.

/// The most bins while counting.
const MOST: u64 = 1024;

/// Widths are 2 to the power of at least this, so that no power overflows.
const NARROWEST: i32 = -1000;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Histogram {
    /// The width of a bin is 2 to the power of this.
    power: i32,
    /// The number of the first bin: it begins at this multiple of the width.
    first: i64,
    counts: Vec<u64>,
}

/// The bin of a finite number: `number / 2^power`, rounded down.
#[expect(clippy::cast_possible_truncation, reason = "powers are chosen so that it fits")]
fn bin(number: f64, power: i32) -> i64 {
    // In two steps, because 2^-power may be more than a float holds while the result is small.
    let half = power / 2;
    ((number * 2_f64.powi(-half)) * 2_f64.powi(half - power)).floor() as i64
}

/// The exponent of a number: the greatest `e` with `2^e <= |number|`.
fn exponent(number: f64) -> i32 {
    let bits = (number.to_bits() >> 52) & 0x7ff;
    i32::try_from(bits).unwrap_or(0) - 1023
}

/// The least power for which numbers from `low` to `high` fit into the most bins, not below `least`.
fn power_for(low: f64, high: f64, least: i32) -> i32 {
    // Numbers of 53 bits have no use for finer bins, and their bins fit into 64 bits.
    let mut power = (exponent(low.abs().max(high.abs())) - 52).max(least).max(NARROWEST);
    while bin(high, power).abs_diff(bin(low, power)) >= MOST {
        power += 1;
    }
    power
}

impl Histogram {
    /// For numbers from `low` to `high`, which are finite. Bins of whole numbers are no narrower
    /// than 1.
    pub(super) fn new(low: f64, high: f64, is_whole: bool) -> Self {
        let least = if is_whole { 0 } else { NARROWEST };
        let mut histogram = Self { power: least, first: 0, counts: Vec::new() };
        histogram.resize(low, high, power_for(low, high, least));
        histogram
    }

    /// Makes room for numbers from `low` to `high`, which are finite.
    pub(super) fn cover(&mut self, low: f64, high: f64) {
        let (old_low, old_high) = self.range();
        let (low, high) = (low.min(old_low), high.max(old_high));
        self.resize(low, high, power_for(low, high, self.power));
    }

    fn resize(&mut self, low: f64, high: f64, power: i32) {
        let first = bin(low, power);
        let bins = bin(high, power).abs_diff(first) + 1;
        let mut counts = vec![0_u64; usize::try_from(bins.min(MOST)).unwrap_or(0)];
        for (old, count) in (self.first..).zip(&self.counts).filter(|(_, count)| **count > 0) {
            let new = old >> (power - self.power).min(63);
            let at = usize::try_from(new - first).unwrap_or(usize::MAX);
            if let Some(place) = counts.get_mut(at) {
                *place = place.saturating_add(*count);
            }
        }
        (self.power, self.first, self.counts) = (power, first, counts);
    }

    /// The beginning of the first bin with a number, and a number in the last.
    fn range(&self) -> (f64, f64) {
        let at = |place: Option<usize>| {
            let place = i64::try_from(place.unwrap_or(0)).unwrap_or(i64::MAX);
            self.edge(self.first + place)
        };
        let is_used = |count: &u64| *count > 0;
        (at(self.counts.iter().position(is_used)), at(self.counts.iter().rposition(is_used)))
    }

    #[expect(clippy::cast_precision_loss, reason = "bins come from floats")]
    fn edge(&self, bin: i64) -> f64 {
        let half = self.power / 2;
        let edge = (bin as f64 * 2_f64.powi(half)) * 2_f64.powi(self.power - half);
        // The edge of the outermost bins may be beyond all numbers.
        edge.clamp(f64::MIN, f64::MAX)
    }

    /// An empty histogram with the same bins, for another thread.
    pub(super) fn empty(&self) -> Self {
        Self { counts: vec![0; self.counts.len()], ..*self }
    }

    /// Counts a number of the covered range so many times.
    pub(super) fn count(&mut self, number: f64, times: u64) {
        let at = bin(number, self.power) - self.first;
        let place = usize::try_from(at).ok().and_then(|at| self.counts.get_mut(at));
        debug_assert!(place.is_some(), "{number} is not covered by {self:?}");
        if let Some(place) = place {
            *place = place.saturating_add(times);
        }
    }

    /// Adds the counts of one with the same bins.
    pub(super) fn add(&mut self, other: &Self) {
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum = sum.saturating_add(*count);
        }
    }

    /// Adds the counts of any other.
    pub(super) fn join(&mut self, mut other: Self) {
        let ((low, high), (other_low, other_high)) = (self.range(), other.range());
        let (low, high) = (low.min(other_low), high.max(other_high));
        let power = power_for(low, high, self.power.max(other.power));
        self.resize(low, high, power);
        other.resize(low, high, power);
        self.add(&other);
    }

    /// The power of two that is the width of bins, the number of the first one, and the counts.
    pub(super) fn bins(&self) -> (i32, i64, &[u64]) {
        (self.power, self.first, &self.counts)
    }

    /// Of such bins, unless no histogram has them.
    pub(super) fn of_bins(power: i32, first: i64, counts: Vec<u64>) -> Option<Self> {
        let few = u64::try_from(counts.len()).is_ok_and(|bins| (1..=MOST).contains(&bins));
        let is_power = (NARROWEST..=1024).contains(&power);
        let are_bins = first.unsigned_abs() <= 1 << 54;
        (few && is_power && are_bins).then_some(Self { power, first, counts })
    }

    /// At most `most` rows, which must be 2 or more, as no bin crosses 0: beginning, end, count. Empty rows at both ends are left out.
    pub(super) fn rows(&self, most: u64) -> Vec<(f64, f64, u64)> {
        let (low, high) = self.range();
        let mut merged = self.clone();
        let mut power = self.power;
        while bin(high, power).abs_diff(bin(low, power)) >= most {
            power += 1;
        }
        merged.resize(low, high, power);
        (merged.first..)
            .zip(&merged.counts)
            .map(|(bin, count)| (merged.edge(bin), merged.edge(bin + 1), *count))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Histogram;

    /// All numbers in the given order, each covered on its own.
    fn of(numbers: &[f64]) -> Histogram {
        let mut histogram = Histogram::new(numbers[0], numbers[0], false);
        for number in numbers {
            histogram.cover(*number, *number);
            histogram.count(*number, 1);
        }
        histogram
    }

    #[test]
    fn rows_count_what_lies_between_their_ends() {
        let numbers: Vec<f64> = (0..1000).map(|n| f64::from(n * 37 % 1000) / 8.0 - 20.0).collect();
        for most in [2, 7, 20, 1024] {
            let rows = of(&numbers).rows(most);
            assert!(!rows.is_empty() && rows.len() as u64 <= most, "{most}");
            for (from, to, count) in &rows {
                let expected = numbers.iter().filter(|n| (from..to).contains(n)).count();
                assert_eq!(*count, expected as u64, "{from} to {to}");
            }
            assert_eq!(rows.iter().map(|row| row.2).sum::<u64>(), 1000);
        }
    }

    #[test]
    fn the_order_does_not_matter() {
        let mut numbers: Vec<f64> =
            (0..500).map(|n| f64::from(n - 250).powi(3) * 1e-3 + 1e6).collect();
        let forward = of(&numbers).rows(20);
        numbers.reverse();
        assert_eq!(of(&numbers).rows(20), forward);
        numbers.sort_by(|a, b| (a - 1e6).abs().total_cmp(&(b - 1e6).abs()));
        assert_eq!(of(&numbers).rows(20), forward);
    }

    #[test]
    fn parts_joined_are_the_whole() {
        let numbers: Vec<f64> =
            (0..600).map(|n| f64::from(n - 200).powi(3) * 1e-3 + f64::from(n % 7)).collect();
        for cut in [1, 7, 299, 599] {
            let (one, other) = numbers.split_at(cut);
            for (one, other) in [(one, other), (other, one)] {
                let mut joined = of(one);
                joined.join(of(other));
                assert_eq!(joined.rows(20), of(&numbers).rows(20), "{cut}");
            }
        }
        let whole = of(&numbers);
        let (power, first, counts) = whole.bins();
        assert_eq!(Histogram::of_bins(power, first, counts.to_vec()), Some(whole.clone()));
        // The content of a hostile file is refused, or at least joined without a panic.
        assert_eq!(Histogram::of_bins(power, first, Vec::new()), None);
        assert_eq!(Histogram::of_bins(power, first, vec![1; 1025]), None);
        assert_eq!(Histogram::of_bins(2000, 0, vec![1]), None);
        assert_eq!(Histogram::of_bins(0, i64::MIN, vec![1]), None);
        for (power, first) in [(1024, 1 << 54), (-1000, -(1 << 54)), (1024, -(1 << 54))] {
            let mut odd = Histogram::of_bins(power, first, vec![u64::MAX; 1024]).expect("allowed");
            odd.join(whole.clone());
            assert!(odd.rows(20).len() <= 20);
        }
    }

    #[test]
    fn whole_numbers_have_no_bins_between_them() {
        let mut histogram = Histogram::new(0.0, 1.0, true);
        [0.0, 1.0, 1.0].iter().for_each(|number| histogram.count(*number, 1));
        assert_eq!(histogram.rows(20), [(0.0, 1.0, 1), (1.0, 2.0, 2)]);
    }

    #[test]
    fn numbers_of_any_size_have_bins() {
        for numbers in [
            vec![0.0],
            vec![-0.0, 0.0],
            vec![f64::MAX, f64::MIN],
            vec![5e-324, -5e-324],
            vec![5e-324, f64::MAX],
            vec![1.0, 1.0 + f64::EPSILON],
            vec![-1.0, -1.0, 1e300],
        ] {
            let rows = of(&numbers).rows(16);
            let all = rows.iter().map(|row| row.2).sum::<u64>();
            assert_eq!(all, numbers.len() as u64, "{numbers:?}: {rows:?}");
            assert!(rows.len() <= 16, "{numbers:?}");
        }
    }
}
