//! `cargo xtask tidy`: the repository's own rules.

use std::fs;

use crate::release::book;
use crate::rules::{circles, steps};
use crate::run::{Outcome, read, root, tracked};

/// The longest source file, in lines.
const LONGEST: usize = 500;

/// The places that may open `unsafe`, as in the design: packing kernels, copy kernels and the
/// disjoint output, huge-page advice, the blosc binding, the memory of Python objects, simulated system
/// calls, pages that a test protects.
const UNSAFE: &[&str] = &[
    "crates/zarr-codec/src/bytes_to_bytes/blosc/",
    "crates/zarr-packbits/src/arch/",
    "crates/zarr-packbits/tests/it/guarded.rs",
    "crates/zarr-python/src/conversion/memory.rs",
    "crates/zarr-view/src/copy/",
    "xtask/no-std/",
    "xtask/simulate/src/calls.rs",
];

/// Reports every broken rule, one per line.
pub(crate) fn tidy(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask tidy".to_owned());
    }
    let mut faults = Vec::new();
    let files = tracked()?;
    for place in UNSAFE {
        if !files.iter().any(|path| path.starts_with(place)) {
            faults.push(format!("{place}: listed as a place of unsafe code, and not there"));
        }
    }
    licences(&files, &mut faults);
    inner_tests(&files, &mut faults);
    circles::check(&files, &mut faults);
    steps::check(&files, &mut faults)?;
    for path in files {
        let Ok(text) = fs::read_to_string(root().join(&path)) else {
            continue; // deleted, or not text
        };
        if path.ends_with(".rs") {
            rust(&path, &text, &mut faults);
        }
        if !path.starts_with("fixtures/") {
            words(&path, &text, &mut faults);
        }
    }
    for page in book::missing_pages()? {
        faults.push(format!("{page}: docs/SUMMARY.md leaves it out"));
    }
    changelog(&mut faults)?;
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n  ")) }
}

fn rust(path: &str, text: &str, faults: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > LONGEST {
        faults.push(format!("{path}: {lines} lines, more than {LONGEST}"));
    }
    let opens_unsafe =
        ["expect", "allow"].iter().any(|word| text.contains(&format!("{word}(unsafe_code")));
    if opens_unsafe && !UNSAFE.iter().any(|place| path.starts_with(place)) {
        faults.push(format!("{path}: unsafe code outside the listed places"));
    }
    if is_library_root(path) {
        if !text.contains("//! # Non-goals") {
            faults.push(format!("{path}: the header does not end with its non-goals"));
        }
        let with_unsafe = ["zarr-codec", "zarr-packbits", "zarr-python", "zarr-view"];
        let forbids = text.contains("#![forbid(unsafe_code)]");
        if !forbids && !with_unsafe.iter().any(|one| path.contains(one)) {
            faults.push(format!("{path}: does not forbid unsafe code"));
        }
    }
    if path.starts_with("crates/") && path.contains("/src/") && text.contains("thiserror::Error") {
        returned_sources(path, text, faults);
    }
    let is_face = ["crates/zarr-cli/", "crates/zarr-python/"].iter().any(|it| path.starts_with(it));
    let is_library = path.starts_with("crates/") && path.contains("/src/") && !is_face;
    for (number, line) in text.lines().enumerate() {
        // What helps is a value, for which each face has its own words (design 090).
        let is_code = !line.trim_start().starts_with("//");
        let names_option = |rest: &str| rest.starts_with(|c: char| c.is_ascii_lowercase());
        // In a call of another program it is followed by these.
        let names_setting = |rest: &str| !rest.starts_with([')', ',']);
        let of_face = line.split("=True").skip(1).any(names_setting)
            || ["in Python", "`zarr-kit "].iter().any(|of| line.contains(of));
        if is_library && is_code && (of_face || line.split("--").skip(1).any(names_option)) {
            faults.push(format!("{path}:{}: a library names an option of a face", number + 1));
        }
        // Native-endian calls give different bytes on big-endian machines, on which no test runs
        // here.
        for call in ["from_ne_", "to_ne_"] {
            if line.contains(&format!("{call}bytes")) {
                faults.push(format!("{path}:{}: native-endian call", number + 1));
            }
        }
    }
}

/// An error shows its cause and does not also return it (`docs/design/090-errors.md`):
/// thiserror returns fields named `source` and those with an attribute, unless all is forwarded.
fn returned_sources(path: &str, text: &str, faults: &mut Vec<String>) {
    let mut last = "";
    for (number, line) in text.lines().map(str::trim).enumerate() {
        let forwarded = line.contains("#[from]") && last == "#[error(transparent)]";
        if line.starts_with("source: ") || line.contains("#[source]") {
            faults.push(format!("{path}:{}: an error that returns its source", number + 1));
        } else if line.contains("#[from]") && !forwarded {
            faults.push(format!("{path}:{}: an error that returns what it is from", number + 1));
        }
        last = line;
    }
}

fn is_library_root(path: &str) -> bool {
    path.starts_with("crates/") && path.ends_with("/src/lib.rs")
}

/// Each package contains the texts of its licences: they are released one by one.
fn licences(files: &[String], faults: &mut Vec<String>) {
    for path in files {
        let Some(package) = path.strip_suffix("/Cargo.toml") else { continue };
        for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let licence = format!("{package}/{name}");
            if package.starts_with("crates/") && !files.contains(&licence) {
                faults.push(format!("{licence} is missing: a link to ../../{name}"));
            }
        }
    }
}

/// Nothing runs the tests in `src` of a library with `test = false`.
fn inner_tests(files: &[String], faults: &mut Vec<String>) {
    for path in files {
        let Some(package) = path.strip_suffix("Cargo.toml") else { continue };
        let manifest = read(path).unwrap_or_default();
        let library = manifest.split("\n[").find(|table| table.starts_with("lib]"));
        let is_off = library.is_some_and(|table| table.contains("\ntest = false"));
        if !is_off {
            continue;
        }
        let source = format!("{package}src/");
        for path in files.iter().filter(|path| path.starts_with(&source)) {
            if read(path).unwrap_or_default().contains("#[test]") {
                faults.push(format!("{path}: a test of a library with `test = false`"));
            }
        }
    }
}

/// Paths of one machine and hosts of registries, which no other machine needs to have.
fn words(path: &str, text: &str, faults: &mut Vec<String>) {
    const MACHINE: &str =
        "a path of one machine, absent on others: use a relative path or a variable";
    const REGISTRY: &str = "users may have a mirror: let cargo, pip or npm find the registry";
    let spelled = [
        (["/ro", "ot/"], MACHINE),
        (["/wo", "rk/"], MACHINE),
        (["/ho", "me/"], MACHINE),
        (["py", "pi.org"], REGISTRY),
        (["registry.npm", "js.org"], REGISTRY),
    ];
    for (number, line) in text.lines().enumerate() {
        for (parts, reason) in spelled {
            if line.contains(&parts.concat()) {
                faults.push(format!("{path}:{}: {}: {reason}", number + 1, parts.concat()));
            }
        }
    }
}

/// The current version has a heading in the changelog.
fn changelog(faults: &mut Vec<String>) -> Outcome {
    let manifest = read("Cargo.toml")?;
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("version = "))
        .map(|version| version.trim_matches('"').to_owned())
        .ok_or("Cargo.toml: no workspace version")?;
    if !read("CHANGELOG.md")?.lines().any(|line| line.starts_with(&format!("## {version}"))) {
        faults.push(format!("CHANGELOG.md: no heading for version {version}"));
    }
    Ok(())
}
