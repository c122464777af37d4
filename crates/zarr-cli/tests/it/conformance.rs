//! The contract of the public conformance tests, and the virtual joins of our own suite.

use std::fs;
use std::process::Command;

use crate::support::{root, run, text};
use crate::writers::unpack;

#[test]
fn elements_one_a_line() {
    let run = |path: &str| {
        Command::new(env!("CARGO_BIN_EXE_zarr-kit-conformance"))
            .args(["--array_path", path])
            .current_dir(root())
            .output()
            .expect("runs")
    };
    for array in ["daily", "rain", "temp_range_12bit"] {
        let path = format!("fixtures/seattle-weather.zarr/{array}");
        let found = run(&path);
        assert!(found.status.success());
        let lines = text(&root(), &["read", &path, "--format", "lines"]);
        assert_eq!(String::from_utf8(found.stdout).expect("UTF-8"), lines);
    }
    let missing = run("fixtures");
    assert_eq!(missing.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&missing.stderr).lines().count(), 1);
}

#[test]
fn virtual_joins_of_the_suite() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let cases = unpack("zjoin", folder);
    assert!(cases.len() > 40);
    for case in cases {
        let member = |name: &str| case[name].as_str();
        let path = [member("path"), member("node")].map(Option::unwrap_or_default).join("/");
        let found = run(folder, &["read", path.trim_end_matches('/'), "--format", "raw"]);
        let said = String::from_utf8_lossy(&found.stderr);
        match member("expected") {
            None => assert!(found.status.code().is_some_and(|code| code != 0), "{path}: {said}"),
            Some(raw) => {
                let expected = fs::read(folder.join(raw)).expect("expected elements");
                assert!(found.stdout == expected, "{path}: {said}");
            }
        }
    }
}
