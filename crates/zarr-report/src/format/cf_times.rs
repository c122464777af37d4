//! Numbers with `units` of a time as counts of numpy's times.

use zarr_metadata::ArrayMetadata;
use zarr_metadata::cf::{Calendar, DAY, REFORM, SECOND, TimeAxis, text};

/// The times that the attributes `units` and `calendar` of an array mean.
pub(super) struct CfTimes {
    axis: TimeAxis,
    /// Attoseconds of 1970-01-01 since the first day of the calendar.
    epoch: i128,
}

impl CfTimes {
    /// `Ok(None)` if the units are not of a time. The error says which part is not understood;
    /// calendars that numpy's times do not have are also an error.
    pub(super) fn of(metadata: &ArrayMetadata) -> Result<Option<Self>, String> {
        let Some(units) = text(metadata, "units") else { return Ok(None) };
        let calendar = text(metadata, "calendar");
        let Some(axis) = TimeAxis::cf(&units, calendar.as_deref())? else { return Ok(None) };
        if !matches!(axis.calendar, Calendar::Gregorian | Calendar::Mixed) {
            let name = calendar.unwrap_or_default();
            return Err(format!("times of the calendar {name:?} are no dates of numpy's"));
        }
        let epoch = axis.calendar.day((1970, 1, 1)) * DAY;
        Ok(Some(Self { axis, epoch }))
    }

    /// Whether whole numbers mean whole seconds.
    pub(super) fn has_whole_seconds(&self) -> bool {
        let step = self.axis.time_of(1).zip(self.axis.time_of(0));
        step.is_some_and(|(one, zero)| {
            (one - zero) % SECOND == 0 && (zero - self.epoch) % SECOND == 0
        })
    }

    /// Seconds or nanoseconds since 1970 of a whole number.
    pub(super) fn count_of_whole(&self, number: i128, is_seconds: bool) -> Option<i64> {
        self.counted(self.axis.time_of(number)?, is_seconds)
    }

    /// Seconds or nanoseconds since 1970 of a number, to the nearest.
    pub(super) fn count(&self, number: f64, is_seconds: bool) -> Option<i64> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if number.abs() > EXACT {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "less than 2^53")]
        let whole = number.floor() as i128;
        let (this, next) = (self.axis.time_of(whole)?, self.axis.time_of(whole + 1)?);
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            reason = "a part of a step, which is rounded to nanoseconds"
        )]
        let part = ((number - number.floor()) * (next - this) as f64) as i128;
        self.counted(this + part, is_seconds)
    }

    fn counted(&self, time: i128, is_seconds: bool) -> Option<i64> {
        // Before its reform the standard calendar has other dates than numpy.
        if self.axis.calendar == Calendar::Mixed && time < self.axis.calendar.day(REFORM) * DAY {
            return None;
        }
        let unit = if is_seconds { SECOND } else { SECOND / 1_000_000_000 };
        let count = (time - self.epoch + unit / 2).div_euclid(unit);
        i64::try_from(count).ok().filter(|count| *count != i64::MIN)
    }
}
