//! Parses times in ISO 8601, only in the form in which they are printed: with one form per time, a
//! text cannot be misread.

use zarr_metadata::TimeStep;

use super::{Calendar, Parts, format};

/// The count of a time in the form of [`format`]; `None` for anything else.
pub(in crate::format) fn parse(step: TimeStep, text: &str) -> Option<i64> {
    let units = units(step, text)?;
    let scale = i128::from(step.scale_factor());
    let count = units.checked_div(scale).filter(|count| count.checked_mul(scale) == Some(units))?;
    let count = i64::try_from(count).ok().filter(|count| *count != i64::MIN)?;
    // Months past the twelfth, missing digits and the like.
    let mut again = String::new();
    format(step, count, &mut again);
    (again == text).then_some(count)
}

fn units(step: TimeStep, text: &str) -> Option<i128> {
    let (date, clock) = match text.split_once('T') {
        Some((date, clock)) => (date, Some(clock)),
        None => (text, None),
    };
    let (sign, date) = match date.strip_prefix('-') {
        Some(date) => (-1, date),
        None => (1, date),
    };
    let mut date = date.split('-').map(number);
    let year = sign * date.next()??;
    match Parts::new(step.unit()) {
        Parts::Count => None,
        Parts::Years => Some(year - 1970),
        Parts::Months => Some((year - 1970) * 12 + date.next()?? - 1),
        Parts::Days(days) => {
            let day = Calendar::Gregorian.day((year, date.next()??, date.next()??));
            Some(day.div_euclid(days)).filter(|count| count * days == day)
        }
        Parts::Clock { per_day, digits, .. } => {
            let days = Calendar::Gregorian.day((year, date.next()??, date.next()??));
            let (clock, fraction) = clock?.split_once('.').unwrap_or((clock?, ""));
            let mut unit = per_day;
            let mut units = days.checked_mul(per_day)?;
            for (part, parts) in clock.split(':').zip([24, 60, 60]) {
                unit /= parts;
                units += number(part)? * unit;
            }
            match digits {
                0 => Some(units),
                _ => Some(units + number(fraction)?),
            }
        }
    }
}

/// A number with few enough digits that nothing overflows.
fn number(digits: &str) -> Option<i128> {
    let few = (1..=22).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    few.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use zarr_metadata::TimeUnit;

    use super::*;

    fn step(unit: &str, scale: u32) -> TimeStep {
        let unit = TimeUnit::from_name(unit).expect("a unit");
        TimeStep::new(unit, scale).expect("a step")
    }

    #[test]
    fn times_are_read_as_they_are_written() {
        for unit in TimeUnit::ALL.iter().filter(|unit| unit.name() != "generic") {
            for scale in [1, 7, 25] {
                let step = step(unit.name(), scale);
                let near = (-1000..1000).chain(i64::MAX - 10..i64::MAX);
                let far = (0..2000).map(|n: i64| (n - 1000).wrapping_mul(0x1ec3_7a2f_9b03_5d71));
                for count in near.chain(far).filter(|count| *count != i64::MIN) {
                    let mut text = String::new();
                    format(step, count, &mut text);
                    assert_eq!(parse(step, &text), Some(count), "{text} in {unit:?} of {scale}");
                }
            }
        }
    }

    #[test]
    fn nothing_else_is_a_time() {
        for (unit, text) in [
            ("D", "2012-13-01"),
            ("D", "2012-02-30"),
            ("D", "2012-2-3"),
            ("D", "2012-02"),
            ("D", "2012-02-03T00"),
            ("D", "+2012-02-03"),
            ("D", "NaT"),
            ("D", ""),
            ("D", "999999999999999999999999999-01-01"),
            ("s", "2012-02-03"),
            ("s", "2012-02-03 04:05:06"),
            ("s", "2012-02-03T04:05"),
            ("s", "2012-02-03T04:05:06Z"),
            ("s", "2012-02-03T24:00:00"),
            ("ms", "2012-02-03T04:05:06.07"),
            ("generic", "5"),
        ] {
            assert_eq!(parse(step(unit, 1), text), None, "{text}");
        }
        assert_eq!(parse(step("D", 2), "1970-01-02"), None, "between two steps");
    }
}
