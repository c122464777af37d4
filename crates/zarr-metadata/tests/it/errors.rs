//! All other errors, by their messages.

use zarr_metadata::{ArrayMetadata, GroupMetadata, NodeMetadata};

use crate::support::{array, breaks, data_type, document, message};

#[test]
fn text_that_is_no_json() {
    let lines: Vec<_> = [
        "",
        " ",
        "[]",
        "3",
        "{",
        "{}{}",
        "{} x",
        "{\"zarr_format\"",
        "{\"zarr_format\":",
        "{\"zarr_format\": 3",
        "{\"zarr_format\": 3,}",
        "{\"zarr_format\": 3 \"node_type\": 1}",
        "{zarr_format: 3}",
        "{\"zarr_format\": 03}",
        "{\"zarr_format\": +3}",
        "{\"zarr_format\": 3.}",
        "{\"zarr_format\": 3e}",
        "{\"zarr_format\": .3}",
        "{\"zarr_format\": -}",
        "{\"zarr_format\": nul}",
        "{\"zarr_format\": 3,\n \"attributes\": {\"a\": [1, 2,, 3]}}",
        "{\"attributes\": {\"a\": [1, {\"b c\": \"\\x\"}]}}",
        "{\"attributes\": {\"a\": \"tab\there\"}}",
        "{\"attributes\": {\"a\": \"\\u12g4\"}}",
        "{\"attributes\": {\"a\": \"open}}",
        "{\"attributes\": [1, 2}",
        "{\"attributes\": {\"a\": 1]",
        "{\"attributes\": {\"a\": Nan}}",
        "{\"shape\": [NaN]}",
        "{\"shape\": [-Infinity]}",
        "\u{feff}{}",
    ]
    .iter()
    .map(|text| format!("{text:?}\n  {}", message(ArrayMetadata::from_json(text.as_bytes()))))
    .collect();
    insta::assert_snapshot!(lines.join("\n"));
    insta::assert_snapshot!(
        message(ArrayMetadata::from_json(b"{\"a\": \"\xff\"}")),
        @"$: found a byte that is not UTF-8 at offset 7, expected JSON text"
    );
}

#[test]
fn sd_43_duplicate_keys() {
    let lines: Vec<_> = [
        document(&[]).replace("\"zarr_format\"", "\"shape\": [], \"zarr_format\""),
        document(&[("attributes", r#"{"a": {"b": [{"x": 1, "y": 2, "x": 3}]}}"#)]),
        // The same key, spelled with an escape.
        document(&[("attributes", r#"{"a": 1, "\u0061": 2}"#)]),
        document(&[("codecs", r#"[{"name": "bytes", "name": "bytes"}]"#)]),
        document(&[(
            "attributes",
            r#"{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"10":0,"4":1}"#,
        )]),
    ]
    .iter()
    .map(|text| breaks("duplicate-key", ArrayMetadata::from_json(text.as_bytes())))
    .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn members_of_arrays() {
    let names = [
        "zarr_format",
        "node_type",
        "shape",
        "data_type",
        "chunk_grid",
        "chunk_key_encoding",
        "fill_value",
        "codecs",
    ];
    let missing = names.map(|name| message(array(&[(name, "")])));
    let wrong = [
        ("zarr_format", "2"),
        ("zarr_format", "3.0"),
        ("zarr_format", "\"3\""),
        ("node_type", "\"group\""),
        ("node_type", "3"),
        ("shape", "[6, \"6\"]"),
        ("shape", "[18446744073709551616, 1]"),
        ("shape", "{}"),
        ("shape", "[6]"),
        ("data_type", r#"{"name": "int17", "must_understand": false}"#),
        ("data_type", "\"\""),
        ("data_type", "\"r-8\""),
        ("data_type", "\"r12\""),
        ("data_type", "7"),
        ("data_type", "{}"),
        ("data_type", r#"{"name": "int16", "configuration": {"endian": "little"}}"#),
        ("data_type", r#"{"name": "int16", "endian": "little"}"#),
        ("chunk_key_encoding", r#"{"name": "v3", "must_understand": false}"#),
        ("chunk_key_encoding", r#"{"name": "default", "configuration": {"separator": "-"}}"#),
        ("chunk_key_encoding", r#"{"name": "default", "configuration": {"seperator": "/"}}"#),
        ("chunk_key_encoding", r#"{"name": "default", "separator": "/"}"#),
        ("chunk_key_encoding", r#"{"name": "default", "configuration": null}"#),
        ("chunk_key_encoding", r#"{"name": "default", "must_understand": "no"}"#),
        ("codecs", "{}"),
        ("codecs", "[3]"),
        ("codecs", "[{}]"),
        ("codecs", "[\"\"]"),
        ("codecs", "[{\"name\": \"\"}]"),
        ("codecs", r#"[{"name": "\ud800"}]"#),
        ("attributes", "[]"),
        ("attributes", "null"),
        ("dimension_names", "[\"y\"]"),
        ("dimension_names", "[\"y\", 2]"),
        ("dimension_names", "\"yx\""),
        ("storage_transformers", "null"),
        ("storage_transformers", "[\"x\"]"),
        ("storage_transformers", r#"[{"name": "x", "must_understand": true}]"#),
        ("dimension_name", "[\"y\", \"x\"]"),
        ("a key\nof two lines", "1"),
    ];
    let key = |name: &str| name.replace('\n', "\\n");
    let wrong = wrong.map(|(name, value)| {
        format!("{}: {value}\n  {}", key(name), message(array(&[(&key(name), value)])))
    });
    insta::assert_snapshot!(format!("{}\n{}", missing.join("\n"), wrong.join("\n")));
}

#[test]
fn sd_45_sd_46_sd_54_sd_55_fill_values() {
    let lines: Vec<_> = [
        ("fill-value-kind", "bool", "1"),
        ("fill-value-kind", "bool", "null"),
        ("fill-value-range", "uint8", "256"),
        ("fill-value-kind", "uint8", "1.0"),
        ("fill-value-range", "int4", "-9"),
        ("fill-value-range", "uint64", "18446744073709551616"),
        ("fill-value-kind", "float32", "NaN"),
        ("fill-value-kind", "float32", "null"),
        ("fill-value-kind", "float32", "\"nan\""),
        ("fill-value-hex", "float32", "\"0x7fc0\""),
        ("fill-value-kind", "float64", "true"),
        ("fill-value-kind", "float16", "[1]"),
        ("fill-value-range", "float4_e2m1fn", "\"NaN\""),
        ("fill-value-range", "float4_e2m1fn", "7"),
        ("fill-value-range", "float8_e4m3fnuz", "\"-Infinity\""),
        ("fill-value-range", "float8_e5m2fnuz", "1e9"),
        ("fill-value-range", "float8_e8m0fnu", "0"),
        ("fill-value-range", "float8_e8m0fnu", "-2"),
        ("fill-value-complex", "complex64", "1"),
        ("fill-value-complex", "complex64", "[1]"),
        ("fill-value-range", "complex_float4_e2m1fn", "[1, 8]"),
        ("fill-value-raw-bits", "r16", "[1]"),
        ("fill-value-raw-bits", "r16", "[1, 300]"),
        ("fill-value-raw-bits", "r16", "\"AQ\""),
        ("fill-value-kind", "string", "null"),
        ("fill-value-kind", "string", "0"),
        ("fill-value-kind", "string", r#""\ud800""#),
        ("fill-value-kind", "bytes", "null"),
        ("fill-value-kind", "bytes", "[1, 256]"),
        ("fill-value-kind", "bytes", "\"AQ\""),
    ]
    .iter()
    .map(|(rule, name, json)| {
        let codecs = if *name == "string" { r#"["vlen-utf8"]"# } else { r#"["packbits"]"# };
        let codecs = if *name == "bytes" { r#"["vlen-bytes"]"# } else { codecs };
        let codecs = if *name == "r16" { r#"["bytes"]"# } else { codecs };
        let quoted = data_type(name).to_json();
        let changes = [("data_type", quoted.as_str()), ("fill_value", json), ("codecs", codecs)];
        format!("{name} {json}\n  {}", breaks(rule, array(&changes)))
    })
    .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn groups_and_nodes() {
    let lines: Vec<_> = [
        "{}",
        r#"{"zarr_format": 3}"#,
        r#"{"zarr_format": 2}"#,
        r#"{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "<i2"}"#,
        r#"{"zarr_format": 3, "node_type": "dataset"}"#,
        r#"{"zarr_format": 3, "node_type": 1}"#,
        r#"{"zarr_format": 3, "node_type": "group", "shape": [1]}"#,
        r#"{"zarr_format": 3, "node_type": "group", "attribute": {}}"#,
        r#"{"zarr_format": 3, "node_type": "group", "attributes": 1}"#,
        r#"{"zarr_format": 3, "node_type": "group", "consolidated_metadata": {"kind": "inline", "metadata": [], "x": 1}}"#,
    ]
    .iter()
    .map(|text| message(NodeMetadata::from_json(text.as_bytes())))
    .collect();
    insta::assert_snapshot!(lines.join("\n"));
    insta::assert_snapshot!(
        message(GroupMetadata::from_json(document(&[]).as_bytes())),
        @r#"$.node_type: found "array", expected "group""#
    );
}
