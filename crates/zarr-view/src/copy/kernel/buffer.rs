//! The buffer that the blocks of a transpose go through.

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use super::cache::LINE;

/// Bytes of the buffer of a copy that exceeds the cache: it stays in the second-level cache. It
/// is on the heap, because a thread's whole stack may be no larger.
pub(super) const LARGE: usize = 160 << 10;

/// Bytes of the buffer of a smaller copy; on the stack.
const SMALL: usize = 16 << 10;

/// Uninitialised memory that starts at a cache line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Buffer {
    pub(super) start: *mut u8,
    pub(super) bytes: usize,
}

/// A cache line.
#[repr(align(64))]
struct Line {
    _bytes: [u8; LINE],
}

impl Buffer {
    /// For kernels that need no buffer.
    pub(super) const NONE: Self = Self { start: core::ptr::dangling_mut(), bytes: 0 };

    /// Runs a copy with a large buffer, or a small one if memory is short.
    pub(super) fn large(run: impl FnOnce(Self)) {
        let mut lines: Vec<MaybeUninit<Line>> = Vec::new();
        match lines.try_reserve_exact(LARGE / LINE) {
            Ok(()) => run(Self { start: lines.as_mut_ptr().cast(), bytes: LARGE }),
            Err(_) => Self::small(run),
        }
    }

    /// Runs a copy with a small buffer. Not inlined, so that other copies need no stack space for
    /// it.
    #[inline(never)]
    pub(super) fn small(run: impl FnOnce(Self)) {
        let mut lines = [const { MaybeUninit::<Line>::uninit() }; SMALL / LINE];
        run(Self { start: lines.as_mut_ptr().cast(), bytes: SMALL });
    }
}
