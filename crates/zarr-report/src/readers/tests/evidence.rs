//! The table compared with the results of the conformance suite, `docs/matrix.md`.

use std::collections::BTreeMap;

use serde_json::Value;
use zarr_metadata::{ArrayBuilder, DataType};

use super::super::{AFTER_SHARDS, Needs, RECTILINEAR, Readers, SNAPPY, programs};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The most valid cases, for each level, that a program does not read although its features say so:
/// faults of the program, which the matrix lists.
const FAULTS: usize = 8;

fn read(path: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/{path}")).expect(path)
}

/// The features that a case of the manifest needs.
fn needs(case: &Value) -> Needs {
    let mut needs = Needs {
        grid: if case["chunk_grid"] == "rectilinear" { "rectilinear" } else { "regular" }
            .to_owned(),
        unknown_keys: None,
        data_type: case["data_type"]
            .as_str()
            .or(case["data_type"]["name"].as_str())
            .expect("a type")
            .to_owned(),
        is_unknown: false,
        codecs: Vec::new(),
        others: Vec::new(),
    };
    flat(&case["codecs"], &mut needs);
    if case["id"].as_str().expect("an id").contains("snappy") {
        needs.others.push(SNAPPY);
    }
    needs
}

/// Codecs are names, and after `sharding_indexed` the list of those inside.
fn flat(chain: &Value, needs: &mut Needs) {
    let chain = chain.as_array().expect("a list");
    for (at, codec) in chain.iter().enumerate() {
        match codec.as_str() {
            Some(name) => needs.codecs.push(name.to_owned()),
            None => {
                flat(codec, needs);
                if at + 1 < chain.len() {
                    needs.others.push(AFTER_SHARDS);
                }
            }
        }
    }
}

/// By level: the number of cases, and the cell of each program.
type Rows = BTreeMap<String, (usize, Vec<String>)>;

/// The first table: the names of the programs, and its rows.
fn matrix() -> (Vec<String>, Rows) {
    let page = read("docs/matrix.md");
    let (_, table) = page.split_once("## Stores that must be read").expect("the table");
    let mut rows = table.lines().filter(|line| line.starts_with('|')).map(|line| {
        let cells = line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned());
        cells.collect::<Vec<String>>()
    });
    let head = rows.next().expect("a head");
    let rows = rows.skip(1).take_while(|row| row.first().is_some_and(|level| level != "level"));
    let rows =
        rows.filter_map(|row| Some((row[0].clone(), (row[1].parse().ok()?, row[2..].to_vec()))));
    (head[2..].to_vec(), rows.collect())
}

/// The number of a verdict in a cell such as `46 right, 1 refused`.
fn count(cell: &str, verdict: &str) -> usize {
    let cell = cell.replace('*', "");
    let found = cell.split(", ").find_map(|part| part.strip_suffix(verdict)?.trim().parse().ok());
    found.unwrap_or(0)
}

#[test]
fn the_table_agrees_with_the_matrix() {
    let manifest: Value =
        serde_json::from_str(&read("fixtures/conformance/manifest.json")).expect("JSON");
    let cases = manifest["cases"].as_array().expect("a list");
    let levels_of = |case: &Value| -> Vec<String> {
        let all = case["levels"].as_array().expect("a list").iter();
        let all: Vec<String> =
            all.map(|level| level.as_str().expect("a name").to_owned()).collect();
        let special =
            all.iter().filter(|level| !["core", "regular-edges"].contains(&level.as_str()));
        match special.cloned().collect::<Vec<_>>() {
            special if special.is_empty() => all.into_iter().next_back().into_iter().collect(),
            special => special,
        }
    };
    let is_array = |case: &&Value| case["codecs"].is_array() && case["fails"].is_null();
    let (names, rows) = matrix();
    let page = read("docs/matrix.md");
    let measured = page.lines().nth(2).expect("the programs that were run");
    let mut compared = 0;
    for program in programs() {
        let column = names.iter().position(|name| *name == program.name);
        assert_eq!(
            column.is_some(),
            program.known_by == "the conformance suite",
            "{}",
            program.name
        );
        let Some(column) = column else { continue };
        let version = format!(" {} {}", program.name, program.version);
        assert!(measured.contains(&version), "the page of results has not measured{version}");
        for (level, (total, cells)) in &rows {
            let of_level: Vec<&Value> = cases
                .iter()
                .filter(is_array)
                .filter(|case| levels_of(case).contains(level))
                .collect();
            // A level with groups, or with cases since the page was made.
            if of_level.len() != *total {
                continue;
            }
            let lacking =
                of_level.iter().filter(|case| !needs(case).lacking(program).is_empty()).count();
            let cell = &cells[column];
            let (right, refused) = (count(cell, "right"), count(cell, "refused"));
            let what = format!("{} {level}: {lacking} of {total} lacked, {cell}", program.name);
            assert!(lacking <= refused, "{what}");
            assert!(total - lacking >= right, "{what}");
            if program.faulty.is_empty() {
                assert!(total - lacking <= right + FAULTS, "{what}");
            }
            compared += 1;
        }
    }
    assert!(compared > 15, "{compared} cells");
}

/// Pages are written by running their commands, the README is not.
#[test]
fn the_readme_says_what_the_table_says() {
    let page = read("README.md");
    let months = ArrayBuilder::new([90], DataType::Int16).chunks([[31, 28, 31].into()]);
    let line = Readers::of(&months.build().expect("a document")).line();
    assert!(page.contains(&format!("\nread by {line}\n")), "{line}");
    for program in programs() {
        let named = format!("{} {}", program.name, program.version);
        let row = page.lines().find(|row| row.starts_with("| ") && row.contains(&named));
        let cells: Vec<&str> = row.expect(&named).trim_matches('|').split(" | ").collect();
        let has = program.grids.iter().any(|grid| grid == RECTILINEAR);
        let says = match program.setting.get(RECTILINEAR) {
            Some(setting) => cells[2].contains(setting.as_str()),
            None => cells[2].trim().starts_with(if has { "yes" } else { "no" }),
        };
        assert!(says, "{named}: {cells:?}");
    }
}

/// `BOOK=write` writes it.
#[test]
fn the_page_on_other_programs_has_the_table() {
    const START: &str =
        "<!-- made by `BOOK=write cargo test -p zarr-report page_on_other_programs` -->\n";
    let page = read("docs/interop-programs.md");
    let (before, rest) = page.split_once(START).expect("the start of the table");
    let (_, after) = rest.split_once("\n\n").expect("the end of the table");
    let written = format!("{before}{START}{}\n{after}", super::super::table());
    if std::env::var("BOOK").is_ok_and(|book| book == "write") {
        std::fs::write(format!("{ROOT}/docs/interop-programs.md"), written).expect("writes");
    } else {
        assert_eq!(page, written);
    }
}
