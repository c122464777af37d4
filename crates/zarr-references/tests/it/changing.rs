//! Exports of a store that changes meanwhile.

use std::path::Path;
use std::sync::Arc;

use zarr_references::{Exported, export};
use zarr_store::{LocalStore, Prefix, Store, StoreExt as _};
use zarr_store_tests::{Change, Changing, key};

const DOCUMENT: &[u8] = br#"{"shape": [4], "chunk_grid": {"name": "regular"}}"#;

fn store(folder: &Path) -> Arc<dyn Store> {
    let store = LocalStore::create(folder).unwrap();
    for name in ["a/c/0", "a/c/1", "b/c/0"] {
        store.put(&key(name), b"chunk").unwrap();
    }
    for name in ["a/zarr.json", "b/zarr.json"] {
        store.put(&key(name), DOCUMENT).unwrap();
    }
    Arc::new(store)
}

/// Longer, gone, new, and a document of a larger array with a chunk more.
const CHANGES: [(Change, &str); 4] = [
    (|store| store.put(&key("a/c/1"), b"a longer chunk").unwrap(), "a/c/1"),
    (|store| (**store).delete(&key("a/c/0")).unwrap(), "a/c/0"),
    (|store| store.put(&key("b/c/1"), b"chunk").unwrap(), "b/c/1"),
    (
        |store| {
            store.put(&key("b/c/1"), b"chunk").unwrap();
            let document = br#"{"shape": [8], "chunk_grid": {"name": "regular"}}"#;
            store.put(&key("b/zarr.json"), document).unwrap();
        },
        "b/",
    ),
];

#[test]
fn references_are_of_one_state() {
    for describes in [true, false] {
        for (change, name) in CHANGES {
            let (mut refused, mut new) = (0, 0);
            for number in 1..=100 {
                let folder = tempfile::tempdir().unwrap();
                let inner = store(folder.path());
                let at = || export(&inner, &Prefix::root()).unwrap();
                let before: Exported = at();
                let changing = Changing::at(&inner, number, change).listing(true, describes);
                let exported = export(&changing, &Prefix::root());
                if !changing.has_changed() {
                    break;
                }
                match exported {
                    Ok(exported) if exported == before => {}
                    Ok(exported) => {
                        assert_eq!(exported, at(), "{name} {number}");
                        new += 1;
                    }
                    Err(error) => {
                        let error = error.to_string();
                        assert!(error.contains(name) && error.contains("changed"), "{error}");
                        refused += 1;
                    }
                }
            }
            assert!(refused > 0 && new > 0, "{name}: {refused}, {new}");
        }
    }
}
