//! The text of documents within references.

#[cfg(feature = "parquet")]
use std::fs;

#[cfg(feature = "parquet")]
use zarr_references::ReferenceStore;
#[cfg(feature = "parquet")]
use zarr_store::{StoreExt as _, StoreOptions};
#[cfg(feature = "parquet")]
use zarr_store_tests::key;

/// A table whose document has these documents, as JSON.
#[cfg(feature = "parquet")]
fn table(documents: &str) -> (tempfile::TempDir, ReferenceStore) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("refs.parq");
    fs::create_dir(&path).unwrap();
    let json = format!(r#"{{"metadata": {{{documents}}}, "record_size": 3}}"#);
    fs::write(path.join(".zmetadata"), json).unwrap();
    let store = ReferenceStore::open(&path, &StoreOptions::new()).unwrap();
    (folder, store)
}

/// Numbers of other digits would be other fill values and attributes.
#[cfg(feature = "parquet")]
#[test]
fn documents_of_tables_keep_their_text() {
    let document = r#"{"shape":[3], "chunks":[3], "fill_value": 9.969209968386869e+36,
        "big": 123456789012345678901234567890, "beyond": 1e999, "half": "\ud83d"}"#;
    let (_folder, store) = table(&format!(r#""v/.zarray": {document}"#));
    let read = store.read(&key("v/.zarray")).unwrap();
    assert_eq!(read.as_deref(), Some(document.as_bytes()));
}
