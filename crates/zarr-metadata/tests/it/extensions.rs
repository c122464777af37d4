//! Extensions: names, and extensions that need not be understood.

use zarr_metadata::{ArrayMetadata, DataType, Rule};

use crate::support::{array, breaks};

#[test]
fn sd_42_what_is_known_must_be_understood() {
    let grid = r#"{"name": "regular", "configuration": {"chunk_shape": [3, 2]}, "must_understand": false}"#;
    let encoding = r#"{"name": "default", "must_understand": false}"#;
    let data_type = r#"{"name": "int16", "must_understand": false}"#;
    for (member, json) in
        [("chunk_grid", grid), ("chunk_key_encoding", encoding), ("data_type", data_type)]
    {
        let read = array(&[(member, json)]).unwrap();
        let [finding] = read.findings() else { panic!("{:?}", read.findings()) };
        assert_eq!(finding.rule(), Rule::MUST_UNDERSTAND);
        assert_eq!(finding.path(), Some(format!("$.{member}.must_understand").as_str()));
        let allowed = json.replace("false", "true");
        assert_eq!(array(&[(member, &allowed)]).unwrap().findings(), []);
    }
}

#[test]
fn names_of_extensions() {
    let findings = |name: &str| {
        let codecs = format!(r#"["bytes", {{"name": "{name}"}}]"#);
        let read = array(&[("data_type", "\"uint8\""), ("codecs", &codecs)]).unwrap();
        read.findings().iter().map(ToString::to_string).skip(1).collect::<Vec<_>>()
    };
    for name in ["rle", "r2", "a-b_c.d9", "https://example.org/rle", "urn:example:rle"] {
        assert_eq!(findings(name), Vec::<String>::new(), "{name}");
    }
    for name in
        ["Rle", "r", "2le", "a.b/c", "foo:bar", "rlé", "a b", "urn:", "https://", "s3://a b"]
    {
        let found = findings(name);
        let [finding] = &found[..] else { panic!("{name}: {found:?}") };
        assert!(
            finding.starts_with("error: $.codecs[1].name: found \"")
                && finding.ends_with("[extension-name]")
        );
    }
    let read = array(&[("data_type", "\"Int17\""), ("codecs", "[\"bytes\"]")]).unwrap();
    assert!(read.findings().iter().any(|finding| finding.rule() == Rule::EXTENSION_NAME));
}

#[test]
fn sd_42_unknown_extensions() {
    // A codec that may be skipped, in a chain that is valid without it.
    let skipped = array(&[(
        "codecs",
        r#"[{"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "new", "must_understand": false}, {"name": "crc32c"}]"#,
    )]);
    assert!(skipped.is_ok());
    // The codecs after it are checked; the output of a codec that must be understood is unknown.
    let before_bytes = |codec: &str| array(&[("codecs", &format!(r#"[{codec}, "bytes"]"#))]);
    let message = breaks(
        "bytes-endian-missing",
        before_bytes(r#"{"name": "new", "must_understand": false}"#),
    );
    assert!(message.starts_with("$.codecs[1].configuration.endian: missing"), "{message}");
    assert!(before_bytes(r#""new""#).is_ok());
    // A codec that must be understood is kept for readers that know it.
    let kept = array(&[("codecs", r#"[{"name": "new", "configuration": {"a": 1}}, "gzip"]"#)]);
    assert_eq!(kept.unwrap().codecs()[0].name(), "new");
    // So is a type, so that the document can be shown.
    let other = r#"{"name": "int17", "configuration": {"a": 1.0}}"#;
    let kept = array(&[("data_type", other), ("codecs", "[\"bytes\"]")]).unwrap();
    let DataType::Opaque(extension) = kept.data_type() else { panic!() };
    assert_eq!(extension.configuration(), Some(r#"{"a": 1.0}"#));
    let finding = &kept.findings()[0];
    assert_eq!((finding.id(), finding.path()), ("unknown-data-type", Some("$.data_type")));
    let new = ArrayMetadata::new(
        kept.shape(),
        kept.data_type(),
        kept.chunk_grid(),
        kept.fill_value(),
        kept.codecs(),
    );
    assert!(new.is_err());
    insta::assert_snapshot!(
        breaks("data-type-must-be-understood", DataType::from_name("int17")),
        @r#"$: unknown data type "int17", expected bool, int2 to int64, uint2 to uint64, float4_e2m1fn to float64, bfloat16, complex of these, r8 and so on, string, bytes, or a type of times or records; did you mean "int16"?"#
    );
    // Not so with `"must_understand": false`, and never grids and key encodings.
    for (member, rule) in [
        ("data_type", "data-type-must-be-understood"),
        ("chunk_grid", "unknown-chunk-grid"),
        ("chunk_key_encoding", "unknown-chunk-key-encoding"),
    ] {
        let unknown = r#"{"name": "new", "must_understand": false}"#;
        let error = breaks(rule, array(&[(member, unknown)]));
        assert!(error.starts_with(&format!("$.{member}.name: unknown")), "{error}");
    }
}
