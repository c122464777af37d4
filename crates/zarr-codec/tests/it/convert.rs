//! Elements of one data type as elements of another. The oracle is the reader of decimals, which knows
//! nothing of conversions: an element's exact decimal is read as a value of the other type.

use zarr_codec::{Change, ConvertError, convert};
use zarr_metadata::{DataType, FloatValue, Loss, format_element, parse_element, parse_value};

use crate::support::Random;

/// The exact decimal of an element, or `None` if it is not finite.
fn exact(data_type: &DataType, element: &[u8]) -> Option<String> {
    if let Some(format) = data_type.float_format() {
        let code = element.iter().rev().fold(0, |code, byte| code << 8 | u64::from(*byte));
        let value = format.value(code);
        return matches!(value, FloatValue::Finite { .. })
            .then(|| format!("{:.1074}", value.to_f64()));
    }
    let mut text = String::new();
    format_element(data_type, element, &mut text).expect("an element");
    Some(text.replace("true", "1").replace("false", "0"))
}

/// Elements at the ends of what the types can have, and random ones.
fn elements(data_type: &DataType, random: &mut Random) -> Vec<Vec<u8>> {
    let size = data_type.size().expect("fixed");
    let numbers = "0 1 -1 2 3 7 8 -8 15 16 127 128 -128 255 256 448 449 2048 2049 65504 65519 65520 \
        16777216 16777217 33554433 9007199254740992 9007199254740993 9223372036854775807 \
        -9223372036854775808 18446744073709551615 0.5 1.5 -2.5 0.1 1e-8 1e-300 1e30 3.4e38 3.5e38 \
        1e300 -0.0";
    let mut found: Vec<Vec<u8>> = Vec::new();
    for text in numbers.split_whitespace() {
        let mut bytes = Vec::new();
        if parse_element(data_type, text, &mut bytes).is_ok() {
            found.push(bytes);
        }
    }
    if *data_type == DataType::Bool {
        return vec![vec![0], vec![1]];
    }
    for _ in 0..40 {
        let mut bytes: Vec<u8> = (0..size).map(|_| random.below(256) as u8).collect();
        data_type.canonicalize_element(&mut bytes);
        found.push(bytes);
    }
    found
}

#[test]
fn numbers_of_every_type_enter_every_other_as_their_decimals_do() {
    let mut random = Random(59);
    let real = |t: &&DataType| !t.is_complex();
    let mut refused = 0;
    for from in DataType::FIXED.iter().filter(real) {
        for element in elements(from, &mut random) {
            for to in DataType::FIXED.iter().filter(real) {
                let found = convert(&element, from, to, Loss::Refuse);
                let Some(text) = exact(from, &element) else {
                    // Neither an integer nor a float without these becomes anything.
                    if to.float_format().is_none() {
                        assert!(found.is_err(), "{from} {element:02x?} as {to}");
                    }
                    continue;
                };
                let mut wanted = Vec::new();
                // A whole float is the same integer, but a fraction is not.
                let whole = text.trim_end_matches('0').trim_end_matches('.');
                let text = match to.float_format() {
                    None if text.contains('.') => whole.replace("-0", "0"),
                    _ => text.clone(),
                };
                let text = match (to, text.as_str()) {
                    (DataType::Bool, "1") => "true",
                    (DataType::Bool, "0" | "") => "false",
                    (_, "" | "-") => "0",
                    (_, text) => text,
                };
                match parse_value(to, text, Loss::Refuse, &mut wanted) {
                    Ok(()) => assert_eq!(found, Ok(wanted), "{from} {text} as {to}"),
                    Err(_) => {
                        refused += 1;
                        assert!(found.is_err(), "{from} {text} as {to}: {found:02x?}");
                    }
                }
            }
        }
    }
    assert!(refused > 1000, "{refused}");
}

#[test]
fn errors_name_the_first_element() {
    let error = |elements: &[f64], to: &DataType| {
        let bytes: Vec<u8> = elements.iter().flat_map(|x| x.to_le_bytes()).collect();
        convert(&bytes, &DataType::Float64, to, Loss::Refuse).expect_err("refused").to_string()
    };
    let int = |elements: &[i64], to: &DataType| {
        let bytes: Vec<u8> = elements.iter().flat_map(|x| x.to_le_bytes()).collect();
        convert(&bytes, &DataType::Int64, to, Loss::Refuse).expect_err("refused").to_string()
    };
    let messages = [
        error(&[1.0, 2.5, 3.5], &DataType::Int16),
        error(&[f64::NAN], &DataType::Int16),
        error(&[1.0, 1e300], &DataType::Float32),
        error(&[1.0, f64::INFINITY], &DataType::Float8E4m3fn),
        error(&[1e300], &DataType::Complex64),
        int(&[1, 1 << 40, 9_007_199_254_740_993], &DataType::Float64),
        int(&[1000], &DataType::Float8E4m3fn),
        int(&[2], &DataType::Bool),
    ];
    insta::assert_snapshot!(messages.join("\n"), @r"
    element [1]: 2.5 does not fit into int16, where it would be 2
    element [0]: NaN does not fit into int16, which has no such value
    element [1]: 1e300 does not fit into float32
    element [1]: Infinity does not fit into float8_e4m3fn, which has no such value
    element [0]: 1e300 does not fit into complex64
    element [2]: 9007199254740993 does not fit into float64, where it would be 9007199254740992.0
    element [0]: 1000 does not fit into float8_e4m3fn
    element [0]: 2 does not fit into bool
    ");
}

#[test]
fn complex_numbers_keep_both_parts() {
    let complex = [1.5_f64, -2.5].map(f64::to_le_bytes).concat();
    let expected = [1.5_f32, -2.5].map(f32::to_le_bytes).concat();
    let to =
        |elements: &[u8], from: &DataType, to: &DataType| convert(elements, from, to, Loss::Refuse);
    assert_eq!(to(&complex, &DataType::Complex128, &DataType::Complex64), Ok(expected));
    let error = to(&complex, &DataType::Complex128, &DataType::Float64);
    assert!(matches!(error, Err(ConvertError::Types { .. })), "{error:?}");
    let real = to(&7_i64.to_le_bytes(), &DataType::Int64, &DataType::Complex64);
    assert_eq!(real, Ok([7.0_f32, 0.0].map(f32::to_le_bytes).concat()));
    let large = [1.0_f64, 1e300].map(f64::to_le_bytes).concat();
    let error = to(&large, &DataType::Complex128, &DataType::Complex64);
    assert!(matches!(error, Err(ConvertError::Value { why: Change::OutOfRange, .. })), "{error:?}");
}

/// What NumPy 2.5 stores by `astype`.
#[test]
fn what_is_allowed_is_numpys() {
    let allowed = |from: &DataType, bytes: &[u8], to: &DataType| {
        convert(bytes, from, to, Loss::Allow).expect("allowed")
    };
    let int = 70_000_i64.to_le_bytes();
    assert_eq!(allowed(&DataType::Int64, &int, &DataType::Int16), 4464_i16.to_le_bytes());
    assert_eq!(allowed(&DataType::Int64, &int, &DataType::Float16), 0x7c00_u16.to_le_bytes());
    let float = (-2.7_f64).to_le_bytes();
    assert_eq!(allowed(&DataType::Float64, &float, &DataType::Int8), [0xfe]);
    let huge = 1e300_f64.to_le_bytes();
    assert_eq!(allowed(&DataType::Float64, &huge, &DataType::Float32), f32::INFINITY.to_le_bytes());
    let error = convert(&[0; 7], &DataType::Int64, &DataType::Int32, Loss::Allow);
    assert_eq!(error, Err(ConvertError::Length { bytes: 7, size: 8 }));
}
