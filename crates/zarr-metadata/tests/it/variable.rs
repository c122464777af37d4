//! `string` and `bytes`, with their codecs.

use zarr_metadata::{
    ArrayBuilder, ArrayMetadata, Codec, CodecKind, DataType, FillValue, MetadataError, Rule,
    format_element, parse_element,
};

use crate::support::{array, message};

/// An array of this type and chain, as JSON.
fn typed(data_type: &str, fill_value: &str, codecs: &str) -> Result<ArrayMetadata, MetadataError> {
    let data_type = format!("\"{data_type}\"");
    let changes = [("data_type", &*data_type), ("fill_value", fill_value), ("codecs", codecs)];
    array(&changes)
}

#[test]
fn the_examples_of_the_documents_are_read() {
    let strings = typed("string", r#""foo""#, r#"[{"name": "vlen-utf8"}]"#).unwrap();
    assert_eq!(strings.data_type(), &DataType::String);
    assert_eq!(strings.codecs(), [Codec::VlenUtf8]);
    assert_eq!(strings.fill_value().bytes(), Some(&b"foo"[..]));
    for (fill, name) in [("[1, 2, 3]", "bytes"), (r#""AQID""#, "variable_length_bytes")] {
        let bytes = typed(name, fill, r#"[{"name": "vlen-bytes", "configuration": {}}]"#).unwrap();
        assert_eq!(bytes.data_type(), &DataType::Bytes);
        assert_eq!(bytes.codecs(), [Codec::VlenBytes]);
        assert_eq!(bytes.fill_value().bytes(), Some(&[1, 2, 3][..]));
        // As it was spelled.
        assert!(bytes.json().contains(name) && bytes.findings().is_empty());
    }
}

#[test]
fn elements_of_variable_length_are_written_and_read_back() {
    for text in ["", "a", "a\"\\\n", "\u{e9}\u{1f600}\0"] {
        let mut json = String::new();
        format_element(&DataType::String, text.as_bytes(), &mut json).unwrap();
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        let mut bytes = Vec::new();
        parse_element(&DataType::String, &json, &mut bytes).unwrap();
        assert_eq!(bytes, text.as_bytes());
    }
    // The test vectors of RFC 4648.
    for (bytes, base64) in [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foo", "Zm9v"),
        ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ] {
        let mut json = String::new();
        format_element(&DataType::Bytes, bytes.as_bytes(), &mut json).unwrap();
        assert_eq!(json, format!("\"{base64}\""));
        let fill = FillValue::parse(&DataType::Bytes, &json).unwrap();
        assert_eq!(fill.bytes(), Some(bytes.as_bytes()));
        assert_eq!(FillValue::from_bytes(&DataType::Bytes, bytes.as_bytes()).unwrap(), fill);
    }
    // All digits: 0xfb, 0xff are "+/8=".
    let every: Vec<u8> = (0..=255).collect();
    let fill = FillValue::from_bytes(&DataType::Bytes, &every).unwrap();
    assert!(fill.json().contains('+') && fill.json().contains('/'));
    assert_eq!(fill.bytes(), Some(&every[..]));

    let error = FillValue::from_bytes(&DataType::String, b"a\xff").unwrap_err().to_string();
    insta::assert_snapshot!(
        error,
        @"$: found bytes that are no UTF-8 from byte 1 on, expected UTF-8, a value of type string"
    );
}

#[test]
fn types_and_codecs_of_variable_length_belong_together() {
    for codec in ["vlen-utf8", "vlen-bytes"] {
        assert_eq!(Codec::from_json(format!("\"{codec}\"").as_bytes()).unwrap().name(), codec);
    }
    assert_eq!(Codec::VlenUtf8.kind(), Some(CodecKind::ArrayToBytes));
    assert_eq!(Codec::VlenBytes.to_json(), r#"{"name": "vlen-bytes"}"#);
    let shard = |inner: &str, index: &str| {
        format!(
            r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [2, 2],
                "codecs": [{{"name": "{inner}"}}], "index_codecs": [{{"name": "{index}"}}]}}}}]"#
        )
    };
    let bare = |name: &str| format!(r#"[{{"name": "{name}"}}]"#);
    let refused = [
        ("string", r#""""#, bare("vlen-bytes"), "vlen-data-type"),
        ("bytes", r#""""#, bare("vlen-utf8"), "vlen-data-type"),
        ("int16", "0", bare("vlen-utf8"), "vlen-data-type"),
        ("string", r#""""#, bare("bytes"), "bytes-data-type"),
        ("bytes", r#""""#, bare("bytes"), "bytes-data-type"),
        ("string", r#""""#, bare("packbits"), "packbits-data-type"),
        ("string", r#""""#, shard("vlen-bytes", "bytes"), "vlen-data-type"),
        ("string", r#""""#, shard("vlen-utf8", "vlen-bytes"), "vlen-data-type"),
    ];
    let messages: Vec<String> = refused
        .iter()
        .map(|(data_type, fill, codecs, rule)| {
            let quoted = format!("\"{data_type}\"");
            let changes = [("data_type", &*quoted), ("fill_value", fill), ("codecs", codecs)];
            let error = array(&changes).unwrap_err();
            assert_eq!(error.rule().map(Rule::id), Some(*rule), "{error}");
            message(Err::<(), _>(error))
        })
        .collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn builders_choose_a_codec_for_strings_and_bytes() {
    let strings = ArrayBuilder::new([5], DataType::String).build().unwrap();
    assert_eq!(strings.codecs(), [Codec::VlenUtf8, Codec::zstd(3)]);
    assert_eq!(strings.fill_value().json(), r#""""#);
    let strings = ArrayBuilder::new([5], DataType::String).fill_value("n/a\n").build().unwrap();
    assert_eq!(strings.fill_value().json(), r#""n/a\n""#);
    let bytes = ArrayBuilder::new([1 << 20], DataType::Bytes).build().unwrap();
    assert_eq!(bytes.codecs(), [Codec::VlenBytes, Codec::zstd(3)]);
    assert!(bytes.json().contains(r#""data_type": "bytes""#));
    assert!(bytes.chunk_grid().to_json().contains("[262144]"), "of 16 bytes each, 4 MiB");
    // A string is no number.
    assert!(ArrayBuilder::new([5], DataType::Int8).fill_value("1").build().is_err());
}
