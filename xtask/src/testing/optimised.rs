//! The tests of builds without debug assertions.

/// Crates of safe code without features, which do not ask whether debug assertions are on: where their
/// tests pass with overflow checked, they compute the same without.
const SAFE: [&str; 7] = [
    "zarr-check",
    "zarr-copy",
    "zarr-join",
    "zarr-metadata",
    "zarr-report",
    "zarr-virtual-join",
    "zarr-zip",
];

/// What tells `cargo test` to test the other crates, in the same builds for all who ask.
pub(crate) fn crates() -> Vec<&'static str> {
    let safe = SAFE.iter().flat_map(|name| ["--exclude", name]);
    [&["--workspace"][..], &safe.collect::<Vec<_>>(), &HOW].concat()
}

/// The settings of builds without debug assertions, which share the crates of others with `cargo test`.
pub(crate) const CONFIG: [&str; 2] = ["--config", "xtask/optimised.toml"];

/// How they are built.
const HOW: [&str; 5] = ["--all-features", CONFIG[0], CONFIG[1], "--locked", "--quiet"];
