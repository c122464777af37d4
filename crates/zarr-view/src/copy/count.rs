//! A count of the bytes that copies write.

use std::cell::Cell;

std::thread_local! {
    static WRITTEN: Cell<u64> = const { Cell::new(0) };
}

pub(super) fn add(bytes: usize) {
    WRITTEN.set(WRITTEN.get().wrapping_add(bytes as u64));
}

/// The number of bytes that all copies on this thread have written so far.
///
/// Call it before and after a copy: the difference shows whether each byte was written once.
#[must_use]
pub fn bytes_written() -> u64 {
    WRITTEN.get()
}
