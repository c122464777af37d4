//! `cargo xtask fuzz [--minutes N] [TARGET...]`: the fuzz targets, with their limits and dictionary.
//!
//! Needs cargo-fuzz and a nightly compiler. Starts from `xtask/fuzz/seeds/TARGET`, which is in
//! version control, and from `xtask/fuzz/corpus/TARGET`, which is not.

use std::process::Command;

use crate::run::{Outcome, make_folder, root, step};

const FOLDER: &str = "xtask/fuzz";

/// A program of the fuzz package.
struct Target {
    name: &'static str,
    /// The longest input in bytes; 0 lets the fuzzer choose.
    longest: u32,
    /// Whether inputs are documents, for which the fuzzer gets a dictionary.
    json: bool,
}

const TARGETS: &[Target] = &[
    Target { name: "metadata", longest: 65536, json: true },
    Target { name: "view", longest: 0, json: false },
    Target { name: "packbits", longest: 0, json: false },
    Target { name: "grid", longest: 0, json: false },
    Target { name: "chunk", longest: 4096, json: false },
    Target { name: "shard_index", longest: 4096, json: false },
    Target { name: "store", longest: 65536, json: true },
    Target { name: "strings", longest: 4096, json: false },
    Target { name: "version_2", longest: 65536, json: true },
    Target { name: "zip", longest: 65536, json: false },
    Target { name: "references", longest: 65536, json: true },
    Target { name: "zfp", longest: 4096, json: false },
];

/// Runs the named targets, or all, one after the other; by default for one minute each.
pub(crate) fn fuzz(arguments: &[String]) -> Outcome {
    let usage = || {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        format!("usage: cargo xtask fuzz [--minutes N] [{}]", names.join("|"))
    };
    let (minutes, names) = match arguments {
        [flag, minutes, names @ ..] if flag == "--minutes" => (minutes.parse().ok(), names),
        names => (Some(1), names),
    };
    let minutes: u64 = minutes.ok_or_else(usage)?;
    if names.iter().any(|name| TARGETS.iter().all(|target| target.name != *name)) {
        return Err(usage());
    }
    for target in TARGETS {
        if names.is_empty() || names.iter().any(|name| name == target.name) {
            run(target, minutes)?;
        }
    }
    Ok(())
}

/// An input that exceeds a limit on memory or time is a finding, like one that panics.
fn run(target: &Target, minutes: u64) -> Outcome {
    let corpus = format!("{FOLDER}/corpus/{}", target.name);
    make_folder(&corpus)?;
    // Called by name: `CARGO` is the binary of this toolchain, which does not accept `+nightly`.
    let mut command = Command::new("cargo");
    command.args(["+nightly", "fuzz", "run", "--fuzz-dir", FOLDER, target.name, &corpus]);
    let seeds = format!("{FOLDER}/seeds/{}", target.name);
    if root().join(&seeds).is_dir() {
        command.arg(seeds);
    }
    // Inputs have at most 64 KiB. The sanitizer makes code several times slower, and keeps freed
    // memory; an input that needs minutes or gigabytes of its own is far above these limits.
    command.args(["--", "-rss_limit_mb=1536", "-malloc_limit_mb=256", "-timeout=10"]);
    command.arg("-print_final_stats=1").arg(format!("-max_total_time={}", minutes * 60));
    if target.longest > 0 {
        command.arg(format!("-max_len={}", target.longest));
    }
    if target.json {
        command.arg(format!("-dict={FOLDER}/metadata.dict"));
    }
    step(&mut command)
}
