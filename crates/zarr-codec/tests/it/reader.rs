//! The response of a `ChunkReader` to bytes other than those it needs.

use std::slice::from_ref;

use zarr_codec::{ChunkReader, Need, Scratch};
use zarr_view::{Output, View};

use crate::support::codec;

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
