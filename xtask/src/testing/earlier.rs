//! `cargo xtask earlier`: an earlier build of the command and this one, in turn on one store.

use std::process::Command;

use crate::run::{Outcome, cargo, make_folder, step, target};

/// The revision that wrote `fixtures/releases/0.1`.
const REVISION: &str = "85e27b7b";

/// Builds the command of the revision, and runs the histories of `crates/zarr-cli/tests/it/turns.rs`
/// with it and with this build.
pub(crate) fn earlier(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask earlier".to_owned());
    }
    let folder = target().join("earlier");
    let (source, build) = (folder.join(REVISION), folder.join("build"));
    make_folder(&source)?;
    let unpack = "set -o pipefail; git archive \"$0\" | tar --extract --directory \"$1\"";
    step(Command::new("bash").args(["-c", unpack, REVISION]).arg(&source))?;
    let manifest = source.join("Cargo.toml").display().to_string();
    let to = build.display().to_string();
    let what = ["build", "--locked", "--package", "zarr-cli", "--manifest-path", &manifest];
    cargo(&[&what[..], &["--target-dir", &to]].concat(), &[])?;
    let program = build.join("debug/zarr-kit").display().to_string();
    let test = ["test", "--locked", "--package", "zarr-cli", "--test", "it", "turns"];
    cargo(&[&test[..], &["--", "--nocapture"]].concat(), &[("ZARR_KIT_EARLIER", &program)])
}
