//! The findings of a check.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use zarr_array::store::{Key, LocalStore, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, Selection};
use zarr_check::{CheckOptions, CheckProgress, CheckWatch, check, check_watched};

/// The folder of fixtures.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

pub(crate) fn findings(store: &Arc<dyn Store>, data: bool) -> Vec<String> {
    findings_by(store, &CheckOptions::new().data(data))
}

pub(crate) fn findings_by(store: &Arc<dyn Store>, options: &CheckOptions) -> Vec<String> {
    let mut found = Vec::new();
    check(store, &Prefix::root(), options, &mut |finding| found.push(finding.to_string()))
        .expect("checks");
    found
}

/// The severity and the id of each finding.
pub(crate) fn rules_of(found: &[String]) -> Vec<[&str; 2]> {
    let parts = found.iter().map(|finding| {
        let (severity, rest) = finding.split_once(": ").expect("a severity");
        let (_, id) = rest.rsplit_once('[').expect("an id");
        [severity, id.trim_end_matches(']')]
    });
    parts.collect()
}

pub(crate) fn memory(objects: &[(&str, &[u8])]) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    for (key, bytes) in objects {
        store.put(&Key::new(key).expect("a key"), bytes).expect("puts");
    }
    Arc::new(store)
}

/// Six elements in chunks of four.
pub(crate) fn array(data_type: &str, codecs: &str, change: &str) -> String {
    let grid = r#"{"name": "regular", "configuration": {"chunk_shape": [4]}}"#;
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [6], "data_type": "{data_type}",
        "chunk_grid": {grid}, "chunk_key_encoding": {{"name": "default"}}, "fill_value": 0,
        "codecs": {codecs}{change}}}"#
    )
}

pub(crate) const BYTES: &str = r#"[{"name": "bytes"}]"#;
pub(crate) const GROUP: &[u8] = br#"{"zarr_format": 3, "node_type": "group"}"#;

#[test]
fn seattle_has_nothing_to_find() {
    let store: Arc<dyn Store> =
        Arc::new(LocalStore::open(root().join("seattle-weather.zarr")).expect("the fixture"));
    // Two months without rain are not stored.
    let note = "note: rain/zarr.json: 46 of 48 chunks are stored, missing: rain/c/7, rain/c/18; they \
                read as the fill value [few-missing-chunks]";
    assert_eq!(findings(&store, true), [note]);
    let options = CheckOptions::new().data(true);
    let summary = check(&store, &Prefix::root(), &options, &mut |_| {}).expect("checks");
    assert_eq!((summary.groups, summary.arrays), (1, 10));
    assert!(summary.chunks > 400 && summary.bytes > 10_000);
}

#[test]
fn hierarchies() {
    let uint8 = array("uint8", BYTES, "");
    let consolidated = format!(
        r#"{{"zarr_format": 3, "node_type": "group", "consolidated_metadata": {{
        "kind": "inline", "must_understand": false, "metadata": {{
        "good": {uint8}, "gone": {uint8}, "other": {uint8},
        "group": {{"zarr_format": 3, "node_type": "group", "consolidated_metadata": {{
            "kind": "inline", "must_understand": false, "metadata": {{}}}}}},
        "named": {{"zarr_format": 3, "node_type": "group", "attributes": {{"a": 1}}}}}}}}}}"#
    );
    let good = array("uint8", BYTES, r#", "attributes": {"x": 1}"#);
    let store = memory(&[
        ("zarr.json", consolidated.as_bytes()),
        ("good/zarr.json", uint8.as_bytes()),
        ("other/zarr.json", good.as_bytes()),
        ("other/c/1", &[1, 2, 3, 4]),
        ("other/c/2", &[1, 2, 3, 4]),
        ("other/c/01", &[1, 2, 3, 4]),
        ("other/README", b"?"),
        ("broken/zarr.json", b"{\"zarr_format\": 2}"),
        ("broken/inner/zarr.json", GROUP),
        ("broken/inner/.zgroup", b"{}"),
        ("old/.zarray", b"{}"),
        ("group/zarr.json", GROUP),
        ("named/zarr.json", GROUP),
        ("folder/file", b"?"),
        ("loose", b"?"),
    ]);
    insta::assert_snapshot!(findings(&store, false).join("\n"));
}

#[test]
fn documents() {
    let codec = |name: &str| format!(r#"[{{"name": "bytes"}}, {{"name": "{name}"}}]"#);
    let reshape = r#"[{"name": "reshape", "configuration": {"shape": [5]}}, {"name": "bytes"}]"#;
    let packed = r#"[{"name": "packbits", "configuration": {"last_bit": 3}}]"#;
    let spelled = r#"[{"name": "packbits", "configuration": {"start_bit": 3}}]"#;
    let numcodecs = r#"[{"name": "numcodecs.packbits"}, {"name": "bytes"}]"#;
    let huge = array("uint8", BYTES, "")
        .replace("[6]", "[6, 6]")
        .replace("[4]", "[18446744073709551615, 2]");
    let filled = array("uint8", packed, "").replace("\"fill_value\": 0", "\"fill_value\": 20");
    let strings = array("string", r#"[{"name": "vlen-utf8"}]"#, "").replace(": 0,", ": \"\",");
    let store = memory(&[
        ("zarr.json", GROUP),
        ("bare/zarr.json", array("uint8", r#"["bytes"]"#, "").as_bytes()),
        ("chain/zarr.json", array("uint8", reshape, "").as_bytes()),
        ("filled/zarr.json", filled.as_bytes()),
        ("huge/zarr.json", huge.as_bytes()),
        ("nan/zarr.json", array("uint8", BYTES, ", \"attributes\": {\"x\": NaN}").as_bytes()),
        ("numcodecs/zarr.json", array("uint8", numcodecs, "").as_bytes()),
        ("spelled/zarr.json", array("uint8", spelled, "").as_bytes()),
        ("strings/zarr.json", strings.as_bytes()),
        ("unknown/zarr.json", array("uint8", &codec("lzma"), "").as_bytes()),
    ]);
    insta::assert_snapshot!(findings(&store, true).join("\n"));
}

/// Codecs of the registry as of July 2026 that are not supported here, and others that are not in
/// it.
#[test]
fn codecs_are_registered_or_not() {
    for (name, rule) in [
        ("conditional", "not-supported"),
        ("n5_default", "not-supported"),
        ("pcodec", "unknown-codec"),
        ("vlen-array", "unknown-codec"),
        ("squeeze", "unknown-codec"),
    ] {
        let codecs = format!(r#"[{{"name": "{name}"}}]"#);
        let store = memory(&[("zarr.json", array("uint8", &codecs, "").as_bytes())]);
        let found = findings(&store, false).join("\n");
        assert!(found.ends_with(&format!("[{rule}]")), "{found}");
    }
}

/// Keys are checked whatever the content of the chunks.
#[test]
fn sd_05_keys_of_arrays_that_are_not_read() {
    for (data_type, codecs, path) in [
        ("uint8", r#"[{"name": "bytes"}, {"name": "lzma"}]"#, "$.codecs[1]"),
        ("uint8", r#"[{"name": "vlen-array"}]"#, "$.codecs[0]"),
        ("somebody.type", BYTES, "$.data_type"),
    ] {
        let edges = r#"{"name": "rectilinear", "configuration": {"kind": "inline",
            "chunk_shapes": [[[4, 3]]]}}"#;
        let regular = r#"{"name": "regular", "configuration": {"chunk_shape": [4]}}"#;
        let document = array(data_type, codecs, "").replace(regular, edges);
        let store = memory(&[
            ("zarr.json", document.as_bytes()),
            ("c/0", b"?"),
            ("c/2", b"?"),
            ("c/3", b"?"),
            ("c/00", b"?"),
            ("notes.txt", b"?"),
        ]);
        for data in [false, true] {
            let found = findings(&store, data);
            let of_document = |finding: &&String| finding.contains(": zarr.json: ");
            let (document, rest): (Vec<_>, Vec<_>) = found.iter().partition(of_document);
            assert!(document.iter().all(|finding| finding.contains(path)), "{document:?}");
            assert!(!document.is_empty());
            let expected = [
                "warning: c/00: in an array, but no chunk's key [stray-object]",
                "warning: c/2: wholly past the array's end; it shows again when the array grows; \
                 a resize to the array's own shape removes it [chunk-past-end]",
                "warning: c/3: chunk [3] of a grid of [3] chunks; it shows again when the array \
                 grows; a resize to the array's own shape removes it [chunk-outside-grid]",
                "warning: notes.txt: in an array, but no chunk's key [stray-object]",
            ];
            assert_eq!(rest, expected, "{data_type} {codecs}");
        }
        let options = CheckOptions::new().data(true);
        let summary = check(&store, &Prefix::root(), &options, &mut |_| {}).expect("checks");
        assert_eq!((summary.arrays, summary.chunks, summary.bytes), (1, 3, 0));
    }
}

#[test]
fn sd_05_sd_16_chunks() {
    let packed = r#"[{"name": "packbits", "configuration": {"last_bit": 2}}, {"name": "crc32c"}]"#;
    let compressed = r#"[{"name": "packbits", "configuration": {"last_bit": 2}}, {"name": "gzip",
        "configuration": {"level": 1}}]"#;
    let rectilinear = array("uint8", BYTES, "").replace(
        r#"{"name": "regular", "configuration": {"chunk_shape": [4]}}"#,
        r#"{"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[4, 4, 4]]}}"#,
    );
    let crc = |bytes: &[u8]| {
        let mut all = bytes.to_vec();
        all.extend(crc32c(bytes).to_le_bytes());
        all
    };
    let (padded, clean) = (crc(&[0b1000_1001, 0xf0]), crc(&[0b1000_1001, 0]));
    // Stored, not compressed: the bytes of a stored block of RFC 1951.
    let gzip = [
        31,
        139,
        8,
        0,
        0,
        0,
        0,
        0,
        0,
        255,
        1,
        2,
        0,
        253,
        255,
        0b1000_1001,
        0xf0,
        0,
        0,
        0,
        0,
        2,
        0,
        0,
        0,
    ];
    let mut gzip = gzip.to_vec();
    gzip[17..21].copy_from_slice(&crc32(&[0b1000_1001, 0xf0]).to_le_bytes());
    let mut wrong = clean.clone();
    wrong[0] ^= 1;
    let store = memory(&[
        ("zarr.json", GROUP),
        ("bits/zarr.json", array("uint8", packed, "").as_bytes()),
        ("bits/c/0", &padded),
        ("bits/c/1", &clean),
        ("checksum/zarr.json", array("uint8", packed, "").as_bytes()),
        ("checksum/c/0", &wrong),
        ("clipped/zarr.json", array("uint8", BYTES, "").as_bytes()),
        ("clipped/c/0", &[1, 2, 3, 4]),
        ("clipped/c/1", &[5, 6]),
        ("compressed/zarr.json", array("uint8", compressed, "").as_bytes()),
        ("compressed/c/0", &gzip),
        ("empty/zarr.json", array("uint8", BYTES, "").as_bytes()),
        ("empty/c/0", &[0; 4]),
        ("nibbles/zarr.json", array("int4", BYTES, "").as_bytes()),
        ("nibbles/c/0", &[0xfd, 0x0d, 0, 7]),
        ("past/zarr.json", rectilinear.as_bytes()),
        ("past/c/2", &[1; 4]),
        ("past/c/3", &[1; 4]),
        ("short/zarr.json", array("uint8", BYTES, "").as_bytes()),
        ("short/c/0", &[1; 3]),
    ]);
    let found = findings(&store, true);
    assert_eq!(
        rules_of(&found),
        [
            ["warning", "not-canonical"],
            ["note", "elements-past-end"],
            ["error", "chunk-checksum"],
            ["error", "clipped-chunk"],
            ["warning", "not-canonical"],
            ["note", "fill-only-chunk"],
            ["warning", "not-canonical"],
            ["warning", "chunk-past-end"],
            ["warning", "chunk-outside-grid"],
            ["error", "chunk-length"],
        ]
    );
    insta::assert_snapshot!(found.join("\n"));
    // Without data, what keys tell, and the sizes of chunks that are not compressed.
    let without: Vec<String> = findings(&store, false);
    let told = ["past/c/", "clipped/c/1: 2 bytes are stored, expected 4", "short/c/0: 3 bytes"];
    assert_eq!(without.len(), 4, "{without:?}");
    assert!(
        without.iter().all(|finding| told.iter().any(|told| finding.contains(told))),
        "{without:?}"
    );
}

/// Bit by bit, with reflected polynomials.
fn crc_of(bytes: &[u8], polynomial: u32) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ if crc & 1 == 1 { polynomial } else { 0 }
        })
    })
}

fn crc32c(bytes: &[u8]) -> u32 {
    crc_of(bytes, 0x82f6_3b78)
}

fn crc32(bytes: &[u8]) -> u32 {
    crc_of(bytes, 0xedb8_8320)
}

#[test]
fn progress_reaches_all_chunks() {
    let store: Arc<dyn Store> =
        Arc::new(LocalStore::open(root().join("seattle-weather.zarr")).expect("the fixture"));
    let options = CheckOptions::new().data(true);
    let last = Mutex::new(std::collections::BTreeMap::<String, CheckProgress>::new());
    let progress = |prefix: &Prefix, progress: CheckProgress| {
        let mut last = last.lock().expect("no panic");
        let known = last.entry(prefix.to_string()).or_default();
        if progress.done > known.done {
            *known = progress;
        }
    };
    let mut arrays = 0;
    let watch = CheckWatch { progress: Some(&progress), arrays: Some(&mut |_| arrays += 1) };
    let summary = check_watched(&store, &Prefix::root(), &options, &mut |_| {}, watch);
    let summary = summary.expect("checks");
    assert_eq!(arrays, summary.arrays);
    let last = last.into_inner().expect("no panic");
    assert_eq!(last.len(), 10);
    assert!(last.values().all(|progress| progress.done == progress.total));
    let sum = |member: fn(&CheckProgress) -> u64| last.values().map(member).sum::<u64>();
    assert_eq!(sum(|progress| progress.done), summary.chunks);
    assert_eq!(sum(|progress| progress.bytes), summary.bytes);
}

#[test]
fn ordinary_stores_have_nothing_but_notes() {
    let filled = array("uint8", BYTES, "");
    let bare = array("uint8", r#"[{"name": "bytes"}, {"name": "gzip", "configuration": {}}]"#, "");
    let store = memory(&[
        ("zarr.json", GROUP),
        ("filled/zarr.json", filled.as_bytes()),
        ("filled/c/0", &[0; 4]),
        ("level/zarr.json", bare.as_bytes()),
    ]);
    let options = CheckOptions::new().data(true);
    let summary = check(&store, &Prefix::root(), &options, &mut |_| {}).expect("checks");
    assert_eq!((summary.errors, summary.warnings, summary.notes), (0, 0, 2));
}

#[test]
fn chunks_behind_codecs_that_change_values_have_nothing_to_find() {
    let types = r#""dtype": "<i4""#;
    let gzip = r#"{"name": "gzip", "configuration": {"level": 1}}"#;
    let bytes = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
    let codecs = format!(
        r#"[{{"name": "numcodecs.delta", "configuration": {{{types}}}}}, {bytes}, {gzip}]"#
    );
    let document = array("int32", &codecs, "");
    let store = memory(&[("zarr.json", document.as_bytes())]);
    let opened = Array::open(Arc::clone(&store), &Prefix::root()).expect("opens");
    let count: u64 = opened.shape().iter().product();
    let elements: Vec<i32> = (0..i32::try_from(count).expect("few")).map(|n| n * n).collect();
    opened.write_as(Selection::whole(opened.shape()), &elements).expect("writes");
    let found = findings(&store, true);
    assert!(found.iter().all(|finding| !finding.contains("not-canonical")), "{found:?}");
}

/// Chunks that read as fill values, because the document names another separator or encoding.
#[test]
fn chunks_under_keys_of_another_encoding_are_named() {
    let keys = |name: &str, separator: &str| {
        format!(r#"{{"name": "{name}", "configuration": {{"separator": "{separator}"}}}}"#)
    };
    let usual = array("uint8", BYTES, "")
        .replace(r#""chunk_shape": [4]"#, r#""chunk_shape": [2, 2]"#)
        .replace(r#""shape": [6]"#, r#""shape": [4, 4]"#);
    for (own, other, stored) in [
        (("default", "/"), ("default", "."), ["c.0.0", "c.1.1"]),
        (("default", "."), ("default", "/"), ["c/0/0", "c/1/1"]),
        (("default", "/"), ("v2", "."), ["0.0", "1.1"]),
        (("v2", "."), ("v2", "/"), ["0/0", "1/1"]),
        (("v2", "/"), ("default", "/"), ["c/0/0", "c/1/1"]),
    ] {
        let document = usual.replace(r#"{"name": "default"}"#, &keys(own.0, own.1));
        let store = memory(&[
            ("zarr.json", document.as_bytes()),
            (stored[0], b"????"),
            (stored[1], b"????"),
            // Not in the grid: only a name that looks like a chunk's.
            ("c.9.9", b"????"),
            (".zarray", b"{}"),
        ]);
        let found = findings(&store, false);
        let expected = format!(
            "warning: {}: the first of 2 chunks under keys of another encoding than the document's: \
             they read as the fill value; \"chunk_key_encoding\": {} in zarr.json makes them visible \
             [hidden-chunks]",
            stored[0],
            keys(other.0, other.1)
        );
        assert!(found.contains(&expected), "{own:?}: {found:#?}");
        let stray = "warning: c.9.9: in an array, but no chunk's key [stray-object]";
        let outside = |found: &String| found.starts_with("warning: c.9.9: ");
        assert!(found.iter().any(|each| each == stray || own == ("default", ".") && outside(each)));
        assert!(found.iter().any(|each| each.starts_with("note: .zarray: of Zarr version 2")));
    }
}
