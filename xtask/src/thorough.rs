//! `cargo xtask exhaustive` and `cargo xtask asan`: what takes minutes, or another compiler.

use std::process::Command;

use crate::run::{Outcome, cargo, step};

/// Tests that thin out what they go through, unless this is set.
const EXHAUSTIVE: (&str, &str) = ("ZARR_KIT_EXHAUSTIVE", "1");

/// Runs the full products of the kernels of `zarr-packbits` and the grids of `zarr-grid`, and a million
/// views of `zarr-view`.
pub(crate) fn exhaustive(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask exhaustive".to_owned());
    }
    // All tests: a filter by name would go on to pass when the test that it means is renamed.
    let packages =
        ["--package", "zarr-packbits", "--package", "zarr-grid", "--package", "zarr-view"];
    let mut words = vec!["test", "--profile", "test-release", "--test", "it", "--locked"];
    words.extend(packages);
    cargo(&words, &[EXHAUSTIVE])
}

/// The only target of the kernels, and one that has the sanitizer; naming it keeps the flags from
/// build scripts and macros.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Runs the tests of the crates that have unsafe code of their own, thinned, under
/// AddressSanitizer; with `--exhaustive` the full products.
pub(crate) fn asan(arguments: &[String]) -> Outcome {
    let full = match arguments {
        [] => false,
        [flag] if flag == "--exhaustive" => true,
        _ => return Err("usage: cargo xtask asan [--exhaustive]".to_owned()),
    };
    // Called by its name, as `CARGO` is that of this toolchain, which knows no `+nightly`.
    let mut command = Command::new("cargo");
    command.args(["+nightly", "test", "--locked", "--target", TARGET, "--lib", "--tests"]);
    // Optimised as users run it: the vector code under test is what the compiler makes of it.
    command.args(["--profile", "test-release"]);
    command.args(["--package", "zarr-packbits", "--package", "zarr-view"]);
    // Takes minutes, and moves no bytes.
    command.args(["--", "--skip", "every_view_of_up_to_8_elements_to_every_shape"]);
    command.env("RUSTFLAGS", "-Zsanitizer=address").env("ASAN_OPTIONS", "detect_leaks=0");
    command.envs(full.then_some(EXHAUSTIVE));
    step(&mut command)
}
