//! `cargo xtask api [--check]`: the public items of each library crate, one per line, in
//! `xtask/api/lists/`.
//!
//! A change of a public item then shows in a diff and can be reviewed.

use std::fs;
use std::process::Command;

use crate::run::{LIBRARIES, Outcome, make_folder, output, root, step, target, write};

const FOLDER: &str = "xtask/api/lists";

/// Writes the lists, or with `--check` compares them with the existing ones.
pub(crate) fn api(arguments: &[String]) -> Outcome {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err("usage: cargo xtask api [--check]".to_owned()),
    };
    describe()?;
    let mut changed = Vec::new();
    for name in LIBRARIES {
        let path = format!("{FOLDER}/{name}.txt");
        let found = list(name)?;
        let known = fs::read_to_string(root().join(&path)).unwrap_or_default();
        if found == known {
            continue;
        }
        if check {
            changed.push(format!("{path}: {}", first_difference(&known, &found)));
            continue;
        }
        make_folder(FOLDER)?;
        write(&path, &found)?;
    }
    if changed.is_empty() {
        return Ok(());
    }
    Err(format!("`cargo xtask api` would change\n  {}", changed.join("\n  ")))
}

/// Writes rustdoc's JSON for each crate, built as for `check`'s documentation, so that only rustdoc
/// itself has to run again.
fn describe() -> Outcome {
    let mut command = Command::new("cargo");
    command.args(["doc", "--workspace", "--quiet", "--locked", "--no-deps", "--all-features"]);
    command.arg("--lib");
    command.env("RUSTDOC", root().join("xtask/api/rustdoc"));
    command.env("RUSTDOCFLAGS", "-Z unstable-options --output-format json");
    step(&mut command)
}

fn list(name: &str) -> Result<String, String> {
    let manifest = "xtask/api/Cargo.toml";
    let file = target().join(format!("doc/{}.json", name.replace('-', "_")));
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--locked", "--manifest-path", manifest, "--"]).arg(file);
    output(&mut command)
}

/// The first line that one of two texts has and the other does not.
fn first_difference(known: &str, found: &str) -> String {
    let mut pairs = known.lines().zip(found.lines());
    match pairs.find(|(known, found)| known != found) {
        Some((known, found)) => format!("has `{known}` where the code has `{found}`"),
        None => match found.lines().nth(known.lines().count()) {
            Some(line) => format!("lacks `{line}`"),
            None => "has lines that the code does not".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn differences_name_a_line() {
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), "has `b` where the code has `c`");
        assert_eq!(first_difference("a\n", "a\nb\n"), "lacks `b`");
        assert_eq!(first_difference("a\nb\n", "a\n"), "has lines that the code does not");
    }
}
