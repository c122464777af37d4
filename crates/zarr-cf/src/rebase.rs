//! Numbers of one time axis as numbers of another, exactly.

use crate::time_axis::TimeAxis;

/// The conversion of numbers in one unit since one time to numbers in another unit since another
/// time of the same calendar: `(number * multiply + add) / divide`, without rounding.
///
/// # Examples
/// ```
/// use zarr_cf::{Rebase, TimeAxis};
///
/// let axis = |units| TimeAxis::cf(units, None).ok().flatten();
/// let (hours, days) = (axis("hours since 2012-02-01"), axis("days since 2012-01-01"));
/// let rebase = Rebase::between(hours.unwrap(), days.unwrap()).unwrap();
/// assert_eq!(rebase.whole(48), Some(33));
/// assert_eq!(rebase.whole(36), None); // no whole day
/// assert_eq!(rebase.real(36.0), Some(32.5));
/// assert_eq!(rebase.real(1.0), None); // no float64 is 31 + 1/24
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rebase {
    multiply: i128,
    add: i128,
    divide: i128,
}

impl Rebase {
    /// The conversion from one axis to another. `None` if the calendars differ, or if a unit has no
    /// fixed length.
    #[must_use]
    pub fn between(from: TimeAxis, to: TimeAxis) -> Option<Self> {
        if from.calendar != to.calendar {
            return None;
        }
        let ((from, start), (to, zero)) = (from.fixed()?, to.fixed()?);
        let add = start.checked_sub(zero)?;
        let common = divisor(divisor(from, to), add);
        Some(Self { multiply: from / common, add: add / common, divide: to / common })
    }

    /// Whether numbers stay as they are.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.multiply == self.divide && self.add == 0
    }

    /// Converts a whole number; `None` if the result is not whole.
    #[must_use]
    pub fn whole(&self, number: i128) -> Option<i128> {
        let sum = number.checked_mul(self.multiply)?.checked_add(self.add)?;
        (sum % self.divide == 0).then(|| sum / self.divide)
    }

    /// Converts a number with a fraction; `None` if no `f64` equals the result. NaN and infinities
    /// stay.
    #[must_use]
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "compared")]
    pub fn real(&self, number: f64) -> Option<f64> {
        if !number.is_finite() {
            return Some(number);
        }
        // number = mantissa / 2^places, as every float is.
        let (mut mantissa, mut places) = (number, 0_u32);
        while mantissa.fract() != 0.0 && places < 100 {
            mantissa *= 2.0;
            places += 1;
        }
        let whole = mantissa as i128;
        if whole as f64 != mantissa {
            return None;
        }
        let add = self.add.checked_mul(1_i128.checked_shl(places)?)?;
        let sum = whole.checked_mul(self.multiply)?.checked_add(add)?;
        let halvings = self.divide.trailing_zeros();
        let odd = self.divide >> halvings;
        let quotient = (sum % odd == 0).then(|| sum / odd)?;
        let float = quotient as f64;
        // Powers of two only move the exponent.
        (float as i128 == quotient).then(|| float / 2_f64.powi((places + halvings).cast_signed()))
    }

    /// The longest unit from days to nanoseconds in which all whole numbers of both axes stay
    /// whole.
    #[must_use]
    pub fn common_unit(from: TimeAxis, to: TimeAxis) -> &'static str {
        let (Some((from, start)), Some((to, zero))) = (from.fixed(), to.fixed()) else {
            return "nanoseconds";
        };
        let common = divisor(divisor(from, to), start - zero);
        let names = ["days", "hours", "minutes", "seconds", "milliseconds", "microseconds"];
        let mut units = names.into_iter().zip(TimeAxis::UNITS);
        units.find(|(_, unit)| common % unit == 0).map_or("nanoseconds", |(name, _)| name)
    }
}

/// The greatest common divisor of a positive number and another.
fn divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a, b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(units: &str, calendar: &str) -> TimeAxis {
        TimeAxis::cf(units, Some(calendar)).expect(units).expect("a time")
    }

    /// By cftime 1.6.6: `date2num(num2date(number, from, calendar), to, calendar)`.
    #[test]
    fn numbers_are_those_of_cftime() {
        for (calendar, from, to, number, expected) in [
            ("standard", "days since 2012-02-01", "days since 2012-01-01", 3, 34),
            ("standard", "days since 2012-03-01", "days since 2012-02-01", 0, 29),
            ("noleap", "days since 2012-03-01", "days since 2012-02-01", 0, 28),
            ("360_day", "days since 2012-03-01", "days since 2012-02-01", 0, 30),
            ("julian", "days since 1900-03-01", "days since 1900-02-01", 0, 29),
            ("proleptic_gregorian", "days since 1900-03-01", "days since 1900-02-01", 0, 28),
            ("standard", "days since 1582-10-15", "days since 1582-10-04", 0, 1),
            ("proleptic_gregorian", "days since 1582-10-15", "days since 1582-10-04", 0, 11),
            ("gregorian", "hours since 2012-02-01", "seconds since 2012-01-31T23:00", 2, 10_800),
            ("standard", "hours since 2012-02-01", "days since 2012-02-02", -24, -2),
        ] {
            let (from, to) = (axis(from, calendar), axis(to, calendar));
            let rebase = Rebase::between(from, to).expect("one calendar");
            assert_eq!(rebase.whole(number), Some(expected), "{calendar} {number}");
        }
    }

    /// Every number of a range is compared with the times that the two axes give it.
    #[test]
    fn the_time_stays_or_there_is_no_number_for_it() {
        let units = ["days", "hours", "minutes", "seconds", "milliseconds"];
        let origins = ["2012-01-01", "2012-03-01", "2011-12-30T12:00", "2012-01-01T00:00:00.25"];
        for calendar in ["standard", "noleap", "360_day", "all_leap", "julian"] {
            let axes =
                || units.iter().flat_map(|unit| origins.map(|at| format!("{unit} since {at}")));
            for (from, to) in axes().flat_map(|from| axes().map(move |to| (from.clone(), to))) {
                let (from, to) = (axis(&from, calendar), axis(&to, calendar));
                let rebase = Rebase::between(from, to).expect("one calendar");
                for number in (-40..40).chain([86_400, -1_000_000, 31_536_000_000]) {
                    let time = from.time_of(number).expect("no overflow");
                    let least = to.whole_from(time);
                    let expected = (to.time_of(least) == Some(time)).then_some(least);
                    assert_eq!(rebase.whole(number), expected, "{calendar} {number}");
                    if let Some(expected) = expected {
                        let float = expected as f64;
                        let exact = (float as i128 == expected).then_some(float);
                        assert_eq!(rebase.real(number as f64), exact, "{calendar} {number}");
                    }
                }
                assert_eq!(rebase.is_identity(), from == to);
            }
        }
    }

    #[test]
    fn fractions_are_exact_or_refused() {
        let rebase = |from, to| {
            let (from, to) = (axis(from, "standard"), axis(to, "standard"));
            Rebase::between(from, to).expect("one calendar")
        };
        let month = rebase("days since 2012-02-01", "days since 2012-01-01");
        assert_eq!(month.real(0.25), Some(31.25));
        assert_eq!(month.real(-31.0), Some(0.0));
        assert_eq!(month.real(1.0 / 24.0), None);
        assert_eq!(month.real(f64::MIN_POSITIVE), None);
        assert_eq!(month.real(9_007_199_254_740_992.0), None);
        assert!(month.real(f64::NAN).is_some_and(f64::is_nan));
        assert_eq!(month.whole(i128::MAX), None);
        let back = rebase("days since 2012-01-01", "hours since 2012-02-01");
        assert_eq!(back.real(31.0 + 1.0 / 32.0), Some(0.75));
        let hours = axis("hours since 2012-02-01", "standard");
        assert_eq!(Rebase::between(hours, axis("hours since 2012-02-01", "noleap")), None);
    }

    #[test]
    fn the_common_unit_is_the_longest_in_which_both_stay_whole() {
        for (from, to, expected) in [
            ("days since 2012-02-01T06", "days since 2012-02-03T06", "days"),
            ("days since 2012-02-01", "hours since 2012-02-01", "hours"),
            ("days since 2012-02-01", "days since 2012-02-01T06", "hours"),
            ("hours since 2012-02-01", "minutes since 2012-02-01", "minutes"),
            ("days since 2012-02-01", "seconds since 2012-02-01", "seconds"),
            ("milliseconds since 2012-02-01", "days since 2012-02-01", "milliseconds"),
            ("seconds since 2012-02-01", "microseconds since 2012-02-01", "microseconds"),
            ("hours since 2012-02-01T00:00:00.000001", "days since 2012-02-01", "microseconds"),
            ("nanoseconds since 2012-02-01", "days since 2012-02-01", "nanoseconds"),
        ] {
            let (from, to) = (axis(from, "standard"), axis(to, "standard"));
            assert_eq!(Rebase::common_unit(from, to), expected);
        }
    }
}
