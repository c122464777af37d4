//! `cargo xtask exhaustive` and `cargo xtask asan`: tests that take minutes, or another compiler.

use std::process::Command;

use crate::run::{Outcome, cargo, step};
use crate::testing::optimised::CONFIG;

/// The variable that makes tests run all their cases instead of a sample.
const EXHAUSTIVE: (&str, &str) = ("ZARR_KIT_EXHAUSTIVE", "1");

/// Runs the full products of the kernels of `zarr-packbits` and the grids of `zarr-grid`, a million
/// views of `zarr-view`, and the tests that end operations of `zarr-array` and `zarr-join` at each place,
/// let each request to a server fail, or damage each place of files of references.
pub(crate) fn exhaustive(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask exhaustive".to_owned());
    }
    // All tests: a filter by name would still pass after its test is renamed.
    let packages = [
        "zarr-array",
        "zarr-packbits",
        "zarr-grid",
        "zarr-view",
        "zarr-join",
        "zarr-virtual-join",
        "zarr-references",
    ];
    let mut words = vec!["test", CONFIG[0], CONFIG[1], "--test", "it", "--locked"];
    words.extend(packages.iter().flat_map(|package| ["--package", package]));
    words.extend(["--features", "zarr-references/parquet"]);
    cargo(&words, &[EXHAUSTIVE])
}

/// The only target of the kernels, and one with the sanitizer; naming it keeps the flags from build
/// scripts and macros.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Runs a sample of the tests of the crates with unsafe code under AddressSanitizer; with
/// `--exhaustive` all of them.
pub(crate) fn asan(arguments: &[String]) -> Outcome {
    let full = match arguments {
        [] => false,
        [flag] if flag == "--exhaustive" => true,
        _ => return Err("usage: cargo xtask asan [--exhaustive]".to_owned()),
    };
    // Called by name: `CARGO` is the binary of this toolchain, which does not accept `+nightly`.
    let mut command = Command::new("cargo");
    command.args(["+nightly", "test", "--locked", "--target", TARGET, "--lib", "--tests"]);
    // Optimised as users run it, since that decides the vector code under test.
    command.args(CONFIG);
    command.args(["--package", "zarr-packbits", "--package", "zarr-view"]);
    // Takes minutes, and moves no bytes.
    command.args(["--", "--skip", "every_view_of_up_to_8_elements_to_every_shape"]);
    command.env("RUSTFLAGS", "-Zsanitizer=address").env("ASAN_OPTIONS", "detect_leaks=0");
    command.envs(full.then_some(EXHAUSTIVE));
    step(&mut command)
}
