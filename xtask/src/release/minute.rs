//! The table of the first minute for `cargo xtask sizes`: how long a person waits who has cloned the
//! repository, and one who changes it.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use crate::run::{read, root};
use crate::venv;

/// Where the measured commands compile.
pub(crate) const FOLDER: &str = "target/sizes";

/// What the crates compile to for tests, one alone.
const ALONE: [&str; 3] = ["zarr-grid", "zarr-view", "zarr-codec"];

/// Runs all commands, and gives the table.
pub(crate) fn table() -> Result<String, String> {
    let mut table =
        String::from("| with nothing compiled | processor, s | clock, s |\n| --- | --: | --: |\n");
    let mut row = |what: &str, script: &str| {
        let [clock, processor] = timed(script)?;
        let _ = writeln!(table, "| {what} | {processor:.0} | {clock:.0} |");
        Ok::<_, String>(())
    };
    clean()?;
    row("the first command of the README", &line("cargo run ")?)?;
    clean()?;
    row("the tests, by the command of the README", &line("cargo test ")?)?;
    for name in ALONE {
        clean()?;
        row(&format!("the tests of `{name}`"), &format!("cargo test --locked -p {name}"))?;
    }
    // After its tests, which are the last.
    let change = "touch crates/zarr-codec/src/lib.rs && cargo test --locked -p zarr-codec";
    row("the same after a change of one line", change)?;
    clean()?;
    let python = venv::package()?;
    let install = format!(
        "{} -m pip install --no-deps --force-reinstall ./crates/zarr-python",
        python.display()
    );
    row("`pip install ./crates/zarr-python`", &install)?;
    Ok(table)
}

/// The line of the README that begins with this.
pub(crate) fn line(start: &str) -> Result<String, String> {
    let readme = read("README.md")?;
    let line = readme.lines().find(|line| line.starts_with(start));
    Ok(line.ok_or_else(|| format!("README.md has no line that begins with {start}"))?.to_owned())
}

pub(crate) fn clean() -> Result<(), String> {
    let folder = root().join(FOLDER);
    match folder.exists() {
        true => {
            fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
        }
        false => Ok(()),
    }
}

/// Seconds of a script on the clock, and of all processors together.
pub(crate) fn timed(script: &str) -> Result<[f64; 2], String> {
    eprintln!("── {script}");
    let found = Command::new("bash")
        .args(["-c", &format!("TIMEFORMAT='%R %U %S'; time {{ {script}; }}")])
        .env("CARGO_TARGET_DIR", root().join(FOLDER))
        .current_dir(root())
        .output()
        .map_err(|error| format!("could not start bash: {error}"))?;
    let text = String::from_utf8_lossy(&found.stderr);
    if !found.status.success() {
        return Err(format!("{script}: {text}"));
    }
    let last = text.lines().last().unwrap_or_default();
    let times: Vec<f64> = last.split(' ').filter_map(|time| time.parse().ok()).collect();
    match times[..] {
        [clock, user, system] => Ok([clock, user + system]),
        _ => Err(format!("{script}: no times in {last:?}")),
    }
}
