//! `cargo xtask s3-test`: the tests that need an S3-compatible server, against one on the loopback
//! device.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::run::{Outcome, cargo, make_folder, root};
use crate::testing::optimised;
use crate::venv;

const MANIFEST: &str = "xtask/peers/s3-server/Cargo.toml";
const TARGET: &str = "xtask/peers/s3-server/target";

/// Starts moto's server.
const MOTO: &str = "crates/zarr-python/tests/servers.py";

/// Builds the server, starts it on an empty folder, and runs the tests of `zarr-array` and
/// `zarr-store` that are ignored otherwise; with `--bench` it measures the throughput and that of a
/// plain client instead.
///
/// `--quick` runs 20 rounds of concurrent writers instead of 100: with building the server, about a
/// minute and a half on two cores. `--unlocked` starts the server without its locks: the tests must
/// then fail. `--moto` takes the server of the Python package moto, as the tests of the Python package
/// do, for a second opinion of the protocol.
pub(crate) fn s3_test(arguments: &[String]) -> Outcome {
    let mut run = Run { bench: false, unlocked: false, moto: false, rounds: "100" };
    for argument in arguments {
        match argument.as_str() {
            "--bench" => run.bench = true,
            "--unlocked" => run.unlocked = true,
            "--moto" => run.moto = true,
            "--quick" => run.rounds = "20",
            _ => {
                return Err("usage: cargo xtask s3-test [--bench | --quick] [--unlocked | --moto]"
                    .to_owned());
            }
        }
    }
    if run.moto {
        let mut server = Command::new(venv::package()?);
        server.arg(root().join(MOTO));
        return with_server(&mut server, &run);
    }
    // Tests need a server that builds quickly; measurements need a fast one.
    let program = if run.bench { build("release", "release")? } else { program()? };
    let folder = std::env::temp_dir().join(format!("zarr-kit-s3-{}", std::process::id()));
    let bucket = folder.join("bucket");
    make_folder(&bucket)?;
    let mut server = Command::new(program);
    server.arg(&folder).args(run.unlocked.then_some("--unlocked"));
    let outcome = with_server(&mut server, &run);
    // Anything left behind is in the folder for temporary files.
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}

/// Builds the server for tests.
pub(crate) fn program() -> Result<PathBuf, String> {
    build("dev", "debug")
}

fn build(profile: &str, folder: &str) -> Result<PathBuf, String> {
    let build = ["build", "--profile", profile, "--locked", "--quiet", "--manifest-path", MANIFEST];
    cargo(&build, &[("CARGO_TARGET_DIR", TARGET)])?;
    Ok(root().join(TARGET).join(folder).join("s3-server"))
}

struct Run {
    bench: bool,
    unlocked: bool,
    moto: bool,
    /// The number of writes of each concurrent writer.
    rounds: &'static str,
}

fn with_server(server: &mut Command, run: &Run) -> Outcome {
    let program = server.get_program().display().to_string();
    let mut server = server
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("could not start {program}: {error}"))?;
    let outcome = port_of(&mut server).and_then(|port| {
        let endpoint = format!("http://127.0.0.1:{port}");
        // An endpoint that is written with `http:` allows it; the plain client must be told.
        let allow_http = if run.bench { "true" } else { "" };
        let environment = [
            ("ZARR_KIT_S3_URL", "s3://bucket"),
            ("AWS_ENDPOINT_URL", endpoint.as_str()),
            ("AWS_ALLOW_HTTP", allow_http),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test-secret"),
            // The machine may be busy, and a conditional put that timed out is not retried.
            ("AWS_TIMEOUT", "300 seconds"),
            ("ZARR_KIT_ROUNDS", run.rounds),
        ];
        if run.bench {
            let package = ["--package", "zarr-array", "--features", "aws", "--locked"];
            return cargo(&[&["bench", "--bench", "s3"][..], &package].concat(), &environment);
        }
        // Built by `check` before.
        let build = optimised::crates();
        let tests = ["--test", "it", "s3::", "--", "--ignored"];
        // moto takes any keys.
        let without: &[&str] = if run.moto { &["--skip", "wrong_settings"] } else { &[] };
        cargo(&[&["test"][..], &build, &tests, without].concat(), &environment)
    });
    // The server ends with its input.
    drop(server.stdin.take());
    server.wait().map_err(|error| format!("{program}: {error}"))?;
    outcome
}

fn port_of(server: &mut Child) -> Result<u16, String> {
    let output = server.stdout.take().ok_or("the server has no output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).map_err(|error| error.to_string())?;
    line.trim().parse().map_err(|_| format!("the server gave no port, but {line:?}"))
}
