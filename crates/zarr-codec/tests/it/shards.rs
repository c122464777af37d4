//! Shards: golden bytes, empty inner chunks, and valid and invalid indices.

use std::slice::from_ref;

use zarr_codec::{ChunkCodec, ChunkErrorKind, Encoded, Need, Scratch, Slice};
use zarr_view::{Output, View};

use crate::naive::crc32c;
use crate::support::{codec, decode, decode_whole, encode, everything};

fn chain(location: &str, index_codecs: &str) -> String {
    format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [2],
        "codecs": [{{"name": "bytes"}}], "index_codecs": {index_codecs},
        "index_location": "{location}"}}}}]"#
    )
}

const LITTLE: &str = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
const CHECKED: &str =
    r#"[{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]"#;

fn entries(entries: &[(u64, u64)]) -> Vec<u8> {
    entries
        .iter()
        .flat_map(|(offset, length)| [offset.to_le_bytes(), length.to_le_bytes()].concat())
        .collect()
}

const ABSENT: (u64, u64) = (u64::MAX, u64::MAX);

#[test]
fn sd_59_offsets_count_from_the_start_of_the_shard() {
    let elements = [1, 2, 9, 9, 5, 6];
    let index = entries(&[(0, 2), ABSENT, (2, 2)]);
    let at_end = [&[1, 2, 5, 6], &index[..]].concat();
    let shard = codec(&chain("end", LITTLE), "uint8", &[6]);
    assert_eq!(encode(&shard, &elements, &[9]).expect("encodes"), (Encoded::Chunk, at_end.clone()));
    assert_eq!(decode_whole(&shard, &at_end, &[9]).expect("decodes"), elements);

    // `end` is the default.
    let default = chain("end", LITTLE)
        .replace(r#", "index_location": "end""#, "")
        .replace(",\n        \"index_location\": \"end\"", "");
    assert!(!default.contains("index_location"));
    let default = codec(&default, "uint8", &[6]);
    assert_eq!(decode_whole(&default, &at_end, &[9]).expect("decodes"), elements);

    let index = entries(&[(52, 2), ABSENT, (54, 2)]);
    let checksum = crc32c(&index).to_le_bytes();
    let at_start = [&index[..], &checksum, &[1, 2, 5, 6]].concat();
    let shard = codec(&chain("start", CHECKED), "uint8", &[6]);
    assert_eq!(encode(&shard, &elements, &[9]).expect("encodes").1, at_start);
    assert_eq!(decode_whole(&shard, &at_start, &[9]).expect("decodes"), elements);
}

#[test]
fn sd_60_a_shard_without_inner_chunks_is_not_stored() {
    for (location, index) in [("end", LITTLE), ("start", CHECKED)] {
        let shard = codec(&chain(location, index), "uint8", &[6]);
        let (content, bytes) = encode(&shard, &[9; 6], &[9]).expect("encodes");
        assert_eq!(content, Encoded::Empty);
        // It is still a shard, for stores that cannot delete.
        assert_eq!(decode_whole(&shard, &bytes, &[9]).expect("decodes"), [9; 6]);
    }
}

#[test]
fn a_fill_value_that_is_no_element_leaves_nothing_out() {
    let plain =
        codec(r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#, "uint16", &[2]);
    for fill in [&[][..], &[0], &[0; 4]] {
        let (content, bytes) = encode(&plain, &[0; 4], fill).expect("encodes");
        assert_eq!((content, bytes.len()), (Encoded::Chunk, 4));
    }
}

#[test]
fn sd_59_gaps_and_overlaps_are_allowed() {
    let shard = codec(&chain("end", LITTLE), "uint8", &[6]);
    let bytes = [&[0xee, 1, 2, 0xee, 3, 4][..], &entries(&[(4, 2), (1, 2), (1, 2)])].concat();
    assert_eq!(decode_whole(&shard, &bytes, &[9]).expect("decodes"), [3, 4, 1, 2, 1, 2]);
}

#[test]
fn sd_59_entries_that_cannot_be() {
    let shard = codec(&chain("end", LITTLE), "uint8", &[6]);
    let refused = |entry: (u64, u64)| {
        let bytes = [&[1, 2, 3, 4, 5, 6][..], &entries(&[(0, 2), entry, (4, 2)])].concat();
        let mut scratch = Scratch::new();
        // Even if that inner chunk is not read: the index is damaged.
        let region = [Slice::from(0..2)];
        let error = decode(&shard, &bytes, &region, &[9], &mut scratch).expect_err("not possible");
        assert_eq!(error.inner_chunks(), [[1]]);
        let is_half = (entry.0 == u64::MAX) != (entry.1 == u64::MAX);
        match error.kind() {
            ChunkErrorKind::IndexEntry { .. } => assert!(is_half),
            ChunkErrorKind::IndexRange { .. } => assert!(!is_half),
            other => panic!("{other:?}"),
        }
        error.to_string()
    };
    insta::assert_snapshot!(refused((u64::MAX, 2)), @"codec sharding_indexed ($.codecs[0]): inner chunk [1]: offset 18446744073709551615 and length 2 in the index; both are 2^64 - 1 for an inner chunk that is not stored, or neither");
    insta::assert_snapshot!(refused((2, u64::MAX)), @"codec sharding_indexed ($.codecs[0]): inner chunk [1]: offset 2 and length 18446744073709551615 in the index; both are 2^64 - 1 for an inner chunk that is not stored, or neither");
    insta::assert_snapshot!(refused((5, 2)), @"codec sharding_indexed ($.codecs[0]): inner chunk [1]: offset 5 and length 2 in the index, but inner chunks lie within bytes 0 to 6");
    insta::assert_snapshot!(refused((u64::MAX - 1, 2)), @"codec sharding_indexed ($.codecs[0]): inner chunk [1]: offset 18446744073709551614 and length 2 in the index, but inner chunks lie within bytes 0 to 6");
    insta::assert_snapshot!(refused((2, u64::MAX - 1)), @"codec sharding_indexed ($.codecs[0]): inner chunk [1]: offset 2 and length 18446744073709551614 in the index, but inner chunks lie within bytes 0 to 6");

    let shard = codec(&chain("start", LITTLE), "uint8", &[4]);
    let bytes = [&entries(&[(31, 2), (32, 2)])[..], &[1, 2]].concat();
    let error = decode_whole(&shard, &bytes, &[9]).expect_err("into the index");
    insta::assert_snapshot!(error, @"codec sharding_indexed ($.codecs[0]): inner chunk [0]: offset 31 and length 2 in the index, but inner chunks lie within bytes 32 to 34");
}

/// A shard of inner chunks of two bytes, with gzip. This many of them share one range, a member
/// with a comment of 5000 bytes; the others are where `other` says.
fn commented_gzip(chunks: u64, other: &[(u64, u64)]) -> (ChunkCodec, Vec<u8>) {
    let gzip = r#""bytes"}, {"name": "gzip", "configuration": {"level": 1}}"#;
    let chain = chain("end", LITTLE).replacen(r#""bytes"}"#, gzip, 1);
    let count = chunks + other.len() as u64;
    let plain = codec(
        r#"[{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 1}}]"#,
        "uint8",
        &[2],
    );
    let (_, mut member) = encode(&plain, &[1, 2], &[9]).expect("encodes");
    member[3] |= 1 << 4; // the flag of a comment, behind a header of ten bytes
    member.splice(10..10, [vec![b'-'; 4999], vec![0]].concat());
    let len = member.len() as u64;
    let index = [vec![(0, len); usize::try_from(chunks).expect("few")], other.to_vec()].concat();
    (codec(&chain, "uint8", &[count * 2]), [member, entries(&index)].concat())
}

#[test]
fn sd_59_overlaps_cost_no_more_than_the_shard_accounts_for() {
    // The work is proportional to the decompressed bytes: here 5022 for the first inner chunk,
    // which are stored, and as many for each of the others, which are not.
    let (shard, bytes) = commented_gzip(1, &[]);
    assert_eq!(decode_whole(&shard, &bytes, &[9]).expect("decodes"), [1, 2]);
    let (shard, bytes) = commented_gzip(1000, &[]);
    let error = decode_whole(&shard, &bytes, &[9]).expect_err("a thousand times the same");
    insta::assert_snapshot!(error, @"codec sharding_indexed ($.codecs[0]): inner chunks overlap: 5022000 bytes in all, but at most 89022 can be right within 21022 bytes");
    // An index that is read separately, of a shard of unknown length: its last entry, which the
    // region does not touch, makes the shard look long.
    let far = (1 << 40, 1);
    let (codec, bytes) = commented_gzip(1000, &[far]);
    let shard = codec.shard().expect("a shard");
    let (stored, index) = bytes.split_at(bytes.len() - 1001 * 16);
    shard.parse_index(index, None, &mut Scratch::new()).expect("could be");
    let mut elements = [0; 1000];
    let view = View::contiguous(&[1000]).expect("a view");
    let mut out = Output::new(&mut elements, &view, 1).expect("fits");
    let mut reader = codec.reader(&[Slice::from(0..1000)], out.view(), 0);
    let mut scratch = Scratch::new();
    reader.supply(index, None, &mut out, &[9], &mut scratch).expect("could be");
    let len = stored.len() as u64;
    assert_eq!(reader.need(), Need::Ranges(std::slice::from_ref(&(0..len))));
    let error = reader.supply(stored, None, &mut out, &[9], &mut scratch);
    insta::assert_snapshot!(error.expect_err("five hundred times the same"), @"codec sharding_indexed ($.codecs[0]): inner chunks overlap: 2511000 bytes in all, but at most 39022 can be right within 5022 bytes");
    assert_eq!(elements, [0; 1000]);
}

#[test]
fn sd_59_lengths_that_overflow_together_are_refused() {
    let shard = codec(&chain("end", LITTLE), "uint8", &[6]);
    let shard = shard.shard().expect("a shard");
    let index = entries(&[(0, 1 << 63); 3]);
    for length in [None, Some(u64::MAX), Some((1 << 63) + 100)] {
        let error = shard.parse_index(&index, length, &mut Scratch::new());
        let error = error.map(drop).expect_err("three times as much as there can be");
        assert!(matches!(error.kind(), ChunkErrorKind::IndexOverlap { .. }), "{error}");
    }
}

#[test]
fn sd_59_equal_inner_chunks_may_be_stored_once() {
    // Noise, which zstd and gzip make slightly longer.
    let noise: Vec<u8> = (0..64_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for (codecs, size) in [
        (r#"{"name": "bytes"}"#, 64),
        (r#"{"name": "bytes"}, {"name": "crc32c"}"#, 1),
        (
            r#"{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 1}}, {"name": "crc32c"}"#,
            1,
        ),
        (
            r#"{"name": "bytes"}, {"name": "zstd", "configuration": {"level": 1, "checksum": true}}"#,
            64,
        ),
    ] {
        let chain = format!(
            r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{size}],
            "codecs": [{codecs}], "index_codecs": {LITTLE}}}}}]"#
        );
        let shard = codec(&chain, "uint8", &[size * 100]);
        let element = &noise[..usize::try_from(size).expect("small")];
        let (_, inner) =
            encode(shard.shard().expect("a shard").inner(), element, &[9]).expect("encodes");
        let index = entries(&vec![(0, inner.len() as u64); 100]);
        let decoded = decode_whole(&shard, &[inner, index].concat(), &[9]).expect("decodes");
        assert_eq!(decoded, element.repeat(100), "{codecs}");
    }
}

#[test]
fn sd_59_equal_inner_shards_may_be_stored_once() {
    // The index of an inner shard is twice as long as its elements.
    let nested = format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [4096],
        "codecs": [{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [8],
          "codecs": [{{"name": "bytes"}}], "index_codecs": {LITTLE}}}}}],
        "index_codecs": {LITTLE}}}}}]"#
    );
    let shard = codec(&nested, "uint8", &[409_600]);
    let elements: Vec<u8> = (0..4096_u32).map(|n| (n % 200) as u8 + 10).collect();
    let (_, inner) =
        encode(shard.shard().expect("a shard").inner(), &elements, &[9]).expect("encodes");
    assert_eq!(inner.len(), 4096 + 512 * 16);
    let index = entries(&vec![(0, inner.len() as u64); 100]);
    let decoded = decode_whole(&shard, &[inner, index].concat(), &[9]).expect("decodes");
    assert_eq!(decoded, elements.repeat(100));
}

#[test]
fn a_masked_output_takes_what_is_not_masked() {
    let shard = codec(&chain("end", LITTLE), "uint8", &[6]);
    let elements = [1, 2, 9, 9, 5, 6];
    let (_, bytes) = encode(&shard, &elements, &[9]).expect("encodes");
    for (before, after) in [(0, 1), (1, 0), (0, 3), (3, 0), (1, 2), (2, 2)] {
        let inside = 6 - before - after;
        let mut found = vec![0xcd; inside];
        let view = View::contiguous(&[inside]).expect("small");
        let mut out = Output::new(&mut found, &view, 1).expect("fits");
        let mut padded = out.pad(&[(before, after)]).expect("pads");
        let everything = everything(&shard);
        shard.decode(&bytes, &everything, &mut padded, &[9], &mut Scratch::new()).expect("decodes");
        assert_eq!(found, elements[before..6 - after], "{before} {after}");
    }
}

#[test]
fn sd_59_too_short_for_an_index() {
    let shard = codec(&chain("end", CHECKED), "uint8", &[6]);
    let error = decode_whole(&shard, &[0; 51], &[9]).expect_err("too short");
    assert!(matches!(error.kind(), ChunkErrorKind::EncodedLength { .. }), "{error:?}");
    insta::assert_snapshot!(error, @"codec sharding_indexed ($.codecs[0]): 51 encoded bytes, expected at least 52");
    let error = decode_whole(&shard, &[0; 52], &[9]).expect_err("no checksum");
    assert!(matches!(error.kind(), ChunkErrorKind::Checksum { .. }), "{error:?}");
    insta::assert_snapshot!(error, @"codec crc32c ($.codecs[0].configuration.index_codecs[1]): checksum 0x00000000 stored, 0x288c3ab9 computed");
}

#[test]
fn faults_in_nested_inner_chunks_say_which() {
    let nested = format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [4],
        "codecs": {}, "index_codecs": {LITTLE}}}}}]"#,
        chain("end", LITTLE)
    );
    let shard = codec(&nested, "bool", &[8]);
    let (_, mut bytes) = encode(&shard, &[0, 0, 0, 0, 0, 0, 1, 1], &[0]).expect("encodes");
    assert_eq!(bytes[..2], [1, 1]);
    bytes[1] = 7;
    let error = decode_whole(&shard, &bytes, &[0]).expect_err("no boolean");
    assert_eq!(error.inner_chunks(), [[1], [1]]);
    insta::assert_snapshot!(error, @"codec bytes ($.codecs[0].configuration.codecs[0].configuration.codecs[0]): inner chunk [1]: inner chunk [1]: element 1 is the boolean byte 7; 0 and 1 are allowed");
}

#[test]
fn only_inner_chunks_that_a_region_needs_are_decoded() {
    let shard = codec(
        &chain("end", LITTLE).replace("\"bytes\"}", "\"bytes\"}, {\"name\": \"crc32c\"}"),
        "uint8",
        &[8],
    );
    let (_, mut bytes) = encode(&shard, &[1, 2, 3, 4, 5, 6, 7, 8], &[0]).expect("encodes");
    bytes[6] ^= 1; // the second of four inner chunks, of two bytes and a checksum
    let read = |slice: Slice| decode(&shard, &bytes, &[slice], &[0], &mut Scratch::new());
    assert_eq!(read(Slice::from(4..8)).expect("not damaged"), [5, 6, 7, 8]);
    assert_eq!(read(Slice { start: 1, count: 3, step: 3 }).expect("not damaged"), [2, 5, 8]);
    assert!(read(Slice::from(3..5)).is_err());
}

/// Its inner chunks are listed once the index is there: the object may be missing, or short.
#[test]
fn a_part_of_more_inner_chunks_than_memory_begins_with_the_index() {
    let shard = codec(&chain("start", LITTLE), "uint8", &[1 << 40]);
    let index = 0..16 << 39;
    let part = [Slice { start: 1, count: 1 << 38, step: 1 }];
    let view = View::contiguous(&[1 << 38]).expect("fits");
    for cost in [0, 1] {
        assert_eq!(shard.reader(&part, &view, cost).need(), Need::Ranges(from_ref(&index)));
    }
    let most = [Slice { start: 1, count: (1 << 38) + 1, step: 3 }];
    let view = View::contiguous(&[(1 << 38) + 1]).expect("fits");
    assert_eq!(shard.reader(&most, &view, 0).need(), Need::Ranges(from_ref(&index)));
    // The whole shard, if the other inner chunks cost less than a range.
    assert_eq!(shard.reader(&most, &view, 1).need(), Need::Ranges(from_ref(&index)));
    assert_eq!(shard.reader(&most, &view, 1 << 40).need(), Need::All);
    let past = [Slice { step: 4, ..most[0] }];
    assert_eq!(shard.reader(&past, &view, 0).need(), Need::All);
}

#[test]
fn an_index_can_be_read_apart() {
    let codec = codec(&chain("start", CHECKED), "uint8", &[6]);
    let shard = codec.shard().expect("a shard");
    assert_eq!((shard.grid_shape(), shard.index_len()), (&[3][..], 52));
    assert_eq!(shard.index_range(100), Some(0..52));
    assert_eq!(shard.index_range(51), None);
    let (_, bytes) = encode(&codec, &[1, 2, 9, 9, 5, 6], &[9]).expect("encodes");
    let index = shard.parse_index(&bytes[..52], None, &mut Scratch::new()).expect("parses");
    let ranges: Vec<_> = (0..index.len()).map(|chunk| index.range(chunk)).collect();
    assert_eq!(ranges, [Some(52..54), None, Some(54..56)]);
    // And the inner chunks one by one.
    assert_eq!(decode_whole(shard.inner(), &bytes[54..56], &[9]).expect("decodes"), [5, 6]);
    let error = shard.parse_index(&bytes[..51], None, &mut Scratch::new()).expect_err("short");
    insta::assert_snapshot!(error, @"codec chain ($.codecs[0].configuration.index_codecs): an index of 51 bytes, expected 52");
}
