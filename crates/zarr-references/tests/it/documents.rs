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

/// A reference of a few bytes may lead to any number, which readers of documents would hold whole.
#[test]
fn documents_to_which_references_lead_have_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    fs::create_dir(home.join("data")).unwrap();
    fs::write(home.join("data/x.bin"), [0; 100]).unwrap();
    let open = |refs: &str, options: &StoreOptions| {
        fs::write(home.join("refs.json"), refs).unwrap();
        ReferenceStore::open(home.join("refs.json"), options).unwrap()
    };
    let refs = r#"{"zarr.json": ["data/x.bin"], "a/.zarray": ["data/x.bin", 9, 70],
        "a/0": ["data/x.bin"]}"#;
    let options = |most: u64| StoreOptions::new().max_document(most);
    let store = open(refs, &options(69));
    for (name, size) in [("zarr.json", 100), ("a/.zarray", 70)] {
        let error = store.read(&key(name)).unwrap_err().to_string();
        let expected = format!("{name:?}: it has {size} bytes, and a document may have 69");
        assert!(error.contains(&expected), "{error}");
    }
    assert_eq!(store.read(&key("a/0")).unwrap().map(|bytes| bytes.len()), Some(100));
    let store = open(refs, &options(100));
    assert_eq!(store.read(&key("zarr.json")).unwrap().map(|bytes| bytes.len()), Some(100));
    // A terabyte of a sparse file.
    fs::File::create(home.join("sparse")).unwrap().set_len(1 << 40).unwrap();
    let store = open(r#"{"zarr.json": ["sparse"]}"#, &StoreOptions::new());
    let error = store.read(&key("zarr.json")).unwrap_err().to_string();
    assert!(error.contains("may have 268435456"), "{error}");
}
