//! The text of documents within references.

use std::fs;

use zarr_references::{ReferenceStore, export};
use zarr_store::{MemoryStore, Prefix, StoreExt as _, StoreOptions};
use zarr_store_tests::key;

/// The text that the object `v/.zarray` has in the references of a file or folder.
fn read(name: &str, json: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let document = if name.ends_with("parq") { path.join(".zmetadata") } else { path.clone() };
    fs::create_dir_all(document.parent().unwrap()).unwrap();
    fs::write(document, json).unwrap();
    let store = ReferenceStore::open(&path, &StoreOptions::new()).unwrap();
    String::from_utf8(store.read(&key("v/.zarray")).unwrap().unwrap()).unwrap()
}

/// As `read`, in each form of references with unquoted documents.
fn assert_kept(document: &str) {
    let refs = format!(r#""v/.zattrs": {{"N": Infinity}}, "v/.zarray": {document}"#);
    let mut forms = vec![
        ("0.json", format!("{{{refs}}}")),
        ("1.json", format!(r#"{{"version": 1, "refs": {{{refs}}}}}"#)),
    ];
    if cfg!(feature = "parquet") {
        forms.push(("refs.parq", format!(r#"{{"metadata": {{{refs}}}, "record_size": 3}}"#)));
    }
    for (name, json) in forms {
        assert_eq!(read(name, &json), document, "{name}");
    }
}

/// Numbers of other digits would be other fill values and attributes.
#[test]
fn documents_keep_their_numbers() {
    assert_kept(
        r#"{"shape":[3], "chunks":[3], "fill_value": 9.969209968386869e+36,
        "big": 123456789012345678901234567890, "beyond": 1e999, "half": "\ud83d"}"#,
    );
}

/// Python writes the words, and documents of version 2 may have them.
#[test]
fn documents_may_have_words_for_numbers_that_are_not_finite() {
    assert_kept(
        r#"{"shape":[3],"chunks":[3], "fill_value":NaN,"text":"NaN \"Infinity\\", "list":
        [NaN,-Infinity,Infinity], "\\\"NaN":-Infinity}"#,
    );
}

/// The chunks of one array have several lengths, and other programs would place them wrongly.
#[test]
fn rectilinear_arrays_are_not_exported_whatever_their_attributes_are() {
    let export = |document: &str| {
        let store = MemoryStore::new();
        store.put(&key("a/zarr.json"), document.as_bytes()).unwrap();
        export(&store, &Prefix::root()).map(drop)
    };
    for attribute in ["1", "NaN", "[-Infinity]", "1e999", r#""\ud83d""#] {
        let document =
            |grid: &str| format!(r#"{{"attributes": {{"x": {attribute}}}, "chunk_grid": {grid}}}"#);
        export(&document(r#"{"name": "regular"}"#)).unwrap();
        for grid in [r#"{"name": "rectilinear"}"#, r#""rectilinear""#] {
            let error = export(&document(grid)).unwrap_err().to_string();
            assert!(error.contains("a/zarr.json") && error.contains("several lengths"), "{error}");
        }
    }
    // A document that no program can read.
    let error = export(r#"{"chunk_grid": {"name": "rectilinear"}"#).unwrap_err().to_string();
    assert!(error.contains("a/zarr.json") && error.contains("it is not JSON"), "{error}");
}
