//! Runs the commands of the book in a shell, and compares their output with its pages.
//! Blocks marked `console` have commands after `$ `, followed by their output. The commands of a
//! page run in one folder, in sequence, next to the fixtures. Pictures that they draw are compared
//! with those of the same name in `docs/pictures`. With `BOOK=write` pages and pictures are updated
//! instead. Pages with Rust blocks must be doctests of zarr-kit.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::root;

const BEGIN: &str = "```console\n";
const END: &str = "```";

#[test]
fn commands_say_what_the_book_says() {
    let write = std::env::var_os("BOOK").is_some_and(|value| value == "write");
    let doctests = root().join("crates/zarr-kit/src/lib.rs");
    let doctests = fs::read_to_string(doctests).expect("the book's doctests");
    let (mut run, mut drawn) = (0, 0);
    for entry in fs::read_dir(root().join("docs")).expect("the folder of the book") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let page = fs::read_to_string(&path).expect("a page");
        let name = path.file_name().expect("a name").to_string_lossy();
        let is_run = !page.contains("\n```rust\n") || doctests.contains(&format!("docs/{name}\""));
        assert!(is_run, "crates/zarr-kit/src/lib.rs does not run the Rust blocks of {name}");
        let folder = tempfile::tempdir().expect("makes a folder");
        let fixtures = root().canonicalize().expect("the root").join("fixtures");
        std::os::unix::fs::symlink(fixtures, folder.path().join("fixtures")).expect("links");
        let (now, commands) = replay(&page, folder.path());
        run += commands;
        drawn += pictures(folder.path(), write);
        if write {
            fs::write(&path, now).expect("writes the page");
        } else {
            assert_eq!(now, page, "{}: run with BOOK=write to see the difference", path.display());
        }
    }
    assert!(run > 15, "only {run} commands in the book");
    assert!(drawn >= 2, "only {drawn} pictures drawn by the book");
}

/// Compares the pictures that the commands of a page drew with those that the book shows, or
/// replaces these. Returns their number.
fn pictures(folder: &Path, write: bool) -> usize {
    let entries =
        fs::read_dir(folder).expect("the folder of the page").map(|entry| entry.expect("an entry"));
    let drawn = entries.filter(|entry| entry.path().extension().is_some_and(|kind| kind == "svg"));
    let mut count = 0;
    for entry in drawn {
        let shown = root().join("docs/pictures").join(entry.file_name());
        let now = fs::read_to_string(entry.path()).expect("a picture");
        if write {
            fs::write(&shown, now).expect("writes the picture");
        } else {
            let before = fs::read_to_string(&shown).expect("the picture that the book shows");
            assert_eq!(now, before, "{}: run with BOOK=write to update it", shown.display());
        }
        count += 1;
    }
    count
}

/// The page with the current output of its commands, and their number.
fn replay(page: &str, folder: &Path) -> (String, usize) {
    let mut now = String::new();
    let mut count = 0;
    let mut rest = page;
    while let Some((before, block)) = rest.split_once(BEGIN) {
        let (block, after) = block.split_once(END).expect("the end of a block");
        now.push_str(before);
        now.push_str(BEGIN);
        for command in commands(block) {
            let _infallible = writeln!(now, "$ {command}");
            now.push_str(&output(&command, folder));
            count += 1;
        }
        now.push_str(END);
        rest = after;
    }
    now.push_str(rest);
    (now, count)
}

/// The commands of a block; an indented line continues the command before it.
fn commands(block: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut open = false;
    for line in block.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => {
                commands.push(command.to_owned());
                open = true;
            }
            (None, Some(command)) if open && line.starts_with("    ") => {
                command.push('\n');
                command.push_str(line);
            }
            _ => open = false,
        }
    }
    commands
}

/// The output of a command, with messages after results.
fn output(command: &str, folder: &Path) -> String {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_zarr-kit"));
    let mut path = vec![program.parent().expect("in a folder").to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(path).expect("folders"))
        .env_remove("CLICOLOR_FORCE")
        .env_remove("COLUMNS")
        .output()
        .expect("runs a shell");
    [output.stdout, output.stderr].iter().map(|text| String::from_utf8_lossy(text)).collect()
}

/// Checks that the index of the benchmarks agrees with its pages: each row begins with the page
/// that has all of its figures.
#[test]
fn headlines_are_those_of_their_pages() {
    let docs = root().join("docs");
    let index = fs::read_to_string(docs.join("bench.md")).expect("the index");
    let mut figures = 0;
    for row in index.lines().filter(|line| line.starts_with("| [")) {
        let (_, link) = row.split_once("](").expect("a link");
        let (link, rest) = link.split_once(')').expect("its end");
        let page = link.split('#').next().unwrap_or_default();
        let page = fs::read_to_string(docs.join(page)).expect("a page");
        for figure in numbers(rest) {
            assert!(numbers(&page).any(|number| number == figure), "{figure} is not in {link}");
            figures += 1;
        }
    }
    assert!(figures > 40, "{figures}");
}

/// The numbers in a text, as they are written.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.map(|word| word.trim_matches('.')).filter(|word| !word.is_empty())
}

/// Checks that zarrs code in a page equals the text between two marks of a program in
/// `xtask/peers`, which this workspace does not build.
#[test]
fn what_is_shown_of_zarrs_is_a_program() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect(path);
    let page = read("docs/from-zarrs.md");
    let (_, shown) = page.split_once("```rust,ignore\n// zarrs\n").expect("a block");
    let (shown, _) = shown.split_once(END).expect("its end");
    let program = read("xtask/peers/zarrs-writer/examples/february.rs");
    let (_, run) = program.split_once("// What the page shows begins here.\n").expect("a mark");
    let (run, _) = run.split_once("    // And ends here.").expect("a mark");
    let run: Vec<&str> = run.lines().map(|line| line.strip_prefix("    ").unwrap_or("")).collect();
    assert_eq!(shown.lines().collect::<Vec<_>>(), run);
}
