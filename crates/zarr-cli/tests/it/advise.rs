//! `advise`: sizes that are those of the store, lines that can be typed, and refusals.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{file, run, run_with, session, succeed, text};

fn advice(folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [&["advise"], arguments, &["--json"]].concat();
    serde_json::from_str(&text(folder, &arguments)).expect("JSON")
}

/// The bytes of all chunks of an array.
fn stored(folder: &Path, array: &str) -> u64 {
    fn below(folder: &Path) -> u64 {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("reads"));
        let sizes = entries.map(|entry| match entry.path().is_dir() {
            true => below(&entry.path()),
            false => entry.metadata().expect("a size").len(),
        });
        sizes.sum()
    }
    below(&folder.join(array).join("c"))
}

fn create(folder: &Path, name: &str, rest: &[&str], elements: &[u8]) {
    succeed(folder, &[&["create", name], rest].concat());
    assert!(run_with(folder, &["write", name, "--from", "-"], elements).status.success());
}

#[test]
fn each_line_can_be_typed_and_stores_what_it_says() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let samples: Vec<u8> = (0..3000_u32)
        .flat_map(|n| u16::try_from(n * n % 3001).expect("12 bits").to_le_bytes())
        .collect();
    let shape = ["--shape", "50,60", "--dtype", "uint16", "--chunks", "30|20,60"];
    create(folder, "a", &shape, &samples);
    let document = advice(folder, &["a", "--for", "size"]);
    assert_eq!(document["bits"]["needed_bits"], serde_json::json!([0, 11]));
    for goal in ["both", "read", "write", "size"] {
        assert_eq!(advice(folder, &["a", "--for", goal])["goal"], goal);
    }
    let trials = document["trials"].as_array().expect("a list");
    assert_eq!(trials.iter().filter(|trial| trial["current"] == true).count(), 1);
    let mut before = 0;
    for trial in trials {
        let (codecs, bytes) = (trial["codecs"].as_str().expect("text"), &trial["bytes"]);
        succeed(folder, &["copy", "a", "b", "--codecs", codecs, "--overwrite"]);
        assert_eq!(stored(folder, "b"), bytes.as_u64().expect("a number"), "{codecs}");
        let copy: Value =
            serde_json::from_str(&fs::read_to_string(folder.join("b/zarr.json")).expect("reads"))
                .expect("JSON");
        assert_eq!(copy["codecs"], trial["chain"], "{codecs}");
        assert!(before <= bytes.as_u64().expect("a number"), "the smallest is the first");
        before = bytes.as_u64().expect("a number");
    }
    let said = text(folder, &["advise", "a", "--for", "size"]);
    // Chains that only JSON can say do not make the other lines longer.
    let heading = said.lines().find(|line| line.starts_with("codecs")).expect("a heading");
    assert!(heading.len() < 100 && said.contains("[{\"name\": "), "{said}");
    let line = said.lines().last().expect("a line");
    assert_eq!(
        line,
        format!(
            "zarr-kit copy a OUT.zarr --codecs {}",
            trials[0]["codecs"].as_str().expect("text")
        )
    );
}

/// Shards keep their inner chunks; strings, records and values of no axis have chains as well.
#[test]
fn every_kind_of_array_gets_advice() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let shard = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "codecs":
        [{"name": "bytes"}], "index_codecs": [{"name": "bytes", "configuration":
        {"endian": "little"}}]}}]"#;
    create(
        folder,
        "shard",
        &["--shape", "10", "--dtype", "uint8", "--chunks", "[[4,6]]", "--codecs", shard],
        &[7; 10],
    );
    create(folder, "point", &["--shape", "", "--dtype", "int32"], &[1, 0, 0, 0]);
    create(folder, "record", &["--shape", "3", "--dtype", "r24"], &[5; 9]);
    succeed(folder, &["create", "text", "--shape", "2", "--dtype", "string"]);
    file(folder, "text.json", r#"["a", "bc"]"#);
    succeed(folder, &["write", "text", "--from", "text.json"]);
    for name in ["shard", "point", "record", "text"] {
        let document = advice(folder, &[name]);
        let trials = document["trials"].as_array().expect("a list");
        assert!(trials.len() > 3, "{name}");
        for trial in trials {
            let codecs = trial["codecs"].as_str().expect("text");
            assert_eq!(codecs.contains("sharding_indexed"), name == "shard", "{codecs}");
            succeed(folder, &["copy", name, "copy", "--codecs", codecs, "--overwrite"]);
            succeed(folder, &["diff", name, "copy"]);
        }
    }
}

#[test]
fn files_of_numpy_and_what_is_refused() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    create(folder, "a", &["--shape", "4,3", "--dtype", ">f4"], &[1; 48]);
    succeed(folder, &["read", "a", "-o", "a.npy"]);
    let said = text(folder, &["advise", "a.npy"]);
    assert!(said.contains("\nzarr-kit create OUT.zarr --like a.npy --codecs "), "{said}");
    succeed(folder, &["create", "empty", "--shape", "0,4", "--dtype", "int8"]);
    succeed(folder, &["create", "fill", "--shape", "4", "--dtype", "int8"]);
    succeed(folder, &["create", "g", "--group"]);
    file(folder, "bad.npy", "not numpy");
    insta::assert_snapshot!(session(
        folder,
        &[
            &["advise", "empty"],
            &["advise", "fill"],
            &["advise", "g"],
            &["advise", "bad.npy"],
            &["advise", "none.npy"],
            &["advise", "a.npy", "-r", "9"],
            &["advise", "a", "--for", "speed"],
            &["advise", "a", "--rate", "fast"],
        ],
    ));
    assert_eq!(
        run(folder, &["advise", "a", "--rate", "0", "--sample", "0"]).status.code(),
        Some(0)
    );
}

/// `--preset` takes the smallest chain of the trial that stores every value of the type: a chunk that
/// was not tried may need bits that the sample does not.
#[test]
fn presets_take_what_the_trial_finds() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let mut seed = 1_u32;
    let mut noise = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u16::try_from(seed >> 20).expect("12 bits")
    };
    let samples: Vec<u8> = (0..3000).flat_map(|_| noise().to_le_bytes()).collect();
    let shape = ["--shape", "50,60", "--dtype", "uint16", "--chunks", "25,60"];
    create(folder, "noise", &shape, &samples);
    create(
        folder,
        "mask",
        &["--shape", "4096", "--dtype", "bool"],
        &[[1; 2048], [0; 2048]].concat(),
    );
    let codecs = |array: &str| {
        let json = fs::read_to_string(folder.join(array).join("zarr.json")).expect("reads");
        serde_json::from_str::<Value>(&json).expect("JSON")["codecs"].clone()
    };
    for array in ["noise", "mask"] {
        let document = advice(folder, &[array, "--for", "size"]);
        let trials = document["trials"].as_array().expect("a list");
        let cuts = |trial: &&Value| trial["codecs"].as_str().expect("text").contains("packbits:");
        assert_eq!(trials.iter().take(1).filter(cuts).count(), usize::from(array == "noise"));
        let best = trials.iter().find(|trial| !cuts(trial)).expect("a trial");
        let copy = format!("{array}-copy");
        succeed(folder, &["copy", array, &copy, "--preset", "size", "--verify"]);
        assert_eq!(codecs(&copy), best["chain"], "{array}");
        let like = format!("{array}-like");
        succeed(folder, &["create", &like, "--like", array, "--preset", "size"]);
        assert_eq!(codecs(&like), best["chain"], "{array}");
        // Of those that all programs read.
        let all = |trial: &&Value| {
            let readers = trial["read_by"].as_array().expect("a list");
            readers.iter().all(|reader| reader["reads"] == true)
        };
        let best = trials.iter().find(all).expect("a trial");
        let copy = format!("{array}-portable");
        let copied = run(folder, &["copy", array, &copy, "--preset", "size", "--portable"]);
        let said = String::from_utf8_lossy(&copied.stderr);
        let codecs_said = format!("{array}: --codecs {}\n", best["codecs"].as_str().expect("text"));
        assert!(said.contains(&codecs_said), "{said}");
        assert_eq!(codecs(&copy), best["chain"], "{array}");
        let like = format!("{array}-portable-like");
        succeed(folder, &["create", &like, "--like", array, "--preset", "size", "--portable"]);
        assert_eq!(codecs(&like), best["chain"], "{array}");
    }
    let part = run(folder, &["copy", "noise", "x", "--preset", "size", "--part", "1/2"]);
    assert!(String::from_utf8_lossy(&part.stderr).contains("--preset measures"));
    assert!(!folder.join("x").exists());
}

/// Chunks and shards for reads: the command can be typed, and refusals name the read.
#[test]
fn chunks_and_shards_for_reads() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let elements: Vec<u8> = (0..60_000_u32)
        .flat_map(|n| u16::try_from(n % 4001).expect("small").to_le_bytes())
        .collect();
    let shape = ["--shape", "40,30,50", "--dtype", "uint16", "--dims", "time,y,x"];
    let shape = [&shape[..], &["--chunks", "1,30,50"]].concat();
    create(folder, "a", &shape, &elements);
    let reads = ["a", "--reads", "time=1", "--reads", "y=2,x=2", "--reads", "whole"];
    let document = advice(folder, &reads);
    assert_eq!(document["reads"], serde_json::json!([[1, 30, 50], [40, 2, 2], [40, 30, 50]]));
    let shapes = document["shapes"].as_array().expect("a list");
    assert!(shapes.iter().any(|shape| shape["chunks"] == serde_json::json!([1, 30, 50])));
    let said = text(folder, &[&["advise"], &reads[..]].concat());
    assert!(
        said.contains("time=1") && said.contains("y=2,x=2") && said.contains("whole"),
        "{said}"
    );
    let command: Vec<&str> = said.lines().last().expect("a line").split(' ').skip(1).collect();
    succeed(folder, &command);
    succeed(folder, &["diff", "a", "OUT.zarr"]);
    // The shards that were advised are left where others are better.
    let again = text(folder, &["advise", "OUT.zarr", "--reads", "time=1"]);
    let command =
        again.lines().last().expect("a line").replace("OUT.zarr OUT.zarr", "OUT.zarr new");
    succeed(folder, &command.split(' ').skip(1).collect::<Vec<_>>());
    succeed(folder, &["diff", "a", "new"]);
    insta::assert_snapshot!(session(
        folder,
        &[
            &["advise", "a", "--reads", "t=1"],
            &["advise", "a", "--reads", "time=0"],
            &["advise", "a", "--reads", "time=41"],
            &["advise", "a", "--reads", "1,2,3"],
            &["advise", "a", "--reads", "x=1,x=2"],
            &["advise", "a", "--reads", "x=1", "--latency", "-1"],
            &["advise", "a", "--latency", "1"],
        ],
    ));
}
