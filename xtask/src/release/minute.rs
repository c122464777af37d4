//! The table of the first minute for `cargo xtask sizes`: how long a person waits who has cloned the
//! repository, and one who changes it.

use std::process::Command;
use std::{env, fs};

use crate::run::{read, root};
use crate::venv;

/// Where the measured commands compile.
pub(crate) const FOLDER: &str = "target/sizes";

/// A command that a person waits for.
pub(crate) struct Row {
    /// What `--row` calls it.
    pub(crate) name: &'static str,
    what: &'static str,
    /// Seconds on the clock that two cores without other work may take; none of another project.
    goal: Option<u32>,
    /// What has run before, beginning with nothing; nothing is compiled if there is none.
    before: Option<&'static str>,
    script: fn() -> Result<String, String>,
}

const fn row(
    name: &'static str,
    what: &'static str,
    goal: u32,
    script: fn() -> Result<String, String>,
) -> Row {
    Row { name, what, goal: Some(goal), before: None, script }
}

pub(crate) const ROWS: &[Row] = &[
    row("first-command", "the first command of the README", 75, || line("cargo run ")),
    row("tests", "the tests, by the command of the README", 300, || line("cargo test ")),
    row("grid", "the tests of `zarr-grid`", 30, || tests_of("zarr-grid")),
    row("view", "the tests of `zarr-view`", 30, || tests_of("zarr-view")),
    Row {
        name: "change",
        what: "the tests of `zarr-codec`, compiled before, after a change of one line in it",
        goal: Some(20),
        before: Some("cargo test --locked -p zarr-codec --all-features"),
        script: || {
            // Changed back whatever the tests say.
            const FILE: &str = "crates/zarr-codec/src/lib.rs";
            Ok(format!(
                "cp {FILE} $CARGO_TARGET_DIR/lib.rs; echo 'const _: () = ();' >> {FILE}; \
                 cargo test --locked -p zarr-codec --all-features; status=$?; \
                 cp $CARGO_TARGET_DIR/lib.rs {FILE}; (exit $status)"
            ))
        },
    },
    row("pip", "`pip install ./crates/zarr-python`", 150, || {
        let python = venv::package()?;
        let install = "-m pip install --no-deps --force-reinstall ./crates/zarr-python";
        Ok(format!("{} {install}", python.display()))
    }),
    Row {
        name: "zarrs-tests",
        what: "the tests of zarrs 0.23.14, in its repository",
        goal: None,
        before: None,
        script: || {
            let folder = env::var(ZARRS).map_err(|_| {
                format!("{ZARRS} must name a clone of zarrs at the tag zarrs-v0.23.14")
            })?;
            Ok(format!("cd '{folder}'; cargo test"))
        },
    },
];

/// The variable with the folder of the repository of zarrs.
const ZARRS: &str = "ZARRS_REPOSITORY";

fn tests_of(name: &str) -> Result<String, String> {
    Ok(format!("cargo test --locked -p {name}"))
}

impl Row {
    /// Runs the command, and gives its line of the table.
    pub(crate) fn measure(&self) -> Result<String, String> {
        // Read before everything that is compiled is removed.
        let script = (self.script)()?;
        clean()?;
        if let Some(before) = self.before {
            timed(before)?;
        }
        let [clock, processor] = timed(&script)?;
        let what = self.what;
        let goal = self.goal.map_or_else(String::new, |goal| goal.to_string());
        Ok(format!("| {what} | {processor:.0} | {clock:.0} | {goal} |\n"))
    }
}

/// Runs all commands, and gives the table.
pub(crate) fn table() -> Result<String, String> {
    let mut table = String::from(
        "| with nothing compiled | processor, s | clock, s | goal on two idle cores, s |\n\
         | --- | --: | --: | --: |\n",
    );
    for row in ROWS {
        table += &row.measure()?;
    }
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
