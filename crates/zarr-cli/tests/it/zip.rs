//! Zip archives as stores: those of zarr-python, and those that the command makes.

use std::fs;
use std::path::PathBuf;

use crate::support::{root, run, run_with, stdout, succeed, text};

const SEATTLE: &str = "fixtures/seattle-weather.zarr";

fn raw(name: &str) -> Vec<u8> {
    fs::read(root().join("fixtures/zip").join(name)).expect("a fixture")
}

/// What `zarr.storage.ZipStore` wrote, stored and deflated, with a document that it wrote twice.
#[test]
fn archives_of_zarr_python_are_read() {
    for archive in ["fixtures/zip/stored.zip", "fixtures/zip/deflated.zip"] {
        for (array, expected) in [("plain", "plain.raw"), ("inner/sharded", "sharded.raw")] {
            let read = stdout(&root(), &["read", &format!("{archive}/{array}"), "-f", "raw"]);
            assert_eq!(read, raw(expected), "{archive} {array}");
        }
        let part = ["read", &format!("{archive}/inner/sharded"), "-r", "3:5,7:9", "-f", "raw"];
        let element = |row: usize, column: usize| {
            let at = 2 * (20 * row + column);
            raw("sharded.raw")[at..at + 2].to_vec()
        };
        let expected = [element(3, 7), element(3, 8), element(4, 7), element(4, 8)].concat();
        assert_eq!(stdout(&root(), &part), expected);
        assert_eq!(text(&root(), &["attrs", archive, "title"]), "\"last\"\n");
        let tree = text(&root(), &["tree", archive]);
        assert!(tree.contains("plain") && tree.contains("sharded"), "{tree}");
        succeed(&root(), &["check", "--data", archive]);
    }
}

fn folder() -> (tempfile::TempDir, impl Fn(&str) -> String) {
    let folder = tempfile::tempdir().expect("makes a folder");
    let path = folder.path().to_owned();
    (folder, move |name: &str| path.join(name).display().to_string())
}

fn names(folder: &tempfile::TempDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.path()).expect("a folder");
    entries.map(|entry| PathBuf::from(entry.expect("an entry").file_name())).collect()
}

/// Into an archive and out of it again, object by object.
#[test]
fn a_group_is_copied_into_an_archive_and_back() {
    let (folder, path) = folder();
    let (archive, back) = (path("seattle.zip"), path("back.zarr"));
    succeed(&root(), &["copy", SEATTLE, &archive]);
    assert_eq!(names(&folder), [PathBuf::from("seattle.zip")]);
    let read = |array: &str| stdout(&root(), &["read", array, "-f", "raw"]);
    assert_eq!(read(&format!("{archive}/daily")), read(&format!("{SEATTLE}/daily")));
    succeed(&root(), &["check", "--data", &archive]);
    succeed(&root(), &["copy", &archive, &back]);
    let original = fs::read(root().join(SEATTLE).join("daily/zarr.json")).expect("reads");
    assert_eq!(fs::read(path("back.zarr/daily/zarr.json")).expect("reads"), original);
    assert_eq!(read(&path("back.zarr/rain")), read(&format!("{SEATTLE}/rain")));
    // What is there stays.
    let old = fs::read(&archive).expect("reads");
    for again in [&["copy", SEATTLE, &archive][..], &["copy", SEATTLE, &archive, "--overwrite"]] {
        let output = run(&root(), again);
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        let expected = match again.len() {
            3 => "there is a node here already",
            _ => "no way to delete from a zip archive",
        };
        assert!(stderr.contains(expected), "{stderr}");
        assert_eq!(fs::read(&archive).expect("reads"), old);
        assert_eq!(names(&folder).len(), 2);
    }
}

#[test]
fn arrays_are_created_and_written_in_an_archive() {
    let (folder, path) = folder();
    let archive = path("new.zip");
    let (array, other) = (path("new.zip/group/a"), path("new.zip/b"));
    let create = ["--shape", "4", "--dtype", "uint8", "--chunks", "2"];
    succeed(&root(), &[&["create", &array, "--parents"][..], &create].concat());
    succeed(&root(), &[&["create", &other][..], &create].concat());
    let written = run_with(&root(), &["write", &array, "--from", "-"], &[1, 2, 3, 4]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    assert_eq!(stdout(&root(), &["read", &array, "-f", "raw"]), [1, 2, 3, 4]);
    assert_eq!(stdout(&root(), &["read", &other, "-f", "raw"]), [0; 4]);
    assert_eq!(names(&folder), [PathBuf::from("new.zip")]);
    let tree = text(&root(), &["tree", &archive]);
    assert!(tree.contains("group") && tree.contains('b'), "{tree}");
    let old = fs::read(&archive).expect("reads");
    let again = run_with(&root(), &["write", &array, "--from", "-"], &[5, 6, 7, 8]);
    let stderr = String::from_utf8(again.stderr).expect("UTF-8");
    assert_eq!(again.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("no way to replace entries of a zip archive"), "{stderr}");
    assert_eq!(fs::read(&archive).expect("reads"), old);
}

/// Of a write that fails midway nothing is stored, and no chunk is said to be.
/// An entry of an archive cannot be replaced: its groups do not list what is new in it.
#[test]
fn consolidated_metadata_in_an_archive_is_said_to_be_out_of_date() {
    let (folder, _) = folder();
    let at = folder.path();
    succeed(at, &["create", "y.zarr", "--group"]);
    succeed(at, &["create", "y.zarr/a", "--shape", "3", "--dtype", "int8"]);
    succeed(at, &["consolidate", "y.zarr"]);
    succeed(at, &["copy", "y.zarr", "y.zip"]);
    let created = run(at, &["create", "y.zip/b", "--shape", "3", "--dtype", "int8"]);
    let noted = String::from_utf8_lossy(&created.stderr);
    assert!(created.status.success() && noted.contains("may be out of date"), "{noted}");
    let checked = run(at, &["check", "y.zip"]);
    let noted = String::from_utf8_lossy(&checked.stderr).replace("copy `", "");
    assert!(!noted.contains("zarr-kit consolidate y.zip"), "{noted}");
    assert!(noted.contains("copy it into a folder"), "{noted}");
}

#[test]
fn a_write_that_fails_stores_and_claims_nothing() {
    let (_folder, path) = folder();
    let codecs = r#"[{"name": "packbits", "configuration": {"last_bit": 3}}]"#;
    let create = ["--shape", "6", "--dtype", "uint8", "--chunks", "2", "--codecs", codecs];
    for (place, claims) in [(path("a.zip"), false), (path("a.zarr"), true)] {
        succeed(&root(), &[&["create", &place][..], &create].concat());
        let output = run_with(&root(), &["write", &place, "--from", "-"], &[1, 2, 3, 4, 5, 255]);
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("255"), "{stderr}");
        assert_eq!(stderr.contains("of 3 chunks were written"), claims, "{stderr}");
        let stored = stdout(&root(), &["read", &place, "-f", "raw"]);
        assert!(claims || stored == [0; 6], "{stored:?}");
    }
}

#[test]
fn an_archive_that_is_missing_or_damaged_is_said() {
    let (_folder, path) = folder();
    let message = |place: &str| {
        let output = run(&root(), &["info", place]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    assert!(message(&path("none.zip")).contains("no such"), "{}", message(&path("none.zip")));
    fs::write(path("text.zip"), "text").expect("writes");
    let damaged = message(&path("text.zip"));
    assert!(damaged.contains("not a zip archive, or a damaged one"), "{damaged}");
    let within = message("fixtures/zip/stored.zip/nothing");
    assert!(within.contains("fixtures/zip/stored.zip/nothing"), "{within}");
}

/// What is in an archive and no node is a member of a kind that nobody knows, and no missing one.
#[test]
fn an_object_in_an_archive_is_no_missing_member() {
    let (_folder, path) = folder();
    let create = ["--shape", "2", "--dtype", "uint8", "--chunks", "2"];
    succeed(&root(), &[&["create", &path("a.zip/in")][..], &create].concat());
    let written = run_with(&root(), &["write", &path("a.zip/in"), "--from", "-"], &[1, 2]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let join = path("join.zjoin");
    for (location, inner, expected) in [
        ("a.zip", "in", Ok("1\n2\n")),
        ("a.zip/in", "", Ok("1\n2\n")),
        ("a.zip", "out", Ok("7\n7\n")),
        ("a.zip/out", "", Ok("7\n7\n")),
        ("a.zip", "in/c/0", Err("in/c/0")),
        ("a.zip/in/c/0", "", Err("in/c/0")),
        ("a.zip/in/c/0/deep", "er", Err("in/c/0")),
    ] {
        let document = format!(
            r#"{{"zarr_kit_join": 1, "nodes": {{"": {{"metadata": {{
                "zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "uint8",
                "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [2]}}}},
                "chunk_key_encoding": {{"name": "default"}}, "fill_value": 7, "codecs": ["bytes"]}},
                "member_shapes": [[2]], "missing": "fill",
                "members": [{{"location": "{location}", "path": "{inner}"}}]}}}}}}"#
        );
        fs::write(&join, document).expect("writes");
        let found = run(&root(), &["read", &join, "--format", "lines"]);
        let said = String::from_utf8_lossy(&found.stderr);
        match expected {
            Ok(lines) => {
                assert_eq!(String::from_utf8_lossy(&found.stdout), lines, "{location} {said}");
            }
            Err(named) => {
                assert!(!found.status.success() && said.contains(named), "{location} {said}");
            }
        }
    }
}

/// Chunks of an archive stay where they are, and it is left as it was.
#[test]
fn chunks_are_not_moved_within_an_archive() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = ["--shape", "4", "--dtype", "uint8", "--chunks", "2"];
    for name in ["a.zip", "b"] {
        succeed(folder, &[&["create", name], &create[..]].concat());
    }
    let before = std::fs::read(folder.join("a.zip")).expect("reads");
    for arguments in [&["append", "a.zip", "b"][..], &["rearrange", "a.zip", "--remove", "0:2"]] {
        let said = run(folder, arguments);
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.contains("a.zip: chunks are not moved within a file"), "{said}");
    }
    assert_eq!(std::fs::read(folder.join("a.zip")).expect("reads"), before);
}

/// A chunk or a document whose bytes in the archive have changed is an error, not something that could
/// not be examined.
#[test]
fn changed_bytes_of_an_entry_are_an_error() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let at = folder.path();
    succeed(at, &["create", "a.zarr", "--group"]);
    succeed(at, &["create", "a.zarr/x", "--shape", "9", "--dtype", "uint8", "--codecs", "bytes"]);
    fs::write(at.join("v.raw"), [201, 202, 203, 204, 205, 206, 207, 208, 209]).expect("writes");
    succeed(at, &["write", "a.zarr/x", "--from", "v.raw"]);
    succeed(at, &["copy", "a.zarr", "a.zip"]);
    succeed(at, &["check", "a.zip", "--data"]);
    let whole = fs::read(at.join("a.zip")).expect("reads");
    for (found, name) in [(&[201, 202, 203][..], "x/c/0"), (b"\"shape\"", "x/zarr.json")] {
        let place = whole.windows(found.len()).position(|bytes| bytes == found).expect("is there");
        let mut changed = whole.clone();
        changed[place + 1] ^= 1;
        fs::write(at.join("a.zip"), changed).expect("writes");
        let checked = run(at, &["check", "a.zip", "--data"]);
        let stdout = String::from_utf8_lossy(&checked.stdout).into_owned();
        assert_eq!(checked.status.code(), Some(1), "{name}: {stdout}");
        let line = stdout.lines().find(|line| line.starts_with("error: ")).expect("an error");
        assert!(line.contains(name) && line.contains("its checksum differs"), "{line}");
        assert!(line.contains("[chunk-checksum]"), "{line}");
    }
}

/// A damaged entry of an archive is one chunk that cannot be compared.
#[test]
fn entries_that_cannot_be_read_do_not_stop_a_comparison() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let at = folder.path();
    succeed(
        at,
        &["create", "a", "--shape", "4", "--chunks", "2", "--dtype", "uint8", "--codecs", "bytes"],
    );
    run_with(at, &["write", "a", "--format", "raw", "--from", "-"], &[201, 202, 203, 204]);
    succeed(at, &["copy", "a", "a.zip"]);
    run_with(at, &["write", "a", "-r", "3", "--format", "raw", "--from", "-"], &[7]);
    let whole = fs::read(at.join("a.zip")).expect("reads");
    let place = whole.windows(2).position(|bytes| bytes == [201, 202]).expect("is there");
    let header = whole[..place].windows(4).rposition(|bytes| bytes == b"PK\x03\x04");
    let header = header.expect("a local header");
    let directory = whole.windows(3).rposition(|bytes| bytes == b"c/0").expect("in the directory");
    // The magic number of the entry, its bytes, and its method in the directory.
    for (at_byte, reason) in
        [(header, "not where"), (place, "checksum differs"), (directory - 36, "c/0")]
    {
        let mut changed = whole.clone();
        changed[at_byte] ^= 1;
        fs::write(at.join("a.zip"), changed).expect("writes");
        let compared = run(at, &["diff", "a", "a.zip"]);
        let stdout = String::from_utf8_lossy(&compared.stdout).into_owned();
        assert_eq!(compared.status.code(), Some(2), "{stdout}");
        assert!(stdout.contains(reason), "{at_byte}: {stdout}");
        assert!(stdout.contains("values: 1 of 2 elements differ"), "{at_byte}: {stdout}");
    }
}
