//! Codecs that change values: their arithmetic, what they refuse, and chains around them.

use zarr_codec::{AxisEdges, Chain, Need, Options, Scratch, Slice};
use zarr_metadata::{Codec, DataType};
use zarr_view::View;

use crate::support::{Random, bind, codec, data_type, decode, decode_whole, encode};

const LITTLE: &str = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;

fn chain(codecs: &[&str]) -> String {
    format!("[{}]", [codecs, &[LITTLE]].concat().join(", "))
}

fn cast(data_type: &str, more: &str) -> String {
    format!(r#"{{"name": "cast_value", "configuration": {{"data_type": "{data_type}"{more}}}}}"#)
}

fn numcodecs(name: &str, configuration: &str) -> String {
    format!(r#"{{"name": "numcodecs.{name}", "configuration": {{{configuration}}}}}"#)
}

/// The stored form of a chunk of these float64 elements.
fn stored(codecs: &str, elements: &[f64]) -> Result<Vec<u8>, String> {
    let count = u64::try_from(elements.len()).expect("few");
    let bytes: Vec<u8> = elements.iter().flat_map(|x| x.to_le_bytes()).collect();
    let codec = codec(codecs, "float64", &[count]);
    encode(&codec, &bytes, &[0x55; 8]).map(|(_, out)| out).map_err(|error| error.to_string())
}

#[test]
fn casts_of_floats_are_those_of_the_processor() {
    let mut random = Random(3);
    let mut elements = vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 1e-45];
    for _ in 0..20_000 {
        let bits = random.0.rotate_left(17);
        random.below(1);
        let x = f64::from_bits(bits);
        // Many of them near and below the smallest normal float32.
        elements.push(if x.is_nan() { 1.0 } else { x });
        elements
            .push(f64::from_bits(bits & !(0x7ff << 52) | (random.below(300) as u64 + 870) << 52));
    }
    let clamp = chain(&[&cast("float32", r#", "out_of_range": "clamp""#)]);
    let found = stored(&clamp, &elements).expect("encodes");
    for (x, found) in elements.iter().zip(found.as_chunks().0) {
        let found = f32::from_le_bytes(*found);
        assert_eq!(found.to_bits(), (*x as f32).to_bits(), "{x:e}");
    }
    let clamp = r#", "rounding": "towards-zero", "out_of_range": "clamp", "scalar_map": {"encode": [["NaN", 0]]}"#;
    elements.push(f64::NAN);
    let finite: Vec<f64> = elements.into_iter().filter(|x| !x.is_infinite()).collect();
    let found = stored(&chain(&[&cast("int64", clamp)]), &finite).expect("encodes");
    for (x, found) in finite.iter().zip(found.as_chunks().0) {
        assert_eq!(i64::from_le_bytes(*found), *x as i64, "{x:e}");
    }
}

#[test]
fn casts_of_integers_are_those_of_the_processor() {
    let mut random = Random(5);
    let elements: Vec<u64> = (0..20_000)
        .map(|_| {
            random.below(1);
            random.0 >> random.below(64)
        })
        // The greatest float32 that is read back as an integer of 64 bits, and what rounds to 2^63.
        .chain([0, 1, u64::MAX << 40, u64::MAX >> 1, 1 << 63])
        .collect();
    let bytes: Vec<u8> = elements.iter().flat_map(|x| x.to_le_bytes()).collect();
    let encoded = |name: &str, configuration: &str| {
        let codec = codec(&chain(&[&cast(name, configuration)]), "uint64", &[20_005]);
        encode(&codec, &bytes, &[0x55; 8]).expect("encodes").1
    };
    let wrap = r#", "out_of_range": "wrap""#;
    for ((x, float), (narrow, short)) in elements
        .iter()
        .zip(encoded("float32", "").as_chunks().0)
        .zip(encoded("int16", wrap).as_chunks().0.iter().zip(encoded("int4", wrap)))
    {
        assert_eq!(f32::from_le_bytes(*float), *x as f32, "{x}");
        assert_eq!(i16::from_le_bytes(*narrow), *x as i16, "{x}");
        assert_eq!(short.cast_signed(), (*x as i8) << 4 >> 4, "{x}");
    }
}

#[test]
fn half_floats_are_rounded_once() {
    // Midway between two, just above, subnormal, and where rounding carries to infinity.
    let cases = [
        (1.0 + 1.0 / 2048.0, 0x3c00_u16),
        (1.0 + 3.0 / 2048.0, 0x3c02),
        (1.0 + 1.0 / 2048.0 + 1e-12, 0x3c01),
        (2_f64.powi(-25), 0),
        (2_f64.powi(-25) * 1.5, 1),
        (-(2_f64.powi(-14)), 0x8400),
        (65504.0, 0x7bff),
        (65519.9, 0x7bff),
        (f64::NAN, 0x7e00),
    ];
    for (x, code) in cases {
        let found = stored(&chain(&[&cast("float16", "")]), &[x]).expect("encodes");
        assert_eq!(found, code.to_le_bytes(), "{x:e}");
    }
    let clamp = chain(&[&cast("float16", r#", "out_of_range": "clamp""#)]);
    assert_eq!(stored(&clamp, &[65520.0]).expect("infinity"), 0x7c00_u16.to_le_bytes());
}

#[test]
fn bitround_keeps_nan_and_rounds_integers_from_their_highest_bit() {
    let bitround = |bits: u32| {
        chain(&[&format!(r#"{{"name": "bitround", "configuration": {{"keepbits": {bits}}}}}"#)])
    };
    let codec32 = codec(&bitround(1), "float32", &[1]);
    for bits in [0x7fff_ffff_u32, 0xffff_ffff, 0x7fc0_0001, 0xff80_0000] {
        let (_, found) = encode(&codec32, &bits.to_le_bytes(), &[1; 4]).expect("encodes");
        assert_eq!(found, bits.to_le_bytes(), "{bits:x}");
    }
    let bytes = codec(&bitround(3), "uint8", &[6]);
    let (_, found) =
        encode(&bytes, &[0, 5, 9, 0b1011_0000, 0b1111_0001, 255], &[7]).expect("encodes");
    assert_eq!(found, [0, 5, 8, 0b1010_0000 + 0b10_0000, 0b1110_0000, 0b1110_0000]);
    assert_eq!(decode_whole(&bytes, &found, &[0]).expect("decodes"), found);
}

#[test]
fn values_that_do_not_fit_are_refused_by_their_place() {
    let refused = |codecs: &str, elements: &[f64]| stored(codecs, elements).expect_err("refused");
    let int8 = chain(&[&cast("int8", "")]);
    insta::assert_snapshot!(refused(&int8, &[1.0, 128.0]), @"codec cast_value ($.codecs[0]): element 1 has the bits 0x4060000000000000, out of the range of int8");
    insta::assert_snapshot!(refused(&int8, &[1.0, 2.0, f64::NAN]), @"codec cast_value ($.codecs[0]): element 2 has the bits 0x7ff8000000000000, not finite, for which int8 has no value");
    let astype = chain(&[&numcodecs("astype", r#""encode_dtype": "|u1", "decode_dtype": "<f8""#)]);
    insta::assert_snapshot!(refused(&astype, &[-1.0]), @"codec numcodecs.astype ($.codecs[0]): element 0 has the bits 0xbff0000000000000, out of the range of uint8");
    let scale = |more: &str| {
        chain(&[&format!(r#"{{"name": "scale_offset", "configuration": {{{more}}}}}"#)])
    };
    insta::assert_snapshot!(refused(&scale(r#""scale": 1e300"#), &[1e10]), @"codec scale_offset ($.codecs[0]): element 0 has the bits 0x4202a05f20000000, out of the range of float64");
    let large = codec(&scale(r#""scale": 18446744073709551615"#), "uint64", &[1]);
    assert!(encode(&large, &[0xff; 8], &[0; 8]).is_err(), "of 128 bits");
    let odd = codec(&scale(r#""scale": 2"#), "uint8", &[2]);
    insta::assert_snapshot!(decode_whole(&odd, &[4, 5], &[0]).expect_err("odd"), @"codec scale_offset ($.codecs[0]): element 1 has the bits 0x05, not a multiple of the scale, so that no uint8 gives it");
    let delta = chain(&[&numcodecs("delta", r#""dtype": "<i2", "astype": "|i1""#)]);
    let narrow = codec(&delta, "int16", &[3]);
    let elements = [0, 0, 100, 0, 0, 1];
    insta::assert_snapshot!(encode(&narrow, &elements, &[9; 2]).expect_err("wraps"), @"codec numcodecs.delta ($.codecs[0]): element 2 has the bits 0x0100, out of the range of int8");
    // If allowed, it wraps as in NumPy.
    let codecs = Codec::list_from_json(delta.as_bytes()).expect("valid");
    let options = Options::new().allow_loss(true);
    let chain = Chain::bind_with(&codecs, &data_type("int16"), &[AxisEdges::one(3)], options);
    let lossy = chain.expect("binds").for_shape(&[3]).expect("fits");
    assert_eq!(encode(&lossy, &elements, &[9; 2]).expect("encodes").1, [0, 100, 156]);
}

#[test]
fn chains_that_cannot_be_are_refused() {
    let refused = |codecs: &str, name: &str| match Codec::list_from_json(codecs.as_bytes()) {
        Ok(_) => bind(codecs, name, &[AxisEdges::one(4)]).expect_err("refused").to_string(),
        Err(error) => error.to_string(),
    };
    let delta = numcodecs("delta", r#""dtype": "<i2""#);
    let shard = format!(
        r#"[{delta}, {{"name": "sharding_indexed", "configuration": {{"chunk_shape": [2],
        "codecs": [{LITTLE}], "index_codecs": [{LITTLE}]}}}}]"#
    );
    insta::assert_snapshot!(refused(&shard, "int16"), @"$.codecs[0]: codec numcodecs.delta: a shard behind a codec that takes a chunk as a whole is not supported here");
    let none = r#"{"name": "bitround", "configuration": {"keepbits": 0}}"#;
    insta::assert_snapshot!(refused(&chain(&[none]), "uint8"), @"$[0].configuration.keepbits: found 0, expected an integer of at least 1");
    let many = vec![&*delta; 17];
    insta::assert_snapshot!(refused(&chain(&many), "int16"), @"$.codecs[16]: codec numcodecs.delta: more than 16 codecs that change values is not supported here");
    assert!(bind(&chain(&many[1..]), "int16", &[AxisEdges::one(4)]).is_ok());
    let offset = numcodecs("fixedscaleoffset", r#""offset": 300, "scale": 1, "dtype": "|u1""#);
    insta::assert_snapshot!(refused(&chain(&[&offset]), "uint8"), @"$.codecs[0]: codec numcodecs.fixedscaleoffset: 300, out of the range of the elements, is not supported here");
    let floats = chain(&[&numcodecs("delta", r#""dtype": "<f4""#)]);
    assert!(
        bind(&floats, "float32", &[AxisEdges::one(4)]).expect("binds").check_writable().is_ok()
    );
    let times = numcodecs("astype", r#""encode_dtype": "<M8[s]", "decode_dtype": "<f8""#);
    insta::assert_snapshot!(refused(&chain(&[&times]), "float64"), @"$.codecs[0]: codec numcodecs.astype: float64 as numpy.datetime64[s] is not supported here");
}

/// Bytes of numcodecs 0.17.1: `Delta("<f4").encode(..)`.
#[test]
fn differences_of_floats_are_those_of_numcodecs_or_refused() {
    let codecs =
        Codec::list_from_json(chain(&[&numcodecs("delta", r#""dtype": "<f4""#)]).as_bytes());
    let codecs = codecs.expect("valid");
    let bound = |allow| {
        let options = Options::new().allow_loss(allow);
        let chain = Chain::bind_with(&codecs, &data_type("float32"), &[AxisEdges::one(3)], options);
        chain.expect("binds").for_shape(&[3]).expect("fits")
    };
    let bytes = |elements: [f32; 3]| elements.map(f32::to_le_bytes).concat();
    // Differences that are exact.
    let exact = bytes([1.5, -2.25, 100.0]);
    let (_, found) = encode(&bound(false), &exact, &[1; 4]).expect("exact");
    assert_eq!(found, bytes([1.5, -3.75, 102.25]));
    assert_eq!(decode_whole(&bound(false), &found, &[0; 4]).expect("decodes"), exact);
    // 1e8 and 1 are too far apart: 1 reads back as 0.
    let rounded = bytes([1e8, 1.0, 2.0]);
    let error = encode(&bound(false), &rounded, &[1; 4]).expect_err("rounded");
    insta::assert_snapshot!(error, @"codec numcodecs.delta ($.codecs[0]): element 1 has the bits 0x3f800000, which its rounded difference does not restore as float32");
    let (_, found) = encode(&bound(true), &rounded, &[1; 4]).expect("allowed");
    assert_eq!(found, bytes([1e8, -1e8, 1.0]));
    assert_eq!(
        decode_whole(&bound(true), &found, &[0; 4]).expect("decodes"),
        bytes([1e8, 0.0, 1.0])
    );
}

#[test]
fn booleans_and_times_are_cast_as_integers_are() {
    let one = |encode: &str, decode: &str| {
        chain(&[&numcodecs(
            "astype",
            &format!(r#""encode_dtype": "{encode}", "decode_dtype": "{decode}""#),
        )])
    };
    let bools = codec(&one("<i2", "|b1"), "bool", &[3]);
    let (_, found) = encode(&bools, &[1, 0, 1], &[0]).expect("encodes");
    assert_eq!(found, [1, 0, 0, 0, 1, 0]);
    // Everything but zero is true, as in NumPy.
    assert_eq!(decode_whole(&bools, &[7, 0, 0, 0, 0, 255], &[0]).expect("decodes"), [1, 0, 1]);
    let numbers = codec(&one("bool", "<f4"), "float32", &[2]);
    let elements = [1.0_f32, -0.0].map(f32::to_le_bytes).concat();
    assert_eq!(encode(&numbers, &elements, &[1; 4]).expect("encodes").1, [1, 0]);
    let half = [1.0_f32, 0.5].map(f32::to_le_bytes).concat();
    insta::assert_snapshot!(encode(&numbers, &half, &[1; 4]).expect_err("lost"), @"codec numcodecs.astype ($.codecs[0]): element 1 has the bits 0x3f000000, out of the range of bool");

    let seconds = DataType::from_json(
        br#"{"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 10}}"#,
    );
    let seconds = seconds.expect("a type");
    let list = Codec::list_from_json(one("<i4", "<M8[10s]").as_bytes()).expect("valid");
    assert_eq!(list[0].to_json().matches("<M8[10s]").count(), 1);
    let bound = Chain::bind(&list, &seconds, &[AxisEdges::one(2)]).expect("binds");
    let codec = bound.for_shape(&[2]).expect("fits");
    let times = [1_i64, -2].map(i64::to_le_bytes).concat();
    let (_, found) = encode(&codec, &times, &[9; 8]).expect("encodes");
    assert_eq!(found, [1_i32, -2].map(i32::to_le_bytes).concat());
    assert_eq!(decode_whole(&codec, &found, &[0; 8]).expect("decodes"), times);
    let not_a_time = [0, i64::MIN].map(i64::to_le_bytes).concat();
    assert!(encode(&codec, &not_a_time, &[9; 8]).is_err(), "NaT has no place in 32 bits");

    // `bitround` takes times as the integers that they are.
    let list = chain(&[r#"{"name": "bitround", "configuration": {"keepbits": 2}}"#]);
    let list = Codec::list_from_json(list.as_bytes()).expect("valid");
    let bound = Chain::bind(&list, &seconds, &[AxisEdges::one(2)]).expect("binds");
    let codec = bound.for_shape(&[2]).expect("fits");
    let (_, found) =
        encode(&codec, &[5_i64, 13].map(i64::to_le_bytes).concat(), &[9; 8]).expect("encodes");
    assert_eq!(found, [4_i64, 12].map(i64::to_le_bytes).concat());
}

/// Dimensions change before and after the codec that changes values; every region equals that
/// part of the whole chunk.
#[test]
fn regions_are_those_of_the_whole_chunk() {
    let transpose = r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#;
    let reshape = r#"{"name": "reshape", "configuration": {"shape": [-1]}}"#;
    let delta = numcodecs("delta", r#""dtype": "<i4", "astype": "<i2""#);
    let shard = format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [3, 2],
        "codecs": [{LITTLE}], "index_codecs": [{LITTLE}]}}}}"#
    );
    let zlib = numcodecs("zlib", "");
    let wide = cast("float64", "");
    let elements: Vec<u8> = (0..24_i32).flat_map(|n| (n * n - 3).to_le_bytes()).collect();
    let fill = 6_i32.to_le_bytes();
    for codecs in [
        chain(&[&delta]),
        chain(&[transpose, &delta]),
        chain(&[&delta, transpose, reshape]),
        chain(&[transpose, &wide, reshape]),
        chain(&[reshape, &wide, &cast("int16", "")]),
        format!("[{wide}, {shard}]"),
        format!("[{transpose}, {wide}, {transpose}, {shard}]"),
        format!("[{transpose}, {wide}, {transpose}, {shard}, {zlib}]"),
        format!("[{wide}, {LITTLE}, {zlib}]"),
    ] {
        let codec = codec(&codecs, "int32", &[6, 4]);
        let (_, bytes) = encode(&codec, &elements, &fill).expect("encodes");
        assert_eq!(decode_whole(&codec, &bytes, &fill).expect("decodes"), elements, "{codecs}");
        let view = View::contiguous(&[2, 2]).expect("small");
        assert_eq!(codec.reader(&[(1..3).into(), (1..3).into()], &view, 0).need(), Need::All);
        let mut scratch = Scratch::new();
        for (rows, columns) in
            [((1, 3, 1), (0, 4, 1)), ((0, 3, 2), (1, 1, 1)), ((5, 1, 1), (0, 2, 3))]
        {
            let slice = |(start, count, step)| Slice { start, count, step };
            let region = [slice(rows), slice(columns)];
            let found = decode(&codec, &bytes, &region, &fill, &mut scratch).expect("decodes");
            let mut expected = Vec::new();
            for row in 0..rows.1 {
                for column in 0..columns.1 {
                    let at = (rows.0 + row * rows.2) * 4 + columns.0 + column * columns.2;
                    expected.extend_from_slice(&elements[at * 4..][..4]);
                }
            }
            assert_eq!(found, expected, "{codecs}");
        }
        // All elements, some changed.
        let mut chunk = bytes.clone();
        for order in [zarr_codec::Order::C, zarr_codec::Order::Stored] {
            let mut all =
                codec.decode_elements(&mut chunk, order, &fill, &mut scratch).expect("decodes");
            let (view, memory) = all.parts_mut();
            let at = view.position(&[2, 1]).expect("within") * 4;
            memory[at..at + 4].copy_from_slice(&77_i32.to_le_bytes());
            codec.encode_elements(all, &fill, &mut chunk, &mut scratch).expect("encodes");
        }
        let mut changed = elements.clone();
        changed[9 * 4..10 * 4].copy_from_slice(&77_i32.to_le_bytes());
        assert_eq!(decode_whole(&codec, &chunk, &fill).expect("decodes"), changed, "{codecs}");
    }
}

/// Inner chunks are left out if they equal the fill value after the codec.
#[test]
fn the_fill_value_goes_through_the_codecs() {
    let scale = r#"{"name": "scale_offset", "configuration": {"offset": 5, "scale": 3}}"#;
    let codecs = format!(
        r#"[{scale}, {}, {{"name": "sharding_indexed", "configuration": {{"chunk_shape": [2],
        "codecs": [{LITTLE}], "index_codecs": [{LITTLE}]}}}}]"#,
        cast("int32", "")
    );
    let codec = codec(&codecs, "int16", &[4]);
    let elements: Vec<u8> = [7_i16, 7, 1, 2].into_iter().flat_map(i16::to_le_bytes).collect();
    let fill = 7_i16.to_le_bytes();
    let (_, bytes) = encode(&codec, &elements, &fill).expect("encodes");
    assert_eq!(bytes.len(), 2 * 4 + 2 * 16, "one inner chunk of two");
    assert_eq!(decode_whole(&codec, &bytes, &fill).expect("decodes"), elements);
}

#[test]
fn fill_values_that_a_cast_does_not_keep_are_told() {
    let lost = |codecs: &str, name: &str, fill: &[u8]| {
        bind(codecs, name, &[AxisEdges::one(4)]).expect("binds").lost_fill(fill)
    };
    let towards = cast("int8", r#", "rounding": "towards-zero""#);
    let half = 1.5_f64.to_le_bytes();
    let found = lost(&chain(&[&towards]), "float64", &half).expect("casts");
    assert_eq!(found.as_deref(), Some(&1_f64.to_le_bytes()[..]));
    assert_eq!(lost(&chain(&[&towards]), "float64", &2_f64.to_le_bytes()).expect("casts"), None);
    assert!(lost(&chain(&[&towards]), "float64", &1e9_f64.to_le_bytes()).is_err());
    let fixed = numcodecs(
        "fixedscaleoffset",
        r#""offset": 1000, "scale": 1, "dtype": "<f8", "astype": "|u1""#,
    );
    assert_eq!(lost(&chain(&[&fixed]), "float64", &half).expect("rounds"), None);
    // `packbits` cuts bits after a cast.
    let packed = format!(
        r#"[{}, {{"name": "packbits", "configuration": {{"last_bit": 3}}}}]"#,
        cast("uint8", "")
    );
    let found = lost(&packed, "uint16", &[0x13, 0]).expect("casts");
    assert_eq!(found.as_deref(), Some(&[3, 0][..]));
    let chain = bind(&packed, "uint16", &[AxisEdges::one(4)]).expect("binds");
    let found = chain.lost(&[1, 0, 16, 0, 17, 0]).expect("casts").expect("two");
    assert_eq!((found.first, found.count), (1, 2));
}

/// A chunk of a few bytes does not yield all the elements that its metadata promises.
#[test]
fn sd_35_memory_is_taken_for_elements_that_are_there() {
    let count = 1_u64 << 44;
    let zlib = numcodecs("zlib", "");
    let shard = format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{count}],
        "codecs": [{LITTLE}], "index_codecs": [{LITTLE}]}}}}"#
    );
    let int16 = cast("int16", "");
    let halves = format!(r#"{{"name": "reshape", "configuration": {{"shape": [{count}]}}}}"#);
    for (codecs, shape, found) in [
        (chain(&[&cast("float64", "")]), vec![count], None),
        (format!("[{int16}, {LITTLE}, {zlib}]"), vec![count], None),
        (format!("[{halves}, {int16}, {shard}]"), vec![2, count / 2], None),
        (format!("[{int16}, {halves}, {shard}]"), vec![2, count / 2], None),
        // Only the elements of the region, here of an inner chunk that is left out.
        (format!("[{int16}, {shard}]"), vec![count], Some(vec![3; 2])),
    ] {
        let codec = codec(&codecs, "uint8", &shape);
        let region: Vec<Slice> = shape.iter().map(|_| (0..2).into()).collect();
        let decoded = decode(&codec, &[0xff; 16], &region, &[3], &mut Scratch::new());
        match (decoded, found) {
            (Err(error), None) => assert!(error.to_string().contains("codec "), "{error}"),
            (decoded, found) => assert_eq!(decoded.ok(), found),
        }
    }
}
