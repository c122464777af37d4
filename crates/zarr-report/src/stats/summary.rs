//! A summary of elements: counts, extremes, mean, deviation and histogram.
//!
//! Elements come in pieces. Each piece is divided among threads in blocks of a fixed number of
//! elements. The results of blocks are joined in their order, so the result does not depend on the
//! threads.

use std::convert::Infallible;

use zarr_array::parallel;

use super::histogram::Histogram;
use crate::bits::Bits;
use zarr_cf::Numbers;

/// The elements of a block.
const BLOCK: usize = 1 << 14;

/// The least blocks for which a thread is worth its start.
const LEAST: usize = 16;

/// Which elements are counted apart.
pub(super) struct Apart {
    /// The bytes of the fill value.
    pub(super) fill: Vec<u8>,
    /// The bytes of values that the attributes declare as missing.
    pub(super) missing: Vec<Vec<u8>>,
}

pub(super) struct Summary {
    numbers: Numbers,
    apart: Apart,
    pub(super) totals: Totals,
    pub(super) histogram: Option<Histogram>,
    /// The bits of all elements, those apart included: all must be stored.
    pub(super) bits: Option<Bits>,
}

impl Apart {
    fn is_present(&self, element: &[u8]) -> bool {
        self.missing.iter().all(|missing| missing != element)
    }
}

/// The result of a block, of a thread or of all.
#[derive(Debug, Default, Clone)]
pub(super) struct Totals {
    pub(super) elements: u64,
    /// Equal to the fill value, bit by bit; they count in all that follows, too.
    pub(super) fill: u64,
    /// Declared as missing; left out of all that follows.
    pub(super) missing: u64,
    /// NaN or not a time; left out of all that follows.
    pub(super) nan: u64,
    /// Infinite; left out of mean, deviation and histogram.
    pub(super) infinite: u64,
    pub(super) least: Option<Extreme>,
    pub(super) greatest: Option<Extreme>,
    /// The least and the greatest finite number.
    pub(super) finite: Option<(f64, f64)>,
    pub(super) moments: Moments,
}

/// A number, and the element that has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Extreme {
    pub(super) number: f64,
    pub(super) element: Vec<u8>,
}

/// Count, mean and sum of squared deviations, joined as Chan, Golub and LeVeque do.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Moments {
    count: f64,
    /// The power of two below the largest number. Mean and squares are in this unit, so that no sum
    /// overflows and no square vanishes; such units round nothing.
    unit: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    pub(super) fn as_array(self) -> [f64; 4] {
        [self.count, self.unit, self.mean, self.squares]
    }

    pub(super) fn of_array([count, unit, mean, squares]: [f64; 4]) -> Self {
        Self { count, unit, mean, squares }
    }

    #[expect(clippy::cast_precision_loss, reason = "of at most a block")]
    fn of(numbers: &[f64]) -> Self {
        const EXPONENT: u64 = 0x7ff << 52;
        if numbers.is_empty() {
            return Self::default();
        }
        let count = numbers.len() as f64;
        let largest = numbers.iter().fold(0.0_f64, |largest, number| largest.max(number.abs()));
        let unit = f64::from_bits(largest.to_bits() & EXPONENT).max(f64::MIN_POSITIVE);
        let scaled = numbers.iter().map(|number| number / unit);
        let least = scaled.clone().fold(f64::INFINITY, f64::min);
        let greatest = scaled.clone().fold(f64::NEG_INFINITY, f64::max);
        // The sum is rounded: the mean of equal numbers would not be the number.
        let mean = (scaled.clone().sum::<f64>() / count).max(least).min(greatest);
        let squares = scaled.map(|number| (number - mean) * (number - mean)).sum();
        Self { count, unit, mean, squares }
    }

    /// The same in a unit that is at least as large.
    fn in_unit(self, unit: f64) -> Self {
        let ratio = self.unit / unit;
        Self { unit, mean: self.mean * ratio, squares: self.squares * ratio * ratio, ..self }
    }

    fn join(self, other: Self) -> Self {
        let count = self.count + other.count;
        if count == 0.0 {
            return self;
        }
        // From the mean of most: with a weight of nearly 1 the digits of a small mean would be
        // lost.
        if other.count > self.count {
            return other.join(self);
        }
        let unit = self.unit.max(other.unit);
        let (this, other) = (self.in_unit(unit), other.in_unit(unit));
        let apart = other.mean - this.mean;
        let weight = other.count / count;
        Self {
            count,
            unit,
            mean: apart.mul_add(weight, this.mean),
            squares: this.squares + other.squares + apart * apart * this.count * weight,
        }
    }
}

impl Totals {
    /// The mean of all finite numbers.
    pub(super) fn mean(&self) -> Option<f64> {
        let moments = &self.moments;
        (moments.count > 0.0).then_some(moments.mean * moments.unit)
    }

    /// Their standard deviation, of the population.
    pub(super) fn deviation(&self) -> Option<f64> {
        let moments = &self.moments;
        (moments.count > 0.0).then(|| (moments.squares / moments.count).sqrt() * moments.unit)
    }

    /// The summary of so many elements, from the summary of one.
    #[expect(clippy::cast_precision_loss, reason = "the weight in a mean")]
    fn repeated(mut self, times: u64) -> Self {
        let counts = [
            &mut self.elements,
            &mut self.fill,
            &mut self.missing,
            &mut self.nan,
            &mut self.infinite,
        ];
        for count in counts {
            *count = count.saturating_mul(times);
        }
        self.moments.count *= times as f64;
        self
    }

    fn join(&mut self, other: Self, numbers: &Numbers) {
        let sums = [
            (&mut self.elements, other.elements),
            (&mut self.fill, other.fill),
            (&mut self.missing, other.missing),
            (&mut self.nan, other.nan),
            (&mut self.infinite, other.infinite),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
        let less = |one: &Extreme, other: &Extreme| {
            one.number < other.number
                || one.number == other.number && numbers.is_less(&one.element, &other.element)
        };
        let pick = |one: Option<Extreme>, other: Option<Extreme>, first: bool| match (one, other) {
            (Some(one), Some(other)) => {
                let takes = if first { less(&other, &one) } else { less(&one, &other) };
                Some(if takes { other } else { one })
            }
            (one, other) => one.or(other),
        };
        self.least = pick(self.least.take(), other.least, true);
        self.greatest = pick(self.greatest.take(), other.greatest, false);
        self.finite = both(self.finite, other.finite);
        self.moments = self.moments.join(other.moments);
    }
}

impl Summary {
    pub(super) fn new(numbers: Numbers, apart: Apart, bits: Option<Bits>) -> Self {
        Self { numbers, apart, totals: Totals::default(), histogram: None, bits }
    }

    /// The bytes of an element.
    pub(super) fn element_size(&self) -> usize {
        self.numbers.size()
    }

    /// Adds the summary of other elements.
    pub(super) fn join(&mut self, totals: Totals, histogram: Option<Histogram>) {
        self.totals.join(totals, &self.numbers);
        match (&mut self.histogram, histogram) {
            (Some(all), Some(more)) => all.join(more),
            (all, more) => *all = all.take().or(more),
        }
    }

    /// Adds one element so many times.
    pub(super) fn add_repeated(&mut self, element: &[u8], times: u64) {
        if let Some(bits) = &mut self.bits {
            bits.add(element);
        }
        let mut list = Vec::new();
        let totals = totals(&self.numbers, &self.apart, element, &mut list).repeated(times);
        if let Some((number, _)) = totals.finite {
            let is_whole = self.numbers.are_whole();
            let histogram =
                self.histogram.get_or_insert_with(|| Histogram::new(number, number, is_whole));
            histogram.cover(number, number);
            histogram.count(number, times);
        }
        self.totals.join(totals, &self.numbers);
    }

    /// Adds elements.
    pub(super) fn add(&mut self, elements: &[u8]) {
        let threads = parallel::cores().get();
        let block = BLOCK * self.numbers.size();
        let blocks = elements.len().div_ceil(block);
        let share = blocks.div_ceil(threads).max(LEAST) * block;
        if let Some(bits) = &mut self.bits {
            let start = &*bits;
            let counted = side_by_side(elements, share, |part| {
                let mut bits = start.clone();
                bits.add(part);
                bits
            });
            counted.iter().for_each(|counted| bits.join(counted));
        }
        let (numbers, apart) = (&self.numbers, &self.apart);
        let parts = side_by_side(elements, share, |part| {
            let mut list = Vec::new();
            part.chunks(block).map(|block| totals(numbers, apart, block, &mut list)).collect()
        });
        let mut piece: Option<(f64, f64)> = None;
        for totals in parts.into_iter().flat_map(|part: Vec<Totals>| part) {
            piece = both(piece, totals.finite);
            self.totals.join(totals, &self.numbers);
        }
        let Some((low, high)) = piece else { return };
        let histogram =
            self.histogram.get_or_insert_with(|| Histogram::new(low, high, numbers.are_whole()));
        histogram.cover(low, high);
        let empty = histogram.empty();
        let counted = side_by_side(elements, share, |part| {
            let mut counts = empty.clone();
            let mut list = Vec::new();
            for block in part.chunks(block) {
                present(numbers, apart, block, &mut list);
                for number in list.iter().filter(|number| number.is_finite()) {
                    counts.count(*number, 1);
                }
            }
            counts
        });
        for counts in &counted {
            histogram.add(counts);
        }
    }
}

/// The range of two ranges. Each may be missing.
fn both(one: Option<(f64, f64)>, other: Option<(f64, f64)>) -> Option<(f64, f64)> {
    match (one, other) {
        (Some((low, high)), Some((l, h))) => Some((low.min(l), high.max(h))),
        (one, other) => one.or(other),
    }
}

/// The results of `work` on parts of `share` bytes, in the order of the parts.
fn side_by_side<T: Send + Sync>(
    elements: &[u8],
    share: usize,
    work: impl Fn(&[u8]) -> T + Sync,
) -> Vec<T> {
    let parts: Vec<&[u8]> = elements.chunks(share).collect();
    match parallel::map(&parts, parallel::cores(), |part| Ok::<T, Infallible>(work(part))) {
        Ok(results) => results,
        Err(never) => match never {},
    }
}

/// The numbers of the elements that are not missing; returns the number of missing elements.
fn present(numbers: &Numbers, apart: &Apart, elements: &[u8], list: &mut Vec<f64>) -> u64 {
    numbers.list(elements, list);
    if apart.missing.is_empty() {
        return 0;
    }
    let before = list.len();
    let mut of_list = elements.chunks_exact(numbers.size());
    list.retain(|_| of_list.next().is_none_or(|element| apart.is_present(element)));
    u64::try_from(before - list.len()).unwrap_or(0)
}

fn totals(numbers: &Numbers, apart: &Apart, elements: &[u8], list: &mut Vec<f64>) -> Totals {
    let size = numbers.size();
    let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let mut totals = Totals {
        elements: count(elements.len() / size),
        fill: count(elements.chunks_exact(size).filter(|element| *element == apart.fill).count()),
        ..Totals::default()
    };
    totals.missing = present(numbers, apart, elements, list);
    let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
    for number in list.iter() {
        // NaN changes neither.
        least = least.min(*number);
        greatest = greatest.max(*number);
    }
    // The list has a number for each element that is present, in their order.
    let with = |number: f64| {
        let present = elements.chunks_exact(size).filter(|element| apart.is_present(element));
        let equal = present.zip(list.iter()).filter(move |(_, other)| **other == number);
        equal.map(|(element, _)| element)
    };
    let extreme = |number, element: &[u8]| Extreme { number, element: element.to_vec() };
    let first = |one, other| if numbers.is_less(other, one) { other } else { one };
    let last = |one, other| if numbers.is_less(one, other) { other } else { one };
    totals.least = with(least).reduce(first).map(|element| extreme(least, element));
    totals.greatest = with(greatest).reduce(last).map(|element| extreme(greatest, element));
    let all = list.len();
    list.retain(|number| !number.is_nan());
    totals.nan = count(all - list.len());
    let ordered = list.len();
    list.retain(|number| number.is_finite());
    totals.infinite = count(ordered - list.len());
    let range = |(low, high): (f64, f64), number: &f64| (low.min(*number), high.max(*number));
    totals.finite =
        (!list.is_empty()).then(|| list.iter().fold((f64::INFINITY, f64::NEG_INFINITY), range));
    totals.moments = Moments::of(list);
    totals
}

#[cfg(test)]
mod tests {
    use super::{Moments, Totals};

    /// Mean and deviation of blocks that are joined.
    fn joined(blocks: &[&[f64]]) -> (f64, f64) {
        let joined =
            blocks.iter().fold(Moments::default(), |all, block| all.join(Moments::of(block)));
        let totals = Totals { moments: joined, ..Totals::default() };
        (totals.mean().expect("numbers"), totals.deviation().expect("numbers"))
    }

    #[test]
    fn equal_numbers_are_their_mean() {
        for number in [1.0, 0.1, -0.1, 1e308, f64::MAX, f64::MIN_POSITIVE, 0.0, 5e-324] {
            for count in [1, 3, 49, 1000] {
                let block = vec![number; count];
                assert_eq!(
                    joined(&[&block, &[], &block[1..]]),
                    (number, 0.0),
                    "{count} of {number}"
                );
            }
        }
    }

    #[test]
    fn no_square_overflows_or_vanishes() {
        for size in [1e308, 1.0, 1e-290] {
            let blocks: [&[f64]; 2] = [&[size, size], &[1.5 * size]];
            for (mean, deviation) in [joined(&blocks), joined(&[&blocks.concat()])] {
                let close = |found: f64, expected: f64| (found / size - expected).abs() < 1e-15;
                assert!(close(mean, 3.5 / 3.0) && close(deviation, 0.5_f64.sqrt() / 3.0), "{size}");
            }
        }
        assert_eq!(joined(&[&[f64::MAX], &[-f64::MAX]]), (0.0, f64::MAX));
        assert_eq!(joined(&[&[1.0, 3.0], &[1e-300; 2]]).0, 1.0);
    }
}
