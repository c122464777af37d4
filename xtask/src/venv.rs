//! Virtual environments of Python with pinned packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::run::{read, root, step, write};

/// Releases that the requirements are pinned for.
const PYTHONS: &[&str] = &["python3.12", "python3.13"];

/// The exact versions of the packages that build and test the Python package.
const PACKAGE: &str = "crates/zarr-python/tests/requirements.txt";

/// The Python of the environment in which the Python package is built and tested.
pub(crate) fn package() -> Result<PathBuf, String> {
    environment("package", PACKAGE)
}

/// The Python of an environment with exactly the packages of a file of requirements. Its name
/// contains that file's digest, so a changed requirement makes a new one.
pub(crate) fn environment(name: &str, requirements: &str) -> Result<PathBuf, String> {
    let digest = Sha256::digest(read(requirements)?.as_bytes());
    let digest: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let folder = root().join("target").join(format!("{name}-python-{digest}"));
    let python = folder.join("bin/python");
    let ready = folder.join("ready");
    if !ready.is_file() {
        step(Command::new(interpreter()?).args(["-m", "venv", "--clear"]).arg(&folder))?;
        step(
            Command::new(&python)
                .args(["-m", "pip", "install", "--quiet", "--no-deps", "--requirement"])
                .arg(root().join(requirements)),
        )?;
        write(&ready, "")?;
    }
    Ok(python)
}

/// A release that the requirements are pinned for, on the path or among pyenv's.
fn interpreter() -> Result<PathBuf, String> {
    let runs = |program: &Path| {
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    let mut candidates: Vec<PathBuf> = PYTHONS.iter().map(PathBuf::from).collect();
    if let Ok(output) = Command::new("pyenv").arg("root").output() {
        let versions = Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("versions");
        for name in PYTHONS {
            let release = name.trim_start_matches("python");
            let mut installed: Vec<PathBuf> = fs::read_dir(&versions)
                .into_iter()
                .flatten()
                .flatten()
                .filter(|entry| entry.file_name().to_string_lossy().starts_with(release))
                .map(|entry| entry.path().join("bin/python3"))
                .collect();
            installed.sort();
            candidates.extend(installed);
        }
    }
    candidates
        .into_iter()
        .find(|candidate| runs(candidate))
        .ok_or_else(|| format!("none of {} was found", PYTHONS.join(", ")))
}
