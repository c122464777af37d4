//! `resize` and `append`.

use std::fs;

use crate::support::{file, run_with, session, stdout, succeed, text};

#[test]
fn sd_08_edges_keep_and_discard() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = [
        "create", "a", "--shape", "59,2", "--dtype", "uint8", "--chunks", "31|28,2", "--dims",
        "time,x",
    ];
    succeed(folder, &create);
    assert!(run_with(folder, &["write", "a", "--from", "-"], &[7; 118]).status.success());
    insta::assert_snapshot!(session(
        folder,
        &[
            &["resize", "a", "--shape", "90,2", "--edges", "time=31"],
            &["info", "a"],
            &["resize", "a", "--shape", "150,2", "--json"],
            &["resize", "a", "--shape", "30,1", "--keep"],
            &["resize", "a", "--shape", "59,2"],
            &["read", "a", "--region", "28:33"],
            &["resize", "a", "--shape", "30,1"],
            &["resize", "a", "--shape", "59,2"],
            &["read", "a", "--region", "28:33"],
            &["check", "a", "--data"],
            &["resize", "a", "--shape", "59"],
            &["resize", "a", "--shape", "200,2", "--edges", "time=5"],
            &["resize", "a", "--shape", "200,2", "--edges", "31|x"],
            &["resize", "a", "--shape", "59,9", "--edges", "x=5"],
            &["resize", "a", "--shape", "59,2", "--edges", "y=5"],
            &["resize", "a", "--shape", "200,2", "--edges", "time=5,time=6"],
        ],
    ));
    assert!(text(folder, &["info", "a"]).contains("59"));
}

#[test]
fn sd_08_appends_take_edges_or_repeat_the_last() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = [
        "create", "a", "--shape", "2,3", "--dtype", "uint16", "--chunks", "2,3", "--dims", "time,x",
    ];
    succeed(folder, &create);
    succeed(folder, &["create", "m", "--shape", "2", "--dtype", "uint8", "--chunks", "1|1"]);
    let rows = |count: u16| (1..=count * 3).flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    crate::support::file(folder, "three.raw", rows(3));
    let append = ["append", "a", "--format", "raw", "--from", "-", "--axis", "time"];
    assert!(run_with(folder, &append, &rows(1)).status.success());
    assert!(
        run_with(
            folder,
            &["append", "m", "--format", "raw", "--from", "-", "--edges", "3"],
            b"abc"
        )
        .status
        .success()
    );
    insta::assert_snapshot!(session(
        folder,
        &[
            &["append", "a", "--from", "three.raw"],
            &["read", "a"],
            &["append", "m", "--from", "three.raw"],
            &["info", "m"],
            &["read", "m", "--format", "lines", "--region", ":7"],
            // Columns: six rows of them.
            &["append", "a", "--from", "three.raw", "--axis", "x"],
            &["append", "a", "--from", "three.raw", "--axis", "y"],
            &["append", "a", "--from", "three.raw", "--edges", "4"],
            &["append", "m", "--from", "three.raw", "--edges", "4"],
            &["read", "a", "--region", "5"],
            &["check", "a", "--data"],
            &["append", "m", "--from", "three.raw", "--json"],
        ],
    ));
    // From numpy's format, as another array was written.
    succeed(folder, &["read", "a", "--region", ":2", "-o", "two.npy"]);
    succeed(folder, &["append", "a", "--from", "two.npy"]);
    assert_eq!(
        text(folder, &["read", "a", "--region", ":2"]),
        text(folder, &["read", "a", "--region", "6:"])
    );
    assert!(!run_with(folder, &["append", "m", "--from", "two.npy"], b"").status.success());
    let whole = std::fs::read(folder.join("two.npy")).expect("is there");
    let cut = &whole[..whole.len() - 2];
    for (content, reason) in [
        (cut, "ends after 10 bytes of elements, at least 2 too early"),
        (&[&whole[..], &[0]].concat()[..], "more than the 12 bytes of elements to be stored"),
    ] {
        crate::support::file(folder, "bad.npy", content);
        let refused = run_with(folder, &["append", "a", "--from", "bad.npy"], b"");
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(message.contains(reason), "{message}");
    }
}

/// An empty file is no error, but it is not said that something was appended.
#[test]
fn of_an_empty_file_nothing_is_appended_and_that_is_said() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "a", "--shape", "2,3", "--dtype", "uint16", "--dims", "time,x"]);
    succeed(folder, &["create", "s", "--shape", "2", "--dtype", "string"]);
    succeed(folder, &["create", "e", "--shape", "2,0", "--dtype", "uint16"]);
    crate::support::file(folder, "empty.raw", b"");
    crate::support::file(folder, "empty.json", b"[]");
    crate::support::file(folder, "empty.jsonl", b"");
    succeed(folder, &["read", "a", "--region", ":0", "-o", "empty.npy"]);
    let document = std::fs::read(folder.join("a/zarr.json")).expect("is there");
    insta::assert_snapshot!(session(
        folder,
        &[
            &["append", "a", "--from", "empty.raw"],
            &["append", "a", "--from", "-"],
            &["append", "a", "--from", "empty.npy"],
            &["append", "a", "--from", "empty.npy", "--axis", "x"],
            &["append", "a", "--from", "empty.json"],
            &["append", "a", "--from", "empty.jsonl", "--json"],
            &["append", "a", "--from", "empty.raw", "--edges", "4"],
            &["append", "s", "--from", "empty.jsonl"],
            &["append", "e", "--from", "empty.raw"],
        ],
    ));
    assert!(std::fs::read(folder.join("a/zarr.json")).expect("is there") == document);
}

#[test]
fn stored_chunks_past_the_end_are_counted_apart() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = ["create", "a", "--shape", "11", "--dtype", "uint8", "--chunks", "1"];
    let codecs = ["--codecs", r#"[{"name": "bytes"}]"#];
    succeed(folder, &[&create[..], &codecs].concat());
    assert!(run_with(folder, &["write", "a", "--from", "-"], &[7; 11]).status.success());
    succeed(folder, &["resize", "a", "--shape", "1", "--keep"]);
    let info = text(folder, &["info", "a"]);
    assert!(
        info.contains("chunks      1, 1 stored in 1 B; 10 more stored past the end in 10 B\n"),
        "{info}"
    );
    let json = text(folder, &["info", "a", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let chunks = &json["chunks"];
    let counts = ["stored", "stored_past_the_end", "stored_bytes", "stored_bytes_past_the_end"];
    assert_eq!(counts.map(|name| chunks[name].as_u64()), [1, 10, 1, 10].map(Some));
}

/// A shrinking resize keeps the chunks past the end, and a copy without other chunks or codecs copies
/// objects.
#[test]
fn chunks_that_a_resize_left_are_copied() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "g", "--group"]);
    for (name, after) in [("g/some", "2"), ("g/none", "0")] {
        let create = ["create", name, "--shape", "4", "--dtype", "uint8", "--chunks", "2"];
        succeed(folder, &[&create[..], &["--codecs", "bytes"]].concat());
        file(folder, "all.raw", [1, 2, 3, 4]);
        succeed(folder, &["write", name, "--from", "all.raw"]);
        succeed(folder, &["resize", name, "--shape", after, "--keep"]);
    }
    succeed(folder, &["copy", "g", "whole"]);
    succeed(folder, &["copy", "g", "parts", "--part", "1/1"]);
    succeed(folder, &["copy", "g", "a.zip"]);
    succeed(folder, &["copy", "a.zip", "again"]);
    let left = |place: &str| fs::read(folder.join(place).join("some/c/1")).expect("is there");
    for place in ["whole", "parts", "again"] {
        let read = ["read", &format!("{place}/some"), "-f", "raw"];
        assert_eq!((stdout(folder, &read), left(place)), (vec![1, 2], vec![3, 4]), "{place}");
    }
}
