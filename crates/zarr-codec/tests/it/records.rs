//! Records, strings and times through `bytes`, where byte order does not reverse the whole
//! element.

use zarr_codec::{AxisEdges, Chain, ChainError, ChunkCodec, Encoded, Order, Scratch};
use zarr_metadata::{Codec, DataType, Struct, TimeStep, TimeUnit, Utf32Length};

use crate::support::{decode, decode_whole, encode, everything};

fn record<const N: usize>(fields: [(&str, DataType); N]) -> DataType {
    DataType::Struct(Struct::new(fields).expect("a record"))
}

/// 13 bytes: the example of the document.
fn sample() -> DataType {
    record([("id", DataType::Int32), ("flags", DataType::Uint8), ("value", DataType::Float64)])
}

/// Every kind of component, in a record within a record.
fn mixed() -> DataType {
    let inner = record([("pair", DataType::Complex64), ("valid", DataType::Bool)]);
    record([
        ("narrow", DataType::Int4),
        ("inner", inner),
        ("text", DataType::FixedLengthUtf32(Utf32Length::new(2).expect("a length"))),
        ("time", DataType::NumpyTimedelta64(TimeStep::from(TimeUnit::Second))),
        ("half", DataType::Float16),
    ])
}

fn bind(codecs: &str, data_type: &DataType, shape: &[u64]) -> Result<ChunkCodec, ChainError> {
    let codecs = Codec::list_from_json(codecs.as_bytes()).expect("codecs in a valid order");
    let edges: Vec<AxisEdges> = shape.iter().map(|edge| AxisEdges::one(*edge)).collect();
    Chain::bind(&codecs, data_type, &edges)?.for_shape(shape)
}

const LITTLE: &str = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
const BIG: &str = r#"{"name": "bytes", "configuration": {"endian": "big"}}"#;
const TRANSPOSE: &str = r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#;

fn shard(codecs: &str) -> String {
    format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [2, 2],
        "codecs": [{codecs}], "index_codecs": [{LITTLE}]}}}}"#
    )
}

#[test]
fn sd_71_each_field_is_in_the_byte_order_of_the_codec() {
    let memory =
        [1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 2, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0xc0];
    let big =
        [0, 0, 0, 1, 7, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 8, 0xc0, 0, 0, 0, 0, 0, 0, 0];
    for (endian, stored) in [(LITTLE, memory), (BIG, big)] {
        let codec = bind(&format!("[{endian}]"), &sample(), &[2]).expect("binds");
        let (content, encoded) = encode(&codec, &memory, &[0; 13]).expect("encodes");
        assert_eq!((content, encoded.as_slice()), (Encoded::Chunk, &stored[..]));
        assert_eq!(decode_whole(&codec, &stored, &[0; 13]).expect("decodes"), memory);
    }
}

#[test]
fn sd_70_code_units_and_times_are_swapped_by_themselves() {
    let text = DataType::FixedLengthUtf32(Utf32Length::new(3).expect("a length"));
    let codec = bind(&format!("[{BIG}]"), &text, &[1]).expect("binds");
    let memory = [0x48, 0, 0, 0, 0x69, 0, 0, 0, 0, 0, 0, 0];
    let (_, encoded) = encode(&codec, &memory, &[0; 12]).expect("encodes");
    assert_eq!(encoded, [0, 0, 0, 0x48, 0, 0, 0, 0x69, 0, 0, 0, 0]);
    assert_eq!(decode_whole(&codec, &encoded, &[0; 12]).expect("decodes"), memory);
    let time = DataType::NumpyDatetime64(TimeStep::from(TimeUnit::Day));
    let codec = bind(&format!("[{BIG}]"), &time, &[1]).expect("binds");
    let (_, encoded) = encode(&codec, &258_i64.to_le_bytes(), &[0; 8]).expect("encodes");
    assert_eq!(encoded, 258_i64.to_be_bytes());
}

/// The elements as each chain must store them, computed without the crate.
fn stored(
    data_type: &DataType,
    elements: &[u8],
    size: usize,
    big: bool,
    transposed: bool,
) -> Vec<u8> {
    let mut rows: Vec<Vec<u8>> = elements.chunks(size).map(<[u8]>::to_vec).collect();
    if transposed {
        // A chunk of 4 x 6.
        rows = (0..24).map(|n| rows[n % 4 * 6 + n / 4].clone()).collect();
    }
    if big {
        for part in data_type.parts() {
            let layout = part.layout;
            for row in &mut rows {
                let field = &mut row[part.offset..part.offset + layout.size()];
                field.chunks_mut(layout.swap_unit).for_each(<[u8]>::reverse);
            }
        }
    }
    rows.concat()
}

fn elements_of(data_type: &DataType, count: usize) -> Vec<u8> {
    let size = data_type.size().expect("a size");
    let mut state = 7_u32;
    let mut elements: Vec<u8> = (0..count * size)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        })
        .collect();
    for element in elements.chunks_mut(size) {
        for part in data_type.parts() {
            match part.data_type {
                DataType::Bool => element[part.offset] &= 1,
                DataType::Int4 => {
                    element[part.offset] =
                        ((element[part.offset] << 4).cast_signed() >> 4).cast_unsigned();
                }
                _ => {}
            }
        }
    }
    elements
}

#[test]
fn sd_71_every_way_through_a_chunk_keeps_records() {
    let shape = [4, 6];
    let types = [
        sample(),
        mixed(),
        record([("x", DataType::Float32), ("y", DataType::Float32)]),
        record([("a", DataType::Uint8), ("b", DataType::Bool)]),
        DataType::FixedLengthUtf32(Utf32Length::new(3).expect("a length")),
    ];
    for data_type in &types {
        let size = data_type.size().expect("a size");
        let elements = elements_of(data_type, 24);
        let fill = vec![0; size];
        for (endian, big) in [(LITTLE, false), (BIG, true)] {
            let plain =
                [(format!("[{endian}]"), false), (format!("[{TRANSPOSE}, {endian}]"), true)];
            for (codecs, transposed) in plain {
                let codec = bind(&codecs, data_type, &shape).expect("binds");
                let expected = stored(data_type, &elements, size, big, transposed);
                let (_, encoded) = encode(&codec, &elements, &fill).expect("encodes");
                assert_eq!(encoded, expected, "{data_type:?} {codecs}");
                assert_eq!(decode_whole(&codec, &expected, &fill).expect("decodes"), elements);
            }
            // Compressed, in shards with and without compression, and both at once transposed.
            let others = [
                format!(r#"[{endian}, "crc32c"]"#),
                format!(r#"[{TRANSPOSE}, {endian}, "crc32c", "crc32c"]"#),
                format!("[{}]", shard(endian)),
                format!("[{TRANSPOSE}, {}]", shard(&format!(r#"{TRANSPOSE}, {endian}, "crc32c""#))),
                format!("[{}]", shard(&format!(r#"{TRANSPOSE}, {endian}"#))),
            ];
            for codecs in others {
                let codec = bind(&codecs, data_type, &shape).expect("binds");
                let (content, encoded) = encode(&codec, &elements, &fill).expect("encodes");
                assert_eq!(content, Encoded::Chunk);
                let found = decode_whole(&codec, &encoded, &fill).expect("decodes");
                assert_eq!(found, elements, "{data_type:?} {codecs}");
                // A part, and all elements to be changed and encoded again.
                let mut scratch = Scratch::new();
                let mut region = everything(&codec);
                region[1] = (1..4).into();
                let part = decode(&codec, &encoded, &region, &fill, &mut scratch).expect("decodes");
                let rows = elements.chunks(6 * size);
                let expected: Vec<u8> = rows.flat_map(|row| row[size..4 * size].to_vec()).collect();
                assert_eq!(part, expected, "{data_type:?} {codecs}");
                for order in [Order::C, Order::Stored] {
                    let mut chunk = encoded.clone();
                    let mut decoded = codec
                        .decode_elements(&mut chunk, order, &fill, &mut scratch)
                        .expect("decodes");
                    let (view, bytes) = decoded.parts_mut();
                    let position = view.position(&[2, 3]).expect("within") * size;
                    let at = (2 * 6 + 3) * size;
                    assert_eq!(bytes[position..][..size], elements[at..][..size]);
                    codec
                        .encode_elements(decoded, &fill, &mut chunk, &mut scratch)
                        .expect("encodes");
                    assert_eq!(chunk, encoded, "{data_type:?} {codecs} {order:?}");
                }
            }
        }
    }
}

#[test]
fn a_chunk_of_fill_values_is_empty_in_either_byte_order() {
    let fill = elements_of(&mixed(), 1);
    for codecs in [format!("[{BIG}]"), format!("[{LITTLE}]"), format!(r#"[{BIG}, "crc32c"]"#)] {
        let codec = bind(&codecs, &mixed(), &[4, 6]).expect("binds");
        let (content, encoded) = encode(&codec, &fill.repeat(24), &fill).expect("encodes");
        assert_eq!(content, Encoded::Empty, "{codecs}");
        assert_eq!(decode_whole(&codec, &encoded, &fill).expect("decodes"), fill.repeat(24));
    }
}

#[test]
fn sd_52_a_bool_in_a_record_is_0_or_1() {
    let data_type = record([("a", DataType::Uint8), ("b", DataType::Bool)]);
    let codec = bind(r#"["bytes"]"#, &data_type, &[3]).expect("binds");
    let bad = [9, 1, 9, 0, 9, 2];
    let error = decode_whole(&codec, &bad, &[0; 2]).expect_err("no bool");
    insta::assert_snapshot!(error, @"codec bytes ($.codecs[0]): element 2 is the boolean byte 2; 0 and 1 are allowed");
    assert!(encode(&codec, &bad, &[0; 2]).is_err());
}

#[test]
fn sd_18_a_field_of_4_bits_is_extended() {
    let data_type = record([("a", DataType::Uint8), ("b", DataType::Int4)]);
    let codec = bind(r#"["bytes"]"#, &data_type, &[2]).expect("binds");
    let found = decode_whole(&codec, &[0xff, 0x0d, 0x0d, 0x72], &[0; 2]).expect("decodes");
    assert_eq!(found, [0xff, 0xfd, 0x0d, 0x02]);
    let (_, encoded) = encode(&codec, &found, &[0; 2]).expect("encodes");
    assert_eq!(encoded, found);
    let error = encode(&codec, &[0xff, 0xfd, 0x0d, 0x72], &[0; 2]).expect_err("out of range");
    insta::assert_snapshot!(error, @"codec bytes ($.codecs[0]): element 1 has the bits 0x72, and the codec would drop some of them");
}

#[test]
fn sd_53_records_need_a_byte_order_where_a_field_does() {
    let error = bind(r#"["bytes"]"#, &sample(), &[2]).expect_err("no byte order");
    insta::assert_snapshot!(error, @r#"$.codecs[0].configuration.endian: codec bytes: data type struct needs `endian`, "little" or "big""#);
    assert!(bind(r#"["bytes"]"#, &record([("a", DataType::Int8)]), &[2]).is_ok());
}

#[test]
fn sd_50_packbits_takes_no_times_strings_or_records() {
    let time = DataType::NumpyDatetime64(TimeStep::from(TimeUnit::Second));
    let text = DataType::FixedLengthUtf32(Utf32Length::new(1).expect("a length"));
    for data_type in [time, text, record([("a", DataType::Uint8)])] {
        assert!(bind(r#"["packbits"]"#, &data_type, &[2]).is_err(), "{data_type:?}");
    }
}
