//! Documents that other programs wrote.

use std::path::{Path, PathBuf};

use zarr_metadata::NodeMetadata;

fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            documents(&path, found);
        } else if path.file_name().is_some_and(|name| name == "zarr.json") {
            found.push(path);
        }
    }
}

#[test]
fn sd_33_documents_of_other_writers_are_read_and_kept() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/seattle-weather.zarr");
    let mut found = Vec::new();
    documents(&folder, &mut found);
    assert!(found.len() > 5, "{}", found.len());
    for path in found {
        let json = std::fs::read(&path).unwrap();
        let node = NodeMetadata::from_json(&json).unwrap();
        assert_eq!(node.to_json().as_bytes(), json, "{}", path.display());
        assert!(node.findings().is_empty(), "{}: {:?}", path.display(), node.findings());
        if let NodeMetadata::Array(array) = node {
            let changed = array.with_attributes(r#"{"a": 1}"#).unwrap();
            assert_eq!(changed.attributes(), r#"{"a": 1}"#);
            let restored = changed.with_attributes(array.attributes()).unwrap();
            assert_eq!(restored.codecs(), array.codecs());
        }
    }
}
