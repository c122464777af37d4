//! Passwords, signatures and keys are never shown, whatever goes wrong.

use std::path::Path;

use crate::support::{file, run, succeed};

/// A text that would be noticed anywhere.
const SECRET: &str = "zQ7secretX4";

/// URLs with a secret at every possible place. Nothing listens on the port.
fn urls() -> Vec<String> {
    let templates = [
        "http://user:SECRET@127.0.0.1:1/x",
        "http://SECRET@127.0.0.1:1/x",
        "https://127.0.0.1:1/x?X-Amz-Signature=SECRET",
        "http://127.0.0.1:1/x#SECRET",
        "http:user:SECRET@127.0.0.1:1/x",
        "https:/user:SECRET@127.0.0.1:1/x",
        "http://user:SECRET",
        "http://user:SEC/SECRET@127.0.0.1/x",
        "HTTP://user:SECRET@127.0.0.1:1/x",
        "s3://key:SECRET@bucket/x",
        "s3://bucket/x?sig=SECRET",
        "az://user:SECRET@container/x",
        "abfss://container:SECRET@account.dfs.core.windows.net/x",
        "gs://SECRET@bucket/x",
        "gopher://user:SECRET@host/x?SECRET",
        "file://user:SECRET@host/x",
        "file:///x?SECRET",
        "memory:x?SECRET",
    ];
    templates.iter().map(|template| template.replace("SECRET", SECRET)).collect()
}

/// Runs a command and searches all of its output.
fn assert_kept(folder: &Path, arguments: &[&str]) {
    let output = run(folder, arguments);
    for bytes in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains(SECRET), "{arguments:?}: {text}");
    }
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
}

#[test]
fn urls_of_every_command() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let path = folder.path();
    succeed(path, &["create", "a", "--shape", "4", "--dtype", "uint8"]);
    file(path, "x.raw", [1, 2, 3, 4]);
    for url in urls() {
        let url = url.as_str();
        let commands: &[&[&str]] = &[
            &["info", url],
            &["info", url, "--json"],
            &["read", url],
            &["read", url, "--explain"],
            &["write", url, "--from", "x.raw"],
            &["create", url, "--shape", "4", "--dtype", "uint8"],
            &["create", url, "--shape", "4", "--dtype", "uint8", "--json"],
            &["create", url, "--shape", "4", "--dtype", "uint8", "--chunks", "0"],
            &["copy", "a", url, "--json"],
            &["copy", url, "b"],
            &["check", url, "--data", "--json"],
            &["locate", url, "0"],
            &["plan", url, "--json"],
            &["draw", url],
            &["resize", url, "--shape", "4"],
            &["append", url, "--from", "x.raw"],
        ];
        for arguments in commands {
            assert_kept(path, arguments);
        }
    }
}

#[test]
fn urls_in_the_place_of_every_option() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let path = folder.path();
    succeed(path, &["create", "a", "--shape", "4", "--dtype", "uint8"]);
    for url in urls().iter().filter(|url| !url.starts_with("memory:")) {
        let url = url.as_str();
        let names = format!("{url},y");
        let create =
            |option, value| ["create", "b", "--shape", "4", "--dtype", "uint8", option, value];
        let commands: &[&[&str]] = &[
            &[url],
            &["info", "a", url],
            &["read", "a", "--region", url],
            &["read", "a", "--format", url],
            &["read", "a", "-o", url],
            &["write", "a", "--from", url],
            &["append", "a", "--from", url],
            &["append", "a", "--from", "-", "--axis", url],
            &["append", "a", "--from", "-", "--edges", url],
            &create("--chunks", url),
            &create("--codecs", url),
            &create("--fill", url),
            &create("--attributes", url),
            &create("--dims", &names),
            &["create", "b", "--shape", url, "--dtype", "uint8"],
            &["create", "b", "--shape", "4", "--dtype", url],
            &["create", "b", "--metadata", url],
            &["copy", "a", "b", "--memory", url],
            &["copy", "a", "b", "--chunks", url],
            &["copy", "a", "b", "--codecs", url],
            &["locate", "a", url],
            &["plan", "a", "--region", url],
            &["draw", "a", "-o", url],
            &["draw", "a", "--axes", url],
            &["resize", "a", "--shape", url],
            &["resize", "a", "--shape", "4", "--edges", url],
            &["completions", url],
        ];
        for arguments in commands {
            assert_kept(path, arguments);
        }
    }
}
