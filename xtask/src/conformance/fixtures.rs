//! `cargo xtask fixtures verify|regen`: the test data and its manifest.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::run::{Outcome, root, step};
use crate::venv;

/// Scripts that write fixtures, in the order in which they run; the manifest comes last.
const GENERATORS: &[&str] = &[
    "seattle.py",
    "zarr_python.py",
    "tensor_store.py",
    "reference_cases.py",
    "numcodecs_cases.py",
    "variable.py",
    "codec_cases.py",
    "zfp_cases.py",
    PROGRAMS,
    "invalid.py",
    "zipped.py",
    "version_2_by_3.py",
    VERSION_2,
    "referenced.py",
    "netcdf_years.py",
    "zjoin_cases.py",
    "suite.py",
    "manifest.py",
];

/// The script that runs with another zarr-python, and the packages that it needs.
const VERSION_2: &str = "version_2.py";
const OF_VERSION_2: &str = "xtask/fixtures/versions-version-2.txt";

/// The script that calls the programs of a field, which need many more packages.
const PROGRAMS: &str = "programs.py";

/// The plain reader and the reference writer, which the scripts import.
pub(crate) const PLAIN: &str = "fixtures/conformance/plain";

/// The program with which the scripts write through zarrs: a separate workspace.
const ZARRS_WRITER: &str = "xtask/peers/zarrs-writer";
/// Where programs with zarrs are built.
pub(crate) const PEERS: &str = "target/peers";

const MANIFEST: &str = "MANIFEST.json";

/// Compares the fixtures with their manifest, or regenerates them.
pub(crate) fn fixtures(arguments: &[String]) -> Outcome {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["verify"] => verify(&root().join("fixtures")),
        ["regen"] => {
            regenerate()?;
            verify(&root().join("fixtures"))
        }
        _ => Err("usage: cargo xtask fixtures verify|regen".to_owned()),
    }
}

/// Checks that every entry of the manifest has the right digest, and every file an entry.
fn verify(folder: &Path) -> Outcome {
    let text = String::from_utf8(read(&folder.join(MANIFEST))?)
        .map_err(|error| format!("{MANIFEST}: {error}"))?;
    let manifest: Value =
        serde_json::from_str(&text).map_err(|error| format!("{MANIFEST}: {error}"))?;
    let entries = manifest["fixtures"].as_array().ok_or(format!("{MANIFEST}: no `fixtures`"))?;

    let mut files: BTreeSet<String> = BTreeSet::new();
    list(folder, "", &mut files)?;
    files.remove(MANIFEST);

    let mut faults = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let field = |name: &str| {
            let value = entry[name].as_str().filter(|value| !value.is_empty());
            value.ok_or(format!("{MANIFEST}: entry {number} has no `{name}`"))
        };
        for name in ["origin", "licence", "generator"] {
            field(name)?;
        }
        let (path, expected) = (field("path")?, field("sha256")?);
        let found = match path.strip_suffix('/') {
            None => {
                files.remove(path).then(|| read(&folder.join(path))).transpose()?.map(|b| hex(&b))
            }
            Some(_) => tree(folder, path, &mut files)?,
        };
        match found {
            None => faults.push(format!("{path}: listed in {MANIFEST} and missing")),
            Some(found) if found != expected => {
                faults.push(format!("{path}: sha256 is {found}, {MANIFEST} says {expected}"));
            }
            Some(_) => {}
        }
    }
    faults.extend(files.iter().map(|path| format!("{path}: not listed in {MANIFEST}")));
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n  ")) }
}

/// The digest of a folder: that of the output of `sha256sum` for its files in order of their paths.
/// Removes them from `files`.
fn tree(
    folder: &Path,
    prefix: &str,
    files: &mut BTreeSet<String>,
) -> Result<Option<String>, String> {
    let members: Vec<String> =
        files.iter().filter(|path| path.starts_with(prefix)).cloned().collect();
    let mut lines = String::new();
    for path in &members {
        files.remove(path);
        let digest = hex(&read(&folder.join(path))?);
        let name = path.strip_prefix(prefix).unwrap_or(path);
        lines.push_str(&format!("{digest}  {name}\n"));
    }
    Ok((!members.is_empty()).then(|| hex(lines.as_bytes())))
}

/// Adds the files under `folder`, as paths with `/` relative to where the search began.
fn list(folder: &Path, prefix: &str, files: &mut BTreeSet<String>) -> Outcome {
    let at = |error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(at)? {
        let entry = entry.map_err(at)?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().map_err(at)?.is_dir() {
            list(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.insert(name);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Regenerates every fixture, in a separate environment under `target`. Each script gets the
/// folder of the fixtures and the path of the program that writes with zarrs.
fn regenerate() -> Outcome {
    let python = environment()?;
    let zarrs = build_zarrs_writer(&["--features", "zfp"])?;
    let older = venv::environment("fixtures-version-2", OF_VERSION_2)?;
    let scripts = root().join("xtask/fixtures");
    let programs = venv::environment("programs", "xtask/fixtures/versions-programs.txt")?;
    for script in GENERATORS {
        let python = match *script {
            PROGRAMS => &programs,
            VERSION_2 => &older,
            _ => &python,
        };
        step(
            Command::new(python)
                .arg(scripts.join(script))
                .arg(root().join("fixtures"))
                .arg(&zarrs)
                .env("PYTHONPATH", root().join(PLAIN))
                .env("PYTHONDONTWRITEBYTECODE", "1"),
        )?;
    }
    Ok(())
}

/// The program that writes and reads with zarrs, built.
pub(crate) fn zarrs_writer() -> Result<PathBuf, String> {
    build_zarrs_writer(&[])
}

fn build_zarrs_writer(features: &[&str]) -> Result<PathBuf, String> {
    let built = root().join(PEERS);
    step(
        Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--locked", "--target-dir"])
            .arg(&built)
            .args(features)
            .arg("--manifest-path")
            .arg(root().join(ZARRS_WRITER).join("Cargo.toml")),
    )?;
    Ok(built.join("debug/zarrs-writer"))
}

/// The Python that writes and reads with the other programs.
pub(crate) fn environment() -> Result<PathBuf, String> {
    venv::environment("fixtures", "xtask/fixtures/versions.txt")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{hex, verify};
    use crate::run::root;

    #[test]
    fn committed_fixtures_match_their_manifest() {
        assert_eq!(verify(&root().join("fixtures")), Ok(()));
    }

    #[test]
    fn every_difference_is_reported() {
        let folder = std::env::temp_dir().join(format!("fixtures-verify-{}", std::process::id()));
        fs::create_dir_all(folder.join("tree/deep")).unwrap();
        for (path, text) in [("same", "1"), ("changed", "3"), ("tree/deep/b", "b"), ("new", "n")] {
            fs::write(folder.join(path), text).unwrap();
        }
        let entry = |path: &str, sha256: &str| {
            serde_json::json!({
                "path": path, "sha256": sha256, "origin": "o", "licence": "l", "generator": "g",
            })
        };
        let tree = hex(format!("{}  deep/b\n", hex(b"b")).as_bytes());
        let manifest = serde_json::json!({"fixtures": [
            entry("same", &hex(b"1")), entry("changed", &hex(b"2")), entry("tree/", &tree),
            entry("gone", &hex(b"4")), entry("also-gone/", &hex(b"5")),
        ]});
        fs::write(folder.join("MANIFEST.json"), manifest.to_string()).unwrap();
        let faults = verify(&folder).unwrap_err();
        fs::remove_dir_all(&folder).unwrap();
        let mut lines = faults.lines().map(str::trim);
        assert!(lines.next().unwrap().starts_with("changed: sha256 is "));
        assert_eq!(lines.next(), Some("gone: listed in MANIFEST.json and missing"));
        assert_eq!(lines.next(), Some("also-gone/: listed in MANIFEST.json and missing"));
        assert_eq!(lines.next(), Some("new: not listed in MANIFEST.json"));
        assert_eq!(lines.next(), None);
    }
}
