//! Extensions: names, and extensions that need not be understood.

use zarr_metadata::{
    ArrayBuilder, ArrayMetadata, ChunkGrid, ChunkKeyEncoding, Codec, DataType, Extension,
    FillValue, KeyTemplate, Separator,
};

use crate::support::{array, breaks, document, message};

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
        assert_eq!(finding.id(), "must-be-understood");
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
    assert!(read.findings().iter().any(|finding| finding.id() == "extension-name"));
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
    insta::assert_snapshot!(
        breaks("data-type-must-be-understood", DataType::from_name("int17")),
        @r#"$: unknown data type "int17", expected bool, int2 to int64, uint2 to uint64, float4_e2m1fn to float64, bfloat16, complex of these, r8 and so on, string, bytes, or a type of times or records; did you mean "int16"?"#
    );
    // Not so with `"must_understand": false`.
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

/// SD-42: a grid or a key encoding of another name is kept.
#[test]
fn sd_42_unknown_grids_and_key_encodings_are_kept() {
    let json = r#"{"name": "new", "configuration": {"a": 1.50, "b":  [2]}}"#;
    for (member, rule) in
        [("chunk_grid", "unknown-chunk-grid"), ("chunk_key_encoding", "unknown-chunk-key-encoding")]
    {
        for json in [json, r#""new""#] {
            let read = array(&[(member, json)]).unwrap();
            let [finding] = read.findings() else { panic!("{:?}", read.findings()) };
            assert_eq!(finding.id(), rule);
            assert!(finding.path().unwrap().starts_with(&format!("$.{member}")), "{finding}");
            assert!(finding.message().starts_with("unknown chunk "), "{finding}");
            let before = read.json().to_owned();
            let changed = read.with_changed_attributes(&[("n", Some("1"))]).unwrap();
            let added = ",\n  \"attributes\": {\"n\": 1}";
            assert_eq!(changed.json().replace(added, ""), before);
            assert_eq!(changed.with_changed_attributes(&[("n", None)]).unwrap(), read);
            let shape = vec![0; read.shape().len()];
            match member {
                "chunk_grid" => {
                    let ChunkGrid::Unknown(kept) = read.chunk_grid() else { panic!() };
                    assert_eq!((kept.name(), kept.json()), ("new", json));
                    assert_eq!((read.chunk_grid().rank(), read.chunk_grid().name()), (None, "new"));
                    assert_eq!(&ChunkGrid::from_json(json.as_bytes()).unwrap(), read.chunk_grid());
                }
                _ => {
                    let kept = read.chunk_key_encoding();
                    let ChunkKeyEncoding::Unknown(extension) = kept else { panic!() };
                    assert_eq!(extension.json(), json);
                    assert_eq!(kept.to_json(), json);
                    assert_eq!(
                        (kept.encode(&shape), kept.decode("c/0/0", 2)),
                        (String::new(), None)
                    );
                }
            }
        }
        // The form of an extension stays checked.
        breaks("extension-form", array(&[(member, "3")]));
        breaks("extension-form", array(&[(member, r#"{"name": ""}"#)]));
    }
}

/// SD-42: documents with extensions of each kind can be made, read and changed, whoever knows them.
#[test]
fn sd_42_documents_of_unknown_extensions_are_made_and_changed() {
    let extension = || Extension::new("acme.new", Some(r#"{"a": 1.50}"#)).unwrap();
    let opaque = DataType::Opaque(extension());
    for fill in ["null", r#"{"x": [1e0]}"#, "\"0x00\""] {
        let fill_value = FillValue::parse(&opaque, fill).unwrap();
        let made = ArrayBuilder::new([6, 6], opaque.clone())
            .chunk_grid(ChunkGrid::Unknown(extension()))
            .chunk_key_encoding(ChunkKeyEncoding::Unknown(Box::new(extension())))
            .codecs([Codec::bytes(), Codec::Unknown(extension())])
            .fill_value(fill_value.clone())
            .build()
            .unwrap();
        assert_eq!(made.fill_value().json(), fill);
        assert_eq!(ArrayMetadata::from_json(made.json().as_bytes()).unwrap(), made);
        let rules = made.findings().iter().map(|finding| finding.id()).collect::<Vec<_>>();
        let expected = ["unknown-chunk-grid", "unknown-data-type", "unknown-chunk-key-encoding"];
        assert_eq!(rules, expected);
        for member in ["chunk_grid", "chunk_key_encoding", "data_type"] {
            let json: serde_json::Value =
                serde_json::from_str(made.member(member).unwrap()).unwrap();
            assert_eq!(json["name"], "acme.new", "{member}");
        }
        // Each part is replaced alone.
        let shape = made.with_shape(&[7, 6]).unwrap();
        let changed = shape.json().replace("    7,", "    6,").replace("[7, 6]", "[6, 6]");
        assert_eq!(changed, made.json());
        let other = FillValue::parse(&opaque, "[7]").unwrap();
        let changed = made.with_fill_value(&other).unwrap();
        assert_eq!((changed.fill_value(), changed.data_type()), (&other, &opaque));
        assert_eq!(changed.with_fill_value(&fill_value).unwrap().json(), made.json());
        let codecs = [Codec::bytes()];
        assert_eq!(made.with_codecs(&codecs).unwrap().codecs(), codecs);
        let grid = ChunkGrid::Regular { chunk_shape: vec![2, 3] };
        let known = made.with_shape_and_grid(&[4, 3], &grid).unwrap();
        assert_eq!((known.chunk_grid(), known.shape()), (&grid, &[4, 3][..]));
        let known = known.with_chunk_key_encoding(&ChunkKeyEncoding::default()).unwrap();
        let known = known.with_member("data_type", "\"uint8\"");
        assert!(known.unwrap_err().to_string().starts_with("$.fill_value: "), "{fill}");
    }
    // Without a fill value there is none to choose.
    let error = message(ArrayBuilder::new([6], opaque).build());
    assert!(error.starts_with("$.fill_value: "), "{error}");
    // Names that no extension can have are faults, and so are other members of the wrong form.
    let wrong = DataType::Opaque(Extension::new("Wrong", None).unwrap());
    let fill_value = FillValue::parse(&wrong, "0").unwrap();
    let error = message(ArrayBuilder::new([6], wrong).fill_value(fill_value).build());
    assert!(error.starts_with("$.data_type.name: found \"Wrong\""), "{error}");
    // Other members of unknown extensions are kept in all four places.
    let json = r#"{"name": "acme.new", "more": 1}"#;
    for member in ["data_type", "chunk_grid", "chunk_key_encoding"] {
        assert_eq!(array(&[(member, json)]).unwrap().member(member), Some(json));
    }
    let codecs = format!("[\"bytes\", {json}]");
    let read = array(&[("data_type", "\"int8\""), ("codecs", &codecs)]).unwrap();
    assert_eq!(read.member("codecs"), Some(&*codecs));
}

/// A change of any member leaves the bytes outside of its value, however the document is laid out.
#[test]
fn a_changed_member_leaves_the_bytes_of_the_others() {
    let hint = r#"{"must_understand": false, "n":  1.50}"#;
    let changes = [
        ("shape", "[6,  5]"),
        ("data_type", "\"uint16\""),
        ("chunk_grid", r#"{"name":"regular","configuration":{"chunk_shape":[1,1]}}"#),
        ("chunk_key_encoding", r#"{"name": "v2"}"#),
        ("fill_value", "7"),
        ("codecs", r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#),
        ("attributes", "{}"),
        ("dimension_names", r#"["a",null]"#),
        ("storage_transformers", "[]"),
        ("extra", r#"{"must_understand": false}"#),
    ];
    let own =
        [("attributes", r#"{"b":2,"a" : 1e0}"#), ("dimension_names", "null"), ("extra", hint)];
    for layout in ["{}", " {}", "{}\n"] {
        let text = document(&[own[0], own[1], own[2], ("storage_transformers", "[ ]")]);
        let text = layout.replace("{}", &text.replace(", \"", "\t,\r\n\""));
        let before = ArrayMetadata::from_json(text.as_bytes()).unwrap();
        for (name, json) in changes {
            let old = before.member(name).unwrap();
            let (start, right) = text.split_once(&format!("\"{name}\": {old}")).unwrap();
            let left = format!("{start}\"{name}\": ");
            let changed = before.with_member(name, json).unwrap();
            let inner = changed.json().strip_prefix(&*left).unwrap().strip_suffix(right).unwrap();
            let same = |a: &str, b: &str| {
                let [a, b] =
                    [a, b].map(|text| serde_json::from_str::<serde_json::Value>(text).unwrap());
                a == b
            };
            assert!(same(inner, json), "{name}: {inner}");
            assert_eq!(changed.member(name), Some(inner));
        }
        for (name, json, part) in [
            ("fill_value", "0, \"x\": {}", "$.fill_value"),
            ("fill_value", "NaN", "$.fill_value"),
            ("attributes", "{\"a\": NaN}", "$.attributes"),
            ("attributes", "[]", "$.attributes"),
            ("zarr_format", "2", "$.zarr_format"),
            ("node_type", "\"group\"", "$.node_type"),
            ("codecs", "[\"bytes\"]", "$.codecs[0]"),
            ("shape", "[6]", "$.chunk_grid"),
            ("other", "1", "$.other"),
        ] {
            let error = message(before.with_member(name, json));
            assert!(error.starts_with(part), "{name}: {error}");
        }
    }
}

/// An encoding that a program adds has the keys of its template, checked as `template` is, and stays
/// as it was written.
#[test]
fn key_encodings_that_a_program_adds() {
    ChunkKeyEncoding::add("test.tiles", |encoding| {
        let json = encoding.configuration().ok_or("no configuration")?;
        let json: serde_json::Value = serde_json::from_str(json)?;
        let format = json["f"].as_str().ok_or("\"f\" is not a text")?;
        Ok(KeyTemplate::new(format, json["s"].as_str())?)
    })
    .unwrap();
    let read = |configuration: &str| {
        let json = format!(r#"{{"name": "test.tiles", "configuration": {configuration}}}"#);
        array(&[("chunk_key_encoding", &json)]).map(|read| (read, json))
    };
    let (tiles, json) = read(r#"{"f":  "t{1:02}/{0}.raw"}"#).unwrap();
    assert_eq!(tiles.findings(), []);
    let encoding = tiles.chunk_key_encoding();
    assert_eq!(
        (encoding.name(), encoding.encode(&[12, 3])),
        ("test.tiles", "t03/12.raw".to_owned())
    );
    assert_eq!(encoding.decode("t03/12.raw", 2), Some(vec![12, 3]));
    assert!(encoding.is_chunk_folder("t03", 2) && !encoding.is_chunk_folder("u03", 2));
    assert_eq!(encoding.to_json(), json);
    assert_eq!(&ChunkKeyEncoding::from_json(json.as_bytes()).unwrap(), encoding);
    let changed = tiles.with_fill_value(&FillValue::parse(&DataType::Int16, "7").unwrap()).unwrap();
    assert_eq!(changed.chunk_key_encoding(), encoding);
    let known = array(&[]).unwrap().with_chunk_key_encoding(encoding).unwrap();
    assert_eq!(known.chunk_key_encoding(), encoding);
    for (configuration, part) in [
        (r#"{"f": "{0}"}"#, "the number of axis 1 0 times"),
        (r#"{"f": "{0}{1}"}"#, "without a character other than a digit"),
        (r#"{"f": "{0}.{1}/zarr.json"}"#, r#"found "zarr.json""#),
        (r#"{"f": "zarr-kit-{0}.{1}"}"#, "names that begin with"),
        (r#"{"f": "__{0}.{1}"}"#, "names that begin with"),
        (r#"{"f": "/{0}/{1}"}"#, "names that begin with"),
        (r#"{"f": "{0}/../{1}"}"#, r#"found "..""#),
        (r#"{"f": "{0"}"#, "a brace without its partner"),
        (r#"{"f": 1}"#, "a configuration of test.tiles: \"f\" is not a text"),
    ] {
        let error = breaks("chunk-key-format", read(configuration));
        assert!(error.starts_with("$.chunk_key_encoding.configuration: "), "{error}");
        assert!(error.contains(part), "{configuration}: {error}");
    }
    let bare = breaks("chunk-key-format", array(&[("chunk_key_encoding", "\"test.tiles\"")]));
    assert!(bare.contains("no configuration"), "{bare}");
    let skipped = json.replace("}}", "}, \"must_understand\": false}");
    let read = array(&[("chunk_key_encoding", &skipped)]).unwrap();
    assert_eq!(read.findings()[0].id(), "must-be-understood");
    for name in ["test.tiles", "default", "v2", "template", "zarrs.default_suffix"] {
        let error = message(ChunkKeyEncoding::add(name, |_| Err("never".into())));
        assert!(error.contains("known already"), "{error}");
    }
}

fn template(format: &str, separator: Option<&str>) -> ChunkKeyEncoding {
    ChunkKeyEncoding::Template(Box::new(KeyTemplate::new(format, separator).unwrap()))
}

/// Keys as `zarr-template` 0.1.0 and zarrs 0.23 write them.
#[test]
fn keys_of_templates_and_suffixes() {
    let suffix = |separator| ChunkKeyEncoding::DefaultSuffix { separator, suffix: ".tif".into() };
    for (encoding, index, key) in [
        (template("c/{*}", Some("/")), &[1, 23, 45][..], "c/1/23/45"),
        (template("{*}", Some(".")), &[1, 23, 45], "1.23.45"),
        (template("images/{0}/{2}_{1}.jpeg", Some("/")), &[10, 11, 12], "images/10/12_11.jpeg"),
        (template("{-1:03}/{*:02}.x", Some("_")), &[1, 223, 4], "004/01_223.x"),
        (template("{{{0}}}", None), &[7], "{7}"),
        (template("a1{0}2b{1}3", None), &[12, 3], "a1122b33"),
        (template("c", None), &[], "c"),
        (suffix(Separator::Slash), &[1, 23], "c/1/23.tif"),
        (suffix(Separator::Dot), &[1, 23], "c.1.23.tif"),
        (suffix(Separator::Slash), &[], "c.tif"),
    ] {
        assert_eq!(encoding.encode(index), key);
        assert_eq!(encoding.decode(key, index.len()), Some(index.to_vec()), "{encoding:?}");
        let json = encoding.to_json();
        assert_eq!(ChunkKeyEncoding::from_json(json.as_bytes()).unwrap(), encoding, "{json}");
        for folder in key.match_indices('/').map(|(at, _)| &key[..at]) {
            let numbered = folder.bytes().any(|byte| byte.is_ascii_digit());
            assert!(encoding.is_chunk_folder(folder, index.len()) || !numbered, "{folder}");
        }
        assert!(!encoding.is_chunk_folder(key, index.len()), "{key}");
        for wrong in [format!("{key}0x"), format!("0{key}"), key.replace('1', "01")] {
            let decoded = encoding.decode(&wrong, index.len());
            assert!(wrong == key || decoded.is_none_or(|index| encoding.encode(&index) == wrong));
        }
    }
}

/// Each chunk has one key, and each key one chunk: for all indices that short numbers make.
#[test]
fn keys_of_accepted_templates_are_different() {
    let texts = ["", "a", "1", "/", "1a", "a1", "1a2", "-"];
    let numbers = [0_u64, 1, 2, 10, 11, 12, 21, 101, 110, 111, 112, 1111];
    let mut accepted = 0;
    for before in texts {
        for between in texts {
            for after in texts {
                for (first, second) in [("{0}", "{1}"), ("{1:02}", "{0:01}"), ("{-2}", "{1:01}")] {
                    let format = format!("{before}{first}{between}{second}{after}");
                    let configuration = format!(r#"{{"format": "{format}"}}"#);
                    let json =
                        format!(r#"{{"name": "template", "configuration": {configuration}}}"#);
                    let Ok(read) = array(&[("chunk_key_encoding", &json)]) else { continue };
                    accepted += 1;
                    let mut keys = std::collections::BTreeSet::new();
                    for a in numbers {
                        for b in numbers {
                            let key = read.chunk_key_encoding().encode(&[a, b]);
                            let decoded = read.chunk_key_encoding().decode(&key, 2);
                            assert_eq!(decoded, Some(vec![a, b]), "{format}: {key}");
                            assert!(keys.insert(key), "{format}");
                        }
                    }
                }
            }
        }
    }
    assert!(accepted > 500, "{accepted}");
}

#[test]
fn formats_that_do_not_give_each_chunk_a_key_are_refused() {
    let refused = |name: &str, configuration: &str| {
        let json = format!(r#"{{"name": "{name}", "configuration": {configuration}}}"#);
        array(&[("chunk_key_encoding", &json)]).map(|read| panic!("{json}: {read:?}")).unwrap_err()
    };
    for (configuration, part) in [
        (r#"{"format": "c"}"#, "the number of axis 0 0 times"),
        (r#"{"format": "{0}"}"#, "the number of axis 1 0 times"),
        (r#"{"format": "{0}/{0}/{1}"}"#, "the number of axis 0 2 times"),
        (r#"{"format": "{0}/{-2}/{1}"}"#, "the number of axis 0 2 times"),
        (r#"{"format": "{0}/{2}"}"#, "{2} for 2 dimensions"),
        (r#"{"format": "{0}/{-3}"}"#, "{-3} for 2 dimensions"),
        (r#"{"format": "{0}{1}"}"#, "without a character other than a digit"),
        (r#"{"format": "{0:05}7{1:05}"}"#, "without a character other than a digit"),
        (r#"{"format": "{*}", "separator": ""}"#, "without a character other than a digit"),
        (r#"{"format": "{*}", "separator": "0"}"#, "without a character other than a digit"),
        (r#"{"format": "{*}"}"#, "{*} without a separator"),
        (r#"{"format": "{*}/{*}", "separator": "/"}"#, "{*} 2 times"),
        (r#"{"format": "{0}/{1"}"#, "a brace without its partner"),
        (r#"{"format": "{0}/{1}}"}"#, "a brace without its partner"),
        (r#"{"format": "{0}/{}"}"#, "found {}"),
        (r#"{"format": "{0}/{1:3}"}"#, "found {1:3}"),
        (r#"{"format": "{0}/{1:0}"}"#, "found {1:0}"),
        (r#"{"format": "{0}/{1:099999}"}"#, "found {1:099999}"),
        (r#"{"format": "{0}/{ 1}"}"#, "found { 1}"),
        (r#"{"format": "/{0}/{1}"}"#, "names that begin with"),
        (r#"{"format": "{0}/../{1}"}"#, r#"found "..""#),
        (r#"{"format": "{0}/a..b/{1}"}"#, r#"found "..""#),
        (r#"{"format": "{0}/a//b/{1}"}"#, r#"found "//""#),
        (r#"{"format": "{0}.{1}/zarr.json"}"#, r#"found "zarr.json""#),
        (r#"{"format": "{0}.{1}/zarr.json.raw"}"#, r#"found "zarr.json""#),
        (r#"{"format": "{0}/{1}/{*}", "separator": "/"}"#, "{*} without an axis"),
        (r#"{"format": "{0}/{*}"}"#, "{*} without a separator"),
        (r#"{"format": "{0}.{1}/.zarray"}"#, "names that begin with"),
        (r#"{"format": "__{0}.{1}"}"#, "names that begin with"),
        (r#"{"format": "zarr-kit-copy.{0}.{1}.json"}"#, "names that begin with"),
        (r#"{"format": "{0}\\{1}"}"#, r#"found "\\""#),
        (r#"{"format": 1}"#, "expected a text"),
        ("{}", "format: missing"),
        (r#"{"format": "{0}/{1}", "more": 1}"#, "more"),
    ] {
        let message = refused("template", configuration).to_string();
        assert!(message.contains(part), "{configuration}: {message}");
        assert!(message.contains("$.chunk_key_encoding.configuration"), "{message}");
    }
    for (configuration, part) in [
        ("{}", "suffix: missing"),
        (r#"{"suffix": "/zarr.json"}"#, "names that begin with"),
        (r#"{"suffix": "/"}"#, "names that begin with"),
        (r#"{"suffix": ".tif", "separator": "-"}"#, "separator"),
    ] {
        let message = refused("zarrs.default_suffix", configuration).to_string();
        assert!(message.contains(part), "{configuration}: {message}");
    }
}

#[test]
fn extensions_made_by_hand() {
    let extension = Extension::new("my \"codec\"", Some(r#"{"a": 1}"#)).unwrap();
    let codec = Codec::Unknown(extension);
    assert_eq!(codec.to_json(), r#"{"name": "my \"codec\"", "configuration": {"a": 1}}"#);
    assert_eq!(Codec::from_json(codec.to_json().as_bytes()), Ok(codec));
    assert!(Extension::new("x", Some("[]")).is_err());
    assert!(Extension::new("x", Some(r#"{"a": 1"#)).is_err());
}

#[test]
fn an_extension_that_readers_may_skip() {
    let extension = Extension::optional("example.hint", Some(r#"{"a": 1}"#)).unwrap();
    assert!(!extension.must_understand());
    let json = r#"{"name": "example.hint", "configuration": {"a": 1}, "must_understand": false}"#;
    assert_eq!(extension.json(), json);
    assert_eq!(Codec::from_json(json.as_bytes()), Ok(Codec::Unknown(extension.clone())));
    let bare = Extension::optional("example.hint", None).unwrap();
    assert_eq!(bare.json(), r#"{"name": "example.hint", "must_understand": false}"#);
    // A chain must be one without it (SD-42).
    let hint = Codec::Unknown(extension);
    let array = array(&[("data_type", "\"uint8\"")]).unwrap();
    let codecs = [hint.clone(), Codec::bytes()];
    assert_eq!(array.with_codecs(&codecs).unwrap().codecs(), codecs);
    let error = message(array.with_codecs(&[hint]));
    assert!(error.contains("exactly one array-to-bytes codec"), "{error}");
    assert!(Extension::optional("", None).is_err());
}

#[test]
fn sd_40_unknown_members_are_kept_where_they_may_be_ignored() {
    let text = document(&[("extra", r#"{"must_understand": false, "a": [1]}"#)]);
    let array = ArrayMetadata::from_json(text.as_bytes()).unwrap();
    assert_eq!(array.with_shape(&[3, 3]).unwrap().json(), text.replace("[6, 6]", "[3, 3]"));
    for value in ["1", "{}", r#"{"must_understand": true}"#, r#"{"must_understand": 0}"#] {
        assert!(crate::support::array(&[("extra", value)]).is_err(), "{value}");
    }
}
