//! `cargo xtask simulate --faults`: leaves out each step of the protocol in turn, and looks whether
//! anybody notices.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::{BLOCK, USAGE, build, program};
use crate::rules::steps::{PAGE, Step, steps};
use crate::run::Outcome;

/// The variable of the environment that names the step that is left out.
const WITHOUT: &str = "ZARR_KIT_WITHOUT_STEP";

/// Seeds within which a step must be found.
const MOST: u64 = 100_000;

/// Steps that need no more seeds are looked for in every check.
const QUICK: u64 = 500;

/// Leaves out each step, or those that are found quickly, or one.
pub(super) fn faults(arguments: &[String]) -> Outcome {
    let all = steps()?;
    let (chosen, most): (Vec<Step>, u64) = match arguments {
        [] => (all, MOST),
        [flag] if flag == "--quick" => {
            let quick = |step: &Step| step.seeds.is_some_and(|seeds| seeds <= QUICK);
            (all.into_iter().filter(quick).collect(), QUICK)
        }
        [flag, seeds] if flag == "--seeds" => (all, seeds.parse().map_err(|_| USAGE.to_owned())?),
        [name] => {
            let one: Vec<Step> = all.into_iter().filter(|step| step.name == *name).collect();
            match one.is_empty() {
                true => return Err(format!("{PAGE} has no step {name:?}")),
                false => (one, MOST),
            }
        }
        _ => return Err(USAGE.to_owned()),
    };
    build()?;
    let (next, missed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = |core: usize| {
        while let Some(step) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = found(step, most, core);
            println!("{:<60} {}", step.name, found.as_deref().unwrap_or("NOT FOUND"));
            if found.is_none() {
                missed.lock().unwrap_or_else(PoisonError::into_inner).push(step.name.clone());
            }
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let work = &work;
        (0..cores).for_each(|core| drop(scope.spawn(move || work(core))));
    });
    let missed = missed.into_inner().unwrap_or_else(PoisonError::into_inner);
    match missed.is_empty() {
        true => Ok(()),
        false => Err(format!("nothing notices that these are left out: {}", missed.join("; "))),
    }
}

/// Who notices that a step is left out.
fn found(step: &Step, most: u64, core: usize) -> Option<String> {
    let by_seed = || {
        let most = most.min(step.seeds?.saturating_mul(4).clamp(QUICK, MOST));
        (0..most.div_ceil(BLOCK)).find_map(|block| {
            let arguments = [block * BLOCK, BLOCK, core as u64].map(|number| number.to_string());
            let ran = Command::new(program()).args(arguments).env(WITHOUT, &step.name).output();
            let ran = ran.ok().filter(|ran| !ran.status.success())?;
            let said = String::from_utf8_lossy(&ran.stdout).into_owned();
            Some(said.lines().next().unwrap_or("it panicked").chars().take(100).collect())
        })
    };
    let by_test = || {
        let (name, test) = step.test.as_ref()?;
        let cargo = |environment: &str| {
            let mut command = Command::new("cargo");
            command.args(["test", "--quiet", "--locked", "--all-features", "--package", name]);
            // Else the switch is not there.
            command.args(["--package", "zarr-store", "--features", "zarr-store/simulation"]);
            command.args(["--", "--exact", test]).env(WITHOUT, environment);
            command.output().ok()
        };
        let (with, without) = (cargo("")?, cargo(&step.name)?);
        let ran = String::from_utf8_lossy(&with.stdout).contains("1 passed");
        (ran && with.status.success() && !without.status.success()).then(|| test.clone())
    };
    by_seed().or_else(by_test)
}
