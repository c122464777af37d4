//! How often this process has written, so that what was read before a write has another name in Dask
//! than what is read after it.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;

/// One count for all stores: a link, another spelling of a URL or a virtual join lead to the same
/// chunks.
static WRITES: AtomicU64 = AtomicU64::new(0);

/// Counts a write when it ends, whether it succeeded or not: what is read during it may be old.
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
