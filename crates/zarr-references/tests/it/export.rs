//! References to the objects of a store, for other programs.

use zarr_references::export;
use zarr_store::{Key, LocalStore, Prefix, StoreExt as _};

fn document(encoding: &str) -> String {
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [4, 6], "data_type": "uint8",
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [2, 3]}}}},
        "chunk_key_encoding": {encoding}, "fill_value": 0, "codecs": [{{"name": "bytes"}}],
        "attributes": {{"a": NaN}}}}"#
    )
}

/// Each encoding, in a group and at the root: the keys and the document are those of the default.
#[test]
fn keys_are_of_the_default_encoding() {
    let cases = [
        (r#"{"name": "v2"}"#, ["0.1", "1.0"]),
        (r#"{"name": "v2", "configuration": {"separator": "/"}}"#, ["0/1", "1/0"]),
        (r#"{"name": "default", "configuration": {"separator": "."}}"#, ["c.0.1", "c.1.0"]),
        (r#"{"name": "default"}"#, ["c/0/1", "c/1/0"]),
        (
            r#"{"name": "zarrs.default_suffix", "configuration": {"suffix": ".x"}}"#,
            ["c/0/1.x", "c/1/0.x"],
        ),
    ];
    for folder in ["", "group/rain/"] {
        for (encoding, keys) in cases {
            let place = tempfile::tempdir().expect("a folder");
            let store = LocalStore::open(&place).expect("opens");
            let put = |name: &str, bytes: &[u8]| {
                let key = Key::new(format!("{folder}{name}")).expect("a key");
                store.put(&key, bytes).expect("puts");
            };
            put("zarr.json", document(encoding).as_bytes());
            keys.iter().for_each(|key| put(key, b"123456"));
            let exported = export(&store, &Prefix::root()).expect("exports");
            assert_eq!(exported.chunks, 2);
            let found: serde_json::Value = serde_json::from_str(&exported.json).expect("JSON");
            let refs = found["refs"].as_object().expect("an object");
            assert_eq!(refs.len(), 3, "{refs:?}");
            for (name, key) in ["c/0/1", "c/1/0"].iter().zip(keys) {
                let url = refs[&format!("{folder}{name}")][0].as_str().expect("a place");
                assert!(url.ends_with(&format!("/{folder}{key}")), "{url}");
            }
            let text = refs[&format!("{folder}zarr.json")].as_str().expect("text");
            let array = zarr_metadata::ArrayMetadata::from_json(text.as_bytes()).expect("an array");
            assert_eq!(*array.chunk_key_encoding(), zarr_metadata::ChunkKeyEncoding::default());
            assert!(text.contains(r#""attributes": {"a": NaN}"#), "{text}");
        }
    }
}

#[test]
fn what_is_no_chunk_is_refused_where_keys_change() {
    let place = tempfile::tempdir().expect("a folder");
    let store = LocalStore::open(&place).expect("opens");
    let put = |name: &str, bytes: &[u8]| store.put(&Key::new(name).expect("a key"), bytes);
    put("zarr.json", document(r#"{"name": "v2"}"#).as_bytes()).expect("puts");
    put("notes.txt", b"?").expect("puts");
    let error = export(&store, &Prefix::root()).expect_err("no chunk").to_string();
    assert!(error.contains("notes.txt") && error.contains("no chunk of the array"), "{error}");
}
