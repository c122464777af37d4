//! `copy` that is killed or interrupted.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use zarr_store_tests::folder_in_memory;

use crate::copy::files;
use crate::support::{command, run, run_with, stdout, succeed};

#[test]
fn a_killed_copy_is_resumed_to_the_same_bytes() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = ["create", "a", "--shape", "1024,512", "--dtype", "int32", "--chunks", "64,512"];
    succeed(folder, &create);
    let elements: Vec<u8> = (0..1024_u32 * 512).flat_map(u32::to_le_bytes).collect();
    assert!(run_with(folder, &["write", "a", "--from", "-"], &elements).status.success());
    fn copy(target: &str) -> [&str; 9] {
        const CODECS: &str = r#"[{"name": "packbits", "configuration": {"last_bit": 23}}]"#;
        ["copy", "a", target, "--chunks", "32,32", "--memory", "800KiB", "--codecs", CODECS]
    }
    succeed(folder, &copy("undisturbed"));
    let expected = files(&folder.join("undisturbed"));
    // Killed at different times, possibly before it began or after it ended.
    for wait in [5, 20, 60, 150] {
        let target = format!("killed-{wait}");
        let mut child = Command::new(env!("CARGO_BIN_EXE_zarr-kit"))
            .args(copy(&target))
            .current_dir(folder)
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().expect("is killed, or has ended");
        child.wait().expect("ends");
        // The unfinished result of the killed copy, if there is a folder.
        let cut = folder.join(&target).join("c/0/.zarr-kit-tmp.1.2.3.0");
        let marker = folder.join(&target).join("zarr-kit-copy.json");
        if marker.exists() && cut.parent().is_some_and(Path::exists) {
            fs::write(cut, "cut").expect("writes");
        }
        let document = folder.join(&target).join("zarr.json").exists();
        if marker.exists() && !document {
            let output = run(folder, &["read", &target]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{wait}: {said}");
            assert!(said.contains("an unfinished copy of ") && output.stdout.is_empty(), "{said}");
        }
        let finished = document && !marker.exists();
        let resume = [&copy(&target)[..], &["--resume"]].concat();
        let output = run(folder, &resume);
        assert_eq!(output.status.success(), !finished, "{wait}: {output:?}");
        // All files are equal: nothing is left of the killed copy.
        let found = files(&folder.join(&target));
        assert!(found == expected, "{wait}: {:?}", found.keys());
    }
}

/// Ctrl-C in a terminal, a termination request, and a closed terminal.
#[cfg(unix)]
#[test]
fn an_interrupted_copy_says_how_to_go_on() {
    let folder = folder_in_memory();
    let folder = folder.path();
    let elements = many(folder);
    // The signal decides the status, and the option the advice.
    let verify = ("--verify", "repeat the command with --resume to continue the copy");
    let overwrite =
        ("--overwrite", "repeat the command with --resume instead of --overwrite to continue");
    for (signal, status, (option, advice)) in
        [("INT", 130, verify), ("TERM", 143, overwrite), ("HUP", 129, verify)]
    {
        let target = format!("to{option}{signal}");
        // The tests may run where signals are ignored, which children inherit.
        let defaults: &[&str] =
            if cfg!(target_os = "linux") { &["env", "--default-signal"] } else { &[] };
        let child = begin_copy(folder, &target, &[option], defaults);
        send(signal, &child);
        let output = child.wait_with_output().expect("ends");
        let message = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(status), "{message}");
        assert!(message.starts_with(&format!("interrupted; {advice}")), "{message}");
        succeed(folder, &["copy", "a", &target, "--chunks", "1", "--resume"]);
        assert!(stdout(folder, &["read", &target, "-f", "raw"]) == elements);
        // All files are equal: temporary ones are gone.
        let found = files(&folder.join(&target));
        assert_eq!(found.len(), elements.len() + 1, "{:?}", found.keys());
    }
}

/// A command under `nohup` continues when its terminal is closed.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_stays_so() {
    let folder = folder_in_memory();
    let folder = folder.path();
    let elements = many(folder);
    let child = begin_copy(folder, "to", &[], &["nohup"]);
    send("HUP", &child);
    assert!(child.wait_with_output().expect("ends").status.success());
    assert!(stdout(folder, &["read", "to", "-f", "raw"]) == elements);
}

/// Makes `a`, whose copy to one file per element takes long enough to be interrupted.
#[cfg(unix)]
fn many(folder: &Path) -> Vec<u8> {
    succeed(folder, &["create", "a", "--shape", "5000", "--dtype", "uint8"]);
    let elements = vec![7; 5_000];
    assert!(run_with(folder, &["write", "a", "--from", "-"], &elements).status.success());
    elements
}

/// Begins to copy `a` to one file per element.
#[cfg(unix)]
fn begin_copy(folder: &Path, target: &str, options: &[&str], before: &[&str]) -> Child {
    let arguments = [&["copy", "a", target, "--chunks", "1"], options].concat();
    let mut command = match before {
        [] => command(folder, &arguments),
        [program, others @ ..] => {
            let mut command = Command::new(program);
            command.args(others).arg(env!("CARGO_BIN_EXE_zarr-kit")).args(&arguments);
            command.current_dir(folder).stdout(Stdio::null());
            command
        }
    };
    let mut child = command.stderr(Stdio::piped()).spawn().expect("starts");
    while !folder.join(target).join("c").exists() {
        assert!(child.try_wait().expect("runs").is_none(), "ended before it was interrupted");
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

#[cfg(unix)]
fn send(signal: &str, child: &Child) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-s", signal, &id]).status();
    assert!(sent.expect("sends").success());
}
