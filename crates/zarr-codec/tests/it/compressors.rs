//! The byte compressors: what they read from other writers, and what they refuse (SD-35, SD-61).

use zarr_codec::{AxisEdges, Chain, ChunkErrorKind, Options};
use zarr_metadata::Codec;

use crate::support::{codec, data_type, decode_whole, encode};

fn chain(compressors: &str) -> String {
    format!(r#"[{{"name": "bytes"}}, {compressors}]"#)
}

fn blosc(cname: &str, shuffle: &str, type_size: u32) -> String {
    format!(
        r#"{{"name": "blosc", "configuration": {{"cname": "{cname}", "clevel": 5,
        "shuffle": "{shuffle}", "typesize": {type_size}, "blocksize": 0}}}}"#
    )
}

fn numcodecs(name: &str, configuration: &str) -> String {
    format!(r#"{{"name": "numcodecs.{name}", "configuration": {configuration}}}"#)
}

/// Compressible, but not all equal.
fn elements(count: usize) -> Vec<u8> {
    (0..count).map(|n| if n % 7 == 0 { (n / 7 % 256) as u8 } else { 3 }).collect()
}

const GZIP: &str = r#"{"name": "gzip", "configuration": {"level": 5}}"#;
const ZSTD: &str = r#"{"name": "zstd", "configuration": {"level": 3, "checksum": true}}"#;
const CRC32C: &str = r#"{"name": "crc32c"}"#;

#[test]
fn sd_61_stacks_of_all_compressors_read_what_they_write() {
    let all = [
        GZIP.to_owned(),
        ZSTD.to_owned(),
        CRC32C.to_owned(),
        blosc("lz4", "shuffle", 4),
        blosc("zstd", "bitshuffle", 8),
        numcodecs("zlib", "{}"),
        numcodecs("bz2", r#"{"level": 9}"#),
        numcodecs("lzma", r#"{"preset": 1}"#),
        numcodecs("lzma", r#"{"format": 2, "preset": 0}"#),
        numcodecs("lzma", r#"{"format": 3, "filters": [{"id": 3, "dist": 2}, {"id": 33}]}"#),
        numcodecs("lz4", "{}"),
        numcodecs("blosc", r#"{"shuffle": -1}"#),
        numcodecs("shuffle", r#"{"elementsize": 1}"#),
        numcodecs("crc32", "{}"),
        numcodecs("adler32", r#"{"location": "end"}"#),
        numcodecs("fletcher32", "{}"),
        numcodecs("jenkins_lookup3", "{}"),
    ];
    let elements = elements(3000);
    for first in &all {
        for second in &all {
            let codec = codec(&chain(&format!("{first}, {second}")), "uint8", &[3000]);
            let (_, bytes) = encode(&codec, &elements, &[0]).expect("encodes");
            assert_eq!(decode_whole(&codec, &bytes, &[0]).expect("decodes"), elements);
            for length in [0, 1, bytes.len() / 2, bytes.len() - 1] {
                assert!(decode_whole(&codec, &bytes[..length], &[0]).is_err(), "cut to {length}");
            }
            let longer = [&bytes[..], &[0]].concat();
            assert!(decode_whole(&codec, &longer, &[0]).is_err(), "{first}, {second}");
        }
    }
}

#[test]
fn sd_61_blosc_with_every_compressor_and_shuffle() {
    let elements = elements(100_000);
    let all = ["blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy"];
    let compiled = if cfg!(feature = "snappy") { &all[..] } else { &all[..5] };
    for cname in compiled {
        for shuffle in ["noshuffle", "shuffle", "bitshuffle"] {
            for type_size in [1, 2, 3, 8, 255, 256] {
                let codec = codec(&chain(&blosc(cname, shuffle, type_size)), "uint8", &[100_000]);
                let (_, bytes) = encode(&codec, &elements, &[0]).expect("encodes");
                assert!(bytes.len() < 60_000, "{cname} made {} bytes", bytes.len());
                assert_eq!(decode_whole(&codec, &bytes, &[0]).expect("decodes"), elements);
            }
        }
    }
}

#[test]
fn sd_61_crc32c_is_little_endian_over_its_input() {
    // The check value of the algorithm in its catalogue.
    let codec = codec(&chain(CRC32C), "uint8", &[9]);
    let (_, bytes) = encode(&codec, b"123456789", &[0]).expect("encodes");
    assert_eq!(bytes, b"123456789\x83\x92\x06\xe3");
    // The checksum of the checksum, too.
    let twice = self::codec(&chain(&format!("{CRC32C}, {CRC32C}")), "uint8", &[9]);
    assert_eq!(encode(&twice, b"123456789", &[0]).expect("encodes").1.len(), 17);
    assert_eq!(twice.encoded_len(), Some(17));
}

#[test]
fn sd_61_several_members_and_frames() {
    for compressor in [GZIP, ZSTD] {
        let half = codec(&chain(compressor), "uint8", &[100]);
        let (first, second) = (elements(100), vec![8; 100]);
        let bytes = [
            encode(&half, &first, &[0]).expect("encodes").1,
            encode(&half, &second, &[0]).expect("encodes").1,
        ]
        .concat();
        let whole = codec(&chain(compressor), "uint8", &[200]);
        let expected = [first, second].concat();
        assert_eq!(decode_whole(&whole, &bytes, &[0]).expect("decodes"), expected);
    }
    // A skippable frame: its magic number, its length, and what is skipped.
    let codec = codec(&chain(ZSTD), "uint8", &[100]);
    let skippable = [0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    let (_, frame) = encode(&codec, &elements(100), &[0]).expect("encodes");
    let bytes = [&skippable[..], &frame, &skippable].concat();
    assert_eq!(decode_whole(&codec, &bytes, &[0]).expect("decodes"), elements(100));
}

#[test]
fn sd_35_a_bomb_costs_no_more_than_the_chunk() {
    for compressor in [GZIP.to_owned(), ZSTD.to_owned(), blosc("zlib", "noshuffle", 1)] {
        let large = codec(&chain(&compressor), "uint8", &[1 << 20]);
        let (_, bomb) = encode(&large, &vec![1; 1 << 20], &[0]).expect("encodes");
        let small = codec(&chain(&compressor), "uint8", &[256]);
        let error = decode_whole(&small, &bomb, &[0]).expect_err("too much");
        assert!(
            error.to_string().contains("256 bytes") || error.to_string().contains("expected 256"),
            "{error}"
        );
    }
}

#[test]
fn sd_35_stacked_compressors_keep_to_the_limit() {
    let stacked = chain(&format!("{ZSTD}, {GZIP}"));
    let codecs = Codec::list_from_json(stacked.as_bytes()).expect("valid");
    let edges = [AxisEdges::one(1 << 16)];
    let options = Options::new().unknown_decoded_len(100);
    let chain = Chain::bind_with(&codecs, &data_type("uint8"), &edges, options).expect("binds");
    let limited = chain.for_shape(&[1 << 16]).expect("fits");
    let codec = codec(&stacked, "uint8", &[1 << 16]);
    let noise: Vec<u8> =
        (0..1_u64 << 16).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
    let (_, bytes) = encode(&codec, &noise, &[0]).expect("encodes");
    let error = decode_whole(&limited, &bytes, &[0]).expect_err("past the limit");
    assert!(matches!(error.kind(), ChunkErrorKind::DecodedLimit { .. }), "{error:?}");
    insta::assert_snapshot!(error, @"codec gzip ($.codecs[2]): decodes to more than the limit of 100 bytes");
}

#[test]
fn sd_35_zstd_frames_that_the_library_takes_without_a_word() {
    let codec = codec(&chain(ZSTD), "uint8", &[4]);
    // A frame header with a content size of 2^64 - 1, then a raw block of four bytes, the last.
    let header = [0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0x00];
    let block = [0x21, 0, 0, 1, 2, 3, 4];
    let bytes = [&header[..], &[0xff; 8], &block].concat();
    let error = decode_whole(&codec, &bytes, &[0]).expect_err("no such size");
    insta::assert_snapshot!(error, @"codec zstd ($.codecs[1]): corrupt: the frame header promises 2^64 - 1 bytes");
    // The same with an unknown size is valid.
    let bytes = [&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x00][..], &block].concat();
    assert_eq!(decode_whole(&codec, &bytes, &[0]).expect("decodes"), [1, 2, 3, 4]);
    // And a magic number of a format before version 1.
    let bytes = [&[0x27, 0xb5, 0x2f, 0xfd, 0x00, 0x00][..], &block].concat();
    insta::assert_snapshot!(decode_whole(&codec, &bytes, &[0]).expect_err("version 0.7"), @"codec zstd ($.codecs[1]): corrupt: no zstd frame where one must start");
}

/// The error message for a chunk of this many bytes.
fn refused(compressors: &str, count: u64, encoded: &[u8]) -> String {
    let codec = codec(&chain(compressors), "uint8", &[count]);
    decode_whole(&codec, encoded, &[0]).expect_err("refused").to_string()
}

#[test]
fn sd_35_lengths_are_compared_before_memory_is_taken() {
    let lz4 = numcodecs("lz4", "{}");
    let header = |length: u32| [&length.to_le_bytes()[..], &[0x10, 7]].concat();
    insta::assert_snapshot!(refused(&lz4, 1, &header(u32::MAX)), @"codec numcodecs.lz4 ($.codecs[1]): decoded to 4294967295 bytes, expected 1");
    insta::assert_snapshot!(refused(&lz4, 1 << 30, &header(1 << 30)), @"codec numcodecs.lz4 ($.codecs[1]): 2 bytes cannot decode to the expected 1073741824 bytes");
    insta::assert_snapshot!(refused(&lz4, 4, &header(4)), @"codec numcodecs.lz4 ($.codecs[1]): decoded to 1 byte, expected 4");
    insta::assert_snapshot!(refused(&lz4, 1, &[1, 0, 0]), @"codec numcodecs.lz4 ($.codecs[1]): 3 encoded bytes, expected at least 4");
    for (name, most) in [("zlib", 1032), ("bz2", 2 << 20), ("lzma", 8192)] {
        let error = refused(&numcodecs(name, "{}"), 10 * most + 1, &[0; 10]);
        assert!(error.contains("10 bytes cannot decode to the expected"), "{error}");
    }
    // Under another codec, lz4 states its own length.
    let stack = format!("{}, {lz4}", numcodecs("zlib", "{}"));
    let error = refused(&stack, 100, &header(u32::MAX));
    insta::assert_snapshot!(error, @"codec numcodecs.lz4 ($.codecs[2]): decodes to more than 1050824 bytes; the elements encode to at most 1124");
}

#[test]
fn sd_35_what_others_compress_to_nothing_is_not_decoded_further_than_needed() {
    // 64 MiB of zeros for a chunk of 1000 bytes.
    let bomb = vec![0_u8; 64 << 20];
    for (name, configuration) in
        [("zlib", "{}"), ("bz2", "{}"), ("lzma", r#"{"preset": 0}"#), ("lz4", "{}")]
    {
        let compressor = numcodecs(name, configuration);
        let (_, bytes) = encode(&codec(&chain(&compressor), "uint8", &[64 << 20]), &bomb, &[1])
            .expect("encodes");
        let alone = refused(&compressor, 1000, &bytes);
        assert!(alone.contains("1000"), "{alone}");
        let below = refused(&format!("{GZIP}, {compressor}"), 1000, &bytes);
        assert!(below.contains("decodes to more than"), "{below}");
    }
}

#[test]
fn lzma_takes_no_dictionary_that_presets_do_not_make() {
    let lzma = numcodecs("lzma", r#"{"format": 2}"#);
    let codec = codec(&chain(&lzma), "uint8", &[100]);
    let (_, mut bytes) = encode(&codec, &elements(100), &[0]).expect("encodes");
    // The length of the dictionary: almost 2^32.
    bytes[1..5].copy_from_slice(&[0xff; 4]);
    insta::assert_snapshot!(refused(&lzma, 100, &bytes), @"codec numcodecs.lzma ($.codecs[1]): corrupt: memory limit reached");
    // Of bytes without a container the filters say it.
    let raw = |filters: &str| {
        chain(&numcodecs("lzma", &format!(r#"{{"format": 3, "filters": [{filters}]}}"#)))
    };
    let long = raw(r#"{"id": 33, "dict_size": 1073741824}"#);
    let error = crate::support::bind(&long, "uint8", &[AxisEdges::one(4)]).expect_err("refused");
    insta::assert_snapshot!(error, @"$.codecs[1]: codec numcodecs.lzma: a dictionary of 1073741824 bytes is not supported here");
    let error = Codec::list_from_json(raw("").as_bytes()).expect_err("refused");
    insta::assert_snapshot!(error, @"$[1].configuration.filters: found none, expected filters, where format is 3");
}

#[test]
fn shuffle_takes_whole_elements_only() {
    let shuffle = numcodecs("shuffle", r#"{"elementsize": 3}"#);
    let codec = codec(&chain(&shuffle), "uint8", &[4]);
    insta::assert_snapshot!(encode(&codec, &[1, 2, 3, 4], &[0]).expect_err("refused"), @"codec numcodecs.shuffle ($.codecs[1]): could not encode: 4 bytes, expected a multiple of 3, the size of an element");
    insta::assert_snapshot!(refused(&shuffle, 4, &[1, 2, 3, 4]), @"codec numcodecs.shuffle ($.codecs[1]): corrupt: 4 bytes, expected a multiple of 3, the size of an element");
    insta::assert_snapshot!(refused(&shuffle, 6, &[1, 2, 3]), @"codec numcodecs.shuffle ($.codecs[1]): decoded to 3 bytes, expected 6");
}

#[test]
fn checksums_before_the_bytes_are_verified() {
    let adler = numcodecs("adler32", "{}");
    let codec = codec(&chain(&adler), "uint8", &[9]);
    let (_, bytes) = encode(&codec, b"Wikipedia", &[0]).expect("encodes");
    assert_eq!(bytes, b"\x98\x03\xe6\x11Wikipedia", "as in the article on Adler-32");
    assert_eq!(codec.encoded_len(), Some(13));
    let mut damaged = bytes.clone();
    damaged[5] ^= 1;
    insta::assert_snapshot!(refused(&adler, 9, &damaged), @"codec numcodecs.adler32 ($.codecs[1]): checksum 0x11e60398 stored, 0x11de0397 computed");
    insta::assert_snapshot!(refused(&adler, 9, &bytes[..3]), @"codec numcodecs.adler32 ($.codecs[1]): 3 encoded bytes, expected at least 4");
    // After a checksum at the start, every byte is shifted, so parts are not read alone.
    let view = zarr_view::View::contiguous(&[2]).expect("small");
    assert_eq!(codec.reader(&[(2..4).into()], &view, 0).need(), zarr_codec::Need::All);
}
