//! Whole documents: examples of the specifications, what is kept, what is refused.

use zarr_metadata::{
    ArrayMetadata, Blosc, BloscCompressor, BloscShuffle, Bytes, ChunkEdges, ChunkGrid,
    ChunkKeyEncoding, Codec, DataType, EdgeRun, Endian, FillValue, GroupMetadata, NodeMetadata,
    Packbits, PaddingEncoding, ReshapeDim, Rule, Separator, Zstd,
};

use crate::support::{array, breaks, data_type, document, message};

/// A new document means the same as the one it is made from, in canonical form.
fn canonical(array: &ArrayMetadata) -> String {
    ArrayMetadata::new(
        array.shape(),
        array.data_type(),
        array.chunk_grid(),
        array.fill_value(),
        array.codecs(),
    )
    .unwrap()
    .json()
    .to_owned()
}

#[test]
fn the_example_of_rectilinear() {
    // The members of the example in zarr-extensions `chunk-grids/rectilinear`, comments left out.
    let array = array(&[
        ("shape", "[6, 6, 6, 6, 6]"),
        (
            "chunk_grid",
            r#"{
                "name": "rectilinear",
                "configuration": {
                    "kind": "inline",
                    "chunk_shapes": [
                        4,
                        [1, 2, 3],
                        [[4, 2]],
                        [[1, 3], 3],
                        [4, 4, 4]
                    ]
                }
            }"#,
        ),
    ])
    .unwrap();
    let ChunkGrid::Rectilinear { chunk_shapes } = array.chunk_grid() else { panic!() };
    assert_eq!(chunk_shapes[0], ChunkEdges::Regular(4));
    let extents: Vec<_> = chunk_shapes.iter().map(ChunkEdges::extent).collect();
    assert_eq!(extents, [None, Some(6), Some(8), Some(6), Some(12)]);
    insta::assert_snapshot!(canonical(&array));
}

#[test]
fn the_example_of_reshape() {
    // The example in zarr-extensions `codecs/reshape`, with the comma that it lacks.
    let array = array(&[
        ("shape", "[1000, 500, 640, 3]"),
        (
            "chunk_grid",
            r#"{"name": "regular", "configuration": {"chunk_shape": [100, 50, 64, 3]}}"#,
        ),
        (
            "codecs",
            r#"[
              {
                "name": "reshape",
                "configuration": {
                    "shape": [[0, 1], [2], 3]
                }
              },
              {
                "name": "bytes",
                "configuration": {"endian": "little"}
              }
            ]"#,
        ),
    ])
    .unwrap();
    insta::assert_snapshot!(canonical(&array));
}

#[test]
fn the_shapes_in_the_text_of_reshape() {
    let shape = |shape: &str| {
        let codec = format!(r#"{{"name": "reshape", "configuration": {{"shape": {shape}}}}}"#);
        Codec::from_json(codec.as_bytes())
    };
    assert_eq!(
        shape("[[0, 1], 10, [3, 4]]").unwrap(),
        Codec::reshape([
            ReshapeDim::InputDims(vec![0, 1]),
            ReshapeDim::Size(10),
            ReshapeDim::InputDims(vec![3, 4]),
        ])
    );
    for not_allowed in ["[[1], [0]]", "[[1, 0], 10, [3, 4]]", "[[3, 4], 10, [0, 1]]"] {
        assert!(shape(not_allowed).is_err(), "{not_allowed}");
    }
}

#[test]
fn the_configurations_in_the_text_of_packbits_and_transpose() {
    let codecs = r#"[
        {"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "packbits", "configuration":
            {"padding_encoding": "first_byte", "first_bit": null, "last_bit": 11}},
        {"name": "zstd", "configuration": {"level": 1, "checksum": true}}
    ]"#;
    let array = array(&[("codecs", codecs)]).unwrap();
    let padding_encoding = PaddingEncoding::FirstByte;
    assert_eq!(
        array.codecs(),
        [
            Codec::transpose([1, 0]),
            Codec::Packbits(Packbits::new(None, Some(11)).with_padding(padding_encoding)),
            Codec::Zstd(Zstd::new(1).with_checksum(true)),
        ]
    );
    insta::assert_snapshot!(canonical(&array));
}

#[test]
fn a_new_array_with_everything() {
    let array = ArrayMetadata::new(
        &[365, 720, 1440],
        &DataType::Float32,
        &ChunkGrid::Rectilinear {
            chunk_shapes: vec![
                ChunkEdges::from_lengths([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]),
                ChunkEdges::from_lengths(std::iter::repeat_n(90, 8)),
                ChunkEdges::Regular(360),
            ],
        },
        &FillValue::parse(&DataType::Float32, "\"0x7FC00001\"").unwrap(),
        &[Codec::Bytes(Bytes::new(Some(Endian::Big))), Codec::Crc32c],
    )
    .unwrap()
    .with_dimension_names(&[Some("time"), Some("lat \"°\""), None])
    .unwrap()
    .with_attributes(r#"{"units":"K","scale":1.50,"big":123456789012345678901234567890}"#)
    .unwrap()
    .with_chunk_key_encoding(&ChunkKeyEncoding::V2 { separator: Separator::Slash })
    .unwrap();
    assert_eq!(array.attribute("scale"), Some("1.50"));
    insta::assert_snapshot!(array.json());
}

#[test]
fn sd_32_bare_strings_are_read_and_objects_written() {
    let text = document(&[
        ("data_type", "\"uint8\""),
        ("chunk_key_encoding", "\"v2\""),
        ("codecs", r#"["bytes", "crc32c"]"#),
    ]);
    let array = ArrayMetadata::from_json(text.as_bytes()).unwrap();
    assert_eq!(array.json(), text);
    // Also after a change elsewhere.
    let longer = array.with_shape(&[9, 6]).unwrap();
    assert_eq!(longer.json(), text.replace("[6, 6]", "[9, 6]"));
    let findings: Vec<_> = array.findings().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(findings.join("\n"));
    let written = canonical(&array);
    assert!(written.contains(r#"[{"name": "bytes"}, {"name": "crc32c"}]"#), "{written}");
    assert!(ArrayMetadata::from_json(written.as_bytes()).unwrap().findings().is_empty());

    // Data types: strings are written, both are read.
    let object = array_of_type(r#"{"name": "uint8"}"#);
    assert_eq!(object.data_type(), &DataType::Uint8);
    assert!(canonical(&object).contains(r#""data_type": "uint8""#));
}

fn array_of_type(data_type: &str) -> ArrayMetadata {
    array(&[("data_type", data_type), ("codecs", r#"[{"name": "bytes"}]"#)]).unwrap()
}

#[test]
fn sd_33_what_is_not_interpreted_is_kept_to_the_byte() {
    let text = "\u{20}{ \"attributes\" : {\"b\":1e5,  \"a\":-0.0,\n\t\"z\\u00e9\": [123456789012345678901234567890, 1.10],\"\\ud800\":1},
      \"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"},\"must_understand\":false},
        {\"must_understand\":false,\"name\":\"unheard.of\",\"configuration\":{ \"x\": 1E+2, \"inner\": {\"y\":[ ]} }} ],
      \"zarr_format\":3,\"node_type\":\"array\",\"shape\":[6],\"data_type\":{\"name\":\"int16\",\"configuration\":{}},
      \"chunk_grid\":{\"configuration\":{\"chunk_shapes\":[[[2,2],2]],\"kind\":\"inline\"},\"name\":\"rectilinear\"},
      \"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":7,\"dimension_names\":null,
      \"later\":{\"must_understand\":false, \"n\": 1.0e0} }\n";
    let array = ArrayMetadata::from_json(text.as_bytes()).unwrap();
    assert_eq!(array.json(), text);
    assert_eq!(array.attribute("b"), Some("1e5"));
    assert_eq!(array.attribute("zé"), Some("[123456789012345678901234567890, 1.10]"));
    assert_eq!(array.dimension_names(), None);
    let [_, Codec::Unknown(unknown)] = array.codecs() else { panic!() };
    assert_eq!(unknown.configuration(), Some(r#"{ "x": 1E+2, "inner": {"y":[ ]} }"#));
    assert!(!unknown.must_understand());

    let changed = array.with_shape(&[5]).unwrap();
    assert_eq!(changed.json(), text.replace("[6]", "[5]"));
    let changed = array.with_attributes(r#"{"new": 1.0}"#).unwrap();
    let attributes = &text[text.find("{\"b\"").unwrap()..text.find(",\n      \"codecs\"").unwrap()];
    assert_eq!(changed.json(), text.replace(attributes, r#"{"new": 1.0}"#));
}

#[test]
fn a_member_that_is_added_goes_to_its_place() {
    let array = array(&[("dimension_names", r#"["y", "x"]"#)]).unwrap();
    let with_attributes = array.with_attributes("{}").unwrap();
    let at = |name: &str| with_attributes.json().find(&format!("\"{name}\"")).unwrap();
    assert!(at("codecs") < at("attributes") && at("attributes") < at("dimension_names"));
}

#[test]
fn resizing_with_new_edges_changes_both_at_once() {
    let array = array(&[
        ("shape", "[6]"),
        (
            "chunk_grid",
            r#"{"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[4,2]]}}"#,
        ),
    ])
    .unwrap();
    let edges = ChunkEdges::from_lengths([4, 2, 9]);
    let grid = ChunkGrid::Rectilinear { chunk_shapes: vec![edges] };
    insta::assert_snapshot!(
        message(array.with_shape(&[15])),
        @"$.chunk_grid.configuration.chunk_shapes[0]: found edges of sum 6, expected a sum of at least 15, the length of the axis"
    );
    let longer = array.with_shape_and_grid(&[15], &grid).unwrap();
    assert_eq!(longer.shape(), [15]);
    assert_eq!(longer.chunk_grid(), &grid);
}

#[test]
fn sd_43_words_that_are_no_json_are_kept_and_told() {
    let text = document(&[("attributes", r#"{"a": [1, NaN], "b": -Infinity, "c": Infinity}"#)]);
    let array = ArrayMetadata::from_json(text.as_bytes()).unwrap();
    assert_eq!(array.json(), text);
    assert_eq!(array.attribute("b"), Some("-Infinity"));
    insta::assert_snapshot!(
        array.findings()[0],
        @"warning: $.attributes.a[1]: found NaN and 2 more such words, expected JSON, which has no such numbers [not-finite-word]"
    );
    insta::assert_snapshot!(
        message(array.with_attributes(r#"{"a": NaN}"#)),
        @"$.attributes.a: line 1 column 7: found 'N', expected a JSON value, which NaN is not"
    );
}

#[test]
fn sd_44_consolidated_metadata() {
    let group = |value: &str| {
        let json = format!(
            r#"{{"zarr_format": 3, "node_type": "group", "consolidated_metadata": {value}}}"#
        );
        GroupMetadata::from_json(json.as_bytes()).inspect(|group| assert_eq!(group.json(), json))
    };
    assert!(group("null").unwrap().consolidated_metadata().is_none());
    // Readers that do not know it must be free to continue.
    for (said, found) in [
        ("", Some("no \"must_understand\"")),
        (r#", "must_understand": true"#, Some("\"must_understand\": true")),
        (r#", "must_understand": false"#, None),
    ] {
        let read = group(&format!(r#"{{"kind": "inline", "metadata": {{}}{said}}}"#)).unwrap();
        let expected = found.map(|found| {
            format!(
                "error: $.consolidated_metadata: found {found}, expected \"must_understand\": false: \
                 readers that do not know it refuse the group [consolidated-must-understand]"
            )
        });
        let findings: Vec<_> = read.findings().iter().map(ToString::to_string).collect();
        assert_eq!(findings, Vec::from_iter(expected));
    }
    let child = document(&[("attributes", r#"{"x": NaN}"#)]);
    let metadata = format!(
        r#"{{"kind": "inline", "must_understand": false, "metadata": {{"a/b": {child}, "bad": {{"zarr_format": 2}}}}}}"#
    );
    let parent = group(&metadata).unwrap();
    let consolidated = parent.consolidated_metadata().unwrap();
    assert_eq!(consolidated.paths().collect::<Vec<_>>(), ["a/b", "bad"]);
    let Some(Ok(NodeMetadata::Array(array))) = consolidated.node("a/b") else { panic!() };
    assert_eq!(array.json(), child);
    insta::assert_snapshot!(
        breaks("zarr-format", consolidated.node("bad").unwrap()),
        @"$.consolidated_metadata.metadata.bad.zarr_format: found 2, expected 3: this is Zarr version 2"
    );
    insta::assert_snapshot!(
        parent.findings()[0],
        @r#"warning: $.consolidated_metadata.metadata["a/b"].attributes.x: found NaN, expected JSON, which has no such numbers [not-finite-word]"#
    );
    let nodes: Vec<_> = consolidated.nodes().map(|(path, node)| (path, node.is_ok())).collect();
    assert_eq!(nodes, [("a/b", true), ("bad", false)]);
    for value in ["{}", r#"{"kind": "file", "metadata": {}}"#, r#"{"kind": "inline"}"#, "1"] {
        assert!(group(value).is_err(), "{value}");
    }
    for value in ["null", "{\"must_understand\": false}"] {
        let error = breaks(
            "consolidated-metadata",
            crate::support::array(&[("consolidated_metadata", value)]),
        );
        assert!(error.ends_with("expected no consolidated metadata on an array"), "{error}");
    }
}

#[test]
fn sd_56_names_and_storage_transformers() {
    let named = array(&[("dimension_names", r#"["y", null]"#)]).unwrap();
    assert_eq!(named.dimension_names(), Some(&[Some("y".to_owned()), None][..]));
    assert_eq!(array(&[("dimension_names", "null")]).unwrap().dimension_names(), None);
    assert!(array(&[("storage_transformers", "[]")]).is_ok());
    assert!(
        array(&[("storage_transformers", r#"[{"name":"x","must_understand":false}]"#)]).is_ok()
    );
    assert!(array(&[("storage_transformers", r#"[{"name":"x"}]"#)]).is_err());
}

#[test]
fn sd_57_chunk_keys() {
    let key = |json: &str, index: &[u64]| {
        let encoding = ChunkKeyEncoding::from_json(json.as_bytes()).unwrap();
        let key = encoding.encode(index);
        assert_eq!(encoding.decode(&key, index.len()).as_deref(), Some(index), "{json} {key}");
        key
    };
    let slash = r#"{"separator": "/"}"#;
    let dot = r#"{"separator": "."}"#;
    let named = |name: &str, configuration: &str| {
        format!(r#"{{"name": "{name}", "configuration": {configuration}}}"#)
    };
    assert_eq!(key(r#""default""#, &[1, 23, 45]), "c/1/23/45");
    assert_eq!(key(r#"{"name": "default"}"#, &[1]), "c/1");
    assert_eq!(key(&named("default", "{}"), &[0, 0]), "c/0/0");
    assert_eq!(key(&named("default", slash), &[1, 2]), "c/1/2");
    assert_eq!(key(&named("default", dot), &[1, 2]), "c.1.2");
    assert_eq!(key(r#""v2""#, &[1, 23, 45]), "1.23.45");
    assert_eq!(key(&named("v2", slash), &[1, 2]), "1/2");
    assert_eq!(key(&named("v2", dot), &[u64::MAX]), "18446744073709551615");
    for json in [named("default", slash), named("default", dot)] {
        assert_eq!(key(&json, &[]), "c");
    }
    for json in [named("v2", slash), named("v2", dot)] {
        assert_eq!(key(&json, &[]), "0");
    }
    let default = ChunkKeyEncoding::default();
    for wrong in
        ["", "c", "c/", "c/1", "c/1/2/3", "c/01/2", "c/+1/2", "c/1/", "c.1.2", "1/2", "c/1/2/"]
    {
        assert_eq!(default.decode(wrong, 2), None, "{wrong}");
    }
    assert_eq!(default.decode("c/18446744073709551616/0", 2), None);
}

#[test]
fn nodes_by_their_type() {
    let array = document(&[]);
    assert!(matches!(NodeMetadata::from_json(array.as_bytes()), Ok(NodeMetadata::Array(_))));
    let group = GroupMetadata::default();
    let json = group.json();
    assert_eq!(json, "{\n  \"zarr_format\": 3,\n  \"node_type\": \"group\"\n}\n");
    assert_eq!(NodeMetadata::from_json(json.as_bytes()), Ok(NodeMetadata::Group(group.clone())));
    // Its members are where a reader finds them.
    let changed = group.with_changed_attributes(&[("a", Some("1"))]).unwrap();
    assert_eq!(changed, GroupMetadata::from_json(changed.json().as_bytes()).unwrap());
    assert_eq!(changed.attribute("a"), Some("1"));
}

#[test]
fn changed_attributes_leave_the_others_as_they_are() {
    let text = document(&[("attributes", r#"{"\ud800":1, "z\u00e9":2, "b":3}"#)]);
    let array = ArrayMetadata::from_json(text.as_bytes()).unwrap();
    let changed =
        |changes: &[(&str, Option<&str>)]| array.with_changed_attributes(changes).unwrap();
    let one = changed(&[("n", Some("[4]")), ("b", None), ("zé", Some("5")), ("n", Some("[6]"))]);
    assert_eq!(one.attributes(), r#"{"\ud800":1, "z\u00e9":5, "n": [6]}"#);
    for nothing in [&[][..], &[("c", None)], &[("b", Some("4")), ("b", Some("3"))]] {
        assert_eq!(changed(nothing).json(), text);
    }
    insta::assert_snapshot!(
        message(array.with_changed_attributes(&[("a", Some("1")), ("b", Some("NaN"))])),
        @"$.attributes.b: line 1 column 1: found 'N', expected a JSON value, which NaN is not"
    );
}

#[test]
fn serde_goes_through_the_same_checks() {
    let array = array(&[("attributes", r#"{"b": 1.50, "a": 2}"#)]).unwrap();
    let json = serde_json::to_string(&array).unwrap();
    assert_eq!(json, array.json());
    assert_eq!(serde_json::from_str::<ArrayMetadata>(&json).unwrap(), array);
    let wrong = json.replace("[6, 6]", "[6, -6]");
    let error = serde_json::from_str::<ArrayMetadata>(&wrong).unwrap_err().to_string();
    assert!(error.contains("$.shape[1]: found -6"), "{error}");

    let codecs: Vec<Codec> = serde_json::from_str(r#"["bytes", {"name": "crc32c"}]"#).unwrap();
    assert_eq!(
        serde_json::to_string(&codecs).unwrap(),
        r#"[{"name": "bytes"},{"name": "crc32c"}]"#
    );
    let types: Vec<DataType> = serde_json::from_str(r#"["r16", {"name": "string"}]"#).unwrap();
    assert_eq!(types[0], data_type("r16"));
    let grid: ChunkGrid =
        serde_json::from_str(r#"{"name":"regular","configuration":{"chunk_shape":[2]}}"#).unwrap();
    assert_eq!(grid, ChunkGrid::Regular { chunk_shape: vec![2] });
    let fill = FillValue::parse(&DataType::Float32, "\"NaN\"").unwrap();
    assert_eq!(serde_json::to_string(&fill).unwrap(), "\"NaN\"");
}

#[test]
fn parts_that_are_wrong_make_no_array() {
    let regular = ChunkGrid::Regular { chunk_shape: vec![2] };
    let edges =
        |runs: Vec<EdgeRun>| ChunkGrid::Rectilinear { chunk_shapes: vec![ChunkEdges::Runs(runs)] };
    let bytes = Codec::Bytes(Bytes::new(None));
    let reshape = Codec::reshape([ReshapeDim::Auto, ReshapeDim::Auto]);
    let packbits = Packbits::new(Some(3), Some(2));
    let mut blosc = Blosc::new(BloscCompressor::Lz4, 5);
    blosc.shuffle = BloscShuffle::Shuffle;
    let blosc = Codec::Blosc(blosc);
    let new = |grid: &ChunkGrid, codecs: &[Codec]| {
        let fill = FillValue::zero(&DataType::Uint8).unwrap();
        message(ArrayMetadata::new(&[4], &DataType::Uint8, grid, &fill, codecs))
    };
    let lines = [
        new(&edges(vec![EdgeRun::Edge(4), EdgeRun::Edge(0)]), std::slice::from_ref(&bytes)),
        new(&edges(vec![EdgeRun::Edge(u64::MAX), EdgeRun::Edge(1)]), std::slice::from_ref(&bytes)),
        new(&ChunkGrid::Regular { chunk_shape: vec![0] }, std::slice::from_ref(&bytes)),
        new(&regular, &[reshape, bytes.clone()]),
        new(&regular, &[Codec::Packbits(packbits)]),
        new(&regular, &[bytes.clone(), Codec::gzip(12)]),
        new(&regular, &[bytes.clone(), blosc.clone()]),
    ];
    insta::assert_snapshot!(lines.join("\n"));
    // A change of the chain is refused for the same reasons.
    let array = array(&[("data_type", "\"uint8\"")]).unwrap();
    let changed = array.with_codecs(&[bytes, blosc]).unwrap_err();
    assert_eq!(changed.rule().map(Rule::id), Some("missing-codec-member"));
    assert_eq!(Some(&message::<()>(Err(changed))), lines.last());
}

#[test]
fn new_arrays_have_nothing_to_find() {
    let shape = [4];
    let grid = ChunkGrid::Regular { chunk_shape: vec![2] };
    let fill = FillValue::zero(&DataType::Uint8).unwrap();
    let bare = Codec::from_json(br#""gzip""#).unwrap();
    let bytes = Codec::Bytes(Bytes::new(None));
    // Members that were omitted are written (SD-61).
    let array =
        ArrayMetadata::new(&shape, &DataType::Uint8, &grid, &fill, &[bytes.clone(), bare]).unwrap();
    assert!(array.json().contains(r#"{"name": "gzip", "configuration": {"level": 6}}"#));
    // A fill value of another type.
    let fill = FillValue::zero(&DataType::Int32).unwrap();
    insta::assert_snapshot!(
        message(ArrayMetadata::new(&shape, &DataType::Uint8, &grid, &fill, &[bytes])),
        @"$.fill_value: found 4 bytes, expected 1, the size of one uint8"
    );
}

/// Odd but valid layout, with an attribute changed, added or removed: all other bytes stay.
#[test]
fn a_change_of_one_attribute_leaves_the_bytes_of_the_others() {
    let odd = "{ \"a\" :1.50,\n\n\t\"b\":{\"x\":[1,2,\n3]} , \"\\u0063\": \"}\\\"{\",\"d\":1e3 }";
    let document = |attributes: &str| {
        format!("{{\"zarr_format\":3,  \"node_type\":\"group\", \"attributes\" :{attributes}\n\n}}")
    };
    let change = |attributes: &str, changes: &[(&str, Option<&str>)]| {
        let group = GroupMetadata::from_json(document(attributes).as_bytes()).expect("a group");
        group.with_changed_attributes(changes).expect("changes").json().to_owned()
    };
    type Changes<'c> = &'c [(&'c str, Option<&'c str>)];
    let cases: &[(Changes<'_>, &str)] = &[
        (&[("a", Some("2"))], &odd.replace("1.50", "2")),
        (&[("a", Some("1.5"))], &odd.replace("1.50", "1.5")),
        (&[("a", Some("1.50")), ("e", None)], odd),
        (&[("c", Some("\"z\""))], &odd.replace("\"}\\\"{\"", "\"z\"")),
        (&[("d", None)], &odd.replace(",\"d\":1e3", "")),
        (&[("b", None)], &odd.replace(",\n\n\t\"b\":{\"x\":[1,2,\n3]}", "")),
        (&[("a", None)], &odd.replace("\"a\" :1.50,\n\n\t", "")),
        (&[("a", None), ("b", None), ("c", None)], "{ \"d\":1e3 }"),
        (&[("new", Some("[1]"))], &odd.replace("1e3 }", "1e3,\n\n\t\"new\": [1] }")),
        (&[("a", Some("2")), ("e", Some("3")), ("x", None)], &{
            odd.replace("1.50", "2").replace("1e3 }", "1e3,\n\n\t\"e\": 3 }")
        }),
    ];
    for (changes, expected) in cases {
        assert_eq!(change(odd, changes), document(expected), "{changes:?}");
    }
    let all: Vec<(&str, Option<&str>)> = ["a", "b", "c", "d"].map(|name| (name, None)).to_vec();
    assert_eq!(change(odd, &all), document("{}"));
    let added = change("{ }", &[("a", Some("1"))]);
    assert!(added.contains("\"attributes\" :{\n    \"a\": 1\n  }\n\n}"), "{added}");
}
