//! Files in the folder of a node that are no part of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{file, run, succeed};

/// The files of other programs.
const OTHERS: [&str; 4] = ["thesis/ch1.tex", "notes.txt", "c/0/0/backup", "c/README"];

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(at).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("in it").display().to_string();
                found.insert(name, fs::read(path).expect("reads"));
            }
        }
    }
    found
}

/// An array of four chunks with keys of this encoding.
fn array(folder: &Path, at: &str, encoding: &str, keys: [&str; 4]) {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [2, 2], "data_type": "uint8",
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [1, 1]}}}},
        "chunk_key_encoding": {encoding}, "fill_value": 0, "codecs": [{{"name": "bytes"}}]}}"#
    );
    file(folder, &format!("{at}/zarr.json"), document);
    keys.iter().for_each(|key| file(folder, &format!("{at}/{key}"), [1]));
}

#[test]
fn what_is_not_zarrs_is_never_deleted_unasked() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (encoding, keys) in [
        (r#"{"name": "default"}"#, ["c/0/0", "c/0/1", "c/1/0", "c/1/1"]),
        (
            r#"{"name": "default", "configuration": {"separator": "."}}"#,
            ["c.0.0", "c.0.1", "c.1.0", "c.1.1"],
        ),
        (r#"{"name": "v2"}"#, ["0.0", "0.1", "1.0", "1.1"]),
        (r#"{"name": "v2", "configuration": {"separator": "/"}}"#, ["0/0", "0/1", "1/0", "1/1"]),
    ] {
        let documents = [".zarray", ".zattrs", "zarr-kit-copy.1.done.json"];
        let others =
            OTHERS.iter().filter(|name| !keys[0].starts_with("c/") || !name.ends_with("backup"));
        array(at, "proj", encoding, keys);
        documents.iter().for_each(|name| file(at, &format!("proj/{name}"), "{}"));
        // Nothing but what is Zarr's: it goes unasked.
        succeed(at, &["delete", "proj", "--yes"]);
        assert!(!at.join("proj").exists(), "{encoding}");
        for is_group in [false, true] {
            let inside = if is_group { "proj/rain" } else { "proj" };
            if is_group {
                succeed(at, &["create", "proj", "--group"]);
            }
            array(at, inside, encoding, keys);
            others.clone().for_each(|name| file(at, &format!("{inside}/{name}"), *name));
            // The key of a chunk of another rank is none of this array's.
            file(at, &format!("{inside}/{}", "3".repeat(2)), "data");
            let before = files(&at.join("proj"));
            let refused = run(at, &["delete", "proj", "--yes"]);
            let said = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert_eq!(refused.status.code(), Some(2), "{said}");
            assert!(said.contains("notes.txt") && said.contains("--with-other-files"), "{said}");
            assert_eq!(files(&at.join("proj")), before, "{encoding}");
            let deleted = run(at, &["delete", "proj", "--yes", "--with-other-files", "--json"]);
            let listed = String::from_utf8_lossy(&deleted.stderr).into_owned();
            assert!(deleted.status.success(), "{listed}");
            for name in others.clone() {
                assert!(listed.contains(name), "{name}: {listed}");
            }
            let document: serde_json::Value =
                serde_json::from_slice(&deleted.stdout).expect("JSON");
            let named = document["other_files"].as_array().expect("a list").len();
            assert_eq!(named, others.clone().count() + 1);
            assert!(!at.join("proj").exists(), "{encoding}");
        }
    }
}

/// Its objects may be chunks or not: nothing says which, so nothing is called stray and nothing goes.
#[test]
fn under_an_unknown_key_encoding_nothing_is_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    array(at, "a", r#"{"name": "hilbert"}"#, ["h-0", "h-1", "deep/h-2", "c/0/0"]);
    let checked = run(at, &["check", "a"]);
    assert!(!String::from_utf8_lossy(&checked.stdout).contains("stray"));
    let refused = run(at, &["delete", "a", "--yes"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("may be chunks or not"), "{said}");
    assert!(!said.contains("no node"), "{said}");
    assert_eq!(files(&at.join("a")).len(), 5);
    succeed(at, &["delete", "a", "--yes", "--with-other-files"]);
    assert!(!at.join("a").exists());
}

/// A document that is damaged is a node's, and its chunks are recognised by their keys.
#[test]
fn a_damaged_node_goes_with_its_chunks_and_no_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for document in ["", "{", r#"{"zarr_format": 3, "node_type": "array"}"#] {
        file(at, "a/zarr.json", document);
        file(at, "a/c/0/1", [1]);
        file(at, "a/0.3", [1]);
        file(at, "a/thesis.tex", "?");
        assert!(!run(at, &["delete", "a", "--yes"]).status.success());
        assert_eq!(files(&at.join("a")).len(), 4);
        fs::remove_file(at.join("a/thesis.tex")).expect("removes");
        succeed(at, &["delete", "a", "--yes"]);
    }
}

#[test]
fn creating_among_other_files_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    OTHERS.iter().for_each(|name| file(at, &format!("proj/{name}"), "?"));
    let group = ["create", "proj", "--group"];
    let created = run(at, &group);
    let said = String::from_utf8_lossy(&created.stderr).into_owned();
    assert!(created.status.success(), "{said}");
    let (note, done) = (said.find("belong to no node"), said.find("created proj"));
    assert!(note.is_some() && note < done, "{said}");
    // What is below another node is not of this one; an empty folder has nothing.
    let inner = ["create", "proj/rain", "--shape", "2", "--dtype", "uint8"];
    let created = run(at, &inner);
    assert!(!String::from_utf8_lossy(&created.stderr).contains("belong to no node"));
    let created = run(at, &["create", "new/deep.zarr", "--group", "--parents"]);
    assert!(!String::from_utf8_lossy(&created.stderr).contains("belong to no node"));
}

/// A migration to version 3 leaves documents of version 2 beside the new ones.
#[test]
fn documents_of_version_2_are_zarrs() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    array(at, "a", r#"{"name": "v2"}"#, ["0.0", "0.1", "1.0", "1.1"]);
    [".zarray", ".zattrs"].iter().for_each(|name| file(at, &format!("a/{name}"), "{}"));
    let checked = run(at, &["check", "a"]);
    let found = String::from_utf8_lossy(&checked.stdout);
    assert!(found.contains(".zarray: of Zarr version 2"), "{found}");
    assert!(!found.contains("stray"), "{found}");
    // One that makes an array of version 2 has to go by hand; its attributes do not hinder.
    let over = ["create", "a", "--shape", "2", "--dtype", "uint8", "--overwrite"];
    assert!(!run(at, &over).status.success());
    fs::remove_file(at.join("a/.zarray")).expect("removes");
    succeed(at, &over);
    assert_eq!(files(&at.join("a")).len(), 1);
}

/// The folder of a deleted node may stay: the message says why.
#[cfg(unix)]
#[test]
fn a_folder_that_stays_is_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    succeed(at, &["create", "a", "--shape", "2", "--dtype", "uint8"]);
    // No key can have this name.
    file(at, "a/.zarr-kit-other", "?");
    let deleted = run(at, &["delete", "a", "--yes"]);
    let said = String::from_utf8_lossy(&deleted.stderr);
    assert!(said.contains("the folder stays") && said.contains(".zarr-kit-other"), "{said}");
}

/// Links are removed; one that leads to a node or to chunks belongs to the node, another does not.
#[cfg(unix)]
#[test]
fn links_to_nodes_are_of_the_node() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    succeed(at, &["create", "other", "--shape", "2", "--dtype", "uint8"]);
    fs::create_dir_all(at.join("disk/0")).expect("makes");
    fs::write(at.join("disk/0/0"), [1]).expect("writes");
    let begin = || {
        succeed(at, &["create", "g", "--group"]);
        array(at, "g/a", r#"{"name": "default"}"#, ["c/0/0", "c/0/1", "c/1/0", "c/1/1"]);
        fs::remove_dir_all(at.join("g/a/c")).expect("removes");
        symlink(at.join("disk"), at.join("g/a/c")).expect("links");
        symlink(at.join("other"), at.join("g/b")).expect("links");
    };
    begin();
    succeed(at, &["delete", "g", "--yes"]);
    assert!(!at.join("g").exists() && at.join("disk/0/0").is_file() && at.join("other").is_dir());
    begin();
    file(at, "g/notes.txt", "?");
    symlink(at.join("g/notes.txt"), at.join("g/thesis")).expect("links");
    assert!(!run(at, &["delete", "g", "--yes"]).status.success());
    assert!(["thesis", "b", "a/c"].iter().all(|name| at.join("g").join(name).is_symlink()));
}
