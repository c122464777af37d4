//! Kills processes with signals.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zarr_array::store::{LeftoverKind, LocalStore, Prefix, Store};
use zarr_store_tests::child;

use super::between::assert_between;
use super::{Workload, objects, states};
use crate::store::processes;

/// How many processes are killed: `ZARR_KIT_KILLS=300` for the full number.
fn kills() -> usize {
    match std::env::var("ZARR_KIT_KILLS") {
        Ok(kills) => kills.parse().expect("ZARR_KIT_KILLS is a number"),
        Err(_) => 30,
    }
}

/// Large enough that writing a chunk takes a while.
const KILLED_SCALE: u64 = 4000;

/// The job of the killed process: the steps from this one on.
pub(crate) fn run_from(root: &str, step: usize, say: impl Fn(&str)) {
    let store = LocalStore::create(root).expect("opens");
    let workload = Workload::new(Arc::new(store), KILLED_SCALE);
    for step in step.. {
        say(&format!("step {step}"));
        match workload.step(step) {
            Some(outcome) => outcome.unwrap_or_else(|error| panic!("step {step}: {error}")),
            None => break,
        }
    }
}

/// Processes are killed at random moments, by SIGKILL and sometimes by the signal of Ctrl-C.
/// After each, another one repeats the step in which it ended.
#[test]
fn killed_at_random_moments_it_leaves_old_or_new_and_goes_on() {
    let states = states(KILLED_SCALE);
    let last = states.len() - 1;
    let kills = kills();
    let mut seed = 20_261_121_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below.max(1)
    };
    // The time of a run without a kill, from its first step.
    let mut whole_life = Duration::ZERO;
    let (mut killed, mut lives, mut temporaries, mut stayed) = (0, 0, 0, 0);
    let mut met = BTreeSet::new();
    while killed < kills || lives < 2 {
        let folder = tempfile::tempdir().expect("makes a folder");
        let root = folder.path().join("store");
        let mut step = 0;
        while step < last {
            let job = format!("workload {} {step}", root.display());
            let (mut child, mut output) = processes::start(&job);
            child::wait_for(&mut output, &format!("step {step}"));
            let begun = Instant::now();
            if lives > 0 && killed < kills {
                let micros = u64::try_from(whole_life.as_micros()).expect("soon");
                let wide = |n: usize| u64::try_from(n).expect("few");
                let (left, all) = (wide(last - step), wide(last));
                // At any moment of the rest, or early in a step: most steps are short.
                if killed % 2 == 0 {
                    std::thread::sleep(Duration::from_micros(random(micros * left / all)));
                } else {
                    let more = usize::try_from(random(left)).expect("few");
                    if more > 0 {
                        step += more;
                        child::wait_for(&mut output, &format!("step {step}"));
                    }
                    std::thread::sleep(Duration::from_micros(random(micros / all)));
                }
                killed += 1;
                if killed % 5 == 0 {
                    let interrupt = format!("kill -INT {}", child.id());
                    let sent = std::process::Command::new("sh").args(["-c", &interrupt]).status();
                    assert!(sent.expect("there is a shell").success());
                } else {
                    child.kill().expect("is ours");
                }
            }
            let mut text = String::new();
            output.read_to_string(&mut text).expect("text");
            let ended = child.wait().expect("ends");
            assert!(ended.success() || ended.code().is_none(), "{ended}: {text}");
            let mut begun_steps = text.lines().filter_map(|line| line.strip_prefix("step "));
            step = begun_steps.next_back().map_or(step, |step| step.parse().expect("a number"));
            if ended.success() {
                assert_eq!(step, last);
                if lives == 0 {
                    whole_life = begun.elapsed();
                }
            }
            let what = format!("kill {killed} in step {step}");
            let Ok(store) = LocalStore::open(&root) else { continue };
            let shared: Arc<dyn Store> = Arc::new(store.clone());
            let next = &states[(step + 1).min(last)];
            assert_between(&shared, &states[step], next, &what);
            met.insert(step);
            // Files that are not objects are reported, and may be removed.
            for leftover in store.leftovers(&Prefix::root()) {
                let leftover = leftover.expect("walks");
                assert!(leftover.kind != LeftoverKind::Foreign, "{what}: {leftover:?}");
                assert!(!leftover.in_use, "{what}: {leftover:?}");
                temporaries += usize::from(leftover.kind == LeftoverKind::Temporary);
            }
        }
        lives += 1;
        let store = LocalStore::open(&root).expect("opens");
        assert!(objects(&store) == states[last], "life {lives}: the end");
        // Those of removed objects, or in folders to which nobody has written again.
        store.clean(&Prefix::root(), &mut |_| stayed += 1).expect("cleans");
        let left = store.leftovers(&Prefix::root()).next().transpose().expect("walks");
        assert_eq!(left, None);
    }
    println!("{stayed} files stayed until they were asked for");
    println!("{killed} kills, {lives} lives of {whole_life:?}, {temporaries} unfinished writes");
    println!("ended in the steps {met:?}");
    assert_eq!(killed, kills);
}
