//! Commands that a signal ends say what was done.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use zarr_store_tests::folder_in_memory;

use crate::support::{run_with, stdout, succeed};

const SIGINT: u64 = 2;

/// Starts a command that takes SIGINT, also if the tests run where it is ignored, and waits until it
/// handles signals.
fn begin(folder: &Path, arguments: &[&str]) -> Child {
    let mut child = Command::new("env")
        .arg("--default-signal")
        .arg(env!("CARGO_BIN_EXE_zarr-kit"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let status = format!("/proc/{}/status", child.id());
    loop {
        let status = fs::read_to_string(&status).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        if caught.is_some_and(|mask| mask & 1 << (SIGINT - 1) != 0) {
            return child;
        }
        assert!(child.try_wait().expect("runs").is_none(), "ended before it was interrupted");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Interrupts the command, and returns its message.
fn interrupted(mut child: Child) -> String {
    // Open until the command has ended.
    let stdin = child.stdin.take();
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &id]).status().expect("sends").success());
    let output = child.wait_with_output().expect("ends");
    drop(stdin);
    let message = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(130), "{message}");
    message.strip_suffix('\n').expect("a line").to_owned()
}

#[test]
fn writes_and_appends_that_wait_for_input_change_nothing() {
    let folder = folder_in_memory();
    let folder = folder.path();
    for (archive, command, expected) in [
        ("a.zarr", &["write"][..], "interrupted; nothing was written"),
        ("a.zip", &["write"], "interrupted; nothing was written"),
        (
            "b.zarr",
            &["append", "--format", "raw"],
            "interrupted; nothing was appended, unless `zarr-kit info` shows the new length",
        ),
    ] {
        succeed(folder, &["create", archive, "--shape", "3000000", "--dtype", "uint8"]);
        let arguments = [&command[..1], &[archive, "--from", "-"], &command[1..]].concat();
        let mut child = begin(folder, &arguments);
        // More than a pipe holds: the command has begun to read.
        let input = child.stdin.as_mut().expect("a pipe");
        input.write_all(&vec![7; 1 << 20]).expect("is read");
        assert_eq!(interrupted(child), expected, "{archive}");
        let elements = stdout(folder, &["read", archive, "-f", "raw"]);
        assert!(elements == vec![0; 3_000_000], "{archive}");
        fs::remove_file(folder.join(archive))
            .or_else(|_| fs::remove_dir_all(folder.join(archive)))
            .expect("removes");
    }
}

#[test]
fn a_write_that_began_says_how_much_is_written() {
    let folder = folder_in_memory();
    let folder = folder.path();
    let create = ["create", "a", "--shape", "5000", "--chunks", "1", "--dtype", "uint8"];
    succeed(folder, &create);
    fs::write(folder.join("new.raw"), vec![7; 5000]).expect("writes");
    let mut child = begin(folder, &["write", "a", "--from", "new.raw"]);
    while !folder.join("a/c").exists() {
        assert!(child.try_wait().expect("runs").is_none(), "ended before it was interrupted");
        std::thread::sleep(Duration::from_millis(1));
    }
    let message = interrupted(child);
    let rest = " were written, and each chunk has its old or its new elements: run the command again \
                to write all";
    assert!(message.ends_with(rest) && message.starts_with("interrupted; "), "{message}");
    let elements = stdout(folder, &["read", "a", "-f", "raw"]);
    assert!(elements.iter().all(|element| [0, 7].contains(element)));
}

#[test]
fn reads_and_statistics_say_what_is_missing() {
    let folder = folder_in_memory();
    let folder = folder.path();
    let create = ["create", "a", "--shape", "20000000", "--chunks", "1000000", "--dtype", "uint8"];
    succeed(folder, &create);
    let random: Vec<u8> =
        (0..20_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    assert!(run_with(folder, &["write", "a", "--from", "-"], &random).status.success());

    // Nobody reads the pipe, so it cannot end.
    let message = interrupted(begin(folder, &["read", "a", "-f", "lines"]));
    assert!(message.starts_with("interrupted; "), "{message}");
    assert!(message.ends_with("the output is not complete"), "{message}");

    fs::write(folder.join("old.txt"), "old").expect("writes");
    let message = interrupted(begin(folder, &["read", "a", "-f", "lines", "-o", "old.txt"]));
    assert!(message.ends_with("old.txt is as it was"), "{message}");
    assert_eq!(fs::read(folder.join("old.txt")).expect("reads"), b"old");

    let message = interrupted(begin(folder, &["stats", "a"]));
    assert!(message.starts_with("interrupted; "), "{message}");
    assert!(message.ends_with(" of the elements were read; --part divides the work"), "{message}");
}
