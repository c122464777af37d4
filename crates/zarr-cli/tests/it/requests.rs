//! The requests to a server that each further array of a group, and each further chunk, costs.

use std::fmt::Write as _;

use zarr_store_tests::key;
use zarr_store_tests::server::Server;
use zarr_store_tests::store::StoreExt as _;

use crate::remote::{KEYS, on};

/// The kinds of requests: a name, a method, and what its target contains.
const KINDS: [(&str, &str, &str); 6] = [
    ("GET", "GET", ""),
    ("LIST", "GET", "list-type"),
    ("HEAD", "HEAD", ""),
    ("PUT", "PUT", ""),
    ("POST", "POST", ""),
    ("DELETE", "DELETE", ""),
];

fn document(shape: usize) -> String {
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [{shape}], "data_type": "uint8",
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [1]}}}},
        "chunk_key_encoding": {{"name": "default"}}, "fill_value": 0,
        "codecs": [{{"name": "bytes"}}]}}"#
    )
}

/// The requests of a command on a group of this many arrays, or on an array of this many chunks.
fn requests(of: &str, count: usize, command: &[&str]) -> [usize; 6] {
    let server = Server::start();
    let store = server.open();
    let put = |at: &str, bytes: &[u8]| store.put(&key(at), bytes).expect("puts");
    match of {
        "array" => {
            for node in ["x", "equal"] {
                put(&format!("{node}/zarr.json"), br#"{"zarr_format": 3, "node_type": "group"}"#);
                for at in 0..count {
                    put(&format!("{node}/{at}/zarr.json"), document(1).as_bytes());
                    put(&format!("{node}/{at}/c/0"), b"1");
                }
            }
        }
        _ => {
            for node in ["x", "equal"] {
                put(&format!("{node}/zarr.json"), document(count).as_bytes());
                (0..count).for_each(|at| put(&format!("{node}/c/{at}"), b"1"));
            }
        }
    }
    let seen = || KINDS.map(|(_, method, part)| server.count(method, part));
    let before = seen();
    let output = on(&server.endpoint, command, &KEYS);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let after = seen();
    let mut counts = [0, 1, 2, 3, 4, 5].map(|kind| after[kind] - before[kind]);
    counts[0] -= counts[1];
    counts
}

#[test]
fn each_object_costs_few_requests() {
    const X: &str = "s3://bucket/base/x";
    let commands: [&[&str]; 8] = [
        &["tree", X],
        &["info", X],
        &["check", X],
        &["check", X, "--data"],
        &["diff", X, "s3://bucket/base/equal"],
        &["copy", X, "s3://bucket/base/y"],
        &["consolidate", X],
        &["delete", X, "--yes"],
    ];
    let mut table = String::new();
    for of in ["array", "chunk"] {
        for command in commands {
            if of == "chunk" && ["tree", "consolidate"].contains(&command[0]) {
                continue;
            }
            let [few, more] = [2, 6].map(|count| requests(of, count, command));
            let words: Vec<&str> =
                command.iter().copied().filter(|word| !word.starts_with("s3:")).collect();
            write!(table, "{} of each {of}:", words.join(" ")).expect("writes");
            for ((name, _, _), (few, more)) in KINDS.iter().zip(few.into_iter().zip(more)) {
                let each = (more - few) / 4;
                // Listings have pages, of few keys on this server.
                assert!(name == &"LIST" || (more - few) % 4 == 0, "{name} of {command:?}");
                if each > 0 {
                    write!(table, " {name} {each}").expect("writes");
                }
            }
            table.push('\n');
        }
    }
    insta::assert_snapshot!(table);
}
