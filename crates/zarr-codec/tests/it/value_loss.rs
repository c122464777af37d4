//! Codecs that change values: no chunk is written that cannot be read, and no value is lost in a
//! way that rounding does not explain, unless that is allowed (SD-49). The expected values are
//! plain arithmetic.

use zarr_codec::{AxisEdges, Chain, ChunkCodec, Options};
use zarr_metadata::{Codec, DataType};

use crate::support::{Random, bind, data_type, decode_whole, encode};

const LITTLE: &str = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;

fn chain(name: &str, configuration: &str) -> String {
    format!(r#"[{{"name": "{name}", "configuration": {{{configuration}}}}}, {LITTLE}]"#)
}

/// A codec of chunks of these elements, which may allow loss.
fn bound(codecs: &str, data_type: &DataType, bytes: &[u8], allow: bool) -> ChunkCodec {
    let codecs = Codec::list_from_json(codecs.as_bytes()).expect("valid");
    let count = (bytes.len() / data_type.size().expect("fixed")) as u64;
    let options = Options::new().allow_loss(allow);
    let chain = Chain::bind_with(&codecs, data_type, &[AxisEdges::one(count)], options);
    chain.expect("binds").for_shape(&[count]).expect("fits")
}

/// What the elements read back as after writing them, or why they are refused.
fn back(codecs: &str, name: &str, bytes: &[u8], allow: bool) -> Result<Vec<u8>, String> {
    let codec = bound(codecs, &data_type(name), bytes, allow);
    // A fill value that no element has, so that the chunk is stored.
    let fill = vec![0x5b; data_type(name).size().expect("fixed")];
    let (_, stored) = encode(&codec, bytes, &fill).map_err(|error| error.to_string())?;
    Ok(decode_whole(&codec, &stored, &fill).expect("what was written is read"))
}

macro_rules! bytes {
    ($of:ty: $($value:expr),+) => { [$(<$of>::to_le_bytes($value)),+].concat() };
}

/// The last element cannot be read back, whether or not loss is allowed; the others can.
#[test]
fn elements_that_could_not_be_read_are_refused_even_if_loss_is_allowed() {
    let astype =
        |to: &str, from: &str| format!(r#""encode_dtype": "{to}", "decode_dtype": "{from}""#);
    let cast = |to: &str| format!(r#""data_type": "{to}""#);
    let fixed = |more: &str| format!(r#""offset": 0, "scale": 1, {more}"#);
    let clamp = r#""data_type": "float16", "out_of_range": "clamp""#.to_owned();
    let ten = r#""offset": 10, "scale": 1, "dtype": "|u1", "astype": "|u1""#.to_owned();
    let cases = [
        ("numcodecs.astype", astype("<f2", "<u2"), "uint16", bytes![u16: 1, 65519, 65535]),
        ("numcodecs.astype", astype("<f8", "<i8"), "int64", bytes![i64: 1, -5, i64::MAX]),
        ("cast_value", cast("float64"), "uint64", bytes![u64: 1, 2, u64::MAX]),
        ("cast_value", cast("float32"), "int64", bytes![i64: 1, 16_777_217, i64::MAX]),
        ("cast_value", cast("float32"), "int32", bytes![i32: i32::MIN, 0x7fff_ff00, i32::MAX]),
        ("cast_value", clamp, "uint16", bytes![u16: 1, 65519, 65535]),
        ("cast_value", cast("float8_e4m3fnuz"), "int8", bytes![i8: -128, 123, 127]),
        (
            "numcodecs.fixedscaleoffset",
            fixed(r#""dtype": "<i8", "astype": "<f8""#),
            "int64",
            bytes![i64: 1, -5, i64::MAX],
        ),
        // NumPy reads the wrapped value as 256, and what it casts that to depends on the processor.
        ("numcodecs.fixedscaleoffset", ten, "uint8", bytes![u8: 20, 100, 1]),
        // 65376 * 0.9 is rounded to 58848, that / 0.9 to 65408, and that + 137 exceeds 65504.
        (
            "scale_offset",
            r#""offset": 137, "scale": 0.9"#.to_owned(),
            "float16",
            bytes![u16: 1, 2, 0x7bff],
        ),
        (
            "scale_offset",
            r#""scale": "Infinity""#.to_owned(),
            "float32",
            bytes![f32: f32::NAN, 1.0],
        ),
    ];
    for (name, configuration, of, elements) in cases {
        let codecs = chain(name, &configuration);
        let size = data_type(of).size().expect("fixed");
        for allow in [false, true] {
            let error = back(&codecs, of, &elements, allow).expect_err("cannot be read");
            let at = format!("element {} has the bits", elements.len() / size - 1);
            assert!(error.contains(&at), "{codecs}: {error}");
            let others = &elements[..elements.len() - size];
            assert_eq!(back(&codecs, of, others, allow).map(|read| read.len()), Ok(others.len()));
        }
    }
    let half = chain("numcodecs.astype", &astype("<f2", "<u2"));
    let error = |allow| back(&half, "uint16", &bytes![u16: 65535], allow).expect_err("infinity");
    insta::assert_snapshot!(error(true), @"codec numcodecs.astype ($.codecs[0]): element 0 has the bits 0xffff, which could not be read back from float16");
    insta::assert_snapshot!(error(false), @"codec numcodecs.astype ($.codecs[0]): element 0 has the bits 0xffff, out of the range of float16");
}

/// Elements up to the ends of each type, in all types that they may be stored in.
#[test]
fn what_is_written_is_read_whatever_the_types() {
    let types = [
        ("int8", "|i1"),
        ("uint8", "|u1"),
        ("int16", "<i2"),
        ("uint16", "<u2"),
        ("int32", "<i4"),
        ("uint64", "<u8"),
        ("float16", "<f2"),
        ("float32", "<f4"),
        ("float64", "<f8"),
        ("float8_e4m3", ""),
        ("float8_e4m3fnuz", ""),
        ("float8_e8m0fnu", ""),
        ("float4_e2m1fn", ""),
        ("int4", ""),
    ];
    let mut random = Random(11);
    let mut refused = 0;
    for (from, numpy) in types {
        let size = data_type(from).size().expect("fixed");
        let mut elements: Vec<Vec<u8>> = (0..=255_u8)
            .filter(|high| size == 1 || high % 16 < 2 || high % 16 > 13)
            .map(|high| {
                // The greatest values of most types are among them.
                let mut bytes = vec![[0, 0xff][random.below(2)]; size];
                bytes[size - 1] = high;
                bytes
            })
            .collect();
        match from {
            "int4" => elements.retain(|bytes| (-8..8).contains(&bytes[0].cast_signed())),
            "float4_e2m1fn" => elements.retain(|bytes| bytes[0] < 16),
            _ => {}
        }
        let mut chains = Vec::new();
        for (to, other) in types {
            for more in ["", r#", "out_of_range": "clamp""#, r#", "out_of_range": "wrap""#] {
                for rounding in ["nearest-even", "towards-negative"] {
                    let rules = format!(r#""data_type": "{to}", "rounding": "{rounding}"{more}"#);
                    let map = r#""scalar_map": {"encode": [[1, 2]], "decode": [[2, 1]]}"#;
                    chains.push(chain("cast_value", &format!("{rules}, {map}")));
                    chains.push(chain("cast_value", &rules));
                }
            }
            if !numpy.is_empty() && !other.is_empty() {
                chains.push(chain(
                    "numcodecs.astype",
                    &format!(r#""encode_dtype": "{other}", "decode_dtype": "{numpy}""#),
                ));
                for (offset, scale) in [("3", "2"), ("0.5", "10"), ("-7", "0.01"), ("0", "-1")] {
                    chains.push(chain(
                        "numcodecs.fixedscaleoffset",
                        &format!(
                            r#""offset": {offset}, "scale": {scale}, "dtype": "{numpy}",
                            "astype": "{other}""#
                        ),
                    ));
                }
            }
        }
        for (offset, scale) in [("1", "2"), ("2", "0.5"), ("1", "-1.5")] {
            let configuration = format!(r#""offset": {offset}, "scale": {scale}"#);
            chains.push(chain("scale_offset", &configuration));
        }
        for codecs in chains {
            let Ok(list) = Codec::list_from_json(codecs.as_bytes()) else { continue };
            let edges = [AxisEdges::one(1)];
            for allow in [false, true] {
                let options = Options::new().allow_loss(allow);
                let Ok(chain) = Chain::bind_with(&list, &data_type(from), &edges, options) else {
                    continue;
                };
                let codec = chain.for_shape(&[1]).expect("fits");
                for element in &elements {
                    match encode(&codec, element, element) {
                        Ok((_, stored)) => {
                            let read = decode_whole(&codec, &stored, element);
                            assert!(read.is_ok(), "{from} {element:02x?} {codecs}: {read:?}");
                        }
                        Err(_) => refused += 1,
                    }
                }
            }
        }
    }
    assert!(refused > 10_000, "{refused}");
}

#[test]
fn nothing_is_scaled_by_zero() {
    let refused = |codecs: &str, name: &str| {
        bind(codecs, name, &[AxisEdges::one(4)]).map(drop).expect_err("zero").to_string()
    };
    for of in ["int16", "float32", "uint64", "float8_e4m3"] {
        let error = refused(&chain("scale_offset", r#""scale": 0"#), of);
        assert!(error.ends_with("codec scale_offset: scale 0 is not supported here"), "{error}");
    }
    for (of, numpy, zero) in [
        ("int16", "<i2", "0"),
        ("int16", "<i2", "0.0"),
        ("float64", "<f8", "-0"),
        ("float16", "<f2", "1e-9"),
    ] {
        let fixed = format!(r#""offset": 0, "scale": {zero}, "dtype": "{numpy}""#);
        let error = refused(&chain("numcodecs.fixedscaleoffset", &fixed), of);
        let end = format!("scale {zero} is not supported here");
        assert!(error.ends_with(&end), "{error}");
    }
}

#[test]
fn integers_that_wrap_are_refused_unless_loss_is_allowed() {
    let fixed = |offset: &str, scale: &str, numpy: &str| {
        let dtype = format!(r#""offset": {offset}, "scale": {scale}, "dtype": "{numpy}""#);
        chain("numcodecs.fixedscaleoffset", &format!(r#"{dtype}, "astype": "<i4""#))
    };
    let ten = fixed("0", "10", "|i1");
    let refused = back(&ten, "int8", &[1, 2, 100], false).expect_err("1000 is no int8");
    insta::assert_snapshot!(refused, @"codec numcodecs.fixedscaleoffset ($.codecs[0]): element 2 has the bits 0x64, which overflows in the arithmetic of the codec");
    // 1000 is -24 modulo 256.
    assert_eq!(back(&ten, "int8", &[1, 2, 100], true), Ok(vec![1, 2, (-2_i8).cast_unsigned()]));
    for value in i8::MIN..=i8::MAX {
        let fits = i8::try_from(i32::from(value) * 10).is_ok();
        let element = [value.cast_unsigned()];
        assert_eq!(back(&ten, "int8", &element, false).ok(), fits.then(|| element.to_vec()));
        let less = fixed("100", "1", "|i1");
        let fits = i8::try_from(i32::from(value) - 100).is_ok();
        assert_eq!(back(&less, "int8", &element, false).ok(), fits.then(|| element.to_vec()));
    }
    let hundred = fixed("0", "100", "<i4");
    assert!(back(&hundred, "int32", &bytes![i32: 21_474_836], false).is_ok());
    assert!(back(&hundred, "int32", &bytes![i32: 100_000_000], false).is_err());
    // Products of more than 127 bits.
    let large = format!(r#""offset": 0, "scale": {}, "dtype": "<u8""#, u64::MAX);
    let large = chain("numcodecs.fixedscaleoffset", &large);
    assert!(back(&large, "uint64", &bytes![u64: u64::MAX], false).is_err());
}

#[test]
fn finite_values_that_become_infinite_are_refused_unless_loss_is_allowed() {
    let fixed = |scale: &str, from: &str, to: &str| {
        let both = format!(r#""scale": {scale}, "dtype": "{from}", "astype": "{to}""#);
        chain("numcodecs.fixedscaleoffset", &format!(r#""offset": 0, {both}"#))
    };
    let narrow = chain("numcodecs.astype", r#""encode_dtype": "<f4", "decode_dtype": "<f8""#);
    let keep = chain("bitround", r#""keepbits": 2"#);
    let keep_numpy = chain("numcodecs.bitround", r#""keepbits": 2"#);
    let tens = chain("numcodecs.quantize", r#""digits": -4, "dtype": "<f2""#);
    let greatest = bytes![f32: f32::MAX];
    let cases = [
        (narrow, "float64", bytes![f64: 1e39], true),
        (fixed("10", "<f8", "<f4"), "float64", bytes![f64: 1e38], true),
        (fixed("10", "<f4", "<f4"), "float32", bytes![f32: 1e38], true),
        // Rounded to 7, which is read as 3.5e38.
        (fixed("2e-38", "<f4", "<f4"), "float32", greatest.clone(), true),
        (keep.clone(), "float32", greatest.clone(), true),
        (keep, "float16", bytes![u16: 0xfbff], true),
        (keep_numpy, "float32", greatest, true),
        // 65504 is rounded to 8 * 8192.
        (tens, "float16", bytes![u16: 0x7bff], true),
    ];
    for (codecs, of, element, lost) in cases {
        let error = back(&codecs, of, &element, false).expect_err("infinite");
        assert!(error.contains("element 0 has the bits"), "{error}");
        assert_eq!(back(&codecs, of, &element, true).is_ok(), lost, "{codecs}");
    }
    // What is infinite or not a number remains so.
    let special = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for codecs in [
        chain("numcodecs.astype", r#""encode_dtype": "<f4", "decode_dtype": "<f8""#),
        fixed("10", "<f8", "<f4"),
        chain("bitround", r#""keepbits": 2"#),
        chain("numcodecs.quantize", r#""digits": 2, "dtype": "<f8""#),
    ] {
        let bytes = bytes![f64: special[0], special[1], special[2]];
        assert_eq!(back(&codecs, "float64", &bytes, false), Ok(bytes), "{codecs}");
    }
}

/// Other writers' chunks with infinity and NaT are read as they are.
#[test]
fn infinity_of_other_writers_is_read() {
    let infinity = f32::INFINITY.to_le_bytes();
    for name in ["bitround", "numcodecs.bitround"] {
        let codecs = chain(name, r#""keepbits": 2"#);
        let codec = bound(&codecs, &data_type("float32"), &infinity, false);
        assert_eq!(decode_whole(&codec, &infinity, &[0; 4]).expect("identity"), infinity);
    }
    let wide = chain("numcodecs.astype", r#""encode_dtype": "<f8", "decode_dtype": "<f4""#);
    let codec = bound(&wide, &data_type("float32"), &infinity, false);
    let stored = 1e39_f64.to_le_bytes();
    assert_eq!(decode_whole(&codec, &stored, &[0; 4]).expect("as NumPy"), infinity);
}

/// The digits of a power of two: a multiple of its inverse is kept, even if the product overflows.
#[test]
fn quantize_keeps_what_only_its_product_makes_infinite() {
    let digits = |digits: i32, numpy: &str| {
        chain("numcodecs.quantize", &format!(r#""digits": {digits}, "dtype": "{numpy}""#))
    };
    let thousand = bytes![u16: 0x63d0];
    assert_eq!(back(&digits(2, "<f2"), "float16", &thousand, false), Ok(thousand));
    let large = bytes![f32: 1e37, -f32::MAX];
    assert_eq!(back(&digits(2, "<f4"), "float32", &large, false), Ok(large));
    let large = bytes![f64: 1e308, -f64::MAX];
    assert_eq!(back(&digits(3, "<f8"), "float64", &large, false), Ok(large));
    // Every float16, with factors up to above its greatest value.
    for (count, scale) in [(0, 1.0_f64), (2, 128.0), (3, 1024.0), (5, 131_072.0), (7, 16_777_216.0)]
    {
        let codecs = digits(count, "<f2");
        let all: Vec<u8> = (0..0x7c00_u16).flat_map(u16::to_le_bytes).collect();
        let found = back(&codecs, "float16", &all, false).expect("finite");
        for (code, found) in (0..0x7c00_u16).zip(found.as_chunks().0) {
            let expected = (half(code) * scale).round_ties_even() / scale;
            assert_eq!(half(u16::from_le_bytes(*found)), expected, "{code:#x} to {count} digits");
        }
    }
}

/// A positive float16.
fn half(code: u16) -> f64 {
    let (field, mantissa) = (i32::from(code >> 10), f64::from(code & 0x3ff));
    match field {
        0 => mantissa * 2_f64.powi(-24),
        _ => (mantissa + 1024.0) * 2_f64.powi(field - 25),
    }
}

#[test]
fn rounded_bits_keep_the_sign_of_integers_and_the_times() {
    let keep = |bits: u32| chain("bitround", &format!(r#""keepbits": {bits}"#));
    let refused = back(&keep(8), "int16", &bytes![i16: 5, 32767], false).expect_err("negative");
    insta::assert_snapshot!(refused, @"codec bitround ($.codecs[0]): element 1 has the bits 0x7fff, which overflows in the arithmetic of the codec");
    assert_eq!(back(&keep(8), "int16", &bytes![i16: 32767], true), Ok(bytes![i16: i16::MIN]));
    // Rounded to 0, whose bits are those of 2^32: a carry that is dropped.
    assert!(back(&keep(2), "int32", &bytes![i32: -1], false).is_err());
    assert_eq!(back(&keep(2), "int32", &bytes![i32: -1], true), Ok(bytes![i32: -1 << 30]));
    for value in i8::MIN..=i8::MAX {
        for bits in 1..=8 {
            let code = u32::from(value.cast_unsigned());
            let dropped = (32 - code.leading_zeros()).saturating_sub(bits);
            let step = 1_u32 << dropped;
            let expected = (f64::from(code) / f64::from(step)).round_ties_even() * f64::from(step);
            let kept =
                if value < 0 { (128.0..256.0).contains(&expected) } else { expected < 128.0 };
            let found = back(&keep(bits), "int8", &[value.cast_unsigned()], false).ok();
            assert_eq!(found, kept.then(|| vec![expected as u8]), "{value} to {bits} bits");
        }
    }
    // Unsigned integers have no sign to lose.
    assert_eq!(back(&keep(3), "uint8", &[255], false), Ok(vec![0b1110_0000]));

    let time = DataType::from_json(
        br#"{"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}"#,
    );
    let time = time.expect("a type");
    let written = |value: i64, bits: u32, allow: bool| {
        let codec = bound(&keep(bits), &time, &value.to_le_bytes(), allow);
        let (_, stored) = encode(&codec, &value.to_le_bytes(), &[9; 8]).ok()?;
        Some(i64::from_le_bytes(stored.try_into().expect("8 bytes")))
    };
    for value in [i64::MAX, -1, i64::MIN + 5] {
        assert_eq!(written(value, 1, false), None, "{value}");
        assert_eq!(written(value, 1, true), Some(i64::MIN), "{value}");
    }
    assert_eq!(written(i64::MIN, 1, false), Some(i64::MIN), "NaT remains");
    assert_eq!(written(13, 2, false), Some(12));
    // For integers, that value is a number as others are.
    assert_eq!(
        back(&keep(1), "int64", &bytes![i64: i64::MIN + 5], false),
        Ok(bytes![i64: i64::MIN])
    );
}
