//! Sessions of several processes, and of killed ones.

use std::env;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use zarr_store::StoreExt as _;
use zarr_store_tests::child::{self, say, wait_for};
use zarr_store_tests::key;

use super::{add, beside, keys, session};
use crate::zip::temporary;

/// Before the session, before each of two puts, before the commit, and after it.
const STEPS: [&str; 5] = ["step-0", "step-1", "step-2", "step-3", "step-4"];

/// So many objects that the archive's directory, which a commit writes, is half of the archive.
fn many() -> impl Iterator<Item = String> {
    (0..40).map(|n| format!("{n}/{}", "n".repeat(200)))
}

const CHILD: &str = "sessions::processes::child";

/// Does one job of those below, in a process of its own.
#[test]
#[ignore = "run by other tests"]
fn child() {
    let Some(job) = child::job() else { return };
    match job.split(' ').collect::<Vec<_>>()[..] {
        ["add", path, name, rounds] => {
            for round in 0..rounds.parse().unwrap() {
                add(Path::new(path), &[&format!("{name}/{round}/x"), &format!("{name}/{round}/y")]);
            }
        }
        // Tells of each step, and waits until it is allowed to take the next one.
        ["step", path] => {
            let step = |name: &str| {
                say(name);
                std::io::stdin().read_line(&mut String::new()).unwrap();
            };
            step(STEPS[0]);
            let session = session(Path::new(path));
            step(STEPS[1]);
            session.store().put(&key("new/x"), b"1").unwrap();
            step(STEPS[2]);
            session.store().put(&key("new/y"), b"1").unwrap();
            step(STEPS[3]);
            session.commit().unwrap();
            step(STEPS[4]);
        }
        ["many", path] => {
            let names: Vec<String> = many().collect();
            add(Path::new(path), &names.iter().map(String::as_str).collect::<Vec<_>>());
        }
        _ => panic!("no such job: {job}"),
    }
}

#[test]
fn processes_take_turns() {
    let (folder, path) = temporary();
    let shown = path.to_str().unwrap();
    let children: Vec<_> =
        (0..4).map(|n| child::start(CHILD, &format!("add {shown} {n} 10"))).collect();
    for (mut child, mut output) in children {
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        assert!(child.wait().unwrap().success(), "{text}");
    }
    assert_eq!(keys(&path).len(), 4 * 10 * 2);
    assert_eq!(beside(&folder), ["x.zip"]);
}

/// Killed at any step, the old archive is there or the new one; the next session removes what is left.
#[test]
fn a_writer_may_be_killed_at_any_step() {
    for (at, stop) in STEPS.into_iter().enumerate() {
        let (folder, path) = temporary();
        add(&path, &["old"]);
        let (mut child, mut output) = child::start(CHILD, &format!("step {}", path.display()));
        for step in STEPS {
            wait_for(&mut output, step);
            if step == stop {
                break;
            }
            child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let new = ["new/x", "new/y"].into_iter().filter(|_| at == 4);
        let expected: Vec<&str> = new.chain(["old"]).collect();
        assert_eq!(keys(&path), expected, "{stop}");
        assert_eq!(beside(&folder).len(), [1, 2, 3, 3, 1][at], "{stop}");
        add(&path, &["z"]);
        assert_eq!(keys(&path).len(), expected.len() + 1);
        assert_eq!(beside(&folder), ["x.zip"], "{stop}");
    }
}

/// Killed at any write of its objects or of its commit, the old archive is there; the next session removes
/// what is left. What kills is a limit of the size of files, which is 512 bytes higher each time.
#[test]
fn a_writer_may_be_killed_at_any_write() {
    let mut kills = 0;
    loop {
        let (folder, path) = temporary();
        add(&path, &["old"]);
        let old = fs::read(&path).unwrap();
        let mut limited = Command::new("sh");
        let script = format!("ulimit -f {kills}; exec \"$0\" \"$@\"");
        limited.args(["-c", &script]);
        limited.arg(env::current_exe().unwrap());
        let (mut child, mut output) =
            child::start_as(&mut limited, CHILD, &format!("many {}", path.display()));
        output.read_to_end(&mut Vec::new()).unwrap();
        let status = child.wait().unwrap();
        if status.success() {
            assert_eq!(keys(&path).len(), 1 + many().count());
            break;
        }
        // SIGXFSZ, on Linux and macOS.
        assert_eq!(status.signal(), Some(25));
        kills += 1;
        assert_eq!(fs::read(&path).unwrap(), old);
        assert!(beside(&folder).len() > 1);
        add(&path, &["z"]);
        assert_eq!(keys(&path), ["old", "z"]);
        assert_eq!(beside(&folder), ["x.zip"]);
    }
    // More than half of them while the directory is written.
    let objects = many().map(|name| 31 + name.len()).sum::<usize>() / 512;
    assert!(kills > objects + objects / 2, "{kills}, {objects}");
}
