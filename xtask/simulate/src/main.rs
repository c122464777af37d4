//! Runs clients of zarr-kit in a store that fails. A seed decides all of a run: operations, faults,
//! and which client makes the next request. `cargo xtask simulate` calls it.
//!
//! # What is real and what is not
//! The code of the library is real, down to the requests of `RemoteStore` and the calls of a `Store`.
//! Simulated are the bucket behind `RemoteStore`, a store with locks as that of local files, processes
//! and their ends, and how long the library pauses. A client is a process with one thread: this
//! program runs on one core, so that the library starts no others.

#![deny(unsafe_code)]

mod archiver;
mod bucket;
mod calls;
mod client;
mod copier;
mod disk;
mod files;
mod history;
mod joined;
mod joiner;
mod judge;
mod linker;
mod op;
mod order;
mod placed;
mod plan;
mod random;
mod rival;
mod run;
mod schedule;
mod shrink;
mod world;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::plan::Plan;
use crate::run::run;

const USAGE: &str = "usage: zarr-simulate FIRST COUNT CORE | zarr-simulate SEED";

/// Each run of so many is made twice, to see that its seed decides all of it.
const AGAIN: u64 = 16;

fn main() -> ExitCode {
    let numbers: Option<Vec<u64>> =
        std::env::args().skip(1).map(|argument| argument.parse().ok()).collect();
    let done = match numbers.as_deref() {
        Some([seed]) => prepare(0).and_then(|()| show(*seed)),
        Some([first, count, core]) => prepare(*core).and_then(|()| many(*first, *count)),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs this program on one core, so that each pool of threads of the library has one thread.
fn prepare(number: u64) -> Result<(), String> {
    zarr_store::simulation::set_pauses(|_| Duration::ZERO);
    let cores = sched_getaffinity(None).map_err(|error| error.to_string())?;
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|core| cores.is_set(*core)).collect();
    let mut one = CpuSet::new();
    let at = number.checked_rem(cores.len() as u64).unwrap_or(0);
    one.set(cores[usize::try_from(at).unwrap_or(0)]);
    sched_setaffinity(None, &one).map_err(|error| error.to_string())
}

/// Runs `count` seeds from `first` on, and prints what it counted.
fn many(first: u64, count: u64) -> Result<(), String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for seed in first..first + count {
        let plan = Plan::new(seed);
        let report = run(&plan, false);
        let mut add = |name: String, number| *counts.entry(name).or_default() += number;
        add("seeds".to_owned(), 1);
        add("requests".to_owned(), report.requests);
        add("undecided".to_owned(), u64::from(!report.is_decided));
        for op in plan.clients.iter().flatten() {
            add(format!("operation {}", op.name()), 1);
        }
        for kind in report.met {
            add(format!("fault {kind:?}"), 1);
        }
        if let Some(fault) = report.fault {
            // A step was left out, so a failure is wanted.
            return Err(match std::env::var_os(zarr_store::simulation::WITHOUT) {
                Some(_) => format!("seed {seed} failed: {fault}"),
                None => failed(&plan),
            });
        }
        if seed % AGAIN == 0 && run(&plan, false).trace != report.trace {
            return Err(format!("seed {seed} does not decide all of its run\n{plan}"));
        }
    }
    let reached = zarr_store::simulation::counts();
    counts.extend(reached.into_iter().map(|(name, count)| (format!("reached {name}"), count)));
    counts.iter().for_each(|(name, number)| println!("{name} {number}"));
    Ok(())
}

/// A failing run in words, and the shortest one found that fails.
fn failed(plan: &Plan) -> String {
    let (first, second) = (run(plan, false), run(plan, false));
    let replays = match first.trace == second.trace {
        true => "it replays exactly",
        false => "it does not replay",
    };
    let short = shrink::shrink(plan);
    let report = run(&short, true);
    format!(
        "seed {} failed, {replays}: {}\nThe shortest history found that fails:\n{short}{}\n{}",
        plan.seed,
        first.fault.unwrap_or_default(),
        report.lines.join("\n"),
        report.fault.unwrap_or_default()
    )
}

/// Shows a run.
fn show(seed: u64) -> Result<(), String> {
    let plan = Plan::new(seed);
    let report = run(&plan, true);
    println!("{plan}{}\ntrace {:016x}", report.lines.join("\n"), report.trace);
    match report.fault {
        Some(_) => Err(failed(&plan)),
        None => Ok(()),
    }
}
