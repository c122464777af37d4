//! Times whose units differ between members.

use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix, Store};
use zarr_array::{Array, Group, Selection};
use zarr_join::{
    Arrangement, CombineAttributes, GroupArrangement, GroupMember, Join, JoinGroups, JoinOptions,
    Member, Reason, check_insertion, check_member, check_unjoined,
};
use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};

use crate::cases::Random;

/// An array of times of one month, as Xarray writes it.
fn member(name: &str, data_type: &DataType, attributes: &str, elements: &[u8]) -> Member {
    let length = (elements.len() / data_type.size().expect("a size")) as u64;
    let metadata = ArrayBuilder::new([length], data_type.clone())
        .chunk_shape([length.max(1)])
        .attributes(attributes)
        .dimension_names(["time"])
        .build();
    let store = Arc::new(MemoryStore::new());
    let array = Array::create(store, &Prefix::root(), metadata.expect("valid")).expect("creates");
    array.write(0..length, elements).expect("writes");
    Member::new(name, array)
}

fn units(units: &str, calendar: &str) -> String {
    format!(r#"{{"calendar": "{calendar}", "units": "{units}"}}"#)
}

fn joined(members: Vec<Member>) -> Result<Array, String> {
    let plan =
        Join::new(members, Arrangement::Along(0)).plan().map_err(|cause| cause.to_string())?;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let done = plan.execute(&store, &Prefix::root(), &JoinOptions::new(), &|_| {});
    Ok(done.map_err(|cause| cause.to_string())?.0)
}

fn int32(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A group of one month: `time` and its bounds, which have no units of their own, and `rain`.
fn month(name: &str, since: &str, days: i32) -> GroupMember {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = Group::create(store, &Prefix::root(), GroupMetadata::new()).expect("creates");
    let length = days as u64;
    let make = |path: &str, attributes: &str, shape: &[u64], names: &[&str]| {
        let builder = ArrayBuilder::new(shape.to_vec(), DataType::Int32)
            .chunk_shape(shape.to_vec())
            .attributes(attributes)
            .dimension_names(names.iter().copied());
        root.create_array(path, builder.build().expect("valid")).expect("creates")
    };
    let attributes = format!(
        r#"{{"bounds": "time_bnds", "units": "days since {since}", "calendar": "standard"}}"#
    );
    let time = make("time", &attributes, &[length], &["time"]);
    time.write_as::<i32>(0..length, &(0..days).collect::<Vec<_>>()).expect("writes");
    let bounds: Vec<i32> = (0..days).flat_map(|day| [day, day + 1]).collect();
    let array = make("time_bnds", "{}", &[length, 2], &["time", "bnds"]);
    array.write_as::<i32>([0..length, 0..2], &bounds).expect("writes");
    let rain = make("rain", r#"{"units": "mm"}"#, &[length], &["time"]);
    rain.write_as::<i32>(0..length, &vec![days; days as usize]).expect("writes");
    GroupMember::new(name, root)
}

#[test]
fn months_with_origins_of_their_own_are_one_axis_and_other_chunks_move() {
    let members = vec![
        month("jan", "2012-01-01", 31),
        month("feb", "2012-02-01 00:00:00", 29),
        month("mar", "2012-03-01", 31),
    ];
    for arrangement in [
        GroupArrangement::Along("time".into()),
        GroupArrangement::ByCoordinates(vec!["time".into()]),
    ] {
        for rule in [CombineAttributes::Override, CombineAttributes::Identical] {
            let join = JoinGroups::new(members.clone(), arrangement.clone()).attributes(rule);
            let plan = join.plan().expect("fits");
            for (path, plan) in plan.arrays() {
                let expected = match path {
                    "rain" => (3, Vec::new()),
                    _ => (1, vec![(Reason::Units, 2)]),
                };
                assert_eq!((plan.moved_chunks(), plan.reasons()), expected, "{path}");
            }
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let joined = plan.execute(&store, &Prefix::root(), &JoinOptions::new(), &|_| {});
            let joined = joined.expect("joins").0;
            let read = |path: &str| {
                let array = joined.array(path).expect("opens");
                array.read_as::<i32>(Selection::whole(array.shape())).expect("reads")
            };
            assert_eq!(read("time"), (0..91).collect::<Vec<_>>());
            let bounds: Vec<i32> = (0..91).flat_map(|day| [day, day + 1]).collect();
            assert_eq!(read("time_bnds"), bounds);
            let time = joined.array("time").expect("opens");
            let first = members[0].group().array("time").expect("opens");
            assert_eq!(time.metadata().attributes(), first.metadata().attributes());
        }
    }
}

/// The days since 1600-01-01 of a date, counted one by one by the rules of each calendar.
fn days(calendar: &str, (year, month, day): (i64, i64, i64)) -> i64 {
    let length = |year: i64, month: i64| {
        let leap = match calendar {
            "noleap" => false,
            "all_leap" => true,
            "julian" => year % 4 == 0,
            _ => year % 4 == 0 && (year % 100 != 0 || year % 400 == 0),
        };
        match month {
            _ if calendar == "360_day" => 30,
            2 => 28 + i64::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    };
    let months = (1600..year).flat_map(|year| (1..=12).map(move |month| (year, month)));
    let months = months.chain((1..month).map(|month| (year, month)));
    months.map(|(year, month)| length(year, month)).sum::<i64>() + day - 1
}

#[test]
fn random_axes_have_the_times_that_they_had() {
    const UNITS: [(&str, i64); 4] =
        [("days", 86_400), ("hours", 3_600), ("minutes", 60), ("seconds", 1)];
    const CALENDARS: [&str; 6] =
        ["standard", "proleptic_gregorian", "noleap", "all_leap", "360_day", "julian"];
    const TYPES: [DataType; 6] = [
        DataType::Int8,
        DataType::Int16,
        DataType::Uint32,
        DataType::Int64,
        DataType::Float32,
        DataType::Float64,
    ];
    let random = &mut Random::new(37);
    let pick = |random: &mut Random, count: usize| random.below(count as u64) as usize;
    let (mut exact, mut refused) = (0, 0);
    for case in 0..3_000 {
        let calendar = CALENDARS[pick(random, 6)];
        let data_type = &TYPES[pick(random, 6)];
        let axes = [(); 2].map(|()| {
            let (unit, seconds) = UNITS[pick(random, 4)];
            let date = (
                1990 + random.below(30) as i64,
                1 + random.below(12) as i64,
                1 + random.below(28) as i64,
            );
            let hour = random.below(24) as i64;
            let (year, month, day) = date;
            let text = format!("{unit} since {year}-{month:02}-{day:02} {hour:02}:00:00");
            (text, seconds, days(calendar, date) * 86_400 + hour * 3_600)
        });
        let numbers: Vec<i64> = (0..3).map(|_| random.below(120) as i64).collect();
        let bytes = |numbers: &[i64]| {
            let of = |number: &i64| match data_type {
                DataType::Float32 => (*number as f32).to_le_bytes().to_vec(),
                DataType::Float64 => (*number as f64).to_le_bytes().to_vec(),
                _ => number.to_le_bytes()[..data_type.size().expect("a size")].to_vec(),
            };
            numbers.iter().flat_map(of).collect::<Vec<u8>>()
        };
        let [(first, unit, origin), (second, step, start)] = axes;
        // In seconds since the first axis's origin.
        let times: Vec<i64> = numbers.iter().map(|number| number * step + start - origin).collect();
        let becomes: Vec<i64> = times.iter().map(|time| time.div_euclid(unit)).collect();
        let is_whole = times.iter().all(|time| time % unit == 0);
        let limits = match data_type {
            DataType::Int8 => i8::MIN.into()..=i8::MAX.into(),
            DataType::Int16 => i16::MIN.into()..=i16::MAX.into(),
            DataType::Uint32 => 0..=u32::MAX.into(),
            DataType::Float32 => -(1 << 24)..=1 << 24,
            _ => i64::MIN..=i64::MAX,
        };
        let fits = becomes.iter().all(|number| limits.contains(number));
        let found = joined(vec![
            member("a", data_type, &units(&first, calendar), &bytes(&[1, 2])),
            member("b", data_type, &units(&second, calendar), &bytes(&numbers)),
        ]);
        match found {
            Ok(array) if is_whole && fits => {
                let all = array.read(0..5).expect("reads");
                let expected = bytes(&[&[1, 2], &becomes[..]].concat());
                assert_eq!(all, expected, "{case}: {calendar} {first} {second} {numbers:?}");
                exact += 1;
            }
            // A float can have a fraction, exactly or as one that rounding does not change.
            Ok(array) if data_type.is_float() => {
                let all = array.read(2..5).expect("reads");
                let size = data_type.size().expect("a size");
                for (element, time) in all.chunks(size).zip(&times) {
                    let number = match data_type {
                        DataType::Float32 => f32::from_le_bytes(element.try_into().unwrap()).into(),
                        _ => f64::from_le_bytes(element.try_into().unwrap()),
                    };
                    assert_eq!(number * unit as f64, *time as f64, "{case}");
                }
            }
            Ok(_) => panic!("{case}: {calendar} {first} {second} {numbers:?} {becomes:?}"),
            Err(error) => {
                assert!(!(is_whole && fits) || matches!(data_type, DataType::Float32), "{error}");
                refused += 1;
            }
        }
    }
    assert!(exact > 500 && refused > 500, "{exact} {refused}");
}

#[test]
fn what_is_not_exact_is_refused_with_the_step_that_makes_it_so() {
    let jan = |data_type: &DataType, unit: &str, element: &[u8]| {
        member("jan", data_type, &units(&format!("{unit} since 2012-01-01"), "standard"), element)
    };
    let feb = |data_type: &DataType, unit: &str, element: &[u8]| {
        member("feb", data_type, &units(&format!("{unit} since 2012-02-01"), "standard"), element)
    };
    let (int32_type, int8, double) = (&DataType::Int32, &DataType::Int8, &DataType::Float64);
    let missing = |name, since| {
        let units = format!(r#"{{"units": "days since {since}", "_FillValue": 32}}"#);
        member(name, int32_type, &units, &int32(&[1]))
    };
    let noleap = units("days since 2012-02-01", "noleap");
    let scaled = |name, since| {
        let units = format!(r#"{{"units": "days since {since}", "scale_factor": 2}}"#);
        member(name, int32_type, &units, &int32(&[1]))
    };
    let metres = member("feb", int32_type, r#"{"units": "m"}"#, &int32(&[1]));
    let errors = [
        vec![jan(int32_type, "days", &int32(&[0])), feb(int32_type, "hours", &int32(&[24, 25]))],
        vec![jan(int8, "days", &[0]), feb(int8, "days", &[100])],
        vec![
            jan(double, "days", &0_f64.to_le_bytes()),
            feb(double, "days", &(1.0 / 24.0_f64).to_le_bytes()),
        ],
        vec![missing("jan", "2012-01-01"), missing("feb", "2012-02-01")],
        vec![
            jan(int32_type, "days", &int32(&[0])),
            member("feb", int32_type, &noleap, &int32(&[1])),
        ],
        vec![scaled("jan", "2012-01-01"), scaled("feb", "2012-02-01")],
        vec![jan(int32_type, "days", &int32(&[0])), metres],
    ];
    let errors = errors.map(|members| joined(members).expect_err("is not exact"));
    insta::assert_snapshot!(errors.join("\n"), @r#"
    feb: the attribute units is "hours since 2012-02-01", but "days since 2012-01-01" in jan: 25 has no exact number in these units; write the times of all members in "hours since 2012-01-01", as int64
    feb: the attribute units is "days since 2012-02-01", but "days since 2012-01-01" in jan: 100 becomes 131, which is out of the range of the data type; write the times of all members as int64
    feb: the attribute units is "days since 2012-02-01", but "days since 2012-01-01" in jan: 0.041666666666666664 has no exact number in these units; write the times of all members in "seconds since 2012-01-01", as int64
    feb: the attribute units is "days since 2012-02-01", but "days since 2012-01-01" in jan: 1 becomes 32, which is declared as missing; write the times of all members with another fill value
    feb: the attribute calendar is "noleap", but "standard" in jan
    feb: the attribute units is "days since 2012-02-01", but "days since 2012-01-01" in jan
    feb: the attribute units is "m", but "days since 2012-01-01" in jan
    "#);
    // The steps that are named make it exact.
    let hours = joined(vec![
        jan(int32_type, "hours", &int32(&[0])),
        feb(int32_type, "hours", &int32(&[24, 25])),
    ]);
    assert_eq!(hours.expect("joins").read_as::<i32>(0..3).expect("reads"), [0, 768, 769]);
}

#[test]
fn groups_whose_units_differ_are_told_so_and_not_that_they_overlap() {
    let plan = |members| {
        let plan = JoinGroups::new(members, GroupArrangement::Along("time".into())).plan();
        plan.map(drop).expect_err("differs").to_string()
    };
    let other = month("b", "2012-02-01", 29);
    let time = other.group().array("time").expect("opens");
    time.update_attributes(&[("units", Some(r#""m""#))]).expect("updates");
    let noon = month("c", "2012-02-01 12:00", 29);
    let jan = || month("a", "2012-01-01", 31);
    let errors = [
        plan(vec![jan(), other]),
        plan(vec![jan(), noon]),
        plan(vec![jan(), month("d", "2012-01-31", 29)]),
    ];
    insta::assert_snapshot!(errors.join("\n"), @r#"
    b/time: the attribute units is "m", but "days since 2012-01-01" in a/time
    c/time: the attribute units is "days since 2012-02-01 12:00", but "days since 2012-01-01" in a/time: 0 has no exact number in these units; write the times of all members in "hours since 2012-01-01", as int64
    d: the coordinates of time begin with 2012-01-31, but a ends with 2012-01-31: they overlap or go backwards
    "#);
}

/// Missing values are no times, and what is not stored has a time, too.
#[test]
fn missing_values_stay_and_absent_chunks_are_converted() {
    let attributes = |since: &str| {
        format!(r#"{{"units": "days since {since}", "_FillValue": -1, "calendar": "julian"}}"#)
    };
    let jan = member("jan", &DataType::Int32, &attributes("2012-01-01"), &int32(&[7, -1]));
    let feb = member("feb", &DataType::Int32, &attributes("2012-02-01"), &int32(&[-1, 0, 0, 5]));
    let store = Arc::new(MemoryStore::new());
    let absent = feb.array().metadata().with_shape(&[2]).expect("valid");
    let absent = Array::create(store, &Prefix::root(), absent).expect("creates");
    let found = joined(vec![jan, feb, Member::new("absent", absent)]).expect("joins");
    assert_eq!(found.read_as::<i32>(0..8).expect("reads"), [7, -1, -1, 31, 31, 36, 31, 31]);

    let nan = |since: &str, numbers: &[f64]| {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let attributes = units(&format!("days since {since}"), "standard");
        member(since, &DataType::Float64, &attributes, &bytes)
    };
    let members = vec![nan("2012-01-01", &[0.0]), nan("2012-02-01", &[0.5, f64::NAN])];
    let found = joined(members).expect("joins").read_as::<f64>(0..3).expect("reads");
    assert!(found[..2] == [0.0, 31.5] && found[2].is_nan(), "{found:?}");
}

#[test]
fn the_same_units_in_other_words_move_chunks() {
    let feb = |units: &str| {
        let attributes = format!(r#"{{"units": "{units}", "calendar": "gregorian"}}"#);
        member("feb", &DataType::Int32, &attributes, &int32(&[31]))
    };
    let attributes = units("days since 2012-01-01", "standard");
    for units in ["days since 2012-01-01 00:00:00", "day since 2012-1-1T00:00:00Z"] {
        let jan = member("jan", &DataType::Int32, &attributes, &int32(&[1]));
        let plan = Join::new(vec![jan, feb(units)], Arrangement::Along(0)).plan().expect("fits");
        assert_eq!((plan.moved_chunks(), plan.written_chunks()), (2, 0));
        assert_eq!(plan.metadata().attributes(), attributes);
    }
}

#[test]
fn the_same_units_in_other_words_fit_an_insertion() {
    let [jan, feb] = ["standard", "gregorian"].map(|calendar| {
        let since = if calendar == "standard" { "2012-01-01" } else { "2012-1-1T00:00:00" };
        let attributes = units(&format!("days since {since}"), calendar);
        member(calendar, &DataType::Int32, &attributes, &int32(&[1]))
    });
    let inserted = check_insertion(&jan, &feb, 0, None).expect("fits");
    assert!(Arc::ptr_eq(inserted.store(), feb.array().store()), "chunks move");
    check_member(&jan, &feb, Arrangement::Along(0)).expect("fits");
    check_unjoined(&jan, &feb).expect("is equal");
    let hours = units("hours since 2012-01-01", "standard");
    let hours = member("hours", &DataType::Int32, &hours, &int32(&[1]));
    let error = check_unjoined(&jan, &hours).expect_err("is another time").to_string();
    assert!(error.starts_with("hours: the attribute units is"), "{error}");
}
