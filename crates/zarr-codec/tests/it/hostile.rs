//! Chains as large as a document may have: they work on a stack of the usual size, with time and
//! memory in proportion.

use std::thread;
use std::time::{Duration, Instant};

use zarr_codec::{AxisEdges, Chain, ChunkErrorKind, Encoded, Need, Options, Scratch, Slice};
use zarr_metadata::Codec;
use zarr_view::{Output, View};

use crate::support::{Random, bind, codec, data_type, decode, decode_whole, encode};

/// Where less than a stack frame a codec fits.
fn on_a_small_stack(stack: usize, work: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(stack).spawn(work).expect("a thread");
    thread.join().expect("no panic");
}

/// Codecs that do not merge to a single view, in pairs: every one is a stop.
fn stops(pairs: usize, rows: u64, columns: u64) -> String {
    let turn = r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#;
    let flow =
        format!(r#"{{"name": "reshape", "configuration": {{"shape": [{rows}, {columns}]}}}}"#);
    vec![format!("{turn}, {flow}"); pairs].join(", ")
}

#[test]
fn a_thousand_codecs_that_no_view_holds_take_no_stack() {
    for array_to_bytes in [r#"{"name": "bytes"}"#, r#"{"name": "packbits"}"#] {
        let chain = format!("[{}, {array_to_bytes}]", stops(511, 6, 35));
        on_a_small_stack(192 << 10, move || {
            let codec = codec(&chain, "uint8", &[6, 35]);
            assert_eq!(codec.transform().view(), None);
            let elements: Vec<u8> = (0..210).collect();
            let (content, encoded) = encode(&codec, &elements, &[0]).expect("encodes");
            assert_eq!(content, Encoded::Chunk);
            for row in 0..6 {
                for column in 0..35 {
                    let at = codec.transform().stored_position(&[row, column]).expect("an element");
                    assert_eq!(usize::from(encoded[at]), row * 35 + column);
                }
            }
            assert_eq!(decode_whole(&codec, &encoded, &[0]).expect("decodes"), elements);
            let part =
                [Slice { start: 1, count: 2, step: 1 }, Slice { start: 3, count: 9, step: 1 }];
            let steps =
                [Slice { start: 0, count: 3, step: 2 }, Slice { start: 4, count: 5, step: 6 }];
            for region in [part, steps] {
                let expected: Vec<u8> = (0..region[0].count * region[1].count)
                    .map(|n| {
                        let row = region[0].start + n / region[1].count * region[0].step;
                        let column = region[1].start + n % region[1].count * region[1].step;
                        elements[row * 35 + column]
                    })
                    .collect();
                let found = decode(&codec, &encoded, &region, &[0], &mut Scratch::new());
                assert_eq!(found.expect("decodes"), expected);
                // And through a caller that fetches the bytes.
                let view = View::contiguous(&region.map(|slice| slice.count)).expect("small");
                let mut read = vec![0; view.len()];
                let mut out = Output::new(&mut read, &view, 1).expect("fits");
                let mut reader = codec.reader(&region, out.view(), 0);
                assert_eq!(reader.need(), Need::All);
                let supplied = reader.supply(&encoded, None, &mut out, &[0], &mut Scratch::new());
                supplied.expect("decodes");
                assert_eq!(read, expected);
            }
        });
    }
}

#[test]
fn shards_as_deep_as_a_document_goes_take_a_small_stack() {
    let index = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
    let mut chain = format!(r#"[{}, {{"name": "bytes"}}]"#, stops(20, 6, 4));
    for _ in 0..40 {
        let configuration =
            format!(r#"{{"chunk_shape": [6, 4], "codecs": {chain}, "index_codecs": {index}}}"#);
        let shard = format!(r#"{{"name": "sharding_indexed", "configuration": {configuration}}}"#);
        chain = format!("[{}, {shard}]", stops(20, 6, 4));
    }
    // Half of what a thread has by default, and all of it for frames that are not optimised.
    let stack = if cfg!(debug_assertions) { 2 << 20 } else { 1 << 20 };
    on_a_small_stack(stack, move || {
        let codec = codec(&chain, "uint8", &[6, 4]);
        let elements: Vec<u8> = (1..=24).collect();
        let (_, encoded) = encode(&codec, &elements, &[0]).expect("encodes");
        assert_eq!(decode_whole(&codec, &encoded, &[0]).expect("decodes"), elements);
    });
}

/// Each of these would take minutes if a codec took more time than its own length accounts for.
#[test]
fn chains_of_a_megabyte_bind_in_time() {
    let rank = 1024_usize;
    let ones = |axis| AxisEdges::one(if axis < 40 { 2 } else { 1 });
    let varying = |axis| if axis < 20 { AxisEdges::of([4, 6]) } else { AxisEdges::one(1) };
    let none = |_| AxisEdges::empty();
    let same: Vec<String> = (0..rank).map(|dim| format!("[{dim}]")).collect();
    let same =
        format!(r#"{{"name": "reshape", "configuration": {{"shape": [{}]}}}}"#, same.join(","));
    let spread: Vec<String> =
        (0..rank).step_by(2).map(|dim| format!("[{dim},{}]", dim + 1)).collect();
    let spread = format!(
        r#"{{"name": "reshape", "configuration": {{"shape": [{},{}]}}}}"#,
        spread.join(","),
        vec!["1"; rank / 2].join(",")
    );
    let back = format!(
        r#"{{"name": "transpose", "configuration": {{"order": {:?}}}}}"#,
        (0..rank).rev().collect::<Vec<_>>()
    );
    let twos = vec!["1"; rank].join(",");
    let index = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
    let mut shards = r#"[{"name": "bytes"}]"#.to_owned();
    for _ in 0..40 {
        let configuration =
            format!(r#"{{"chunk_shape": [{twos}], "codecs": {shards}, "index_codecs": {index}}}"#);
        shards = format!(r#"[{{"name": "sharding_indexed", "configuration": {configuration}}}]"#);
    }
    let repeat =
        |codec: &str, times| format!(r#"[{}, {{"name": "bytes"}}]"#, vec![codec; times].join(","));
    let edges: [&dyn Fn(usize) -> AxisEdges; 3] = [&ones, &varying, &none];
    for (name, chain) in [
        ("reshapes", repeat(&same, 170)),
        ("reshapes in pairs", repeat(&spread, 1)),
        ("transposes", repeat(&back, 200)),
        ("both", repeat(&format!("{same}, {back}, {back}"), 60)),
        ("shards", shards),
    ] {
        for edges in edges {
            let edges: Vec<AxisEdges> = (0..rank).map(edges).collect();
            let started = Instant::now();
            let bound = bind(&chain, "uint8", &edges);
            if let (Ok(bound), Some(shape)) =
                (&bound, edges.iter().map(AxisEdges::single).collect::<Option<Vec<u64>>>())
                && let Ok(codec) = bound.for_shape(&shape)
            {
                assert_eq!(codec.shape().len(), rank);
            }
            let took = started.elapsed();
            assert!(took < Duration::from_secs(10), "{name}: {took:?}");
        }
    }
}

/// In stacked compressors, an outer one yields no more than the next one can have produced from
/// the elements.
#[test]
fn sd_35_stacked_compressors_are_bounded_by_the_elements() {
    let gzip = r#"{"name": "gzip", "configuration": {"level": 9}}"#;
    let zstd = r#"{"name": "zstd", "configuration": {"level": 1, "checksum": false}}"#;
    let blosc = r#"{"name": "blosc", "configuration": {"cname": "lz4", "clevel": 1,
        "shuffle": "noshuffle", "blocksize": 0}}"#;
    for outer in [gzip, zstd, blosc] {
        // 64 MiB of zeros, compressed to a few kilobytes.
        let bomb = codec(&format!(r#"[{{"name": "bytes"}}, {outer}]"#), "uint8", &[64 << 20]);
        let (_, bytes) = encode(&bomb, &vec![0; 64 << 20], &[1]).expect("encodes");
        for inner in [gzip.to_owned(), vec![gzip; 1000].join(","), [zstd; 8].join(",")] {
            let chain = format!(r#"[{{"name": "bytes"}}, {inner}, {outer}]"#);
            let stacked = codec(&chain, "uint8", &[20]);
            let error = decode_whole(&stacked, &bytes, &[0]).unwrap_err();
            let ChunkErrorKind::DecodedExcess { limit, most } = *error.kind() else {
                panic!("{error}");
            };
            assert!((20..4 << 20).contains(&most) && limit == 2 * most + (1 << 20), "{error}");
            // A tighter limit of the caller is reported as such.
            let codecs = Codec::list_from_json(chain.as_bytes()).expect("valid");
            let options = Options::new().unknown_decoded_len(1000);
            let chain =
                Chain::bind_with(&codecs, &data_type("uint8"), &[AxisEdges::one(20)], options);
            let tight = chain.expect("binds").for_shape(&[20]).expect("fits");
            let error = decode_whole(&tight, &bytes, &[0]).unwrap_err();
            assert_eq!(*error.kind(), ChunkErrorKind::DecodedLimit { limit: 1000 });
        }
    }
}

/// An encoder stops where the decoder would: each of many compressors may add to what it cannot
/// compress, and what they make grows with every one.
#[test]
fn sd_35_stacked_compressors_encode_no_more_than_they_decode() {
    let mut random = Random(35);
    let elements: Vec<u8> = (0..8192).map(|_| random.below(256) as u8).collect();
    let mut refused = Vec::new();
    for each in [
        r#"{"name": "gzip", "configuration": {"level": 1}}"#,
        r#"{"name": "numcodecs.zlib", "configuration": {"level": 1}}"#,
        r#"{"name": "zstd", "configuration": {"level": 1, "checksum": true}}"#,
        r#"{"name": "numcodecs.lz4", "configuration": {"acceleration": 1}}"#,
        r#""crc32c""#,
    ] {
        for count in [1, 2, 20, 1000] {
            let chain = format!(r#"[{{"name": "bytes"}}, {}]"#, vec![each; count].join(", "));
            let codec = codec(&chain, "uint8", &[8192]);
            let mut out = Vec::new();
            let view = View::contiguous(codec.shape()).expect("small");
            match codec.encode(&elements, &view, &[0], &mut out, &mut Scratch::new()) {
                Ok(_) => {
                    let decoded = decode_whole(&codec, &out, &[0]).expect("decodes");
                    assert_eq!(decoded, elements);
                }
                Err(error) => {
                    let ChunkErrorKind::EncodedExcess { found, limit } = *error.kind() else {
                        panic!("{error}");
                    };
                    assert!(limit < found && found < 2 * limit && limit < 8 << 20, "{error}");
                    refused.push((each, count));
                }
            }
        }
    }
    assert!(refused.iter().all(|(_, count)| *count == 1000), "{refused:?}");
    assert!(!refused.is_empty());
    // A limit of the caller holds both ways, and not for a length that the metadata gives.
    let gzip = r#"{"name": "gzip", "configuration": {"level": 9}}"#;
    for (count, fits) in [(1, true), (2, false)] {
        let chain = format!(r#"[{{"name": "bytes"}}, {}]"#, vec![gzip; count].join(", "));
        let codecs = Codec::list_from_json(chain.as_bytes()).expect("valid");
        let options = Options::new().unknown_decoded_len(8000);
        let chain =
            Chain::bind_with(&codecs, &data_type("uint8"), &[AxisEdges::one(8192)], options);
        let codec = chain.expect("binds").for_shape(&[8192]).expect("fits");
        match encode(&codec, &elements, &[0]) {
            Ok((_, out)) => {
                assert_eq!(decode_whole(&codec, &out, &[0]).expect("decodes"), elements);
            }
            Err(error) => {
                assert!(!fits && error.to_string().contains("more than the 8000"), "{error}");
            }
        }
    }
}

/// The output of other writers may be longer than necessary, and valid (SD-61).
#[test]
fn sd_61_lavish_encodings_pass_under_another_compressor() {
    let gzip = r#"{"name": "gzip", "configuration": {"level": 9}}"#;
    let zstd = r#"{"name": "zstd", "configuration": {"level": 1, "checksum": false}}"#;
    let elements: Vec<u8> = (0..2000_u32).map(|n| (n * n % 251) as u8).collect();
    let part = codec(&format!(r#"[{{"name": "bytes"}}, {gzip}]"#), "uint8", &[1]);
    // One member per element.
    let members: Vec<u8> =
        elements.iter().flat_map(|n| encode(&part, &[*n], &[255]).expect("encodes").1).collect();
    assert!(members.len() > 20 * elements.len());
    // A skippable frame before the frame with the data.
    let whole = codec(&format!(r#"[{{"name": "bytes"}}, {zstd}]"#), "uint8", &[2000]);
    let mut skipped = [0x184d_2a5a_u32.to_le_bytes(), 1_000_000_u32.to_le_bytes()].concat();
    skipped.extend((0..1_000_000_u32).map(|n| (n % 241) as u8));
    skipped.extend(encode(&whole, &elements, &[0]).expect("encodes").1);
    for (inner, bytes) in [(gzip, members), (zstd, skipped)] {
        for outer in [gzip, zstd] {
            let length = bytes.len() as u64;
            let wrap = codec(&format!(r#"[{{"name": "bytes"}}, {outer}]"#), "uint8", &[length]);
            let (_, wrapped) = encode(&wrap, &bytes, &[0]).expect("encodes");
            let stacked =
                codec(&format!(r#"[{{"name": "bytes"}}, {inner}, {outer}]"#), "uint8", &[2000]);
            assert_eq!(decode_whole(&stacked, &wrapped, &[0]).expect("decodes"), elements);
        }
    }
}
