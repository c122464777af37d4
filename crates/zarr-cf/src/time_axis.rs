//! Times as numbers: the `units` of the CF conventions, and numpy's steps.

use zarr_metadata::{ArrayMetadata, TimeStep, TimeUnit};

use crate::attributes::text;
use crate::calendar::Calendar;
use crate::moment::{DAY, SECOND, shown, with_digits};
use crate::reference::reference;

/// The meaning of a coordinate's numbers as times: a unit, a reference time and a calendar.
///
/// # Examples
/// ```
/// use zarr_cf::TimeAxis;
///
/// let days = TimeAxis::cf("days since 2000-01-01", Some("noleap"))?.ok_or("times")?;
/// assert_eq!(days.shown_whole(59), "2000-03-01");
/// assert!(TimeAxis::cf("metres", None)?.is_none());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeAxis {
    /// The calendar.
    pub calendar: Calendar,
    /// The time of 0, in attoseconds since the first day of the calendar.
    reference: i128,
    unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Attoseconds.
    Fixed(i128),
    /// Months since 1970, in the Gregorian calendar.
    Months(i128),
}

impl TimeAxis {
    /// The attoseconds of a day, an hour, a minute, a second, a millisecond and a microsecond.
    pub(crate) const UNITS: [i128; 6] =
        [DAY, 3600 * SECOND, 60 * SECOND, SECOND, SECOND / 1000, SECOND / 1_000_000];

    /// The length of its unit and the time of 0, unless the unit is of months.
    pub(crate) fn fixed(self) -> Option<(i128, i128)> {
        match self.unit {
            Unit::Fixed(unit) => Some((unit, self.reference)),
            Unit::Months(_) => None,
        }
    }

    /// The axis of units such as `days since 1970-01-01 00:00` and the name of a calendar.
    /// `Ok(None)` if the units are not of a time.
    ///
    /// # Errors
    /// A text that says which part of the units or calendar is not understood.
    pub fn cf(units: &str, calendar: Option<&str>) -> Result<Option<Self>, String> {
        let mut words = units.split_whitespace();
        let (Some(unit), Some("since")) = (words.next(), words.next()) else { return Ok(None) };
        let wrong = |reason: &str| format!("its units {units:?} are not understood: {reason}");
        let unit = match unit.to_ascii_lowercase().as_str() {
            "day" | "days" | "d" => DAY,
            "hour" | "hours" | "hr" | "hrs" | "h" => 3600 * SECOND,
            "minute" | "minutes" | "min" | "mins" => 60 * SECOND,
            "second" | "seconds" | "sec" | "secs" | "s" => SECOND,
            "millisecond" | "milliseconds" | "millisec" | "millisecs" | "msec" | "msecs" | "ms" => {
                SECOND / 1000
            }
            "microsecond" | "microseconds" | "microsec" | "microsecs" => SECOND / 1_000_000,
            "nanosecond" | "nanoseconds" => SECOND / 1_000_000_000,
            // The only calendar whose months have one length.
            "month" | "months" if calendar.and_then(Calendar::named) == Some(Calendar::Days360) => {
                30 * DAY
            }
            _ => return Err(wrong("days, hours, minutes, seconds and their parts are")),
        };
        let name = calendar.unwrap_or("standard");
        let calendar = Calendar::named(name)
            .ok_or_else(|| format!("its calendar {name:?} is not known here"))?;
        let since: Vec<&str> = words.collect();
        let (reference, offset) = reference(&since).ok_or_else(|| {
            wrong("a date, a time and UTC or an offset such as +01:00 may follow `since`")
        })?;
        if !calendar.has(reference.date()) {
            return Err(wrong("there is no such date in its calendar"));
        }
        let reference = reference.start(calendar) - offset;
        Ok(Some(Self { calendar, reference, unit: Unit::Fixed(unit) }))
    }

    /// The axis of the attributes `units` and `calendar` of an array; `None` if they are not of a time.
    /// Bounds and climatologies without them have those of their `coordinate` (CF conventions, 7.1).
    ///
    /// # Errors
    /// As of [`cf`](Self::cf).
    ///
    /// # Examples
    /// ```
    /// use zarr_cf::TimeAxis;
    /// use zarr_metadata::{ArrayBuilder, DataType};
    ///
    /// let time = ArrayBuilder::new([2], DataType::Int32)
    ///     .attributes(r#"{"units": "days since 2000-01-01", "bounds": "time_bnds"}"#)
    ///     .build()?;
    /// let bounds = ArrayBuilder::new([2, 2], DataType::Int32).build()?;
    /// let days = TimeAxis::of(&bounds, Some(&time))?.ok_or("times")?;
    /// assert_eq!(days.shown_whole(31), "2000-02-01");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(
        metadata: &ArrayMetadata,
        coordinate: Option<&ArrayMetadata>,
    ) -> Result<Option<Self>, String> {
        let [units, calendar] = Self::attributes(metadata, coordinate);
        units.map_or(Ok(None), |units| Self::cf(&units, calendar.as_deref()))
    }

    /// The attributes `units` and `calendar` of an array; where it lacks one, that of the coordinate of
    /// which it has the bounds, if that is a time.
    #[must_use]
    pub fn attributes(
        metadata: &ArrayMetadata,
        coordinate: Option<&ArrayMetadata>,
    ) -> [Option<String>; 2] {
        let is_time = |metadata: &&ArrayMetadata| {
            text(metadata, "units").is_some_and(|units| units.contains("since"))
        };
        let coordinate = coordinate.filter(is_time);
        ["units", "calendar"].map(|name| match metadata.attribute(name) {
            Some(_) => text(metadata, name),
            None => text(coordinate?, name),
        })
    }

    /// The axis of numpy's times; `None` if their unit is generic.
    #[must_use]
    pub fn numpy(step: TimeStep) -> Option<Self> {
        let scale = i128::from(step.scale_factor());
        let part = |digits| SECOND / 10_i128.pow(digits) * scale;
        let unit = match step.unit() {
            TimeUnit::Year => Unit::Months(12 * scale),
            TimeUnit::Month => Unit::Months(scale),
            TimeUnit::Week => Unit::Fixed(7 * DAY * scale),
            TimeUnit::Day => Unit::Fixed(DAY * scale),
            TimeUnit::Hour => Unit::Fixed(3600 * SECOND * scale),
            TimeUnit::Minute => Unit::Fixed(60 * SECOND * scale),
            TimeUnit::Second => Unit::Fixed(part(0)),
            TimeUnit::Millisecond => Unit::Fixed(part(3)),
            TimeUnit::Microsecond => Unit::Fixed(part(6)),
            TimeUnit::Nanosecond => Unit::Fixed(part(9)),
            TimeUnit::Picosecond => Unit::Fixed(part(12)),
            TimeUnit::Femtosecond => Unit::Fixed(part(15)),
            TimeUnit::Attosecond => Unit::Fixed(part(18)),
            _ => return None,
        };
        Some(Self { calendar: Calendar::Gregorian, reference: 0, unit })
    }

    /// The least whole number with a time that is not before `time`.
    #[must_use]
    pub fn whole_from(&self, time: i128) -> i128 {
        match self.unit {
            Unit::Fixed(unit) => ceil(time - self.reference, unit),
            Unit::Months(months) => {
                let (year, month, _) = self.calendar.date(time.div_euclid(DAY));
                let starts = self.calendar.day((year, month, 1)) * DAY < time;
                ceil((year - 1970) * 12 + month - 1 + i128::from(starts), months)
            }
        }
    }

    /// The number of a time, rounded.
    #[expect(clippy::cast_precision_loss, reason = "rounded, and whole numbers are exact")]
    #[must_use]
    pub fn number(&self, time: i128) -> f64 {
        match self.unit {
            Unit::Fixed(unit) => {
                let from = time - self.reference;
                from.div_euclid(unit) as f64 + from.rem_euclid(unit) as f64 / unit as f64
            }
            Unit::Months(_) => self.whole_from(time) as f64,
        }
    }

    /// The attoseconds of a number to whole `step`s, half to even, in attoseconds since the first day of
    /// the calendar, as cftime rounds. `None` if it is not finite or out of range.
    pub(crate) fn rounded(&self, number: f64, step: i128) -> Option<i128> {
        let (unit, reference) = self.fixed()?;
        let step = step.min(unit);
        let steps = unit / step;
        // The whole part of a float is exact, and so is the rest: mantissa / 2^places.
        if !number.is_finite() || number.abs() > 1e30 {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "checked above")]
        let whole = number.floor() as i128;
        let (mut mantissa, mut places) = (number - number.floor(), 0_u32);
        while mantissa.fract() != 0.0 && places < 80 {
            mantissa *= 2.0;
            places += 1;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 53 bits, as all floats have")]
        let product = (mantissa as i128).checked_mul(steps)?;
        let (floor, rest) = (product >> places, product & ((1 << places) - 1));
        let sum = whole.checked_mul(steps)?.checked_add(floor)?;
        let half = (1_i128 << places) / 2;
        let is_up = rest > half || places > 0 && rest == half && sum % 2 != 0;
        let nearest = sum.checked_add(i128::from(is_up))?;
        // cftime takes what is a microsecond beside a second as that second, if it can.
        let is_of_long_units = step == SECOND / 1_000_000 && unit > SECOND / 1000;
        let count = match nearest.rem_euclid(1_000_000) {
            1 if is_of_long_units => sum,
            999_999 if is_of_long_units => sum.checked_add(i128::from(rest > 0))?,
            _ => nearest,
        };
        count.checked_mul(step)?.checked_add(reference)
    }

    /// Times in text, all in one form that other programs parse: dates if all are at midnight,
    /// otherwise with seconds, and with as many digits of their parts as one of them needs. `None` is
    /// `NaT`.
    ///
    /// # Examples
    /// ```
    /// use zarr_cf::{DAY, TimeAxis};
    ///
    /// let days = TimeAxis::cf("days since 2000-01-01", None)?.ok_or("times")?;
    /// let time = days.time_of(31).ok_or("in range")?;
    /// assert_eq!(days.in_full(&[Some(time), None]), ["2000-02-01", "NaT"]);
    /// let times = days.in_full(&[Some(time), Some(time + DAY / 4)]);
    /// assert_eq!(times, ["2000-02-01T00:00:00", "2000-02-01T06:00:00"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_full(&self, times: &[Option<i128>]) -> Vec<String> {
        let all = |unit: i128| times.iter().flatten().all(|time| time % unit == 0);
        let mut digits = [0_u32, 3, 6, 9, 12, 15].into_iter();
        let digits = digits.find(|digits| all(SECOND / 10_i128.pow(*digits))).unwrap_or(18);
        let text = |time: &Option<i128>| match time {
            None => "NaT".to_owned(),
            Some(time) if all(DAY) => shown(self.calendar, *time),
            Some(time) => with_digits(self.calendar, *time, digits),
        };
        times.iter().map(text).collect()
    }

    /// The time of a number that need not be whole, to microseconds as cftime rounds, in attoseconds
    /// since the first day of the calendar. `None` if it has none.
    #[must_use]
    pub fn time_of_real(&self, number: f64) -> Option<i128> {
        self.rounded(number, SECOND / 1_000_000)
    }

    /// The time of a whole number, in attoseconds since the first day of the calendar.
    #[must_use]
    pub fn time_of(&self, number: i128) -> Option<i128> {
        match self.unit {
            Unit::Fixed(unit) => {
                number.checked_mul(unit).and_then(|time| time.checked_add(self.reference))
            }
            Unit::Months(months) => {
                Some(self.calendar.day((1970, 1 + number * months, 1)).saturating_mul(DAY))
            }
        }
    }

    /// The time of a number in words.
    #[must_use]
    pub fn shown_whole(&self, number: i128) -> String {
        let time = self.time_of(number);
        time.map_or_else(|| number.to_string(), |time| shown(self.calendar, time))
    }

    /// As [`shown_whole`](Self::shown_whole), of a number with a fraction, to the microsecond.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "for people; it saturates"
    )]
    #[must_use]
    pub fn shown(&self, number: f64) -> String {
        // The days of nine-digit years.
        let (Unit::Fixed(unit), true) = (self.unit, number.abs() < 4e11) else {
            return format!("{number:?}"); // with an exponent, if it is long
        };
        const MICRO: i128 = SECOND / 1_000_000;
        let whole = (number.floor() as i128).saturating_mul(unit);
        let part = ((number - number.floor()) * unit as f64) as i128;
        let time = whole.saturating_add(part).saturating_add(self.reference);
        shown(self.calendar, (time + MICRO / 2).div_euclid(MICRO) * MICRO)
    }
}

fn ceil(n: i128, by: i128) -> i128 {
    n.div_euclid(by) + i128::from(n.rem_euclid(by) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moment::Moment;

    fn time(text: &str, axis: &TimeAxis) -> i128 {
        Moment::parse(text).expect("a time").start(axis.calendar)
    }

    /// By cftime 1.6.6: `num2date(number, units, "julian")`.
    #[test]
    fn times_beside_a_second_are_those_of_cftime() {
        for (unit, number, expected) in [
            ("days", 708_418.76, "3939-07-18T18:14:24"),
            ("days", 424_106.49, "3161-02-20T11:45:36"),
            ("days", 131_279.15, "2359-06-04T03:36:00"),
            ("days", 72_612.35, "2198-10-20T08:24:00"),
            ("days", -72_612.35, "1801-03-13T15:36:00"),
            ("hours", 1.000_000_000_277_777_8, "2000-01-01T01:00:00.000001"),
            ("seconds", 5.000_001, "2000-01-01T00:00:05.000001"),
            ("seconds", 4.999_999, "2000-01-01T00:00:04.999999"),
            ("seconds", 5.000_002, "2000-01-01T00:00:05.000002"),
            ("milliseconds", 5_000.001, "2000-01-01T00:00:05.000001"),
            ("minutes", 0.500_000_016_6, "2000-01-01T00:00:30"),
        ] {
            let axis = TimeAxis::cf(&format!("{unit} since 2000-01-01"), Some("julian"));
            let axis = axis.expect("units").expect("times");
            let found = axis.time_of_real(number);
            assert_eq!(found, Some(time(expected, &axis)), "{number} {unit}");
        }
    }

    /// By cftime 1.6.6: `date2num(datetime(..., calendar=calendar), units, calendar)`.
    #[test]
    fn numbers_are_those_of_cftime() {
        for (units, calendar, text, expected) in [
            ("days since 1970-01-01", "standard", "2015-03-01T18:00", 16_495.75),
            ("hours since 1900-1-1 00:00:0.0", "gregorian", "2015-03-01", 1_009_488.0),
            ("seconds since 2000-01-01 12:00:00 UTC", "standard", "2000-01-01", -43_200.0),
            ("days since 0001-01-01", "standard", "2015-03-01", 735_659.0),
            ("days since 0001-01-01", "proleptic_gregorian", "2015-03-01", 735_657.0),
            ("days since 1850-01-01", "noleap", "2015-03-01", 60_284.0),
            ("days since 1850-1-1", "360_day", "2015-02-30", 59_459.0),
            ("minutes since 1970-01-01T00:00:00Z", "standard", "1970-01-02", 1440.0),
            ("milliseconds since 1970-01-01", "standard", "1970-01-01T00:00:01.5", 1500.0),
        ] {
            let axis = TimeAxis::cf(units, Some(calendar)).expect(units).expect("a time");
            assert_eq!(axis.number(time(text, &axis)), expected, "{units}");
            let again = axis.shown(expected);
            assert_eq!(time(&again, &axis), time(text, &axis), "{units} {again}");
            assert_eq!(axis.shown(-1e300), "-1e300");
        }
    }

    #[test]
    fn units_that_are_no_times() {
        assert_eq!(TimeAxis::cf("degrees_north", None), Ok(None));
        assert_eq!(TimeAxis::cf("", None), Ok(None));
        for (units, calendar) in [
            ("months since 1970-01-01", None),
            ("days since yesterday", None),
            ("days since", None),
            ("days since 1970-01-01 00:00 UTC+3", None),
            ("days since 1970-01-01 00:00 EST", None),
            ("days since 1970-02-30", None),
            ("days since 1970-01-01", Some("lunar")),
        ] {
            assert!(TimeAxis::cf(units, calendar).is_err(), "{units}");
        }
        assert!(TimeAxis::cf("days since 1970-02-30", Some("360_day")).is_ok());
    }

    #[test]
    fn whole_numbers_begin_at_or_after_a_time() {
        let axis = |unit, scale| {
            let unit = TimeUnit::from_name(unit).expect("a unit");
            TimeAxis::numpy(TimeStep::new(unit, scale).expect("a step")).expect("a time")
        };
        for (unit, scale, text, expected) in [
            ("D", 1, "1970-01-02", 1),
            ("D", 2, "1970-01-02", 1),
            ("h", 1, "1969-12-31T23:30", 0),
            ("M", 1, "2015-03-01", 542),
            ("M", 1, "2015-03-02", 543),
            ("Y", 1, "2015-03-01", 46),
            ("W", 1, "1970-01-08", 1),
            ("ns", 1, "1970-01-01T00:00:01", 1_000_000_000),
        ] {
            let axis = axis(unit, scale);
            assert_eq!(axis.whole_from(time(text, &axis)), expected, "{unit} {text}");
        }
        // By numpy: `np.datetime64(-5, (unit, 7))`.
        for (unit, text) in [
            ("Y", "1935-01-01"),
            ("M", "1967-02-01"),
            ("W", "1969-05-01"),
            ("D", "1969-11-27"),
            ("h", "1969-12-30T13"),
            ("m", "1969-12-31T23:25"),
            ("s", "1969-12-31T23:59:25"),
            ("ms", "1969-12-31T23:59:59.965"),
            ("us", "1969-12-31T23:59:59.999965"),
            ("ns", "1969-12-31T23:59:59.999999965"),
            ("ps", "1969-12-31T23:59:59.999999999965"),
            ("fs", "1969-12-31T23:59:59.999999999999965"),
            ("as", "1969-12-31T23:59:59.999999999999999965"),
        ] {
            let axis = axis(unit, 7);
            assert_eq!(axis.time_of(-5), Some(time(text, &axis)), "{unit}");
            assert_eq!(axis.whole_from(time(text, &axis)), -5, "{unit}");
        }
        assert_eq!(axis("M", 1).shown_whole(542), "2015-03-01");
        assert_eq!(axis("s", 1).shown_whole(90), "1970-01-01T00:01:30");
    }
}
