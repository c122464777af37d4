//! Numbers of runs.

use std::hash::{BuildHasher as _, RandomState};
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

/// A number that no other run has: 16 hexadecimal digits.
///
/// # Panics
/// On `wasm32-unknown-unknown`, where nothing makes numbers differ. Pages of browsers do not write.
///
/// ```
/// assert_ne!(zarr_journal::run_number(), zarr_journal::run_number());
/// ```
#[must_use]
pub fn run_number() -> String {
    // A forked process has the random keys of its parent, and some systems one clock tick for both.
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    format!("{:016x}", RandomState::new().hash_one((process::id(), time)))
}
