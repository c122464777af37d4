//! Strings and byte strings: created, written from lines and JSON, printed, copied and checked.

use std::fs;

use crate::support::{file, run_with, session, stdout, succeed};

#[test]
fn strings_from_the_command_line() {
    let folder = tempfile::tempdir().expect("makes a folder");
    file(
        folder.path(),
        "names.json",
        r#"[["Genève", "", "a\u001b[31mb"], ["two\nlines", "\"q\"", "日本"]]"#,
    );
    file(folder.path(), "row.lines", "\"x\"\n\"y\"\n\"z\"\n");
    file(folder.path(), "short.lines", "\"x\"\n");
    file(folder.path(), "bare.lines", "x\n");
    file(folder.path(), "ragged.json", r#"[["a", "b", "c"], ["d"]]"#);
    file(folder.path(), "flat.json", r#"["a", "b", "c"]"#);
    file(folder.path(), "numbers.npy", b"\x93NUMPY\x01\x00");
    insta::assert_snapshot!(session(
        folder.path(),
        &[
            &[
                "create", "a", "--shape", "2,3", "--dtype", "string", "--chunks", "2,2", "--fill",
                "n/a"
            ],
            &["read", "a"],
            &["write", "a", "--from", "names.json"],
            &["info", "a"],
            &["read", "a"],
            &["read", "a", "-f", "lines"],
            &["read", "a", "-f", "json"],
            &["read", "a", "-r", "::-1,1"],
            &["read", "a", "-r", "0,0", "-f", "json"],
            &["read", "a", "-f", "npy"],
            &["read", "a", "-f", "csv"],
            &["read", "a", "-o", "a.raw"],
            &["write", "a", "--from", "row.lines", "-r", "1"],
            &["append", "a", "--axis", "0", "--from", "row.lines"],
            &["append", "a", "--axis", "0", "--from", "short.lines"],
            &["append", "a", "--axis", "0", "--from", "flat.json"],
            &["read", "a"],
            &["write", "a", "--from", "short.lines"],
            &["write", "a", "--from", "bare.lines", "-r", "0,0"],
            &["write", "a", "--from", "ragged.json", "-r", "0:2"],
            &["write", "a", "--from", "flat.json", "-r", "0:1"],
            &["write", "a", "--from", "numbers.npy"],
            &["check", "a", "--data"],
            &["copy", "a", "b", "--chunks", "3,1", "--verify"],
            &["read", "b"],
            &["locate", "a", "0,0"],
        ],
    ));
}

#[test]
fn byte_strings_from_the_command_line() {
    let folder = tempfile::tempdir().expect("makes a folder");
    insta::assert_snapshot!(session(
        folder.path(),
        &[&["create", "a", "--shape", "3", "--dtype", "bytes", "--fill", "AQID"], &["read", "a"]],
    ));
    let written =
        run_with(folder.path(), &["write", "a", "--from", "-"], b"[\"Zm9v\", \"\", \"/w==\"]");
    assert!(written.status.success(), "{written:?}");
    assert_eq!(stdout(folder.path(), &["read", "a", "-f", "lines"]), b"\"Zm9v\"\n\"\"\n\"/w==\"\n");
}

/// Lines and JSON are read back as they were written, whatever they contain.
#[test]
fn what_was_printed_can_be_written() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let strings = ["\u{0}", "\u{85}\u{202e}", "\\\"", "", "é\r\n", "\u{e0001}", "[", "1"];
    let json = serde_json::to_string(&strings).expect("JSON");
    file(folder.path(), "in.json", &json);
    for name in ["a", "b", "c"] {
        succeed(folder.path(), &["create", name, "--shape", "8", "--dtype", "string"]);
    }
    succeed(folder.path(), &["write", "a", "--from", "in.json"]);
    succeed(folder.path(), &["read", "a", "-f", "lines", "-o", "out.lines"]);
    succeed(folder.path(), &["read", "a", "-o", "out.json"]);
    succeed(folder.path(), &["write", "b", "--from", "out.lines"]);
    succeed(folder.path(), &["write", "c", "--from", "out.json"]);
    let chunk = |name: &str| fs::read(folder.path().join(name).join("c/0")).expect("a chunk");
    assert_eq!(chunk("a"), chunk("b"));
    assert_eq!(chunk("a"), chunk("c"));
    let read: Vec<String> =
        serde_json::from_slice(&stdout(folder.path(), &["read", "c", "-f", "json"])).expect("JSON");
    assert_eq!(read, strings);
}

/// As numbers: an axis that is given by one index is in the lists of a file, or is not.
#[test]
fn lists_of_strings_have_the_axes_of_the_region_or_of_the_array() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "a", "--shape", "2,2", "--dtype", "string"]);
    file(folder, "row.json", r#"["a", "b"]"#);
    file(folder, "rows.json", r#"[["c", "d"]]"#);
    succeed(folder, &["write", "a", "--from", "row.json", "-r", "0"]);
    succeed(folder, &["write", "a", "--from", "rows.json", "-r", "1"]);
    assert_eq!(stdout(folder, &["read", "a", "-f", "lines"]), b"\"a\"\n\"b\"\n\"c\"\n\"d\"\n");
    let refused = run_with(folder, &["write", "a", "--from", "-", "-r", "0"], b"[[\"a\"]]");
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(message.contains("standard input: an array of shape [1, 1], but"), "{message}");
}

#[test]
fn long_arrays_of_strings_are_elided() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let strings: Vec<String> = (0..2000).map(|n| format!("s{n}")).collect();
    file(folder.path(), "in.json", serde_json::to_string(&strings).expect("JSON"));
    succeed(
        folder.path(),
        &["create", "a", "--shape", "2000", "--dtype", "string", "--chunks", "100"],
    );
    succeed(folder.path(), &["write", "a", "--from", "in.json"]);
    let text = stdout(folder.path(), &["read", "a", "--elide"]);
    let expected = "[   \"s0\"    \"s1\"    \"s2\" ... \"s1997\" \"s1998\" \"s1999\"]\n";
    assert_eq!(String::from_utf8(text).expect("text"), expected);
}

#[test]
fn numbers_are_printed_as_json_too() {
    let folder = tempfile::tempdir().expect("makes a folder");
    succeed(
        folder.path(),
        &["create", "a", "--shape", "2,2", "--dtype", "float32", "--fill", "NaN"],
    );
    let text = stdout(folder.path(), &["read", "a", "-f", "json"]);
    assert_eq!(text, b"[[\"NaN\", \"NaN\"],\n [\"NaN\", \"NaN\"]]\n");
}

/// Lines of optional elements could be lists as well: the name of the file says which.
#[test]
fn optional_elements_are_lines_or_lists_as_the_file_is_named() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let optional = |of: &str| {
        let of = format!(r#"{{"name": "{of}", "configuration": {{}}}}"#);
        format!(r#"{{"name": "zarrs.optional", "configuration": {of}}}"#)
    };
    let nested = format!(
        r#"{{"name": "zarrs.optional", "configuration": {{"name": "zarrs.optional", "configuration": {}}}}}"#,
        r#"{"name": "int8", "configuration": {}}"#
    );
    for (name, data_type, elements) in
        [("nested", nested, "[[null]]"), ("pairs", optional("complex64"), "[[[1.0, 2.0]]]")]
    {
        succeed(folder, &["create", name, "--shape", "1", "--dtype", &data_type]);
        file(folder, "in.json", elements);
        succeed(folder, &["write", name, "--from", "in.json"]);
        let printed = |format| stdout(folder, &["read", name, "-f", format]);
        let (lines, lists) = (printed("lines"), printed("json"));
        for (out, format) in [("out.jsonl", "lines"), ("out.json", "json")] {
            succeed(folder, &["read", name, "-f", format, "-o", out]);
            file(folder, "in.json", "[null]");
            succeed(folder, &["write", name, "--from", "in.json"]);
            succeed(folder, &["write", name, "--from", out]);
            assert_eq!(
                (printed("lines"), printed("json")),
                (lines.clone(), lists.clone()),
                "{out}"
            );
        }
    }
}
