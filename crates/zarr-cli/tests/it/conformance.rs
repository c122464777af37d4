//! The contract of the public conformance tests.

use std::process::Command;

use crate::support::{root, text};

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
