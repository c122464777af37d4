//! Times as `jiff` has them, against numbers that other programs give and against arithmetic by
//! hand.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use zarr_array::store::{MemoryStore, Prefix};
use zarr_array::{Array, ArrayError, TimeError};
use zarr_metadata::{ArrayBuilder, DataType, TimeStep, TimeUnit};
use zarr_store_tests::executor::block_on;

fn array(data_type: DataType, length: u64) -> Array {
    let metadata = ArrayBuilder::new([length], data_type).build().expect("valid");
    Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata).expect("creates")
}

fn step(unit: TimeUnit, scale: u32) -> TimeStep {
    TimeStep::new(unit, scale).expect("a step")
}

fn time(text: &str) -> Timestamp {
    text.parse().expect(text)
}

/// What is read of a stored count, and what is stored of that.
fn read(unit: TimeUnit, scale: u32, count: i64) -> Result<Option<Timestamp>, TimeError> {
    let array = array(DataType::NumpyDatetime64(step(unit, scale)), 1);
    array.write_as(0..1, &[count]).expect("writes");
    match array.read_as::<Option<Timestamp>>(0..1) {
        Ok(times) => {
            array.write_as(0..1, &[7_i64]).expect("writes");
            array.write_as(0..1, &times).expect("what was read can be written");
            assert_eq!(array.read_as::<i64>(0..1).expect("reads"), [count]);
            Ok(times[0])
        }
        Err(ArrayError::Time { element: 0, cause, .. }) => Err(cause),
        Err(error) => panic!("{error}"),
    }
}

fn written(unit: TimeUnit, scale: u32, text: &str) -> Result<i64, TimeError> {
    let array = array(DataType::NumpyDatetime64(step(unit, scale)), 1);
    match array.write_as(0..1, &[Some(time(text))]) {
        Ok(()) => Ok(array.read_as::<i64>(0..1).expect("reads")[0]),
        Err(ArrayError::Time { element: 0, cause, value }) => {
            assert_eq!(value, time(text).to_string());
            Err(cause)
        }
        Err(error) => panic!("{error}"),
    }
}

/// `numpy.datetime64(TEXT, UNIT).astype("int64")` of numpy 2.
#[test]
fn times_are_those_of_numpy() {
    for (unit, scale, count, text) in [
        (TimeUnit::Year, 1, 54, "2024-01-01T00:00:00Z"),
        (TimeUnit::Year, 1, -1971, "-000001-01-01T00:00:00Z"),
        (TimeUnit::Year, 10, 3, "2000-01-01T00:00:00Z"),
        (TimeUnit::Month, 1, 649, "2024-02-01T00:00:00Z"),
        (TimeUnit::Month, 3, -1, "1969-10-01T00:00:00Z"),
        (TimeUnit::Week, 1, 2825, "2024-02-22T00:00:00Z"),
        (TimeUnit::Day, 1, 19_782, "2024-02-29T00:00:00Z"),
        (TimeUnit::Day, 1, -719_162, "0001-01-01T00:00:00Z"),
        (TimeUnit::Hour, 6, 79_129, "2024-02-29T06:00:00Z"),
        (TimeUnit::Minute, 1, -1, "1969-12-31T23:59:00Z"),
        (TimeUnit::Second, 1, 1_709_164_800, "2024-02-29T00:00:00Z"),
        (TimeUnit::Millisecond, 1, 1_709_164_800_001, "2024-02-29T00:00:00.001Z"),
        (TimeUnit::Microsecond, 1, -1, "1969-12-31T23:59:59.999999Z"),
        (TimeUnit::Nanosecond, 1, i64::MAX, "2262-04-11T23:47:16.854775807Z"),
        (TimeUnit::Nanosecond, 1, i64::MIN + 1, "1677-09-21T00:12:43.145224193Z"),
        (TimeUnit::Nanosecond, 100, 17_091_648_000_000_000, "2024-02-29T00:00:00Z"),
        (TimeUnit::Picosecond, 1, -1_000, "1969-12-31T23:59:59.999999999Z"),
        (TimeUnit::Picosecond, 500, 4, "1970-01-01T00:00:00.000000002Z"),
        (TimeUnit::Femtosecond, 1, 3_000_000, "1970-01-01T00:00:00.000000003Z"),
        (TimeUnit::Attosecond, 1, 9_000_000_000, "1970-01-01T00:00:00.000000009Z"),
    ] {
        assert_eq!(read(unit, scale, count), Ok(Some(time(text))), "{count} x {scale} {unit:?}");
        assert_eq!(written(unit, scale, text), Ok(count), "{text} in {scale} {unit:?}");
    }
}

#[test]
fn nothing_is_rounded_or_wrapped() {
    for unit in TimeUnit::ALL.iter().copied().filter(|unit| *unit != TimeUnit::Generic) {
        assert_eq!(read(unit, 1, i64::MIN), Ok(None), "NaT of {unit:?}");
    }
    for (unit, scale, count) in [
        (TimeUnit::Year, 1, 8030),
        (TimeUnit::Year, 1, i64::MAX),
        (TimeUnit::Year, i32::MAX.cast_unsigned(), i64::MAX),
        (TimeUnit::Month, 1, -12 * 11_969),
        (TimeUnit::Week, i32::MAX.cast_unsigned(), i64::MIN + 1),
        (TimeUnit::Second, 1, i64::MAX),
        (TimeUnit::Second, 1, 253_402_207_201),
        (TimeUnit::Microsecond, 1_000_000, 1 << 40),
    ] {
        assert_eq!(read(unit, scale, count), Err(TimeError::Range), "{count} x {scale} {unit:?}");
    }
    for (unit, scale, count) in [
        (TimeUnit::Picosecond, 1, 1),
        (TimeUnit::Picosecond, 500, -3),
        (TimeUnit::Femtosecond, 1, 1_000_001),
        (TimeUnit::Attosecond, 1, i64::MAX),
    ] {
        let found = read(unit, scale, count);
        assert_eq!(found, Err(TimeError::Nanoseconds), "{count} x {scale} {unit:?}");
    }
    for (unit, scale, text) in [
        (TimeUnit::Year, 1, "2024-02-01T00:00:00Z"),
        (TimeUnit::Year, 1, "2024-01-01T00:00:00.000000001Z"),
        (TimeUnit::Year, 10, "2024-01-01T00:00:00Z"),
        (TimeUnit::Month, 1, "2024-02-02T00:00:00Z"),
        (TimeUnit::Month, 3, "2024-02-01T00:00:00Z"),
        (TimeUnit::Week, 1, "2024-02-29T12:00:00Z"),
        (TimeUnit::Day, 1, "1969-12-31T23:59:59.999999999Z"),
        (TimeUnit::Second, 30, "1970-01-01T00:00:15Z"),
        (TimeUnit::Nanosecond, 100, "1970-01-01T00:00:00.000000001Z"),
        (TimeUnit::Picosecond, 1_500, "1970-01-01T00:00:00.000000001Z"),
    ] {
        assert_eq!(written(unit, scale, text), Err(TimeError::Steps), "{text} {scale} {unit:?}");
    }
    for (unit, text) in [
        (TimeUnit::Nanosecond, "2262-04-11T23:47:16.854775808Z"),
        // It would be NaT.
        (TimeUnit::Nanosecond, "1677-09-21T00:12:43.145224192Z"),
        (TimeUnit::Picosecond, "2024-01-01T00:00:00Z"),
        (TimeUnit::Attosecond, "1970-01-01T00:01:00Z"),
    ] {
        assert_eq!(written(unit, 1, text), Err(TimeError::RangeOfSteps), "{text} {unit:?}");
    }
}

/// Days from 1970 to the first of a month, counted one month after the other.
#[test]
fn every_month_begins_where_counting_days_says() {
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = |year: i64, month: i64| match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let length = 12 * 1200;
    let months = array(DataType::NumpyDatetime64(TimeUnit::Month.into()), length);
    let first = -12 * 600;
    let counts: Vec<i64> = (first..).take(usize::try_from(length).expect("small")).collect();
    months.write_as(0..length, &counts).expect("writes");
    let found = months.read_as::<Option<Timestamp>>(0..length).expect("reads");
    let mut day = -(1370..1970).map(|year| 365 + i64::from(is_leap(year))).sum::<i64>();
    for (count, found) in counts.iter().zip(found) {
        let (year, month) = (1970 + count.div_euclid(12), count.rem_euclid(12) + 1);
        assert_eq!(found.map(Timestamp::as_second), Some(day * 86_400), "{year}-{month}");
        day += days(year, month);
    }
}

#[test]
fn durations_are_exact_too() {
    let read = |unit, scale, count: i64| {
        let array = array(DataType::NumpyTimedelta64(step(unit, scale)), 1);
        array.write_as(0..1, &[count]).expect("writes");
        let durations = match array.read_as::<Option<SignedDuration>>(0..1) {
            Ok(durations) => durations,
            Err(ArrayError::Time { cause, .. }) => return Err(cause),
            Err(error) => panic!("{error}"),
        };
        array.write_as(0..1, &[7_i64]).expect("writes");
        array.write_as(0..1, &durations).expect("what was read can be written");
        assert_eq!(array.read_as::<i64>(0..1).expect("reads"), [count]);
        Ok(durations[0])
    };
    for (unit, scale, count, seconds, nanoseconds) in [
        (TimeUnit::Week, 1, -2, -1_209_600, 0),
        (TimeUnit::Day, 3, 1, 259_200, 0),
        (TimeUnit::Minute, 15, 3, 2_700, 0),
        (TimeUnit::Second, 1, i64::MAX, i64::MAX, 0),
        (TimeUnit::Millisecond, 1, -1_500, -1, -500_000_000),
        (TimeUnit::Nanosecond, 1, -1, 0, -1),
        (TimeUnit::Picosecond, 1, 2_000, 0, 2),
        (TimeUnit::Attosecond, 1_000_000_000, 5, 0, 5),
    ] {
        let expected = SignedDuration::new(seconds, nanoseconds);
        assert_eq!(read(unit, scale, count), Ok(Some(expected)), "{count} x {scale} {unit:?}");
    }
    assert_eq!(read(TimeUnit::Second, 1, i64::MIN), Ok(None));
    assert_eq!(read(TimeUnit::Second, 2, i64::MAX), Err(TimeError::Range));
    assert_eq!(read(TimeUnit::Week, i32::MAX.cast_unsigned(), i64::MAX), Err(TimeError::Range));
    assert_eq!(read(TimeUnit::Picosecond, 1, 999), Err(TimeError::Nanoseconds));

    let hours = array(DataType::NumpyTimedelta64(TimeUnit::Hour.into()), 2);
    let odd = [Some(SignedDuration::from_hours(1)), Some(SignedDuration::from_mins(90))];
    let error = hours.write_as(0..2, &odd).expect_err("not whole");
    assert!(matches!(error, ArrayError::Time { element: 1, cause: TimeError::Steps, .. }));
    assert_eq!(hours.read_as::<i64>(0..2).expect("reads"), [i64::MIN; 2], "nothing is written");
    for too_long in [SignedDuration::MIN, SignedDuration::MAX] {
        for unit in [TimeUnit::Nanosecond, TimeUnit::Attosecond] {
            let array = array(DataType::NumpyTimedelta64(unit.into()), 1);
            let error = array.write_as(0..1, &[Some(too_long)]).expect_err("too long");
            let expected = TimeError::RangeOfSteps;
            assert!(matches!(error, ArrayError::Time { cause, .. } if cause == expected));
        }
    }
}

#[test]
fn other_types_are_no_times() {
    let refused = |data_type: DataType| {
        let array = array(data_type, 1);
        let time = array.read_as::<Option<Timestamp>>(0..1).expect_err("no time").to_string();
        assert_eq!(
            array.write_as(0..1, &[None::<Timestamp>]).expect_err("no time").to_string(),
            time
        );
        let duration =
            array.read_as::<Option<SignedDuration>>(0..1).expect_err("no duration").to_string();
        let written =
            array.write_as(0..1, &[None::<SignedDuration>]).expect_err("no duration").to_string();
        assert_eq!(written, duration);
        [time, duration]
    };
    let of =
        |what: &str, rust: &str| format!("elements of data type {what} cannot be taken as {rust}");
    assert_eq!(
        refused(DataType::Int64),
        [of("int64", "jiff::Timestamp"), of("int64", "jiff::SignedDuration")]
    );
    let generic = "numpy.datetime64 in units of \"generic\"";
    assert_eq!(
        refused(DataType::NumpyDatetime64(TimeUnit::Generic.into())),
        [of(generic, "jiff::Timestamp"), of(generic, "jiff::SignedDuration")]
    );
    let months = "numpy.timedelta64 in units of \"M\"";
    assert_eq!(
        refused(DataType::NumpyTimedelta64(TimeUnit::Month.into())),
        [of(months, "jiff::Timestamp"), of(months, "jiff::SignedDuration")]
    );
    // Messages.
    let days = array(DataType::NumpyDatetime64(step(TimeUnit::Day, 7)), 2);
    days.write_as(0..2, &[1_i64, i64::MAX]).expect("writes");
    assert_eq!(
        days.read_as::<Option<Timestamp>>(0..2).expect_err("far").to_string(),
        "element 1 of the selection, 9223372036854775807 x 7 D, is outside of the range of the Rust type"
    );
    assert_eq!(
        days.write_as(0..1, &[Some(time("2024-03-01T00:00:00Z"))])
            .expect_err("not whole")
            .to_string(),
        "element 0 of the selection, 2024-03-01T00:00:00Z, is no whole number of the array's steps"
    );
    assert!(days.write_as(0..1, &[None::<Timestamp>, None]).is_err(), "of another length");
}

/// Futures give the times, and the errors, of the blocking methods.
#[test]
fn futures_do_what_the_blocking_methods_do() {
    let hours = array(DataType::NumpyDatetime64(step(TimeUnit::Hour, 1)), 4);
    let noon = Some(time("2024-02-29T12:00:00Z"));
    block_on(hours.asynchronous().write_as(1..3, vec![noon, None])).expect("writes");
    // Hours since 1970, by hand: 19,782 days and a half.
    let stored = hours.read_as::<i64>(1..3).expect("reads");
    assert_eq!(stored, [19_782 * 24 + 12, i64::MIN]);
    let read = block_on(hours.asynchronous().read_as::<Option<Timestamp>>(1..3)).expect("reads");
    assert_eq!(read, [noon, None]);
    assert_eq!(read, hours.read_as::<Option<Timestamp>>(1..3).expect("reads"));

    let later = Some(time("2024-02-29T12:30:00Z"));
    let error = block_on(hours.asynchronous().write_as(0..2, [noon, later])).expect_err("no hour");
    assert!(
        matches!(error, ArrayError::Time { element: 1, cause: TimeError::Steps, .. }),
        "{error}"
    );
    assert_eq!(hours.read_as::<i64>(0..2).expect("reads")[1], stored[0], "nothing is written");
    hours.write_as(0..1, &[i64::MAX]).expect("writes");
    let error = block_on(hours.asynchronous().read_as::<Option<Timestamp>>(0..4))
        .expect_err("out of range");
    assert!(
        matches!(error, ArrayError::Time { element: 0, cause: TimeError::Range, .. }),
        "{error}"
    );
    let error =
        block_on(hours.asynchronous().read_as::<Option<SignedDuration>>(0..1)).expect_err("times");
    assert!(matches!(error, ArrayError::ElementType { .. }), "{error}");
    let error =
        block_on(hours.asynchronous().write_as(0..1, [None::<SignedDuration>])).expect_err("times");
    assert!(matches!(error, ArrayError::ElementType { .. }), "{error}");
    assert!(
        block_on(hours.asynchronous().read_as::<Option<Timestamp>>(0..5)).is_err(),
        "past the end"
    );

    let minutes = array(DataType::NumpyTimedelta64(step(TimeUnit::Minute, 1)), 2);
    let half = Some(SignedDuration::from_mins(-30));
    block_on(minutes.asynchronous().write_as(0..2, [half, None])).expect("writes");
    assert_eq!(minutes.read_as::<i64>(0..2).expect("reads"), [-30, i64::MIN]);
    assert_eq!(
        block_on(minutes.asynchronous().read_as::<Option<SignedDuration>>(0..2)).expect("reads"),
        [half, None]
    );
}
