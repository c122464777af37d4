//! The places that references read from.

use std::fs;
use std::path::Path;

use zarr_references::{ReferenceOpener, ReferenceStore};
use zarr_store::{LocalStore, Prefix, Store, StoreOptions, open_url};
use zarr_store_tests::text_of;

fn prefix(path: &str) -> Prefix {
    Prefix::new(path).unwrap()
}

/// Whether the objects of a store below `path` are read from a file or folder.
fn reads_from(store: &dyn Store, path: &str, folder: &Path, name: &str) -> bool {
    let place = LocalStore::open(folder).unwrap().location(&prefix(name)).unwrap();
    store.reads_from(&prefix(path), &place).unwrap()
}

#[test]
fn references_are_read_from_their_targets_and_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let home = dunce::canonicalize(folder.path()).unwrap();
    fs::create_dir_all(home.join("data/m.zarr")).unwrap();
    fs::write(home.join("data/m.zarr/0"), b"0123").unwrap();
    fs::write(home.join("data/other"), b"0123").unwrap();
    let absolute = text_of(&home.join("data/other"));
    // A target that is not there is in no place.
    let json = format!(
        r#"{{"a/0": ["data/m.zarr/0", 1, 2], "b/0": ["{absolute}"], "b/1": "x",
        "c/0": ["{absolute}.gone"]}}"#
    );
    fs::write(home.join("refs.json"), json).unwrap();
    let store = ReferenceStore::open(home.join("refs.json"), &StoreOptions::new()).unwrap();
    for (path, place, expected) in [
        ("", "data/m.zarr", true),
        ("", "data/m.zarr/0/below", true),
        ("", "data/other", true),
        ("", "data", true),
        ("", "data/m.zarr/1", false),
        ("", "data/m", false),
        ("", "refs.json", true),
        ("a", "data/m.zarr", true),
        ("a", "data/other", false),
        ("b", "data/m.zarr", false),
        ("b", "data/other", true),
        ("c", "data", false),
    ] {
        assert_eq!(reads_from(&store, path, &home, place), expected, "{path:?} {place}");
    }
}

/// A local file of references to a server was read by one thread per core.
#[test]
fn references_to_a_server_take_many_requests_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for (target, expected) in [("s3://bucket/x", 16), ("x", 1), ("file:///x", 1)] {
        let path = folder.path().join("refs.json");
        fs::write(&path, format!(r#"{{"0": "text", "1": ["x", 0, 1], "2": ["{target}", 1, 2]}}"#))
            .unwrap();
        let store =
            ReferenceStore::open(&path, &StoreOptions::new().requests_in_flight(16)).unwrap();
        assert_eq!(store.capabilities().requests_in_flight.get(), expected, "{target}");
    }
}

/// The first table with targets is read for that, and only if it is near.
#[cfg(feature = "parquet")]
#[test]
fn tables_that_lead_to_a_server_take_many_requests_at_once() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/references");
    let fixture = fixture.join("pyarrow.parq");
    let folder = tempfile::tempdir().unwrap();
    let (path, table) = (folder.path().join("refs.parq"), "plain/refs.0.parq");
    fs::create_dir_all(path.join("plain")).unwrap();
    fs::copy(fixture.join(".zmetadata"), path.join(".zmetadata")).unwrap();
    let near = fs::read(fixture.join(table)).unwrap();
    let far: Vec<u8> = {
        let at = near.windows(10).position(|bytes| bytes == b"january.nc").unwrap();
        [&near[..at], b"s3://b/jan", &near[at + 10..]].concat()
    };
    for (bytes, expected) in [(near, 1), (far, 16)] {
        fs::write(path.join(table), bytes).unwrap();
        let store =
            ReferenceStore::open(&path, &StoreOptions::new().requests_in_flight(16)).unwrap();
        assert_eq!(store.capabilities().requests_in_flight.get(), expected);
    }
}

#[cfg(feature = "parquet")]
#[test]
fn tables_are_read_from_their_targets_and_their_folder() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/references");
    let path = fixture.join("pyarrow.parq").display().to_string();
    let store = open_url(&path, &StoreOptions::new().openers(&[&ReferenceOpener])).unwrap();
    for (place, expected) in [
        ("january.nc", true),
        ("february.nc", true),
        ("pyarrow.parq", true),
        ("", true),
        ("fastparquet.parq", false),
        ("v3.json", false),
    ] {
        assert_eq!(reads_from(&*store, "rain", &fixture, place), expected, "{place}");
    }
}
