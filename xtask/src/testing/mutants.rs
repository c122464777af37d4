//! `cargo xtask mutants [K/N] [--report]`: changes the code in small ways, one at a time, and runs the
//! tests of its crate, which must fail; the result is `docs/mutants.md`.
//!
//! Needs cargo-mutants 27. Of all changes that it knows, those numbered K modulo N are tried:
//! always the same ones for the same code. `xtask/mutants.txt` lists the changes that no test can
//! notice: file, change and reason, separated by tabs. `--report` runs no tests; it writes the
//! page of the last run again, with reasons that were added since.

use std::fmt::Write as _;
use std::process::Command;

use crate::run::{Outcome, commit, make_folder, output, read, root, write};

const PAGE: &str = "docs/mutants.md";
const EXPLAINED: &str = "xtask/mutants.txt";
const FOLDER: &str = "target/mutants";
/// The commit of the last run, which `--report` names.
const COMMIT: &str = "target/mutants/commit";
const CRATES: &[&str] = &["zarr-packbits", "zarr-grid", "zarr-view", "zarr-metadata"];
/// Code that is compiled for other processors alone. `cargo xtask targets` runs its tests.
#[cfg(target_arch = "x86_64")]
const OTHERS: &[&str] = &["**/aarch64.rs", "**/neon/*", "**/simd128.rs"];
#[cfg(not(target_arch = "x86_64"))]
const OTHERS: &[&str] = &[];
/// About forty changes per crate, an hour in total on two cores.
const SAMPLE: &str = "0/28";

/// Tries the sample in each crate and writes the page; a survivor without a reason is an error.
pub(crate) fn mutants(arguments: &[String]) -> Outcome {
    let (run, arguments) = match arguments {
        [rest @ .., flag] if flag == "--report" => (false, rest),
        all => (true, all),
    };
    let sample = match arguments {
        [] => SAMPLE,
        [sample] if is_sample(sample) => sample,
        _ => {
            return Err(
                "usage: cargo xtask mutants [K/N] [--report], with K less than N".to_owned()
            );
        }
    };
    let explained = explained(&read(EXPLAINED)?)?;
    if run {
        make_folder(FOLDER)?;
        write(COMMIT, &commit()?)?;
    }
    let mut page = format!(
        "# Mutation tests\n\n\
         Made by `cargo xtask mutants {sample}` at commit `{}` with {}. The tool changes the code in \
         small ways, one at a time; the tests of the crate must fail for each. *Tried* are the changes numbered {} \
         of each {} that the tool knows. *Endless* changes made the tests run forever, which counts \
         as noticed. Code for other processors is not compiled, so it is not changed; `cargo xtask targets` \
         runs its tests. The changes that survive are listed below, with the reason why no test can \
         notice them.\n\n\
         | crate | tried | noticed | endless | do not compile | survive |\n\
         | --- | --: | --: | --: | --: | --: |\n",
        read(COMMIT)?,
        output(Command::new("cargo").args(["mutants", "--version"]))?.trim(),
        sample.split('/').next().unwrap_or_default(),
        sample.split('/').nth(1).unwrap_or_default(),
    );
    let mut survivors = Vec::new();
    for name in CRATES {
        if run {
            try_out(name, sample)?;
        }
        let result = Outcomes::of(name)?;
        let [caught, missed, timeout, unviable] =
            [&result.caught, &result.missed, &result.timeout, &result.unviable].map(Vec::len);
        let _ = writeln!(
            page,
            "| `{name}` | {} | {caught} | {timeout} | {unviable} | {missed} |",
            caught + missed + timeout + unviable
        );
        survivors.extend(result.missed);
    }
    if !survivors.is_empty() {
        page.push_str(
            "\n## Survivors\n\n| where | change | why no test can notice |\n| --- | --- | --- |\n",
        );
    }
    let mut open = Vec::new();
    for (file, change) in survivors {
        let reason = explained.iter().find(|known| known.0 == file && known.1 == change);
        let _ = writeln!(
            page,
            "| `{file}` | `{}` | {} |",
            change.replace('|', "\\|"),
            reason.map_or("**open**", |known| &known.2)
        );
        if reason.is_none() {
            open.push(format!("{file}: {change}"));
        }
    }
    write(PAGE, &page)?;
    if open.is_empty() {
        return Ok(());
    }
    Err(format!("no test notices, and {EXPLAINED} does not say why:\n  {}", open.join("\n  ")))
}

fn is_sample(text: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().ok();
    text.split_once('/')
        .and_then(|(which, of)| Some(number(which)? < number(of)?))
        .unwrap_or_default()
}

/// File, change and reason of each line that is not a comment.
fn explained(text: &str) -> Result<Vec<(String, String, String)>, String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
            [file, change, reason] => Ok((file.to_owned(), change.to_owned(), reason.to_owned())),
            _ => Err(format!("{EXPLAINED}: not file, change and reason: {line:?}")),
        })
        .collect()
}

fn try_out(name: &str, sample: &str) -> Outcome {
    let folder = folder(name);
    make_folder(&folder)?;
    let mut command = Command::new("cargo");
    command.args(["mutants", "--package", name, "--all-features", "--profile", "mutants"]);
    command.arg("--no-shuffle");
    command.args(OTHERS.iter().flat_map(|files| ["--exclude", files]));
    command.args(["--shard", sample, "--sharding", "round-robin"]);
    command.args(["--timeout", "300", "--build-timeout", "600", "--output", &folder]);
    eprintln!("── cargo mutants --package {name} --shard {sample}");
    // Its unit tests, which `cargo test` leaves out.
    if name == "zarr-view" {
        command.args(["--", "--lib", "--test", "it"]);
    }
    let status = command.current_dir(root()).status();
    let status = status.map_err(|error| format!("could not start cargo mutants: {error}"))?;
    // 2 and 3 mean that changes survived or did not end.
    match status.code() {
        Some(0 | 2 | 3) => Ok(()),
        _ => Err(format!("cargo mutants --package {name} failed ({status})")),
    }
}

/// The folder of the outcomes for a crate.
fn folder(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

/// A file and what was changed in it.
type Change = (String, String);

/// The outcomes of the changes that were tried in one crate.
struct Outcomes {
    caught: Vec<Change>,
    missed: Vec<Change>,
    timeout: Vec<Change>,
    unviable: Vec<Change>,
}

impl Outcomes {
    fn of(name: &str) -> Result<Self, String> {
        let folder = folder(name);
        let list = |kind: &str| -> Result<Vec<Change>, String> {
            let text = read(format!("{folder}/mutants.out/{kind}.txt"))?;
            Ok(text.lines().map(change).collect())
        };
        Ok(Self {
            caught: list("caught")?,
            missed: list("missed")?,
            timeout: list("timeout")?,
            unviable: list("unviable")?,
        })
    }
}

/// `FILE:LINE:COLUMN: CHANGE` without the line and the column, which change often.
fn change(line: &str) -> Change {
    let (place, change) = line.split_once(": ").unwrap_or((line, ""));
    let file = place.split(':').next().unwrap_or_default();
    (file.to_owned(), change.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{change, explained, is_sample};

    #[test]
    fn places_are_cut_from_changes() {
        let found = change("crates/a/src/b.rs:18:9: replace < with <= in f");
        assert_eq!(found, ("crates/a/src/b.rs".to_owned(), "replace < with <= in f".to_owned()));
    }

    #[test]
    fn samples_are_fractions() {
        assert!(is_sample("0/28") && is_sample("27/28"));
        assert!(!is_sample("28/28") && !is_sample("x/2") && !is_sample("3"));
    }

    #[test]
    fn each_reason_has_its_place() {
        assert_eq!(explained("# head\n\na\tb\tc\n").unwrap().len(), 1);
        assert!(explained("a\tb\n").is_err());
    }
}
