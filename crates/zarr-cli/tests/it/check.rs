//! `check`: findings, one per line, and exit status 1.

use crate::support::{file, not_supported, root, run, session, succeed};

/// An invalid run.
const WRONG: &str = r#"{"zarr_format": 3, "node_type": "array", "shape": [6], "data_type": "uint8",
    "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline",
    "chunk_shapes": [[2, [2, 0]]]}}, "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
    "codecs": [{"name": "bytes"}]}"#;

#[test]
fn findings_and_exit_status() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    file(folder, "group/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    file(folder, "group/notes.txt", "?");
    let packed = r#"[{"name": "packbits", "configuration": {"last_bit": 3}}]"#;
    succeed(folder, &["create", "group/a", "--shape", "5", "--dtype", "uint8", "--codecs", packed]);
    file(folder, "group/a/c/0", [0x21, 0x43, 0xf5]);
    file(folder, "group/a/c/7", [0x21, 0x43, 0x05]);
    file(folder, "group/a/c/.zarr-kit-tmp.1.2.3.0", "");
    succeed(folder, &["create", "group/b", "--shape", "5", "--dtype", "uint8"]);
    file(folder, "group/b/c/0", "not zstd");
    file(folder, "wrong/zarr.json", WRONG);
    succeed(folder, &["create", "good", "--shape", "5", "--dtype", "uint8"]);
    insta::assert_snapshot!(session(
        folder,
        &[
            &["check", "group"],
            &["check", "group", "--data"],
            &["check", "group/a", "--data", "--json"],
            &["check", "wrong"],
            &["check", "wrong", "--json"],
            &["check", "good", "--data"],
            &["check", "missing"],
            &["check", "group/a/c"],
        ],
    ));
}

#[test]
fn seattle_is_clean() {
    let output = run(&root(), &["check", "fixtures/seattle-weather.zarr", "--data"]);
    assert_eq!(output.status.code(), Some(0));
    // Two months without rain are not stored. An older default of ours stored no checksums.
    let said = String::from_utf8_lossy(&output.stdout);
    let notes: Vec<&str> = said.lines().collect();
    assert!(notes[0].starts_with("note: rain/zarr.json: 46 of 48 chunks are stored"), "{said}");
    assert!(notes[1].starts_with("note: 7 of 10 arrays have no checksum"), "{said}");
    assert_eq!(notes.len(), 2, "{said}");
}

/// An object that is not a chunk is found whatever the content of the chunks.
#[test]
fn keys_of_arrays_that_are_not_read() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    not_supported(folder);
    file(folder, "type/c/2/0", "?");
    insta::assert_snapshot!(session(folder, &[&["check", "codec", "--data"], &["check", "type"]]));
}

/// What zarr-python 3.4.2 leaves of eight elements when it shrinks the array to six: a note. Chunks
/// past the end are a warning, and kept by a repair, since they may be there on purpose.
#[test]
fn elements_past_the_end_are_no_reason_to_fail() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let document = r#"{"shape": [6], "data_type": "uint8", "chunk_grid": {"name": "regular",
        "configuration": {"chunk_shape": [4]}}, "chunk_key_encoding": {"name": "default",
        "configuration": {"separator": "/"}}, "fill_value": 0, "codecs": [{"name": "bytes"}],
        "attributes": {}, "zarr_format": 3, "node_type": "array", "storage_transformers": []}"#;
    file(folder, "a/zarr.json", document);
    file(folder, "a/c/0", [1, 2, 3, 4]);
    file(folder, "a/c/1", [5, 6, 7, 8]);
    let check = &["check", "a", "--data"][..];
    let first = session(folder, &[check]);
    file(folder, "a/c/2", [9; 4]);
    let past = session(folder, &[check, &["check", "a", "--repair"]]);
    assert!(folder.join("a/c/2").exists());
    // Of another shape than the chunk's.
    file(folder, "a/c/1", [5, 6]);
    let clipped = session(folder, &[check]);
    insta::assert_snapshot!([first, past, clipped].join("\n"));
}

/// What is not stored, or has another size than its codecs make, is found without reading chunks.
#[test]
fn deleted_and_cut_chunks_are_found_without_data() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = |name: &str, codecs: &str| {
        let rest = ["--dtype", "uint8", "--chunks", "2,6", "--codecs", codecs];
        succeed(folder, &[&["create", name, "--shape", "24,6"], &rest[..]].concat());
        file(folder, "ones", [1; 144]);
        succeed(folder, &["write", name, "--from", "ones"]);
    };
    succeed(folder, &["create", "g", "--group"]);
    create("g/plain", "bytes");
    create("g/packed", "zstd");
    std::fs::remove_file(folder.join("g/plain/c/3/0")).expect("removes");
    file(folder, "g/plain/c/5/0", "cut");
    file(folder, "g/packed/c/1/0", "");
    insta::assert_snapshot!(session(
        folder,
        &[
            &["check", "g"],
            &["check", "g/plain", "--complete"],
            &["check", "g/plain", "--complete", "--json"],
            &["check", "--explain", "missing-chunk"],
            &["check", "--explain", "mising-chunk"],
            &["check"],
            &["check", "g", "--explain", "missing-chunk"],
        ],
    ));
    // None is stored, and more than can be named.
    succeed(
        folder,
        &[
            "create",
            "empty",
            "--shape",
            "4000000000,4000000000",
            "--dtype",
            "int8",
            "--chunks",
            "1,1",
        ],
    );
    insta::assert_snapshot!(session(folder, &[&["check", "empty"]]));
    succeed(folder, &["create", "none", "--shape", "30", "--dtype", "int8", "--chunks", "1"]);
    let said = run(folder, &["check", "none", "--complete"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert_eq!(said.lines().count(), 21, "{said}");
    assert!(said.contains("30 of 30 chunks are not stored: 10 more than named"), "{said}");
}

/// Findings name the elements by index and by label, also those of a member by its place in the join.
#[test]
fn findings_name_regions_labels_and_members() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let seattle = root().join("fixtures/seattle-weather.zarr");
    let seattle = seattle.to_str().expect("UTF-8");
    succeed(folder, &["create", "s", "--group"]);
    for name in ["time", "temp_max"] {
        let from = format!("{seattle}/{name}");
        succeed(folder, &["copy", &from, &format!("s/{name}")]);
    }
    std::fs::remove_file(folder.join("s/temp_max/c/5")).expect("removes");
    for (name, days) in [("jan", "31"), ("feb", "29")] {
        let rest = ["--dtype", "uint8", "--dims", "time,x", "--codecs", "bytes"];
        let shape = format!("{days},2");
        succeed(
            folder,
            &[&["create", name, "--shape", &shape, "--chunks", "10,2"], &rest[..]].concat(),
        );
        file(folder, "ones", vec![1; 2 * days.parse::<usize>().expect("a number")]);
        succeed(folder, &["write", name, "--from", "ones"]);
    }
    let join = ["join", "jan", "feb", "--along", "time", "--virtual", "--chunks-may-change"];
    succeed(folder, &[&join[..], &["-o", "both.zjoin"]].concat());
    file(folder, "feb/c/1/0", "cut");
    insta::assert_snapshot!(session(
        folder,
        &[&["check", "s", "--complete"], &["check", "both.zjoin"]],
    ));
}
