//! The response of a `ChunkReader` to bytes other than those it needs.

use std::slice::from_ref;

use zarr_codec::{ChunkReader, Need, Scratch, Slice};
use zarr_view::{Output, View};

use crate::support::{codec, encode};

const PACKED: &str = r#"[{"name": "packbits", "configuration": {"last_bit": 3}}]"#;
const SHARD: &str = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [4],
    "codecs": [{"name": "bytes"}],
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]"#;

/// The need, and the bytes for it.
type Step<'a> = (Need<'a>, &'a [u8]);

/// Elements 8 and 9 of 16, one step after the other; other bytes come before each.
#[test]
fn a_reader_that_was_refused_still_needs_what_it_needed() {
    let index: Vec<u8> = (0..4_u64).flat_map(|n| [4 * n, 4]).flat_map(u64::to_le_bytes).collect();
    let (packed, inner, plain) = (4..5, 8..12, 8..10);
    let packed_shard = SHARD.replacen("bytes", "packbits", 1);
    let cases: [(&str, Vec<Step<'_>>); 4] = [
        (PACKED, vec![(Need::Ranges(from_ref(&packed)), &[0x76])]),
        (SHARD, vec![(Need::Suffix(64), &index), (Need::Ranges(from_ref(&plain)), &[6, 7])]),
        (
            &packed_shard,
            vec![(Need::Suffix(64), &index), (Need::Ranges(from_ref(&inner)), &[6, 7, 8, 9])],
        ),
        (r#"[{"name": "bytes"}]"#, vec![(Need::Ranges(from_ref(&plain)), &[6, 7])]),
    ];
    for (codecs, steps) in cases {
        let codec = codec(codecs, "uint8", &[16]);
        let (mut elements, mut scratch) = ([0; 2], Scratch::new());
        let view = View::contiguous(&[2]).expect("small");
        let mut out = Output::new(&mut elements, &view, 1).expect("fits");
        let mut reader = codec.reader(&[(8..10).into()], &view, 0);
        for (need, bytes) in steps {
            assert_eq!(reader.need(), need, "{codecs}");
            let few = bytes.get(1..).expect("more than none");
            assert!(reader.supply(few, None, &mut out, &[0], &mut scratch).is_err(), "{codecs}");
            assert_eq!(reader.need(), need, "{codecs}");
            reader.supply(bytes, None, &mut out, &[0], &mut scratch).expect("decodes");
        }
        // Nothing more is decoded, and that is not reported as success.
        assert_eq!(reader.need(), Need::Nothing);
        let error = reader.supply(&[1, 2], None, &mut out, &[0], &mut scratch).expect_err("done");
        assert!(
            error.to_string().ends_with("the region has been decoded, and needs no more bytes")
        );
        assert_eq!(elements, [6, 7], "{codecs}");
    }
}

#[test]
fn a_whole_chunk_that_was_refused_is_still_needed() {
    let codec = codec(PACKED, "uint8", &[4]);
    let (mut elements, mut scratch) = ([0; 4], Scratch::new());
    let view = View::contiguous(&[4]).expect("small");
    let mut out = Output::new(&mut elements, &view, 1).expect("fits");
    let mut reader = ChunkReader::whole(&codec, &[(0..4).into()]);
    assert!(reader.supply(&[1], None, &mut out, &[0], &mut scratch).is_err());
    assert_eq!(reader.need(), Need::All);
    reader.supply(&[0x21, 0x43], None, &mut out, &[0], &mut scratch).expect("decodes");
    assert_eq!(reader.need(), Need::Nothing);
    assert_eq!(elements, [1, 2, 3, 4]);
}

/// Every region of a chunk, in some slices of each axis, is the one of its index.
#[test]
fn a_region_is_read_from_the_bytes_that_it_needs() {
    let inner = |codecs: &str| {
        SHARD.replacen("[4]", "[2, 1, 2]", 1).replacen("{\"name\": \"bytes\"}", codecs, 1)
    };
    let transposed =
        r#"[{"name": "transpose", "configuration": {"order": [2, 0, 1]}}, {"name": "bytes"}]"#;
    let chains = [
        r#"[{"name": "bytes"}]"#.to_owned(),
        transposed.to_owned(),
        r#"[{"name": "packbits"}]"#.to_owned(),
        r#"[{"name": "bytes"}, {"name": "crc32c"}]"#.to_owned(),
        inner(r#"{"name": "bytes"}"#),
        inner(r#"{"name": "transpose", "configuration": {"order": [1, 2, 0]}}, {"name": "bytes"}"#),
    ];
    let shape = [4, 3, 6];
    let all: Vec<u8> = (1..=72).collect();
    let mut scratch = Scratch::new();
    for chain in &chains {
        let codec = codec(chain, "uint8", &shape);
        let (_, stored) = encode(&codec, &all, &[0]).expect("encodes");
        let slices = |size: usize| {
            let of = move |(start, step): (usize, usize)| {
                let most = (size - start).div_ceil(step);
                [1, most].map(|count| Slice { start, count, step })
            };
            (0..size).flat_map(|start| (1..=2).map(move |step| (start, step))).flat_map(of)
        };
        for (a, b) in slices(4).flat_map(|a| slices(3).map(move |b| (a, b))) {
            for (c, cost) in slices(6).flat_map(|c| [0, 2, 100].map(|cost| (c, cost))) {
                let region = [a, b, c];
                let counts = region.map(|slice| slice.count);
                let at = |axis: usize| {
                    (0..counts[axis]).map(move |n| region[axis].start + n * region[axis].step)
                };
                let expected: Vec<u8> = at(0)
                    .flat_map(|a| at(1).map(move |b| (a, b)))
                    .flat_map(|(a, b)| at(2).map(move |c| (a * 3 + b) * 6 + c))
                    .map(|number| all[number])
                    .collect();
                let view = View::contiguous(&counts).expect("small");
                let mut elements = vec![0; expected.len()];
                let mut out = Output::new(&mut elements, &view, 1).expect("fits");
                let mut reader = codec.reader(&region, &view, cost);
                loop {
                    let bytes = match reader.need() {
                        Need::Nothing => break,
                        Need::All => stored.clone(),
                        Need::Suffix(len) => stored[stored.len() - len as usize..].to_vec(),
                        Need::Ranges(ranges) => ranges
                            .iter()
                            .flat_map(|range| &stored[range.start as usize..range.end as usize])
                            .copied()
                            .collect(),
                    };
                    let len = Some(stored.len() as u64);
                    reader.supply(&bytes, len, &mut out, &[0], &mut scratch).expect("decodes");
                }
                assert_eq!(elements, expected, "{region:?} of {chain}, a range costs {cost}");
            }
        }
    }
}
