//! `info`.

use std::time::Instant;

use crate::support::{file, root, run_with, session, succeed, text};

const SEATTLE: &str = "fixtures/seattle-weather.zarr";

#[test]
fn arrays_and_groups_in_words() {
    let path = |array: &str| format!("{SEATTLE}/{array}");
    insta::assert_snapshot!(session(
        &root(),
        &[
            &["info", SEATTLE],
            &["info", &path("temp_max")],
            &["info", &path("temp_range_12bit/")],
            &["info", &path("time/zarr.json")],
            &["info", &path("rain"), "--json"],
            &["info", SEATTLE, "--json"],
        ],
    ));
}

#[test]
fn what_is_not_read_is_described_all_the_same() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let array = |name: &str, data_type: &str, codecs: &str, fill: &str| {
        let document = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [6, 4], "data_type": "{data_type}",
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [4, 4]}}}},
            "chunk_key_encoding": {{"name": "default"}}, "fill_value": {fill},
            "codecs": {codecs}, "attributes": {{"z": 1.50, "a": NaN}}}}"#
        );
        file(folder.path(), &format!("{name}/zarr.json"), document);
    };
    array("strings", "string", r#"[{"name": "vlen-utf8"}]"#, r#""""#);
    array("exotic", "uint8", r#"["bytes", {"name": "lzma"}]"#, "0");
    let old = r#"{"zarr_format": 2, "shape": [6, 4], "chunks": [4, 4], "dtype": "<f4",
        "compressor": {"id": "blosc", "cname": "lz4"}, "filters": null, "fill_value": NaN}"#;
    file(folder.path(), "exotic/c/0/0", "?");
    file(folder.path(), "exotic/c/1/0", "??");
    file(folder.path(), "old/.zarray", old.replace("NaN", "\"NaN\""));
    file(folder.path(), "older/.zgroup", r#"{"zarr_format": 2}"#);
    insta::assert_snapshot!(session(
        folder.path(),
        &[
            &["info", "strings"],
            &["info", "exotic"],
            &["info", "exotic", "--json"],
            &["info", "old"],
            &["info", "older"],
            &["info", "old", "--json"],
        ],
    ));
}

#[test]
fn sd_05_sd_07_declared_chunks_are_counted_and_not_made() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let create = |name: &str, shape: &str, chunks: &str| {
        succeed(
            folder.path(),
            &["create", name, "--shape", shape, "--dtype", "uint8", "--chunks", chunks],
        );
    };
    create("many", "1000000000000000", "1x1000000000000000");
    create("beyond", "6,5", "4|4|4,3");
    create("empty", "0,5", "4,3");
    insta::assert_snapshot!(session(
        folder.path(),
        &[&["info", "many"], &["info", "beyond"], &["info", "empty"]],
    ));
    // Not a measurement: a loop over the chunks would take weeks.
    let start = Instant::now();
    succeed(folder.path(), &["info", "many", "--json"]);
    assert!(start.elapsed().as_secs() < 60);
}

/// Another program may put a document where a copy, a join or a creation was interrupted, and `info`
/// and `tree` still say so.
#[test]
fn an_unfinished_operation_is_said_beside_a_document() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let marker = |work: &str| {
        format!(
            r#"{{"unfinished_copy": {{"version": 1, "node": "group", "work": "{work}", "from": "/a\u001b[2J"}}}}"#
        )
    };
    for (group, marker) in
        [("g", marker("copy")), ("g/joined", marker("join")), ("g/unknown", "{}".to_owned())]
    {
        file(folder, &format!("{group}/zarr.json"), r#"{"zarr_format": 3, "node_type": "group"}"#);
        file(folder, &format!("{group}/zarr-kit-copy.json"), marker);
    }
    succeed(folder, &["create", "g/x", "--shape", "6", "--dtype", "int8"]);
    file(folder, "g/x/zarr-kit-copy.json", marker("creation"));
    insta::assert_snapshot!(session(
        folder,
        &[
            &["info", "g"],
            &["info", "g/joined"],
            &["info", "g/x"],
            &["tree", "g"],
            &["info", "g/unknown", "--json"],
            &["info", "g/x", "--json"],
            &["tree", "g", "--json"],
        ],
    ));
}

/// One array with many axes makes only its own line long.
#[test]
fn a_wide_shape_does_not_widen_other_lines() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    file(folder, "g/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    let wide = vec!["1"; 900].join(",");
    for (name, shape) in [("narrow", "3,4"), ("wide", &wide)] {
        succeed(folder, &["create", &format!("g/{name}"), "--shape", shape, "--dtype", "int8"]);
    }
    let listed = text(folder, &["info", "g"]);
    let line = |name: &str| listed.lines().find(|line| line.contains(name)).expect("is listed");
    assert!(line("narrow").len() < 120, "{listed}");
    assert!(line("wide").len() > 1800, "{listed}");
}

/// 9 of 16 inner chunks are stored, in three of four shards; the others are fill values.
#[test]
fn inner_chunks_are_counted_by_the_indices_of_shards() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = ["create", "a.zarr", "--shape", "7,8", "--dtype", "uint8"];
    succeed(folder, &[&create[..], &["--chunks", "2,2", "--shards", "4,4"]].concat());
    for (region, count) in [("0:4,0:4", 16), ("4:7,0:4", 12), ("4:6,5:6", 2)] {
        let write = ["write", "a.zarr", "--region", region, "--from", "-"];
        assert!(run_with(folder, &write, &vec![1; count]).status.success());
    }
    let row = |text: String| {
        text.lines().find(|line| line.trim_start().starts_with("inner ")).map(str::to_owned)
    };
    let said = row(text(folder, &["info", "a.zarr"])).expect("a row");
    assert_eq!(said, "  inner     16 of 2 x 2, 9 stored");
    let json: serde_json::Value =
        serde_json::from_str(&text(folder, &["info", "a.zarr", "--json"])).expect("JSON");
    let inner = serde_json::json!({"shape": [2, 2], "all": 16, "stored": 9, "not_counted": null});
    assert_eq!(json["chunks"]["inner"], inner);

    // A damaged index hides them, and the rest is described.
    let path = folder.join("a.zarr/c/0/0");
    let mut bytes = std::fs::read(&path).expect("reads");
    *bytes.last_mut().expect("bytes") ^= 1;
    std::fs::write(&path, bytes).expect("writes");
    let said = row(text(folder, &["info", "a.zarr"])).expect("a row");
    assert!(
        said.starts_with("  inner     16 of 2 x 2, those stored are not counted: chunk c/0/0: "),
        "{said}"
    );
}

/// A member that is not read says what allows it.
#[cfg(unix)]
#[test]
fn members_behind_links_out_of_the_store_say_what_follows_them() {
    let folder = tempfile::tempdir().expect("makes a folder");
    succeed(folder.path(), &["create", "g", "--group"]);
    succeed(folder.path(), &["create", "x", "--shape", "2", "--dtype", "uint8"]);
    succeed(folder.path(), &["create", "g/y", "--shape", "2", "--dtype", "uint8"]);
    let document = folder.path().join("g/y/zarr.json");
    std::fs::remove_file(&document).expect("removes");
    std::os::unix::fs::symlink("../../x/zarr.json", &document).expect("links");
    for command in [&["info", "g"][..], &["tree", "g"], &["tree", "g", "--json"]] {
        let said = text(folder.path(), command);
        assert!(said.contains("; --outside-links allows it"), "{said}");
    }
}
