//! Documents of Zarr version 2: what they become, and what is refused.

use crate::support::changed;
use zarr_metadata::{ArrayMetadata, GroupMetadata, NodeMetadata, Version2Error};

const MEMBERS: &[(&str, &str)] = &[
    ("zarr_format", "2"),
    ("shape", "[6, 4]"),
    ("chunks", "[3, 2]"),
    ("dtype", "\"<i2\""),
    ("order", "\"C\""),
    ("compressor", "null"),
    ("filters", "null"),
    ("fill_value", "0"),
];

/// The text of an ordinary `.zarray` with some members replaced, added, or (by "") left out.
pub(crate) fn zarray(changes: &[(&str, &str)]) -> String {
    changed(MEMBERS, changes)
}

fn array(changes: &[(&str, &str)]) -> Result<ArrayMetadata, Version2Error> {
    ArrayMetadata::from_version_2(zarray(changes).as_bytes(), None)
}

/// What of the translated document `member` says.
fn member(array: &ArrayMetadata, member: &str) -> String {
    let json: serde_json::Value = serde_json::from_str(array.json()).unwrap();
    json[member].to_string()
}

/// Each of the changed documents on a line, with the error or the members of its translation.
fn lines(cases: &[&[(&str, &str)]], members: &[&str]) -> String {
    let line = |changes: &&[(&str, &str)]| {
        let given: Vec<_> = changes.iter().map(|(name, json)| format!("{name}: {json}")).collect();
        let found = match array(changes) {
            Ok(array) => {
                let found: Vec<_> = members.iter().map(|name| member(&array, name)).collect();
                found.join("  ")
            }
            Err(error) => error.to_string(),
        };
        format!("{}\n  {found}", given.join(", "))
    };
    cases.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn data_types() {
    let types = [
        "|b1",
        "|i1",
        "<i1",
        ">u1",
        "<u2",
        ">i4",
        "<i8",
        ">u8",
        "<f2",
        ">f4",
        "<f8",
        "<c8",
        ">c16",
        "<M8",
        "<M8[ns]",
        ">m8[25us]",
        "|S3",
        "<S3",
        "|V4",
        "<U2",
        ">U3",
        // Refused.
        "",
        "i4",
        "=i4",
        "|i4",
        "<i3",
        "<f16",
        "<c32",
        "<datetime64[s]",
        "<M8[x]",
        "<M8[0s]",
        "|S",
        "|S0",
        "|V0",
        "<U0",
        "|U2",
        "|S2000000",
        "<U99999999999999999999",
        "|O",
        "<é",
    ];
    let types: Vec<String> = types.iter().map(|dtype| format!("\"{dtype}\"")).collect();
    let changes: Vec<_> =
        types.iter().map(|dtype| [("dtype", dtype.as_str()), ("fill_value", "null")]).collect();
    let cases: Vec<&[(&str, &str)]> = changes.iter().map(|change| &change[..]).collect();
    insta::assert_snapshot!(lines(&cases, &["data_type", "codecs", "fill_value"]));
}

#[test]
fn records() {
    let types = [
        r#"[["a", "<i4"], ["b", "|b1"]]"#,
        r#"[["a", ">i4"], ["b", "|S2"], ["c", ">f8"]]"#,
        r#"[["id", "<u2"], ["at", [["x", "<f4"], ["y", "<f4"]]]]"#,
        r#"[["a", "|i1"], ["", "|V3"], ["b", "<i4"]]"#,
        "[]",
        "[5]",
        "{}",
        r#"[["a"]]"#,
        r#"[["a", "<i4"], ["a", "<i4"]]"#,
        r#"[["a", "<i4"], ["b", ">i4"]]"#,
        r#"[["a", "<i4"], ["b", [["c", ">f4"]]]]"#,
        r#"[["a", "<f4", [2, 3]]]"#,
        r#"[["a", "|O"]]"#,
        r#"[["a", "<f3"]]"#,
        r#"[[["title", "a"], "<f4"]]"#,
    ];
    let changes: Vec<_> =
        types.iter().map(|dtype| [("dtype", *dtype), ("fill_value", "null")]).collect();
    let cases: Vec<&[(&str, &str)]> = changes.iter().map(|change| &change[..]).collect();
    insta::assert_snapshot!(lines(&cases, &["data_type", "codecs", "fill_value"]));
}

#[test]
fn filters_and_compressors() {
    let delta = r#"{"id": "delta", "dtype": "<i2", "astype": "<i1"}"#;
    let packbits =
        [("dtype", "\"|b1\""), ("filters", r#"[{"id": "packbits"}]"#), ("fill_value", "1")];
    let floats = |filter: &'static str| [("dtype", "\">f4\""), ("filters", filter)];
    let cases: &[&[(&str, &str)]] = &[
        &[("order", "\"F\"")],
        &[("order", "\"F\""), ("shape", "[6]"), ("chunks", "[3]")],
        &[("order", "\"F\""), ("filters", &format!("[{delta}]"))],
        &[("compressor", r#"{"id": "zlib", "level": 1}"#)],
        &[("compressor", r#"{"id": "gzip", "level": 5}"#)],
        &[("compressor", r#"{"id": "gzip", "level": -1}"#)],
        &[("compressor", r#"{"id": "zstd", "level": 0, "checksum": true}"#)],
        &[("compressor", r#"{"id": "bz2", "level": 1}"#)],
        &[("compressor", r#"{"id": "lz4", "acceleration": 1}"#)],
        &[(
            "compressor",
            r#"{"id": "lzma", "format": 1, "check": -1, "preset": null, "filters": null}"#,
        )],
        &[(
            "compressor",
            r#"{"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}"#,
        )],
        &[("compressor", r#"{"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": -1}"#)],
        &[
            ("dtype", "\"|u1\""),
            ("compressor", r#"{"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": -1}"#),
        ],
        &[
            ("dtype", "\"|S300\""),
            ("fill_value", "null"),
            ("compressor", r#"{"id": "blosc", "shuffle": 1}"#),
        ],
        &[("compressor", r#"{"id": "pcodec", "level": 8}"#)],
        // As zarr-python 2 writes it.
        &[
            ("dtype", "\"<f4\""),
            (
                "compressor",
                r#"{"id": "zfpy", "mode": 4, "compression_kwargs": {"tolerance": 0.01},
                    "tolerance": 0.01, "rate": -1, "precision": -1}"#,
            ),
        ],
        &[("filters", "[]")],
        &[("filters", &format!("[{delta}]")), ("compressor", r#"{"id": "blosc", "shuffle": 1}"#)],
        &[("filters", &format!(r#"[{delta}, {{"id": "shuffle", "elementsize": 1}}]"#))],
        &[("filters", r#"[{"id": "crc32"}, {"id": "adler32"}, {"id": "fletcher32"}]"#)],
        // As tifffile writes them.
        &[("compressor", r#"{"id": "imagecodecs_zlib", "level": null}"#)],
        &[("compressor", r#"{"id": "imagecodecs_zstd", "level": 5}"#)],
        &[("compressor", r#"{"id": "imagecodecs_lz4", "level": 3, "header": true}"#)],
        &packbits,
        &floats(
            r#"[{"id": "fixedscaleoffset", "scale": 10, "offset": 1.5, "dtype": ">f4", "astype": ">u2"}]"#,
        ),
        &floats(r#"[{"id": "quantize", "digits": 2, "dtype": ">f4", "astype": ">f4"}]"#),
        &floats(r#"[{"id": "quantize", "digits": 2, "dtype": ">f4", "astype": "<f2"}]"#),
        &floats(r#"[{"id": "astype", "encode_dtype": "<f2", "decode_dtype": ">f4"}]"#),
        &floats(r#"[{"id": "bitround", "keepbits": 5}]"#),
        &[("dtype", "\"|O\""), ("filters", r#"[{"id": "vlen-utf8"}]"#), ("fill_value", "\"\"")],
        &[
            ("dtype", "\"|O\""),
            ("order", "\"F\""),
            ("filters", r#"[{"id": "vlen-bytes"}]"#),
            ("fill_value", "0"),
            ("compressor", r#"{"id": "blosc", "shuffle": 1}"#),
        ],
        // Refused.
        &[("filters", "{}")],
        &[("filters", "[null]")],
        &[("filters", "[{}]")],
        &[("compressor", "5")],
        &[("compressor", r#"{"id": 5}"#)],
        &[("compressor", r#"{"id": "zlip", "level": 1}"#)],
        &[("compressor", r#"{"id": "imagecodecs_lzw"}"#)],
        &[("compressor", r#"{"id": "imagecodecs_lz4", "header": false}"#)],
        &[("compressor", r#"{"id": "imagecodecs_deflate", "raw": true}"#)],
        &[("compressor", r#"{"id": "zlib", "level": 12}"#)],
        &[("compressor", r#"{"id": "zlib", "levels": 1}"#)],
        &[("compressor", r#"{"id": "blosc", "cname": "lz5"}"#)],
        &[("filters", r#"[{"id": "delta"}]"#)],
        &[("filters", r#"[{"id": "delta", "dtype": "<i3"}]"#)],
        &[("filters", r#"[{"id": "delta", "dtype": ">i3"}]"#)],
        &[("filters", r#"[{"id": "delta", "dtype": "<i4"}]"#)],
        &[("filters", r#"[{"id": "delta", "dtype": ">i2"}]"#)],
        &[(
            "filters",
            r#"[{"id": "fixedscaleoffset", "scale": NaN, "offset": 0, "dtype": "<i2"}]"#,
        )],
        &[("filters", &format!(r#"[{{"id": "shuffle"}}, {delta}]"#))],
        &[("filters", r#"[{"id": "vlen-utf8"}]"#)],
        &[("filters", r#"[{"id": "categorize", "labels": ["a"]}]"#)],
        &[("dtype", "\">i2\""), ("compressor", r#"{"id": "pcodec", "level": 8}"#)],
        &[("dtype", "\">f4\""), ("compressor", r#"{"id": "zfpy"}"#)],
        &[("dtype", "\"<i2\""), ("compressor", r#"{"id": "zfpy"}"#)],
        &[("dtype", "\"|O\"")],
        &[("dtype", "\"|O\""), ("compressor", r#"{"id": "vlen-utf8"}"#)],
        &[("dtype", "\"|O\""), ("filters", r#"[{"id": "pickle", "protocol": 5}]"#)],
        &[("dtype", "\"|O\""), ("filters", r#"[{"id": "json2"}]"#)],
        &[
            ("dtype", "\"|O\""),
            ("filters", r#"[{"id": "vlen-utf8"}, {"id": "delta", "dtype": "<i2"}]"#),
        ],
    ];
    insta::assert_snapshot!(lines(cases, &["codecs", "fill_value"]));
}

#[test]
fn fill_values() {
    let cases: Vec<[(&str, &str); 2]> = [
        ("<i2", "0"),
        ("<i2", "-5.0"),
        ("<i2", "1.5"),
        ("<i2", "40000"),
        ("<i2", "\"0\""),
        ("<i2", "NaN"),
        ("<i2", "true"),
        ("|b1", "true"),
        ("|b1", "0"),
        ("|b1", "1.0"),
        ("|b1", "2"),
        ("<u8", "18446744073709551615"),
        ("<f4", "NaN"),
        ("<f4", "\"NaN\""),
        (">f8", "-Infinity"),
        ("<f8", "\"Infinity\""),
        ("<f8", "1"),
        ("<f4", "1e-3"),
        ("<f4", "\"nan\""),
        ("<f4", "[]"),
        ("<c8", "[1, -0.5]"),
        ("<c8", "[\"NaN\", Infinity]"),
        ("<c8", "1"),
        ("<c8", "[1]"),
        ("<M8[s]", "0"),
        ("<M8[s]", "-9223372036854775808"),
        ("<M8[s]", "\"NaT\""),
        ("<M8[s]", "null"),
        ("|S3", "\"\""),
        ("|S3", "\"YWI=\""),
        ("|S3", "\"YWJjZA==\""),
        ("|S3", "0"),
        ("|S3", "\"a\""),
        ("|V3", "\"AQID\""),
        ("|V3", "\"AQI=\""),
        ("|V3", "null"),
        ("|V3", "0"),
        ("<U2", "\"é\""),
        ("<U2", "\"abc\""),
        ("<U2", "0"),
        ("<U2", "null"),
        ("<U2", "5"),
    ]
    .into_iter()
    .map(|(dtype, fill)| [("dtype", dtype), ("fill_value", fill)])
    .collect();
    let quoted: Vec<[(&str, String); 2]> = cases
        .iter()
        .map(|[dtype, fill]| [(dtype.0, format!("\"{}\"", dtype.1)), (fill.0, fill.1.to_owned())])
        .collect();
    let changes: Vec<[(&str, &str); 2]> =
        quoted.iter().map(|[dtype, fill]| [(dtype.0, &*dtype.1), (fill.0, &*fill.1)]).collect();
    let cases: Vec<&[(&str, &str)]> = changes.iter().map(|change| &change[..]).collect();
    insta::assert_snapshot!(lines(&cases, &["fill_value"]));
}

#[test]
fn records_fill_in_their_own_byte_order() {
    for (order, fill) in [("<", "AQACAAAA"), (">", "AAEAAAAC")] {
        let dtype = format!(r#"[["a", "{order}i2"], ["b", "{order}i4"]]"#);
        let array = array(&[("dtype", &dtype), ("fill_value", &format!("\"{fill}\""))]).unwrap();
        assert_eq!(member(&array, "fill_value"), r#"{"a":1,"b":2}"#);
        assert_eq!(array.fill_value().bytes(), Some(&[1, 0, 2, 0, 0, 0][..]));
    }
}

#[test]
fn other_members() {
    let cases: &[&[(&str, &str)]] = &[
        &[],
        &[("dimension_separator", "\"/\"")],
        &[("dimension_separator", "null")],
        &[("shape", "[]"), ("chunks", "[]")],
        &[("shape", "[0, 4]"), ("chunks", "[0, 2]")],
        &[("anything", "[1]")],
        // Refused.
        &[("dimension_separator", "\"-\"")],
        &[("zarr_format", "3")],
        &[("zarr_format", "")],
        &[("shape", "")],
        &[("shape", "5")],
        &[("shape", "[-1, 4]")],
        &[("shape", "[1.0, 4]")],
        &[("chunks", "")],
        &[("chunks", "[3]")],
        &[("chunks", "[0, 2]")],
        &[("chunks", "null")],
        &[("dtype", "")],
        &[("order", "")],
        &[("order", "\"A\"")],
        &[("fill_value", "")],
        &[("order", "\"C\", \"order\": \"F\"")],
    ];
    insta::assert_snapshot!(lines(cases, &["shape", "chunk_grid", "chunk_key_encoding"]));
    let of = |zarray: &[u8], zattrs: Option<&[u8]>| {
        ArrayMetadata::from_version_2(zarray, zattrs).unwrap_err().to_string()
    };
    let text = zarray(&[]);
    let errors = [
        of(b"", None),
        of(b"[]", None),
        of(b"\xff", None),
        of(text.as_bytes(), Some(b"[]")),
        of(text.as_bytes(), Some(b"{\"a\": }")),
        of(text.as_bytes(), Some(br#"{"a": 1, "a": 2}"#)),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn groups_and_consolidated_metadata() {
    let array = zarray(&[("dtype", "\">f4\"")]);
    let pickled = zarray(&[("dtype", "\"|O\""), ("filters", r#"[{"id": "pickle"}]"#)]);
    let metadata = format!(
        r#"{{"zarr_consolidated_format": 1, "metadata": {{
          ".zgroup": {{"zarr_format": 2}}, ".zattrs": {{"title": "t", "x": NaN}},
          "a/.zarray": {array}, "a/.zattrs": {{"_ARRAY_DIMENSIONS": ["y", "x"]}},
          "g/.zgroup": {{"zarr_format": 2}}, "g/p/.zarray": {pickled}, "g/.zattrs": {{"n": 1}},
          "readme": "text", "alone/.zattrs": {{}}}}}}"#
    );
    let group = GroupMetadata::from_version_2(None, None, Some(metadata.as_bytes())).unwrap();
    assert!(group.is_version_2());
    assert_eq!(group.attribute("title"), Some("\"t\""));
    let nodes = group.consolidated_metadata().unwrap();
    assert!(nodes.paths().eq(["a", "g", "g/p"]));
    let Some(Ok(NodeMetadata::Array(a))) = nodes.node("a") else { panic!("an array") };
    assert!(a.is_version_2());
    assert_eq!(a.dimension_names().unwrap().len(), 2);
    let Some(Ok(NodeMetadata::Group(g))) = nodes.node("g") else { panic!("a group") };
    assert_eq!((g.attribute("n"), g.is_version_2()), (Some("1"), true));
    assert!(matches!(nodes.node("g/p"), Some(Err(_))));

    let read = |zgroup: Option<&str>, zattrs: Option<&str>, zmetadata: Option<&str>| {
        let [zgroup, zattrs, zmetadata] =
            [zgroup, zattrs, zmetadata].map(|text| text.map(str::as_bytes));
        GroupMetadata::from_version_2(zgroup, zattrs, zmetadata).unwrap_err().to_string()
    };
    let errors = [
        read(None, None, None),
        read(Some("{}"), None, None),
        read(Some(r#"{"zarr_format": 3}"#), None, None),
        read(Some(r#"{"zarr_format": 2}"#), Some("5"), None),
        read(Some(r#"{"zarr_format": 2}"#), None, Some("{}")),
        read(None, None, Some(r#"{"zarr_consolidated_format": 2, "metadata": {}}"#)),
        read(None, None, Some(r#"{"zarr_consolidated_format": 1, "metadata": []}"#)),
        read(
            None,
            None,
            Some(r#"{"zarr_consolidated_format": 1, "metadata": {".zgroup": {"zarr_format": 1}}}"#),
        ),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn one_byte_changed_never_panics() {
    let texts = [
        zarray(&[
            ("dtype", r#"[["a", ">i2"], ["b", [["c", "|S3"]]]]"#),
            ("order", "\"F\""),
            ("fill_value", "\"AAEAAAA=\""),
            ("compressor", r#"{"id": "blosc", "cname": "lz4", "shuffle": -1}"#),
        ]),
        zarray(&[
            ("dtype", "\">f8\""),
            (
                "filters",
                r#"[{"id":"fixedscaleoffset","scale":1e1,"offset":0,"dtype":">f8","astype":">u2"},{"id":"shuffle"}]"#,
            ),
            ("fill_value", "[-1.0, NaN]"),
            ("dimension_separator", "\"/\""),
        ]),
        zarray(&[
            ("dtype", "\"|O\""),
            ("filters", r#"[{"id": "vlen-utf8"}]"#),
            ("fill_value", "\"é\""),
        ]),
    ];
    let attributes = r#"{"_ARRAY_DIMENSIONS": ["y", "x"], "a": [NaN, "\u00e9"]}"#;
    for text in texts {
        each_change(&text, |bytes| {
            if let Ok(array) = ArrayMetadata::from_version_2(bytes, Some(attributes.as_bytes())) {
                // What comes out is a document of version 3.
                assert_eq!(ArrayMetadata::from_json(array.json().as_bytes()).unwrap(), array);
            }
        });
    }
    let text = zarray(&[]);
    each_change(attributes, |bytes| {
        let _unused = ArrayMetadata::from_version_2(text.as_bytes(), Some(bytes));
    });
    let metadata = format!(
        r#"{{"zarr_consolidated_format":1,"metadata":{{".zattrs":{{}},"a/.zarray":{text},"a/.zattrs":{attributes}}}}}"#
    );
    each_change(&metadata, |bytes| {
        if let Ok(group) = GroupMetadata::from_version_2(None, None, Some(bytes)) {
            let nodes = group.consolidated_metadata().unwrap();
            nodes.nodes().for_each(drop);
        }
    });
}

/// Calls `read` with the text, each of its bytes replaced in turn or left out.
fn each_change(text: &str, mut read: impl FnMut(&[u8])) {
    let mut bytes = text.as_bytes().to_vec();
    for at in 0..bytes.len() {
        let was = bytes[at];
        for byte in b"\0 \"\\{}[],:0-.eN|<>\x7f\xc3" {
            bytes[at] = *byte;
            read(&bytes);
        }
        bytes[at] = was;
        let mut without = bytes.clone();
        without.remove(at);
        read(&without);
    }
}

#[test]
fn sd_73_the_number_zero_is_the_empty_text() {
    for (id, text) in [("vlen-utf8", r#""0""#), ("vlen-bytes", r#""MA==""#)] {
        let id = format!(r#"[{{"id": "{id}"}}]"#);
        for (fill, bytes) in [("0", ""), ("null", ""), ("\"\"", ""), (text, "0")] {
            let found = array(&[("dtype", "\"|O\""), ("filters", &id), ("fill_value", fill)]);
            assert_eq!(found.unwrap().fill_value().bytes(), Some(bytes.as_bytes()), "{id} {fill}");
        }
    }
}
