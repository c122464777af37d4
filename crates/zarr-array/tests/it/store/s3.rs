//! Tests against an S3-compatible server, run by `cargo xtask s3-test`.

use std::env;

use super::processes;

/// A separate place for each test, on the server that the environment names.
fn url(test: &str) -> String {
    let bucket = env::var("ZARR_KIT_S3_URL").expect("run by cargo xtask s3-test");
    format!("{bucket}/{test}-{}", std::process::id())
}

/// The number of writes of each concurrent writer.
fn rounds() -> u16 {
    env::var("ZARR_KIT_ROUNDS").map_or(100, |rounds| rounds.parse().unwrap())
}

#[test]
#[ignore = "needs cargo xtask s3-test"]
fn no_element_is_lost_between_threads_and_processes() {
    processes::interleave_in_threads_and_processes(&url("interleave"), rounds());
}
