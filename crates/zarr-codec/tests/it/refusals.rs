//! Violations of the specifications in chains and chunks, by the variant of the error. The first
//! column names the row of `docs/conformance.md`.

use zarr_codec::{AxisEdges, ChunkErrorKind};

use crate::support::{bind, codec, decode_whole, encode};

const GZIP: &str = r#"{"name": "gzip", "configuration": {"level": 5}}"#;
const ZSTD: &str = r#"{"name": "zstd", "configuration": {"level": 3, "checksum": true}}"#;
const CRC32C: &str = r#"{"name": "crc32c"}"#;
const BLOSC: &str = r#"{"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5,
    "shuffle": "shuffle", "typesize": 4, "blocksize": 0}}"#;

fn configured(name: &str, members: &str) -> String {
    format!(r#"{{"name": "{name}", "configuration": {{{members}}}}}"#)
}

fn shard(chunk_shape: &str, index: &str) -> String {
    let codecs = r#""codecs": [{"name": "bytes"}], "index_codecs""#;
    configured("sharding_indexed", &format!(r#""chunk_shape": {chunk_shape}, {codecs}: [{index}]"#))
}

const LITTLE: &str = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;

/// The row, the chain, the data type, the shape of the chunk, and a part of the message.
type Case = (&'static str, String, &'static str, &'static [u64], &'static str);

#[test]
fn chains_that_do_not_fit_their_input_are_refused() {
    let bytes = r#"{"name": "bytes"}"#;
    let after = |codec: String| format!("{codec}, {bytes}");
    let reshape = |shape: &str| after(configured("reshape", &format!("\"shape\": {shape}")));
    let cases: [Case; 16] = [
        ("RS-3", reshape("[5]"), "uint8", &[4], "sizes multiply to"),
        ("RS-3", reshape("[5, -1]"), "uint8", &[4, 6], "-1 cannot be resolved"),
        ("RS-5", reshape("[2, [1], 2]"), "uint8", &[4, 6], "the sizes "),
        ("RS-5", reshape("[[0, 2], 2]"), "uint8", &[2, 2, 2], "the sizes "),
        ("RS-5", reshape("[[2], -1]"), "uint8", &[2, 2], "names input dimension 2"),
        (
            "TR-2",
            after(configured("transpose", "\"order\": [1, 0]")),
            "uint8",
            &[4],
            "is not a permutation",
        ),
        (
            "PB-4",
            configured("packbits", "\"last_bit\": 16"),
            "int16",
            &[4],
            "are not within the 16 bits",
        ),
        ("PB-10", configured("packbits", ""), "r16", &[4], "cannot encode data type"),
        ("BY-2", bytes.to_owned(), "int16", &[4], "needs `endian`"),
        ("BY-2", bytes.to_owned(), "complex64", &[4], "needs `endian`"),
        (
            "CO-21",
            after(configured("numcodecs.packbits", "")),
            "uint8",
            &[4],
            "cannot encode data type",
        ),
        (
            "CO-25",
            format!("{bytes}, {}", configured("new", "")),
            "uint8",
            &[4],
            "not supported here",
        ),
        ("SH-3", shard("[2]", LITTLE), "uint8", &[4, 4], "chunk_shape has 1 dimension"),
        ("SH-4", shard("[3]", LITTLE), "uint8", &[4], "does not always divide 4"),
        ("SH-4", shard("[8]", LITTLE), "uint8", &[4], "does not always divide 4"),
        (
            "SH-7",
            shard("[2]", &format!("{LITTLE}, {GZIP}")),
            "uint8",
            &[4],
            "must have a fixed size",
        ),
    ];
    for (row, codecs, data_type, shape, expected) in cases {
        let edges: Vec<AxisEdges> = shape.iter().map(|edge| AxisEdges::one(*edge)).collect();
        let error = bind(&format!("[{codecs}]"), data_type, &edges).expect_err(row);
        assert!(error.to_string().contains(expected), "{row}: {codecs}: {error}");
    }
}

/// What a chunk of elements 0, 1, 2 and so on becomes, and the error after a change.
fn changed(
    codecs: &str,
    data_type: &str,
    count: u64,
    change: impl FnOnce(&mut Vec<u8>),
) -> ChunkErrorKind {
    let codec = codec(&format!("[{codecs}]"), data_type, &[count]);
    let elements: Vec<u8> = match data_type {
        "bool" => (0..count).map(|n| (n % 2) as u8).collect(),
        _ => (0..count).map(|n| (n / 3) as u8).collect(),
    };
    let (_, mut bytes) = encode(&codec, &elements, &[255]).expect("encodes");
    assert_eq!(decode_whole(&codec, &bytes, &[255]).expect("decodes"), elements);
    change(&mut bytes);
    match decode_whole(&codec, &bytes, &[255]) {
        Ok(_) => panic!("accepted: {codecs}: {bytes:?}"),
        Err(error) => error.kind().clone(),
    }
}

/// BY-4 and BY-5.
#[test]
fn chunks_of_bytes_of_another_length_or_no_booleans_are_refused() {
    let bytes = r#"{"name": "bytes"}"#;
    assert_eq!(
        changed(bytes, "uint8", 4, |chunk| chunk.push(0)),
        ChunkErrorKind::DecodedLength { found: 5, expected: 4 }
    );
    let short = changed(bytes, "uint8", 4, |chunk| chunk.truncate(3));
    assert_eq!(short, ChunkErrorKind::DecodedLength { found: 3, expected: 4 });
    for value in [2, 128, 255] {
        let kind = changed(bytes, "bool", 4, |chunk| chunk[2] = value);
        assert_eq!(kind, ChunkErrorKind::Bool { element: 2, value });
    }
}

/// CR-3: every bit counts.
#[test]
fn chunks_with_a_wrong_crc32c_are_refused() {
    for bit in 0..8 * (9 + 4) {
        let codecs = format!(r#"{{"name": "bytes"}}, {CRC32C}"#);
        let kind = changed(&codecs, "uint8", 9, |chunk| chunk[bit / 8] ^= 1 << (bit % 8));
        assert!(matches!(kind, ChunkErrorKind::Checksum { .. }), "bit {bit}: {kind}");
    }
    let codecs = format!(r#"{{"name": "bytes"}}, {CRC32C}"#);
    let kind = changed(&codecs, "uint8", 9, |chunk| chunk.truncate(3));
    assert_eq!(kind, ChunkErrorKind::EncodedLength { found: 3, least: 4 });
}

/// The bytes whose bits are all flipped, one at a time; from the end if negative.
type Places = &'static [i32];

/// GZ-3, ZS-4, BL-8: fields of the formats that decide what follows, and checksums.
#[test]
fn chunks_that_break_the_format_of_their_compressor_are_refused() {
    let cases: [(&str, &str, Places); 3] = [
        // Magic number, method; then the checksum and the length of the decoded bytes.
        ("GZ-3", GZIP, &[0, 1, 2, -8, -7, -6, -5, -4, -3, -2, -1]),
        // Magic number; then the checksum of the decoded bytes (ZS-3).
        ("ZS-4", ZSTD, &[0, 1, 2, 3, -4, -3, -2, -1]),
        // Version; then the lengths of the decoded bytes and the encoded ones.
        ("BL-8", BLOSC, &[0, 4, 5, 6, 7, 12, 13, 14, 15]),
    ];
    for (row, compressor, places) in cases {
        let codecs = format!(r#"{{"name": "bytes"}}, {compressor}"#);
        let refused = |change: &dyn Fn(&mut Vec<u8>)| {
            let kind = changed(&codecs, "uint8", 300, change);
            assert!(
                matches!(
                    kind,
                    ChunkErrorKind::Corrupt { .. }
                        | ChunkErrorKind::DecodedLength { .. }
                        | ChunkErrorKind::DecodedTooLong { .. }
                        | ChunkErrorKind::DecodedTooShort { .. }
                        | ChunkErrorKind::EncodedLength { .. }
                ),
                "{row}: {kind:?}"
            );
        };
        for place in places {
            for bit in 0..8 {
                refused(&|chunk| {
                    let len = if *place < 0 { chunk.len() } else { 0 };
                    let at = usize::try_from(*place + i32::try_from(len).expect("short"));
                    chunk[at.expect("within")] ^= 1 << bit;
                });
            }
        }
        refused(&|chunk| chunk.push(0));
        refused(&|chunk| chunk.clear());
        refused(&|chunk| chunk.truncate(chunk.len() / 2));
        refused(&|chunk| chunk.truncate(chunk.len() - 1));
    }
    // The reserved flags of gzip (RFC 1952, 2.3.1.2), and the reserved bit of a frame header of
    // zstd (RFC 8878, 3.1.1.1.1.4).
    for flag in [5, 6, 7] {
        let kind =
            changed(&format!(r#""bytes", {GZIP}"#), "uint8", 30, |chunk| chunk[3] |= 1 << flag);
        assert!(matches!(kind, ChunkErrorKind::Corrupt { .. }), "flag {flag}: {kind:?}");
    }
    let kind = changed(&format!(r#""bytes", {ZSTD}"#), "uint8", 30, |chunk| chunk[4] |= 1 << 3);
    assert!(matches!(kind, ChunkErrorKind::Corrupt { .. }), "{kind:?}");
}

/// SH-9 to SH-12: three inner chunks of two bytes, then the index.
#[test]
fn indices_of_shards_that_cannot_be_are_refused() {
    use ChunkErrorKind as Kind;
    let most = u64::MAX;
    for (row, offset, length) in [
        ("SH-11", most, 2),
        ("SH-11", 2, most),
        ("SH-10", 5, 2),
        ("SH-10", 6, 1),
        ("SH-10", most - 1, 2),
        ("SH-10", 2, most - 1),
    ] {
        let kind = changed(&shard("[2]", LITTLE), "uint8", 6, |chunk| {
            let entry = [offset, length].map(u64::to_le_bytes).concat();
            chunk.splice(6 + 16..6 + 32, entry);
        });
        let is_expected = match row {
            "SH-11" => matches!(kind, Kind::IndexEntry { .. }),
            _ => matches!(kind, Kind::IndexRange { start: 0, end: 6, .. }),
        };
        assert!(is_expected, "{row}: {offset} {length}: {kind:?}");
    }
    // The index has all entries: with one less, the shard is too short for it.
    let kind = changed(&shard("[2]", LITTLE), "uint8", 6, |chunk| chunk.truncate(6 + 32));
    assert!(
        matches!(kind, Kind::EncodedLength { least: 48, .. } | Kind::IndexRange { .. }),
        "{kind:?}"
    );
    // The checksum among `index_codecs`.
    let kind = changed(&shard("[2]", &format!("{LITTLE}, {CRC32C}")), "uint8", 6, |chunk| {
        *chunk.last_mut().expect("not empty") ^= 1;
    });
    assert!(matches!(kind, Kind::Checksum { .. }), "{kind:?}");
}

/// PB-9.
#[test]
fn chunks_with_a_wrong_padding_byte_are_refused() {
    for (encoding, at) in [("first_byte", 0), ("last_byte", 2)] {
        let codecs = configured("packbits", &format!("\"padding_encoding\": \"{encoding}\""));
        for value in (0..=255).filter(|value| *value != 6) {
            let kind = changed(&codecs, "bool", 10, |chunk| chunk[at] = value);
            assert!(matches!(kind, ChunkErrorKind::Packed(_)), "{encoding} {value}: {kind:?}");
        }
        let kind = changed(&codecs, "bool", 10, |chunk| chunk.truncate(2));
        assert!(matches!(kind, ChunkErrorKind::Packed(_)), "{encoding}: {kind:?}");
    }
}
