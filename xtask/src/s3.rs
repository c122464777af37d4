//! `cargo xtask s3-test`: the tests that need an S3-compatible server, against one on the loopback
//! device.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::run::{Outcome, cargo, root};

const MANIFEST: &str = "xtask/peers/s3-server/Cargo.toml";
const BINARY: &str = "xtask/peers/s3-server/target/release/s3-server";

/// Builds the server, starts it on an empty folder, and runs the tests of `zarr-array` that are
/// ignored otherwise; with `--bench` the throughput beside a plain client instead.
///
/// `--unlocked` starts the server without its locks: the tests must then fail.
pub(crate) fn s3_test(arguments: &[String]) -> Outcome {
    let mut bench = false;
    let mut unlocked = false;
    for argument in arguments {
        match argument.as_str() {
            "--bench" => bench = true,
            "--unlocked" => unlocked = true,
            _ => return Err("usage: cargo xtask s3-test [--bench] [--unlocked]".to_owned()),
        }
    }
    cargo(&["build", "--release", "--locked", "--quiet", "--manifest-path", MANIFEST], &[])?;
    let folder = std::env::temp_dir().join(format!("zarr-kit-s3-{}", std::process::id()));
    let bucket = folder.join("bucket");
    std::fs::create_dir_all(&bucket).map_err(|error| format!("{}: {error}", bucket.display()))?;
    let outcome = with_server(&folder, unlocked, bench);
    // What is left is in the folder for temporary files.
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}

fn with_server(folder: &Path, unlocked: bool, bench: bool) -> Outcome {
    let mut server = Command::new(root().join(BINARY))
        .arg(folder)
        .args(unlocked.then_some("--unlocked"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("could not start {BINARY}: {error}"))?;
    let outcome = port_of(&mut server).and_then(|port| {
        let endpoint = format!("http://127.0.0.1:{port}");
        let environment = [
            ("ZARR_KIT_S3_URL", "s3://bucket"),
            ("AWS_ENDPOINT_URL", endpoint.as_str()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test-secret"),
        ];
        let package = ["--package", "zarr-array", "--features", "aws", "--locked"];
        if bench {
            return cargo(&[&["bench", "--bench", "s3"][..], &package].concat(), &environment);
        }
        let test = [&["test", "--quiet", "--test", "it"][..], &package].concat();
        cargo(&[&test[..], &["store::s3", "--", "--ignored"]].concat(), &environment)
    });
    // The server ends with its input.
    drop(server.stdin.take());
    server.wait().map_err(|error| format!("{BINARY}: {error}"))?;
    outcome
}

fn port_of(server: &mut Child) -> Result<u16, String> {
    let output = server.stdout.take().ok_or("the server has no output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).map_err(|error| error.to_string())?;
    line.trim().parse().map_err(|_| format!("the server gave no port, but {line:?}"))
}
