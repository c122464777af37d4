//! Mistakes: one line that says what, where and what to do, and exit status 2.

use std::path::Path;
use std::process::Stdio;

use crate::support::{file, root, run, session, succeed};

#[test]
fn arguments() {
    insta::assert_snapshot!(session(
        &root(),
        &[
            &["raed"],
            &["read"],
            &["read", "a", "--fromat", "raw"],
            &["read", "a", "--format", "xml"],
            &["read", "a", "--format", "line"],
            &["read", "a", "--format"],
            &["read", "a", "--region"],
            &["read", "--region", "1", "--region", "2"],
            &["copy", "a", "b", "--memory", "x"],
            &["crate", "a", "--dtpye", "int8"],
            &["create", "a", "--dtpye", "int8"],
            &["create", "a", "--shape", "4", "--dtype", "flaot32"],
            &["create", "a", "--shape", "--dtype", "int8"],
            &["create", "a", "--dtype", "int8", "--shape", "--chunks", "4"],
            &["read", "a", "--region", "--output", "x"],
            &["locate", "a", "--json"],
            &["append", "a", "--axis", "--from", "x"],
            &["create", "a", "--shape", "4", "--dtype", "<f3"],
            &["create", "a", "--shape", "4", "--dtype", "boolean"],
            &[
                "write",
                "fixtures/seattle-weather.zarr/wind",
                "--from",
                "fixtures/seattle-weather.csv"
            ],
            &["xyzzy"],
            &["read", "a", "b"],
            &["info"],
            &["write", "a"],
        ],
    ));
}

#[test]
fn places_and_regions() {
    const RANGE: &str = "fixtures/seattle-weather.zarr/temp_range_12bit";
    insta::assert_snapshot!(session(
        &root(),
        &[
            &["read", "nowhere.zarr"],
            &["info", "nowhere.zarr"],
            &["info", "fixtures/seattle-weather.zarr/tmep_max"],
            &["info", "fixtures/seattle-weather.zar"],
            &["info", "fixtures"],
            &["info", "fixtures/seattle-weather.csv"],
            &["info", "fixtures/seattle-weather.zarr/rain/c"],
            &["info", "docs"],
            &["read", "fixtures/seattle-weather.zarr"],
            &["info", ""],
            &["read", RANGE, "--region", "1461"],
            &["read", RANGE, "--region", "0:5,0,0"],
            &["read", RANGE, "--region", "a:b"],
            &["read", RANGE, "--region", "::0"],
            &["read", RANGE, "--region", "100000000000000000000"],
            &["read", RANGE, "--region", "[3,1461],0"],
            &["read", RANGE, "--region", "[28:34,0]"],
            &["locate", RANGE, "100000000000000000000,0"],
            &["locate", RANGE, "[3],0"],
            &["read", RANGE, "--output", "nowhere/out.raw"],
            &["locate", RANGE, "59"],
            &["create", "README.md/a", "--shape", "4", "--dtype", "int8"],
            &["create", "README.md", "--shape", "4", "--dtype", "int8"],
            &["copy", "fixtures/seattle-weather.zarr/rain", "README.md/a"],
            &["read", RANGE, "--output", "README.md/out.raw"],
            &["write", RANGE, "--from", "README.md/in.raw"],
            &["locate", RANGE, "59,1,1"],
            &["create", "a", "--shape", "-10", "--dtype", "int8"],
            &["create", "a", "--shape", "5,100000000000000000000", "--dtype", "int8"],
            &["resize", RANGE, "--shape", "-10,2"],
        ],
    ));
}

#[test]
fn urls_that_no_build_opens() {
    // The message lists what this build has, which depends on its features.
    let output = run(&root(), &["info", "gopher://host/a?token=secret"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(message.lines().count(), 1);
    assert!(message.starts_with("error: cannot open \"gopher://host/a\": "), "{message}");
}

#[cfg(not(feature = "remote"))]
#[test]
fn urls_that_another_build_opens() {
    insta::assert_snapshot!(session(
        &root(),
        &[
            &["info", "s3://bucket/a?secret"],
            &["copy", "HTTPS://host/a", "nowhere"],
            &["info", "http:host/a"],
        ],
    ));
    assert!(!root().join("nowhere").exists());
}

/// What to do is said in terms of the program's features.
#[cfg(not(feature = "snappy"))]
#[test]
fn codecs_that_another_build_has() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let create = ["create", "a", "--shape", "4", "--dtype", "int8", "--codecs", "blosc:snappy"];
    let output = run(folder.path(), &create);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(
        message.ends_with(
            ": codec blosc: this build is without it; `cargo install --path crates/zarr-cli \
             --features all-codecs,snappy` adds it\n"
        ),
        "{message}"
    );
}

#[test]
fn more_than_a_terminal_shows() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let many = ["create", "a", "--shape", "1000000000000000", "--dtype", "int8", "--chunks", "1"];
    succeed(folder.path(), &many);
    insta::assert_snapshot!(session(
        folder.path(),
        &[&["read", "a"], &["read", "a", "--elide"], &["read", "a", "--region", ":3"]],
    ));
}

#[test]
fn documents_and_chunks() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let array = |name: &str, change: &dyn Fn(String) -> String| {
        let document = r#"{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int16",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
            "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
            "codecs": [{"name": "packbits"}, {"name": "crc32c"}]}"#;
        file(folder.path(), &format!("{name}/zarr.json"), change(document.to_owned()));
    };
    array("grid", &|d| d.replace("\"chunk_shape\": [2]", "\"chunk_shape\": [0]"));
    array("type", &|d| d.replace("\"int16\"", "\"int17\""));
    array("fill", &|d| d.replace("\"fill_value\": 0", "\"fill_value\": 0.5"));
    array("chain", &|d| d.replace("{\"name\": \"packbits\"}, ", ""));
    array("json", &|d| d.replace("\"codecs\": [", "\"codecs\": "));
    array("member", &|d| d.replace("\"shape\"", "\"shpae\""));
    array("short", &|d| d);
    file(folder.path(), "short/c/1", [1, 0, 0, 0]);
    array("crc", &|d| d);
    file(folder.path(), "crc/c/1", [1, 0, 2, 0, 9, 9, 9, 9]);
    file(folder.path(), "v2/.zarray", "{}");
    let names = ["grid", "type", "fill", "chain", "json", "member", "short", "crc", "v2"]
        .map(|name| ["read", name]);
    let commands: Vec<&[&str]> = names.iter().map(|name| &name[..]).collect();
    insta::assert_snapshot!(session(folder.path(), &commands));
}

/// Runs a command whose output nobody reads.
fn run_unread(folder: &Path, arguments: &[&str]) -> std::process::Output {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_zarr-kit"))
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    drop(child.stdout.take());
    child.wait_with_output().expect("ends")
}

#[test]
fn a_closed_pipe_is_quiet() {
    for format in ["text", "lines", "json", "csv", "npy", "raw"] {
        let read = ["read", "fixtures/seattle-weather.zarr/daily", "-f", format];
        let output = run_unread(&root(), &read);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{format}");
        assert!(output.status.success(), "{format}");
    }
}

/// `check` and `diff` say by their exit status what they found, as `head` and `grep -q` leave early.
#[test]
fn a_closed_pipe_changes_no_answer() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    for (name, fill) in [("a", "0"), ("b", "1")] {
        succeed(folder, &["create", name, "--shape", "4", "--dtype", "int8", "--fill", fill]);
    }
    file(folder, "a/c/9", "outside of the grid");
    for json in [&[][..], &["--json"]] {
        for (command, status) in
            [(&["check", "a"][..], 1), (&["check", "b"], 0), (&["diff", "a", "b"], 1)]
        {
            let output = run_unread(folder, &[command, json].concat());
            assert_eq!(output.status.code(), Some(status), "{command:?} {json:?}");
        }
    }
}

/// Dangling links are reported as such, with the name of their array.
#[cfg(unix)]
#[test]
fn links_that_lead_nowhere() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    symlink("loop", folder.join("loop")).expect("links");
    symlink("missing", folder.join("dangling")).expect("links");
    succeed(folder, &["create", "a", "--shape", "4", "--dtype", "int8"]);
    symlink("c", folder.join("a/c")).expect("links");
    let create = |name| ["create", name, "--shape", "4", "--dtype", "int8"];
    insta::assert_snapshot!(session(
        folder,
        &[
            &create("loop"),
            &create("loop/x"),
            &create("dangling"),
            &create("dangling/x"),
            &["info", "loop"],
            &["info", "dangling"],
            &["copy", "a", "loop"],
            &["locate", "a", "0"],
            &["read", "a"],
            &["check", "a", "--repair"],
        ],
    ));
}
