//! Dates and times in ISO 8601, complete or abbreviated: `2015-03` is all of March.

use crate::calendar::{Calendar, Date};

/// The attoseconds of a second. Times are counted in them, as numpy's smallest unit.
pub const SECOND: i128 = 1_000_000_000_000_000_000;
/// The attoseconds of a day.
pub const DAY: i128 = 86_400 * SECOND;

/// The most digits of a year, so that no time overflows.
const YEAR: usize = 9;

/// A date, or a date and a time.
///
/// # Examples
/// ```
/// use zarr_cf::{Calendar, DAY, Moment};
///
/// let march = Moment::parse("2015-03").ok_or("a moment")?;
/// let start = march.start(Calendar::Gregorian);
/// assert_eq!(march.end(Calendar::Gregorian), Some(start + 31 * DAY));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    date: Date,
    /// Attoseconds since the date's midnight.
    clock: i128,
    last: Last,
}

/// The last part that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

impl Moment {
    /// Parses `2015`, `2015-03`, `2015-03-01`, `2015-03-01T06`, `2015-03-01T06:30` or
    /// `2015-03-01T06:30:15.5`. `None` for any other text. The calendar is not checked.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_suffix('Z').filter(|text| text.contains([':', 'T'])).unwrap_or(text);
        let (date, clock) = match text.split_once(['T', ' ']) {
            Some((date, clock)) => (date, Some(clock.trim())),
            None => (text, None),
        };
        let (sign, date) = match date.strip_prefix('-') {
            Some(date) => (-1, date),
            None => (1, date),
        };
        let mut parts = date.split('-');
        let year = sign * number(parts.next()?, 4..=YEAR)?;
        let two = |text: Option<&str>| text.map_or(Some(None), |text| Some(Some(pair(text)?)));
        let (month, day) = (two(parts.next())?, two(parts.next())?);
        if parts.next().is_some() || clock.is_some() && day.is_none() {
            return None;
        }
        let mut last = match (month, day) {
            (None, _) => Last::Year,
            (_, None) => Last::Month,
            _ => Last::Day,
        };
        let mut at = 0;
        if let Some(clock) = clock {
            let mut parts = clock.split(':');
            let hour = pair(parts.next()?).filter(|hour| *hour < 24)?;
            at = hour * 3600 * SECOND;
            last = Last::Hour;
            if let Some(minute) = parts.next() {
                at += pair(minute).filter(|minute| *minute < 60)? * 60 * SECOND;
                last = Last::Minute;
            }
            if let Some(second) = parts.next() {
                let (second, fraction) = second.split_once('.').unwrap_or((second, "0"));
                at += pair(second).filter(|second| *second < 60)? * SECOND;
                let fraction = Some(fraction).filter(|fraction| !fraction.is_empty())?;
                at += number(&format!("{fraction:0<18}"), 18..=18)?;
                last = Last::Second;
            }
            if parts.next().is_some() {
                return None;
            }
        }
        let month = month.unwrap_or(1);
        let day = day.unwrap_or(1);
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(Self {
            date: (year, month, day),
            clock: at,
            last,
        })
    }

    /// Its date.
    #[must_use]
    pub fn date(&self) -> Date {
        self.date
    }

    /// Its beginning, in attoseconds since the first day of a calendar.
    #[must_use]
    pub fn start(&self, calendar: Calendar) -> i128 {
        calendar.day(self.date) * DAY + self.clock
    }

    /// The end of the written period: the start of the next year, month, day, hour or minute.
    /// `None` for a time with its seconds, which is an instant.
    #[must_use]
    pub fn end(&self, calendar: Calendar) -> Option<i128> {
        let (year, month, _) = self.date;
        Some(match self.last {
            Last::Year => calendar.day((year + 1, 1, 1)) * DAY,
            Last::Month => calendar.day((year, month + 1, 1)) * DAY,
            Last::Day => self.start(calendar) + DAY,
            Last::Hour => self.start(calendar) + 3600 * SECOND,
            Last::Minute => self.start(calendar) + 60 * SECOND,
            Last::Second => return None,
        })
    }
}

/// A time of a calendar in the same form: without its clock at midnight, without seconds if they are 0.
#[must_use]
pub fn shown(calendar: Calendar, time: i128) -> String {
    let (year, month, day) = calendar.date(time.div_euclid(DAY));
    let sign = if year < 0 { "-" } else { "" };
    let date = format!("{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs());
    let clock = time.rem_euclid(DAY);
    let (seconds, fraction) = (clock / SECOND, clock % SECOND);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (clock, fraction) {
        (0, _) => date,
        (_, 0) if second == 0 => format!("{date}T{hour:02}:{minute:02}"),
        (_, 0) => format!("{date}T{hour:02}:{minute:02}:{second:02}"),
        _ => {
            let fraction = format!("{fraction:018}");
            let fraction = fraction.trim_end_matches('0');
            format!("{date}T{hour:02}:{minute:02}:{second:02}.{fraction}")
        }
    }
}

/// A time of a calendar in full, as cftime writes it: `2000-02-30T12:00:00`. A part of a second has six
/// digits, or nine if it needs them.
pub(crate) fn iso(calendar: Calendar, time: i128) -> String {
    let nanoseconds = time.rem_euclid(SECOND) / (SECOND / 1_000_000_000);
    let digits = match nanoseconds {
        0 => 0,
        _ if nanoseconds % 1000 == 0 => 6,
        _ => 9,
    };
    with_digits(calendar, time, digits)
}

/// A time of a calendar with seconds, and so many digits of their parts.
pub(crate) fn with_digits(calendar: Calendar, time: i128, digits: u32) -> String {
    let (year, month, day) = calendar.date(time.div_euclid(DAY));
    let sign = if year < 0 { "-" } else { "" };
    let clock = time.rem_euclid(DAY);
    let (seconds, fraction) = (clock / SECOND, clock % SECOND);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction: String = match digits {
        0 => String::new(),
        _ => {
            ".".chars().chain(format!("{fraction:018}").chars()).take(digits as usize + 1).collect()
        }
    };
    format!(
        "{sign}{:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}",
        year.unsigned_abs()
    )
}

/// Exactly two digits.
fn pair(text: &str) -> Option<i128> {
    number(text, 2..=2)
}

fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<i128> {
    let is_one = digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_one.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_a_period() {
        let calendar = Calendar::Gregorian;
        for (text, start, end) in [
            ("2015", "2015-01-01", Some("2016-01-01")),
            ("2015-12", "2015-12-01", Some("2016-01-01")),
            ("2016-02-29", "2016-02-29", Some("2016-03-01")),
            ("2015-03-01T23", "2015-03-01T23:00", Some("2015-03-02")),
            ("2015-03-01 06:30", "2015-03-01T06:30", Some("2015-03-01T06:31")),
            ("2015-03-01T06:30:15Z", "2015-03-01T06:30:15", None),
            ("2015-03-01T06:30:15.250", "2015-03-01T06:30:15.25", None),
            ("-0001-03", "-0001-03-01", Some("-0001-04-01")),
        ] {
            let moment = Moment::parse(text).expect(text);
            assert_eq!(shown(calendar, moment.start(calendar)), start);
            assert_eq!(moment.end(calendar).map(|end| shown(calendar, end)).as_deref(), end);
        }
    }

    #[test]
    fn other_texts_are_no_times() {
        for text in [
            "",
            "15",
            "201",
            "2015-3",
            "2015-13",
            "2015-00",
            "2015-03-32",
            "2015-03-1",
            "2015-03T06",
            "2015-03-01T",
            "2015-03-01T24",
            "2015-03-01T06:60",
            "2015-03-01T06:30:15.",
            "03:2015",
            "2015-03-01T06:30:15+01:00",
            "2015-03-01T06:30:15:00",
            "99999999999",
            "2015Z",
            "é015",
            "2015-03-01-02",
            "2015-03-01T06:30:15.1234567890123456789",
        ] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
