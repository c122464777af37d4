//! `cargo xtask check`: everything that must hold before a change lands.

use std::fs;

use crate::run::{Outcome, cargo, root};
use crate::{api, book, conformance, fixtures, s3, tidy};

/// Runs every check, or with `--quick` those that need no second build.
pub(crate) fn check(arguments: &[String]) -> Outcome {
    let quick = match arguments {
        [] => false,
        [flag] if flag == "--quick" => true,
        _ => return Err("usage: cargo xtask check [--quick]".to_owned()),
    };
    cargo(&["fmt", "--all", "--check"], &[])?;
    tidy::tidy(&[])?;
    fixtures::fixtures(&["verify".to_owned()])?;
    conformance::conformance(&["--check".to_owned()])?;
    cargo(
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--all-features",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
        &[],
    )?;
    cargo(&["test", "--workspace", "--all-features", "--locked", "--quiet"], &[])?;
    cargo(
        &["doc", "--workspace", "--all-features", "--no-deps", "--locked", "--quiet"],
        &[("RUSTDOCFLAGS", "-D warnings")],
    )?;
    if quick {
        return Ok(());
    }
    api::api(&["--check".to_owned()])?;
    s3::s3_test(&["--quick".to_owned()])?;
    // Overflow that debug assertions catch must not turn into a wrong answer without them.
    cargo(
        &[
            "test",
            "--workspace",
            "--profile",
            "test-release",
            "--locked",
            "--quiet",
            "--lib",
            "--tests",
        ],
        &[],
    )?;
    selective_dependencies()?;
    book::book(&[])?;
    no_std()
}

/// Each crate on its own, with every set of its features of one, none and all: a user takes one
/// crate, and the workspace's unified features must not be what makes it build.
fn selective_dependencies() -> Outcome {
    let mut names: Vec<String> = Vec::new();
    let crates = root().join("crates");
    let entries =
        fs::read_dir(&crates).map_err(|error| format!("{}: {error}", crates.display()))?;
    for entry in entries {
        let entry = entry.map_err(|error| error.to_string())?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    for name in &names {
        let manifest = crates.join(name).join("Cargo.toml");
        let text = fs::read_to_string(&manifest)
            .map_err(|error| format!("{}: {error}", manifest.display()))?;
        let clippy = |features: &[&str]| {
            let head = ["clippy", "--quiet", "--locked", "-p", name];
            let tail = ["--", "-D", "warnings"];
            cargo(&[&head, features, &tail].concat(), &[])
        };
        clippy(&[])?;
        let features = feature_names(&text);
        if features.is_empty() {
            continue;
        }
        clippy(&["--all-features"])?;
        clippy(&["--no-default-features"])?;
        for feature in features {
            clippy(&["--no-default-features", "--features", &feature])?;
        }
    }
    Ok(())
}

/// The names in a manifest's `[features]` table, `default` aside.
fn feature_names(manifest: &str) -> Vec<String> {
    manifest
        .lines()
        .skip_while(|line| line.trim() != "[features]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with([' ', '#', ']']))
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name.trim().to_owned())
        .filter(|name| name != "default")
        .collect()
}

/// A static library without `std` takes in the three bottom crates: were one of them to pull
/// in `std`, its panic handler would clash with the program's own.
fn no_std() -> Outcome {
    cargo(&["build", "--quiet", "--locked", "--manifest-path", "xtask/no-std/Cargo.toml"], &[])
}

#[cfg(test)]
mod tests {
    use super::feature_names;

    #[test]
    fn features_are_read_from_a_manifest() {
        let manifest = "[package]\nname = \"x\"\n\n[features]\ndefault = [\"a\"]\n# why\na = []\nb-c = [\n  \"a\",\n]\n\n[lints]\nworkspace = true\n";
        assert_eq!(feature_names(manifest), ["a", "b-c"]);
    }
}
