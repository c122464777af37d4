//! Cache lines: writing past the cache, and asking for lines ahead.

use super::super::one_loop::Loop;
use super::vector::LANE;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::vector::x86;

/// Bytes of a cache line.
pub(super) const LINE: usize = 64;

/// Steps of at least this many bytes lead to separate pages. Lines so far apart map to the same set of
/// the innermost cache.
pub(super) const PAGE: usize = 4096;

/// The lines of a set, in the smaller caches.
pub(super) const WAYS: usize = 8;

/// Bytes of the sets that one of several columns takes, `step` bytes apart: columns a multiple of a
/// power of two apart do not use the sets between them.
#[inline(always)]
pub(super) fn apart(step: isize) -> usize {
    (1 << step.trailing_zeros().min(PAGE.trailing_zeros())).max(LINE)
}

/// Whether there are stores past the cache; without them a copy past it is an ordinary one.
pub(super) const HAS_STREAMING: bool = cfg!(all(target_arch = "x86_64", target_feature = "sse2"));

/// Copies of at least this many bytes are assumed to exceed the cache.
pub(super) const STREAMED: usize = 4 << 20;

/// Copies of elements of at least one lane also stream from this many bytes on, because they are
/// fast without a buffer. So do copies of at least [`PART`] bytes to places that reach this far.
pub(super) const REACHING: usize = 4 * STREAMED;

/// Smaller parts of an array are written through the cache.
const PART: usize = 64 << 10;

/// Whether the destination is a part of an array that exceeds the cache, such as the place of a
/// chunk. Its lines are then not in the cache before they are written.
pub(super) fn is_part(loops: &[Loop], size: usize, total: usize) -> bool {
    if total < PART {
        return false;
    }
    let reach = loops.iter().fold(size, |reach, each| {
        reach.saturating_add((each.count - 1).saturating_mul(each.dst.unsigned_abs()))
    });
    reach >= REACHING
}

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

/// Copies a stretch past the cache, in lanes if they are aligned in the destination.
///
/// The lines at its ends are then written in part. This costs less than normal stores, which would
/// read the lines first; adjacent stretches complete each other's lines.
///
/// # Safety
/// As [`stream`].
#[inline(never)]
pub(super) unsafe fn stream_stretch(src: *const u8, dst: *mut u8, bytes: usize) {
    // SAFETY: the caller guarantees the stretch.
    unsafe {
        if dst.addr().is_multiple_of(LANE) && bytes.is_multiple_of(LANE) {
            stream_lanes(src, dst, bytes);
        } else {
            stream(src, dst, bytes);
        }
    }
}

/// Copies lanes past the cache.
///
/// # Safety
/// As [`stream`]; `dst` is aligned to a lane, and `bytes` are whole lanes.
#[inline(always)]
pub(super) unsafe fn stream_lanes(src: *const u8, dst: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: the caller guarantees the lanes; `fence` is called at the end of `run`.
    unsafe {
        x86::stream_lanes(src, dst, bytes);
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    // SAFETY: the caller guarantees that both sides are valid for `bytes` bytes and do not
    // overlap.
    unsafe {
        core::ptr::copy_nonoverlapping(src, dst, bytes);
    }
}

/// How many bytes of rows are prefetched before they are written.
const AHEAD: usize = 1024;

/// Rows of a destination that lie apart, like the rows of a chunk within a larger array.
///
/// Each then begins in lines that are in no cache, and perhaps in a separate page. Stores are
/// completed in order, so that each would wait for its line, and the processor cannot predict where
/// the next row begins. Their lines are prefetched some rows before they are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Apart {
    bytes: usize,
    step: isize,
    rows: isize,
}

impl Apart {
    /// For rows of `bytes` bytes, `step` bytes apart, or `None` if they lie close together.
    #[inline(always)]
    pub(super) fn new(bytes: usize, step: isize) -> Option<Self> {
        let apart = step.unsigned_abs() >= 2 * bytes.max(LINE);
        apart.then(|| Self { bytes, step, rows: (AHEAD / bytes).clamp(1, 16) as isize })
    }

    /// Prefetches the row that follows the one at `dst` after some others.
    #[inline(always)]
    pub(super) fn ahead(&self, dst: *const u8) {
        self.row(dst.wrapping_offset(self.rows.wrapping_mul(self.step)));
    }

    /// Prefetches the row at `dst`.
    #[inline(always)]
    pub(super) fn row(&self, dst: *const u8) {
        let mut at = 0;
        while at < self.bytes {
            prefetch(dst.wrapping_add(at));
            at += LINE;
        }
        prefetch(dst.wrapping_add(self.bytes - 1));
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
