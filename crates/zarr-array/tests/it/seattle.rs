//! The Seattle weather fixture, whose bytes other programs wrote.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarr_array::store::{LocalStore, Prefix, Store};
use zarr_array::{Array, Group, Selection};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn store() -> Arc<dyn Store> {
    Arc::new(LocalStore::open(fixtures().join("seattle-weather.zarr")).expect("the fixture"))
}

fn open(name: &str) -> (Array, Vec<u8>) {
    let array = Array::open(store(), &Prefix::new(name).expect("a name")).expect("opens");
    let expected = fixtures().join("seattle-weather.expected").join(format!("{name}.raw"));
    (array, fs::read(expected).expect("expected values"))
}

#[test]
fn every_array_reads_to_the_byte() {
    let names = Group::open(store(), &Prefix::root()).expect("opens").children().expect("lists");
    assert_eq!(names.len(), 10);
    for name in names {
        let (array, expected) = open(&name);
        let found = array.read(Selection::whole(array.shape())).expect("reads");
        assert!(found == expected, "{name} differs");
    }
}

#[test]
fn regions_cross_months() {
    for name in ["temp_max", "rain", "temp_max_12bit", "wind"] {
        let (array, expected) = open(name);
        let size = array.element_size();
        for (start, end) in [(0, 1), (30, 32), (45, 300), (1400, 1461), (700, 700)] {
            let found = array.read(start..end).expect("reads");
            let range =
                usize::try_from(start).unwrap() * size..usize::try_from(end).unwrap() * size;
            assert_eq!(found, expected[range], "{name} {start}..{end}");
        }
    }
}

#[test]
fn steps_and_columns() {
    let (array, expected) = open("temp_range_12bit");
    let element = |day: usize, column: usize| &expected[(day * 2 + column) * 2..][..2];
    let region = Selection::parse("1460:0:-100, 1", array.shape()).expect("parses");
    let found = array.read(&region).expect("reads");
    let wanted: Vec<u8> =
        (1..=1460).rev().step_by(100).flat_map(|day| element(day, 1).to_vec()).collect();
    assert_eq!(found, wanted);
}

/// A node that cannot be looked up keeps its name, and hides no other.
#[cfg(unix)]
#[test]
fn a_link_to_itself_hides_no_other_node() {
    let folder = tempfile::tempdir().expect("a folder");
    let group = r#"{"zarr_format": 3, "node_type": "group"}"#;
    for name in ["", "a", "loop", "z"] {
        let at = folder.path().join(name);
        fs::create_dir_all(&at).expect("makes");
        match name {
            "loop" => std::os::unix::fs::symlink("zarr.json", at.join("zarr.json")),
            _ => fs::write(at.join("zarr.json"), group),
        }
        .expect("writes");
    }
    let store: Arc<dyn Store> = Arc::new(LocalStore::open(folder.path()).expect("a folder"));
    let group = Group::open(store, &Prefix::root()).expect("opens");
    assert_eq!(group.children().expect("lists"), ["a", "loop", "z"]);
    let error = group.group("loop").expect_err("cannot be read").to_string();
    assert!(error.contains("loop/zarr.json"), "{error}");
}
