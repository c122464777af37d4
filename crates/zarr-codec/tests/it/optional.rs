//! `zarrs.optional`: compared with chunks of zarrs, with the chains of the mask and of the values,
//! and chunks that lie.

use zarr_codec::{
    AnyChain, AxisEdges, ChunkErrorKind, Encoded, Options, VariableChain, VariableChunkCodec,
};
use zarr_metadata::{Codec, DataType, Optional};

use crate::support::{codec as fixed, encode as encode_fixed};

fn of(inner: DataType) -> DataType {
    DataType::ZarrsOptional(Optional::new(inner).expect("a type with known elements"))
}

fn chain(mask: &str, data: &str) -> String {
    format!(
        r#"{{"name": "zarrs.optional", "configuration": {{"mask_codecs": [{mask}],
            "data_codecs": [{data}]}}}}"#
    )
}

const PACKBITS: &str = r#"{"name": "packbits"}"#;
const BYTES: &str = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;

fn bound(codecs: &str, data_type: &DataType, shape: &[u64]) -> VariableChunkCodec {
    let codecs = Codec::list_from_json(format!("[{codecs}]").as_bytes()).expect("codecs");
    let edges: Vec<AxisEdges> = shape.iter().map(|edge| AxisEdges::one(*edge)).collect();
    let options = Options::new().unknown_decoded_len(1 << 20);
    let chain = AnyChain::bind_with(&codecs, data_type, &edges, options).expect("binds");
    let AnyChain::Variable(chain) = chain else { panic!("of fixed size") };
    chain.for_shape(shape).expect("fits")
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<char> = hex.chars().filter(char::is_ascii_hexdigit).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Chunks of 2 x 2 of the arrays `array_optional` and `array_optional_nested`, as zarrs wrote them.
#[test]
fn chunks_are_those_of_zarrs() {
    let once = bound(&chain(PACKBITS, BYTES), &of(DataType::Uint8), &[2, 2]);
    let twice = chain(PACKBITS, &chain(PACKBITS, BYTES));
    let twice = bound(&twice, &of(of(DataType::Uint8)), &[2, 2]);
    let cases: [(_, [&[u8]; 4], _); 6] = [
        (&once, [&[0, 1], &[0], &[0], &[5, 1]], "0100000000000000 0200000000000000 09 0005"),
        (&once, [&[2, 1], &[3, 1], &[0], &[7, 1]], "0100000000000000 0300000000000000 0b 020307"),
        (&once, [&[8, 1], &[9, 1], &[12, 1], &[0]], "0100000000000000 0300000000000000 07 08090c"),
        (
            &twice,
            [&[0], &[0, 1], &[0], &[5, 1, 1]],
            "0100000000000000 1200000000000000 0a
                 0100000000000000 0100000000000000 02 05",
        ),
        (
            &twice,
            [&[2, 1, 1], &[3, 1, 1], &[0], &[7, 1, 1]],
            "0100000000000000 1400000000000000 0b
                 0100000000000000 0300000000000000 07 020307",
        ),
        (&twice, [&[0]; 4], "0100000000000000 0000000000000000 00"),
    ];
    for (codec, elements, hex) in cases {
        let mut chunk = vec![1, 2, 3];
        assert_eq!(codec.encode(&elements, b"?", &mut chunk), Ok(Encoded::Chunk));
        assert_eq!(chunk, bytes(hex));
        assert!(codec.decode_all(&chunk, b"?").expect("decodes").iter().eq(elements));
        for first in 0..4 {
            let decoded = codec.decode_at(&chunk, &[first, 0], b"?").expect("decodes");
            assert!(decoded.iter().eq([elements[first], elements[0]]));
        }
    }
}

/// The two parts are what chains of their own make of a mask and of values.
#[test]
fn the_mask_and_the_values_have_chains_of_their_own() {
    let turn = r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#;
    let shard = r#"{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 1],
        "codecs": [{"name": "bytes"}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}"#;
    let big = r#"{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "crc32c"}"#;
    for mask in [PACKBITS, shard, &format!("{turn}, {PACKBITS}")] {
        for values in [BYTES, big] {
            for before in ["", turn] {
                let comma = if before.is_empty() { "" } else { ", " };
                let codecs = format!("{before}{comma}{}", chain(mask, values));
                let codec = bound(&codecs, &of(DataType::Uint16), &[2, 3]);
                let there = [1, 0, 1, 1, 0, 1];
                let elements: Vec<Vec<u8>> = (0_u8..6)
                    .map(|n| if there[usize::from(n)] == 1 { vec![n, 7, 1] } else { vec![0] })
                    .collect();
                let elements: Vec<&[u8]> = elements.iter().map(Vec::as_slice).collect();
                let mut chunk = Vec::new();
                codec.encode(&elements, &[0], &mut chunk).expect("encodes");
                let order: [usize; 6] =
                    if before.is_empty() { [0, 1, 2, 3, 4, 5] } else { [0, 3, 1, 4, 2, 5] };
                let shape: [u64; 2] = if before.is_empty() { [2, 3] } else { [3, 2] };
                let stored: Vec<u8> = order.iter().map(|at| there[*at]).collect();
                let numbers: Vec<u8> = order
                    .iter()
                    .filter(|at| there[**at] == 1)
                    .flat_map(|at| [u8::try_from(*at).unwrap(), 7])
                    .collect();
                let mask = fixed(&format!("[{mask}]"), "bool", &shape);
                let (_, mask) = encode_fixed(&mask, &stored, &[0]).expect("encodes");
                let values = fixed(&format!("[{values}]"), "uint16", &[4]);
                let (_, values) = encode_fixed(&values, &numbers, &[0, 0]).expect("encodes");
                let lengths = [mask.len(), values.len()].map(|n| u64::try_from(n).unwrap());
                let lengths = lengths.map(u64::to_le_bytes).concat();
                assert_eq!(chunk, [lengths, mask, values].concat());
                assert!(codec.decode_all(&chunk, &[0]).expect("decodes").iter().eq(elements));
            }
        }
    }
}

#[test]
fn strings_may_be_missing_and_stored_in_shards() {
    let inner = chain(PACKBITS, r#"{"name": "vlen-utf8"}"#);
    let shard = format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [2], "codecs": [{inner}],
            "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}}}"#
    );
    let codec = bound(&shard, &of(DataType::String), &[4]);
    let elements: [&[u8]; 4] = [&[0], &[0], b"\xc3\xa9\x01", &[1]];
    let mut chunk = Vec::new();
    codec.encode(&elements, &[0], &mut chunk).expect("encodes");
    // The first inner chunk is left out, the second has "é" and "".
    let inner = bytes("0100000000000000 0e00000000000000 03 02000000 02000000 c3a9 00000000");
    let entry = [0, u64::try_from(inner.len()).unwrap()].map(u64::to_le_bytes).concat();
    assert_eq!(chunk, [&inner[..], &[0xff; 16], &entry].concat());
    assert!(codec.decode_all(&chunk, &[0]).expect("decodes").iter().eq(elements));
    let wrong = codec.encode(&[&[0], &[0], b"\xc3\x01", &[0]], &[0], &mut chunk);
    assert!(wrong.expect_err("refused").to_string().contains("UTF-8"));
}

#[test]
fn chunks_that_lie_are_refused() {
    let codec = bound(&chain(PACKBITS, BYTES), &of(DataType::Uint8), &[4]);
    let refused = |codec: &VariableChunkCodec, chunk: &[u8]| {
        codec.decode_all(chunk, &[0]).expect_err("refused").to_string()
    };
    let messages = [
        "",
        "0100000000000000 00000000000000",
        "0200000000000000 0000000000000000 00",
        "ffffffffffffffff ffffffffffffffff 00",
        "0100000000000000 ffffffffffffffff 00",
        "0100000000000000 0100000000000000 01 0102",
        "0000000000000000 0000000000000000",
        "0100000000000000 0100000000000000 03 01",
        "0100000000000000 0300000000000000 03 010203",
        "0100000000000000 0100000000000000 00 01",
    ]
    .map(|hex| format!("{hex}: {}", refused(&codec, &bytes(hex))));
    insta::assert_snapshot!(messages.join("\n"));

    let mut chunk = Vec::new();
    let elements: [&[u8]; 4] = [&[1, 1], &[0], &[2, 1], &[3, 1]];
    codec.encode(&elements, &[0], &mut chunk).expect("encodes");
    for length in 0..chunk.len() {
        refused(&codec, &chunk[..length]);
    }
    for wrong in [&[][..], &[1], &[0, 0], &[1, 2], &[1, 1, 1]] {
        let error = codec.encode(&[wrong, &[0], &[0], &[0]], &[0], &mut chunk);
        let length = u64::try_from(wrong.len()).unwrap();
        let expected = ChunkErrorKind::NotOptional { element: 0, length };
        assert_eq!(error.expect_err("refused").kind(), &expected);
    }
}

#[test]
fn memory_follows_the_bytes_that_are_there() {
    // 2^40 elements: refused before memory is allocated.
    let chunk = bytes("0100000000000000 0000000000000000 00");
    let codec = bound(&chain(PACKBITS, BYTES), &of(DataType::Uint8), &[1 << 40]);
    let error = codec.decode_at(&chunk, &[0], &[0]).expect_err("refused");
    assert_eq!(error.kind(), &ChunkErrorKind::DecodedLimit { limit: 1 << 20 });
    // Below the limit, but longer than what is there.
    let codec = bound(&chain(PACKBITS, BYTES), &of(DataType::Uint8), &[1 << 20]);
    let error = codec.decode_at(&chunk, &[0], &[0]).expect_err("refused");
    assert_eq!(error.kind(), &ChunkErrorKind::EncodedLength { found: 1, least: 1 << 17 });
}

/// A mask or values that exceed the limit for reading are not written.
#[test]
fn what_is_written_can_be_read_with_the_same_limit() {
    let gzip = r#"{"name": "gzip", "configuration": {"level": 1}}"#;
    let strings = format!(r#"{{"name": "vlen-utf8"}}, {gzip}"#);
    let numbers = format!("{BYTES}, {gzip}");
    let text = [&[b'x'; 20][..], &[1]].concat();
    for (inner, values, element, limit) in [
        (DataType::Uint8, BYTES, &[1, 1][..], 4),
        (DataType::Uint64, &numbers, &[1; 9], 32),
        (DataType::String, &strings, &text, 4 + 4 * 24),
    ] {
        let codec = bound(&chain(PACKBITS, values), &of(inner), &[4]);
        let mut chunk = Vec::new();
        let encoded = codec.clone().with_limit(limit).encode(&[element; 4], &[0], &mut chunk);
        assert_eq!(encoded, Ok(Encoded::Chunk));
        let decoded = codec.clone().with_limit(limit).decode_all(&chunk, &[0]).expect("decodes");
        assert!(decoded.iter().eq([element; 4]));
        let low = codec.with_limit(limit - 1);
        assert!(low.decode_all(&chunk, &[0]).is_err());
        let error = low.encode(&[element; 4], &[0], &mut chunk).expect_err("too long");
        assert!(error.to_string().contains(&format!("{}", limit - 1)), "{error}");
    }
}

#[test]
fn chains_that_do_not_fit_are_refused() {
    let bind = |codecs: &str, data_type: &DataType| {
        let codecs = Codec::list_from_json(format!("[{codecs}]").as_bytes()).expect("codecs");
        let edges = [AxisEdges::of([2, 3])];
        VariableChain::bind(&codecs, data_type, &edges).expect_err("refused").to_string()
    };
    let once = of(DataType::Uint8);
    let reshape = r#"{"name": "reshape", "configuration": {"shape": [2, 2]}}"#;
    let messages = [
        bind(&chain(PACKBITS, BYTES), &DataType::String),
        bind(r#"{"name": "vlen-bytes"}"#, &once),
        bind(BYTES, &once),
        bind(&chain(PACKBITS, r#"{"name": "vlen-utf8"}"#), &once),
        bind(&chain(r#"{"name": "vlen-utf8"}"#, BYTES), &once),
        bind(&chain(&format!("{reshape}, {PACKBITS}"), BYTES), &once),
        bind(&chain(PACKBITS, &format!("{reshape}, {BYTES}")), &once),
    ];
    insta::assert_snapshot!(messages.join("\n"));
    let read_only =
        chain(PACKBITS, &format!(r#"{BYTES}, {{"name": "x.y", "must_understand": false}}"#));
    let codec = bound(&read_only, &once, &[1]);
    let error = codec.encode(&[&[1, 1]], &[0], &mut Vec::new()).expect_err("refused");
    assert_eq!(error.kind(), &ChunkErrorKind::ReadOnly);
}
