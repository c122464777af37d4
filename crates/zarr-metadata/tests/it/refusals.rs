//! Violations of the specifications. Each line of a table has the row of `docs/conformance.md` that
//! it shows, the part that is read, its text, the rule that refuses it, and the place in it.

use zarr_metadata::{ArrayMetadata, Codec, MetadataError, NodeMetadata, Rule};

use crate::support::{array, changed, codec, with_codecs};

/// An error, unless the part is accepted.
///
/// The parts: `member NAME` of an array, or of its `configuration` if it is an extension; `fill TYPE`;
/// `node` and `group`, the members of a group; `codec NAME` with a configuration; `chain TYPE`;
/// `edges`, of an axis of length 6; `shard NAME`, a member of its configuration.
fn refusal(part: &str, text: &str) -> Option<MetadataError> {
    let (kind, name) = part.split_once(' ').unwrap_or((part, ""));
    match kind {
        "array" => ArrayMetadata::from_json(text.as_bytes()).err(),
        "node" => NodeMetadata::from_json(text.as_bytes()).err(),
        "group" => {
            let text = format!(r#"{{"zarr_format": 3, "node_type": "group", {text}}}"#);
            NodeMetadata::from_json(text.as_bytes()).err()
        }
        "member" => array(&[(name, text)]).err(),
        "fill" => {
            let data_type = format!("\"{name}\"");
            array(&[("data_type", &data_type), ("fill_value", text)]).err()
        }
        "codec" => codec(name, text).err(),
        "chain" => with_codecs(name, text).err(),
        "edges" => {
            let grid = format!(
                r#"{{"name": "rectilinear", "configuration": {{"kind": "inline", "chunk_shapes": [{text}]}}}}"#
            );
            array(&[("shape", "[6]"), ("chunk_grid", &grid)]).err()
        }
        "shard" => {
            let bytes = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
            let members = [("chunk_shape", "[3, 1]"), ("codecs", bytes), ("index_codecs", bytes)];
            let configuration = changed(&members, &[(name, text)]);
            let codecs =
                format!(r#"[{{"name": "sharding_indexed", "configuration": {configuration}}}]"#);
            with_codecs("uint8", &codecs).err()
        }
        other => panic!("there is no part {other}"),
    }
}

/// Reads a table: all its lines are refused, by their rule and at their place.
fn refused(table: &str) {
    let mut wrong = Vec::new();
    for line in table.lines().filter(|line| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, part, text, rule, path] = cells[..] else { panic!("five cells: {line}") };
        match refusal(part, text) {
            Some(error) if (error.rule().map(Rule::id), error.path()) == (Some(rule), path) => {}
            Some(error) => wrong.push(format!("{line}\n  {:?} {error}", error.rule())),
            None => wrong.push(format!("{line}\n  accepted")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn documents_that_break_core_are_refused() {
    refused(
        r#"
        CO-5 | array | [] | not-json | $
        CO-5 | array | {} {} | not-json | $
        CO-5 | array | {"zarr_format": 3, "zarr_format": 3} | duplicate-key | $.zarr_format
        CO-5 | member zarr_format | | missing-member | $.zarr_format
        CO-5 | member node_type | | missing-member | $.node_type
        CO-5 | member shape | | missing-member | $.shape
        CO-5 | member data_type | | missing-member | $.data_type
        CO-5 | member chunk_grid | | missing-member | $.chunk_grid
        CO-5 | member chunk_key_encoding | | missing-member | $.chunk_key_encoding
        CO-5 | member fill_value | | missing-member | $.fill_value
        CO-5 | member codecs | | missing-member | $.codecs
        CO-6 | member zarr_format | 2 | zarr-format | $.zarr_format
        CO-6 | member zarr_format | 3.0 | zarr-format | $.zarr_format
        CO-6 | member zarr_format | "3" | zarr-format | $.zarr_format
        CO-6 | member zarr_format | 3e0 | zarr-format | $.zarr_format
        CO-7 | member node_type | "group" | node-type | $.node_type
        CO-7 | member node_type | null | node-type | $.node_type
        CO-8 | member shape | 6 | shape | $.shape
        CO-8 | member shape | [6, -6] | shape | $.shape[1]
        CO-8 | member shape | [6, 6.0] | shape | $.shape[1]
        CO-8 | member shape | ["6", 6] | shape | $.shape[0]
        CO-8 | member shape | [null, 6] | shape | $.shape[0]
        CO-8 | member shape | [18446744073709551616, 6] | shape | $.shape[0]
        CO-9 | member data_type | 7 | extension-form | $.data_type
        CO-9 | member data_type | ["int8"] | extension-form | $.data_type
        CO-9 | member chunk_grid | 3 | extension-form | $.chunk_grid
        CO-9 | member chunk_key_encoding | 3 | extension-form | $.chunk_key_encoding
        CO-9 | member codecs | [3] | extension-form | $.codecs[0]
        CO-9 | member storage_transformers | [3] | extension-form | $.storage_transformers[0]
        CO-10 | member chunk_grid | "regular" | missing-member | $.chunk_grid.configuration
        CO-10 | member chunk_grid | {"name": "regular"} | missing-member | $.chunk_grid.configuration
        CO-10 | member chunk_grid | {"name": "regular", "configuration": {}} | missing-member | $.chunk_grid.configuration.chunk_shape
        CO-10 | member chunk_grid | {"name": "regular", "configuration": {"chunk_shape": 3}} | regular-chunk-shape | $.chunk_grid.configuration.chunk_shape
        CO-10 | member chunk_grid | {"name": "regular", "configuration": {"chunk_shape": [3, 2.0]}} | regular-chunk-shape | $.chunk_grid.configuration.chunk_shape[1]
        CO-10 | member chunk_grid | {"name": "regular", "configuration": {"chunk_shape": ["3", 2]}} | regular-chunk-shape | $.chunk_grid.configuration.chunk_shape[0]
        CO-10 | member chunk_grid | {"name": "regular", "configuration": {"chunk_shape": [3]}} | grid-rank | $.chunk_grid.configuration.chunk_shape
        CO-10 | member chunk_grid | {"name": "regular", "configuration": {"chunk_shape": [3, 2, 1]}} | grid-rank | $.chunk_grid.configuration.chunk_shape
        CO-12 | member codecs | [] | chain-order | $.codecs
        CO-12 | member codecs | {} | chain-order | $.codecs
        CO-13 | member attributes | [] | attributes | $.attributes
        CO-13 | member attributes | null | attributes | $.attributes
        CO-13 | group | "attributes": 1 | attributes | $.attributes
        CO-14 | member storage_transformers | {} | storage-transformers | $.storage_transformers
        CO-14 | member storage_transformers | ["x"] | storage-transformers | $.storage_transformers[0]
        CO-15 | member dimension_names | "yx" | dimension-names | $.dimension_names
        CO-15 | member dimension_names | ["y"] | dimension-names | $.dimension_names
        CO-15 | member dimension_names | ["y", "x", null] | dimension-names | $.dimension_names
        CO-15 | member dimension_names | ["y", 2] | dimension-names | $.dimension_names[1]
        CO-16 | node | {"node_type": "group"} | missing-member | $.zarr_format
        CO-16 | node | {"zarr_format": 3} | missing-member | $.node_type
        CO-16 | node | {"zarr_format": 4, "node_type": "group"} | zarr-format | $.zarr_format
        CO-16 | node | {"zarr_format": 3, "node_type": "Group"} | node-type | $.node_type
        CO-17 | group | "consolidated_metadata": [] | consolidated-metadata | $.consolidated_metadata
        CO-17 | group | "consolidated_metadata": {"metadata": {}} | missing-member | $.consolidated_metadata.kind
        CO-17 | group | "consolidated_metadata": {"kind": "inline"} | missing-member | $.consolidated_metadata.metadata
        CO-17 | group | "consolidated_metadata": {"kind": "file", "metadata": {}} | consolidated-metadata | $.consolidated_metadata.kind
        CO-17 | group | "consolidated_metadata": {"kind": "inline", "metadata": []} | consolidated-metadata | $.consolidated_metadata.metadata
        CO-17 | group | "consolidated_metadata": {"kind": "inline", "metadata": {}, "must_understand": 0} | consolidated-metadata | $.consolidated_metadata.must_understand
        CO-17 | group | "consolidated_metadata": {"kind": "inline", "metadata": {}, "x": 1} | unknown-extension-member | $.consolidated_metadata.x
        CO-17 | member consolidated_metadata | {"kind": "inline", "must_understand": false, "metadata": {}} | consolidated-metadata | $.consolidated_metadata
        CO-20 | chain uint8 | [{"name": "crc32c"}] | chain-order | $.codecs[0]
        CO-20 | chain uint8 | ["bytes", "bytes"] | chain-order | $.codecs[1]
        CO-20 | chain uint8 | ["crc32c", "bytes"] | chain-order | $.codecs[0]
        CO-20 | chain uint8 | ["bytes", {"name": "transpose", "configuration": {"order": [1, 0]}}] | chain-order | $.codecs[1]
        CO-20 | chain uint8 | [{"name": "transpose", "configuration": {"order": [1, 0]}}] | chain-order | $.codecs
        CO-23 | member codecs | [{}] | missing-member | $.codecs[0].name
        CO-23 | member codecs | [{"name": 1}] | extension-form | $.codecs[0].name
        CO-23 | member data_type | {"name": null} | extension-form | $.data_type.name
        CO-23 | member chunk_grid | {"name": "", "configuration": {"chunk_shape": [3, 2]}} | extension-form | $.chunk_grid.name
        CO-23 | member chunk_key_encoding | {"name": ["default"]} | extension-form | $.chunk_key_encoding.name
        CO-23 | member storage_transformers | [{}] | missing-member | $.storage_transformers[0].name
        CO-24 | member data_type | {"name": "int16", "configuration": []} | extension-form | $.data_type.configuration
        CO-24 | member data_type | {"name": "new", "configuration": 1} | extension-form | $.data_type.configuration
        CO-24 | member chunk_grid | {"name": "regular", "configuration": [3, 2]} | extension-form | $.chunk_grid.configuration
        CO-24 | member chunk_key_encoding | {"name": "default", "configuration": null} | extension-form | $.chunk_key_encoding.configuration
        CO-24 | member codecs | ["bytes", {"name": "new", "configuration": []}] | extension-form | $.codecs[1].configuration
        CO-24 | chain int8 | [{"name": "bytes", "configuration": null}] | extension-form | $.codecs[0].configuration
        CO-24 | chain int8 | ["bytes", {"name": "crc32c", "configuration": []}] | extension-form | $.codecs[1].configuration
        CO-24 | member storage_transformers | [{"name": "x", "configuration": 1, "must_understand": false}] | extension-form | $.storage_transformers[0].configuration
        CO-25 | member extra | 1 | unknown-member | $.extra
        CO-25 | member extra | {} | unknown-member | $.extra
        CO-25 | member extra | {"must_understand": true} | unknown-member | $.extra
        CO-25 | member extra | {"must_understand": 0} | unknown-member | $.extra
        CO-25 | member extra | ["must_understand", false] | unknown-member | $.extra
        CO-25 | group | "shape": [1] | unknown-member | $.shape
        CO-25 | member storage_transformers | [{"name": "x", "must_understand": true}] | storage-transformers | $.storage_transformers[0]
        CO-26 | member data_type | {"name": "new", "must_understand": false} | data-type-must-be-understood | $.data_type.name
        CO-26 | member chunk_grid | {"name": "new", "must_understand": false} | unknown-chunk-grid | $.chunk_grid.name
        CO-26 | member chunk_key_encoding | {"name": "new", "must_understand": false} | unknown-chunk-key-encoding | $.chunk_key_encoding.name
        CO-26 | member codecs | ["bytes", {"name": "new", "must_understand": "no"}] | extension-form | $.codecs[1].must_understand
        "#,
    );
}

#[test]
fn fill_values_that_break_core_are_refused() {
    refused(
        r#"
        DT-1 | fill bool | 1 | fill-value-kind | $.fill_value
        DT-1 | fill bool | "true" | fill-value-kind | $.fill_value
        DT-1 | fill bool | null | fill-value-kind | $.fill_value
        DT-2 | fill int8 | 1.0 | fill-value-kind | $.fill_value
        DT-2 | fill int8 | 1e0 | fill-value-kind | $.fill_value
        DT-2 | fill int8 | "1" | fill-value-kind | $.fill_value
        DT-2 | fill int8 | 128 | fill-value-range | $.fill_value
        DT-2 | fill uint8 | -1 | fill-value-range | $.fill_value
        DT-2 | fill uint64 | 18446744073709551616 | fill-value-range | $.fill_value
        DT-2 | fill int64 | -9223372036854775809 | fill-value-range | $.fill_value
        DT-3 | fill float32 | null | fill-value-kind | $.fill_value
        DT-3 | fill float32 | true | fill-value-kind | $.fill_value
        DT-3 | fill float32 | "nan" | fill-value-kind | $.fill_value
        DT-3 | fill float32 | "+Infinity" | fill-value-kind | $.fill_value
        DT-3 | fill float32 | "1" | fill-value-kind | $.fill_value
        DT-3 | fill float32 | NaN | fill-value-kind | $.fill_value
        DT-4 | fill float32 | "0x7fc0" | fill-value-hex | $.fill_value
        DT-4 | fill float64 | "0x7fc00000" | fill-value-hex | $.fill_value
        DT-4 | fill float16 | "0x7g00" | fill-value-hex | $.fill_value
        DT-5 | fill complex64 | 1 | fill-value-complex | $.fill_value
        DT-5 | fill complex64 | [1] | fill-value-complex | $.fill_value
        DT-5 | fill complex128 | [1, 2, 3] | fill-value-complex | $.fill_value
        DT-5 | fill complex128 | [1, true] | fill-value-kind | $.fill_value[1]
        DT-6 | fill r16 | [1] | fill-value-raw-bits | $.fill_value
        DT-6 | fill r16 | [1, 256] | fill-value-raw-bits | $.fill_value[1]
        DT-6 | fill r16 | [1, -1] | fill-value-raw-bits | $.fill_value[1]
        DT-6 | fill r16 | 7 | fill-value-raw-bits | $.fill_value
        DT-7 | member data_type | "r0" | raw-bits | $.data_type
        DT-7 | member data_type | "r12" | raw-bits | $.data_type
        DT-7 | member data_type | "r08" | raw-bits | $.data_type
        "#,
    );
}

#[test]
fn regular_grids_and_key_encodings_that_break_core_are_refused() {
    refused(
        r#"
        RG-1 | member chunk_grid | {"name": "regular", "configuration": {"chunk_shape": [3, 0]}} | regular-chunk-shape | $.chunk_grid.configuration.chunk_shape[1]
        RG-1 | member chunk_grid | {"name": "regular", "configuration": {"chunk_shape": [-3, 2]}} | regular-chunk-shape | $.chunk_grid.configuration.chunk_shape[0]
        KE-1 | member chunk_key_encoding | {"name": "default", "configuration": {"separator": "-"}} | chunk-key-separator | $.chunk_key_encoding.configuration.separator
        KE-1 | member chunk_key_encoding | {"name": "default", "configuration": {"separator": ""}} | chunk-key-separator | $.chunk_key_encoding.configuration.separator
        KE-1 | member chunk_key_encoding | {"name": "default", "configuration": {"separator": null}} | chunk-key-separator | $.chunk_key_encoding.configuration.separator
        KE-1 | member chunk_key_encoding | {"name": "default", "configuration": {"other": "/"}} | unknown-extension-member | $.chunk_key_encoding.configuration.other
        KE-3 | member chunk_key_encoding | {"name": "v2", "configuration": {"separator": ":"}} | chunk-key-separator | $.chunk_key_encoding.configuration.separator
        KE-3 | member chunk_key_encoding | {"name": "v2", "configuration": {"separator": 1}} | chunk-key-separator | $.chunk_key_encoding.configuration.separator
        KE-3 | member chunk_key_encoding | {"name": "v2", "configuration": {"other": "."}} | unknown-extension-member | $.chunk_key_encoding.configuration.other
        "#,
    );
}

#[test]
fn configurations_of_bytes_and_compressors_are_refused() {
    refused(
        r#"
        BY-2 | chain int16 | ["bytes"] | bytes-endian-missing | $.codecs[0].configuration.endian
        BY-2 | chain uint32 | [{"name": "bytes", "configuration": {}}] | bytes-endian-missing | $.codecs[0].configuration.endian
        BY-2 | chain complex64 | [{"name": "bytes"}] | bytes-endian-missing | $.codecs[0].configuration.endian
        BY-3 | codec bytes | {"endian": "Big"} | bytes-endian | $.configuration.endian
        BY-3 | codec bytes | {"endian": null} | bytes-endian | $.configuration.endian
        BY-3 | codec bytes | {"endian": 1} | bytes-endian | $.configuration.endian
        BY-6 | chain string | [{"name": "bytes"}] | bytes-data-type | $.codecs[0].configuration
        GZ-2 | codec gzip | {"level": 10} | gzip-configuration | $.configuration.level
        GZ-2 | codec gzip | {"level": -1} | gzip-configuration | $.configuration.level
        GZ-2 | codec gzip | {"level": 1.0} | gzip-configuration | $.configuration.level
        GZ-2 | codec gzip | {"level": "1"} | gzip-configuration | $.configuration.level
        GZ-2 | codec gzip | {"level": null} | gzip-configuration | $.configuration.level
        ZS-2 | codec zstd | {"level": 23} | zstd-configuration | $.configuration.level
        ZS-2 | codec zstd | {"level": -131073} | zstd-configuration | $.configuration.level
        ZS-2 | codec zstd | {"level": 1.5} | zstd-configuration | $.configuration.level
        ZS-2 | codec zstd | {"level": null} | zstd-configuration | $.configuration.level
        ZS-3 | codec zstd | {"checksum": 1} | zstd-configuration | $.configuration.checksum
        ZS-3 | codec zstd | {"checksum": null} | zstd-configuration | $.configuration.checksum
        BL-2 | codec blosc | {"cname": "lzma"} | blosc-configuration | $.configuration.cname
        BL-2 | codec blosc | {"cname": 1} | blosc-configuration | $.configuration.cname
        BL-3 | codec blosc | {"clevel": 10} | blosc-configuration | $.configuration.clevel
        BL-3 | codec blosc | {"clevel": -1} | blosc-configuration | $.configuration.clevel
        BL-4 | codec blosc | {"shuffle": "byteshuffle"} | blosc-configuration | $.configuration.shuffle
        BL-4 | codec blosc | {"shuffle": 1} | blosc-configuration | $.configuration.shuffle
        BL-4 | codec blosc | {"shuffle": null} | blosc-configuration | $.configuration.shuffle
        BL-6 | codec blosc | {"typesize": 0} | blosc-configuration | $.configuration.typesize
        BL-6 | codec blosc | {"typesize": -4} | blosc-configuration | $.configuration.typesize
        BL-6 | codec blosc | {"typesize": 4.0} | blosc-configuration | $.configuration.typesize
        BL-6 | codec blosc | {"shuffle": "shuffle", "typesize": null} | blosc-configuration | $.configuration.typesize
        BL-7 | codec blosc | {"blocksize": -1} | blosc-configuration | $.configuration.blocksize
        BL-7 | codec blosc | {"blocksize": "auto"} | blosc-configuration | $.configuration.blocksize
        "#,
    );
}

#[test]
fn configurations_of_shards_are_refused() {
    refused(
        r#"
        SH-2 | shard chunk_shape | | missing-member | $.codecs[0].configuration.chunk_shape
        SH-2 | shard chunk_shape | 3 | sharding-chunk-shape | $.codecs[0].configuration.chunk_shape
        SH-2 | shard chunk_shape | [null, 1] | sharding-chunk-shape | $.codecs[0].configuration.chunk_shape[0]
        SH-2 | shard chunk_shape | [3, 0] | sharding-chunk-shape | $.codecs[0].configuration.chunk_shape[1]
        SH-2 | shard chunk_shape | [3, 1.0] | sharding-chunk-shape | $.codecs[0].configuration.chunk_shape[1]
        SH-3 | shard chunk_shape | [3] | sharding-rank | $.codecs[0].configuration.chunk_shape
        SH-3 | shard chunk_shape | [3, 1, 1] | sharding-rank | $.codecs[0].configuration.chunk_shape
        SH-5 | shard codecs | | missing-member | $.codecs[0].configuration.codecs
        SH-5 | shard codecs | "bytes" | chain-order | $.codecs[0].configuration.codecs
        SH-5 | shard codecs | [] | chain-order | $.codecs[0].configuration.codecs
        SH-5 | shard codecs | ["bytes", "bytes"] | chain-order | $.codecs[0].configuration.codecs[1]
        SH-5 | shard codecs | ["crc32c"] | chain-order | $.codecs[0].configuration.codecs[0]
        SH-6 | shard index_codecs | | missing-member | $.codecs[0].configuration.index_codecs
        SH-6 | shard index_codecs | [] | chain-order | $.codecs[0].configuration.index_codecs
        SH-6 | shard index_codecs | ["crc32c"] | chain-order | $.codecs[0].configuration.index_codecs[0]
        SH-6 | shard index_codecs | ["packbits", "packbits"] | chain-order | $.codecs[0].configuration.index_codecs[1]
        SH-6 | shard index_codecs | ["bytes"] | bytes-endian-missing | $.codecs[0].configuration.index_codecs[0].configuration.endian
        SH-7 | shard index_codecs | ["packbits", {"name": "gzip", "configuration": {"level": 1}}] | sharding-index-size | $.codecs[0].configuration.index_codecs[1]
        SH-7 | shard index_codecs | ["packbits", {"name": "zstd"}, "crc32c"] | sharding-index-size | $.codecs[0].configuration.index_codecs[1]
        SH-8 | shard index_location | "middle" | sharding-index-location | $.codecs[0].configuration.index_location
        SH-8 | shard index_location | null | sharding-index-location | $.codecs[0].configuration.index_location
        SH-8 | shard index_location | "End" | sharding-index-location | $.codecs[0].configuration.index_location
        SH-15 | shard write_order | "morton" | unknown-extension-member | $.codecs[0].configuration.write_order
        "#,
    );
}

#[test]
fn configurations_of_views_bits_and_ragged_grids_are_refused() {
    refused(
        r#"
        RS-2 | codec reshape | {} | missing-member | $.configuration.shape
        RS-2 | codec reshape | {"shape": 6} | reshape-shape | $.configuration.shape
        RS-2 | codec reshape | {"shape": [0]} | reshape-shape | $.configuration.shape[0]
        RS-2 | codec reshape | {"shape": [-2]} | reshape-shape | $.configuration.shape[0]
        RS-2 | codec reshape | {"shape": [2.0]} | reshape-shape | $.configuration.shape[0]
        RS-2 | codec reshape | {"shape": [[0.5]]} | reshape-input-dim | $.configuration.shape[0][0]
        RS-2 | codec reshape | {"shape": [-1, 2, -1]} | reshape-auto | $.configuration.shape[2]
        RS-4 | codec reshape | {"shape": [[1], [0]]} | reshape-increasing | $.configuration.shape[1][0]
        RS-4 | codec reshape | {"shape": [[1, 1]]} | reshape-increasing | $.configuration.shape[0][1]
        TR-2 | codec transpose | {} | missing-member | $.configuration.order
        TR-2 | codec transpose | {"order": "C"} | transpose-order | $.configuration.order
        TR-2 | codec transpose | {"order": "F"} | transpose-order | $.configuration.order
        TR-2 | codec transpose | {"order": [1.0, 0]} | transpose-order | $.configuration.order[0]
        TR-2 | codec transpose | {"order": [0, 0]} | transpose-permutation | $.configuration.order[1]
        TR-2 | codec transpose | {"order": [0, 2]} | transpose-permutation | $.configuration.order[1]
        TR-2 | chain uint8 | [{"name": "transpose", "configuration": {"order": [2, 0, 1]}}, "bytes"] | transpose-rank | $.codecs[0].configuration.order
        RC-1 | member chunk_grid | {"name": "rectilinear"} | missing-member | $.chunk_grid.configuration
        RC-2 | member chunk_grid | {"name": "rectilinear", "configuration": {"chunk_shapes": [3, 2]}} | missing-member | $.chunk_grid.configuration.kind
        RC-2 | member chunk_grid | {"name": "rectilinear", "configuration": {"kind": "file", "chunk_shapes": [3, 2]}} | grid-kind | $.chunk_grid.configuration.kind
        RC-3 | edges | 3, 2 | grid-rank | $.chunk_grid.configuration.chunk_shapes
        RC-5 | edges | [[6.0, 1]] | grid-run | $.chunk_grid.configuration.chunk_shapes[0][0]
        RC-5 | edges | [[6, "1"]] | grid-run | $.chunk_grid.configuration.chunk_shapes[0][0]
        RC-5 | edges | [[6, 0]] | grid-run | $.chunk_grid.configuration.chunk_shapes[0][0]
        RC-5 | edges | [[6]] | grid-run | $.chunk_grid.configuration.chunk_shapes[0][0]
        RC-5 | edges | [6.0] | grid-edge | $.chunk_grid.configuration.chunk_shapes[0][0]
        RC-5 | edges | [6, 0] | grid-zero-edge | $.chunk_grid.configuration.chunk_shapes[0][1]
        RC-6 | edges | [1, 2, 2] | grid-too-short | $.chunk_grid.configuration.chunk_shapes[0]
        RC-6 | edges | [[1, 5]] | grid-too-short | $.chunk_grid.configuration.chunk_shapes[0]
        RC-6 | edges | [] | grid-too-short | $.chunk_grid.configuration.chunk_shapes[0]
        PB-2 | codec packbits | {"padding_encoding": "middle"} | packbits-padding-encoding | $.configuration.padding_encoding
        PB-2 | codec packbits | {"padding_encoding": null} | packbits-padding-encoding | $.configuration.padding_encoding
        PB-3 | codec packbits | {"first_bit": -1} | packbits-bit | $.configuration.first_bit
        PB-3 | codec packbits | {"last_bit": "7"} | packbits-bit | $.configuration.last_bit
        PB-3 | chain uint8 | [{"name": "packbits", "configuration": {"last_bit": 8}}] | packbits-bit-range | $.codecs[0].configuration.last_bit
        PB-4 | codec packbits | {"first_bit": 3, "last_bit": 2} | packbits-bit-range | $.configuration.last_bit
        PB-10 | chain string | [{"name": "packbits"}] | packbits-data-type | $.codecs[0].configuration
        "#,
    );
}

/// A name is exact, and the configuration has the members of its document alone.
#[test]
fn names_and_members_of_codecs_are_those_of_their_documents() {
    let bytes = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
    let shard = format!(r#""chunk_shape": [3], "codecs": {bytes}, "index_codecs": {bytes}, "#);
    for (row, name, members) in [
        ("RS-1", "reshape", r#""shape": [-1], "#),
        ("TR-1", "transpose", r#""order": [1, 0], "#),
        ("PB-1", "packbits", ""),
        ("VU-1", "vlen-utf8", ""),
        ("VB-1", "vlen-bytes", ""),
        ("BY-1", "bytes", r#""endian": "big", "#),
        ("GZ-1", "gzip", r#""level": 1, "#),
        ("ZS-1", "zstd", r#""level": 1, "#),
        ("BL-1", "blosc", r#""cname": "lz4", "#),
        ("CR-1", "crc32c", ""),
        ("SH-1", "sharding_indexed", &shard),
    ] {
        let configuration = format!("{{{}}}", members.trim_end_matches(", "));
        let read = codec(name, &configuration).expect(row);
        assert!(read.kind().is_some() && read.name() == name, "{row}");
        let others =
            [name.to_uppercase(), format!(" {name}"), format!("{name}2"), format!("x.{name}")];
        for other in others {
            let read = codec(&other, &configuration).expect(row);
            assert!(matches!(read, Codec::Unknown(_)), "{row}: {other}");
        }
        let error = codec(name, &format!("{{{members}\"other\": 1}}")).expect_err(row);
        let found = (error.rule().map(Rule::id), error.path());
        assert_eq!(found, (Some("unknown-extension-member"), "$.configuration.other"), "{row}");
    }
}
