//! Times as ISO 8601, with as many digits as their unit has, as numpy prints them. This has its own
//! arithmetic, because crates for dates end at the year 9999 and at nanoseconds, while any 64-bit
//! count of any of numpy's units must be shown. All of it is exact in 128 bits, even where numpy
//! overflows. Years before 0 have four digits and a sign, as in the standard; numpy pads them to
//! four characters.

mod parse;

use std::fmt::Write as _;

use zarr_cf::Calendar;
use zarr_metadata::{TimeStep, TimeUnit};

pub(super) use parse::parse;

/// Appends the time of `count`; `NaT` if it is not a time, and the count itself if the unit is
/// generic.
pub(super) fn format(step: TimeStep, count: i64, out: &mut String) {
    if count == i64::MIN {
        return out.push_str("NaT");
    }
    let units = i128::from(count).saturating_mul(i128::from(step.scale_factor()));
    // Writing to a `String` cannot fail.
    let _infallible = match Parts::new(step.unit()) {
        Parts::Count => write!(out, "{units}"),
        Parts::Years => write_signed_year(units.saturating_add(1970), out),
        Parts::Months => {
            write_month(units.div_euclid(12).saturating_add(1970), units.rem_euclid(12) + 1, out)
        }
        Parts::Days(days) => write_day(units.saturating_mul(days), out),
        Parts::Clock { per_day, shown, digits } => write_clock(units, per_day, shown, digits, out),
    };
}

/// The span of a unit, and the part of a time that it shows.
enum Parts {
    Count,
    Years,
    Months,
    /// Units of this many days.
    Days(i128),
    /// Units, `per_day` to a day: which of hours, minutes and seconds are shown, and the
    /// digits of a second.
    Clock {
        per_day: i128,
        shown: usize,
        digits: u32,
    },
}

impl Parts {
    fn new(unit: TimeUnit) -> Self {
        let clock = |per_day, shown| Self::Clock { per_day, shown, digits: 0 };
        let second =
            |digits| Self::Clock { per_day: 86_400 * 10_i128.pow(digits), shown: 3, digits };
        match unit {
            TimeUnit::Year => Self::Years,
            TimeUnit::Month => Self::Months,
            TimeUnit::Week => Self::Days(7),
            TimeUnit::Day => Self::Days(1),
            TimeUnit::Hour => clock(24, 1),
            TimeUnit::Minute => clock(24 * 60, 2),
            TimeUnit::Second => clock(86_400, 3),
            TimeUnit::Millisecond => second(3),
            TimeUnit::Microsecond => second(6),
            TimeUnit::Nanosecond => second(9),
            TimeUnit::Picosecond => second(12),
            TimeUnit::Femtosecond => second(15),
            TimeUnit::Attosecond => second(18),
            _ => Self::Count,
        }
    }
}

fn write_signed_year(year: i128, out: &mut String) -> std::fmt::Result {
    let sign = if year < 0 { "-" } else { "" };
    write!(out, "{sign}{:04}", year.unsigned_abs())
}

fn write_month(year: i128, month: i128, out: &mut String) -> std::fmt::Result {
    write_signed_year(year, out)?;
    write!(out, "-{month:02}")
}

/// A day, counted from 1970-01-01 in the proleptic Gregorian calendar.
fn write_day(days: i128, out: &mut String) -> std::fmt::Result {
    let (year, month, day) = Calendar::Gregorian.date(days);
    write_month(year, month, out)?;
    write!(out, "-{day:02}")
}

fn write_clock(
    units: i128,
    per_day: i128,
    shown: usize,
    digits: u32,
    out: &mut String,
) -> std::fmt::Result {
    write_day(units.div_euclid(per_day), out)?;
    let mut rest = units.rem_euclid(per_day);
    let mut unit = per_day;
    let parts = [(24, 'T'), (60, ':'), (60, ':')];
    for (parts, before) in parts.into_iter().take(shown) {
        unit /= parts;
        write!(out, "{before}{:02}", rest / unit)?;
        rest %= unit;
    }
    match usize::try_from(digits) {
        Ok(width) if width > 0 => write!(out, ".{rest:0width$}"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(unit: &str, scale: u32, count: i64) -> String {
        let unit = TimeUnit::from_name(unit).expect("a unit");
        let mut text = String::new();
        format(TimeStep::new(unit, scale).expect("a step"), count, &mut text);
        text
    }

    /// The output of numpy 2.5.5 (`numpy.datetime_as_string`), except where it overflows.
    #[test]
    fn times_are_those_that_numpy_prints() {
        let numpy = [
            ("Y", 0, "1970"),
            ("Y", 306_319, "308289"),
            ("M", -1, "1969-12"),
            ("M", 2_804_489_806_378_827_306, "233707483864904245-07"),
            ("M", -23_640, "0000-01"),
            ("W", -23_519, "1519-04-03"),
            ("D", -671_059, "0132-09-14"),
            ("D", i64::MAX, "25252734927768524-07-27"),
            ("h", 140_349, "1986-01-04T21"),
            ("h", i64::MAX, "1052197288658909-10-10T07"),
            ("m", -144_046, "1969-09-22T23:14"),
            ("s", -1, "1969-12-31T23:59:59"),
            ("s", -i64::MAX, "-292277022657-01-27T08:29:53"),
            ("s", i64::MAX, "292277026596-12-04T15:30:07"),
            ("ms", -67_112, "1969-12-31T23:58:52.888"),
            ("ms", -i64::MAX, "-292275055-05-16T16:47:04.193"),
            ("us", -560_739, "1969-12-31T23:59:59.439261"),
            ("ns", -3_437_525_547_111_946_402, "1861-01-25T19:47:32.888053598"),
            ("ns", i64::MAX, "2262-04-11T23:47:16.854775807"),
            ("ps", -5_445_856_715_747_632_478, "1969-10-29T23:15:43.284252367522"),
            ("fs", 8_579_514_069_188_395_559, "1970-01-01T02:22:59.514069188395559"),
            ("as", -242_530, "1969-12-31T23:59:59.999999999999757470"),
        ];
        for (unit, count, expected) in numpy {
            assert_eq!(text(unit, 1, count), expected, "{count} {unit}");
        }
        assert_eq!(text("s", 25, -3), "1969-12-31T23:58:45");
        assert_eq!(text("Y", 7, 5), "2005");
        assert_eq!(text("s", 1, i64::MIN), "NaT");
        assert_eq!(text("generic", 1, 5), "5");
    }

    #[test]
    fn nothing_overflows_where_numpy_does() {
        assert_eq!(text("Y", 1, i64::MAX), "9223372036854777777");
        assert_eq!(text("W", 1, i64::MAX), "176769144494367851-12-25");
        assert_eq!(text("M", 1, -23_652), "-0001-01");
        for unit in TimeUnit::ALL {
            for count in [i64::MIN + 1, -1, 0, 1, i64::MAX] {
                for scale in [1, i32::MAX.cast_unsigned()] {
                    assert!(!text(unit.name(), scale, count).is_empty());
                }
            }
        }
    }

    /// Each day of 800 years, compared with a calendar that counts single days.
    #[test]
    fn days_follow_each_other() {
        let (mut year, mut month, mut day) = (1570_i64, 1, 1);
        let first = -146_097;
        for count in first..first + 2 * 146_097 {
            assert_eq!(text("D", 1, count), format!("{year:04}-{month:02}-{day:02}"));
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let days = match month {
                2 if leap => 29,
                2 => 28,
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > days {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!((year, month, day), (2370, 1, 1));
    }
}
