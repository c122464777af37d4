//! Documents that are wrong, hostile, or lead where they should not.

use std::fs;

use zarr_array::Array;
use zarr_array::store::{Prefix, Remedy, StoreOptions};
use zarr_join::Arrangement;
use zarr_virtual_join::{Document, OpenOptions, VirtualJoinError, open_store};

use super::{link, on_disk, open, open_anywhere};
use crate::cases::{fixture, year};

const ARRAY: &str = r#"{"zarr_format": 3, "node_type": "array", "shape": [59], "data_type": "uint8",
    "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[31, 28]]}},
    "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": ["bytes"]}"#;

/// A document of one array with these members besides its metadata.
fn document(rest: &str) -> String {
    format!(r#"{{"zarr_kit_join": 1, "nodes": {{"": {{"metadata": {ARRAY}, {rest}}}}}}}"#)
}

#[test]
fn every_mistake_has_its_json_path() {
    let two = r#""members": [{"location": "a"}, {"location": "b"}]"#;
    let with = |member: &str| {
        document(&format!(r#""member_shapes": [[31, 28]], "members": [null, {member}]"#))
    };
    let cases = [
        "".to_owned(),
        "[]".to_owned(),
        "{".to_owned(),
        "{}".to_owned(),
        r#"{"zarr_kit_join": "1", "nodes": {}}"#.to_owned(),
        r#"{"zarr_kit_join": 2, "arrays": {}}"#.to_owned(),
        r#"{"zarr_kit_join": 1}"#.to_owned(),
        r#"{"zarr_kit_join": 1, "nodes": {}}"#.to_owned(),
        r#"{"zarr_kit_join": 1, "nodes": [], "more": 1}"#.to_owned(),
        r#"{"zarr_kit_join": 1, "zarr_kit_join": 1, "nodes": {}}"#.to_owned(),
        r#"{"zarr_kit_join": 1, "nodes": {"a/../b": {}}}"#.to_owned(),
        r#"{"zarr_kit_join": 1, "nodes": {"": {"metadata": {"zarr_format": 3}}}}"#.to_owned(),
        document(two)
            .replace(r#""": {"metadata"#, r#""a": {"metadata"#)
            .replace(r#""members""#, r#""member_shapes": [[31, 28]], "members""#),
        document(two),
        document(&format!(r#""member_shapes": [[31, 29]], {two}"#)),
        document(&format!(r#""member_shapes": [[31, 27]], {two}"#)),
        document(&format!(r#""member_shapes": [[31, 0, 28]], {two}"#)),
        document(&format!(r#""member_shapes": [31, 28], {two}"#)),
        document(&format!(r#""member_shapes": [40], {two}"#)),
        document(&format!(r#""member_shapes": [[[1, 1000000000000000000]]], {two}"#)),
        document(r#""member_shapes": [1], "members": []"#),
        document(&format!(r#""member_shapes": [[30, 29]], {two}"#)),
        document(&format!(r#""member_shapes": [[31, 28]], "new_axis": 0, {two}"#)),
        document(&format!(r#""member_shapes": [[31, 28]], "new_axis": 1, {two}"#)),
        document(&format!(r#""member_shapes": [[31, 28]], "missing": "zero", {two}"#)),
        document(&format!(r#""member_shapes": [[31, 28]], "offset": 1, {two}"#)),
        with("7"),
        with("{}"),
        with(r#"{"location": ""}"#),
        with(r#"{"location": "a\u001b[31m"}"#),
        with(r#"{"location": "a", "path": "/b"}"#),
        with(r#"{"location": "a", "length": -1}"#),
        with(r#"{"location": "a", "etag": 5}"#),
        with(r#"{"location": "a", "last_modified": 1e400}"#),
        with(r#"{"location": "a", "last_modified": "2026-01-01"}"#),
        with(r#"{"location": "a", "chunks": {}}"#),
        with(r#"{"location": "a", "chunks_last_updated_at": -1}"#),
        with(r#"{"location": "a", "chunks_last_updated_at": 1e400}"#),
        with(r#"{"location": "a", "chunks_last_updated_at": NaN}"#),
        with(r#"{"location": "a", "chunks_last_updated_at": "NaN"}"#),
        with(r#"{"location": "a", "chunks_last_updated_at": null}"#),
        with(r#"{"location": "a", "chunks_last_updated_at": 18446744073709551616}"#),
        with(r#"{"location": "a", "chunks_last_updated_at": 1.0123456789}"#),
        with(r#"{"location": "a", "chunks_last_updated_at": 1, "chunks_last_updated_at": 1}"#),
    ];
    let messages = cases.iter().map(|text| match Document::from_json("x.zjoin", text.as_bytes()) {
        Ok(_) => panic!("this is taken: {text}"),
        Err(error) => error.to_string(),
    });
    insta::assert_snapshot!(messages.collect::<Vec<_>>().join("\n"));
}

#[test]
fn deep_and_long_documents_take_no_more_than_their_length() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Document::from_json("x", deep.as_bytes()).is_err());
    let many = format!(
        r#""member_shapes": [[[1, 59]]], "members": [{}]"#,
        vec![r#"{"location": "a"}"#; 59].join(", ")
    );
    let many = document(&many).replace("[[31, 28]]", "[[[1, 59]]]");
    let document = Document::from_json("x", many.as_bytes()).expect("valid");
    assert_eq!(document.members().count(), 59);
    assert!(document.to_json().contains(r#""member_shapes": [[[1, 59]]],"#));
}

#[test]
fn members_outside_of_the_folder_must_be_allowed() {
    let folder = tempfile::tempdir().expect("a folder");
    let members = on_disk(&year(&fixture("temp_max")), &folder.path().join("data"));
    let other = folder.path().join("joined");
    fs::create_dir(&other).expect("creates");
    let document = link(members, Arrangement::Along(0), &other.join("year.zjoin")).expect("links");
    let first = document.members().next().expect("has members");
    assert_eq!(first.location, "../data/0.zarr");
    let array = open(&other.join("year.zjoin")).expect("opens");
    let error = array.read(0..1).expect_err("is outside");
    assert_eq!(error.remedy(), Some(Remedy::OutsideMembers), "{error}");
    assert!(error.to_string().contains("../data/0.zarr"), "{error}");
    open_anywhere(&other.join("year.zjoin")).expect("opens").read(0..1).expect("reads");
    // Absolute paths and URLs, too.
    for location in [folder.path().join("data/0.zarr").to_str().expect("UTF-8"), "s3://bucket/a"] {
        let text = document.to_json().replace("../data/0.zarr", location);
        fs::write(other.join("absolute.zjoin"), text).expect("writes");
        let error = open(&other.join("absolute.zjoin")).expect("opens").read(0..1);
        let error = error.expect_err("is outside");
        assert_eq!(error.remedy(), Some(Remedy::OutsideMembers), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn links_out_of_the_folder_are_not_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let members = on_disk(&year(&fixture("temp_max")), &folder.path().join("data"));
    let place = folder.path().join("data/year.zjoin");
    link(members, Arrangement::Along(0), &place).expect("links");
    let first = folder.path().join("data/0.zarr");
    fs::rename(&first, folder.path().join("away.zarr")).expect("moves");
    std::os::unix::fs::symlink(folder.path().join("away.zarr"), &first).expect("links");
    let error = open(&place).expect("opens").read(0..1).expect_err("is outside").to_string();
    assert!(error.contains("outside the store"), "{error}");
    // Nor is a document to which one leads, which is opened by its path.
    std::os::unix::fs::symlink("..", folder.path().join("data/up")).expect("links");
    fs::write(folder.path().join("inner.zjoin"), fs::read(&place).expect("reads")).expect("writes");
    let members = r#""member_shapes": [59], "members": [{"location": "up/inner.zjoin"}]"#;
    let outer = folder.path().join("data/outer.zjoin");
    fs::write(&outer, document(members)).expect("writes");
    let error = open(&outer).expect("opens").read(0..1).expect_err("is outside").to_string();
    assert!(error.contains(r#"up" leads outside the store"#), "{error}");
    // All of them are, if that is allowed.
    let options = OpenOptions::new().store(StoreOptions::new().outside_links(true));
    let store = open_store(place.to_str().expect("UTF-8"), &options).expect("opens");
    Array::open(store, &Prefix::root()).expect("opens").read(0..1).expect("reads");
}

#[test]
fn documents_that_name_each_other_end() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, other) in [("a", "b"), ("b", "a")] {
        let members =
            format!(r#""member_shapes": [59], "members": [{{"location": "{other}.zjoin"}}]"#);
        fs::write(folder.path().join(format!("{name}.zjoin")), document(&members)).expect("writes");
    }
    let error = open(&folder.path().join("a.zjoin")).expect("opens").read(0..1);
    let error = error.expect_err("has no end").to_string();
    assert!(error.contains("do they contain themselves?"), "{error}");
}

#[test]
fn an_existing_document_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let members = on_disk(&year(&fixture("temp_max")), folder.path());
    let place = folder.path().join("year.zjoin");
    let document = link(members, Arrangement::Along(0), &place).expect("links");
    let text = place.to_str().expect("UTF-8");
    let again = document.write(text, &StoreOptions::new());
    assert!(matches!(again, Err(VirtualJoinError::Exists { .. })), "{again:?}");
    let named = document.write("year.json", &StoreOptions::new());
    assert!(matches!(named, Err(VirtualJoinError::Name { .. })), "{named:?}");
    let missing = open_store(&text.replace("year", "none"), &OpenOptions::new());
    assert!(matches!(missing, Err(VirtualJoinError::NotFound { .. })), "{missing:?}");
    let within = open_store(&format!("{text}/temp"), &OpenOptions::new()).expect("opens");
    assert!(Array::open(within, &Prefix::root()).is_err());
}
