//! Codecs that change values, with floats of at most 8 bits.
//!
//! What each code is comes from ml_dtypes. The oracle rounds by definition: it looks for the two
//! neighbours of a number among these values.

use zarr_codec::{AxisEdges, Chain, ChunkCodec, Options};
use zarr_metadata::Codec;

use crate::support::{codec, data_type, decode_whole, encode};

const TABLE: &str = include_str!("../../../zarr-metadata/tests/data/ml_dtypes.txt");

const ROUNDINGS: [&str; 5] =
    ["nearest-even", "nearest-away", "towards-zero", "towards-positive", "towards-negative"];

/// Which values a format has besides finite ones.
#[derive(Clone, Copy, PartialEq)]
enum Has {
    Infinity,
    Nan,
    Neither,
}

/// A format as ml_dtypes has it.
struct Format {
    name: &'static str,
    /// By code.
    values: Vec<f64>,
    has: Has,
    has_negative_zero: bool,
}

impl Format {
    fn all() -> Vec<Self> {
        let lines = TABLE.lines().filter_map(|line| line.strip_prefix("decode "));
        lines
            .map(|line| {
                let mut words = line.split(' ');
                let name = words.next().expect("a name");
                let values: Vec<f64> = words
                    .map(|hex| match hex {
                        "nan" => f64::NAN,
                        hex => f64::from_bits(u64::from_str_radix(hex, 16).expect("16 digits")),
                    })
                    .collect();
                let has = match () {
                    () if values.contains(&f64::INFINITY) => Has::Infinity,
                    () if values.iter().any(|x| x.is_nan()) => Has::Nan,
                    () => Has::Neither,
                };
                let has_negative_zero = values.iter().any(|x| *x == 0.0 && x.is_sign_negative());
                Self { name, values, has, has_negative_zero }
            })
            .collect()
    }

    /// A format of powers of two, without zero and without sign.
    fn is_power(&self) -> bool {
        !self.values.contains(&0.0)
    }

    /// Codes and values that are finite and not negative, in order.
    fn ladder(&self) -> Vec<(u8, f64)> {
        let codes = (0..=u8::MAX).zip(&self.values).map(|(code, x)| (code, *x));
        let mut ladder: Vec<_> =
            codes.filter(|(_, x)| x.is_finite() && x.is_sign_positive()).collect();
        ladder.sort_by(|a, b| a.1.total_cmp(&b.1));
        ladder
    }

    /// The code of a value that the format has.
    fn code(&self, value: f64) -> Option<u8> {
        let same = |x: &f64| x.to_bits() == value.to_bits() || x.is_nan() && value.is_nan();
        self.values.iter().position(same).map(|code| u8::try_from(code).expect("8 bits"))
    }

    fn code_of_zero(&self, negative: bool) -> Option<u8> {
        self.code(if negative && self.has_negative_zero { -0.0 } else { 0.0 })
    }

    /// The code of a number rounded; `None` if it is out of range.
    fn round(&self, x: f64, rounding: &str) -> Option<u8> {
        if !x.is_finite() {
            // No value but itself stands for infinity or NaN.
            let kept = x.is_nan() || self.has == Has::Infinity;
            return self.code(x).filter(|_| kept);
        }
        if x == 0.0 || self.is_power() && x < 0.0 {
            return self.code_of_zero(x.is_sign_negative());
        }
        let ladder = self.ladder();
        let size = x.abs();
        let (_, last) = *ladder.last().expect("values");
        let (_, before) = ladder[ladder.len() - 2];
        // What comes after the greatest number if exponents had no bound, and before the least.
        let beyond = last + (last - before) * if self.is_power() { 2.0 } else { 1.0 };
        let above = ladder.iter().position(|(_, value)| *value >= size);
        let (low, high, low_is_even) = match above {
            Some(at) if ladder[at].1 == size => (size, size, true),
            Some(0) => (0.0, ladder[0].1, true),
            Some(at) => (ladder[at - 1].1, ladder[at].1, ladder[at - 1].0.is_multiple_of(2)),
            None if size < beyond => (last, beyond, ladder[ladder.len() - 1].0.is_multiple_of(2)),
            None => return None,
        };
        let away = match rounding {
            "towards-zero" => false,
            "towards-positive" => x > 0.0,
            "towards-negative" => x < 0.0,
            // Exact: these have few bits.
            _ => match (size - low).total_cmp(&(high - size)) {
                std::cmp::Ordering::Less => false,
                std::cmp::Ordering::Greater => true,
                std::cmp::Ordering::Equal => {
                    rounding == "nearest-away" || self.is_power() || !low_is_even
                }
            },
        };
        let size = if low == size || !away { low } else { high };
        if size == 0.0 {
            return self.code_of_zero(x < 0.0);
        }
        self.code(size.copysign(x)).filter(|_| size <= last)
    }

    /// What a number out of range is clamped to.
    fn clamped(&self, x: f64) -> u8 {
        let ladder = self.ladder();
        let ends = (ladder[0].1, ladder[ladder.len() - 1].1);
        let value = match self.has {
            Has::Infinity => f64::INFINITY.copysign(x),
            _ if self.is_power() => {
                if x < 1.0 {
                    ends.0
                } else {
                    ends.1
                }
            }
            _ => ends.1.copysign(x),
        };
        self.code(value).expect("a value")
    }

    /// Values, numbers midway between them, and those just beside both; numbers out of range.
    fn probes(&self) -> Vec<f64> {
        let ladder = self.ladder();
        let (least, last) = (ladder[0].1, ladder[ladder.len() - 1].1);
        let mut probes = vec![0.0, 1e-300, least / 2.0, least / 4.0, last * 2.0, 1e300];
        let gap = last - ladder[ladder.len() - 2].1;
        probes.extend([last + gap / 2.0, last + gap]);
        for pair in ladder.windows(2) {
            probes.extend([pair[0].1, pair[0].1 / 2.0 + pair[1].1 / 2.0]);
        }
        probes.push(last);
        let beside = |x: &f64| [*x, x.next_up(), x.next_down().max(0.0)];
        let sizes: Vec<f64> = probes.iter().flat_map(beside).collect();
        sizes.into_iter().flat_map(|x| [x, -x]).collect()
    }
}

fn cast(from: &str, to: &str, more: &str) -> ChunkCodec {
    let codecs = format!(
        r#"[{{"name": "cast_value", "configuration": {{"data_type": "{to}"{more}}}}},
        {{"name": "bytes", "configuration": {{"endian": "little"}}}}]"#
    );
    codec(&codecs, from, &[1])
}

#[test]
fn casts_round_as_the_text_says() {
    for format in Format::all() {
        let probes = format.probes();
        for rounding in ROUNDINGS {
            let more = format!(r#", "rounding": "{rounding}""#);
            let strict = cast("float64", format.name, &more);
            let clamp =
                cast("float64", format.name, &format!(r#"{more}, "out_of_range": "clamp""#));
            for x in &probes {
                let at = format!("{} {rounding} {x:e}", format.name);
                let fill = [0x55; 8];
                let found = encode(&strict, &x.to_le_bytes(), &fill).map(|(_, out)| out).ok();
                let expected = format.round(*x, rounding);
                assert_eq!(found, expected.map(|code| vec![code]), "{at}");
                let (_, found) = encode(&clamp, &x.to_le_bytes(), &fill).expect("clamps");
                let clamped = expected.unwrap_or_else(|| format.clamped(*x));
                assert_eq!(found, [clamped], "{at} clamped");
            }
            for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let expected = format.round(x, rounding).map(|code| vec![code]);
                for codec in [&strict, &clamp] {
                    let found = encode(codec, &x.to_le_bytes(), &[0x55; 8]);
                    let found = found.map(|(_, out)| out).ok();
                    // The canonical NaN is positive, and the first where there are several.
                    assert_eq!(found.is_some(), expected.is_some(), "{} {x}", format.name);
                    let value = |code: &Vec<u8>| format.values[usize::from(code[0])];
                    if let Some(found) = &found {
                        assert_eq!(value(found).is_nan(), x.is_nan());
                        assert!(x.is_nan() || value(found) == x);
                    }
                }
            }
        }
    }
}

#[test]
fn every_value_is_read_as_the_number_it_is() {
    for format in Format::all() {
        let stored_small = cast("float64", format.name, "");
        let stored_wide = cast(format.name, "float64", "");
        for (code, value) in (0..=u8::MAX).zip(&format.values) {
            let at = format!("{} {code:#x}", format.name);
            let same = |bytes: Vec<u8>| {
                let read = f64::from_le_bytes(bytes.try_into().expect("8 bytes"));
                assert!(
                    read.to_bits() == value.to_bits() || read.is_nan() && value.is_nan(),
                    "{at}"
                );
            };
            same(decode_whole(&stored_small, &[code], &[0; 8]).expect("decodes"));
            same(encode(&stored_wide, &[code], &[0x55]).expect("encodes").1);
            let back = decode_whole(&stored_wide, &value.to_le_bytes(), &[0]).expect("decodes");
            assert_eq!(format.values[usize::from(back[0])].to_bits(), value.to_bits(), "{at}");
        }
    }
}

#[test]
fn offsets_and_scales_are_computed_in_the_type() {
    for format in Format::all() {
        let nearest = |x: f64| {
            let code = format.round(x, "nearest-even")?;
            Some(format.values[usize::from(code)])
        };
        let finite: Vec<f64> = format.values.iter().copied().filter(|x| x.is_finite()).collect();
        for (offset, scale) in (0..12).map(|at| {
            let at = |factor: usize| finite[(at * factor + 3) % finite.len()];
            (at(29), at(41))
        }) {
            // Zero is the one offset that a format of powers of two cannot be told.
            let given = format!(r#"{{"offset": {offset:?}, "scale": {scale:?}}}"#);
            let codecs = format!(
                r#"[{{"name": "scale_offset", "configuration": {given}}}, {{"name": "bytes"}}]"#
            );
            if scale == 0.0 {
                let list = Codec::list_from_json(codecs.as_bytes()).expect("valid");
                let bound = Chain::bind(&list, &data_type(format.name), &[AxisEdges::one(1)]);
                assert!(bound.is_err(), "{} {given}", format.name);
                continue;
            }
            let codec = codec(&codecs, format.name, &[1]);
            for (code, x) in (0..=u8::MAX).zip(&format.values).filter(|(_, x)| x.is_finite()) {
                let at = format!("{} {given} {x:e}", format.name);
                let value = |bytes: Vec<u8>| format.values[usize::from(bytes[0])].to_bits();
                let found = encode(&codec, &[code], &[0x55]).map(|(_, out)| value(out)).ok();
                let finite = |x: &f64| x.is_finite();
                let read = |stored: f64| {
                    let quotient = nearest(stored / scale).filter(finite)?;
                    nearest(quotient + offset).filter(finite)
                };
                let less = nearest(x - offset).filter(finite);
                let expected = less.and_then(|less| nearest(less * scale)).filter(finite);
                let expected = expected.filter(|stored| read(*stored).is_some());
                assert_eq!(found, expected.map(f64::to_bits), "{at}");
                let found = decode_whole(&codec, &[code], &[0]).map(value).ok();
                assert_eq!(found, read(*x).map(f64::to_bits), "{at} decoded");
            }
        }
    }
}

#[test]
fn nothing_is_scaled_where_nothing_is_given() {
    for format in Format::all() {
        let codec = codec(r#"["scale_offset", "bytes"]"#, format.name, &[1]);
        for (code, x) in (0..=u8::MAX).zip(&format.values).filter(|(_, x)| !x.is_nan()) {
            // An offset of 0 is added when reading, which makes zero positive.
            let expected = if *x == 0.0 { 0 } else { code };
            assert_eq!(encode(&codec, &[code], &[0x55]).expect("encodes").1, [code]);
            assert_eq!(decode_whole(&codec, &[code], &[0]).expect("decodes"), [expected]);
        }
    }
}

#[test]
fn what_is_not_finite_needs_a_map() {
    let plain = cast("float32", "float6_e2m3fn", "");
    let nan = f32::NAN.to_le_bytes();
    let error = encode(&plain, &nan, &[0; 4]).expect_err("no NaN");
    insta::assert_snapshot!(error, @"codec cast_value ($.codecs[0]): element 0 has the bits 0x7fc00000, not finite, for which float6_e2m3fn has no value");
    let map = r#", "scalar_map": {"encode": [["NaN", 7.5], ["Infinity", -0.125]], "decode": [[7.5, "NaN"]]}"#;
    let mapped = cast("float32", "float6_e2m3fn", map);
    assert_eq!(encode(&mapped, &nan, &[0; 4]).expect("mapped").1, [0x1f]);
    let infinity = f32::INFINITY.to_le_bytes();
    assert_eq!(encode(&mapped, &infinity, &[0; 4]).expect("mapped").1, [0x21]);
    assert_eq!(decode_whole(&mapped, &[0x1f], &[0; 4]).expect("mapped"), nan);
    assert_eq!(decode_whole(&mapped, &[0x21], &[0; 4]).expect("read"), (-0.125_f32).to_le_bytes());
}

#[test]
fn bits_are_rounded_within_the_format() {
    let rounded = |name: &str, bits: u32, code: u8, allow: bool| {
        let codecs = format!(
            r#"[{{"name": "bitround", "configuration": {{"keepbits": {bits}}}}}, {{"name": "bytes"}}]"#
        );
        let list = Codec::list_from_json(codecs.as_bytes()).expect("valid");
        let options = Options::new().allow_loss(allow);
        let chain = Chain::bind_with(&list, &data_type(name), &[AxisEdges::one(1)], options);
        let codec = chain.expect("binds").for_shape(&[1]).expect("fits");
        encode(&codec, &[code], &[0x55]).map(|(_, out)| out[0]).ok()
    };
    let bitround = |name: &str, bits: u32, code: u8| rounded(name, bits, code, false);
    // 1.375 becomes 1.5; the greatest becomes infinity if loss is allowed and there is infinity.
    assert_eq!(bitround("float8_e4m3", 1, 0x3b), Some(0x3c));
    assert_eq!(rounded("float8_e4m3", 1, 0x77, true), Some(0x78));
    assert_eq!(rounded("float8_e4m3", 1, 0xf7, true), Some(0xf8));
    assert_eq!(bitround("float8_e4m3", 1, 0x77), None);
    assert_eq!(bitround("float8_e4m3", 1, 0xf8), Some(0xf8), "infinity");
    assert_eq!(rounded("float8_e4m3fn", 1, 0x7e, true), None);
    assert_eq!(bitround("float8_e4m3fn", 1, 0x7f), Some(0x7f), "NaN");
    assert_eq!(bitround("float8_e4m3fnuz", 1, 0x7f), None);
    assert_eq!(bitround("float6_e2m3fn", 1, 0x3f), None);
    assert_eq!(bitround("float4_e2m1fn", 1, 0xf), Some(0xf));
    assert_eq!(bitround("float8_e8m0fnu", 1, 0x81), Some(0x81));
    // What is rounded to zero is positive where negative zero would be NaN.
    assert_eq!(bitround("float8_e4m3fnuz", 1, 0x81), Some(0));
    assert_eq!(bitround("float8_e4m3", 1, 0x81), Some(0x80));
    // int4 stays sign-extended (SD-18).
    assert_eq!(bitround("int4", 2, 0xfb), Some(0xfc));
}
