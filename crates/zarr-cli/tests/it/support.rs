//! Runs the command, and shows all of its output.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The repository's root: fixtures are named from there, so that no message has a path of this
/// machine.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The program with its arguments, in a folder.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zarr-kit"));
    command.args(arguments).current_dir(folder);
    command.env_remove("CLICOLOR_FORCE").env_remove("COLUMNS");
    command
}

/// Runs in a folder.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("runs")
}

/// Runs with bytes on standard input.
pub(crate) fn run_with(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = command(folder, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    // A command that refuses its arguments reads nothing.
    let _closed = child.stdin.take().expect("piped").write_all(input);
    child.wait_with_output().expect("ends")
}

/// Runs a command, which must succeed without output on standard error; returns its output.
pub(crate) fn stdout(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = run(folder, arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", shown(arguments, &output));
    output.stdout
}

/// Runs a command, which must succeed; returns its output as text.
pub(crate) fn text(folder: &Path, arguments: &[&str]) -> String {
    String::from_utf8(stdout(folder, arguments)).expect("UTF-8")
}

/// Runs, which must succeed.
pub(crate) fn succeed(folder: &Path, arguments: &[&str]) {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{}", shown(arguments, &output));
}

fn shown(arguments: &[&str], output: &Output) -> String {
    let mut text = String::from("$ zarr-kit");
    for argument in arguments {
        let quoted = argument.contains(|c: char| " '|[{*".contains(c));
        let _infallible = match quoted {
            true => write!(text, " '{argument}'"),
            false => write!(text, " {argument}"),
        };
    }
    text.push('\n');
    text.push_str(&String::from_utf8_lossy(&output.stdout));
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        // How long a read took is another time each time.
        let _infallible = match line.strip_prefix("  fetched ").and_then(|it| it.split_once(" in "))
        {
            Some((fetched, _)) => writeln!(text, "!   fetched {fetched} in .."),
            None => writeln!(text, "! {line}"),
        };
    }
    match output.status.code() {
        Some(0) => {}
        Some(code) => {
            let _infallible = writeln!(text, "exit status {code}");
        }
        None => text.push_str("killed by a signal\n"),
    }
    text
}

/// A session in a folder: each command with all of its output (`!` before lines on standard
/// error) and its exit status unless 0.
pub(crate) fn session(folder: &Path, commands: &[&[&str]]) -> String {
    let shown = commands.iter().map(|arguments| shown(arguments, &run(folder, arguments)));
    shown.collect::<Vec<_>>().join("\n")
}

/// Writes a file in a folder.
pub(crate) fn file(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("in a folder")).expect("makes the folder");
    std::fs::write(path, bytes).expect("writes");
}

/// Makes two arrays of 6 by 4 elements in chunks of 4 by 3: `codec`, whose compressor is unknown,
/// with two chunks and an object that is not a chunk, and `type`, whose element type is unknown.
pub(crate) fn not_supported(folder: &Path) {
    for (name, data_type, codecs) in [
        ("codec", "uint8", r#"[{"name": "bytes"}, {"name": "lzma"}]"#),
        ("type", "somebody.type", r#"[{"name": "bytes"}]"#),
    ] {
        let document = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [6, 4], "fill_value": 0,
            "data_type": "{data_type}", "codecs": {codecs}, "dimension_names": ["y", "x"],
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [4, 3]}}}},
            "chunk_key_encoding": {{"name": "default"}}}}"#
        );
        file(folder, &format!("{name}/zarr.json"), document);
    }
    file(folder, "codec/c/0/1", "12345");
    file(folder, "codec/c/1/1", "123");
    file(folder, "codec/c/1/x", "?");
}
