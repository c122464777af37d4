//! Times, strings, bytes and records of fixed size.

use zarr_metadata::{
    ArrayMetadata, ByteLength, Codec, DataType, ElementLayout, FillValue, MAX_ELEMENT_SIZE, Struct,
    TimeStep, TimeUnit, Utf32Length, format_element, parse_element,
};

use crate::support::{array, breaks, message};

fn typed(json: &str) -> DataType {
    DataType::from_json(json.as_bytes()).unwrap()
}

/// A type of zarr-extensions with a configuration.
fn configured(name: &str, configuration: &str) -> String {
    format!(r#"{{"name": "{name}", "configuration": {configuration}}}"#)
}

fn fill(data_type: &DataType, json: &str) -> Vec<u8> {
    FillValue::parse(data_type, json).unwrap().bytes().unwrap().to_vec()
}

/// The canonical text of an element, after it was read from `json`.
fn written(data_type: &DataType, json: &str) -> String {
    let mut text = String::new();
    format_element(data_type, &fill(data_type, json), &mut text).unwrap();
    text
}

const SAMPLE: &str = r#"{"name": "struct", "configuration": {"fields": [{"name": "point", "data_type": {"name": "struct", "configuration": {"fields": [{"name": "x", "data_type": "float32"}, {"name": "y", "data_type": "float32"}]}}}, {"name": "time", "data_type": {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}}, {"name": "label", "data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}}, {"name": "valid", "data_type": "bool"}, {"name": "code", "data_type": "int4"}, {"name": "pair", "data_type": "complex64"}]}}"#;

#[test]
fn sd_70_times_count_steps_and_have_a_value_for_no_time() {
    for unit in TimeUnit::ALL {
        for name in ["numpy.datetime64", "numpy.timedelta64"] {
            let configuration = format!(r#"{{"unit": "{}", "scale_factor": 10}}"#, unit.name());
            let json = configured(name, &configuration);
            let data_type = typed(&json);
            assert_eq!(data_type.to_json(), json);
            assert_eq!((data_type.name().as_ref(), data_type.size()), (name, Some(8)));
            let (DataType::NumpyDatetime64(step) | DataType::NumpyTimedelta64(step)) = &data_type
            else {
                panic!("{data_type:?}")
            };
            assert_eq!((step.unit(), step.scale_factor()), (*unit, 10));
            assert!(!data_type.is_packable() && data_type.has_byte_order());
        }
    }
    let mu = typed(&configured("numpy.timedelta64", r#"{"unit": "μs", "scale_factor": 1}"#));
    assert_eq!(mu, DataType::NumpyTimedelta64(TimeStep::from(TimeUnit::Microsecond)));
    assert!(mu.to_json().contains(r#""unit": "us""#));

    let time = DataType::NumpyDatetime64(TimeStep::from(TimeUnit::Second));
    let ElementLayout { component_bits, component_size, components, signed, swap_unit, .. } =
        time.element_layout().unwrap();
    assert_eq!((component_bits, component_size, components), (64, 8, 1));
    assert_eq!((signed, swap_unit), (true, 8));
    assert_eq!(fill(&time, "\"NaT\""), i64::MIN.to_le_bytes());
    assert_eq!(fill(&time, "-9223372036854775808"), i64::MIN.to_le_bytes());
    assert_eq!(fill(&time, "-1"), (-1_i64).to_le_bytes());
    assert_eq!(fill(&time, "9223372036854775807"), i64::MAX.to_le_bytes());
    assert_eq!(written(&time, "-9223372036854775808"), "\"NaT\"");
    assert_eq!(written(&time, "12"), "12");
    assert_eq!(
        FillValue::parse(&time, "\"NaT\"").unwrap(),
        FillValue::parse(&time, "-9223372036854775808").unwrap()
    );
    for wrong in ["\"nat\"", "1.0", "1e3", "null", "9223372036854775808", "true", "[1]", "NaN"] {
        assert!(FillValue::parse(&time, wrong).is_err(), "{wrong}");
    }
    assert_eq!(FillValue::default_for(&time).unwrap().json(), "\"NaT\"");
    assert_eq!(FillValue::zero(&time).unwrap().json(), "0");
}

#[test]
fn sd_70_strings_are_padded_with_zeros_and_lose_them() {
    let json = configured("fixed_length_utf32", r#"{"length_bytes": 12}"#);
    let text = typed(&json);
    assert_eq!(text, DataType::FixedLengthUtf32(Utf32Length::new(3).unwrap()));
    assert_eq!(text.to_json(), json);
    let layout = text.element_layout().unwrap();
    assert_eq!((layout.component_size, layout.components, layout.swap_unit), (4, 3, 4));
    // The example of the document.
    assert_eq!(fill(&text, "\"Hi\""), [0x48, 0, 0, 0, 0x69, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(fill(&text, "\"\u{1f600}é\""), [0x00, 0xf6, 1, 0, 0xe9, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(fill(&text, r#""\ud83d\ude00""#)[..4], [0x00, 0xf6, 1, 0]);
    for json in ["\"\"", "\"foo\"", r#""a\"\n""#, "\"\u{1f600}\"", r#""a\u0000b""#] {
        assert_eq!(written(&text, json), json);
    }
    assert_eq!(written(&text, r#""a\u0000""#), "\"a\"");
    for wrong in ["\"four\"", "1", "null", r#""\ud800""#, "[\"a\"]"] {
        assert!(FillValue::parse(&text, wrong).is_err(), "{wrong}");
    }
    let surrogate = FillValue::from_bytes(&text, &[0, 0xd8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    insta::assert_snapshot!(
        message(surrogate),
        @"$: found a code unit of 0xd800, expected 0 to 0x10ffff without 0xd800 to 0xdfff"
    );
    assert!(FillValue::from_bytes(&text, &[0xff; 12]).is_err());
}

#[test]
fn sd_70_bytes_are_base64_and_only_null_terminated_ones_are_padded() {
    let text = configured("null_terminated_bytes", r#"{"length_bytes": 5}"#);
    let raw = configured("raw_bytes", r#"{"length_bytes": 3}"#);
    let (s5, v3) = (typed(&text), typed(&raw));
    assert_eq!((s5.to_json(), v3.to_json()), (text, raw));
    assert_eq!(s5, DataType::NullTerminatedBytes(ByteLength::new(5).unwrap()));
    assert_eq!(v3, DataType::RawBytes(ByteLength::new(3).unwrap()));
    for data_type in [&s5, &v3] {
        assert!(!data_type.has_byte_order() && !data_type.is_packable());
        assert_eq!(data_type.element_layout().unwrap().swap_unit, 1);
    }
    // The output of zarr-python 3.4 for b"x" and for an empty value.
    assert_eq!(fill(&s5, "\"eA==\""), *b"x\0\0\0\0");
    assert_eq!(fill(&s5, "\"\""), [0; 5]);
    assert_eq!(fill(&v3, "\"YWJj\""), *b"abc");
    let cases = [
        (&s5, "\"eA==\""),
        (&s5, "\"\""),
        (&s5, "\"AGIA/w==\""),
        (&v3, "\"YWJj\""),
        (&v3, "\"AAAA\""),
    ];
    for (data_type, json) in cases {
        assert_eq!(written(data_type, json), json);
    }
    assert_eq!(written(&s5, "\"eAAA\""), "\"eA==\"");
    for wrong in ["\"YWJjZGVm\"", "\"eA\"", "\"?\"", "[1]", "0", "null"] {
        assert!(FillValue::parse(&s5, wrong).is_err(), "{wrong}");
    }
    for wrong in ["\"YWI=\"", "\"YWJjZA==\"", "\"\"", "[1, 2, 3]"] {
        assert!(FillValue::parse(&v3, wrong).is_err(), "{wrong}");
    }
}

#[test]
fn every_length_of_base64_is_read_back() {
    for length in 1..=20 {
        let data_type = DataType::RawBytes(ByteLength::new(length).unwrap());
        for seed in 0..64_usize {
            let element: Vec<u8> = (0..length).map(|i| (seed * 37 + i * 101) as u8).collect();
            let mut text = String::new();
            format_element(&data_type, &element, &mut text).unwrap();
            let mut read = Vec::new();
            parse_element(&data_type, &text, &mut read).unwrap();
            assert_eq!(read, element, "{text}");
        }
    }
}

#[test]
fn sd_71_records_are_their_fields_without_gaps() {
    let sample = typed(SAMPLE);
    assert_eq!(sample.to_json(), SAMPLE);
    assert_eq!((sample.size(), sample.element_layout()), (Some(34), None));
    let DataType::Struct(record) = &sample else { panic!() };
    let places: Vec<_> = record.fields().iter().map(|f| (f.name(), f.offset())).collect();
    let expected =
        [("point", 0), ("time", 8), ("label", 16), ("valid", 24), ("code", 25), ("pair", 26)];
    assert_eq!(places, expected);
    let parts: Vec<_> =
        sample.parts().iter().map(|p| (p.offset, p.layout.size(), p.layout.swap_unit)).collect();
    let expected =
        [(0, 4, 4), (4, 4, 4), (8, 8, 8), (16, 8, 4), (24, 1, 1), (25, 1, 1), (26, 8, 4)];
    assert_eq!(parts, expected);
    assert!(!sample.is_packable() && !sample.is_sub_byte() && sample.has_byte_order());

    let json = r#"{"point": {"x": 1.0, "y": -0.0}, "time": "NaT", "label": "a", "valid": true, "code": -3, "pair": [0.5, "NaN"]}"#;
    let mut expected = vec![0, 0, 0x80, 0x3f, 0, 0, 0, 0x80];
    expected.extend(i64::MIN.to_le_bytes());
    expected.extend([0x61, 0, 0, 0, 0, 0, 0, 0, 1, 0xfd, 0, 0, 0, 0x3f, 0, 0, 0xc0, 0x7f]);
    assert_eq!(fill(&sample, json), expected);
    assert_eq!(written(&sample, json), json);
    // Upper bits of the field of 4 bits are ignored; all other bytes do not change.
    let mut canonical = expected.clone();
    canonical[25] = 0x0d;
    sample.canonicalize_element(&mut canonical);
    assert_eq!(canonical, expected);
    // Byte order reverses each component separately.
    let mut swapped: Vec<u8> = (0..34).collect();
    sample.swap_byte_order(&mut swapped);
    let order = [
        3, 2, 1, 0, 7, 6, 5, 4, 15, 14, 13, 12, 11, 10, 9, 8, 19, 18, 17, 16, 23, 22, 21, 20, 24,
        25, 29, 28, 27, 26, 33, 32, 31, 30,
    ];
    assert_eq!(swapped, order);
    let bad = [&expected[..24], &[2], &expected[25..]].concat();
    insta::assert_snapshot!(
        message(FillValue::from_bytes(&sample, &bad)),
        @"$.valid: found a bool of byte 2, expected 0 or 1"
    );
}

#[test]
fn sd_71_a_record_has_a_value_for_each_field_and_no_other() {
    let record = Struct::new([("a", DataType::Uint8), ("b", DataType::Int16)]).unwrap();
    let record = DataType::Struct(record);
    assert_eq!(fill(&record, r#"{"b": -2, "a": 1}"#), [1, 0xfe, 0xff]);
    let wrong = [
        ("fill-value-struct", r#"{"a": 1}"#),
        ("fill-value-struct", r#"{"a": 1, "b": 2, "c": 3}"#),
        ("fill-value-range", r#"{"a": 256, "b": 2}"#),
        ("duplicate-key", r#"{"a": 1, "b": 2, "b": 2}"#),
        ("fill-value-kind", r#"{"a": 1, "b": null}"#),
        ("fill-value-struct", "[1, 2]"),
        ("fill-value-struct", "0"),
        ("fill-value-struct", "null"),
        ("fill-value-struct", "\"AQA=\""),
    ];
    let messages: Vec<_> =
        wrong.iter().map(|(rule, json)| breaks(rule, FillValue::parse(&record, json))).collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn configurations_that_are_wrong_are_refused_at_their_place() {
    let long = format!(r#"{{"length_bytes": {}}}"#, MAX_ELEMENT_SIZE + 4);
    let field = |json: &str| format!(r#"{{"fields": [{json}]}}"#);
    let u8_field = r#"{"name": "a", "data_type": "uint8"}"#;
    let half = MAX_ELEMENT_SIZE / 2 + 4;
    let half = configured("raw_bytes", &format!(r#"{{"length_bytes": {half}}}"#));
    let twice =
        format!(r#"{{"name": "a", "data_type": {half}}}, {{"name": "b", "data_type": {half}}}"#);
    let cases: &[(&str, &str)] = &[
        ("numpy.datetime64", r#"{"unit": "s"}"#),
        ("numpy.datetime64", r#"{"unit": "S", "scale_factor": 1}"#),
        ("numpy.datetime64", r#"{"unit": "s", "scale_factor": 0}"#),
        ("numpy.timedelta64", r#"{"unit": "s", "scale_factor": 2147483648}"#),
        ("numpy.timedelta64", r#"{"unit": "s", "scale_factor": 1.0}"#),
        ("numpy.timedelta64", r#"{"unit": "s", "scale_factor": 1, "x": 1}"#),
        ("fixed_length_utf32", r#"{"length_bytes": 6}"#),
        ("fixed_length_utf32", r#"{"length_bytes": 0}"#),
        ("fixed_length_utf32", r#"{"length": 4}"#),
        ("fixed_length_utf32", &long),
        ("null_terminated_bytes", r#"{"length_bytes": -1}"#),
        ("raw_bytes", "{}"),
        ("struct", "{}"),
        ("struct", r#"{"fields": []}"#),
        ("struct", r#"{"fields": {}}"#),
        ("struct", &field(r#"{"name": "a"}"#)),
        ("struct", &field(r#"{"name": "", "data_type": "uint8"}"#)),
        ("struct", &field(r#"{"name": "a", "data_type": "uint8", "title": "b"}"#)),
        ("struct", &field(r#"{"name": "a", "data_type": "string"}"#)),
        ("struct", &field(&format!("{u8_field}, {u8_field}"))),
        ("struct", &field(r#"["a", "uint8", 2]"#)),
        ("struct", &field(r#"["a", "r7"]"#)),
        ("struct", &field(&twice)),
    ];
    let lines: Vec<_> = cases
        .iter()
        .map(|(name, configuration)| {
            let json = configured(name, configuration);
            message(DataType::from_json(json.as_bytes()))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    for name in ["numpy.datetime64", "struct", "raw_bytes", "fixed_length_utf32"] {
        assert!(DataType::from_name(name).is_err(), "{name} alone says nothing");
        let must = format!(r#"{{"name": "{name}", "kind": 1, "configuration": {{}}}}"#);
        assert!(DataType::from_json(must.as_bytes()).is_err());
    }
}

#[test]
fn a_record_with_a_field_of_an_unknown_type_is_kept() {
    let json =
        r#"{"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "int17"}]}}"#;
    let codecs = r#"["bytes"]"#;
    let kept = array(&[("data_type", json), ("fill_value", "null"), ("codecs", codecs)]).unwrap();
    assert!(kept.data_type().is_unknown());
    let finding = &kept.findings()[0];
    assert_eq!(finding.id(), "unknown-data-type");
    assert_eq!(finding.path(), Some("$.data_type.configuration.fields[0].data_type"));
}

#[test]
fn sd_72_an_unknown_type_may_have_the_fill_value_null() {
    // The example of core.
    let json = r#"{"name": "urn:example:datetime", "configuration": {"unit": "ns"}}"#;
    let kept = array(&[("data_type", json), ("fill_value", "null")]).unwrap();
    assert_eq!((kept.fill_value().json(), kept.fill_value().bytes()), ("null", None));
    assert_eq!(kept.findings()[0].id(), "unknown-data-type");
    // Types without such a value return none.
    for name in ["string", "bytes", "uint8", "variable_length_bytes"] {
        let data_type = format!("\"{name}\"");
        assert!(array(&[("data_type", &data_type), ("fill_value", "null")]).is_err(), "{name}");
    }
}

/// The document that zarr-python 3.1 wrote for a record.
fn structured(codecs: &str, fill_value: &str) -> ArrayMetadata {
    let data_type = configured(
        "structured",
        r#"{"fields": [["a", "int16"], ["b", {"name": "structured", "configuration": {"fields": [["c", "uint8"]]}}]]}"#,
    );
    array(&[("data_type", &data_type), ("fill_value", fill_value), ("codecs", codecs)]).unwrap()
}

#[test]
fn sd_71_structured_is_read_and_written_as_struct() {
    let ids = |array: &ArrayMetadata| -> Vec<_> {
        array
            .findings()
            .iter()
            .map(|f| format!("{} {}", f.path().unwrap_or_default(), f.id()))
            .collect()
    };
    let little = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
    let old = structured(little, "\"AQID\"");
    let expected = Struct::new([
        ("a", DataType::Int16),
        ("b", DataType::Struct(Struct::new([("c", DataType::Uint8)]).unwrap())),
    ]);
    assert_eq!(*old.data_type(), DataType::Struct(expected.unwrap()));
    assert_eq!(old.fill_value().bytes(), Some(&[1, 2, 3][..]));
    let legacy =
        ["$.data_type.configuration.fields[0][1] legacy-struct", "$.data_type legacy-struct"];
    assert_eq!(ids(&old)[1..], legacy[1..]);
    let said = |array: &ArrayMetadata| array.findings().iter().map(ToString::to_string).collect();
    let older: Vec<String> = said(&old);
    assert!(older[1].contains("\"structured\", an older name of \"struct\""), "{older:?}");
    let pairs = configured("struct", r#"{"fields": [["c", "uint8"]]}"#);
    let pairs = array(&[("data_type", &pairs), ("fill_value", "\"AQ==\""), ("codecs", little)]);
    let pairs: Vec<String> = said(&pairs.unwrap());
    assert!(pairs[0].contains("fields of \"struct\" as pairs"), "{pairs:?}");
    let new = ArrayMetadata::new(
        old.shape(),
        old.data_type(),
        old.chunk_grid(),
        old.fill_value(),
        old.codecs(),
    );
    let new = new.unwrap();
    assert!(new.findings().is_empty());
    assert!(new.json().contains("\"struct\"") && !new.json().contains("structured"));
    assert_eq!(new.fill_value().json(), r#"{"a": 513, "b": {"c": 3}}"#);

    // Packed fill values are in the byte order of the elements, also of those in shards.
    let big = r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#;
    assert_eq!(structured(big, "\"AQID\"").fill_value().bytes(), Some(&[2, 1, 3][..]));
    let shard = |codecs: &str| {
        format!(
            r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [3, 2],
            "codecs": {codecs}, "index_codecs": [{{"name": "bytes", "configuration":
            {{"endian": "little"}}}}]}}}}]"#
        )
    };
    assert_eq!(structured(&shard(big), "\"AQID\"").fill_value().bytes(), Some(&[2, 1, 3][..]));

    // Without a byte order they are little-endian, and only under this name.
    let none = r#"[{"name": "bytes"}]"#;
    let old = structured(none, "\"AQID\"");
    assert_eq!(old.codecs(), [Codec::bytes()]);
    assert!(ids(&old).contains(&"$.codecs[0] missing-endian".to_owned()), "{:?}", ids(&old));
    let old = structured(&shard(none), "\"AQID\"");
    let place = "$.codecs[0].configuration.codecs[0] missing-endian".to_owned();
    assert!(ids(&old).contains(&place), "{:?}", ids(&old));
    let named = configured("struct", r#"{"fields": [{"name": "a", "data_type": "int16"}]}"#);
    let missing = array(&[("data_type", &named), ("fill_value", r#"{"a": 0}"#), ("codecs", none)]);
    insta::assert_snapshot!(
        message(missing),
        @r#"$.codecs[0].configuration.endian: missing, expected "little" or "big": struct (a: int16) has several bytes"#
    );
    // Single bytes have no order.
    let single = configured("struct", r#"{"fields": [{"name": "a", "data_type": "int8"}]}"#);
    let changes = [("data_type", single.as_str()), ("fill_value", r#"{"a": 0}"#), ("codecs", none)];
    assert!(array(&changes).unwrap().findings().is_empty());
}

#[test]
fn sd_58_a_chunk_length_of_0_is_read_on_empty_axes_and_never_written() {
    let grid = |shape: &str| configured("regular", &format!(r#"{{"chunk_shape": {shape}}}"#));
    let read =
        |shape: &str, chunks: &str| array(&[("shape", shape), ("chunk_grid", &grid(chunks))]);
    let empty = read("[0, 6]", "[0, 2]").unwrap();
    let [finding] = empty.findings() else { panic!("{:?}", empty.findings()) };
    assert_eq!(
        (finding.id(), finding.path()),
        ("zero-chunk-length", Some("$.chunk_grid.configuration.chunk_shape[0]"))
    );
    // In memory no chunk has length 0, and unchanged members stay as written.
    assert_eq!(empty.chunk_grid().to_json(), grid("[1, 2]"));
    assert!(empty.with_attributes("{\"a\": 1}").unwrap().json().contains("[0, 2]"));
    let grown = empty.with_shape(&[4, 6]).unwrap();
    assert!(grown.findings().is_empty() && grown.json().contains("[1, 2]"), "{}", grown.json());
    insta::assert_snapshot!(
        message(read("[1, 6]", "[0, 2]")),
        @"$.chunk_grid.configuration.chunk_shape[0]: found 0, expected an integer of at least 1"
    );
    assert!(read("[6, 0]", "[0, 0]").is_err());
    assert!(zarr_metadata::ChunkGrid::from_json(grid("[0]").as_bytes()).is_err());
    let zero = zarr_metadata::ChunkGrid::Regular { chunk_shape: vec![0, 2] };
    let new =
        ArrayMetadata::new(&[0, 6], empty.data_type(), &zero, empty.fill_value(), empty.codecs());
    assert!(new.is_err());
}
