//! Names from outside that would drive a terminal, or forge lines of the command's own.

use std::path::Path;
use std::process::Output;

use crate::support::{file, run, succeed};

/// Characters that a terminal obeys, in text and in JSON: they set the title and clear the
/// screen, start an 8-bit CSI, reverse the order of letters, end the line and begin one that
/// looks like output of the command.
const HOSTILE: &str =
    "x\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{2028}\nerror: real.json: forged";

/// The same as a file name, without `/`.
const NAME: &str = HOSTILE;

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// All output is plain text in lines, none of which is forged.
fn assert_harmless(arguments: &[&str], output: &Output) {
    for bytes in [&output.stdout, &output.stderr] {
        let text = std::str::from_utf8(bytes).expect("UTF-8");
        let bad = text.chars().find(|c| {
            (c.is_control() && *c != '\n')
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}')
        });
        assert_eq!(bad, None, "{arguments:?}: {text}");
        assert!(!text.contains("\nerror: real.json"), "{arguments:?}: {text}");
    }
    assert_ne!(output.status.code(), None, "{arguments:?}");
}

/// Each command on an array, with and without JSON.
fn commands_on(folder: &Path, array: &str) -> Vec<Output> {
    let commands: &[&[&str]] = &[
        &["info", array],
        &["info", array, "--json"],
        &["read", array],
        &["read", array, "--explain"],
        &["read", array, "--format", "lines"],
        &["read", array, "--format", "csv"],
        &["write", array, "--from", "elements.raw"],
        &["check", array],
        &["check", array, "--data"],
        &["check", array, "--data", "--json"],
        &["locate", array, "1"],
        &["locate", array, "1", "--json"],
        &["plan", array],
        &["plan", array, "--json"],
        &["draw", array],
        &["draw", array, "--json"],
        &["draw", array, "--axes", HOSTILE],
        &["draw", array, "-o", "picture.svg"],
        &["resize", array, "--shape", "4", "--edges", HOSTILE],
        &["resize", array, "--shape", HOSTILE],
        &["append", array, "--axis", HOSTILE, "--from", "elements.raw"],
        &["copy", array, "copied", "--overwrite"],
        &["copy", array, "copied", "--overwrite", "--json", "--chunks", "1"],
        &["copy", array, array],
    ];
    let run_all = commands.iter().map(|arguments| {
        let output = run(folder, arguments);
        assert_harmless(arguments, &output);
        output
    });
    let outputs: Vec<Output> = run_all.collect();
    let picture = std::fs::read_to_string(folder.join("picture.svg")).unwrap_or_default();
    assert!(!picture.contains(|c: char| c.is_control() && c != '\n'), "{picture}");
    outputs
}

/// An array of four numbers, with the parts of its document to fill in.
struct Document<'a> {
    name: &'a str,
    attributes: &'a str,
    data_type: &'a str,
    codec: &'a str,
    other: &'a str,
}

impl Document<'_> {
    fn json(&self) -> String {
        let Self { name, attributes, data_type, codec, other } = self;
        format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": {data_type},
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [2]}}}},
            "chunk_key_encoding": {{"name": "default"}}, "fill_value": 0,
            "codecs": [{codec}], "dimension_names": [{name}], "attributes": {attributes}{other}}}"#
        )
    }
}

#[test]
fn documents() {
    let hostile = quoted(HOSTILE);
    // As escapes in the document, and unescaped as far as JSON allows.
    let raw = "\"x\u{9b}31m\u{202e}\u{2066}\u{2028}\u{7f}\"";
    let plain = Document {
        name: "\"time\"",
        attributes: "{}",
        data_type: "\"uint8\"",
        codec: r#"{"name": "bytes"}"#,
        other: "",
    };
    for text in [hostile.as_str(), raw] {
        let of = |template: &str| template.replace("HOSTILE", text);
        let attributes = of(r#"{HOSTILE: 1, "unit": HOSTILE, "deep": [{HOSTILE: [HOSTILE]}]}"#);
        let codec = of(r#"{"name": HOSTILE, "configuration": {HOSTILE: HOSTILE}}"#);
        let member = of(r#"{"name": "gzip", "configuration": {"level": 1, HOSTILE: HOSTILE}}"#);
        let value = of(r#"{"name": "gzip", "configuration": {"level": HOSTILE}}"#);
        let named = of(r#"{"name": HOSTILE, "configuration": {}}"#);
        let other = of(r#", HOSTILE: {"must_understand": true, "x": HOSTILE}"#);
        let fill = of(r#", "fill_value": HOSTILE"#);
        let cases = [
            Document { name: text, ..plain },
            Document { attributes: &attributes, ..plain },
            Document { attributes: text, ..plain },
            Document { data_type: text, ..plain },
            Document { data_type: &named, ..plain },
            Document { codec: text, ..plain },
            Document { codec: &codec, ..plain },
            Document { codec: &member, ..plain },
            Document { codec: &value, ..plain },
            Document { other: &other, ..plain },
            Document { other: &fill, ..plain },
        ];
        for case in &cases {
            let folder = tempfile::tempdir().expect("makes a folder");
            file(folder.path(), "array/zarr.json", case.json());
            file(folder.path(), "array/c/0", [1, 2]);
            file(folder.path(), "elements.raw", [1, 2, 3, 4]);
            commands_on(folder.path(), "array");
        }
    }
}

#[test]
fn a_name_is_shown_escaped() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let name = quoted("a\u{1b}[2J\u{202e}");
    let document = Document {
        name: &name,
        attributes: "{}",
        data_type: "\"uint8\"",
        codec: r#"{"name": "bytes"}"#,
        other: "",
    };
    file(folder.path(), "array/zarr.json", document.json());
    let words = run(folder.path(), &["info", "array"]);
    let words = String::from_utf8(words.stdout).expect("UTF-8");
    assert!(words.contains(r"  a\u{1b}[2J\u{202e}  4 in 2 chunks of 2"), "{words}");
    let json = run(folder.path(), &["info", "array", "--json"]);
    let json = String::from_utf8(json.stdout).expect("UTF-8");
    assert!(json.contains(r#""dimension_names": ["a\u001b[2J\u202e"]"#), "{json}");
}

#[cfg(unix)]
#[test]
fn names_of_files_and_nodes() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let path = folder.path();
    let create = |name: &str| {
        succeed(path, &["create", name, "--shape", "4", "--dtype", "uint8", "--chunks", "2"]);
        file(path, "elements.raw", [1, 2, 3, 4]);
        succeed(path, &["write", name, "--from", "elements.raw"]);
    };
    // A node of a group, a stray file, a chunk that none should be, a temporary file.
    file(path, "group/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    create(&format!("group/{NAME}"));
    file(path, &format!("group/{NAME}.txt"), "");
    file(path, &format!("group/{NAME}/c/{NAME}"), "");
    file(path, &format!("group/{NAME}/c/9"), "");
    file(path, &format!("group/bad{NAME}/zarr.json"), "{");
    let mine = format!("group/{NAME}");
    for array in [mine.as_str(), "group"] {
        commands_on(path, array);
    }
    let bad = format!("group/bad{NAME}");
    commands_on(path, &bad);
    let found = run(path, &["check", "group"]);
    let findings = String::from_utf8(found.stdout).expect("UTF-8");
    assert_eq!(findings.lines().count(), 4, "{findings}");
    assert!(findings.contains(r"\nerror: real.json: forged"), "{findings}");
}

#[test]
fn arguments() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let path = folder.path();
    succeed(path, &["create", "a", "--shape", "4", "--dtype", "uint8", "--dims", "x"]);
    let option = format!("--{HOSTILE}");
    let commands: &[&[&str]] = &[
        &[HOSTILE],
        &["info", HOSTILE],
        &["info", "a", HOSTILE],
        &["info", "a", &option],
        &["read", "a", "--region", HOSTILE],
        &["read", "a", "--format", HOSTILE],
        &["read", "a", "-o", HOSTILE],
        &["write", "a", "--from", HOSTILE],
        &["create", HOSTILE, "--shape", "4", "--dtype", "uint8"],
        &["create", "b", "--shape", "4", "--dtype", HOSTILE],
        &["create", "b", "--shape", "4", "--dtype", "uint8", "--chunks", HOSTILE],
        &["create", "b", "--shape", "4", "--dtype", "uint8", "--codecs", HOSTILE],
        &["create", "b", "--shape", "4", "--dtype", "uint8", "--fill", HOSTILE],
        &["create", "b", "--shape", "4", "--dtype", "uint8", "--attributes", HOSTILE],
        &["create", "b", "--shape", "4", "--dtype", "uint8", "--dims", HOSTILE],
        &["create", "b", "--metadata", HOSTILE],
        &["copy", "a", HOSTILE],
        &["copy", HOSTILE, "b"],
        &["copy", "a", "b", "--memory", HOSTILE],
        &["copy", "a", "b", "--chunks", HOSTILE],
        &["check", HOSTILE],
        &["locate", "a", HOSTILE],
        &["plan", "a", "--region", HOSTILE],
        &["draw", "a", "-o", HOSTILE],
        &["draw", "a", "--axes", HOSTILE],
        &["append", "a", "--from", HOSTILE],
        &["append", "a", "--axis", HOSTILE, "--from", "-"],
        &["completions", HOSTILE],
    ];
    for arguments in commands {
        let output = run(path, arguments);
        assert_harmless(arguments, &output);
        let message = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(message.lines().count() <= 1, "{arguments:?}: {message}");
    }
}

/// The list of files that `check --repair` removed, and the source of an unfinished copy.
#[cfg(unix)]
#[test]
fn leftovers_and_sources_of_hostile_names() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "a", "--shape", "4", "--dtype", "int8", "--chunks", "2"]);
    for json in [&[][..], &["--json"]] {
        for prefix in [".zarr-kit-tmp.1.2.3.", ".zarr-kit-lock."] {
            file(folder, &format!("a/c/{prefix}{NAME}"), "");
            let repair = [&["check", "a", "--repair"], json].concat();
            let output = run(folder, &repair);
            assert_harmless(&repair, &output);
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            let text = String::from_utf8(output.stdout).expect("UTF-8");
            assert!(text.contains(prefix) && text.contains("forged"), "{text}");
            // The names of removed files are in the document, not beside it.
            let is_document = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            assert_eq!(is_document, !json.is_empty(), "{text}");
            assert_eq!(std::fs::read_dir(folder.join("a/c")).expect("a folder").count(), 0);
        }
    }
    // Text of a marker that needs no escape in JSON.
    let from = "/x\u{202e}\u{2066}\u{2028}error: real.json: forged\u{9b}31m";
    for from in [from.to_owned(), from.replace('\u{9b}', "")] {
        let marker = format!(
            "{{\"unfinished_copy\": {{\n  \"version\": 1,\n  \"node\": \"array\",\n  \
             \"from\": \"{from}\"\n}}}}"
        );
        file(folder, "begun/zarr-kit-copy.json", marker);
        for arguments in [&["info", "begun"][..], &["read", "begun"], &["check", "begun"]] {
            let output = run(folder, arguments);
            assert_harmless(arguments, &output);
            assert_ne!(output.status.code(), Some(0), "{output:?}");
        }
    }
}

/// Groups whose nodes, dimensions, units, attributes and fields have hostile names, in every command
/// that takes groups or several nodes.
#[cfg(unix)]
#[test]
fn groups_joins_and_differences() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let at = folder.path();
    let hostile = quoted(HOSTILE);
    let group = format!(
        r#"{{"zarr_format": 3, "node_type": "group", "attributes": {{{hostile}: {hostile}}}}}"#
    );
    let array = |data_type: &str| {
        format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [4],
            "data_type": {data_type}, "chunk_grid": {{"name": "regular", "configuration":
            {{"chunk_shape": [2]}}}}, "chunk_key_encoding": {{"name": "default"}},
            "fill_value": 0, "codecs": [{{"name": "bytes"}}], "dimension_names": [{hostile}],
            "attributes": {{"units": {hostile}, "standard_name": {hostile}, {hostile}: 1}}}}"#
        )
    };
    let fields = format!(
        r#"{{"name": "struct", "configuration": {{"fields": [
        {{"name": {hostile}, "data_type": "uint8"}}]}}}}"#
    );
    let named = "x\u{1b}]0;owned\u{7}\u{202e}\nerror: real.json: forged";
    for name in ["one", "two"] {
        file(at, &format!("{name}/zarr.json"), &group);
        for node in [named, "plain"] {
            file(at, &format!("{name}/{node}/zarr.json"), array("\"uint8\""));
            file(at, &format!("{name}/{node}/c/0"), [1, 2]);
            file(at, &format!("{name}/{node}/c/1"), [3, 4]);
        }
        file(at, &format!("{name}/{named} in/zarr.json"), &group);
        file(at, &format!("{name}/{named} in/{named}.txt"), "?");
    }
    let records = array(&fields).replace("\"fill_value\": 0", "\"fill_value\": \"AA==\"");
    file(at, "records/zarr.json", records);
    file(at, "records/c/0", [1, 2]);
    file(at, "elements.raw", [1, 2]);
    let inner = format!("one/{named}");
    let deeper = format!("one/{named} in/new");
    let commands: &[&[&str]] = &[
        &["info", "one"],
        &["info", "one", "--json"],
        &["tree", "one"],
        &["tree", "one", "--json"],
        &["check", "one", "--data"],
        &["check", "one", "--json"],
        &["diff", "one", "two"],
        &["diff", "one", "records"],
        &["diff", "one", "two", "--json"],
        &["stats", &inner],
        &["stats", &inner, "--json"],
        &["advise", &inner],
        &["draw", &inner, "--values"],
        &["attrs", "one"],
        &["attrs", &inner],
        &["attrs", &inner, "--json"],
        &["read", "one"],
        &["read", &inner, "--region", "nowhere=1"],
        &["read", &inner, "--decode"],
        &["read", "records"],
        &["read", "records", "-f", "json"],
        &["read", "records", "-f", "lines"],
        &["read", "records", "-f", "csv"],
        &["read", "records", "--explain"],
        &["info", "records"],
        &["stats", "records"],
        &["write", "records", "--from", "elements.raw"],
        &["join", "one", "two", "--along", HOSTILE, "-o", "j0", "--dry-run"],
        &["join", "one", "two", "--along", HOSTILE, "-o", "j1", "--dry-run", "--json"],
        &["join", "one", "two", "--along", "0", "-o", "j2", "--dry-run"],
        &["join", "one", "records", "--along", HOSTILE, "-o", "j3"],
        &["join", &inner, "two/plain", "--along", "0", "-o", "j4"],
        &["join", &inner, "records", "--along", "0", "-o", "j5"],
        &["join", "one", "two", "--along", HOSTILE, "-o", "v.zjoin", "--virtual"],
        &["info", "v.zjoin"],
        &["check", "v.zjoin"],
        &["read", "v.zjoin"],
        &["join", "one", "two", "--along", HOSTILE, "-o", "joined"],
        &["append", "joined", "two", "--axis", HOSTILE],
        &["rearrange", "joined", "--axis", HOSTILE, "--remove", "0:2"],
        &["rearrange", "joined", "--axis", HOSTILE, "--remove", "0:1"],
        &["copy", "one", "copied", "--dry-run", "--chunks", "1"],
        &["copy", "one", "copied", "--dry-run", "--json"],
        &["copy", "one", "copied"],
        &["copy", "one", "copied"],
        &["export", "one", "-o", "refs.json"],
        &["info", "refs.json"],
        &["consolidate", "one"],
        &["create", "one", "--group"],
        &["create", &deeper, "--shape", "1", "--dtype", "uint8"],
        &["delete", "one", "--yes"],
        &["delete", "one"],
        &["delete", "one", "--yes", "--with-other-files"],
        &["delete", "two", "--yes", "--with-other-files", "--json"],
    ];
    for arguments in commands {
        assert_harmless(arguments, &run(at, arguments));
    }
    let left = ["one", "two"].map(|name| at.join(name).exists());
    assert_eq!(left, [false, false]);
}

/// Text goes to a terminal through the functions of `output`, which escape it: no other file prints.
/// Bytes that a program reads are written as they are by the commands named here, and by no other.
#[test]
fn everything_is_printed_through_one_writer() {
    const RAW: [&str; 4] = ["completions.rs", "draw.rs", "print.rs", "read.rs"];
    let mut waiting = vec![crate::support::root().join("crates/zarr-cli/src")];
    let mut seen = 0;
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a folder");
            waiting.extend(entries.map(|entry| entry.expect("an entry").path()));
            continue;
        }
        seen += 1;
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("text");
        let is_writer = path.ends_with("output/print.rs") || name == "conformance.rs";
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let prints = ["println!(", "print!(", "write!(io::std", "anstream::std"];
            let place = format!("{}:{}: {line}", path.display(), number + 1);
            assert!(is_writer || !prints.iter().any(|it| code.contains(it)), "{place}");
            assert!(RAW.contains(&name.as_str()) || !code.contains(".raw("), "{place}");
        }
    }
    assert!(seen > 50, "{seen} files");
}

/// A file that no key can name is not copied, and said not to be.
#[cfg(unix)]
#[test]
fn files_that_no_key_can_name_are_told() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "a", "--shape", "4", "--dtype", "int8"]);
    file(folder, "a/back\\slash", "lost");
    let copied = run(folder, &["copy", "a", "b"]);
    assert!(copied.status.success());
    let said = String::from_utf8(copied.stderr).expect("text");
    assert!(said.contains("back\\slash is not in the copy: no key can have this name"), "{said}");
    let copied = run(folder, &["copy", "a", "c", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&copied.stdout).expect("JSON");
    assert_eq!(report["without_key"], serde_json::json!(["back\\slash"]));
    // Nothing is said where nothing is lost.
    let copied = run(folder, &["copy", "b", "d"]);
    assert!(!String::from_utf8_lossy(&copied.stderr).contains("key"));
}
