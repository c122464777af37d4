//! `cargo xtask s3-test`: the tests that need an S3-compatible server, against one on the loopback
//! device.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::run::{Outcome, cargo, root};

const MANIFEST: &str = "xtask/peers/s3-server/Cargo.toml";
const TARGET: &str = "xtask/peers/s3-server/target";

/// Builds the server, starts it on an empty folder, and runs the tests of `zarr-array` that are
/// ignored otherwise; with `--bench` it measures the throughput and that of a plain client instead.
///
/// `--quick` runs 20 rounds of concurrent writers instead of 100: with building the server, about a
/// minute and a half on two cores. `--unlocked` starts the server without its locks: the tests must
/// then fail.
pub(crate) fn s3_test(arguments: &[String]) -> Outcome {
    let mut bench = false;
    let mut unlocked = false;
    let mut quick = false;
    for argument in arguments {
        match argument.as_str() {
            "--bench" => bench = true,
            "--unlocked" => unlocked = true,
            "--quick" => quick = true,
            _ => {
                return Err(
                    "usage: cargo xtask s3-test [--bench | --quick] [--unlocked]".to_owned()
                );
            }
        }
    }
    // Tests need a server that builds quickly; measurements need a fast one.
    let profile = if bench { "release" } else { "dev" };
    let build = ["build", "--profile", profile, "--locked", "--quiet", "--manifest-path", MANIFEST];
    cargo(&build, &[])?;
    let folder_of_profile = if bench { "release" } else { "debug" };
    let binary = root().join(TARGET).join(folder_of_profile).join("s3-server");
    let folder = std::env::temp_dir().join(format!("zarr-kit-s3-{}", std::process::id()));
    let bucket = folder.join("bucket");
    std::fs::create_dir_all(&bucket).map_err(|error| format!("{}: {error}", bucket.display()))?;
    let run = Run { bench, unlocked, rounds: if quick { "20" } else { "100" } };
    let outcome = with_server(&binary, &folder, &run);
    // Anything left behind is in the folder for temporary files.
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}

struct Run {
    bench: bool,
    unlocked: bool,
    /// The number of writes of each concurrent writer.
    rounds: &'static str,
}

fn with_server(binary: &Path, folder: &Path, run: &Run) -> Outcome {
    let mut server = Command::new(binary)
        .arg(folder)
        .args(run.unlocked.then_some("--unlocked"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("could not start {}: {error}", binary.display()))?;
    let outcome = port_of(&mut server).and_then(|port| {
        let endpoint = format!("http://127.0.0.1:{port}");
        let environment = [
            ("ZARR_KIT_S3_URL", "s3://bucket"),
            ("AWS_ENDPOINT_URL", endpoint.as_str()),
            ("AWS_ALLOW_HTTP", "true"),
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
        // Built as `check` builds it.
        let build = ["--workspace", "--all-features", "--profile", "test-release", "--locked"];
        let tests = ["--quiet", "--test", "it", "s3::", "--", "--ignored"];
        cargo(&[&["test"][..], &build, &tests].concat(), &environment)
    });
    // The server ends with its input.
    drop(server.stdin.take());
    server.wait().map_err(|error| format!("{}: {error}", binary.display()))?;
    outcome
}

fn port_of(server: &mut Child) -> Result<u16, String> {
    let output = server.stdout.take().ok_or("the server has no output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).map_err(|error| error.to_string())?;
    line.trim().parse().map_err(|_| format!("the server gave no port, but {line:?}"))
}
