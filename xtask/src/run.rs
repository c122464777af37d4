//! Running other programs from the root of the repository.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

/// The result of a task: success, or a message for the caller.
pub(crate) type Outcome = Result<(), String>;

/// The library crates, from the bottom to the top.
pub(crate) const LIBRARIES: &[&str] = &[
    "zarr-view",
    "zarr-packbits",
    "zarr-grid",
    "zarr-metadata",
    "zarr-cf",
    "zarr-codec",
    "zarr-store",
    "zarr-references",
    "zarr-zip",
    "zarr-journal",
    "zarr-array",
    "zarr-copy",
    "zarr-join",
    "zarr-check",
    "zarr-virtual-join",
    "zarr-place",
    "zarr-report",
    "zarr-kit",
];

/// All crates, from the bottom to the top: the command line and the native part of the Python
/// package have no API.
pub(crate) fn crates() -> impl Iterator<Item = &'static str> {
    LIBRARIES.iter().copied().chain(["zarr-cli", "zarr-python"])
}

/// The root of the repository: the folder that holds `xtask`.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// Cargo's target folder.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The text of a file, by its path from the root.
pub(crate) fn read(path: impl AsRef<Path>) -> Result<String, String> {
    let path = path.as_ref();
    fs::read_to_string(root().join(path)).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file, by its path from the root or its whole path.
pub(crate) fn write(path: impl AsRef<Path>, text: &str) -> Outcome {
    let path = path.as_ref();
    fs::write(root().join(path), text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Makes a folder and those above it.
pub(crate) fn make_folder(path: impl AsRef<Path>) -> Outcome {
    let path = path.as_ref();
    fs::create_dir_all(root().join(path)).map_err(|error| format!("{}: {error}", path.display()))
}

/// Removes a folder with what is in it, if it is there.
pub(crate) fn remove_folder(path: impl AsRef<Path>) -> Outcome {
    let path = path.as_ref();
    match fs::remove_dir_all(root().join(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", path.display()))
        }
        _ => Ok(()),
    }
}

/// The files that git tracks, relative to the root.
pub(crate) fn tracked() -> Result<Vec<String>, String> {
    let list = output(Command::new("git").arg("ls-files"))?;
    Ok(list.lines().map(str::to_owned).collect())
}

/// Runs `cargo` with `arguments` and the given environment variables, and reports failure.
pub(crate) fn cargo(arguments: &[&str], environment: &[(&str, &str)]) -> Outcome {
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    step(Command::new(program).args(arguments).envs(environment.iter().copied()))
}

/// Runs one command from the root; prints its command line before it and its duration after it.
pub(crate) fn step(command: &mut Command) -> Outcome {
    let line = command_line(command);
    eprintln!("── {line}");
    let start = Instant::now();
    let status = command
        .current_dir(root())
        .status()
        .map_err(|error| format!("could not start `{line}`: {error}"))?;
    if !status.success() {
        return Err(format!("`{line}` failed ({status})"));
    }
    eprintln!("   {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Runs one command from the root and returns its output, or its error output on failure.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let line = command_line(command);
    let found = command
        .current_dir(root())
        .output()
        .map_err(|error| format!("could not start `{line}`: {error}"))?;
    match found.status.success() {
        true => Ok(String::from_utf8_lossy(&found.stdout).into_owned()),
        false => Err(format!("`{line}`: {}", String::from_utf8_lossy(&found.stderr))),
    }
}

/// What `cargo metadata` says of the workspace with all features.
pub(crate) fn metadata() -> Result<Value, String> {
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let arguments = ["metadata", "--format-version", "1", "--locked", "--all-features"];
    let json = output(Command::new(program).args(arguments))?;
    serde_json::from_str(&json).map_err(|error| error.to_string())
}

/// The commit that a page of results names.
pub(crate) fn commit() -> Result<String, String> {
    let line = output(Command::new("git").args(["rev-parse", "--short=7", "HEAD"]))?;
    Ok(line.trim().to_owned())
}

/// The number of cores, and the processor's name.
pub(crate) fn processor() -> (usize, String) {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name"));
    let name = name.and_then(|rest| rest.split_once(": "));
    (cores, name.map_or("an unknown processor", |(_, name)| name).trim().to_owned())
}

fn command_line(command: &Command) -> String {
    let name = Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program())
        .to_string_lossy()
        .into_owned();
    command.get_args().fold(name, |line, argument| line + " " + &argument.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::{crates, root};

    #[test]
    fn every_crate_is_listed() {
        let mut listed: Vec<_> = crates().map(str::to_owned).collect();
        listed.sort();
        let folders = std::fs::read_dir(root().join("crates")).unwrap();
        let mut found: Vec<_> =
            folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        found.sort();
        assert_eq!(listed, found);
    }
}
