//! `zfp` and `numcodecs.zfpy`: streams of the C library, what each mode keeps, and streams that lie.

use zarr_codec::{AxisEdges, Chain, ChunkCodec, Options, Scratch, Slice};
use zarr_metadata::{Codec, DataType};
use zarr_view::{Output, View};

use crate::support::{Random, codec, data_type, decode_whole, encode};

fn zfp(configuration: &str) -> String {
    format!(r#"[{{"name": "zfp", "configuration": {configuration}}}]"#)
}

fn zfpy(configuration: &str) -> String {
    format!(r#"[{{"name": "numcodecs.zfpy", "configuration": {configuration}}}]"#)
}

/// The codec, which stores values that its mode does not keep.
fn lossy(codecs: &str, name: &str, shape: &[u64]) -> ChunkCodec {
    let codecs = Codec::list_from_json(codecs.as_bytes()).expect("codecs");
    let edges: Vec<AxisEdges> = shape.iter().map(|edge| AxisEdges::one(*edge)).collect();
    let options = Options::new().allow_loss(true);
    let chain = Chain::bind_with(&codecs, &data_type(name), &edges, options).expect("binds");
    chain.for_shape(shape).expect("fits")
}

const REVERSIBLE: &str = r#"{"mode": "reversible"}"#;

const MODES: [&str; 6] = [
    REVERSIBLE,
    r#"{"mode": "fixed_accuracy", "tolerance": 0.01}"#,
    r#"{"mode": "fixed_rate", "rate": 10.5}"#,
    r#"{"mode": "fixed_precision", "precision": 19}"#,
    r#"{"mode": "expert", "minbits": 1, "maxbits": 200, "maxprec": 30, "minexp": -20}"#,
    r#"{"mode": "expert", "minbits": 77, "maxbits": 16658, "maxprec": 64, "minexp": -1075}"#,
];

/// `zfpy.compress_numpy(numpy.arange(10, dtype="int32"), write_header=False)` of zfpy 1.0.1.post0.
const TEN: &[u8] =
    &[31, 0, 0, 0, 80, 31, 0, 0, 0, 12, 251, 0, 0, 0, 88, 40, 3, 0, 0, 0, 0, 0, 0, 0];

/// The same with its header.
const TEN_WITH_HEADER: &[u8] = &[
    122, 102, 112, 5, 144, 0, 0, 0, 0, 0, 0, 136, 31, 0, 0, 0, 80, 31, 0, 0, 0, 12, 251, 0, 0, 0,
    88, 40, 3, 0, 0, 0,
];

/// `zfpy.compress_numpy(numpy.arange(16, dtype="float32"), rate=0)`: blocks of 1 bit, fewer than
/// each begins with, so that the C library writes as many as there are.
const UNBOUNDED: &[u8] = &[
    122, 102, 112, 5, 242, 0, 0, 0, 0, 0, 240, 255, 0, 0, 0, 192, 175, 135, 55, 208, 78, 1, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 80, 208, 234, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 28, 180, 58, 5, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 7, 13, 78, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

#[test]
fn streams_of_the_c_library_are_read_under_every_name() {
    let expected: Vec<u8> = (0..10_i32).flat_map(i32::to_le_bytes).collect();
    for name in ["zfp", "zarrs.zfp", "https://codec.zarrs.dev/array_to_bytes/zfp"] {
        let codecs = format!(r#"[{{"name": "{name}", "configuration": {REVERSIBLE}}}]"#);
        let codec = codec(&codecs, "int32", &[10]);
        assert_eq!(decode_whole(&codec, TEN, &[0; 4]).expect("decodes"), expected);
        assert_eq!(encode(&codec, &expected, &[0; 4]).expect("encodes").1, TEN);
    }
    for name in ["numcodecs.zfpy", "https://codec.zarrs.dev/array_to_bytes/zfpy"] {
        let codec = codec(&format!(r#"[{{"name": "{name}"}}]"#), "int32", &[10]);
        assert_eq!(decode_whole(&codec, TEN_WITH_HEADER, &[0; 4]).expect("decodes"), expected);
        assert_eq!(encode(&codec, &expected, &[0; 4]).expect("encodes").1, TEN_WITH_HEADER);
    }
    // The shape and the mode of the header are those that count: numcodecs does not look at others.
    for (shape, mode) in [(&[5, 2][..], r#"{"mode": 2, "rate": 8}"#), (&[1, 10], "{}")] {
        let codec = codec(&zfpy(mode), "int32", shape);
        assert_eq!(decode_whole(&codec, TEN_WITH_HEADER, &[0; 4]).expect("decodes"), expected);
    }
}

/// Elements of every bit pattern.
fn random(random: &mut Random, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|_| u8::try_from(random.below(256)).expect("a byte")).collect()
}

const TYPES: [(&str, usize); 10] = [
    ("int8", 1),
    ("uint8", 1),
    ("int16", 2),
    ("uint16", 2),
    ("int32", 4),
    ("uint32", 4),
    ("int64", 8),
    ("uint64", 8),
    ("float32", 4),
    ("float64", 8),
];

const SHAPES: [&[u64]; 6] = [&[], &[9], &[5, 6], &[1, 7, 1], &[3, 2, 5], &[2, 5, 1, 6]];

#[test]
fn the_reversible_mode_keeps_every_bit() {
    let mut numbers = Random(5);
    for (name, size) in TYPES {
        for shape in SHAPES {
            let codec = codec(&zfp(REVERSIBLE), name, shape);
            let count = usize::try_from(shape.iter().product::<u64>()).expect("small");
            let mut elements = random(&mut numbers, count * size);
            if matches!(name, "uint32" | "uint64") {
                // Signed integers have no more.
                elements.iter_mut().skip(size - 1).step_by(size).for_each(|byte| *byte &= 0x7f);
            }
            let (_, encoded) = encode(&codec, &elements, &vec![0; size]).expect("encodes");
            let decoded = decode_whole(&codec, &encoded, &vec![0; size]).expect("decodes");
            assert_eq!(decoded, elements, "{name} {shape:?}");
        }
    }
}

#[test]
fn the_error_of_floats_is_at_most_the_tolerance() {
    let values: Vec<f64> = (0..600_i32).map(|n| f64::from(n * n % 977).sin() * 1e3).collect();
    let elements: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    for tolerance in [0.001, 0.5, 20.0] {
        let mode = format!(r#"{{"mode": "fixed_accuracy", "tolerance": {tolerance}}}"#);
        for shape in [&[600][..], &[20, 30], &[10, 6, 10], &[3, 10, 4, 5]] {
            let codec = codec(&zfp(&mode), "float64", shape);
            let (_, encoded) = encode(&codec, &elements, &[0; 8]).expect("encodes");
            let decoded = decode_whole(&codec, &encoded, &[0; 8]).expect("decodes");
            let worst = decoded
                .as_chunks()
                .0
                .iter()
                .zip(&values)
                .map(|(bytes, value)| (f64::from_le_bytes(*bytes) - value).abs());
            let worst = worst.fold(0.0, f64::max);
            assert!(worst <= tolerance, "{worst} with {tolerance} in {shape:?}");
        }
    }
}

/// Values that a mode would turn into anything are refused, unless loss is allowed.
#[test]
fn sd_49_values_that_a_mode_does_not_keep_are_refused() {
    let accuracy = zfp(r#"{"mode": "fixed_accuracy", "tolerance": 1}"#);
    let mut messages = Vec::new();
    let mut refused = |codecs: &str, name: &str, value: &[u8]| {
        let size = value.len();
        let elements = [&vec![0; size][..], value, &vec![0; size]].concat();
        let error = encode(&codec(codecs, name, &[3]), &elements, &vec![0; size]);
        messages.push(format!("{name}: {}", error.expect_err("refused")));
        let codec = lossy(codecs, name, &[3]);
        let (_, encoded) = encode(&codec, &elements, &vec![0; size]).expect("loss is allowed");
        assert!(decode_whole(&codec, &encoded, &vec![0; size]).is_ok());
    };
    refused(&accuracy, "float32", &f32::NAN.to_le_bytes());
    refused(&accuracy, "float64", &f64::NEG_INFINITY.to_le_bytes());
    refused(&accuracy, "int32", &(1_i32 << 30).to_le_bytes());
    refused(&accuracy, "int64", &(-(1_i64 << 62) - 1).to_le_bytes());
    refused(&accuracy, "uint32", &(1_u32 << 30).to_le_bytes());
    refused(&zfp(REVERSIBLE), "uint32", &(1_u32 << 31).to_le_bytes());
    refused(&zfp(REVERSIBLE), "uint64", &u64::MAX.to_le_bytes());
    refused(&zfpy(r#"{"mode": 3, "precision": 8}"#), "float32", &f32::INFINITY.to_le_bytes());
    insta::assert_snapshot!(messages.join("\n"));

    // What is just within.
    for value in [-(1 << 30), (1 << 30) - 1_i32] {
        let codec = codec(&accuracy, "int32", &[1]);
        assert!(encode(&codec, &value.to_le_bytes(), &[0; 4]).is_ok());
    }
}

#[test]
fn other_types_and_more_dimensions_are_refused() {
    let codecs = Codec::list_from_json(zfp(REVERSIBLE).as_bytes()).expect("codecs");
    for data_type in [DataType::Bool, DataType::Float16, DataType::Complex64, DataType::Int4] {
        let error = Chain::bind(&codecs, &data_type, &[AxisEdges::one(3)]).expect_err("refused");
        assert!(error.to_string().contains("$.codecs[0]"), "{error}");
    }
    let mut messages = Vec::new();
    let edges = [1, 1, 1, 1, 1].map(AxisEdges::one);
    let error = Chain::bind(&codecs, &DataType::Int32, &edges).expect_err("refused");
    messages.push(error.to_string());
    let codecs = Codec::list_from_json(zfpy("{}").as_bytes()).expect("codecs");
    let error = Chain::bind(&codecs, &DataType::Int8, &edges[..1]).expect_err("refused");
    messages.push(error.to_string());
    insta::assert_snapshot!(messages.join("\n"));
}

/// Streams of each mode, type and header.
fn streams() -> Vec<(String, &'static str, &'static [u64], Vec<u8>)> {
    let mut streams = Vec::new();
    for (name, size) in TYPES {
        for shape in [&[37][..], &[6, 9], &[3, 2, 5, 3]] {
            let count = usize::try_from(shape.iter().product::<u64>()).expect("small");
            let elements: Vec<u8> =
                (0..count * size)
                    .map(|at| {
                        if (at + 1) % size == 0 { 0 } else { u8::try_from(at % 7).expect("small") }
                    })
                    .collect();
            let mut chains: Vec<String> = MODES.iter().map(|mode| zfp(mode)).collect();
            if matches!(name, "int32" | "int64" | "float32" | "float64") {
                chains.push(zfpy("{}"));
                chains.push(zfpy(r#"{"mode": 2, "rate": 10.5}"#));
            }
            for chain in chains {
                let codec = codec(&chain, name, shape);
                let (_, encoded) = encode(&codec, &elements, &vec![1; size]).expect("encodes");
                streams.push((chain, name, shape, encoded));
            }
        }
    }
    streams
}

#[test]
fn damaged_streams_are_errors_or_other_elements() {
    let mut random = Random(11);
    for (chain, name, shape, stream) in streams() {
        let size = TYPES.iter().find(|(known, _)| *known == name).expect("known").1;
        let count = usize::try_from(shape.iter().product::<u64>()).expect("small");
        let codec = codec(&chain, name, shape);
        let fill = vec![0; size];
        let whole = decode_whole(&codec, &stream, &fill).expect("decodes");
        // A stream that is cut short is an error. Bytes that only fill up its last word may be
        // missing: then the elements are the same.
        for length in 0..stream.len() {
            match decode_whole(&codec, &stream[..length], &fill) {
                Ok(elements) => {
                    assert!(length + 8 > stream.len(), "{chain} {name} {shape:?} cut to {length}");
                    assert_eq!(elements, whole, "{chain} {name} {shape:?} cut to {length}");
                }
                Err(error) => assert!(error.to_string().contains("zfp"), "{error}"),
            }
        }
        for rest in [&[0][..], &[0; 8], &[1; 24]] {
            assert!(decode_whole(&codec, &[&stream[..], rest].concat(), &fill).is_err());
        }
        for round in 0..300 {
            let mut damaged = stream.clone();
            for _ in 0..1 + round % 5 {
                let at = random.below(damaged.len());
                damaged[at] = u8::try_from(random.below(256)).expect("a byte");
            }
            // Not a panic, and never other than so many elements.
            if let Ok(elements) = decode_whole(&codec, &damaged, &fill) {
                assert_eq!(elements.len(), count * size);
            }
        }
    }
}

#[test]
fn sd_35_shapes_that_a_stream_cannot_have_are_refused_before_memory_is_taken() {
    let mut messages = Vec::new();
    // More blocks than the stream has bits.
    let codec = self::codec(&zfp(REVERSIBLE), "float64", &[1 << 12, 1 << 10, 1 << 10]);
    messages.push(decode_one(&codec, 8, TEN));
    // Or than it has room for, at a fixed rate.
    let codec = self::codec(&zfp(r#"{"mode": "fixed_rate", "rate": 64}"#), "float64", &[1 << 20]);
    messages.push(decode_one(&codec, 8, &[0; 1 << 10]));
    let codec = self::codec(&zfpy("{}"), "int32", &[1 << 30]);
    messages.push(decode_one(&codec, 4, TEN_WITH_HEADER));
    // A header of other elements.
    let codec = self::codec(&zfpy("{}"), "int32", &[11]);
    messages.push(decode_one(&codec, 4, TEN_WITH_HEADER));
    let codec = self::codec(&zfpy("{}"), "float32", &[10]);
    messages.push(decode_one(&codec, 4, TEN_WITH_HEADER));
    let codec = self::codec(&zfpy("{}"), "int32", &[10]);
    messages.push(decode_one(&codec, 4, TEN));
    messages.push(decode_one(&codec, 4, &[]));
    messages.push(decode_one(&codec, 4, &TEN_WITH_HEADER[..20]));

    let codec = self::codec(&zfpy("{}"), "float32", &[16]);
    messages.push(decode_one(&codec, 4, UNBOUNDED));

    insta::assert_snapshot!(messages.join("\n"));

    // Out of a compressor behind it, as much as a stream can have.
    let codecs =
        zfp(REVERSIBLE).replace("}}]", r#"}}, {"name": "gzip", "configuration": {"level": 9}}]"#);
    let codec = self::codec(&codecs, "int8", &[8]);
    let (_, encoded) = encode(&codec, &[1; 8], &[0]).expect("encodes");
    assert_eq!(decode_whole(&codec, &encoded, &[0]).expect("decodes"), [1; 8]);
}

/// The error of decoding one element, so that the memory is that of the codec.
fn decode_one(codec: &ChunkCodec, size: usize, encoded: &[u8]) -> String {
    let view = View::contiguous(&vec![1; codec.shape().len()]).expect("small");
    let mut element = vec![0; size];
    let mut out = Output::new(&mut element, &view, size).expect("fits");
    let region = vec![Slice { start: 0, count: 1, step: 1 }; codec.shape().len()];
    let fill = vec![0; size];
    let decoded = codec.decode(encoded, &region, &mut out, &fill, &mut Scratch::new());
    decoded.expect_err("no such stream").to_string()
}
