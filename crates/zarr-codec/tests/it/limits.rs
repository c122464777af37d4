//! What is written can be read with the same limit: parts of shards behind other codecs.

use serde_json::{Value, json};
use zarr_codec::{AxisEdges, Chain, ChunkCodec, ChunkErrorKind, Options, Order, Scratch, Slice};
use zarr_metadata::Codec;

use crate::support::{data_type, decode, decode_whole, encode, list};

fn bytes() -> Value {
    json!({"name": "bytes", "configuration": {"endian": "little"}})
}

fn shard(chunk_shape: &[u64]) -> Value {
    json!({"name": "sharding_indexed", "configuration": {"chunk_shape": chunk_shape,
        "codecs": [bytes(), {"name": "crc32c"}], "index_codecs": [bytes()],
        "index_location": "start"}})
}

fn offset(offset: i32) -> Value {
    json!({"name": "scale_offset", "configuration": {"offset": offset}})
}

fn transpose() -> Value {
    json!({"name": "transpose", "configuration": {"order": [1, 0]}})
}

/// The codec of `int8` chunks, with this limit.
fn limited(codecs: &[Value], shape: &[u64], limit: u64) -> ChunkCodec {
    let codecs = Codec::list_from_json(list(codecs).as_bytes()).expect("valid");
    let edges: Vec<AxisEdges> = shape.iter().map(|edge| AxisEdges::one(*edge)).collect();
    let options = Options::new().unknown_decoded_len(limit);
    let chain = Chain::bind_with(&codecs, &data_type("int8"), &edges, options).expect("binds");
    chain.for_shape(shape).expect("fits")
}

/// No limit applies, and inner chunks that the region does not touch are not decoded.
#[test]
fn a_shard_behind_codecs_that_change_values_is_decoded_in_part() {
    let wide = json!({"name": "cast_value", "configuration": {"data_type": "int32"}});
    let elements: Vec<u8> = (0..24).collect();
    let corner = [Slice { start: 1, count: 2, step: 2 }, Slice { start: 1, count: 1, step: 1 }];
    for codecs in [
        vec![offset(1)],
        vec![offset(1), wide.clone(), offset(2)],
        vec![transpose(), offset(1), transpose(), wide],
        vec![transpose(), offset(1)],
    ] {
        let codec = limited(&[&codecs[..], &[shard(&[2, 2])]].concat(), &[6, 4], 1);
        let (_, mut chunk) = encode(&codec, &elements, &[0]).expect("encodes");
        assert_eq!(decode_whole(&codec, &chunk, &[0]).expect("decodes"), elements);
        let mut scratch = Scratch::new();
        let mut all = chunk.clone();
        codec.decode_elements(&mut all, Order::C, &[0], &mut scratch).expect("decodes");
        // The last inner chunk, which the region does not touch, is damaged.
        *chunk.last_mut().expect("long") ^= 1;
        let found = decode(&codec, &chunk, &corner, &[0], &mut scratch).expect("decodes");
        assert_eq!(found, [5, 13]);
        assert!(
            decode_whole(&codec, &chunk, &[0])
                .expect_err("damaged")
                .kind()
                .to_string()
                .contains("checksum")
        );
    }
}

/// An element is counted in the whole chunk, whichever part of it is read.
#[test]
fn an_element_that_cannot_be_read_is_named_by_its_place_in_the_chunk() {
    let scale = json!({"name": "scale_offset", "configuration": {"scale": 2}});
    let stored = limited(&[shard(&[2, 2])], &[6, 4], 1);
    let mut elements = vec![2; 24];
    elements[3 * 4 + 2] = 3;
    let (_, chunk) = encode(&stored, &elements, &[0]).expect("encodes");
    for (codecs, region) in
        [(vec![scale.clone()], [2..4, 1..4]), (vec![transpose(), scale], [1..4, 2..4])]
    {
        let shape = if codecs.len() == 1 { [6, 4] } else { [4, 6] };
        let codec = limited(&[&codecs[..], &[shard(&[2, 2])]].concat(), &shape, 1);
        let error = decode(&codec, &chunk, &region.map(Slice::from), &[0], &mut Scratch::new());
        let error = error.expect_err("odd");
        assert!(error.to_string().contains("element 14 has the bits 0x03"), "{error}");
    }
}

/// A part may need all elements if a `reshape` is before the shard: neither is such a chunk read
/// in part if it exceeds the limit, nor is it written.
#[test]
fn a_shard_behind_a_reshape_is_written_up_to_the_limit_for_reading() {
    let reshape = json!({"name": "reshape", "configuration": {"shape": [8, 3]}});
    let part = [(1..3).into(), (1..3).into()];
    for codecs in [
        vec![reshape.clone()],
        vec![reshape.clone(), offset(1)],
        vec![offset(1), reshape.clone()],
        vec![transpose(), offset(1), reshape, offset(1)],
    ] {
        let of = |limit| limited(&[&codecs[..], &[shard(&[2, 3])]].concat(), &[6, 4], limit);
        let elements: Vec<u8> = (0..24).collect();
        let (_, chunk) = encode(&of(24), &elements, &[0]).expect("encodes");
        let mut scratch = Scratch::new();
        let found = decode(&of(24), &chunk, &part, &[0], &mut scratch).expect("decodes");
        assert_eq!(found, [5, 6, 9, 10]);
        let limit = ChunkErrorKind::DecodedLimit { limit: 23 };
        let error = decode(&of(23), &chunk, &part, &[0], &mut scratch).expect_err("too large");
        assert_eq!(*error.kind(), limit);
        let error = encode(&of(23), &elements, &[0]).expect_err("too large");
        assert_eq!(*error.kind(), limit);
        let all = of(23).filled_elements(Order::C, &[0], &mut scratch).expect("fits");
        let changed = of(23).encode_elements(all, &[0], &mut Vec::new(), &mut scratch);
        assert_eq!(*changed.expect_err("too large").kind(), limit);
    }
}
