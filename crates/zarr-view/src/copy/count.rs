//! A count of the bytes that copies write.

use core::sync::atomic::{AtomicU64, Ordering};

static WRITTEN: AtomicU64 = AtomicU64::new(0);

pub(super) fn add(bytes: usize) {
    WRITTEN.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// The number of bytes that all copies of this process have written so far, on all threads.
///
/// Call it before and after a copy: the difference shows whether each byte was written once.
#[must_use]
pub fn bytes_written() -> u64 {
    WRITTEN.load(Ordering::Relaxed)
}
