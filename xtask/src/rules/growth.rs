//! `cargo xtask tidy --record [REASON]`, and its rule: no crate grows without a reason.
//!
//! `xtask/growth.txt` has the size of each crate and, below, why each grew since.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use crate::run::{Outcome, output, read, root, tracked, write};

const FILE: &str = "xtask/growth.txt";

/// Lines of code, public items, dependencies.
type Size = [usize; 3];

const WHAT: [&str; 3] = ["lines of code", "public items", "dependencies"];

/// Reports each crate that is larger than it is recorded.
pub(crate) fn check(files: &[String], faults: &mut Vec<String>) -> Outcome {
    let (known, _) = recorded(&read(FILE)?)?;
    for (name, size) in sizes(files)? {
        let Some(before) = known.get(&name) else {
            faults.push(format!("{FILE}: nothing of {name}; `cargo xtask tidy --record REASON`"));
            continue;
        };
        for change in changes(before, &size).filter(|(_, before, now)| now > before) {
            let change = described(&name, change);
            faults
                .push(format!("{change}; `cargo xtask tidy --record REASON` writes why to {FILE}"));
        }
    }
    Ok(())
}

/// Records the sizes as they are, and prints what changed. What grew needs a reason.
pub(crate) fn record(reason: Option<&str>) -> Outcome {
    let (known, mut reasons) =
        recorded(&fs::read_to_string(root().join(FILE)).unwrap_or_default())?;
    let now = sizes(&tracked()?)?;
    let mut grown = Vec::new();
    for (name, size) in &now {
        let Some(before) = known.get(name) else {
            println!("{name}: {size:?}");
            grown.push(format!("{name}: new"));
            continue;
        };
        for change in changes(before, size) {
            let text = described(name, change);
            println!("{text}");
            if change.2 > change.1 {
                grown.push(text);
            }
        }
    }
    if !grown.is_empty() {
        let grown = grown.join("; ");
        let reason = reason.ok_or_else(|| format!("{grown}; a reason is missing"))?;
        reasons.push(format!("{reason} ({grown})"));
    }
    let mut text = format!("# {} of each crate.\n", WHAT.join(", "));
    for (name, [lines, items, dependencies]) in &now {
        let _ = writeln!(text, "{name} {lines} {items} {dependencies}");
    }
    text.push_str("\n# Why they grew.\n");
    reasons.iter().for_each(|reason| text.push_str(&format!("{reason}\n")));
    write(FILE, &text)
}

/// The sizes and the reasons of the file.
fn recorded(text: &str) -> Result<(BTreeMap<String, Size>, Vec<String>), String> {
    let (mut known, mut reasons) = (BTreeMap::new(), Vec::new());
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.contains(':') {
            reasons.push(line.to_owned());
            continue;
        }
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let numbers: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
        let size = numbers.try_into().map_err(|_| format!("{FILE}: no three numbers: {line}"))?;
        known.insert(name.to_owned(), size);
    }
    Ok((known, reasons))
}

/// What differs, with the numbers before and now.
fn changes(before: &Size, now: &Size) -> impl Iterator<Item = (&'static str, usize, usize)> {
    let all =
        WHAT.into_iter().zip(*before).zip(*now).map(|((what, before), now)| (what, before, now));
    all.filter(|(_, before, now)| before != now)
}

fn described(name: &str, (what, before, now): (&str, usize, usize)) -> String {
    format!("{name}: {what} {before} to {now}")
}

fn sizes(files: &[String]) -> Result<BTreeMap<String, Size>, String> {
    let mut metadata = Command::new("cargo");
    metadata.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]);
    let metadata: serde_json::Value = serde_json::from_str(&output(&mut metadata)?)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let mut sizes = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let source = format!("crates/{name}/src/");
        let mut lines = 0;
        for path in files.iter().filter(|path| path.starts_with(&source) && is_code(path)) {
            // What git tracks may have been deleted.
            lines += lines_of_code(&fs::read_to_string(root().join(path)).unwrap_or_default());
        }
        if lines == 0 {
            continue;
        }
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        let dependencies = dependencies.filter(|one| one["kind"] != "dev").count();
        // Programs have no list.
        let items = read(&format!("xtask/api/lists/{name}.txt")).unwrap_or_default();
        let items = items.lines().filter(|line| !line.starts_with("impl")).count();
        sizes.insert(name.to_owned(), [lines, items, dependencies]);
    }
    Ok(sizes)
}

fn is_code(path: &str) -> bool {
    path.ends_with(".rs") && !path.ends_with("/tests.rs") && !path.contains("/tests/")
}

/// Lines that are neither blank nor comments alone nor in a module of tests. A file with a test that
/// is in no module within it is such a module.
fn lines_of_code(text: &str) -> usize {
    if text.lines().any(|line| line == "#[test]") {
        return 0;
    }
    let (mut count, mut is_test, mut end) = (0, false, None);
    for line in text.lines() {
        let code = line.trim_start();
        let margin = &line[..line.len() - code.len()];
        if let Some(last) = &end {
            if line == last {
                end = None;
            }
        } else if code == "#[cfg(test)]" || code.starts_with("#[cfg(all(test, ") {
            is_test = true;
        } else if is_test && code.starts_with("mod ") {
            is_test = false;
            end = line.ends_with('{').then(|| format!("{margin}}}"));
        } else if !code.is_empty() && !code.starts_with("//") {
            is_test = false;
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blanks_and_tests_are_no_code() {
        let text = "//! What.\n\nuse a;\n/// B.\nfn b() {\n    // why\n    c();\n}\n\n\
                    #[cfg(test)]\nmod tests {\n    fn d() {\n    }\n}\nfn e() {}\n\
                    #[cfg(test)]\nmod more;\n#[cfg(test)]\nuse f;\n\
                    #[cfg(all(test, unix))]\nmod on_unix {\n    fn g() {}\n}\n";
        assert_eq!(lines_of_code(text), 6);
        assert_eq!(lines_of_code("use a;\n\n#[test]\nfn b() {}\n"), 0);
    }

    #[test]
    fn what_is_recorded_is_read() {
        let text =
            "# sizes\nzarr-a 10 2 1\nzarr-b 7 0 3\n\n# Why.\nb (zarr-a: lines of code 9 to 10)\n";
        let (known, reasons) = recorded(text).expect("it is well formed");
        assert_eq!((known["zarr-a"], known["zarr-b"]), ([10, 2, 1], [7, 0, 3]));
        assert_eq!(reasons, ["b (zarr-a: lines of code 9 to 10)"]);
        assert!(recorded("zarr-a 10 2\n").is_err());
        let grown: Vec<_> = changes(&[10, 2, 1], &[11, 1, 1]).collect();
        assert_eq!(grown, [("lines of code", 10, 11), ("public items", 2, 1)]);
    }
}
