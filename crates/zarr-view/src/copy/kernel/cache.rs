//! Cache lines: writing past the cache, and asking for lines ahead.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::x86;

/// Bytes of a cache line.
pub(super) const LINE: usize = 64;

/// Copies a row past the cache: whole lines with streaming stores, the two ends with normal
/// stores.
///
/// # Safety
/// `bytes` bytes are valid for reads from `src`, for writes from `dst`, and do not overlap.
pub(super) unsafe fn stream(src: *const u8, dst: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: head, lines and tail together are the row; `fence` is called at the end of `run`.
    unsafe {
        let head = dst.align_offset(LINE).min(bytes);
        let lines = (bytes - head) & !(LINE - 1);
        if head > 0 {
            core::ptr::copy_nonoverlapping(src, dst, head);
        }
        x86::stream(src.add(head), dst.add(head), lines);
        let tail = head + lines;
        if tail < bytes {
            core::ptr::copy_nonoverlapping(src.add(tail), dst.add(tail), bytes - tail);
        }
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    // SAFETY: the caller guarantees that both sides are valid for `bytes` bytes and do not
    // overlap.
    unsafe {
        core::ptr::copy_nonoverlapping(src, dst, bytes);
    }
}

/// Prefetches the cache line at `at`, which need not be valid.
#[inline(always)]
pub(super) fn prefetch(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    x86::prefetch(at);
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    let _ = at;
}
