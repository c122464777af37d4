//! The findings of a check where links lead out of the store.
#![cfg(unix)]

use std::fs;
use std::sync::Arc;

use zarr_array::store::{LocalStore, Store};

use crate::check::findings;

/// A link out of the store, in place of a chunk or a document, is a finding there, and faults of
/// another array are still found.
#[test]
fn what_may_not_be_read_is_a_finding() {
    let folder = tempfile::tempdir().expect("a folder");
    let outside = folder.path().join("outside");
    fs::create_dir(&outside).expect("creates");
    let root = folder.path().join("store");
    let array = br#"{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
        "codecs": [{"name": "bytes"}]}"#;
    for node in ["chunk", "document", "sibling"] {
        fs::create_dir_all(root.join(node).join("c")).expect("creates");
        fs::write(root.join(node).join("zarr.json"), array).expect("writes");
        fs::write(root.join(node).join("c/0"), [1, 2]).expect("writes");
    }
    let group = br#"{"zarr_format": 3, "node_type": "group"}"#;
    fs::write(root.join("zarr.json"), group).expect("writes");
    for link in ["chunk/c/0", "document/zarr.json"] {
        fs::remove_file(root.join(link)).expect("removes");
        std::os::unix::fs::symlink(&outside, root.join(link)).expect("links");
    }
    let store: Arc<dyn Store> = Arc::new(LocalStore::open(&root).expect("opens"));
    let found = findings(&store, true);
    for start in [
        "warning: chunk/c/0: not examined: cannot use \"chunk/c/0\": the symbolic link",
        "warning: document/: not examined: cannot use \"document/zarr.json\": the symbolic link",
        "error: sibling/c/0: codec bytes ($.codecs[0]): decoded to 2 bytes, expected 4",
    ] {
        assert!(found.iter().any(|line| line.starts_with(start)), "{start}: {found:?}");
    }
}
