//! Zarr version 2: every command that reads works, every other is refused, and a copy is version 3.

use std::path::Path;

use crate::support::{file, session, succeed, text};

/// A group with an array of big-endian elements in Fortran order, and one of pickled objects.
fn store(folder: &Path) {
    file(folder, "old.zarr/.zgroup", r#"{"zarr_format": 2}"#);
    file(folder, "old.zarr/.zattrs", r#"{"title": "Seattle"}"#);
    let array = r#"{"zarr_format": 2, "shape": [2, 3], "chunks": [2, 2], "dtype": ">i2",
        "order": "F", "fill_value": -1, "filters": null, "compressor": null}"#;
    file(folder, "old.zarr/rain/.zarray", array);
    file(folder, "old.zarr/rain/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["y", "x"], "units": "mm"}"#);
    file(folder, "old.zarr/rain/0.0", [0, 1, 0, 4, 0, 2, 0, 5]);
    let pickled = r#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|O", "order": "C",
        "fill_value": null, "filters": [{"id": "pickle"}], "compressor": null}"#;
    file(folder, "pickled.zarr/.zarray", pickled);
}

#[test]
fn what_reads_works_and_what_writes_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    store(at);
    file(at, "values.json", "[[7]]");
    succeed(at, &["create", "plain.zarr", "--shape", "3", "--dtype", "int8"]);
    insta::assert_snapshot!(session(
        at,
        &[
            &["info", "old.zarr"],
            &["info", "old.zarr", "--json"],
            &["info", "old.zarr/rain"],
            &["info", "old.zarr/rain/.zarray", "--json"],
            &["info", "pickled.zarr"],
            &["tree", "old.zarr"],
            &["read", "old.zarr/rain"],
            &["read", "old.zarr/rain", "--region", "1,:2"],
            &["read", "old.zarr/rian"],
            &["check", "old.zarr", "--data"],
            &["check", "pickled.zarr"],
            &["locate", "old.zarr/rain", "1,1"],
            &["plan", "old.zarr/rain"],
            &["draw", "old.zarr/rain"],
            &["attrs", "old.zarr/rain", "units"],
            &["write", "old.zarr/rain", "--from", "values.json", "--region", "0:1,0:1"],
            &["resize", "old.zarr/rain", "--shape", "4,3"],
            &["attrs", "old.zarr/rain", "--set", "units=\"m\""],
            &["attrs", "old.zarr", "--remove", "title"],
            &["consolidate", "old.zarr"],
            &["create", "old.zarr/new", "--shape", "3", "--dtype", "int8"],
            &["create", "old.zarr/rain/new", "--group"],
            &["create", "old.zarr", "--group"],
            &["delete", "old.zarr/rain", "--yes"],
            &["delete", "old.zarr", "--yes"],
            &["copy", "pickled.zarr", "new.zarr"],
            &["copy", "plain.zarr", "old.zarr/new"],
            &["join", "plain.zarr", "plain.zarr", "--new-axis", "n", "-o", "old.zarr/new"],
        ]
    ));
}

#[test]
fn a_copy_is_version_3() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    store(at);
    succeed(at, &["copy", "old.zarr", "new.zarr"]);
    let same = std::fs::read(at.join("new.zarr/rain/c/0/0")).expect("the chunk");
    assert_eq!(same, [0, 1, 0, 4, 0, 2, 0, 5]);
    assert!(!at.join("new.zarr/rain/.zarray").exists());
    succeed(at, &["copy", "old.zarr/rain", "chunks.zarr", "--chunks", "1,3"]);
    for path in ["old.zarr/rain", "new.zarr/rain", "chunks.zarr"] {
        assert_eq!(text(at, &["read", path]), "[[ 1  2 -1]\n [ 4  5 -1]]\n", "{path}");
    }
    succeed(at, &["attrs", "new.zarr/rain", "--set", "units=\"m\""]);
    succeed(at, &["check", "new.zarr", "--data"]);
}

/// Whoever removes the source once a copy has succeeded must not lose an array that is not in it.
#[test]
fn a_copy_names_what_it_leaves_out_and_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    store(at);
    std::fs::rename(at.join("pickled.zarr"), at.join("old.zarr/pickled")).expect("moves");
    file(at, "old.zarr/pickled/0", "a pickle");
    insta::assert_snapshot!(session(
        at,
        &[
            &["copy", "old.zarr", "new.zarr"],
            &["tree", "new.zarr"],
            &["check", "new.zarr", "--data"],
            &["copy", "old.zarr", "zstd.zarr", "--json", "--codecs", "bytes,zstd"],
        ]
    ));
}
