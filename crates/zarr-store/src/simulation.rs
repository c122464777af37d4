//! Hooks for a simulation of this library: it decides how long pauses are, counts how often marked
//! places were reached, and leaves out a step of the protocol.
//!
//! Only for `cargo xtask simulate`. Without a simulation, pauses have their normal length.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::LockGuard;

/// The variable of the environment that names the step to leave out.
pub const WITHOUT: &str = "ZARR_KIT_WITHOUT_STEP";

static LEFT_OUT: OnceLock<Option<String>> = OnceLock::new();

/// Whether this step is taken; [`step!`](crate::step) calls it.
pub fn takes(name: &'static str) -> bool {
    let left_out = LEFT_OUT.get_or_init(|| std::env::var(WITHOUT).ok());
    left_out.as_deref() != Some(name)
}

/// A lock, or one that claims to be held; [`lock_step!`](crate::lock_step) calls it.
pub fn held(name: &'static str, guard: LockGuard) -> LockGuard {
    match takes(name) {
        true => guard,
        false => LockGuard::new(guard.scope(), ()),
    }
}

static PAUSES: OnceLock<fn(Duration) -> Duration> = OnceLock::new();

static REACHED: Mutex<BTreeMap<&str, u64>> = Mutex::new(BTreeMap::new());

/// Sets the length of pauses that are otherwise random: `pauses` maps the average to the length.
/// The first call in a process counts.
pub fn set_pauses(pauses: fn(Duration) -> Duration) {
    PAUSES.get_or_init(|| pauses);
}

/// Whether this process is a simulation, which knows its own threads alone: whoever waits, waits in
/// the thread of the caller.
pub(crate) fn is_running() -> bool {
    PAUSES.get().is_some()
}

pub(crate) fn pause(average: Duration) -> Option<Duration> {
    PAUSES.get().map(|pauses| pauses(average))
}

/// Counts that a place was reached; [`reached!`](crate::reached) calls it.
pub fn reach(name: &'static str) {
    let mut reached = REACHED.lock().unwrap_or_else(PoisonError::into_inner);
    let count = reached.entry(name).or_default();
    *count += 1;
}

/// How often each place was reached in this process.
pub fn counts() -> BTreeMap<&'static str, u64> {
    REACHED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
