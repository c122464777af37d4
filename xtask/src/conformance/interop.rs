//! `cargo xtask interop [--count N] [--seed S]`: exchanges arrays between the command line and other
//! programs, in the environment that also makes the fixtures; the result is `docs/interop.md`.

use std::process::Command;

use crate::conformance::fixtures::{PLAIN, environment, zarrs_writer};
use crate::run::{Outcome, cargo, commit, root, step};

/// Builds both sides and runs `xtask/interop/interop.py`.
pub(crate) fn interop(arguments: &[String]) -> Outcome {
    let python = environment()?;
    let zarrs = zarrs_writer()?;
    cargo(&["build", "--quiet", "--locked", "--package", "zarr-cli"], &[])?;
    let target = root().join("target");
    // What the scripts import of the conformance suite and of the scripts that write fixtures.
    let folders = [root().join(PLAIN), root().join("xtask/fixtures")];
    let folders = std::env::join_paths(folders).map_err(|error| error.to_string())?;
    step(
        Command::new(python)
            .arg(root().join("xtask/interop/interop.py"))
            .arg(root().join("fixtures"))
            .arg(target.join("debug/zarr-kit"))
            .arg(zarrs)
            .arg(target.join("interop"))
            .arg(root().join("docs/interop.md"))
            .arg(commit()?)
            .args(arguments)
            .env("PYTHONPATH", folders)
            .env("PYTHONDONTWRITEBYTECODE", "1"),
    )
}
