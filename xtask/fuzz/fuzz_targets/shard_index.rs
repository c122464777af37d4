//! Any bytes as the index of a shard, and as a whole shard: every range in an accepted index lies
//! within the shard and outside the index, and parsing the index alone agrees with decoding.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use zarr_codec::{AxisEdges, Chain, ChunkCodec, Scratch, Slice};
use zarr_metadata::ArrayMetadata;
use zarr_view::{Output, View};

const INDEX_CODECS: [&str; 3] = [
    r#"{"name":"bytes","configuration":{"endian":"little"}}"#,
    r#"{"name":"bytes","configuration":{"endian":"big"}},{"name":"crc32c"}"#,
    r#"{"name":"transpose","configuration":{"order":[2,1,0]}},{"name":"packbits","configuration":{"padding_encoding":"first_byte"}}"#,
];

static CODECS: LazyLock<Vec<ChunkCodec>> = LazyLock::new(|| {
    let mut codecs = Vec::new();
    for location in ["start", "end"] {
        for index in INDEX_CODECS {
            let document = format!(
                r#"{{"zarr_format":3,"node_type":"array","shape":[4,6],"data_type":"uint8",
                "fill_value":7,"chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[4,6]}}}},
                "chunk_key_encoding":{{"name":"default"}},"codecs":[{{"name":"sharding_indexed",
                "configuration":{{"chunk_shape":[2,3],"codecs":[{{"name":"bytes"}}],
                "index_codecs":[{index}],"index_location":"{location}"}}}}]}}"#
            );
            let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
            let edges = [AxisEdges::one(4), AxisEdges::one(6)];
            let chain =
                Chain::bind(metadata.codecs(), metadata.data_type(), &edges).expect("binds");
            codecs.push(chain.for_shape(&[4, 6]).expect("fits"));
        }
    }
    codecs
});

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    let codec = &CODECS[usize::from(*choice) % CODECS.len()];
    let shard = codec.shard().expect("a shard");
    let mut scratch = Scratch::new();

    // The input as an index alone, of a shard of unknown length and of one of some length.
    for length in [None, Some(u64::from(*choice)), Some(u64::MAX)] {
        if let Ok(index) = shard.parse_index(bytes, length, &mut scratch) {
            assert_eq!(index.len(), shard.grid_shape().iter().product::<usize>());
            let (mut total, mut end) = (0_u128, 0);
            for chunk in 0..index.len() {
                let Some(range) = index.range(chunk) else { continue };
                assert!(range.start <= range.end);
                assert!(length.is_none_or(|length| range.end <= length));
                total += u128::from(range.end - range.start);
                end = range.end.max(end);
            }
            // The cost of decoding is bounded: four inner chunks of six elements.
            assert!(total <= u128::from(length.unwrap_or(end)) + 4 * (2 * 6 + 64));
            assert_eq!(index.range(index.len()), None);
        }
    }

    // The input as a whole shard.
    let length = bytes.len() as u64;
    let parsed = shard.index_range(length).map(|range| {
        let index = &bytes[range.start as usize..range.end as usize];
        shard.parse_index(index, Some(length), &mut scratch)
    });
    let mut elements = [0; 24];
    let view = View::contiguous(&[4, 6]).expect("small");
    let everything = [Slice::from(0..4), Slice::from(0..6)];
    let mut out = Output::new(&mut elements, &view, 1).expect("fits");
    let decoded = codec.decode(bytes, &everything, &mut out, &[7], &mut scratch);
    let Some(Ok(index)) = parsed else {
        assert!(decoded.is_err());
        return;
    };
    // Inner chunks are six bytes; any other length is an error.
    let right = (0..4).all(|chunk| index.range(chunk).is_none_or(|r| r.end - r.start == 6));
    assert_eq!(decoded.is_ok(), right);
    if right {
        for row in 0..4_usize {
            for column in 0..6_usize {
                let range = index.range(row / 2 * 2 + column / 3);
                let at = row % 2 * 3 + column % 3;
                let expected = range.map_or(7, |range| bytes[range.start as usize + at]);
                assert_eq!(elements[row * 6 + column], expected);
            }
        }
    }
});
