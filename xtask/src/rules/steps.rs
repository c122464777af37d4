//! The steps of the protocol: each is a switch in the code, and a row of `docs/steps.md`.

use std::collections::BTreeMap;
use std::fs;

use crate::run::{read, root};

/// The page with the tables.
pub(crate) const PAGE: &str = "docs/steps.md";

/// The crates that take part in the protocol.
const CRATES: [&str; 7] = [
    "zarr-store",
    "zarr-journal",
    "zarr-array",
    "zarr-copy",
    "zarr-join",
    "zarr-zip",
    "zarr-virtual-join",
];

/// Calls that are steps, or that the page says why they are none.
const CALLS: [&str; 18] = [
    ".lock(",
    ".lock_all(",
    ".try_lock(",
    ".try_lock_shared(",
    ".put_if(",
    "put_new(",
    "put_verified(",
    ".check(",
    "check_unchanged(",
    "check_all(",
    "refuse_stale(",
    "is_at(&file",
    "is_at(&self.file",
    "sync_all(",
    "sync_data(",
    "flush_entries(",
    "flush_removal(",
    "rename(",
];

/// How many lines above a call its switch may be.
const NEAR: usize = 6;

/// A step, and who finds that it is left out: nobody yet, if neither is known.
pub(crate) struct Step {
    pub(crate) name: String,
    /// The simulation, within so many seeds.
    pub(crate) seeds: Option<u64>,
    /// A test: its crate, and its name.
    pub(crate) test: Option<(String, String)>,
}

/// The cells of the rows of the page's tables with so many columns.
fn rows(page: &str, columns: usize) -> impl Iterator<Item = Vec<String>> {
    let cells = move |line: &str| {
        let inner = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let cells: Vec<String> = inner.split(" | ").map(|cell| cell.trim().to_owned()).collect();
        (cells.len() == columns && cells[0].starts_with('`')).then_some(cells)
    };
    page.lines().filter_map(cells).collect::<Vec<_>>().into_iter()
}

/// The steps of the page.
pub(crate) fn steps() -> Result<Vec<Step>, String> {
    let bare = |cell: &str| cell.trim_matches('`').to_owned();
    let step = |cells: Vec<String>| {
        let mut step = Step { name: bare(&cells[0]), seeds: None, test: None };
        for found in cells[2].split(", ") {
            match (found.strip_suffix(" seeds"), found.split_once(": `")) {
                (Some(seeds), _) => step.seeds = seeds.replace('_', "").parse().ok(),
                (None, Some((name, test))) => step.test = Some((name.to_owned(), bare(test))),
                (None, None) => {}
            }
        }
        // Then `simulate --faults` fails.
        let is_open = cells[2] == "nobody yet";
        match is_open || step.seeds.is_some() || step.test.is_some() {
            true => Ok(step),
            false => Err(format!("{PAGE}: nothing finds {}", step.name)),
        }
    };
    rows(&read(PAGE)?, 3).map(step).collect()
}

/// Compares the code with the page.
pub(super) fn check(files: &[String], faults: &mut Vec<String>) -> Result<(), String> {
    let listed = steps()?;
    let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut calls: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let is_source = |path: &&String| {
        CRATES.iter().any(|name| path.starts_with(&format!("crates/{name}/src/")))
            && path.ends_with(".rs")
            && !["conformance/", "tests", "fault.rs"].iter().any(|part| path.contains(part))
    };
    for path in files.iter().filter(is_source) {
        let Ok(text) = fs::read_to_string(root().join(path)) else { continue };
        for name in text.split("step!(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            named.entry(name.to_owned()).or_default().push(path.clone());
        }
        for call in uncovered(&text) {
            *calls.entry((path.clone(), call)).or_default() += 1;
        }
    }
    for (name, paths) in &named {
        if paths.len() > 1 {
            faults.push(format!("{}: several steps have the name {name:?}", paths.join(", ")));
        }
        if !listed.iter().any(|step| step.name == *name) {
            faults.push(format!("{}: {PAGE} lacks the step {name:?}", paths.join(", ")));
        }
    }
    for Step { name, .. } in &listed {
        if !named.contains_key(name) {
            faults.push(format!("{PAGE}: no code has the step {name:?}"));
        }
    }
    for cells in rows(&read(PAGE)?, 4) {
        let path = format!("crates/{}", cells[0].trim_matches('`'));
        let call =
            CALLS.iter().find(|call| cells[1] == format!("`{}`", call.trim_start_matches('.')));
        let Some(call) = call else {
            faults.push(format!("{PAGE}: {} is not a call that is looked for", cells[1]));
            continue;
        };
        let found = calls.remove(&(path.clone(), call)).unwrap_or(0);
        if cells[2] != found.to_string() {
            let said = &cells[2];
            faults.push(format!(
                "{PAGE}: {path} has {found} calls of {call} outside of steps, not {said}"
            ));
        }
    }
    for ((path, call), count) in calls {
        faults.push(format!(
            "{path}: {count} calls of {call} are no step: put a `step!` or `lock_step!` before each, \
             or say in {PAGE} why it is none"
        ));
    }
    Ok(())
}

/// The calls of a file without a switch near them.
fn uncovered(text: &str) -> Vec<&'static str> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code = code.split("#[cfg(all(test, unix))]\nmod ").next().unwrap_or_default();
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("//") || trimmed.contains("fn ") || trimmed.starts_with("use ") {
            continue;
        }
        let near = &lines[number.saturating_sub(NEAR)..=number];
        if near.iter().any(|line| line.contains("step!(")) {
            continue;
        }
        for call in CALLS {
            found.extend(line.match_indices(call).filter_map(|(at, _)| {
                let after = &line[at + call.len()..];
                let before = line[..at].chars().next_back();
                // The lock of a mutex, and names that end in the same way.
                let is_mutex = call == ".lock(" && after.starts_with(')') && !is_store(line, at);
                let is_other = !call.starts_with('.')
                    && before.is_some_and(|c| c.is_alphanumeric() || c == '_');
                (!is_mutex && !is_other).then_some(call)
            }));
        }
    }
    found
}

/// Whether a lock without arguments is one of a marker.
fn is_store(line: &str, at: usize) -> bool {
    line[..at].ends_with("marker") || line[at..].starts_with(".lock()?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_needs_a_switch_near_it() {
        let with = "if step!(\"name\") {\n    store.put_if(key, bytes, None)?;\n}\n";
        assert!(uncovered(with).is_empty());
        let without = "store.lock(key)?;\nself.map.lock().unwrap();\nmarker.lock()?;\n\
            fs::rename(a, b)?;\n// file.sync_all()\nfn rename(a: u8) {}\n";
        assert_eq!(uncovered(without), [".lock(", ".lock(", "rename("]);
        let tests = "#[cfg(test)]\nmod tests {\n    store.lock(key)?;\n}\n";
        assert!(uncovered(tests).is_empty());
    }

    #[test]
    fn rows_are_told_by_their_columns() {
        let page = "| `a` | what | 500 seeds |\n| --- | --- | --- |\n| `b` | `lock(` | 1 | why |\n";
        assert_eq!(rows(page, 3).count(), 1);
        assert_eq!(rows(page, 4).next().map(|cells| cells[2].clone()), Some("1".to_owned()));
    }
}
