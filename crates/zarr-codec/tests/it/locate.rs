//! Locations of elements in an encoded chunk, against brute force: when one element is changed,
//! exactly the located bits of the chunk differ.

use std::ops::Range;

use zarr_codec::{ChunkCodec, ChunkErrorKind, ElementLocation, Scratch, StoredBytes};

use crate::naive::indices;
use crate::support::{Random, codec, decode_whole, encode};

/// A data type, its array-to-bytes codec, and two elements that differ in every bit it stores.
struct Case {
    data_type: &'static str,
    array_to_bytes: &'static str,
    elements: [&'static [u8]; 2],
}

const CASES: [Case; 11] = [
    case("uint8", r#"{"name": "bytes"}"#, [&[0x35], &[0xca]]),
    case(
        "uint16",
        r#"{"name": "bytes", "configuration": {"endian": "big"}}"#,
        [&[0x34, 0x12], &[0xcb, 0xed]],
    ),
    case(
        "complex64",
        r#"{"name": "bytes", "configuration": {"endian": "little"}}"#,
        [&[1, 2, 3, 4, 5, 6, 7, 8], &[0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9, 0xf8, 0xf7]],
    ),
    case("bool", r#"{"name": "packbits"}"#, [&[0], &[1]]),
    case("int2", r#"{"name": "packbits"}"#, [&[1], &[0xfe]]),
    case(
        "uint4",
        r#"{"name": "packbits", "configuration": {"padding_encoding": "first_byte"}}"#,
        [&[5], &[10]],
    ),
    case(
        "int8",
        r#"{"name": "packbits", "configuration": {"last_bit": 5}}"#,
        [&[0b01_0101], &[0b1110_1010]],
    ),
    case(
        "uint16",
        r#"{"name": "packbits", "configuration": {"last_bit": 11}}"#,
        [&[0x23, 0x01], &[0xdc, 0x0e]],
    ),
    case(
        "uint16",
        r#"{"name": "packbits", "configuration": {"first_bit": 3, "last_bit": 9,
            "padding_encoding": "last_byte"}}"#,
        [&[0x50, 0x01], &[0xa8, 0x02]],
    ),
    case("complex_float6_e2m3fn", r#"{"name": "packbits"}"#, [&[0x15, 0x2a], &[0x2a, 0x15]]),
    case(
        "uint64",
        r#"{"name": "packbits", "configuration": {"first_bit": 1, "last_bit": 61}}"#,
        [
            &[0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0x0f],
            &[0xec, 0xcb, 0xa9, 0x87, 0x65, 0x43, 0x21, 0x30],
        ],
    ),
];

const fn case(
    data_type: &'static str,
    array_to_bytes: &'static str,
    elements: [&'static [u8]; 2],
) -> Case {
    Case { data_type, array_to_bytes, elements }
}

fn transpose(order: &str) -> String {
    format!(r#"{{"name": "transpose", "configuration": {{"order": {order}}}}}"#)
}

fn reshape(shape: &str) -> String {
    format!(r#"{{"name": "reshape", "configuration": {{"shape": {shape}}}}}"#)
}

fn shard(inner: &str, codecs: &[String], location: &str) -> String {
    format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {inner},
        "codecs": [{}], "index_codecs": [{{"name": "bytes", "configuration":
        {{"endian": "little"}}}}], "index_location": "{location}"}}}}"#,
        codecs.join(", ")
    )
}

fn named(name: &str) -> String {
    format!(r#"{{"name": "{name}"}}"#)
}

/// Chains for chunks of 4 x 6 elements in which every stored byte belongs to an element or an
/// index.
fn chains(array_to_bytes: &str) -> Vec<Vec<String>> {
    let last = || array_to_bytes.to_owned();
    let swap = || transpose("[1, 0]");
    vec![
        vec![last()],
        vec![swap(), last()],
        vec![reshape("[[0], 2, 3]"), transpose("[2, 0, 1]"), last()],
        vec![swap(), reshape("[-1]"), last()],
        vec![shard("[2, 3]", &[last()], "end")],
        vec![swap(), shard("[3, 2]", &[swap(), last()], "start")],
        vec![
            reshape("[[0], 2, 3]"),
            shard("[2, 1, 3]", &[transpose("[2, 1, 0]"), reshape("[-1]"), last()], "end"),
        ],
        vec![shard("[4, 3]", &[swap(), shard("[3, 2]", &[swap(), last()], "start")], "end")],
    ]
}

fn locate(codec: &ChunkCodec, index: &[usize], encoded: &[u8]) -> ElementLocation {
    let mut locator =
        codec.locate(index, Some(u64::try_from(encoded.len()).expect("small"))).expect("in bounds");
    while let Some(range) = locator.need() {
        locator.supply(&encoded[small(&range)], &mut Scratch::new()).expect("an index");
    }
    locator.location().expect("nothing more is needed")
}

fn small(range: &Range<u64>) -> Range<usize> {
    let at = |byte| usize::try_from(byte).expect("small");
    at(range.start)..at(range.end)
}

/// The bits, counted from the least significant of the first byte, in which two chunks differ.
fn differing(a: &[u8], b: &[u8]) -> Vec<u64> {
    assert_eq!(a.len(), b.len());
    let bits = (0_u64..).step_by(8).zip(a.iter().zip(b));
    bits.flat_map(|(first, (a, b))| {
        let differ = a ^ b;
        (0_u64..8).filter(move |bit| differ >> bit & 1 == 1).map(move |bit| first + bit)
    })
    .collect()
}

/// The bits at which an element was located.
fn located(location: &ElementLocation) -> Vec<u64> {
    let bytes = location.encoded_bytes().expect("bytes of its own");
    let first = bytes.start * 8 + u64::from(location.bit);
    assert_eq!(bytes.end, (first + location.bits).div_ceil(8));
    (first..first + location.bits).collect()
}

#[test]
fn an_element_that_changes_changes_the_located_bits_and_no_others() {
    let mut random = Random(17);
    for Case { data_type, array_to_bytes, elements } in CASES {
        let fill = vec![0xff; elements[0].len()];
        let fill = if data_type == "bool" { vec![2] } else { fill };
        for chain in chains(array_to_bytes) {
            let list = format!("[{}]", chain.join(", "));
            let codec = codec(&list, data_type, &[4, 6]);
            let content: Vec<&[u8]> = (0..24).map(|_| elements[random.below(2)]).collect();
            let (_, before) = encode(&codec, &content.concat(), &fill).expect("encodes");
            for (number, index) in indices(&[4, 6]).iter().enumerate() {
                let mut content = content.clone();
                content[number] = elements[usize::from(content[number] == elements[0])];
                let (_, after) = encode(&codec, &content.concat(), &fill).expect("encodes");
                let found = locate(&codec, index, &before);
                assert_eq!(
                    located(&found),
                    differing(&before, &after),
                    "{data_type} {list} {index:?}: {found:?}"
                );
            }
        }
    }
}

/// Checksums leave the bytes that they protect unchanged, before or after them.
#[test]
fn checksums_before_and_after_are_not_elements() {
    let crc = || named("crc32c");
    let pack = r#"{"name": "packbits", "configuration": {"last_bit": 11}}"#.to_owned();
    let inner = shard("[1, 3]", &[pack.clone(), crc()], "start");
    let nested =
        [shard("[2, 3]", &[transpose("[1, 0]"), reshape("[2, 3]"), inner, crc()], "end"), crc()];
    let start =
        || r#"{"name": "numcodecs.adler32", "configuration": {"location": "start"}}"#.to_owned();
    let inner =
        shard("[2, 3]", &[transpose("[1, 0]"), pack.clone(), start(), crc(), start()], "end");
    let mut chains = vec![vec![pack, crc(), crc()], nested.to_vec()];
    if cfg!(feature = "adler32") {
        chains.push(vec![inner, start()]);
    }
    for chain in chains {
        let codec = codec(&format!("[{}]", chain.join(", ")), "uint16", &[4, 6]);
        let content: Vec<u16> = (0..24).map(|number| number * 170 + 1).collect();
        let bytes: Vec<u8> = content.iter().flat_map(|element| element.to_le_bytes()).collect();
        let (_, encoded) = encode(&codec, &bytes, &[0, 0]).expect("encodes");
        for (number, index) in indices(&[4, 6]).iter().enumerate() {
            let found = locate(&codec, index, &encoded);
            let bits = located(&found).into_iter().rev();
            let read = bits.fold(0_u16, |read, bit| {
                let byte = encoded[usize::try_from(bit / 8).expect("small")];
                read << 1 | u16::from(byte >> (bit % 8) & 1)
            });
            assert_eq!(read, content[number], "{index:?}: {found:?}");
        }
    }
}

/// `numcodecs.packbits` can be read but not written, so the test flips the located bit.
#[test]
fn sd_11_the_first_element_is_the_most_significant_bit() {
    let codec = codec(r#"[{"name": "numcodecs.packbits"}, {"name": "bytes"}]"#, "bool", &[2, 5]);
    let encoded = [6, 0b1010_0110, 0b0100_0000];
    let before = decode_whole(&codec, &encoded, &[0]).expect("decodes");
    for (number, index) in indices(&[2, 5]).iter().enumerate() {
        let found = locate(&codec, index, &encoded);
        assert_eq!(found.bits, 1);
        let mut changed = encoded;
        changed[small(&found.encoded_bytes().expect("stored"))][0] ^= 1 << found.bit;
        let after = decode_whole(&codec, &changed, &[0]).expect("decodes");
        let differ: Vec<_> = (0..10).filter(|at| before[*at] != after[*at]).collect();
        assert_eq!(differ, [number], "{found:?}");
    }
}

#[cfg(feature = "gzip")]
#[test]
fn compressors_leave_nothing_in_place() {
    let gzip = || r#"{"name": "gzip", "configuration": {"level": 1}}"#.to_owned();
    let bytes = || named("bytes");
    let content: Vec<u8> = (1..=24).collect();
    let chunk = |chain: &[String]| {
        let codec = codec(&format!("[{}]", chain.join(", ")), "uint8", &[4, 6]);
        let (_, encoded) = encode(&codec, &content, &[0]).expect("encodes");
        (codec, encoded)
    };

    // The inner chunks are compressed separately.
    let (codec, encoded) =
        chunk(&[shard("[2, 3]", &[transpose("[1, 0]"), bytes(), gzip()], "end")]);
    let found = locate(&codec, &[3, 1], &encoded);
    assert!(found.compressed);
    assert_eq!(found.stored, StoredBytes::EncodedBy("gzip".to_owned()));
    assert_eq!(found.encoded_bytes(), None);
    let StoredBytes::Range(range) = &found.inner_chunks[0].stored else { panic!("{found:?}") };
    let inner = codec.shard().expect("a shard").inner();
    let mut scratch = Scratch::new();
    let stored = inner.decompress(&encoded[small(range)], &mut scratch).expect("decompresses");
    assert_eq!(stored[small(&found.bytes)], [content[3 * 6 + 1]]);

    // The shard is compressed with its index, which cannot be read alone.
    let (codec, encoded) = chunk(&[shard("[2, 3]", &[bytes()], "end"), gzip(), named("crc32c")]);
    let length = u64::try_from(encoded.len()).expect("small");
    let locator = codec.locate(&[3, 1], Some(length)).expect("in bounds");
    assert_eq!(locator.need(), None);
    let found = locator.location().expect("nothing is needed");
    assert!(!found.compressed);
    assert_eq!(found.inner_chunks[0].stored, StoredBytes::EncodedBy("gzip".to_owned()));
    assert_eq!((found.position, found.bytes.clone(), found.encoded_bytes()), (4, 4..5, None));
}

#[test]
fn what_is_not_stored_is_located_without_bytes() {
    let list =
        format!("[{}]", shard("[4, 3]", &[shard("[2, 3]", &[named("bytes")], "end")], "start"));
    let codec = codec(&list, "uint8", &[4, 6]);
    let mut content = [7; 24];
    content[0] = 1;
    let (_, encoded) = encode(&codec, &content, &[7]).expect("encodes");
    let stored = |location: &ElementLocation| -> Vec<StoredBytes> {
        location.inner_chunks.iter().map(|inner| inner.stored.clone()).collect()
    };
    // Next to the element that is stored, but in another chunk of the inner shard.
    let found = locate(&codec, &[2, 0], &encoded);
    assert!(matches!(&stored(&found)[..], [StoredBytes::Range(_), StoredBytes::LeftOut]));
    let found = locate(&codec, &[0, 4], &encoded);
    assert_eq!(stored(&found), [StoredBytes::LeftOut, StoredBytes::NotStored]);
    assert_eq!((found.position, found.encoded_bytes()), (1, None));

    let locator = codec.locate(&[0, 4], None).expect("in bounds");
    assert_eq!(locator.need(), None);
    let found = locator.location().expect("nothing is needed");
    assert_eq!(stored(&found), [StoredBytes::NotStored, StoredBytes::NotStored]);
    assert_eq!(found.inner_chunks[0].chunk, [0, 1]);
    assert_eq!(found.inner_chunks[1].index, [0, 1]);
}

#[test]
fn wrong_indices_and_lengths_are_errors() {
    let inner = shard("[2, 3]", &[named("bytes")], "end");
    let list = format!("[{}]", shard("[4, 3]", &[inner], "end"));
    let codec = codec(&list, "uint8", &[4, 6]);
    let (_, encoded) = encode(&codec, &[1; 24], &[0]).expect("encodes");
    let length = u64::try_from(encoded.len()).expect("small");
    for index in [&[4, 0][..], &[0, 6], &[0], &[0, 0, 0]] {
        assert!(codec.locate(index, Some(length)).is_none(), "{index:?}");
    }
    let mut scratch = Scratch::new();

    // Shorter than its index.
    let mut locator = codec.locate(&[0, 0], Some(5)).expect("in bounds");
    assert_eq!((locator.need(), locator.location()), (Some(0..5), None));
    let error = locator.supply(&encoded[..5], &mut scratch).expect_err("too short");
    assert!(matches!(error.kind(), ChunkErrorKind::IndexLength { found: 5, expected: 32 }));

    // An inner index whose second entry lies outside the inner shard.
    let mut locator = codec.locate(&[3, 4], Some(length)).expect("in bounds");
    let range = locator.need().expect("the index");
    locator.supply(&encoded[small(&range)], &mut scratch).expect("an index");
    let range = locator.need().expect("the inner index");
    let mut index = encoded[small(&range)].to_vec();
    index[16] = 200;
    let error = locator.supply(&index, &mut scratch).expect_err("outside");
    assert!(matches!(error.kind(), ChunkErrorKind::IndexRange { .. }), "{error}");
    assert_eq!(error.inner_chunks(), [[0, 1], [1, 0]], "{error}");
    // The need is unchanged.
    assert_eq!((locator.need(), locator.location()), (Some(range.clone()), None));
    locator.supply(&encoded[small(&range)], &mut scratch).expect("an index");
    assert!(locator.location().is_some());
    let error = locator.supply(&[], &mut scratch).expect_err("not needed");
    assert!(matches!(error.kind(), ChunkErrorKind::NothingNeeded));
}
