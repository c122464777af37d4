//! Chains that do not fit: one message each.

use zarr_codec::{AxisEdges, ChainError};
use zarr_metadata::Rule;

use crate::support::bind;

/// The text of the error that refuses a chain, by a rule.
fn refused(rule: &str, codecs: &str, name: &str, shape: &[u64]) -> String {
    let edges: Vec<AxisEdges> = shape.iter().map(|edge| AxisEdges::one(*edge)).collect();
    broken(rule, bind(codecs, name, &edges).expect_err("does not fit"))
}

fn broken(rule: &str, error: ChainError) -> String {
    assert_eq!(error.rule().map_or("no rule", Rule::id), rule, "{error}");
    error.to_string()
}

fn reshape(shape: &str) -> String {
    format!(
        r#"[{{"name": "reshape", "configuration": {{"shape": {shape}}}}}, {{"name": "bytes"}}]"#
    )
}

fn shard(chunk_shape: &str, codecs: &str) -> String {
    format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {chunk_shape},
        "codecs": {codecs},
        "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}}}]"#
    )
}

#[test]
fn sd_20_places_of_input_dimensions() {
    insta::assert_snapshot!(refused("reshape-place", &reshape("[2, [1], 2]"), "uint8", &[4, 6]), @"$.codecs[0].configuration.shape[1]: codec reshape: the sizes before shape[1] multiply to 2, but the input dimensions before 1 multiply to 4");
    insta::assert_snapshot!(refused("reshape-place", &reshape("[[1], 4]"), "uint8", &[4, 6]), @"$.codecs[0].configuration.shape[0]: codec reshape: the sizes before shape[0] multiply to 1, but the input dimensions before 1 multiply to 4");
    insta::assert_snapshot!(refused("reshape-place", &reshape("[[0, 2], 2]"), "uint8", &[2, 2, 2]), @"$.codecs[0].configuration.shape[0]: codec reshape: the sizes after shape[0] multiply to 2, but the input dimensions after 2 multiply to 1");
    insta::assert_snapshot!(refused("reshape-input-dim", &reshape("[[2], -1]"), "uint8", &[2, 2]), @"$.codecs[0].configuration.shape[0]: codec reshape: shape[0] names input dimension 2, but the input has 2 dimensions");
}

#[test]
fn sd_23_sizes() {
    insta::assert_snapshot!(refused("reshape-divides", &reshape("[5, -1]"), "uint8", &[4, 6]), @"$.codecs[0].configuration.shape: codec reshape: -1 cannot be resolved: the sizes multiply to 5, which does not always divide 24, the product of the input dimensions that no entry names");
    insta::assert_snapshot!(refused("reshape-overflow", &reshape("[4294967296, 4294967296, -1]"), "uint8", &[4]), @"$.codecs[0].configuration.shape: codec reshape: the sizes multiply to more than 2^64");
    insta::assert_snapshot!(refused("reshape-elements", &reshape("[5]"), "uint8", &[4]), @"$.codecs[0].configuration.shape: codec reshape: sizes multiply to 5, but the input dimensions that no entry names multiply to 4");
}

#[test]
fn sd_15_bit_ranges() {
    let packbits = |bits: &str| format!(r#"[{{"name": "packbits", "configuration": {{{bits}}}}}]"#);
    insta::assert_snapshot!(refused("packbits-bit-range", &packbits(r#""last_bit": 16"#), "int16", &[4]), @"$.codecs[0].configuration.last_bit: codec packbits: bits 0 to 16 are not within the 16 bits of a component of int16; first_bit <= last_bit < 16 is allowed");
    insta::assert_snapshot!(refused("packbits-bit-range", &packbits(r#""first_bit": 16"#), "int16", &[4]), @"$.codecs[0].configuration.first_bit: codec packbits: bits 16 to 15 are not within the 16 bits of a component of int16; first_bit <= last_bit < 16 is allowed");
    insta::assert_snapshot!(refused("packbits-bit-range", &packbits(r#""last_bit": 4"#), "int4", &[4]), @"$.codecs[0].configuration.last_bit: codec packbits: bits 0 to 4 are not within the 4 bits of a component of int4; first_bit <= last_bit < 4 is allowed");
    // N is the bits of one component.
    insta::assert_snapshot!(refused("packbits-bit-range", &packbits(r#""last_bit": 32"#), "complex64", &[4]), @"$.codecs[0].configuration.last_bit: codec packbits: bits 0 to 32 are not within the 32 bits of a component of complex64; first_bit <= last_bit < 32 is allowed");
    insta::assert_snapshot!(refused("no rule", &packbits(r#""first_bit": 0"#), "r16", &[4]), @"$.codecs[0]: codec packbits: cannot encode data type r16");
}

#[test]
fn sd_53_endian() {
    insta::assert_snapshot!(refused("bytes-endian-missing", r#"["bytes"]"#, "int16", &[4]), @r#"$.codecs[0].configuration.endian: codec bytes: data type int16 needs `endian`, "little" or "big""#);
    insta::assert_snapshot!(refused("bytes-endian-missing", r#"[{"name": "bytes"}]"#, "complex64", &[4]), @r#"$.codecs[0].configuration.endian: codec bytes: data type complex64 needs `endian`, "little" or "big""#);
    assert!(bind(r#"["bytes"]"#, "r16", &[AxisEdges::one(2)]).is_ok());
    assert!(bind(r#"["bytes"]"#, "int8", &[AxisEdges::one(2)]).is_ok());
}

#[test]
fn sd_30_orders() {
    let transpose =
        r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes"}]"#;
    insta::assert_snapshot!(refused("transpose-permutation", transpose, "uint8", &[4]), @"$.codecs[0].configuration.order: codec transpose: order [1, 0] is not a permutation of the dimensions of the codec's input, which has rank 1");
}

#[test]
fn sd_34_inner_chunks_divide_every_chunk() {
    let bytes = r#"[{"name": "bytes"}]"#;
    insta::assert_snapshot!(refused("sharding-divides", &shard("[3]", bytes), "uint8", &[4]), @"$.codecs[0].configuration.chunk_shape[0]: codec sharding_indexed: chunk_shape[0] is 3, which does not always divide 4, the length of that dimension when it reaches the codec");
    insta::assert_snapshot!(refused("sharding-rank", &shard("[2]", bytes), "uint8", &[4, 4]), @"$.codecs[0].configuration.chunk_shape: codec sharding_indexed: chunk_shape has 1 dimension, but the array that reaches the codec has 2");
    let ragged = [AxisEdges::of([4, 6]), AxisEdges::one(4)];
    let error = bind(&shard("[4, 4]", bytes), "uint8", &ragged).expect_err("4 does not divide 6");
    insta::assert_snapshot!(broken("sharding-divides", error), @"$.codecs[0].configuration.chunk_shape[0]: codec sharding_indexed: chunk_shape[0] is 4, which does not always divide axis 0 (4 to 6), the length of that dimension when it reaches the codec");
    assert!(bind(&shard("[2, 4]", bytes), "uint8", &ragged).is_ok());
    // Against the transposed axes, not the array's own.
    let transposed = format!(
        r#"[{{"name": "transpose", "configuration": {{"order": [1, 0]}}}}, {}"#,
        shard("[4, 2]", bytes).trim_start_matches('[')
    );
    assert!(bind(&transposed, "uint8", &ragged).is_ok());
    let error = bind(&transposed.replace("[4, 2]", "[2, 4]"), "uint8", &ragged);
    insta::assert_snapshot!(broken("sharding-divides", error.expect_err("4 does not divide 6")), @"$.codecs[1].configuration.chunk_shape[1]: codec sharding_indexed: chunk_shape[1] is 4, which does not always divide axis 0 (4 to 6), the length of that dimension when it reaches the codec");
}

#[test]
fn sd_59_faults_within_shards_say_where() {
    let inner = r#"[{"name": "packbits", "configuration": {"last_bit": 9}}]"#;
    insta::assert_snapshot!(refused("packbits-bit-range", &shard("[2]", inner), "uint8", &[4]), @"$.codecs[0].configuration.codecs[0].configuration.last_bit: codec packbits: bits 0 to 9 are not within the 8 bits of a component of uint8; first_bit <= last_bit < 8 is allowed");
    let nested = shard("[2]", &shard("[2]", &shard("[3]", r#"[{"name": "bytes"}]"#)));
    insta::assert_snapshot!(refused("sharding-divides", &nested, "uint8", &[4]), @"$.codecs[0].configuration.codecs[0].configuration.codecs[0].configuration.chunk_shape[0]: codec sharding_indexed: chunk_shape[0] is 3, which does not always divide 2, the length of that dimension when it reaches the codec");
    let index = shard("[2]", r#"[{"name": "bytes"}]"#).replace(
        r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#,
        r#"[{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 1, "checksum": false}}]"#,
    );
    insta::assert_snapshot!(refused("sharding-index-size", &index, "uint8", &[4]), @"$.codecs[0].configuration.index_codecs: codec chain: the encoded index must have a fixed size, as with bytes and crc32c");
}

#[test]
fn sd_31_what_follows_numcodecs_packbits() {
    let codecs = r#"[{"name": "numcodecs.packbits"}, {"name": "packbits"}]"#;
    insta::assert_snapshot!(refused("numcodecs-packbits", codecs, "bool", &[4]), @"$.codecs[1]: codec packbits: only bytes is read directly after numcodecs.packbits");
    let codecs = r#"[{"name": "numcodecs.packbits"}, {"name": "bytes"}]"#;
    insta::assert_snapshot!(refused("no rule", codecs, "uint8", &[4]), @"$.codecs[0]: codec numcodecs.packbits: cannot encode data type uint8");
}

#[test]
fn codecs_that_are_not_known() {
    let codecs = r#"[{"name": "bytes"}, {"name": "acme"}]"#;
    insta::assert_snapshot!(refused("no rule", codecs, "uint8", &[4]), @"$.codecs[1]: codec acme: not supported here");
}

#[test]
fn sd_42_a_skipped_codec_anywhere_makes_the_chain_read_only() {
    let skipped = r#"{"name": "acme", "must_understand": false}"#;
    let inner = shard("[2]", &format!(r#"[{{"name": "bytes"}}, {skipped}]"#));
    let chain = bind(&inner, "uint8", &[AxisEdges::one(4)]).expect("binds");
    let error = chain.check_writable().expect_err("read only");
    assert!(error.is_read_only());
    insta::assert_snapshot!(error, @"$.codecs[0].configuration.codecs[1]: codec acme: can be read here but not written");
}

#[test]
fn chunks_past_the_address_space() {
    let far = AxisEdges::one(1 << 62);
    let chain =
        bind(r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#, "uint64", &[far]);
    let error = chain.expect("binds").for_shape(&[1 << 62]).expect_err("too large");
    insta::assert_snapshot!(error, @"$.codecs: codec chain: a chunk of shape [4611686018427387904] does not fit the memory of this machine");
}
