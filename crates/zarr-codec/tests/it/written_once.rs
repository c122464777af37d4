//! Every element of a result is written once if the chain is a single view: nothing is assembled
//! in a buffer and copied again.

use zarr_codec::{AxisEdges, Chain, Encoded, Scratch, Slice};
use zarr_metadata::{Codec, DataType};
use zarr_view::{Output, View, bytes_written};

const BYTES: &str = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
const SWAPPED: &str = r#"{"name": "bytes", "configuration": {"endian": "big"}}"#;
const PACKBITS: &str = r#"{"name": "packbits", "configuration": {"last_bit": 10}}"#;
const TRANSPOSE: &str = r#"{"name": "transpose", "configuration": {"order": [2, 0, 1]}}"#;
const SPLIT: &str = r#"{"name": "reshape", "configuration": {"shape": [[0], 2, -1, [2]]}}"#;
const FLAT: &str = r#"{"name": "reshape", "configuration": {"shape": [-1]}}"#;
const ZSTD: &str = r#"{"name": "zstd", "configuration": {"level": 1, "checksum": false}}"#;

const SHAPE: [usize; 3] = [20, 24, 30];

/// The bytes that copies write while `work` runs.
fn counted(work: impl FnOnce()) -> u64 {
    let before = bytes_written();
    work();
    bytes_written() - before
}

fn chain(codecs: &[&str]) -> Chain {
    let codecs: Vec<Codec> =
        codecs.iter().map(|codec| Codec::from_json(codec.as_bytes()).expect("valid")).collect();
    let edges = SHAPE.map(|size| AxisEdges::one(size as u64));
    Chain::bind(&codecs, &DataType::Uint16, &edges).expect("binds")
}

/// Bytes written to encode the chunk, and to decode this box of it into the middle of a larger
/// array.
fn both_ways(codecs: &[&str], region: [Slice; 3]) -> (u64, u64) {
    let codec = chain(codecs).for_shape(&SHAPE.map(|size| size as u64)).expect("compiles");
    let elements: Vec<u8> =
        (0..20 * 24 * 30_u32).flat_map(|n| ((n * 7 % 2047) as u16).to_le_bytes()).collect();
    let whole = View::contiguous(&SHAPE).expect("a view");
    let (mut encoded, mut scratch) = (Vec::new(), Scratch::new());
    let encoding = counted(|| {
        let content = codec.encode(&elements, &whole, &[0, 0], &mut encoded, &mut scratch);
        assert_eq!(content.expect("encodes"), Encoded::Chunk);
    });

    let outer = [40, 40, 40];
    let mut target = vec![0xee; 40 * 40 * 40 * 2];
    let place = region.map(|slice| 3..3 + slice.count);
    let view = View::contiguous(&outer).and_then(|outer| outer.shrink(&place)).expect("a view");
    let mut out = Output::new(&mut target, &view, 2).expect("an output");
    let decoding = counted(|| {
        codec.decode(&encoded, &region, &mut out, &[0, 0], &mut scratch).expect("decodes");
    });

    // The right bytes at the right places, and nothing else changed.
    let mut wanted = vec![0xee; 40 * 40 * 40 * 2];
    for a in 0..region[0].count {
        for b in 0..region[1].count {
            for c in 0..region[2].count {
                let [x, y, z] = [(a, 0), (b, 1), (c, 2)].map(|(n, axis)| region[axis].start + n);
                let (from, to) =
                    (2 * ((x * 24 + y) * 30 + z), 2 * (((3 + a) * 40 + 3 + b) * 40 + 3 + c));
                wanted[to..to + 2].copy_from_slice(&elements[from..from + 2]);
            }
        }
    }
    assert!(target == wanted, "{codecs:?}");
    (encoding, decoding)
}

/// Bytes that copies write to decode a chunk as the second of two chunks side by side.
fn in_place(codecs: &[&str]) -> u64 {
    let codec = chain(codecs).for_shape(&SHAPE.map(|size| size as u64)).expect("compiles");
    let elements: Vec<u8> =
        (0..20 * 24 * 30_u32).flat_map(|n| ((n * 7 % 2047) as u16).to_le_bytes()).collect();
    let whole = View::contiguous(&SHAPE).expect("a view");
    let (mut encoded, mut scratch) = (Vec::new(), Scratch::new());
    codec.encode(&elements, &whole, &[0, 0], &mut encoded, &mut scratch).expect("encodes");
    let mut target = vec![0xee; 2 * elements.len()];
    let both = View::contiguous(&[40, 24, 30]).expect("a view");
    let view = both.shrink(&[20..40, 0..24, 0..30]).expect("a view");
    let mut out = Output::new(&mut target, &view, 2).expect("an output");
    let everything = SHAPE.map(|size| Slice::from(0..size));
    let written = counted(|| {
        codec.decode(&encoded, &everything, &mut out, &[0, 0], &mut scratch).expect("decodes");
    });
    assert!(
        target[elements.len()..] == elements && target[..elements.len()].iter().all(|b| *b == 0xee)
    );
    written
}

#[test]
fn every_element_of_a_result_is_written_once() {
    let whole = SHAPE.map(|size| Slice::from(0..size));
    let part = [(3..17).into(), (5..6).into(), (0..29).into()];
    let chunk_bytes = 20 * 24 * 30 * 2;
    // Elements that lie as they are stored are packed, compressed or stored from where they are:
    // encoding copies none of them.
    let as_stored: &[&[&str]] =
        &[&[BYTES], &[BYTES, ZSTD], &[SPLIT, BYTES, ZSTD], &[SPLIT, BYTES], &[PACKBITS]];
    let single: &[&[&str]] = &[
        &[SWAPPED],
        &[TRANSPOSE, BYTES],
        &[TRANSPOSE, SWAPPED, ZSTD],
        &[TRANSPOSE, PACKBITS, ZSTD],
        &[SPLIT, r#"{"name": "transpose", "configuration": {"order": [3, 1, 0, 2]}}"#, BYTES],
        &[TRANSPOSE, FLAT, PACKBITS],
    ];
    for codecs in single.iter().chain(as_stored) {
        for region in [whole, part] {
            let region_bytes: usize = 2 * region.map(|slice| slice.count).iter().product::<usize>();
            let (encoding, decoding) = both_ways(codecs, region);
            assert_eq!(decoding, region_bytes as u64, "decoding {codecs:?} {region:?}");
            let copied = if as_stored.contains(codecs) { 0 } else { chunk_bytes };
            assert_eq!(encoding, copied, "encoding {codecs:?}");
        }
    }
    // A whole chunk whose output is contiguous, in the order in which it is stored, is
    // decompressed or unpacked directly into it: no copy at all.
    for codecs in [&[BYTES, ZSTD][..], &[FLAT, BYTES, ZSTD], &[PACKBITS], &[PACKBITS, ZSTD]] {
        assert_eq!(in_place(codecs), 0, "{codecs:?}");
    }
    assert_eq!(in_place(&[SWAPPED, ZSTD]), chunk_bytes);
    assert_eq!(in_place(&[TRANSPOSE, BYTES, ZSTD]), chunk_bytes);
    // If no single view holds the chain, there is one stop on the way, so everything moves twice.
    let stack = [
        TRANSPOSE,
        FLAT,
        r#"{"name": "reshape", "configuration": {"shape": [160, 90]}}"#,
        r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#,
        BYTES,
    ];
    let (_, decoding) = both_ways(&stack, whole);
    assert!(decoding <= 2 * chunk_bytes, "{decoding}");
    assert!(decoding > chunk_bytes, "{decoding}: this chain is one view, take another");
}
