//! Times and durations as types of the crate `jiff`.
//!
//! Elements are whole numbers of steps of a unit, from attoseconds to weeks, or of calendar months
//! and years. `jiff` counts nanoseconds. A conversion is exact, or it is an error; numpy would
//! round or wrap around instead.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use zarr_metadata::{DataType, TimeStep, TimeUnit};

use crate::array::elements::sealed;
use crate::array::{Array, ReadAs, WriteAs};
use crate::error::{ArrayError, TimeError};
use crate::selection::AnySelection;
#[cfg(feature = "async")]
use crate::selection::Selection;
#[cfg(feature = "async")]
use crate::threads::{self, ArrayFuture};

/// "NaT", which is no time.
const NAT: i64 = i64::MIN;

const SECOND: i128 = 1_000_000_000;

const TIMESTAMP: &str = "jiff::Timestamp";

const DURATION: &str = "jiff::SignedDuration";

/// Times of `numpy.datetime64`, in UTC as its specification says; "NaT" is `None`. Years and months
/// are the moments at which they begin. The data type must have a unit other than `generic`. A time
/// that is no whole number of nanoseconds, or outside of the years -9999 to 9999, is
/// [`ArrayError::Time`].
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::Array;
/// # use zarr_array::store::{MemoryStore, Prefix};
/// use jiff::Timestamp;
/// use zarr_metadata::{ArrayBuilder, DataType, TimeUnit};
///
/// let hours = DataType::NumpyDatetime64(TimeUnit::Hour.into());
/// let metadata = ArrayBuilder::new([3], hours).build()?;
/// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
/// let noon: Timestamp = "2024-02-29T12:00:00Z".parse()?;
/// array.write_as(0..2, &[Some(noon), None])?;
/// assert_eq!(array.read_as::<i64>(0..1)?, [474_780]); // hours since 1970
/// assert_eq!(array.read_as::<Option<Timestamp>>(0..3)?, [Some(noon), None, None]);
///
/// let later = noon + jiff::SignedDuration::from_mins(30);
/// assert!(array.write_as(2..3, &[Some(later)]).is_err()); // no whole hour
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Spec
/// zarr-extensions `data-types/numpy.datetime64`.
impl ReadAs for Option<Timestamp> {
    type Output = Vec<Self>;
}

/// Durations of `numpy.timedelta64`; "NaT" is `None`. The data type must have a unit of a fixed
/// length: not `generic`, months or years. A duration that is no whole number of nanoseconds, or
/// too long for `jiff`, is [`ArrayError::Time`].
///
/// # Spec
/// zarr-extensions `data-types/numpy.timedelta64`.
impl ReadAs for Option<SignedDuration> {
    type Output = Vec<Self>;
}

macro_rules! times {
    ($($type:ty, $step:ident, $read:ident, $write:ident;)*) => {$(
        impl sealed::Read<Vec<Self>> for Option<$type> {
            fn read(array: &Array, selection: &AnySelection) -> Result<Vec<Self>, ArrayError> {
                let step = array.$step()?;
                $read(&array.read_as::<i64>(selection)?, step)
            }

            #[cfg(feature = "async")]
            fn read_async(array: Array, selection: Selection) -> ArrayFuture<Vec<Self>> {
                Box::pin(async move {
                    let step = array.$step()?;
                    let counts = array.asynchronous().read_as::<i64>(selection).await?;
                    // Calendar months take a while, which is not for the executor's thread.
                    let times = threads::DECODERS.run(move || $read(&counts, step));
                    times.await.map_err(threads::interrupted)?
                })
            }
        }

        impl WriteAs for Option<$type> {}

        impl sealed::Write for Option<$type> {
            fn check(array: &Array) -> Result<(), ArrayError> {
                array.$step().map(drop)
            }

            fn write(
                array: &Array,
                selection: &AnySelection,
                times: &[Self],
            ) -> Result<(), ArrayError> {
                let step = array.$step()?;
                array.write_as(selection, &$write(times, step)?)
            }

            #[cfg(feature = "async")]
            fn write_async(
                array: Array,
                selection: Selection,
                times: impl AsRef<[Self]> + Send + Sync + 'static,
            ) -> ArrayFuture<()> {
                Box::pin(async move {
                    let step = array.$step()?;
                    let counts = threads::DECODERS.run(move || $write(times.as_ref(), step));
                    let counts = counts.await.map_err(threads::interrupted)??;
                    array.asynchronous().write_as(selection, counts).await
                })
            }
        }
    )*};
}

times! {
    Timestamp, datetime_step, timestamps, of_timestamps;
    SignedDuration, timedelta_step, durations, of_durations;
}

impl Array {
    /// The step of times that have one.
    fn datetime_step(&self) -> Result<TimeStep, ArrayError> {
        match self.data_type() {
            DataType::NumpyDatetime64(step) if step.unit() != TimeUnit::Generic => Ok(*step),
            _ => Err(self.is_no_time(TIMESTAMP)),
        }
    }

    /// The step of durations that have a length.
    fn timedelta_step(&self) -> Result<TimeStep, ArrayError> {
        match self.data_type() {
            DataType::NumpyTimedelta64(step)
                if step.unit() != TimeUnit::Generic && months(step.unit()).is_none() =>
            {
                Ok(*step)
            }
            _ => Err(self.is_no_time(DURATION)),
        }
    }

    fn is_no_time(&self, requested: &'static str) -> ArrayError {
        let data_type = match self.data_type() {
            DataType::NumpyDatetime64(step) | DataType::NumpyTimedelta64(step) => {
                format!("{} in units of {:?}", self.data_type().name(), step.unit().name())
            }
            other => other.to_string(),
        };
        ArrayError::ElementType { data_type, requested }
    }
}

/// The times of elements.
fn timestamps(counts: &[i64], step: TimeStep) -> Result<Vec<Option<Timestamp>>, ArrayError> {
    times(counts, step, |count| match months(step.unit()) {
        Some(months) => month(i128::from(count), months, step),
        None => Timestamp::from_nanosecond(nanoseconds(count, step)?).map_err(|_| TimeError::Range),
    })
}

/// The elements of times.
fn of_timestamps(times: &[Option<Timestamp>], step: TimeStep) -> Result<Vec<i64>, ArrayError> {
    counts(times, |time| match months(step.unit()) {
        Some(months) => steps_of_month(*time, months, step),
        None => steps(time.as_nanosecond(), step),
    })
}

/// The durations of elements.
fn durations(counts: &[i64], step: TimeStep) -> Result<Vec<Option<SignedDuration>>, ArrayError> {
    times(counts, step, |count| {
        let all = nanoseconds(count, step)?;
        let (seconds, rest) = (all.checked_div(SECOND), all.checked_rem(SECOND));
        let seconds = seconds.and_then(|seconds| i64::try_from(seconds).ok());
        let rest = rest.and_then(|rest| i32::try_from(rest).ok());
        let both = seconds.zip(rest).ok_or(TimeError::Range)?;
        Ok(SignedDuration::new(both.0, both.1))
    })
}

/// The elements of durations.
fn of_durations(
    durations: &[Option<SignedDuration>],
    step: TimeStep,
) -> Result<Vec<i64>, ArrayError> {
    counts(durations, |duration| steps(duration.as_nanos(), step))
}

/// Converts each element that is a time.
fn times<T>(
    counts: &[i64],
    step: TimeStep,
    time: impl Fn(i64) -> Result<T, TimeError>,
) -> Result<Vec<Option<T>>, ArrayError> {
    let times = counts.iter().enumerate().map(|(element, count)| {
        if *count == NAT {
            return Ok(None);
        }
        let value = || format!("{count} x {} {}", step.scale_factor(), step.unit().name());
        time(*count).map(Some).map_err(|cause| ArrayError::Time { element, value: value(), cause })
    });
    times.collect()
}

/// Converts each time that is not missing.
fn counts<T: ToString>(
    times: &[Option<T>],
    count: impl Fn(&T) -> Result<i64, TimeError>,
) -> Result<Vec<i64>, ArrayError> {
    let counts = times.iter().enumerate().map(|(element, time)| match time {
        None => Ok(NAT),
        Some(time) => count(time).map_err(|cause| ArrayError::Time {
            element,
            value: time.to_string(),
            cause,
        }),
    });
    counts.collect()
}

/// A unit of a fixed length.
enum Length {
    /// Nanoseconds of the unit.
    Nanoseconds(i128),
    /// Units of a nanosecond.
    Part(i128),
}

/// The months of a unit of the calendar.
fn months(unit: TimeUnit) -> Option<i128> {
    match unit {
        TimeUnit::Year => Some(12),
        TimeUnit::Month => Some(1),
        _ => None,
    }
}

/// `None` for units without a fixed length, which callers treat before.
fn length(unit: TimeUnit) -> Option<Length> {
    Some(match unit {
        TimeUnit::Week => Length::Nanoseconds(604_800 * SECOND),
        TimeUnit::Day => Length::Nanoseconds(86_400 * SECOND),
        TimeUnit::Hour => Length::Nanoseconds(3_600 * SECOND),
        TimeUnit::Minute => Length::Nanoseconds(60 * SECOND),
        TimeUnit::Second => Length::Nanoseconds(SECOND),
        TimeUnit::Millisecond => Length::Nanoseconds(1_000_000),
        TimeUnit::Microsecond => Length::Nanoseconds(1_000),
        TimeUnit::Nanosecond => Length::Nanoseconds(1),
        TimeUnit::Picosecond => Length::Part(1_000),
        TimeUnit::Femtosecond => Length::Part(1_000_000),
        TimeUnit::Attosecond => Length::Part(1_000_000_000),
        _ => return None,
    })
}

/// `number` in `unit`s, if it is a whole number of them.
fn whole(number: i128, unit: i128, cause: TimeError) -> Result<i128, TimeError> {
    match number.checked_rem(unit) {
        Some(0) => number.checked_div(unit).ok_or(TimeError::Range),
        _ => Err(cause),
    }
}

/// The nanoseconds of so many steps.
fn nanoseconds(count: i64, step: TimeStep) -> Result<i128, TimeError> {
    let units = i128::from(count).checked_mul(step.scale_factor().into());
    let units = units.ok_or(TimeError::Range)?;
    match length(step.unit()).ok_or(TimeError::Range)? {
        Length::Nanoseconds(length) => units.checked_mul(length).ok_or(TimeError::Range),
        Length::Part(part) => whole(units, part, TimeError::Nanoseconds),
    }
}

/// The steps of so many nanoseconds.
fn steps(nanoseconds: i128, step: TimeStep) -> Result<i64, TimeError> {
    let scale = i128::from(step.scale_factor());
    let (number, unit) = match length(step.unit()).ok_or(TimeError::Steps)? {
        Length::Nanoseconds(length) => (Some(nanoseconds), length.checked_mul(scale)),
        Length::Part(part) => (nanoseconds.checked_mul(part), Some(scale)),
    };
    let (number, unit) = number.zip(unit).ok_or(TimeError::RangeOfSteps)?;
    element(whole(number, unit, TimeError::Steps)?)
}

/// An element, which "NaT" is not.
fn element(count: i128) -> Result<i64, TimeError> {
    i64::try_from(count).ok().filter(|count| *count != NAT).ok_or(TimeError::RangeOfSteps)
}

/// The moment at which a calendar month begins.
fn month(count: i128, months: i128, step: TimeStep) -> Result<Timestamp, TimeError> {
    // Less than 2^63 * 2^31 * 12.
    let since_1970 = count
        .checked_mul(step.scale_factor().into())
        .and_then(|units| units.checked_mul(months))
        .ok_or(TimeError::Range)?;
    let year = since_1970.div_euclid(12).checked_add(1970);
    let year = year.and_then(|year| i16::try_from(year).ok());
    let month = i8::try_from(since_1970.rem_euclid(12)).ok().and_then(|month| month.checked_add(1));
    let (year, month) = year.zip(month).ok_or(TimeError::Range)?;
    let first = Date::new(year, month, 1).map_err(|_| TimeError::Range)?;
    TimeZone::UTC.to_timestamp(first.to_datetime(Time::midnight())).map_err(|_| TimeError::Range)
}

/// The steps to a moment at which a calendar month begins.
fn steps_of_month(time: Timestamp, months: i128, step: TimeStep) -> Result<i64, TimeError> {
    let time = TimeZone::UTC.to_datetime(time);
    if time.day() != 1 || time.time() != Time::midnight() {
        return Err(TimeError::Steps);
    }
    let years = i128::from(time.year()).checked_sub(1970);
    let since_1970 = years
        .and_then(|years| years.checked_mul(12))
        .and_then(|all| all.checked_add(time.month().into()))
        .and_then(|all| all.checked_sub(1));
    let unit = months.checked_mul(step.scale_factor().into());
    let (since_1970, unit) = since_1970.zip(unit).ok_or(TimeError::RangeOfSteps)?;
    element(whole(since_1970, unit, TimeError::Steps)?)
}
