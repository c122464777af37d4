//! Fill values and elements of every type.

use zarr_metadata::{
    DataType, ElementLayout, FillValue, MAX_ELEMENT_SIZE, RawBits, Rule, format_element,
    parse_element,
};

use crate::support::{data_type, fill_bytes, message};

fn layout_line(name: &str, layout: ElementLayout) -> String {
    let ElementLayout { component_bits, component_size, components, signed, swap_unit, .. } =
        layout;
    format!("{name}: {component_bits} {component_size} {components} {signed} {swap_unit}")
}

#[test]
fn sd_50_layouts_of_every_type() {
    let fixed = DataType::FIXED.iter().map(DataType::name);
    let raw = ["r8", "r24"].map(Into::into);
    let lines: Vec<_> = fixed
        .chain(raw)
        .map(|name| layout_line(&name, data_type(&name).element_layout().unwrap()))
        .collect();
    let head = "name: component_bits component_size components signed swap_unit";
    insta::assert_snapshot!(format!("{head}\n{}", lines.join("\n")));
}

#[test]
fn sd_50_complex64_and_complex128_keep_their_names() {
    assert_eq!(
        data_type("complex64").element_layout(),
        data_type("complex_float32").element_layout()
    );
    assert_eq!(
        data_type("complex128").element_layout(),
        data_type("complex_float64").element_layout()
    );
    assert_eq!(data_type("complex64").to_json(), "\"complex64\"");
    assert_eq!(data_type("complex_float32").to_json(), "\"complex_float32\"");
}

#[test]
fn sd_72_types_that_are_not_known_are_kept() {
    for json in [r#""acme.type""#, r#"{"name":"acme.type","configuration":{"bits":3}}"#] {
        let data_type = DataType::from_json(json.as_bytes()).unwrap();
        assert_eq!(data_type.to_json(), json);
        assert_eq!(data_type.element_layout(), None);
        assert!(!data_type.is_packable());
        let fill = FillValue::parse(&data_type, r#"[ "NaT", 1e400 ]"#).unwrap();
        assert_eq!(fill.json(), r#"[ "NaT", 1e400 ]"#);
        assert_eq!(fill.bytes(), None);
        assert!(FillValue::parse(&data_type, "NaN").is_err());
        assert!(FillValue::zero(&data_type).is_err());
    }
}

#[test]
fn sd_18_a_fill_value_of_a_byte_out_of_range_is_refused() {
    let said = |name: &str, bytes: &[u8]| {
        FillValue::from_bytes(&data_type(name), bytes).map(|fill| fill.json().to_owned())
    };
    assert_eq!(said("int4", &[0xf9]).expect("-7"), "-7");
    insta::assert_snapshot!(said("int4", &[100]).unwrap_err(), @"$: found bits 0x64, expected the bits of a value of int4: 4 is 0x04");
    insta::assert_snapshot!(said("complex_float6_e3m2fn", &[0x3f, 0x40]).unwrap_err(), @"$: found bits 0x3f 0x40, expected the bits of a value of complex_float6_e3m2fn: [-28.0, 0.0] is 0x3f00");
    for (name, bits) in [("int2", 2), ("int4", 4), ("uint2", 2), ("uint4", 4), ("float4_e2m1fn", 4)]
    {
        let kept = (0..=255).filter(|byte| said(name, &[*byte]).is_ok()).count();
        assert_eq!(kept, 1 << bits, "{name}");
    }
}

#[test]
fn sd_18_sub_byte_types_take_a_byte_and_are_extended() {
    assert_eq!(fill_bytes("int2", "-2").unwrap(), [0xfe]);
    assert_eq!(fill_bytes("int4", "-3").unwrap(), [0xfd]);
    assert_eq!(fill_bytes("uint4", "13").unwrap(), [0x0d]);
    assert_eq!(fill_bytes("float4_e2m1fn", "-6").unwrap(), [0x0f]);
    assert_eq!(fill_bytes("complex_float6_e3m2fn", "[-28, 28]").unwrap(), [0x3f, 0x1f]);
    let text = |name: &str, byte: u8| {
        let mut text = String::new();
        format_element(&data_type(name), &[byte], &mut text).unwrap();
        text
    };
    // TensorStore leaves arbitrary upper bits.
    assert_eq!(text("int4", 0x0d), "-3");
    assert_eq!(text("int4", 0xfd), "-3");
    assert_eq!(text("int2", 0xa6), "-2");
    assert_eq!(text("uint2", 0xff), "3");
    assert_eq!(text("float6_e2m3fn", 0xc0), "0.0");
    for name in ["int2", "int4", "uint2", "uint4", "float4_e2m1fn", "float6_e2m3fn"] {
        for byte in 0..=255 {
            let mut canonical = [byte];
            data_type(name).canonicalize_element(&mut canonical);
            assert_eq!(fill_bytes(name, &text(name, byte)).unwrap(), canonical, "{name} {byte}");
        }
    }
    for name in ["bool", "int8", "float8_e5m2", "int16", "bfloat16", "complex64"] {
        let mut untouched = [0xff, 0x80, 0x7f, 0xfe, 0x55, 0xaa, 0x02, 0x40];
        let before = untouched;
        data_type(name).canonicalize_element(&mut untouched);
        assert_eq!((untouched, data_type(name).is_sub_byte()), (before, false), "{name}");
    }
}

#[test]
fn sd_46_hex_has_exactly_the_digits_of_the_type() {
    for (name, json, bytes) in [
        ("float16", r#""0x7e01""#, &[0x01, 0x7e][..]),
        ("float16", r#""0xFC00""#, &[0x00, 0xfc]),
        ("float32", r#""0x7fC00001""#, &[0x01, 0x00, 0xc0, 0x7f]),
        ("float64", r#""0x0000000000000001""#, &[1, 0, 0, 0, 0, 0, 0, 0]),
        ("float8_e5m2", r#""0x7f""#, &[0x7f]),
        ("float6_e2m3fn", r#""0x3f""#, &[0x3f]),
        ("float4_e2m1fn", r#""0xf""#, &[0x0f]),
        ("float4_e2m1fn", r#""0x0f""#, &[0x0f]),
        ("complex64", r#"["0x7fc00001", 1]"#, &[0x01, 0, 0xc0, 0x7f, 0, 0, 0x80, 0x3f]),
    ] {
        assert_eq!(fill_bytes(name, json).unwrap(), bytes, "{name} {json}");
    }
    for (name, json) in [
        ("float32", r#""0x7fc0""#),
        ("float32", r#""0x07fc00000""#),
        ("float16", r#""0X7e00""#),
        ("float16", r#""7e00""#),
        ("float16", r#""0x+e00""#),
        ("float6_e2m3fn", r#""0x40""#),
        ("float4_e2m1fn", r#""0x10""#),
        ("float4_e2m1fn", r#""0x00f""#),
        ("float8_e5m2", r#""0xf""#),
        ("int16", r#""0x0001""#),
    ] {
        assert!(fill_bytes(name, json).is_err(), "{name} {json}");
    }
    // Any case is read, lower is written.
    let nan = FillValue::parse(&DataType::Float16, r#""0x7E01""#).unwrap();
    let written = FillValue::from_bytes(&DataType::Float16, nan.bytes().unwrap()).unwrap();
    assert_eq!(written.json(), r#""0x7e01""#);
}

#[test]
fn special_values_by_type() {
    let mut lines = Vec::new();
    for data_type in DataType::FIXED.iter().filter(|t| t.is_float() && !t.is_complex()) {
        let code = |word: &str| match fill_bytes(&data_type.name(), word) {
            Ok(bytes) => bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect(),
            Err(_) => "none".to_owned(),
        };
        lines.push(format!(
            "{data_type}: NaN {}, Infinity {}, -Infinity {}, 1 {}",
            code("\"NaN\""),
            code("\"Infinity\""),
            code("\"-Infinity\""),
            code("1")
        ));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn sd_54_raw_bits_are_bytes_or_base64() {
    for json in ["[1, 255, 0]", r#""Af8A""#] {
        assert_eq!(fill_bytes("r24", json).unwrap(), [1, 255, 0], "{json}");
    }
    assert_eq!(fill_bytes("r8", r#""/w==""#).unwrap(), [0xff]);
    assert_eq!(fill_bytes("r16", r#""+/8=""#).unwrap(), [0xfb, 0xff]);
    for json in
        ["[1, 2]", "[1, 2, 256]", "[1, 2, -1]", "[1.0, 2, 3]", r#""Af8""#, r#""Af8=""#, "7", "null"]
    {
        assert!(fill_bytes("r24", json).is_err(), "{json}");
    }
    // Padding bits that are not zero, padding in the middle.
    for json in [r#""/x==""#, r#""=w==""#, r#""/w==/w==""#] {
        assert!(fill_bytes("r8", json).is_err(), "{json}");
    }
    for name in ["r0", "r7", "r12", "r08", "r99999999999999999999", "r8589934592"] {
        assert!(DataType::from_name(name).is_err(), "{name}");
    }
    // Its name alone says how long an element is, which each fill value is held for.
    let name = format!("r{}", 8 * MAX_ELEMENT_SIZE);
    assert_eq!(data_type(&name).size(), Some(MAX_ELEMENT_SIZE));
    for bytes in [MAX_ELEMENT_SIZE + 1, (1 << 29) - 1] {
        let error = DataType::from_name(&format!("r{}", 8 * bytes)).unwrap_err();
        assert_eq!(error.rule().map(Rule::id), Some("element-too-large"));
        assert_eq!(RawBits::new(bytes), None);
    }
    assert_eq!(data_type("r24").element_layout().unwrap().swap_unit, 1);
    let fill = FillValue::from_bytes(&data_type("r24"), &[1, 255, 0]).unwrap();
    assert_eq!(fill.json(), "[1, 255, 0]");
}

#[test]
fn sd_55_integers_have_no_fraction_exponent_or_string() {
    for (name, least, most) in [
        ("int2", "-2", "1"),
        ("int4", "-8", "7"),
        ("int8", "-128", "127"),
        ("int16", "-32768", "32767"),
        ("int32", "-2147483648", "2147483647"),
        ("int64", "-9223372036854775808", "9223372036854775807"),
        ("uint2", "0", "3"),
        ("uint4", "0", "15"),
        ("uint8", "0", "255"),
        ("uint16", "0", "65535"),
        ("uint32", "0", "4294967295"),
        ("uint64", "0", "18446744073709551615"),
    ] {
        let size = data_type(name).size().unwrap();
        let little = |value: i128| value.to_le_bytes()[..size].to_vec();
        for json in [least, most, "0", "1"] {
            let value: i128 = json.parse().unwrap();
            assert_eq!(fill_bytes(name, json).unwrap(), little(value), "{name} {json}");
            let mut text = String::new();
            format_element(&data_type(name), &little(value), &mut text).unwrap();
            assert_eq!(text, json, "{name}");
        }
        let past = [least.parse::<i128>().unwrap() - 1, most.parse::<i128>().unwrap() + 1];
        for json in past.map(|value| value.to_string()) {
            assert!(fill_bytes(name, &json).is_err(), "{name} {json}");
        }
        for json in ["1.0", "1e0", "\"1\"", "true", "null", "[1]", "NaN", "99999999999999999999"] {
            assert!(fill_bytes(name, json).is_err(), "{name} {json}");
        }
    }
}

#[test]
fn sd_55_bool_is_true_or_false_and_complex_a_pair() {
    assert_eq!(fill_bytes("bool", "true").unwrap(), [1]);
    assert_eq!(fill_bytes("bool", "false").unwrap(), [0]);
    for json in ["0", "1", "\"true\"", "null"] {
        assert!(fill_bytes("bool", json).is_err(), "{json}");
    }
    for json in ["0", "[0]", "[0, 0, 0]", "[0, null]", "null", "[\"0x1\", 0]"] {
        assert!(fill_bytes("complex64", json).is_err(), "{json}");
    }
    for data_type in DataType::FIXED {
        assert!(FillValue::parse(data_type, "null").is_err(), "{data_type}");
    }
}

#[test]
fn sd_51_the_real_part_comes_first() {
    assert_eq!(fill_bytes("complex64", "[1, -2]").unwrap(), [0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]);
    assert_eq!(data_type("complex128").element_layout().unwrap().swap_unit, 8);
}

#[test]
fn sd_52_a_bool_element_is_0_or_1() {
    let error = FillValue::from_bytes(&DataType::Bool, &[2]);
    insta::assert_snapshot!(message(error), @"$: found a bool of byte 2, expected 0 or 1");
}

#[test]
fn elements_of_every_type_read_back() {
    let mut state = 1_u64;
    for data_type in DataType::FIXED.iter().cloned().chain([data_type("r40")]) {
        for _ in 0..2000 {
            let mut element = Vec::new();
            for _ in 0..data_type.size().unwrap() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                element.push(state.to_be_bytes()[0]);
            }
            if data_type == DataType::Bool {
                element[0] &= 1;
            }
            data_type.canonicalize_element(&mut element);
            let mut text = String::new();
            format_element(&data_type, &element, &mut text).unwrap();
            let mut read = Vec::new();
            parse_element(&data_type, &text, &mut read).unwrap();
            assert_eq!(read, element, "{data_type} {text}");
        }
    }
}

#[test]
fn an_element_of_the_wrong_size() {
    insta::assert_snapshot!(
        message(FillValue::from_bytes(&DataType::Int32, &[1, 2])),
        @"$: found 2 bytes, expected 4, the size of one int32"
    );
}
