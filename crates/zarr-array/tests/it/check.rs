//! What a check finds, and what it does not.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarr_array::check::{CheckOptions, RULES, check};
use zarr_array::store::{Key, LocalStore, MemoryStore, Prefix, Store};

/// The folder of fixtures.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn findings(store: &Arc<dyn Store>, data: bool) -> Vec<String> {
    let mut found = Vec::new();
    let options = CheckOptions::default().with_data(data);
    check(store, &Prefix::root(), &options, &mut |finding| found.push(finding.to_string()))
        .expect("checks");
    found
}

fn memory(objects: &[(&str, &[u8])]) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    for (key, bytes) in objects {
        store.put(&Key::new(key).expect("a key"), bytes).expect("puts");
    }
    Arc::new(store)
}

/// Six elements in chunks of four.
fn array(data_type: &str, codecs: &str, change: &str) -> String {
    let grid = r#"{"name": "regular", "configuration": {"chunk_shape": [4]}}"#;
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [6], "data_type": "{data_type}",
        "chunk_grid": {grid}, "chunk_key_encoding": {{"name": "default"}}, "fill_value": 0,
        "codecs": {codecs}{change}}}"#
    )
}

const BYTES: &str = r#"[{"name": "bytes"}]"#;
const GROUP: &[u8] = br#"{"zarr_format": 3, "node_type": "group"}"#;

#[test]
fn seattle_has_nothing_to_find() {
    let store: Arc<dyn Store> =
        Arc::new(LocalStore::open(root().join("seattle-weather.zarr")).expect("the fixture"));
    assert_eq!(findings(&store, true), Vec::<String>::new());
    let options = CheckOptions::default().with_data(true);
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
        "good": {uint8}, "gone": {uint8}, "other": {uint8}}}}}}}"#
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
    let filled = array("uint8", packed, "").replace("\"fill_value\": 0", "\"fill_value\": 20");
    let strings = array("string", r#"[{"name": "vlen-utf8"}]"#, "").replace(": 0,", ": \"\",");
    let store = memory(&[
        ("zarr.json", GROUP),
        ("bare/zarr.json", array("uint8", r#"["bytes"]"#, "").as_bytes()),
        ("chain/zarr.json", array("uint8", reshape, "").as_bytes()),
        ("filled/zarr.json", filled.as_bytes()),
        ("nan/zarr.json", array("uint8", BYTES, ", \"attributes\": {\"x\": NaN}").as_bytes()),
        ("spelled/zarr.json", array("uint8", spelled, "").as_bytes()),
        ("strings/zarr.json", strings.as_bytes()),
        ("unknown/zarr.json", array("uint8", &codec("lzma"), "").as_bytes()),
    ]);
    insta::assert_snapshot!(findings(&store, true).join("\n"));
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
    // Stored, not compressed: the bytes are those of RFC 1951's stored block.
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
    insta::assert_snapshot!(findings(&store, true).join("\n"));
    assert!(findings(&store, false).iter().all(|finding| finding.contains("past/c/")));
}

/// Bit by bit, reflected polynomials.
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
fn every_rule_is_in_the_documentation() {
    let docs = std::fs::read_to_string(root().join("../docs/check.md")).expect("docs/check.md");
    for rule in RULES {
        assert!(docs.contains(&format!("\n## {}\n", rule.id)), "docs/check.md lacks {}", rule.id);
    }
}
