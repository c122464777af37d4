//! A count of the bytes that copies write.

use core::sync::atomic::{AtomicU64, Ordering};

static WRITTEN: AtomicU64 = AtomicU64::new(0);

pub(super) fn add(bytes: usize) {
    WRITTEN.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// The bytes that all copies of this process have written to destinations so far, by all threads.
///
/// Take it before and after; the difference shows that a result was written once.
#[must_use]
pub fn bytes_written() -> u64 {
    WRITTEN.load(Ordering::Relaxed)
}
