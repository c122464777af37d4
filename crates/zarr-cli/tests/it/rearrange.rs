//! `rearrange`, and `check --repair` of one that was interrupted.

use std::path::Path;

use crate::support::{file, run_with, session, succeed, text};

fn array(folder: &Path, name: &str, shape: &str, chunks: &str, values: &[u8]) {
    let codecs = ["--codecs", r#"[{"name": "bytes"}]"#];
    let create =
        ["create", name, "--shape", shape, "--dtype", "uint8", "--chunks", chunks, "--dims", "day"];
    succeed(folder, &[&create[..], &codecs].concat());
    let written = run_with(folder, &["write", name, "--from", "-"], values);
    assert!(written.status.success());
}

#[test]
fn chunks_are_removed_reordered_and_inserted() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    array(folder, "a", "9", "2|3|4", &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    array(folder, "b", "2", "2", &[50, 51]);
    array(folder, "r", "6", "2", &[1, 2, 3, 4, 5, 6]);
    let other = ["create", "f", "--shape", "2", "--dtype", "float32", "--dims", "day"];
    succeed(folder, &other);
    let read = |name: &'static str| ["read", name, "-f", "json"];
    insta::assert_snapshot!(session(
        folder,
        &[
            &["rearrange", "a", "--remove", "0:2", "--dry-run", "--json"],
            &["rearrange", "a", "--axis", "day", "--remove", "2:5", "--dry-run"],
            &["rearrange", "a", "--axis", "day", "--remove", "2:5"],
            &read("a"),
            &["rearrange", "a", "--order", "-4:,:2"],
            &read("a"),
            &["rearrange", "a", "--insert", "b", "--at", "4", "--json"],
            &read("a"),
            &["check", "a", "--data"],
            // A regular grid, and what it becomes.
            &["rearrange", "r", "--order", "4:,:2"],
            &["rearrange", "r", "--insert", "a", "--at", "2"],
            &read("r"),
            // What cannot be.
            &["rearrange", "a", "--remove", "0:1"],
            &["rearrange", "a", "--remove", "0:8"],
            &["rearrange", "a", "--remove", "3"],
            &["rearrange", "a", "--order", "0:8:2"],
            &["rearrange", "a", "--order", "0:4,0:4"],
            &["rearrange", "a", "--axis", "x", "--remove", "0:4"],
            &["rearrange", "a", "--insert", "f", "--at", "0"],
            &["rearrange", "a", "--insert", "b", "--at", "9"],
            &["rearrange", "a", "--insert", "b", "--at", "one"],
            &["rearrange", "a", "--insert", "b"],
            &["rearrange", "a"],
            &["rearrange", "a", "--remove", "0:4", "--order", "0:4"],
        ],
    ));
}

/// The two kinds of what a killed process leaves, made by hand.
#[test]
fn check_repairs_what_was_interrupted() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "g", "--group"]);
    for name in ["g/old", "g/new"] {
        array(folder, name, "6", "2", &[1, 2, 3, 4, 5, 6]);
    }
    succeed(folder, &["consolidate", "g"]);
    let marker = |step: &str| {
        format!(
            "{{\"unfinished_rearrangement\": {{\n  \"chunk_key_encoding\": {{\"name\": \"default\", \
             \"configuration\": {{\"separator\": \"/\"}}}},\n  \"step\": \"{step}\"\n}}}}\n"
        )
    };
    file(folder, "g/old/zarr-kit-rearrange.json", marker("leaving"));
    file(folder, "g/old/c.0", [9, 9]);
    // The new array has the other keys; what is left of the old one is its first chunk.
    let document = std::fs::read_to_string(folder.join("g/new/zarr.json")).expect("is there");
    let encoding =
        r#""chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}"#;
    let renamed = document.replace(r#""separator": "/""#, r#""separator": ".""#);
    assert_ne!(renamed, document, "{encoding} in {document}");
    file(folder, "g/new/zarr.json", renamed);
    file(folder, "g/new/zarr-kit-rearrange.json", marker("leaving"));
    for (chunk, values) in [(0, [3, 4]), (1, [5, 6]), (2, [1, 2])] {
        file(folder, &format!("g/new/c.{chunk}"), values);
    }
    insta::assert_snapshot!(session(
        folder,
        &[
            &["check", "g", "--data"],
            &["rearrange", "g/old", "--remove", "0:2"],
            &["copy", "g/old", "copy"],
            &["read", "g/new", "-f", "json"],
            &["check", "g", "--data", "--repair"],
            &["read", "g/old", "-f", "json"],
            &["read", "g/new", "-f", "json"],
        ],
    ));
    assert!(folder.join("g/new/c/2").is_file() && !folder.join("g/new/c.2").exists());
    assert!(!folder.join("g/old/c.0").exists());
    // Damaged, or not ours: nothing is removed.
    file(folder, "g/new/zarr-kit-rearrange.json", "?");
    let found = session(folder, &[&["check", "g"], &["check", "g", "--repair"]]);
    assert!(found.contains("the marker is not understood"), "{found}");
    assert!(found.contains("not repaired") && !found.contains("exit status 2"), "{found}");
}

#[test]
fn consolidated_metadata_follows_and_archives_are_refused_whole() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "g", "--group"]);
    array(folder, "g/a", "6", "2", &[1, 2, 3, 4, 5, 6]);
    succeed(folder, &["consolidate", "g"]);
    succeed(folder, &["rearrange", "g/a", "--remove", "0:2"]);
    let group = std::fs::read_to_string(folder.join("g/zarr.json")).expect("is there");
    let group: serde_json::Value = serde_json::from_str(&group).expect("JSON");
    let listed = &group["consolidated_metadata"]["metadata"]["a"];
    assert_eq!(listed["shape"][0], 4);
    assert_eq!(listed["chunk_key_encoding"]["configuration"]["separator"], "/");
    succeed(folder, &["check", "g", "--data"]);

    succeed(folder, &["copy", "g/a", "a.zip"]);
    let before = text(folder, &["read", "a.zip", "-f", "json"]);
    let refused = session(folder, &[&["rearrange", "a.zip", "--remove", "0:2"]]);
    assert!(refused.contains("exit status 2"), "{refused}");
    assert_eq!(text(folder, &["read", "a.zip", "-f", "json"]), before);
    succeed(folder, &["check", "a.zip", "--data"]);
}

#[test]
fn members_of_virtual_joins_are_removed_reordered_and_inserted() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    array(folder, "a.zarr", "2", "2", &[1, 2]);
    array(folder, "b.zarr", "3", "2", &[3, 4, 5]);
    array(folder, "c.zarr", "4", "4", &[6, 7, 8, 9]);
    for (group, member) in [("g", "a.zarr"), ("h", "b.zarr"), ("i", "c.zarr")] {
        succeed(folder, &["create", group, "--group"]);
        succeed(folder, &["copy", member, &format!("{group}/day")]);
        succeed(folder, &["copy", member, &format!("{group}/rain")]);
    }
    succeed(folder, &["create", "f", "--shape", "2", "--dtype", "float32", "--dims", "day"]);
    let read = |name: &'static str| ["read", name, "-f", "json"];
    insta::assert_snapshot!(session(
        folder,
        &[
            &["join", "a.zarr", "b.zarr", "c.zarr", "--along", "day", "--virtual", "-o", "j.zjoin"],
            &["rearrange", "j.zjoin", "--axis", "day", "--remove", ":2", "--dry-run", "--json"],
            &read("j.zjoin"),
            &["rearrange", "j.zjoin", "--axis", "day", "--remove", ":2"],
            &read("j.zjoin"),
            &["rearrange", "j.zjoin", "--order", "3:,:3"],
            &read("j.zjoin"),
            &["rearrange", "j.zjoin", "--insert", "a.zarr", "--at", "4"],
            &read("j.zjoin"),
            &["check", "j.zjoin", "--data"],
            // A group: all arrays with the dimension, in one step.
            &["join", "g", "h", "i", "--along", "day", "--virtual", "-o", "k.zjoin"],
            &["rearrange", "k.zjoin", "--axis", "day", "--order", "5:,:2"],
            &read("k.zjoin/day"),
            &read("k.zjoin/rain"),
            &["rearrange", "k.zjoin/rain", "--axis", "day", "--remove", "4:"],
            &["tree", "k.zjoin"],
            // What cannot be.
            &["rearrange", "k.zjoin", "--axis", "day", "--remove", "4:"],
            &["rearrange", "k.zjoin", "--axis", "x", "--remove", "4:"],
            &["rearrange", "k.zjoin", "--remove", "4:"],
            &["rearrange", "k.zjoin/no", "--remove", "4:"],
            &["rearrange", "k.zjoin/day", "--remove", ":"],
            &["rearrange", "k.zjoin/day", "--remove", ":1"],
            &["rearrange", "k.zjoin/day", "--order", "4:,4:"],
            &["rearrange", "k.zjoin", "--axis", "day", "--insert", "a.zarr", "--at", "0"],
            &["rearrange", "j.zjoin", "--insert", "f", "--at", "0"],
            &["rearrange", "j.zjoin", "--insert", "j.zjoin", "--at", "0"],
            &["rearrange", "no.zjoin", "--remove", ":2"],
        ],
    ));
}
