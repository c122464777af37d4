//! Floating point against exact references (SD-45).

use zarr_metadata::{ArrayBuilder, DataType, FillValue, format_element, parse_element};

use crate::support::data_type;

/// Every real type of at most 16 bits: name, bits, sign.
const SMALL: &[(&str, u32, bool)] = &[
    ("float4_e2m1fn", 4, true),
    ("float6_e2m3fn", 6, true),
    ("float6_e3m2fn", 6, true),
    ("float8_e3m4", 8, true),
    ("float8_e4m3", 8, true),
    ("float8_e4m3b11fnuz", 8, true),
    ("float8_e4m3fn", 8, true),
    ("float8_e4m3fnuz", 8, true),
    ("float8_e5m2", 8, true),
    ("float8_e5m2fnuz", 8, true),
    ("float8_e8m0fnu", 8, false),
    ("float16", 16, true),
    ("bfloat16", 16, true),
];

fn code_of(data_type: &DataType, text: &str) -> Option<u32> {
    let mut bytes = Vec::new();
    parse_element(data_type, text, &mut bytes).ok()?;
    Some(bytes.iter().rev().fold(0, |code, byte| code << 8 | u32::from(*byte)))
}

fn bytes_of(data_type: &DataType, code: u32) -> Vec<u8> {
    code.to_le_bytes()[..data_type.size().unwrap()].to_vec()
}

fn text_of(data_type: &DataType, code: u32) -> String {
    let mut text = String::new();
    format_element(data_type, &bytes_of(data_type, code), &mut text).unwrap();
    text
}

/// The value of a code by the formula of IEEE 754, independent of the crate's own decoding.
fn value_by_formula(name: &str, bits: u32, sign: bool, code: u32) -> Option<f64> {
    let (_, format) = name.split_once('_').unwrap_or((name, name));
    let (exponent_bits, bias, top): (u32, i32, &str) = match format {
        "float16" => (5, 15, "ieee"),
        "bfloat16" => (8, 127, "ieee"),
        "e2m1fn" | "e2m3fn" => (2, 1, "finite"),
        "e3m2fn" => (3, 3, "finite"),
        "e3m4" => (3, 3, "ieee"),
        "e4m3" => (4, 7, "ieee"),
        "e4m3b11fnuz" => (4, 11, "uz"),
        "e4m3fn" => (4, 7, "ones"),
        "e4m3fnuz" => (4, 8, "uz"),
        "e5m2" => (5, 15, "ieee"),
        "e5m2fnuz" => (5, 16, "uz"),
        "e8m0fnu" => (8, 127, "power"),
        other => panic!("no formula for {other}"),
    };
    let mantissa_bits = bits - exponent_bits - u32::from(sign);
    let exponent = code >> mantissa_bits & ((1 << exponent_bits) - 1);
    let mantissa = code & ((1 << mantissa_bits) - 1);
    let negative = sign && code >> (bits - 1) == 1;
    let ones = (1 << exponent_bits) - 1;
    match top {
        "ieee" if exponent == ones => return None,
        "ones" if exponent == ones && mantissa == (1 << mantissa_bits) - 1 => return None,
        "uz" if negative && exponent == 0 && mantissa == 0 => return None,
        "power" if exponent == ones => return None,
        _ => {}
    }
    let fraction = f64::from(mantissa) / f64::from(1_u32 << mantissa_bits);
    let size = match (top, exponent) {
        ("power", _) => 2_f64.powi(i32::try_from(exponent).unwrap() - bias),
        (_, 0) => fraction * 2_f64.powi(1 - bias),
        _ => (1.0 + fraction) * 2_f64.powi(i32::try_from(exponent).unwrap() - bias),
    };
    Some(if negative { -size } else { size })
}

/// The finite values that are not negative, in order.
fn ladder(name: &str, bits: u32, sign: bool) -> Vec<(f64, u32)> {
    let codes = 0..1_u32 << (bits - u32::from(sign));
    codes.filter_map(|code| Some((value_by_formula(name, bits, sign, code)?, code))).collect()
}

/// All digits of a double.
fn exact(x: f64) -> String {
    let text = format!("{x:.1074}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A decimal slightly below one that is not 0: its last digit less one, and nines.
fn just_below(decimal: &str) -> String {
    let mut digits: Vec<u8> = decimal.bytes().collect();
    for digit in digits.iter_mut().rev() {
        match digit {
            b'.' => {}
            b'0' => *digit = b'9',
            _ => {
                *digit -= 1;
                break;
            }
        }
    }
    let point = if decimal.contains('.') { "" } else { "." };
    // No leading zeros in JSON: `1` becomes `0.9..`, `10` becomes `9.9..`.
    let text = format!("{}{point}{}", String::from_utf8(digits).unwrap(), "9".repeat(40));
    let trimmed = text.trim_start_matches('0');
    if trimmed.starts_with('.') { format!("0{trimmed}") } else { trimmed.to_owned() }
}

fn just_above(decimal: &str) -> String {
    let point = if decimal.contains('.') { "" } else { "." };
    format!("{decimal}{point}{}1", "0".repeat(40))
}

#[test]
fn sd_45_every_value_is_the_formulas() {
    for &(name, bits, sign) in SMALL {
        let data_type = data_type(name);
        let nan = code_of(&data_type, "\"NaN\"");
        for code in 0..1_u32 << bits {
            let text = text_of(&data_type, code);
            assert_eq!(text == "\"NaN\"", nan == Some(code), "{name} {code:#x} {text}");
            match value_by_formula(name, bits, sign, code) {
                Some(value) if bits <= 8 => {
                    let read: f64 = text.parse().unwrap();
                    assert_eq!(read.to_bits(), value.to_bits(), "{name} {code:#x} {text}");
                }
                // Wider ones are shortened: that the decimals read back is tested below.
                Some(value) => {
                    assert_eq!(code_of(&data_type, &exact(value)), Some(code), "{name} {value}");
                }
                None => assert!(text.starts_with('"'), "{name} {code:#x} {text}"),
            }
        }
    }
}

#[test]
fn sd_45_ties_go_to_even_and_nothing_is_rounded_twice() {
    for &(name, bits, sign) in SMALL {
        let data_type = data_type(name);
        let ladder = ladder(name, bits, sign);
        for pair in ladder.windows(2) {
            let [(low, low_code), (high, high_code)] = *pair else { unreachable!() };
            // Exact: both have few bits.
            let middle = low / 2.0 + high / 2.0;
            assert!(low < middle && middle < high);
            let tie = exact(middle);
            // The last digit of a power of two is 1: none is even, and IEEE 754 takes the larger.
            let has_even = name != "float8_e8m0fnu";
            let even = if has_even && low_code % 2 == 0 { low_code } else { high_code };
            assert_eq!(code_of(&data_type, &tie), Some(even), "{name} tie {tie}");
            assert_eq!(code_of(&data_type, &just_below(&tie)), Some(low_code), "{name} < {tie}");
            assert_eq!(code_of(&data_type, &just_above(&tie)), Some(high_code), "{name} > {tie}");
            if sign && bits <= 8 && low_code > 0 {
                let negative = 1 << (bits - 1);
                let code = code_of(&data_type, &format!("-{tie}"));
                assert_eq!(code, Some(even | negative), "{name} -{tie}");
            }
        }
    }
}

#[test]
fn sd_45_a_number_that_float64_would_push_onto_a_tie() {
    // 1 + 2^-11 is halfway between two float16; 10^-30 above it is lost on the way by float64.
    let tie = "1.00048828125";
    let float16 = data_type("float16");
    assert_eq!(code_of(&float16, tie), Some(0x3c00));
    assert_eq!(code_of(&float16, &format!("{tie}0000000000000000000001")), Some(0x3c01));
    assert_eq!(code_of(&float16, "1.0004882812499999999999999999"), Some(0x3c00));
    assert_eq!(code_of(&float16, "100048828125000000000000000000001e-32"), Some(0x3c01));
    assert_eq!(code_of(&float16, "0.00100048828125e3"), Some(0x3c00));
}

#[test]
fn sd_45_what_is_too_large() {
    for (name, largest, last_that_fits, first_that_does_not) in [
        ("float4_e2m1fn", "6", "6.999999", "7"),
        ("float6_e2m3fn", "7.5", "7.7499", "7.75"),
        ("float6_e3m2fn", "28", "29.999", "30"),
        ("float8_e4m3fn", "448", "464", "464.0000000000000000000000001"),
        ("float8_e4m3fnuz", "240", "247.99", "248"),
        ("float8_e4m3b11fnuz", "30", "30.99", "31"),
        ("float8_e5m2fnuz", "57344", "61439.9", "61440"),
        (
            "float8_e8m0fnu",
            "1.7014118346046923e38",
            "2.55211775190703847e38",
            "2.55211775190703848e38",
        ),
    ] {
        let data_type = data_type(name);
        let code = code_of(&data_type, largest);
        assert!(code.is_some(), "{name}");
        assert_eq!(code_of(&data_type, last_that_fits), code, "{name}");
        assert_eq!(code_of(&data_type, first_that_does_not), None, "{name}");
        assert_eq!(code_of(&data_type, "1e999"), None, "{name}");
    }
    for (name, last_that_fits, first_that_does_not, infinity) in [
        ("float8_e3m4", "15.7", "15.75", 0x70),
        ("float8_e4m3", "247.9", "248", 0x78),
        ("float8_e5m2", "61439", "61440", 0x7c),
        ("float16", "65519.99", "65520", 0x7c00),
        ("bfloat16", "3.3961775292304e38", "3.3961775292304601e38", 0x7f80),
        ("float32", "3.4028235677973366e38", "3.4028235677973367e38", 0x7f80_0000),
    ] {
        let data_type = data_type(name);
        assert_eq!(code_of(&data_type, last_that_fits), Some(infinity - 1), "{name}");
        assert_eq!(code_of(&data_type, first_that_does_not), Some(infinity), "{name}");
        assert_eq!(code_of(&data_type, "1e999"), Some(infinity), "{name}");
    }
}

#[test]
fn sd_45_scales_have_no_zero_and_no_sign() {
    let scale = data_type("float8_e8m0fnu");
    for text in ["0", "0.0", "-0.0", "-1", "1e-400", "2.9387358770557187e-39"] {
        assert_eq!(code_of(&scale, text), None, "{text}");
    }
    // From half of the least power of two, numbers are nearer to it than to zero.
    assert_eq!(code_of(&scale, "2.9387358770557188e-39"), Some(0));
    assert_eq!(code_of(&scale, "5.877471754111438e-39"), Some(0));
    assert_eq!(code_of(&scale, "1"), Some(127));
    // Ties go to the larger, since none is even: 1.5 lies between codes 127 and 128, 3 between 128
    // and 129.
    assert_eq!(code_of(&scale, "1.5"), Some(128));
    assert_eq!(code_of(&scale, "3"), Some(129));
}

#[test]
fn the_default_fill_value_is_nan_where_there_is_no_zero() {
    for (name, size, json) in
        [("float8_e8m0fnu", 1, r#""NaN""#), ("complex_float8_e8m0fnu", 2, r#"["NaN", "NaN"]"#)]
    {
        let array = ArrayBuilder::new([2], data_type(name)).build().unwrap();
        let fill = array.fill_value();
        assert_eq!((fill.json(), fill.bytes()), (json, Some(&[0xff_u8; 2][..size])));
    }
}

#[test]
fn sd_48_zeros_keep_their_sign_where_there_are_two() {
    for (name, code) in
        [("float4_e2m1fn", 8), ("float8_e5m2", 0x80), ("float16", 0x8000), ("bfloat16", 0x8000)]
    {
        assert_eq!(code_of(&data_type(name), "-0.0"), Some(code));
        assert_eq!(code_of(&data_type(name), "-0"), Some(code));
        assert_eq!(code_of(&data_type(name), "-1e-400"), Some(code));
        assert_eq!(text_of(&data_type(name), code), "-0.0");
    }
    assert_eq!(code_of(&data_type("float8_e4m3fnuz"), "-0.0"), Some(0));
    let zero = FillValue::parse(&DataType::Float64, "0.0").unwrap();
    assert_ne!(zero, FillValue::parse(&DataType::Float64, "-0.0").unwrap());
    assert_eq!(zero, FillValue::parse(&DataType::Float64, "0e5").unwrap());
    let nan = FillValue::parse(&DataType::Float64, "\"NaN\"").unwrap();
    assert_eq!(nan, FillValue::parse(&DataType::Float64, "\"0x7FF8000000000000\"").unwrap());
    assert_ne!(nan, FillValue::parse(&DataType::Float64, "\"0x7ff8000000000001\"").unwrap());
}

/// Whether any decimal of fewer digits than `text` reads back as `code`.
fn has_shorter(data_type: &DataType, text: &str, code: u32) -> bool {
    let value: f64 = text.parse().unwrap();
    let scientific = format!("{:e}", value.abs());
    let digits = scientific.split_once('e').unwrap().0.replace('.', "").len();
    (1..digits).any(|fewer| {
        // Both neighbours of the exact value among the decimals of that many digits.
        let below = format!("{:.*e}", fewer - 1, value.abs());
        let (mantissa, exponent) = below.split_once('e').unwrap();
        let whole: i64 = mantissa.replace('.', "").parse().unwrap();
        let exponent = exponent.parse::<i64>().unwrap() - i64::try_from(fewer - 1).unwrap();
        (whole - 2..=whole + 2).any(|whole| {
            let sign = if value.is_sign_negative() { "-" } else { "" };
            code_of(data_type, &format!("{sign}{}e{exponent}", whole.max(0))) == Some(code)
        })
    })
}

#[test]
fn the_nearest_of_the_shortest_decimals_is_written() {
    // By numpy: `np.float16`. Of one digit, 5e-8 and 6e-8 read as the code 1, and 1e-7 to 4e-7 are near
    // two codes.
    let float16 = data_type("float16");
    for (code, value) in [(1, 6e-8), (2, 1e-7), (3, 2e-7), (4, 2.4e-7), (5, 3e-7), (6, 3.6e-7)] {
        assert_eq!(text_of(&float16, code).parse(), Ok(value));
        let negative: f64 = -value;
        assert_eq!(text_of(&float16, code | 0x8000).parse(), Ok(negative));
    }
}

#[test]
fn decimals_read_back_and_are_the_shortest() {
    for name in ["float16", "bfloat16"] {
        let data_type = data_type(name);
        for code in 0..=0xffff_u32 {
            let text = text_of(&data_type, code);
            assert_eq!(code_of(&data_type, &text), Some(code), "{name} {code:#x} {text}");
            if !text.starts_with('"') && code < 0x8000 {
                assert!(!has_shorter(&data_type, &text, code), "{name} {code:#x} {text}");
            }
        }
    }
    for &(name, bits, _) in SMALL.iter().filter(|(_, bits, _)| *bits <= 8) {
        for code in 0..1_u32 << bits {
            let text = text_of(&data_type(name), code);
            assert_eq!(code_of(&data_type(name), &text), Some(code), "{name} {code:#x} {text}");
        }
    }
}

#[test]
fn decimals_of_wide_floats_read_back() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::new();
    for _ in 0..200_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        for (data_type, element) in [
            (DataType::Float64, state.to_le_bytes().to_vec()),
            (DataType::Float32, state.to_le_bytes()[4..].to_vec()),
            (DataType::Complex64, state.to_le_bytes().to_vec()),
        ] {
            let mut text = String::new();
            format_element(&data_type, &element, &mut text).unwrap();
            bytes.clear();
            parse_element(&data_type, &text, &mut bytes).unwrap();
            assert_eq!(bytes, element, "{data_type} {text}");
        }
    }
}

#[test]
fn ml_dtypes_agrees() {
    let table = include_str!("../data/ml_dtypes.txt");
    let mut checked = 0;
    for line in table.lines() {
        let mut words = line.split(' ');
        let what = words.next().unwrap();
        let name = words.next().unwrap();
        let data_type = data_type(name);
        let number = |hex: &str| f64::from_bits(u64::from_str_radix(hex, 16).unwrap());
        for (index, word) in words.enumerate() {
            checked += 1;
            if what == "decode" {
                let text = text_of(&data_type, u32::try_from(index).unwrap());
                let expected = match word {
                    "nan" => None,
                    hex => Some(number(hex)),
                };
                let read = match text.as_str() {
                    "\"Infinity\"" => Some(f64::INFINITY),
                    "\"-Infinity\"" => Some(f64::NEG_INFINITY),
                    text => text.parse().ok(),
                };
                let bits = |x: Option<f64>| x.map(f64::to_bits);
                assert_eq!(bits(read), bits(expected), "{name} {index:#x} {text}");
            } else {
                let (hex, code) = word.split_once(':').unwrap();
                // Midway between two, each digit counts.
                let text = match what {
                    "ties" => exact(number(hex)),
                    _ => format!("{:e}", number(hex)),
                };
                let code = u32::from_str_radix(code, 16).unwrap();
                assert_eq!(code_of(&data_type, &text), Some(code), "{name} {text}");
            }
        }
    }
    assert!(checked > 5000, "{checked}");
}

/// The formats describe the codes of the processor's own floats, from the least to the largest.
#[test]
fn values_of_wide_floats_are_exact() {
    let narrow = DataType::Float32.float_format().expect("a float");
    let wide = DataType::Float64.float_format().expect("a float");
    let ends = [0.0, -0.0, f64::from_bits(1), f64::MIN_POSITIVE, f64::MAX, f64::MIN];
    for x in ends.into_iter().chain([0.1, -1e-310, f64::INFINITY, f64::NEG_INFINITY]) {
        assert_eq!(wide.value(x.to_bits()).to_f64().to_bits(), x.to_bits(), "{x:e}");
    }
    let ends = [0.0, -0.0, f32::from_bits(1), f32::MIN_POSITIVE, f32::MAX, f32::MIN];
    for x in ends.into_iter().chain([0.1, 1e20, -1e-40, f32::NEG_INFINITY]) {
        let value = narrow.value(x.to_bits().into()).to_f64();
        assert_eq!(value.to_bits(), f64::from(x).to_bits(), "{x:e}");
    }
    assert!(wide.value(f64::NAN.to_bits()).to_f64().is_nan());
}
