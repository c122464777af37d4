//! `cargo xtask conformance`: the tests of each sentence of the specifications.
//!
//! Two sources list what must be tested: `xtask/conformance/requirements.json`, the sentences of
//! the documents, and the tables of `docs/decisions.md`, the readings of their faults and gaps.
//! Tests are found in the code by their names: a name that contains `sd_13` tests row SD-13. A row
//! without a test is an error; the others become `docs/conformance.md`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::run::{Outcome, read, root, tracked};

const PAGE: &str = "docs/conformance.md";

/// Writes the page, or with `--check` reports whether it is up to date.
pub(crate) fn conformance(arguments: &[String]) -> Outcome {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err("usage: cargo xtask conformance [--check]".to_owned()),
    };
    let tests = Tests::find()?;
    let mut missing = Vec::new();
    let mut page = String::from(
        "# Conformance\n\n\
         The tests of each sentence of the specifications, and the independent programs or data that \
         they compare with. Made by `cargo xtask conformance` from the names of the tests; a row \
         without a test fails the build. Sentences to the authors of specifications have no row.\n",
    );
    requirements(&tests, &mut page, &mut missing)?;
    decisions(&tests, &mut page, &mut missing)?;
    if !missing.is_empty() {
        return Err(format!("rows that no test shows: {}", missing.join(", ")));
    }
    let path = root().join(PAGE);
    if !check {
        return fs::write(&path, page).map_err(|error| format!("{PAGE}: {error}"));
    }
    if fs::read_to_string(&path).is_ok_and(|found| found == page) {
        Ok(())
    } else {
        Err(format!("{PAGE} is out of date; run `cargo xtask conformance`"))
    }
}

fn requirements(tests: &Tests, page: &mut String, missing: &mut Vec<String>) -> Outcome {
    let path = "xtask/conformance/requirements.json";
    let documents: Value =
        serde_json::from_str(&read(path)?).map_err(|error| format!("{path}: {error}"))?;
    page.push_str("\n## What the documents say\n");
    for document in list(&documents) {
        let _ = write!(page, "\n### {}\n\n", text(document, "document"));
        page.push_str("| id | the text | where | shown by | against |\n");
        page.push_str("| --- | --- | --- | --- | --- |\n");
        for row in list(&document["rows"]) {
            let names: Vec<&str> = list(&row["tests"]).filter_map(Value::as_str).collect();
            let mut shown = Vec::new();
            for name in names {
                let found = tests.named(name);
                if found.is_empty() {
                    missing.push(format!("{} ({name})", text(row, "id")));
                }
                shown.extend(found);
            }
            let code = text(row, "code");
            if !root().join(code).exists() {
                return Err(format!("{path}: {}: there is no {code}", text(row, "id")));
            }
            let against: Vec<&str> = list(&row["against"]).filter_map(Value::as_str).collect();
            let cells =
                [text(row, "id"), text(row, "says"), code, &links(&shown), &against.join(", ")];
            let _ = writeln!(page, "| {} |", cells.join(" | "));
        }
    }
    Ok(())
}

fn decisions(tests: &Tests, page: &mut String, missing: &mut Vec<String>) -> Outcome {
    page.push_str(
        "\n## How faults and gaps are read\n\nThe readings themselves are in \
         [decisions.md](decisions.md).\n\n| id | about | shown by |\n| --- | --- | --- |\n",
    );
    for line in read("docs/decisions.md")?.lines() {
        let mut cells = line.split(" | ").map(|cell| cell.trim_start_matches("| "));
        let (Some(id), Some(about)) = (cells.next(), cells.next()) else { continue };
        if !id.starts_with("SD-") {
            continue;
        }
        let shown = tests.named(&id.to_lowercase().replace('-', "_"));
        if shown.is_empty() {
            missing.push(id.to_owned());
        }
        let _ = writeln!(page, "| {id} | {about} | {} |", links(&shown));
    }
    Ok(())
}

/// The tests of the workspace that are not ignored: name and file.
struct Tests {
    files: BTreeSet<(String, String)>,
}

impl Tests {
    fn find() -> Result<Self, String> {
        let mut files = BTreeSet::new();
        for path in tracked()?.into_iter().filter(|path| path.ends_with(".rs")) {
            let Ok(code) = fs::read_to_string(root().join(&path)) else { continue };
            let mut is_test = false;
            for line in code.lines().map(str::trim) {
                if line == "#[test]" {
                    is_test = true;
                } else if line.starts_with("#[ignore") {
                    is_test = false;
                } else if let Some(rest) = line.strip_prefix("fn ") {
                    let name = rest.split('(').next().unwrap_or(rest);
                    if std::mem::take(&mut is_test) {
                        files.insert((name.to_owned(), path.clone()));
                    }
                }
            }
        }
        Ok(Self { files })
    }

    /// The tests whose name is `name`, or contains it as whole words.
    fn named(&self, name: &str) -> Vec<(&str, &str)> {
        let wanted = format!("_{name}_");
        self.files
            .iter()
            .filter(|(test, _)| format!("_{test}_").contains(&wanted))
            .map(|(test, file)| (test.as_str(), file.as_str()))
            .collect()
    }
}

fn links(tests: &[(&str, &str)]) -> String {
    let links: Vec<_> = tests.iter().map(|(name, file)| format!("[`{name}`](../{file})")).collect();
    links.join(", ")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_default()
}
