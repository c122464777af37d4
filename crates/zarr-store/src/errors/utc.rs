//! Times in messages.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

const DAY: u64 = 24 * 60 * 60;

/// A time as `2026-11-20T21:00:00.5Z`, in UTC, with the decimals that it has.
pub(crate) struct Utc(pub(crate) SystemTime);

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(since) = self.0.duration_since(UNIX_EPOCH) else {
            return f.write_str("a time before 1970");
        };
        let (year, month, day) = date(since.as_secs() / DAY);
        let second = since.as_secs() % DAY;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        let decimals = format!("{:09}", since.subsec_nanos());
        match decimals.trim_end_matches('0') {
            "" => f.write_str("Z"),
            decimals => write!(f, ".{decimals}Z"),
        }
    }
}

/// Year, month and day of the day with this number since 1970-01-01, in the Gregorian calendar.
///
/// Years are counted from the first of March, so that a leap day is the last day of its year, and
/// in periods of 400 years, which all have the same number of days. The months from March on have
/// 31, 30, 31, 30 and 31 days, 153 together, and then the same again.
fn date(day: u64) -> (u64, u64, u64) {
    const PERIOD: u64 = 146_097;
    // From 0000-03-01.
    let day = day + 719_468;
    let (period, day) = (day / PERIOD, day % PERIOD);
    // Without the leap days before it, every year has 365 days.
    let year = (day - day / 1460 + day / 36_524 - day / (PERIOD - 1)) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let first = (153 * month + 2) / 5;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (period * 400 + year + next, month, day - first + 1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Compared with the output of `date --utc`.
    #[test]
    fn times_are_shown_in_utc() {
        for (seconds, nanos, shown) in [
            (0, 0, "1970-01-01T00:00:00Z"),
            (951_782_399, 0, "2000-02-28T23:59:59Z"),
            (951_782_400, 100, "2000-02-29T00:00:00.0000001Z"),
            (951_868_800, 0, "2000-03-01T00:00:00Z"),
            (1_735_689_599, 500_000_000, "2024-12-31T23:59:59.5Z"),
            (1_732_291_200, 0, "2024-11-22T16:00:00Z"),
            (4_107_542_400, 0, "2100-03-01T00:00:00Z"),
            (253_402_300_799, 0, "9999-12-31T23:59:59Z"),
            (253_402_300_800, 0, "10000-01-01T00:00:00Z"),
        ] {
            let time = UNIX_EPOCH + Duration::new(seconds, nanos);
            assert_eq!(Utc(time).to_string(), shown);
        }
        let before = UNIX_EPOCH.checked_sub(Duration::from_secs(1)).expect("a time");
        assert_eq!(Utc(before).to_string(), "a time before 1970");
    }

    /// All days of 800 years, counted by the rule for leap years.
    #[test]
    fn days_follow_each_other() {
        let mut expected = (1970, 1, 1);
        for day in 0..800 * 366 {
            assert_eq!(date(day), expected, "{day}");
            let (year, month, of_month) = expected;
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 if is_leap => 29,
                2 => 28,
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            expected = match (of_month == length, month) {
                (false, _) => (year, month, of_month + 1),
                (true, 12) => (year + 1, 1, 1),
                (true, _) => (year, month + 1, 1),
            };
        }
    }
}
