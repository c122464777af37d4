//! Values as Xarray decodes them, and as netCDF4 does where Xarray fails.

use zarr_cf::{CfError, Decoder};
use zarr_metadata::{ArrayBuilder, DataType, format_element, parse_element};

/// The name of the values' type, and the values in words.
fn decoded(data_type: &str, attributes: &str, elements: &[&str]) -> (String, Vec<String>) {
    let data_type: DataType = data_type.parse().expect("a type");
    let mut bytes = Vec::new();
    for element in elements {
        let json = if *element == "nan" { "\"NaN\"" } else { element };
        parse_element(&data_type, json, &mut bytes).expect("an element");
    }
    let metadata = ArrayBuilder::new([1], data_type).attributes(attributes).build();
    let decoder = Decoder::of(&metadata.expect("valid"), None).expect("is decoded");
    let values = decoder.values(&bytes).expect("values");
    let size = decoder.data_type().size().expect("a size");
    let text = |value: &[u8]| {
        if let DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_) = decoder.data_type() {
            return i64::from_le_bytes(value.try_into().expect("8 bytes")).to_string();
        }
        let mut text = String::new();
        format_element(decoder.data_type(), value, &mut text).expect("a value");
        text.trim_matches('"').to_owned()
    };
    let step = match decoder.data_type() {
        DataType::NumpyDatetime64(step) => format!("M8[{}]", step.unit().name()),
        DataType::NumpyTimedelta64(step) => format!("m8[{}]", step.unit().name()),
        DataType::FixedLengthUtf32(_) => "text".to_owned(),
        other => other.to_string(),
    };
    (step, values.chunks_exact(size).map(text).collect())
}

/// A type, attributes, elements, the type of the values, the values.
type Case<'a> = (&'a str, &'a str, &'a [&'a str], &'a str, &'a [&'a str]);

const NAT: &str = "-9223372036854775808";

/// By Xarray 2026.9 with numpy 2.5: `decode_cf_variable`. Times of another unit are the same times.
#[test]
fn values_are_those_of_xarray() {
    let cases: &[Case<'_>] = &[
        (
            "int8",
            r#"{"_Unsigned": "true", "scale_factor": 0.5, "_FillValue": -1}"#,
            &["-2", "5", "-1"],
            "float64",
            &["127.0", "2.5", "NaN"],
        ),
        ("int8", r#"{"_Unsigned": "true"}"#, &["-2", "5", "-1"], "uint8", &["254", "5", "255"]),
        (
            "uint8",
            r#"{"_Unsigned": "false", "add_offset": 1.5}"#,
            &["254", "5"],
            "float64",
            &["-0.5", "6.5"],
        ),
        (
            "int16",
            r#"{"_Unsigned": "true", "missing_value": [7, 9]}"#,
            &["-1", "5", "7"],
            "float32",
            &["65535.0", "5.0", "NaN"],
        ),
        // The product is rounded before the sum.
        (
            "int16",
            r#"{"scale_factor": 0.1, "add_offset": 273.15, "_FillValue": 3}"#,
            &["-36", "100", "3"],
            "float64",
            &["269.54999999999995", "283.15", "NaN"],
        ),
        (
            "float32",
            r#"{"missing_value": -999.0, "scale_factor": 0.1}"#,
            &["0.1", "-999.0", "7.5"],
            "float64",
            &["0.010000000149011612", "NaN", "0.75"],
        ),
        (
            "float32",
            r#"{"_FillValue": "AAAAAAA4j8A="}"#,
            &["0.1", "-999.0"],
            "float32",
            &["0.1", "NaN"],
        ),
        (
            "int32",
            r#"{"missing_value": 1.0}"#,
            &["2147483647", "1"],
            "float64",
            &["2147483647.0", "NaN"],
        ),
        (
            "float64",
            r#"{"units": "days since 1960-01-01"}"#,
            &["18262.041666666668", "-0.3", "nan"],
            "M8[ns]",
            &["1262221200000000000", "-315645120000000000", NAT],
        ),
        (
            "float32",
            r#"{"units": "hours since 2000-01-01 00:00 +05:30"}"#,
            &["0.1", "1000.0"],
            "M8[ns]",
            &["946665360000005364", "950265000000000000"],
        ),
        (
            "int32",
            r#"{"units": "days since 2000-01-01", "calendar": "360_day"}"#,
            &["59", "-1"],
            "text",
            &["2000-02-30T00:00:00", "1999-12-30T00:00:00"],
        ),
        (
            "float64",
            r#"{"units": "days since 2000-01-01", "calendar": "noleap", "_FillValue": 9}"#,
            &["59.041666666666664", "0.1234567", "9"],
            "text",
            &["2000-03-01T01:00:00", "2000-01-01T02:57:46.658880", "NaT"],
        ),
        (
            "int16",
            r#"{"units": "months since 2000-01-01", "calendar": "360_day"}"#,
            &["3", "-1"],
            "text",
            &["2000-04-01T00:00:00", "1999-12-01T00:00:00"],
        ),
        (
            "int32",
            r#"{"units": "seconds", "dtype": "timedelta64[ms]", "_FillValue": -9}"#,
            &["90", "-9"],
            "m8[ms]",
            &["90000", NAT],
        ),
        (
            "float64",
            r#"{"units": "hours", "dtype": "timedelta64[s]"}"#,
            &["0.3333333333333333", "2.0"],
            "m8[ns]",
            &["1200000000000", "7200000000000"],
        ),
        ("int8", r#"{"dtype": "bool"}"#, &["0", "1", "3"], "bool", &["false", "true", "true"]),
        // Times of cftime, in microseconds.
        (
            "float64",
            r#"{"units": "days since 0001-01-01", "calendar": "proleptic_gregorian"}"#,
            &["1000000.0", "0.1"],
            "M8[us]",
            &["24264403200000000", "-62135588160000000"],
        ),
        // Integers of 64 bits are exact.
        (
            "uint64",
            r#"{"units": "nanoseconds since 1970-01-01", "scale_factor": 1}"#,
            &["1500000000000000001"],
            "M8[ns]",
            &["1500000000000000001"],
        ),
    ];
    for (data_type, attributes, elements, of, expected) in cases {
        let (name, values) = decoded(data_type, attributes, elements);
        assert_eq!(
            (name.as_str(), values),
            (*of, expected.iter().map(|v| (*v).to_owned()).collect()),
            "{attributes}"
        );
    }
}

/// Xarray raises errors: an integer has no NaN, and a list is no factor.
#[test]
fn values_are_those_of_netcdf4_where_xarray_fails() {
    let whole = r#"{"scale_factor": 2, "_FillValue": -1}"#;
    let expected = ("float64".to_owned(), vec!["6.0".to_owned(), "NaN".to_owned()]);
    assert_eq!(decoded("int16", whole, &["3", "-1"]), expected);
    let lists = r#"{"scale_factor": [2, 3], "_FillValue": [5]}"#;
    let expected = ("float32".to_owned(), vec!["3.0".to_owned(), "NaN".to_owned()]);
    assert_eq!(decoded("int16", lists, &["3", "5"]), expected);
}

#[test]
fn what_is_not_decoded_is_said() {
    let notes = |data_type: DataType, attributes: &str| {
        let metadata = ArrayBuilder::new([1], data_type).attributes(attributes).build();
        Decoder::of(&metadata.expect("valid"), None).expect("decodes").notes().to_vec()
    };
    assert!(notes(DataType::Int8, r#"{"_Unsigned": "true", "_FillValue": -1}"#).is_empty());
    assert!(notes(DataType::Uint8, r#"{"_Unsigned": "true"}"#).is_empty());
    assert_eq!(
        notes(DataType::Float32, r#"{"_Unsigned": "true", "valid_range": [0, 1]}"#),
        [
            "_Unsigned \"true\" is not applied to float32: \"true\" is, of signed integers, and \
             \"false\", of unsigned ones",
            "valid_range describes values, and masks none",
        ]
    );
    assert_eq!(
        notes(DataType::Int8, r#"{"scale_factor": "0.1", "missing_value": 300}"#),
        [
            "missing_value 300 is no value of int8, and marks no element",
            "scale_factor \"0.1\" is not a number, and is not applied",
        ]
    );
}

#[test]
fn bounds_have_the_units_of_their_coordinate() {
    let build = |shape: Vec<u64>, attributes: &str| {
        ArrayBuilder::new(shape, DataType::Int32).attributes(attributes).build().expect("valid")
    };
    let attributes = r#"{"units": "days since 2000-01-01", "calendar": "360_day", "bounds": "b"}"#;
    let time = build(vec![1], attributes);
    let of = |attributes: &str| {
        let bounds = build(vec![1, 2], attributes);
        let decoder = Decoder::of(&bounds, Some(&time)).expect("decodes");
        let values = decoder.values(&59_i32.to_le_bytes()).expect("a date").into_owned();
        let mut text = String::new();
        format_element(decoder.data_type(), &values, &mut text).expect("text");
        text
    };
    assert_eq!(of("{}"), "\"2000-02-30T00:00:00\"");
    // Each attribute by itself, as in Xarray.
    assert_eq!(of(r#"{"units": "hours since 2000-01-01"}"#), "\"2000-01-03T11:00:00\"");
}

#[test]
fn times_beyond_numpys_are_errors() {
    let of = |data_type, attributes: &str, element: &[u8]| {
        let metadata = ArrayBuilder::new([1], data_type).attributes(attributes).build();
        let decoder = Decoder::of(&metadata.expect("valid"), None).expect("is decoded");
        let wide = decoder.values(element).map(std::borrow::Cow::into_owned);
        (
            wide,
            Decoder::with_microseconds(decoder).values(element).map(|values| values.into_owned()),
        )
    };
    let far = 1e300_f64.to_le_bytes();
    let (narrow, wide) = of(DataType::Float64, r#"{"units": "days since 2000-01-01"}"#, &far);
    let error = CfError::Range { number: "1e300".to_owned() };
    assert_eq!((narrow, wide), (Err(error.clone()), Err(error)));
    let days = 400_000.5_f64.to_le_bytes();
    let (narrow, wide) = of(DataType::Float64, r#"{"units": "days since 2000-01-01"}"#, &days);
    assert!(narrow.is_err());
    // By cftime 1.6.6: 3095-03-01T12:00.
    assert_eq!(wide, Ok(35_506_728_000_000_000_i64.to_le_bytes().to_vec()));
    let before = (-1_i32).to_le_bytes();
    let (narrow, _) = of(DataType::Int32, r#"{"units": "days since 1582-10-15"}"#, &before);
    assert_eq!(
        narrow.expect_err("is Julian").to_string(),
        "the time of -1 is out of the range of numpy's"
    );
}
