//! File systems that refuse locks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{command, file, run, succeed};

/// Every lock is refused with the error that the environment gives; if that is an interruption, the
/// first three are.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int flock(int file, int operation) {
    static int interruptions = 3;
    int error = atoi(getenv("FLOCK_ERRNO"));
    if (error == EINTR && interruptions-- <= 0) return syscall(SYS_flock, file, operation);
    errno = error;
    return -1;
}
"#;

const EINTR: i32 = 4;
const EIO: i32 = 5;
const EINVAL: i32 = 22;
const ENOLCK: i32 = 37;
const ENOSYS: i32 = 38;
const EOPNOTSUPP: i32 = 95;

/// The source as a library in this folder; `None`, with the reason printed, without a compiler.
fn library(folder: &Path) -> Option<PathBuf> {
    let (source, library) = (folder.join("locks.c"), folder.join("locks.so"));
    fs::write(&source, SOURCE).expect("writes");
    let made =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).output();
    match made {
        Ok(made) if made.status.success() => Some(library),
        Ok(made) => {
            println!("skipped: cc fails: {}", String::from_utf8_lossy(&made.stderr).trim());
            None
        }
        Err(error) => {
            println!("skipped: there is no compiler cc: {error}");
            None
        }
    }
}

/// The files of this program, and the names of all others.
fn files(folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("reads") {
            let path = entry.expect("reads").path();
            let is_own = path
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(".zarr-kit"));
            match (path.is_dir(), is_own) {
                (true, _) => folders.push(path),
                (false, true) => own.push(path),
                (false, false) => others.push(path),
            }
        }
    }
    (own, others)
}

#[test]
fn locks_that_are_refused_leave_nothing() {
    let tools = tempfile::tempdir().expect("makes a folder");
    let Some(library) = library(tools.path()) else { return };
    for errno in [EINTR, EIO, EINVAL, ENOLCK, ENOSYS, EOPNOTSUPP] {
        let folder = tempfile::tempdir().expect("makes a folder");
        let folder = folder.path();
        fs::write(folder.join("x.raw"), [1, 2, 3, 4, 5, 6, 7, 8]).expect("writes");
        let without = |arguments: &[&str]| -> Output {
            let mut command = command(folder, arguments);
            command.env("LD_PRELOAD", &library).env("FLOCK_ERRNO", errno.to_string());
            command.output().expect("runs")
        };
        let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
        let shape = ["--shape", "8", "--dtype", "int8", "--chunks", "4"];
        let create = |name| [&["create", name][..], &shape].concat();
        succeed(folder, &create("a.zarr"));
        let document = folder.join("a.zarr/zarr.json");
        let before = fs::read(&document).expect("reads");
        let create = without(&create("b.zarr"));
        let attributes = without(&["attrs", "a.zarr", "--set", "k=1"]);
        let archive = without(&["copy", "a.zarr", "c.zip"]);
        assert_eq!(files(folder).0, Vec::<PathBuf>::new(), "{errno}");
        match errno {
            // Others may hold locks.
            EIO | ENOLCK => {
                let text = if errno == EIO { "Input/output error" } else { "No locks available" };
                for output in [create, attributes, archive] {
                    assert_eq!(output.status.code(), Some(2), "{errno}");
                    assert!(said(&output).contains(text), "{}", said(&output));
                }
                assert_eq!(fs::read(&document).expect("reads"), before);
                assert_eq!(files(folder).1.len(), 2, "{:?}", files(folder));
                continue;
            }
            EINTR => assert!(attributes.status.success(), "{}", said(&attributes)),
            // Nobody can hold one, and nobody can be excluded.
            _ => assert!(said(&attributes).contains("neither locks"), "{}", said(&attributes)),
        }
        assert!(create.status.success(), "{errno}: {}", said(&create));
        assert!(archive.status.success(), "{errno}: {}", said(&archive));
        succeed(folder, &["check", "c.zip"]);
        let write = without(&["write", "b.zarr", "--from", "x.raw"]);
        assert!(write.status.success(), "{errno}: {}", said(&write));
        let read = run(folder, &["read", "b.zarr", "-f", "lines"]);
        assert_eq!(read.stdout, b"1\n2\n3\n4\n5\n6\n7\n8\n", "{errno}");
        // That of a process that was killed.
        fs::write(folder.join("b.zarr/.zarr-kit-lock.zarr.json"), b"").expect("writes");
        let repair = without(&["check", "--repair", "b.zarr"]);
        assert_eq!(files(folder).0, Vec::<PathBuf>::new(), "{errno}: {}", said(&repair));
    }
}

/// No command opens more files for a group of many arrays.
#[test]
fn a_group_may_have_more_arrays_than_open_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let array = r#"{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
        "codecs": [{"name": "bytes"}], "dimension_names": ["t"]}"#;
    for group in ["g", "h"] {
        file(at, &format!("{group}/zarr.json"), r#"{"zarr_format": 3, "node_type": "group"}"#);
        for number in 0..120 {
            file(at, &format!("{group}/a{number}/zarr.json"), array);
            file(at, &format!("{group}/a{number}/c/0"), [1, 2]);
        }
    }
    for command in [
        &["consolidate", "g"][..],
        &["rearrange", "g", "--axis", "t", "--order", "2:4,0:2"],
        &["append", "g", "h", "--axis", "t"],
        &["copy", "g", "c"],
        &["copy", "g", "c", "--overwrite"],
        &["copy", "g", "c.zip"],
        &["join", "g", "h", "--along", "t", "-o", "j"],
        &["join", "g", "h", "--along", "t", "--virtual", "-o", "v.zjoin"],
        &["copy", "v.zjoin", "d"],
        &["check", "--repair", "g", "--data"],
        &["diff", "j", "d"],
        &["rearrange", "j", "--axis", "t", "--remove", "0:2"],
        &["delete", "c", "--yes"],
    ] {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -n 48 && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_zarr-kit")]);
        let output = shell.args(command).current_dir(at).output().expect("runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {said}");
    }
    assert_eq!(fs::read(at.join("g/a119/c/1")).expect("moved"), [1, 2]);
}
