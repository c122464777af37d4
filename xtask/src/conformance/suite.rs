//! `cargo xtask suite [--page]`: runs the conformance suite of `fixtures/conformance` with today's
//! implementations and writes `docs/matrix.md`; before that, runs it by commands, and plants errors that it
//! must name.
//! `--page` only writes the page again, from the results of the last run.

use std::fs;
use std::process::Command;

use crate::conformance::fixtures::{PEERS, zarrs_writer};
use crate::run::{Outcome, cargo, commit, make_folder, root, step, write};
use crate::venv;

/// The exact versions of the packages for Python that are measured.
const REQUIREMENTS: &str = "xtask/suite/requirements.txt";
/// The folder with the exact versions of the packages for JavaScript.
const PACKAGES: &str = "xtask/suite";
/// The plug-ins for zarrs, which its own workspace has, and where they are built.
const OF_ZARRS_KIT: [&str; 4] =
    ["--manifest-path", "xtask/peers/zarrs-kit/Cargo.toml", "--target-dir", PEERS];

/// Builds or installs every implementation and runs `xtask/suite/matrix.py`.
pub(crate) fn suite(arguments: &[String]) -> Outcome {
    let page_only = match arguments {
        [] => false,
        [one] if one == "--page" => true,
        _ => return Err("usage: cargo xtask suite [--page]".to_owned()),
    };
    let python = venv::environment("suite", REQUIREMENTS)?;
    let (suite, work) = (root().join("fixtures/conformance"), root().join("target/suite"));
    make_folder(&work)?;
    let mut matrix = Command::new(&python);
    matrix.arg(root().join("xtask/suite/matrix.py")).arg(&suite).arg(&work);
    matrix.arg(root().join("docs/matrix.md")).env("PYTHONDONTWRITEBYTECODE", "1");
    if page_only {
        return step(matrix.arg("--page"));
    }
    for file in ["package.json", "package-lock.json"] {
        let from = root().join(PACKAGES).join(file);
        fs::copy(&from, work.join(file)).map_err(|error| format!("{}: {error}", from.display()))?;
    }
    step(Command::new("npm").args(["ci", "--silent", "--prefix"]).arg(&work))?;
    let zarrs = zarrs_writer()?;
    let kit = [&["build", "--quiet", "--locked", "--example", "suite"], &OF_ZARRS_KIT[..]].concat();
    cargo(&kit, &[])?;
    cargo(&["build", "--quiet", "--locked", "--package", "zarr-cli"], &[])?;
    for script in ["by_command.py", "planted.py"] {
        let script = root().join("xtask/suite").join(script);
        step(Command::new(&python).arg(script).arg(&suite).arg(&work))?;
    }
    write("target/suite/commit", &commit()?)?;
    matrix.arg(root().join("target/debug")).arg(zarrs);
    step(matrix.arg(root().join(PEERS).join("debug/examples/suite")))
}

/// `cargo xtask check --full`: zarrs with our crates as plug-ins, by its tests.
pub(crate) fn zarrs_kit() -> Outcome {
    let clippy = ["clippy", "--quiet", "--locked", "--all-targets"];
    cargo(&[&clippy, &OF_ZARRS_KIT[..], &["--", "-D", "warnings"]].concat(), &[])?;
    cargo(&[&["test", "--quiet", "--locked"], &OF_ZARRS_KIT[..]].concat(), &[])
}
