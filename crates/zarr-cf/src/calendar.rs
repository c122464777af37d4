//! Calendars: the number of a date, and the date of a number, exact in 128 bits.

/// The calendars of the CF conventions: each has its own dates.
///
/// # Examples
/// ```
/// use zarr_cf::Calendar;
///
/// assert_eq!(Calendar::Gregorian.day((1970, 3, 1)), 59);
/// assert_eq!(Calendar::Gregorian.date(-1), (1969, 12, 31));
/// assert!(!Calendar::NoLeap.has((2016, 2, 29)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calendar {
    /// Proleptic Gregorian: Gregorian for all dates.
    Gregorian,
    /// Gregorian from 1582-10-15 on, Julian until 1582-10-04, without dates in between.
    Mixed,
    /// Julian for all dates.
    Julian,
    /// Years of 365 days.
    NoLeap,
    /// Years of 366 days.
    AllLeap,
    /// Twelve months of 30 days.
    Days360,
}

/// A day: year, month from 1, day from 1.
pub type Date = (i128, i128, i128);

/// The first day of the Gregorian calendar.
pub const REFORM: Date = (1582, 10, 15);

impl Calendar {
    /// The calendar with this name in CF.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "standard" | "gregorian" => Self::Mixed,
            "proleptic_gregorian" => Self::Gregorian,
            "julian" => Self::Julian,
            "noleap" | "365_day" => Self::NoLeap,
            "all_leap" | "366_day" => Self::AllLeap,
            "360_day" => Self::Days360,
            _ => return None,
        })
    }

    /// The number of a date, counted from a day that depends on the calendar. Months after the
    /// twelfth belong to the next year.
    #[must_use]
    pub fn day(self, (year, month, day): Date) -> i128 {
        let (year, month) = (year + (month - 1).div_euclid(12), (month - 1).rem_euclid(12) + 1);
        match self {
            Self::Gregorian => gregorian(year, month, day),
            Self::Mixed if (year, month, day) < REFORM => julian(year, month, day),
            Self::Mixed => gregorian(year, month, day),
            Self::Julian => julian(year, month, day),
            Self::NoLeap => year * 365 + before(month, 28) + day - 1,
            Self::AllLeap => year * 366 + before(month, 29) + day - 1,
            Self::Days360 => year * 360 + (month - 1) * 30 + day - 1,
        }
    }

    /// The date with this number, as [`day`](Self::day) counts.
    #[must_use]
    pub fn date(self, day: i128) -> Date {
        match self {
            Self::Mixed if day < self.day(REFORM) => julian_date(day),
            Self::Gregorian | Self::Mixed => gregorian_date(day),
            Self::Julian => julian_date(day),
            Self::NoLeap => date_of_equal_years(day, 28),
            Self::AllLeap => date_of_equal_years(day, 29),
            Self::Days360 => {
                (day.div_euclid(360), day.rem_euclid(360) / 30 + 1, day.rem_euclid(30) + 1)
            }
        }
    }

    /// Whether there is such a date.
    #[must_use]
    pub fn has(self, date: Date) -> bool {
        self.date(self.day(date)) == date
    }
}

/// The day since 1970-01-01 of a Gregorian date.
fn gregorian(year: i128, month: i128, day: i128) -> i128 {
    let march = if month > 2 { year } else { year - 1 };
    julian(year, month, day) - march.div_euclid(100) + march.div_euclid(400) + 2
}

/// The day since 1970-01-01 (Gregorian) of a Julian date.
fn julian(year: i128, month: i128, day: i128) -> i128 {
    // In years that begin in March, the leap day is at the end. From March on, months alternate
    // between 31 and 30 days, except July and August: 153 days in five months.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    year * 365 + year.div_euclid(4) + (153 * month + 2) / 5 + day - 719_471
}

fn gregorian_date(day: i128) -> Date {
    let day = day.saturating_add(719_468);
    // As many days later as the centuries before have left out leap days.
    let century = (4 * day + 3).div_euclid(146_097);
    from_march(day + century - century.div_euclid(4))
}

fn julian_date(day: i128) -> Date {
    from_march(day.saturating_add(719_470))
}

/// The date of a day, counted from the March of the year 0, where every fourth year has a leap day,
/// at its end.
fn from_march(day: i128) -> Date {
    let year = (4 * day + 3).div_euclid(1461);
    let day = day - 365 * year - year.div_euclid(4);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

/// The date of a number where all years are alike, with a February of this length.
fn date_of_equal_years(day: i128, february: i128) -> Date {
    let days = 337 + february;
    let (year, day) = (day.div_euclid(days), day.rem_euclid(days));
    let month = (2..=12).take_while(|month| before(*month, february) <= day).last().unwrap_or(1);
    (year, month, day - before(month, february) + 1)
}

/// The number of days before a month, given the length of February.
fn before(month: i128, february: i128) -> i128 {
    let days = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    days.into_iter().zip(1..month).map(|(days, _)| days).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Calendar; 6] = [
        Calendar::Gregorian,
        Calendar::Mixed,
        Calendar::Julian,
        Calendar::NoLeap,
        Calendar::AllLeap,
        Calendar::Days360,
    ];

    /// Each day of 900 years follows the one before it, by the rules of each calendar.
    #[test]
    fn days_follow_each_other() {
        for calendar in ALL {
            let (mut year, mut month, mut day) = (1300_i128, 1, 1);
            let first = calendar.day((year, month, day));
            for number in first..first + 900 * 366 {
                assert_eq!(calendar.date(number), (year, month, day), "{calendar:?}");
                assert_eq!(calendar.day((year, month, day)), number, "{calendar:?}");
                let is_julian = calendar == Calendar::Julian
                    || calendar == Calendar::Mixed && (year, month, day) < REFORM;
                let leap = match calendar {
                    Calendar::NoLeap | Calendar::Days360 => false,
                    Calendar::AllLeap => true,
                    _ if is_julian => year % 4 == 0,
                    _ => year % 4 == 0 && (year % 100 != 0 || year % 400 == 0),
                };
                let days = match month {
                    _ if calendar == Calendar::Days360 => 30,
                    2 => 28 + i128::from(leap),
                    4 | 6 | 9 | 11 => 30,
                    _ => 31,
                };
                day += 1;
                if calendar == Calendar::Mixed && (year, month, day) == (1582, 10, 5) {
                    day = 15;
                }
                if day > days {
                    (month, day) = (month + 1, 1);
                }
                if month > 12 {
                    (year, month) = (year + 1, 1);
                }
            }
        }
    }

    /// By cftime 1.6.6: `date2num(datetime(*date, calendar=c), "days since 1970-01-01", c)`; the Julian
    /// day by its definition.
    #[test]
    fn numbers_are_those_of_cftime() {
        for (calendar, date, expected) in [
            ("standard", (1, 1, 1), -719_164),
            ("proleptic_gregorian", (1, 1, 1), -719_162),
            ("standard", (1582, 10, 4), -141_428),
            ("standard", (1582, 10, 15), -141_427),
            ("julian", (1970, 1, 1), 13),
            ("julian", (1900, 1, 1), 13 - 25_568),
        ] {
            let calendar = Calendar::named(calendar).expect("a calendar");
            assert_eq!(calendar.day(date), expected, "{date:?}");
        }
        let noleap = Calendar::NoLeap;
        assert_eq!(noleap.day((2015, 3, 1)) - noleap.day((1970, 1, 1)), 16_484);
        let months = Calendar::Days360;
        assert_eq!(months.day((2015, 2, 30)) - months.day((1970, 1, 1)), 16_259);
    }

    #[test]
    fn dates_that_are_none() {
        for (calendar, date) in [
            (Calendar::Gregorian, (2015, 2, 29)),
            (Calendar::NoLeap, (2016, 2, 29)),
            (Calendar::Days360, (2016, 1, 31)),
            (Calendar::Mixed, (1582, 10, 10)),
            (Calendar::Gregorian, (2015, 13, 1)),
            (Calendar::Gregorian, (2015, 1, 0)),
        ] {
            assert!(!calendar.has(date), "{calendar:?} {date:?}");
        }
        assert!(Calendar::Days360.has((2015, 2, 30)) && Calendar::Julian.has((1900, 2, 29)));
    }
}
