//! Modules at the top of a crate that need each other in a circle: then the cut is in the wrong place.
//!
//! Only paths that begin with `crate::` and a module count: what `lib.rs` exports again is seen under
//! its module in most files, and no Rust is parsed for the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::run::root;

/// How many modules still stand in circles. It only becomes less.
const LEFT: &[(&str, usize)] =
    &[("zarr-array", 3), ("zarr-cli", 5), ("zarr-codec", 5), ("zarr-metadata", 2)];

pub(super) fn check<'f>(files: &'f [String], faults: &mut Vec<String>) {
    let mut tops: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let split = |path: &'f String| path.strip_prefix("crates/")?.split_once("/src/");
    let is_code = |(_, file): &(&str, &str)| file.ends_with(".rs") && !file.contains("tests");
    let sources: Vec<(&str, &str)> = files.iter().filter_map(split).filter(is_code).collect();
    for (package, file) in &sources {
        tops.entry(package).or_default().insert(top(file));
    }
    let mut needs: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
    for (package, file) in &sources {
        let Ok(text) = fs::read_to_string(root().join(format!("crates/{package}/src/{file}")))
        else {
            continue; // deleted
        };
        for name in named(file, &text) {
            if let Some(other) = tops[package].get(&*name).filter(|other| **other != top(file)) {
                needs.entry(package).or_default().insert((top(file), other));
            }
        }
    }
    for (package, needs) in needs {
        let found = in_circles(needs);
        let left = LEFT.iter().find(|(name, _)| *name == package).map_or(0, |(_, left)| *left);
        if found.len() != left {
            let (count, found) = (found.len(), Vec::from_iter(found).join(", "));
            faults.push(format!(
                "crates/{package}: {count} modules need each other in circles, and {left} are \
                 allowed (xtask/src/rules/circles.rs): {found}"
            ));
        }
    }
}

/// The module at the top of the crate that a file is in.
fn top(file: &str) -> &str {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs")
}

/// The names that follow `crate::` in the code of a file.
fn named(file: &str, text: &str) -> BTreeSet<String> {
    let is_top = matches!(file.split_once('/'), None | Some((_, "mod.rs")));
    let code = text.split("\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().zip(std::iter::once("").chain(code.lines()));
    let lines = lines.filter(|(line, before)| {
        !line.trim_start().starts_with("//") && before.trim() != "#[cfg(doc)]"
    });
    let mut names = BTreeSet::new();
    for (line, _) in lines {
        let line = if is_top { line.replace("super::", "crate::") } else { line.to_owned() };
        let after = line.split("crate::").skip(1);
        names.extend(after.map(|rest| {
            let is_name = |c: &char| c.is_alphanumeric() || *c == '_';
            rest.chars().take_while(is_name).collect::<String>()
        }));
    }
    names
}

/// The modules in circles, and those between two circles.
fn in_circles<'m>(mut needs: BTreeSet<(&'m str, &'m str)>) -> BTreeSet<&'m str> {
    loop {
        let before = needs.clone();
        let needing: BTreeSet<&str> = before.iter().map(|(from, _)| *from).collect();
        let needed: BTreeSet<&str> = before.iter().map(|(_, to)| *to).collect();
        needs.retain(|(from, to)| needing.contains(to) && needed.contains(from));
        if needs == before {
            return needing;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_that_lead_to_a_circle_are_in_none() {
        let needs = [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")];
        assert_eq!(in_circles(needs.into()), ["b", "c"].into());
        assert!(in_circles([("a", "b"), ("a", "c"), ("b", "c")].into()).is_empty());
        let text =
            "use crate::x::Y;\n// crate::no\n#[cfg(doc)]\nuse crate::no;\nlet z = super::z::f();\n";
        assert_eq!(named("a/mod.rs", text), ["x", "z"].map(str::to_owned).into());
        assert_eq!(named("a/b.rs", text), ["x"].map(str::to_owned).into());
    }
}
