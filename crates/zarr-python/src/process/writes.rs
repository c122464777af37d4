//! The number of writes of this process, so that reads before a write have another name in Dask
//! than reads after it.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;

/// One count for all stores: a link, another spelling of a URL or a virtual join lead to the same
/// chunks.
static WRITES: AtomicU64 = AtomicU64::new(0);

/// Counts a write when it ends, whether it succeeded or not: reads during a write may be old.
pub(crate) struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        wrote();
    }
}

/// How many writes have ended.
#[pyfunction]
pub(crate) fn writes() -> u64 {
    WRITES.load(Ordering::Relaxed)
}

/// Counts a write that others did for this process, such as the workers of a cluster.
#[pyfunction]
pub(crate) fn wrote() {
    WRITES.fetch_add(1, Ordering::Relaxed);
}
