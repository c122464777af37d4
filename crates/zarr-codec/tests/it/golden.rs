//! Bytes computed by hand from the documents.

use zarr_codec::{AxisEdges, Encoded};

use crate::support::{bind, codec, decode_whole, encode};

fn elements<const N: usize>(values: &[[u8; N]]) -> Vec<u8> {
    values.concat()
}

/// Encodes to exactly these bytes and decodes from them.
fn both_ways(codecs: &str, name: &str, shape: &[u64], elements: &[u8], encoded: &[u8]) {
    let size = elements.len() / usize::try_from(shape.iter().product::<u64>()).expect("small");
    let codec = codec(codecs, name, shape);
    let fill = vec![0; size];
    let (_, found) = encode(&codec, elements, &fill).expect("encodes");
    assert_eq!(found, encoded, "encoded by {codecs}");
    assert_eq!(decode_whole(&codec, encoded, &fill).expect("decodes"), elements, "by {codecs}");
}

const PACKBITS: &str = r#"[{"name": "packbits"}]"#;
const LITTLE: &str = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
const BIG: &str = r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#;

#[test]
fn sd_10_the_first_element_is_the_least_significant_bit() {
    both_ways(PACKBITS, "bool", &[9], &[1, 0, 0, 0, 0, 0, 0, 0, 1], &[0x01, 0x01]);
    both_ways(PACKBITS, "uint4", &[3], &[1, 2, 3], &[0x21, 0x03]);
    // A full-width type has the bytes of `bytes` in little endian.
    let values = [0x34, 0x12, 0x78, 0x56];
    both_ways(PACKBITS, "uint16", &[2], &values, &values);
    both_ways(LITTLE, "uint16", &[2], &values, &values);
}

#[test]
fn sd_11_numcodecs_packs_the_most_significant_bit_first() {
    let numcodecs = r#"[{"name": "numcodecs.packbits"}, {"name": "bytes"}]"#;
    let codec = codec(numcodecs, "bool", &[8]);
    let first_set = [1, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(decode_whole(&codec, &[0x00, 0x80], &[0]).expect("decodes"), first_set);
    let ours = r#"[{"name": "packbits", "configuration": {"padding_encoding": "first_byte"}}]"#;
    both_ways(ours, "bool", &[8], &first_set, &[0x00, 0x01]);

    // The padding byte counts the bits that fill up the last byte.
    let codec = self::codec(numcodecs, "bool", &[2, 5]);
    let found = decode_whole(&codec, &[6, 0b1000_0001, 0b0100_0000], &[0]).expect("decodes");
    assert_eq!(found, [1, 0, 0, 0, 0, 0, 0, 1, 0, 1]);
    let error = decode_whole(&codec, &[5, 0x81, 0x40], &[0]).expect_err("wrong padding");
    insta::assert_snapshot!(error, @"codec numcodecs.packbits ($.codecs[0]): padding byte at 0 is 5: 10 elements of 1 bit leave 6 padding bits");
}

#[test]
fn sd_11_numcodecs_is_read_only() {
    let numcodecs = r#"[{"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "numcodecs.packbits"}, {"name": "bytes"}, {"name": "crc32c"}]"#;
    let chain = bind(numcodecs, "bool", &[AxisEdges::one(2), AxisEdges::one(5)]).expect("binds");
    let error = chain.check_writable().expect_err("read only");
    insta::assert_snapshot!(error, @"$.codecs[1]: codec numcodecs.packbits: can be read here but not written");
    let codec = chain.for_shape(&[2, 5]).expect("fits");
    let error = encode(&codec, &[0; 10], &[0]).expect_err("read only");
    insta::assert_snapshot!(error, @"codec numcodecs.packbits ($.codecs[1]): can be read here but not written");
}

#[test]
fn squeeze_removes_the_dimensions_of_size_1() {
    let codecs = r#"[{"name": "zarrs.squeeze"},
        {"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes"}]"#;
    both_ways(codecs, "uint8", &[1, 2, 1, 3], &[0, 1, 2, 3, 4, 5], &[0, 3, 1, 4, 2, 5]);
    // Where nothing else is left there is one dimension, as in zarrs.
    let codecs = r#"[{"name": "https://codec.zarrs.dev/array_to_array/squeeze"},
        {"name": "transpose", "configuration": {"order": [0]}}, {"name": "bytes"}]"#;
    for shape in [&[][..], &[1], &[1, 1, 1]] {
        both_ways(codecs, "uint8", shape, &[7], &[7]);
    }
    // Edges may vary, if the same dimensions are removed from every chunk.
    let codecs = r#"[{"name": "zarrs.squeeze"}, {"name": "bytes"}]"#;
    let chain = bind(codecs, "uint8", &[AxisEdges::of([2, 3]), AxisEdges::one(1)]).expect("binds");
    for length in [2, 3] {
        assert_eq!(chain.for_shape(&[length, 1]).expect("fits").encoded_len(), Some(length));
    }
    let error = bind(codecs, "uint8", &[AxisEdges::of([1, 3])]).expect_err("varies");
    insta::assert_snapshot!(error, @"$.codecs[0]: codec zarrs.squeeze: dimension 0, axis 0 (1 to 3), would be removed from some chunks and not from others, which is not supported");
}

#[test]
fn sd_13_the_sign_is_extended_from_last_bit() {
    let codecs = r#"[{"name": "packbits", "configuration": {"last_bit": 6}}]"#;
    let values = [-1_i16, -2, -64, 63, 0].map(i16::to_le_bytes);
    both_ways(codecs, "int16", &[5], &elements(&values), &[0x7f, 0x3f, 0xf0, 0x07, 0x00]);
    let codecs = r#"[{"name": "packbits", "configuration": {"last_bit": 9}}]"#;
    let values = [-1_i32, 511, -512, 1].map(i32::to_le_bytes);
    both_ways(codecs, "int32", &[4], &elements(&values), &[0xff, 0xff, 0x07, 0x60, 0x00]);
}

#[test]
fn sd_14_full_width_types_have_their_padding_byte() {
    let codecs = r#"[{"name": "packbits", "configuration": {"padding_encoding": "first_byte"}}]"#;
    both_ways(codecs, "int16", &[2], &[1, 0, 2, 0], &[0, 1, 0, 2, 0]);
    let codec = codec(codecs, "int16", &[2]);
    let error = decode_whole(&codec, &[1, 0, 2, 0], &[0, 0]).expect_err("no padding byte");
    assert!(error.to_string().contains("zarrs"), "{error}");
}

#[test]
fn sd_16_padding_bits_are_ignored() {
    let codec = codec(PACKBITS, "bool", &[3]);
    assert_eq!(decode_whole(&codec, &[0xfd], &[0]).expect("decodes"), [1, 0, 1]);
}

#[test]
fn sd_18_upper_bits_are_ignored_and_extended_anew() {
    let bytes = r#"[{"name": "bytes"}]"#;
    let codec = codec(bytes, "int4", &[2]);
    // One TensorStore chunk held both for -3.
    assert_eq!(decode_whole(&codec, &[0xfd, 0x0d], &[0]).expect("decodes"), [0xfd, 0xfd]);
    assert_eq!(encode(&codec, &[0xfd, 0x07], &[0]).expect("encodes").1, [0xfd, 0x07]);
    let codec = self::codec(bytes, "uint4", &[2]);
    assert_eq!(decode_whole(&codec, &[0xfd, 0x0d], &[0]).expect("decodes"), [0x0d, 0x0d]);
    let codec = self::codec(bytes, "float6_e2m3fn", &[1]);
    assert_eq!(decode_whole(&codec, &[0xff], &[0]).expect("decodes"), [0x3f]);
}

#[test]
fn sd_48_elements_equal_the_fill_value_bit_by_bit() {
    // -0.0 differs from 0.0, and two NaNs with different payloads differ.
    let codec = codec(BIG, "float32", &[2]);
    let zeros = [0.0_f32, 0.0].map(f32::to_le_bytes).concat();
    let signed = [0.0_f32, -0.0].map(f32::to_le_bytes).concat();
    let fill = 0.0_f32.to_le_bytes();
    assert_eq!(encode(&codec, &zeros, &fill).expect("encodes").0, Encoded::Empty);
    assert_eq!(encode(&codec, &signed, &fill).expect("encodes").0, Encoded::Chunk);
    let nan = [0x7fc0_0001_u32, 0x7fc0_0001].map(u32::to_le_bytes).concat();
    let payload = 0x7fc0_0001_u32.to_le_bytes();
    let other = 0x7fc0_0000_u32.to_le_bytes();
    assert_eq!(encode(&codec, &nan, &payload).expect("encodes").0, Encoded::Empty);
    assert_eq!(encode(&codec, &nan, &other).expect("encodes").0, Encoded::Chunk);
}

#[test]
fn sd_50_types_that_the_document_leaves_out() {
    both_ways(PACKBITS, "float16", &[1], &[0x00, 0x3c], &[0x00, 0x3c]);
    both_ways(PACKBITS, "float8_e5m2", &[2], &[1, 2], &[1, 2]);
    both_ways(PACKBITS, "float6_e2m3fn", &[2], &[0x3f, 0x01], &[0x7f, 0x00]);
}

#[test]
fn sd_51_the_real_part_comes_first_and_swaps_by_itself() {
    let value = [[1, 2, 3, 4], [5, 6, 7, 8]];
    both_ways(BIG, "complex64", &[1], &elements(&value), &[4, 3, 2, 1, 8, 7, 6, 5]);
    let codecs = r#"[{"name": "packbits", "configuration": {"last_bit": 3}}]"#;
    both_ways(codecs, "complex64", &[1], &[1, 0, 0, 0, 2, 0, 0, 0], &[0x21]);
}

#[test]
fn sd_52_booleans_are_0_or_1() {
    let codec = codec(r#"[{"name": "bytes"}]"#, "bool", &[3]);
    let error = decode_whole(&codec, &[1, 0, 2], &[0]).expect_err("2 is no boolean");
    insta::assert_snapshot!(error, @"codec bytes ($.codecs[0]): element 2 is the boolean byte 2; 0 and 1 are allowed");
    let error = encode(&codec, &[1, 255, 0], &[0]).expect_err("255 is no boolean");
    insta::assert_snapshot!(error, @"codec bytes ($.codecs[0]): element 1 is the boolean byte 255; 0 and 1 are allowed");
}

#[test]
fn sd_64_transpose_order_that_is_not_its_own_inverse() {
    let codecs =
        r#"[{"name": "transpose", "configuration": {"order": [2, 0, 1]}}, {"name": "bytes"}]"#;
    let codec = codec(codecs, "uint8", &[2, 3, 4]);
    assert_eq!(codec.transform().stored_shape(), [4, 2, 3]);
    let decoded: Vec<u8> = (0..24).collect();
    // Encoded element (k, i, j) is element (i, j, k), which is i * 12 + j * 4 + k.
    let mut encoded = Vec::new();
    for k in 0..4 {
        for i in 0..2 {
            for j in 0..3 {
                encoded.push(i * 12 + j * 4 + k);
            }
        }
    }
    both_ways(codecs, "uint8", &[2, 3, 4], &decoded, &encoded);
}

/// A consistent other order would pass round trips: these are the elements of the document's
/// `ravel(B) == ravel(A)`, in C order, as a transpose before and after the reshape shows them.
#[test]
fn reshape_keeps_the_elements_in_c_order() {
    let reshape = r#"{"name": "reshape", "configuration": {"shape": [3, -1]}}"#;
    let transpose = r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#;
    let chain = |codecs: &[&str]| format!(r#"[{}, {{"name": "bytes"}}]"#, codecs.join(", "));
    // A = [[0, 1, 2], [3, 4, 5]]
    let a = [0, 1, 2, 3, 4, 5];
    both_ways(&chain(&[reshape]), "uint8", &[2, 3], &a, &a);
    // B = [[0, 1], [2, 3], [4, 5]], stored column by column
    both_ways(&chain(&[reshape, transpose]), "uint8", &[2, 3], &a, &[0, 2, 4, 1, 3, 5]);
    // A turned: [[0, 3], [1, 4], [2, 5]], then ravelled and stored in two rows column by column
    let rows = r#"{"name": "reshape", "configuration": {"shape": [2, 3]}}"#;
    both_ways(&chain(&[transpose, rows]), "uint8", &[2, 3], &a, &[0, 3, 1, 4, 2, 5]);
    let turned = chain(&[transpose, rows, transpose]);
    both_ways(&turned, "uint8", &[2, 3], &a, &[0, 4, 3, 2, 1, 5]);
    // The same for an entry that merges two dimensions, and elements of two bytes.
    let merged = r#"{"name": "reshape", "configuration": {"shape": [[0], [1, 2]]}}"#;
    let merged = format!(r#"[{merged}, {transpose}, {}"#, &BIG[1..]);
    let elements: Vec<u8> = (0..8_u16).flat_map(u16::to_le_bytes).collect();
    let stored: Vec<u8> =
        [0_u16, 4, 1, 5, 2, 6, 3, 7].into_iter().flat_map(u16::to_be_bytes).collect();
    both_ways(&merged, "uint16", &[2, 2, 2], &elements, &stored);
}

#[test]
fn sd_30_no_dimensions_have_the_empty_order() {
    let codecs = r#"[{"name": "transpose", "configuration": {"order": []}}, {"name": "bytes"}]"#;
    both_ways(codecs, "uint8", &[], &[7], &[7]);
}

#[test]
fn sd_22_empty_entries_and_an_empty_shape() {
    let codecs =
        r#"[{"name": "reshape", "configuration": {"shape": [[], 2, []]}}, {"name": "bytes"}]"#;
    assert_eq!(codec(codecs, "uint8", &[2]).transform().stored_shape(), [1, 2, 1]);
    let codecs = r#"[{"name": "reshape", "configuration": {"shape": []}}, {"name": "bytes"}]"#;
    both_ways(codecs, "uint8", &[1, 1], &[7], &[7]);
    assert!(bind(codecs, "uint8", &[AxisEdges::one(2)]).is_err());
}

#[test]
fn sd_20_sd_21_reshapes_that_the_document_allows() {
    for (input, entries, output) in [
        (&[12, 10][..], "[3, 4, [1]]", &[3, 4, 10][..]),
        (&[6, 4], "[[0], -1, [1]]", &[6, 1, 4]),
        (&[2, 1, 2], "[[0, 2]]", &[4]),
        (&[5, 10, 20], "[[0], [1, 2]]", &[5, 200]),
        (&[5, 10, 20], "[[0, 1], 4, 5]", &[50, 4, 5]),
    ] {
        let codecs = format!(
            r#"[{{"name": "reshape", "configuration": {{"shape": {entries}}}}}, {{"name": "bytes"}}]"#
        );
        assert_eq!(codec(&codecs, "uint8", input).transform().stored_shape(), output, "{entries}");
    }
}
