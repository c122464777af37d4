//! `cargo xtask dependencies`: the crates of others keep the rules of `deny.toml` and of `Cargo.toml`.
//!
//! It reads what `cargo deny check bans licenses sources` reads, from `cargo metadata` alone: licences,
//! sources, and versions of one crate beside each other. The oldest Rust that a crate declares is
//! compared with ours, which `cargo deny` does not do.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::run::{Outcome, metadata, output, read};

/// Reports every broken rule, one per line.
pub(crate) fn dependencies(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask dependencies".to_owned());
    }
    let metadata = metadata()?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata has no packages")?;
    let deny = read("deny.toml")?;
    let mut faults = faults(packages, &Rules::of(&deny, oldest_rust()?)?);
    faults.extend(counts()?);
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n  ")) }
}

/// Crates of the README's table that take another number of other authors' crates than it says, by
/// default and on Linux.
fn counts() -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    for row in read("README.md")?.lines() {
        let Some((name, rest)) =
            row.strip_prefix("| [`").and_then(|row| row.split_once("`](crates/"))
        else {
            continue;
        };
        let said = rest.trim_end_matches(" |").rsplit("| ").next();
        let Some(said) = said.and_then(|cell| cell.parse::<usize>().ok()) else { continue };
        let what = ["tree", "--package", name, "--edges", "normal", "--prefix", "none", "--locked"];
        let tree = output(Command::new("cargo").args(what))?;
        let crates: BTreeSet<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
        let count =
            crates.iter().filter(|name| !name.is_empty() && !name.starts_with("zarr-")).count();
        if count != said {
            faults.push(format!(
                "README.md: {name} takes {count} crates of other authors, not {said}"
            ));
        }
    }
    Ok(faults)
}

struct Rules<'d> {
    licences: BTreeSet<&'d str>,
    /// Crates that may be there in several versions.
    several: BTreeSet<&'d str>,
    /// The oldest Rust that must compile everything.
    rust: (u32, u32),
}

impl<'d> Rules<'d> {
    /// The rules of a `deny.toml`, in which each entry of a list has its own line.
    fn of(deny: &'d str, rust: (u32, u32)) -> Result<Self, String> {
        let list = |name: &str| -> Result<BTreeSet<&'d str>, String> {
            let start = format!("{name} = [");
            let lines = deny.lines().skip_while(|line| !line.starts_with(&start)).skip(1);
            let entries = lines.take_while(|line| *line != "]").map(str::trim);
            let entries = entries.filter(|line| !line.starts_with('#'));
            let found: BTreeSet<_> = entries.filter_map(|line| line.split('"').nth(1)).collect();
            if found.is_empty() { Err(format!("deny.toml has no list {name}")) } else { Ok(found) }
        };
        Ok(Self { licences: list("allow")?, several: list("skip")?, rust })
    }
}

fn oldest_rust() -> Result<(u32, u32), String> {
    let manifest = read("Cargo.toml")?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let declared = line.map(|value| value.trim_matches('"')).and_then(version);
    declared.ok_or_else(|| "Cargo.toml declares no rust-version".to_owned())
}

/// The first two numbers of a version of Rust.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn faults(packages: &[Value], rules: &Rules<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        let word = |name: &str| package[name].as_str();
        let (Some(name), Some(number)) = (word("name"), word("version")) else { continue };
        versions.entry(name).or_default().push(number);
        // Ours have no source.
        let Some(source) = word("source") else { continue };
        if !source.starts_with("registry+") {
            faults.push(format!("{name} {number} comes from {source}, not from the registry"));
        }
        match word("license") {
            Some(licence) if !is_allowed(licence, &rules.licences) => {
                faults.push(format!("{name} {number}: deny.toml does not allow {licence}"));
            }
            None => faults.push(format!("{name} {number} names no licence")),
            Some(_) => {}
        }
        if let Some(rust) = word("rust_version").filter(|rust| version(rust) > Some(rules.rust)) {
            let (major, minor) = rules.rust;
            faults.push(format!(
                "{name} {number} needs Rust {rust}, Cargo.toml says {major}.{minor}"
            ));
        }
    }
    for (name, numbers) in &versions {
        match (numbers.len() > 1, rules.several.contains(name)) {
            (true, false) => faults.push(format!(
                "{name} is there as {}: deny.toml must skip it, with a reason",
                numbers.join(" and ")
            )),
            (false, true) => {
                faults.push(format!("{name} is there once: deny.toml need not skip it"));
            }
            _ => {}
        }
    }
    faults.extend(
        rules
            .several
            .iter()
            .filter(|name| !versions.contains_key(*name))
            .map(|name| format!("{name} is not there: deny.toml need not skip it")),
    );
    faults
}

/// Whether an SPDX expression can be met by these licences. `/` is the older form of `OR`.
fn is_allowed(expression: &str, licences: &BTreeSet<&str>) -> bool {
    let expression = expression.trim();
    if let Some(parts) = split(expression, &[" OR ", "/"]) {
        return parts.iter().any(|part| is_allowed(part, licences));
    }
    if let Some(parts) = split(expression, &[" AND "]) {
        return parts.iter().all(|part| is_allowed(part, licences));
    }
    match expression.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => is_allowed(inner, licences),
        None => licences.contains(expression),
    }
}

/// The parts of an expression between these words where no parenthesis is open; `None` if it has
/// none of them.
fn split<'e>(expression: &'e str, words: &[&str]) -> Option<Vec<&'e str>> {
    let (mut parts, mut start, mut open) = (Vec::new(), 0, 0_usize);
    for (at, character) in expression.char_indices() {
        match character {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            _ => {}
        }
        let rest = &expression[at..];
        if open == 0
            && at >= start
            && let Some(word) = words.iter().find(|word| rest.starts_with(**word))
        {
            parts.push(&expression[start..at]);
            start = at + word.len();
        }
    }
    (!parts.is_empty()).then(|| {
        parts.push(&expression[start..]);
        parts
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DENY: &str = "allow = [\n    \"MIT\",\n    # Not this: \"GPL-3.0\".\n    \"Zlib\",\n]\nskip = [\n    { crate = \"syn\", reason = \"\" },\n]\n";

    #[test]
    fn expressions_are_met_by_any_alternative() {
        let rules = Rules::of(DENY, (1, 89)).unwrap();
        for allowed in [
            "MIT",
            "GPL-3.0 OR MIT",
            "GPL-3.0/MIT",
            "MIT AND Zlib",
            "(X OR MIT) AND Zlib",
            "X AND Y OR MIT",
        ] {
            assert!(is_allowed(allowed, &rules.licences), "{allowed}");
        }
        for refused in
            ["GPL-3.0", "MIT AND X", "(X OR Y) AND MIT", "X OR MIT AND Y", "MIT WITH X", ""]
        {
            assert!(!is_allowed(refused, &rules.licences), "{refused}");
        }
    }

    #[test]
    fn each_rule_is_broken_by_one_crate() {
        let rules = Rules::of(DENY, (1, 89)).unwrap();
        let package = |name: &str, version: &str, licence: Value, rust: &str, source: &str| json!({"name": name, "version": version, "license": licence, "rust_version": rust, "source": source});
        let packages = [
            package("syn", "1.0.0", json!("MIT"), "1.80", "registry+x"),
            package("syn", "2.0.0", json!("MIT"), "1.89.5", "registry+x"),
            package("a", "1.0.0", json!("GPL-3.0"), "1.80", "registry+x"),
            package("a", "2.0.0", Value::Null, "1.90", "git+x"),
        ];
        assert_eq!(
            faults(&packages, &rules),
            [
                "a 1.0.0: deny.toml does not allow GPL-3.0",
                "a 2.0.0 comes from git+x, not from the registry",
                "a 2.0.0 names no licence",
                "a 2.0.0 needs Rust 1.90, Cargo.toml says 1.89",
                "a is there as 1.0.0 and 2.0.0: deny.toml must skip it, with a reason",
            ]
        );
        assert_eq!(
            faults(&packages[..1], &rules),
            ["syn is there once: deny.toml need not skip it"]
        );
        assert_eq!(faults(&[], &rules), ["syn is not there: deny.toml need not skip it"]);
    }
}
