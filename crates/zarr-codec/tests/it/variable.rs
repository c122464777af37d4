//! Elements of variable length: compared with the bytes of numcodecs and with chains of fixed
//! size that have the same array-to-array codecs; and chunks with wrong lengths.

use zarr_codec::{
    AnyChain, AxisEdges, ByteStrings, ChunkErrorKind, Encoded, Need, NotUtf8, Options, Scratch,
    Slice, Slots, Strings, VariableChain, VariableChunkCodec, VariableChunkReader,
};
use zarr_metadata::{Codec, DataType};

use crate::support::{codec as fixed, encode as encode_fixed};

fn bound(
    codecs: &str,
    data_type: &DataType,
    shape: &[u64],
    options: Options,
) -> VariableChunkCodec {
    let codecs = Codec::list_from_json(codecs.as_bytes()).expect("codecs in a valid order");
    let edges: Vec<AxisEdges> = shape.iter().map(|edge| AxisEdges::one(*edge)).collect();
    let chain = AnyChain::bind_with(&codecs, data_type, &edges, options).expect("binds");
    let AnyChain::Variable(chain) = chain else { panic!("of fixed size") };
    chain.for_shape(shape).expect("fits")
}

fn strings(codecs: &str, shape: &[u64]) -> VariableChunkCodec {
    bound(codecs, &DataType::String, shape, Options::new())
}

const VLEN: &str = r#"[{"name": "vlen-utf8"}]"#;

fn whole(codec: &VariableChunkCodec) -> Vec<Slice> {
    codec.shape().iter().map(|size| (0..*size).into()).collect()
}

fn encoded(codec: &VariableChunkCodec, elements: &[&[u8]], fill: &[u8]) -> (Encoded, Vec<u8>) {
    let mut out = vec![7; 3];
    let content = codec.encode(elements, fill, &mut out).expect("encodes");
    (content, out)
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<char> = hex.chars().filter(char::is_ascii_hexdigit).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Written by numcodecs 0.17.1: `VLenUTF8().encode(..)` and `VLenBytes().encode(..)`.
#[test]
fn chunks_are_those_of_numcodecs() {
    let cases: [(&str, DataType, Vec<&[u8]>, &str); 3] = [
        (
            VLEN,
            DataType::String,
            ["Genève", "", "Zürich\n", "日本", "😀", "a"].map(str::as_bytes).to_vec(),
            "06000000 07000000 47656ec3a87665 00000000 08000000 5ac3bc726963680a
             06000000 e697a5e69cac 04000000 f09f9880 01000000 61",
        ),
        (
            r#"[{"name": "vlen-bytes"}]"#,
            DataType::Bytes,
            vec![b"\x00\xff", b"", b"abc"],
            "03000000 02000000 00ff 00000000 03000000 616263",
        ),
        (VLEN, DataType::String, vec![], "00000000"),
    ];
    for (codecs, data_type, elements, hex) in cases {
        let shape = [u64::try_from(elements.len()).unwrap()];
        let codec = bound(codecs, &data_type, &shape, Options::new());
        assert_eq!(encoded(&codec, &elements, b"fill").1, bytes(hex));
        let decoded = codec.decode(&bytes(hex), &whole(&codec), b"").expect("decodes");
        assert!(decoded.iter().eq(elements));
    }
}

/// Written by zarr-python 3.4.2 from `[["a", "b", "c"], ["d", "e", "f"]]` after `transpose`.
#[test]
fn elements_are_stored_in_the_order_of_the_transposed_array() {
    let codecs = r#"[{"name": "transpose", "configuration": {"order": [1, 0]}},
                     {"name": "vlen-utf8"}]"#;
    let codec = strings(codecs, &[2, 3]);
    let chunk =
        bytes("06000000 01000000 61 01000000 64 01000000 62 01000000 65 01000000 63 01000000 66");
    let elements = [&b"a"[..], b"b", b"c", b"d", b"e", b"f"];
    assert_eq!(encoded(&codec, &elements, b"").1, chunk);
    assert!(codec.decode(&chunk, &whole(&codec), b"").expect("decodes").iter().eq(elements));
}

/// A chain with the same array-to-array codecs, applied to the numbers of the elements, gives the
/// order in which elements are stored.
#[test]
fn every_region_of_a_small_chunk_is_that_of_its_elements() {
    let turn = r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#;
    let flow = r#"{"name": "reshape", "configuration": {"shape": [6, 4]}}"#;
    let line = r#"{"name": "reshape", "configuration": {"shape": [-1]}}"#;
    let element: Vec<String> = (0..24).map(|n| "é".repeat(n % 5) + &n.to_string()).collect();
    let elements: Vec<&[u8]> = element.iter().map(String::as_bytes).collect();
    for before in ["", turn, flow, line, &format!("{turn}, {flow}, {turn}")] {
        let comma = if before.is_empty() { "" } else { ", " };
        let numbers = fixed(&format!(r#"[{before}{comma}{{"name": "bytes"}}]"#), "uint8", &[4, 6]);
        let (_, order) = encode_fixed(&numbers, &(0..24).collect::<Vec<u8>>(), &[99]).unwrap();
        let mut expected = vec![24, 0, 0, 0];
        for element in order.iter().map(|number| elements[usize::from(*number)]) {
            expected.extend(u32::try_from(element.len()).unwrap().to_le_bytes());
            expected.extend(element);
        }
        let codec = strings(
            &format!(
                r#"[{before}{comma}{{"name": "vlen-utf8"}}, {{"name": "zstd",
                "configuration": {{"level": 1, "checksum": true}}}}, {{"name": "crc32c"}}]"#
            ),
            &[4, 6],
        );
        let (content, chunk) = encoded(&codec, &elements, b"");
        assert_eq!(content, Encoded::Chunk);
        assert_eq!(codec.decompress(&chunk).expect("decompresses"), expected);
        let inner = if before == line { "[4]" } else { "[2, 2]" };
        let shards = [
            format!(
                r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {inner},
                "codecs": [{{"name": "vlen-utf8"}}, {{"name": "gzip", "configuration": {{"level": 1}}}}],
                "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "big"}}}}],
                "index_location": "start"}}}}"#
            ),
            format!(
                r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {inner},
                "codecs": [{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {},
                    "codecs": [{}{{"name": "vlen-utf8"}}],
                    "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}},
                        {{"name": "crc32c"}}]}}}}],
                "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}}}"#,
                if before == line { "[2]" } else { "[2, 1]" },
                if before == line { String::new() } else { format!("{turn}, ") }
            ),
        ];
        let shards = shards.map(|shard| strings(&format!("[{before}{comma}{shard}]"), &[4, 6]));
        for codec in shards.iter().chain([&codec]) {
            let (_, chunk) = encoded(codec, &elements, b"");
            each_region(|region| {
                let expected = region_of(&region, &elements);
                let decoded = codec.decode(&chunk, &region, b"").expect("decodes");
                assert!(decoded.iter().eq(expected), "{before} {region:?}");
            });
        }
    }
}

/// Every region of 4 x 6 with steps of 1 or 2.
fn each_region(mut visit: impl FnMut([Slice; 2])) {
    let slices = |size: usize| {
        let mut slices = Vec::new();
        for start in 0..=size {
            for step in [1, 2] {
                for count in 0..=(size - start).div_ceil(step) {
                    slices.push(Slice { start, count, step });
                }
            }
        }
        slices
    };
    for rows in slices(4) {
        for columns in slices(6) {
            visit([rows, columns]);
        }
    }
}

fn region_of<'e>(region: &[Slice; 2], elements: &[&'e [u8]]) -> Vec<&'e [u8]> {
    let mut found = Vec::new();
    for row in 0..region[0].count {
        for column in 0..region[1].count {
            let row = region[0].start + row * region[0].step;
            let column = region[1].start + column * region[1].step;
            found.push(elements[row * 6 + column]);
        }
    }
    found
}

#[test]
fn sd_60_inner_chunks_of_the_fill_value_are_left_out() {
    let shard = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [2],
        "codecs": [{"name": "vlen-utf8"}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]"#;
    let codec = strings(shard, &[4]);
    let (content, chunk) = encoded(&codec, &[b"n/a", b"n/a", b"x", b"n/a"], b"n/a");
    assert_eq!(content, Encoded::Chunk);
    let inner = bytes("02000000 01000000 78 03000000 6e2f61");
    let absent = [0xff; 16];
    let entry = [0_u64, 16].map(u64::to_le_bytes).concat();
    assert_eq!(chunk, [&inner[..], &absent, &entry].concat());
    let decoded = codec.decode(&chunk, &[(0..3).into()], b"n/a").expect("decodes");
    assert!(decoded.iter().eq([&b"n/a"[..], b"n/a", b"x"]));

    let (content, chunk) = encoded(&codec, &[&b"n/a"[..]; 4], b"n/a");
    assert_eq!((content, chunk), (Encoded::Empty, vec![0xff; 32]));
    // Still valid if the chunk is not left out.
    let codec = strings(VLEN, &[2]);
    let (content, chunk) = encoded(&codec, &[b"", b""], b"");
    assert_eq!((content, chunk), (Encoded::Empty, bytes("02000000 00000000 00000000")));
}

fn refused(codec: &VariableChunkCodec, chunk: &[u8]) -> String {
    codec.decode(chunk, &whole(codec), b"").expect_err("refused").to_string()
}

#[test]
fn chunks_that_lie_are_refused() {
    let codec = strings(VLEN, &[2]);
    use ChunkErrorKind as Kind;
    let short = |found| Kind::EncodedLength { found, least: 12 };
    let count = |found| Kind::ElementCount { found, expected: 2 };
    let length = |element, length, left| Kind::ElementLength { element, length, left };
    let messages = [
        ("", short(0)),
        ("0200", short(2)),
        ("01000000 00000000", count(1)),
        ("03000000 00000000 00000000 00000000", count(3)),
        ("ffffffff ffffffff ffffffff", count(u64::from(u32::MAX))),
        ("02000000 00000000 000000", short(11)),
        ("02000000 00000000 01000000", length(1, Some(1), 0)),
        ("02000000 04000000 61626364 0000", length(1, None, 2)),
        ("02000000 ffffffff 00000000", length(0, Some(u64::from(u32::MAX)), 4)),
        ("02000000 01000000 61 02000000 62", length(1, Some(2), 1)),
        ("02000000 00000000 00000000 00", Kind::TrailingBytes { count: 1 }),
        ("02000000 00000000 03000000 61c328", Kind::Utf8 { element: 1, byte: 1 }),
        ("02000000 01000000 c3 01000000 a8", Kind::Utf8 { element: 0, byte: 0 }),
    ]
    .map(|(hex, kind)| {
        let error = codec.decode(&bytes(hex), &whole(&codec), b"").expect_err("refused");
        assert_eq!(error.kind(), &kind, "{hex}");
        format!("{hex}: {error}")
    });
    insta::assert_snapshot!(messages.join("\n"));
    // Bytes may be anything.
    let codec = bound(r#"[{"name": "vlen-bytes"}]"#, &DataType::Bytes, &[2], Options::new());
    let any = bytes("02000000 01000000 c3 01000000 a8");
    assert!(codec.decode(&any, &[(0..2).into()], b"").is_ok());
}

#[test]
fn every_prefix_of_a_chunk_is_refused() {
    let shard = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [1],
        "codecs": [{"name": "vlen-utf8"}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]"#;
    for codecs in [VLEN, shard] {
        let codec = strings(codecs, &[3]);
        let (_, chunk) = encoded(&codec, &[b"abc", b"", b"defg"], b"?");
        for length in 0..chunk.len() {
            refused(&codec, &chunk[..length]);
        }
    }
}

#[test]
fn memory_follows_the_bytes_that_are_there() {
    // A shape of 2^40 elements: refused before memory is allocated.
    let codec = strings(VLEN, &[1 << 40]);
    let error = codec.decode(&bytes("ffffffff"), &[(0..1).into()], b"").expect_err("refused");
    let kind = ChunkErrorKind::ElementCount { found: (1 << 32) - 1, expected: 1 << 40 };
    assert_eq!(error.kind(), &kind);
    let codec = strings(VLEN, &[u64::from(u32::MAX)]);
    let error = codec.decode(&bytes("ffffffff"), &[(0..1).into()], b"").expect_err("refused");
    let kind = ChunkErrorKind::EncodedLength { found: 4, least: 4 << 32 };
    assert_eq!(error.kind(), &kind);
    // A few bytes of gzip decompress to more than the limit.
    let codecs = r#"[{"name": "vlen-utf8"}, {"name": "gzip", "configuration": {"level": 9}}]"#;
    let roomy = strings(codecs, &[1]);
    let long = vec![b'a'; 1 << 20];
    let (_, chunk) = encoded(&roomy, &[&long], b"");
    assert!(chunk.len() < 2048);
    let narrow =
        bound(codecs, &DataType::String, &[1], Options::new().unknown_decoded_len(1 << 20));
    insta::assert_snapshot!(
        refused(&narrow, &chunk),
        @"codec gzip ($.codecs[1]): decodes to more than the limit of 1048576 bytes"
    );
    // Nor is it written: nobody could read it again. A checksum decodes nothing.
    let write = |codec: &VariableChunkCodec, length: usize| {
        let long = vec![b'a'; length];
        codec.encode(&[&long], b"", &mut Vec::new()).map(drop).map_err(|error| error.to_string())
    };
    insta::assert_snapshot!(
        write(&narrow, (1 << 20) - 7).expect_err("refused"),
        @"codec gzip ($.codecs[1]): gets 1048577 bytes from the codecs before it, more than the 1048576 that it may decode to"
    );
    assert_eq!(write(&narrow, (1 << 20) - 8), Ok(()));
    let summed = r#"[{"name": "vlen-utf8"}, "crc32c"]"#;
    let options = Options::new().unknown_decoded_len(9);
    assert_eq!(write(&bound(summed, &DataType::String, &[1], options), 1 << 20), Ok(()));
    // Inner chunks that share the same bytes cost no more than their own elements account for.
    let shard = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [1],
        "codecs": [{"name": "vlen-utf8"}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]"#;
    let codec = strings(shard, &[4]);
    let mut chunk = bytes("01000000 00100000");
    chunk.resize(8 + 4096, b'a');
    let entry = [0_u64, 8 + 4096].map(u64::to_le_bytes).concat();
    (0..4).for_each(|_| chunk.extend(&entry));
    assert!(refused(&codec, &chunk).contains("inner chunks overlap"));
}

#[test]
fn numbers_past_the_chunk_are_refused() {
    let turned = r#"[{"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "vlen-utf8"}]"#;
    let shard = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 3],
        "codecs": [{"name": "vlen-utf8"}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]"#;
    for codecs in [VLEN, turned, shard] {
        let codec = strings(codecs, &[2, 3]);
        let elements: [&[u8]; 6] = [b"a", b"b", b"c", b"d", b"e", b"f"];
        let (_, chunk) = encoded(&codec, &elements, b"");
        assert!(codec.decode_at(&chunk, &[5], b"").expect("the last").iter().eq([b"f"]));
        for past in [6, 7, usize::MAX] {
            let refused = codec.decode_at(&chunk, &[0, past], b"").expect_err("no such element");
            assert!(matches!(refused.kind(), ChunkErrorKind::Copy(_)), "{codecs}: {refused}");
            let mut reader = VariableChunkReader::new(&codec, vec![past], 0);
            assert_eq!(reader.need(), Need::All);
            let read = reader.supply(&chunk, None, b"", &mut Scratch::new());
            assert!(matches!(read.expect_err("none").kind(), ChunkErrorKind::Copy(_)), "{codecs}");
        }
    }
    let error = strings(VLEN, &[2]).decode_at(&bytes("02000000 00000000 00000000"), &[2], b"");
    insta::assert_snapshot!(error.expect_err("past"), @"codec vlen-utf8 ($.codecs[0]): axis 0: range 2..3 is not within 0..2");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let codec = strings(VLEN, &[2]);
    let mut out = Vec::new();
    let mut message = |elements: &[&[u8]], kind| {
        let error = codec.encode(elements, b"", &mut out).expect_err("refused");
        assert_eq!(error.kind(), &kind);
        error.to_string()
    };
    let count = |found| ChunkErrorKind::ElementCount { found, expected: 2 };
    let messages = [
        message(&[b"a"], count(1)),
        message(&[b"a", b"b", b"c"], count(3)),
        message(&[b"a", b"\xff"], ChunkErrorKind::Utf8 { element: 1, byte: 0 }),
    ];
    insta::assert_snapshot!(messages.join("\n"));

    let skipped = r#"[{"name": "vlen-utf8"}, {"name": "x.y", "must_understand": false}]"#;
    let codec = strings(skipped, &[1]);
    assert!(codec.decode(&bytes("01000000 01000000 61"), &[(0..1).into()], b"").is_ok());
    let error = codec.encode(&[b"a"], b"", &mut out).expect_err("refused");
    assert_eq!(error.kind(), &ChunkErrorKind::ReadOnly);
}

#[test]
fn chains_that_do_not_fit_are_refused() {
    let bind = |codecs: &str, data_type: &DataType| {
        let codecs = Codec::list_from_json(codecs.as_bytes()).expect("codecs in a valid order");
        let edges = [AxisEdges::of([2, 3])];
        VariableChain::bind(&codecs, data_type, &edges).expect_err("refused").to_string()
    };
    let shard = |inner: &str, size: u64| {
        format!(
            r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{size}],
            "codecs": [{{"name": "{inner}"}}],
            "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}}}]"#
        )
    };
    let messages = [
        bind(VLEN, &DataType::Bytes),
        bind(VLEN, &DataType::Int8),
        bind(r#"[{"name": "bytes"}]"#, &DataType::String),
        bind(r#"[{"name": "packbits"}]"#, &DataType::String),
        bind(r#"[{"name": "numcodecs.packbits"}, {"name": "bytes"}]"#, &DataType::String),
        bind(r#"[{"name": "somebodys.codec"}, {"name": "vlen-utf8"}]"#, &DataType::String),
        bind(&shard("vlen-bytes", 1), &DataType::String),
        bind(&shard("vlen-utf8", 2), &DataType::String),
        bind(
            r#"[{"name": "reshape", "configuration": {"shape": [2, 2]}}, {"name": "vlen-utf8"}]"#,
            &DataType::String,
        ),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn strings_are_lists_of_byte_strings_that_are_utf_8() {
    let cut: ByteStrings = [&b"a"[..], b"\xc3", b"\xa8"].into_iter().collect();
    // The concatenated bytes are text, but those of the second string are not.
    assert_eq!(Strings::try_from(cut), Err(NotUtf8 { index: 1, byte: 0 }));
    let wrong: ByteStrings = [&b"a"[..], b"bc\xff"].into_iter().collect();
    let error = Strings::try_from(wrong).expect_err("no UTF-8");
    assert_eq!(error.to_string(), "string 1 is not UTF-8 from byte 2 on");

    let list: Strings = ["è", "", "b"].into_iter().collect();
    let bytes = ByteStrings::from(list.clone());
    assert_eq!(bytes.into_parts(), (vec![0, 2, 2, 3], "èb".as_bytes().to_vec()));
    assert_eq!(list.clone().into_parts(), (vec![0, 2, 2, 3], "èb".to_owned()));
    assert_eq!(Strings::try_from(ByteStrings::from(list.clone())), Ok(list));
    assert!(Strings::new().is_empty() && ByteStrings::default().iter().next().is_none());
}

#[test]
#[should_panic(expected = "index out of bounds")]
fn an_element_without_a_slot_is_heard() {
    Slots::filled_with(4, b"fill").expect("memory").set(4, b"nobody's");
}

#[test]
fn slots_take_elements_in_any_order_and_more_than_once() {
    let mut slots = Slots::filled_with(4, b"fill").expect("memory");
    slots.set(3, b"d");
    slots.set(1, b"");
    slots.set(3, b"dd");
    let list = slots.finish().expect("memory");
    assert!(list.iter().eq([&b"fill"[..], b"", b"fill", b"dd"]));
    let long = vec![0; 1 << 20];
    let many = Slots::filled_with(1 << 20, &long).expect("the value is there once");
    assert!(
        matches!(many.finish(), Err(ChunkErrorKind::OutOfMemory { bytes }) if bytes == 1 << 40)
    );
}
