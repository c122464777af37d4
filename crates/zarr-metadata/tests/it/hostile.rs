//! Input that is large, deep or cut off.

use zarr_metadata::{
    ArrayMetadata, Codec, GroupMetadata, MAX_CODECS, MAX_RANK, NodeMetadata, Rule,
};

use crate::support::{document, message};

#[test]
fn deep_nesting_is_an_error() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for depth in [100, 127, 128, 1_000_000] {
            let nested = format!("{}0{}", open.repeat(depth), close.repeat(depth));
            let text = document(&[("attributes", &format!("{{\"x\": {nested}}}"))]);
            // The document and the attributes are two levels.
            let read = ArrayMetadata::from_json(text.as_bytes());
            if depth <= 126 {
                assert_eq!(read.unwrap().json(), text);
            } else {
                let error = message(read);
                assert!(error.contains("nested deeper than 128 levels"), "{error}");
                assert!(error.len() < 200, "{}", error.len());
            }
        }
    }
    let shards = r#"{"name": "sharding_indexed", "configuration": {"chunk_shape": [1], "index_codecs": ["bytes"], "codecs": ["#;
    let deep = format!("{}\"bytes\"{}", shards.repeat(100_000), "]}}".repeat(100_000));
    assert!(message(Codec::from_json(deep.as_bytes())).contains("nested deeper"));
    let fits = format!("{}\"bytes\"{}", shards.repeat(42), "]}}".repeat(42));
    assert!(Codec::from_json(fits.as_bytes()).is_ok());
}

#[test]
fn every_beginning_of_a_document_is_an_error() {
    let text = document(&[
        ("attributes", r#"{"é": [1.5e-3, "\u00e9\"", {}, NaN], "b": null}"#),
        ("dimension_names", r#"["y", null]"#),
    ]);
    assert!(ArrayMetadata::from_json(text.as_bytes()).is_ok());
    for end in 0..text.len() {
        assert!(ArrayMetadata::from_json(&text.as_bytes()[..end]).is_err(), "{end}");
    }
}

#[test]
fn one_byte_changed_never_panics() {
    let text = document(&[
        ("data_type", "\"complex_float16\""),
        ("fill_value", r#"["0x7e01", -1.5e-3]"#),
        ("attributes", r#"{"a": [NaN]}"#),
        (
            "chunk_grid",
            r#"{"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[1,[2,3]],4]}}"#,
        ),
        (
            "codecs",
            r#"[{"name":"reshape","configuration":{"shape":[[0,1],-1]}},{"name":"packbits"},"gzip"]"#,
        ),
    ]);
    assert!(ArrayMetadata::from_json(text.as_bytes()).is_ok());
    let mut bytes = text.into_bytes();
    for at in 0..bytes.len() {
        let was = bytes[at];
        for byte in b"\0 \"\\{}[],:0-.eNt\x7f\xc3" {
            bytes[at] = *byte;
            if let Ok(node) = NodeMetadata::from_json(&bytes) {
                assert_eq!(node.json().as_bytes(), bytes);
            }
        }
        bytes[at] = was;
    }
}

#[test]
fn many_members_and_elements_are_read_in_time() {
    // Each of these would take minutes if anything were quadratic.
    let keys: Vec<_> = (0..200_000).map(|i| format!("\"k{i}\": [{i}]")).collect();
    let attributes = format!("{{{}}}", keys.join(","));
    let array =
        ArrayMetadata::from_json(document(&[("attributes", &attributes)]).as_bytes()).unwrap();
    assert_eq!(array.attribute("k199999"), Some("[199999]"));

    let members: Vec<_> =
        (0..100_000).map(|i| format!("\"k{i}\": {{\"must_understand\": false}}")).collect();
    let text = document(&[]).replace("\"shape\"", &format!("{}, \"shape\"", members.join(",")));
    assert!(ArrayMetadata::from_json(text.as_bytes()).is_ok());

    let unknown: Vec<_> = (0..100_000).map(|i| format!("\"k{i}\": 1")).collect();
    let configuration = format!(r#"{{"level": 1, {}}}"#, unknown.join(","));
    let codec = format!(r#"{{"name": "gzip", "configuration": {configuration}}}"#);
    assert!(Codec::from_json(codec.as_bytes()).is_err());

    let words = vec!["NaN"; 500_000].join(",");
    let text = document(&[("attributes", &format!("{{\"a\": [{words}]}}"))]);
    assert_eq!(ArrayMetadata::from_json(text.as_bytes()).unwrap().findings().len(), 1);

    let edges = vec!["1"; 1_000_000].join(",");
    let grid = format!(
        r#"{{"name":"rectilinear","configuration":{{"kind":"inline","chunk_shapes":[[{edges}],2]}}}}"#
    );
    let text = document(&[("shape", "[1000000, 6]"), ("chunk_grid", &grid)]);
    let array = ArrayMetadata::from_json(text.as_bytes()).unwrap();
    assert_eq!(array.with_shape(&[999_999, 6]).unwrap().shape(), [999_999, 6]);
}

/// Each codec is a finding with a path as deep as the shards: reported separately, those of long
/// chains would take 75 times the document's memory.
#[test]
fn findings_deep_inside_are_bounded() {
    let plain = r#"[{"name": "bytes"}]"#;
    let index = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
    let mut codecs = format!("[\"bytes\", {}]", vec!["\"crc32c\""; 1_000].join(","));
    for _ in 0..25 {
        let configuration =
            format!(r#"{{"chunk_shape": [1, 1], "codecs": {codecs}, "index_codecs": {index}}}"#);
        codecs = format!(r#"[{{"name": "sharding_indexed", "configuration": {configuration}}}]"#);
    }
    let text = document(&[("data_type", "\"uint8\""), ("codecs", &codecs)]);
    let array = ArrayMetadata::from_json(text.as_bytes()).unwrap();
    let [.., before, last] = array.findings() else { panic!("findings") };
    assert_eq!(array.findings().len(), 100);
    assert!(before.message().starts_with("found \"crc32c\", expected an object"));
    assert!(!before.message().ends_with(", and more that is not listed"));
    assert!(last.message().starts_with("found \"crc32c\", expected an object"));
    assert!(last.message().ends_with(", and more that is not listed"));
    // Up to that number each is reported.
    let codecs = format!("[{}, {}]", &plain[1..plain.len() - 1], vec!["\"crc32c\""; 100].join(","));
    let text = document(&[("data_type", "\"uint8\""), ("codecs", &codecs)]);
    let array = ArrayMetadata::from_json(text.as_bytes()).unwrap();
    assert_eq!(array.findings().len(), 100);
    assert!(array.findings().iter().all(|finding| finding.message() == before.message()));
}

/// A rank or a chain just within the limit is read, and one more is refused where it is.
#[test]
fn ranks_and_chains_have_a_limit() {
    let list = |entry: &str, count: usize| format!("[{}]", vec![entry; count].join(","));
    let regular = |rank| {
        format!(r#"{{"name": "regular", "configuration": {{"chunk_shape": {}}}}}"#, list("1", rank))
    };
    let before_bytes = |codec: &str| format!(r#"[{codec}, "packbits"]"#);
    let shape = |rank: usize| {
        vec![
            ("shape", list("1", rank)),
            ("chunk_grid", regular(rank)),
            ("codecs", r#"["packbits"]"#.to_owned()),
        ]
    };
    let reshape = |rank: usize| {
        let codec =
            format!(r#"{{"name": "reshape", "configuration": {{"shape": {}}}}}"#, list("1", rank));
        vec![("codecs", before_bytes(&codec))]
    };
    let transpose = |rank: usize| {
        let order: Vec<usize> = (0..rank).collect();
        let codec = format!(r#"{{"name": "transpose", "configuration": {{"order": {order:?}}}}}"#);
        // A reshape before it gives as many dimensions, unless that is refused first.
        let before = list("1", rank.min(MAX_RANK));
        let reshape = format!(r#"{{"name": "reshape", "configuration": {{"shape": {before}}}}}"#);
        vec![("codecs", format!(r#"[{reshape}, {codec}, "packbits"]"#))]
    };
    let shard = |rank: usize| {
        let configuration = format!(
            r#"{{"chunk_shape": {}, "codecs": ["packbits"], "index_codecs": ["packbits"]}}"#,
            list("1", rank)
        );
        let codec = format!(r#"{{"name": "sharding_indexed", "configuration": {configuration}}}"#);
        let mut changes = shape(rank.min(MAX_RANK));
        changes[2].1 = format!("[{codec}]");
        changes
    };
    let chain = |codecs: usize| {
        vec![("codecs", format!(r#"["packbits", {}]"#, vec![r#""crc32c""#; codecs - 1].join(",")))]
    };
    let index = |codecs: usize| {
        let configuration = format!(
            r#"{{"chunk_shape": [1, 1], "codecs": ["packbits"], "index_codecs": ["packbits", {}]}}"#,
            vec![r#""crc32c""#; codecs - 1].join(",")
        );
        vec![(
            "codecs",
            format!(r#"[{{"name": "sharding_indexed", "configuration": {configuration}}}]"#),
        )]
    };
    type Changes<'a> = &'a dyn Fn(usize) -> Vec<(&'static str, String)>;
    let rank = "too-many-dimensions";
    let cases: [(Changes<'_>, usize, &str, &str); 6] = [
        (&shape, MAX_RANK, rank, "$.shape"),
        (&reshape, MAX_RANK, rank, "$.codecs[0].configuration.shape"),
        (&transpose, MAX_RANK, rank, "$.codecs[1].configuration.order"),
        (&shard, MAX_RANK, rank, "$.codecs[0].configuration.chunk_shape"),
        (&chain, MAX_CODECS, "too-many-codecs", "$.codecs"),
        (&index, MAX_CODECS, "too-many-codecs", "$.codecs[0].configuration.index_codecs"),
    ];
    for (changes, limit, rule, path) in cases {
        let read = |count: usize| {
            let changes = changes(count);
            let changes: Vec<_> =
                changes.iter().map(|(name, json)| (*name, json.as_str())).collect();
            ArrayMetadata::from_json(document(&changes).as_bytes())
        };
        if let Err(error) = read(limit) {
            panic!("{path}: {error}");
        }
        for count in [limit + 1, 100_000] {
            let error = read(count).unwrap_err();
            assert_eq!((error.path(), error.rule().map(Rule::id)), (path, Some(rule)), "{error}");
            let reason = error.reason().to_string();
            assert!(reason.starts_with(&format!("found {count} ")), "{reason}");
            assert!(reason.contains("at most 1024, the limit of this reader"), "{reason}");
        }
    }
}

/// Look-ups one by one, and iteration: 80,000 of them would take minutes if each search started
/// at the first.
#[test]
fn consolidated_nodes_are_looked_up_in_time() {
    let group = r#"{"zarr_format": 3, "node_type": "group"}"#;
    let nodes: Vec<_> = (0..80_000).rev().map(|i| format!("\"n{i}\": {group}")).collect();
    let text = format!(
        r#"{{"zarr_format": 3, "node_type": "group", "consolidated_metadata":
            {{"kind": "inline", "must_understand": false, "metadata": {{{}}}}}}}"#,
        nodes.join(",")
    );
    let read = GroupMetadata::from_json(text.as_bytes()).unwrap();
    let consolidated = read.consolidated_metadata().unwrap();
    // In the order of the text.
    assert_eq!(consolidated.paths().next(), Some("n79999"));
    for path in consolidated.paths() {
        assert!(matches!(consolidated.node(path), Some(Ok(NodeMetadata::Group(_)))), "{path}");
    }
    assert!(consolidated.node("n").is_none() && consolidated.node("n80000").is_none());
}

#[test]
fn numbers_of_any_length() {
    let float = |text: &str| {
        document(&[
            ("data_type", "\"bfloat16\""),
            ("fill_value", text),
            ("codecs", r#"["packbits"]"#),
        ])
    };
    let zeros = "0".repeat(100_000);
    let nines = "9".repeat(100_000);
    for (text, bytes) in [
        (format!("1{zeros}e-100000"), [0x80, 0x3f]),
        (format!("0.{zeros}1e100001"), [0x80, 0x3f]),
        (format!("0.{nines}"), [0x80, 0x3f]),
        // Halfway between 1 and 1.0078125, and a digit at the far end.
        (format!("1.00390625{zeros}1"), [0x81, 0x3f]),
        (format!("1.00390625{zeros}"), [0x80, 0x3f]),
        ("1e99999999999999999999".to_owned(), [0x80, 0x7f]),
        ("1e-99999999999999999999".to_owned(), [0, 0]),
        (format!("0.{zeros}e99999999999999999999"), [0, 0]),
    ] {
        let array = ArrayMetadata::from_json(float(&text).as_bytes()).unwrap();
        assert_eq!(array.fill_value().bytes(), Some(&bytes[..]), "{}", &text[..12]);
        assert_eq!(array.fill_value().json(), text);
    }
}

#[test]
fn many_large_fill_values_of_version_2_take_no_memory() {
    let array = r#"{"zarr_format": 2, "shape": [6], "chunks": [3], "dtype": "|V1000000",
        "order": "C", "compressor": null, "filters": null, "fill_value": null}"#;
    let entries: Vec<_> = (0..2000).map(|n| format!("\"a{n}/.zarray\": {array}")).collect();
    let metadata =
        format!(r#"{{"zarr_consolidated_format": 1, "metadata": {{{}}}}}"#, entries.join(","));
    let group = GroupMetadata::from_version_2(None, None, Some(metadata.as_bytes())).unwrap();
    assert!(group.json().len() < metadata.len());
    assert_eq!(group.consolidated_metadata().unwrap().paths().len(), 2000);
}
