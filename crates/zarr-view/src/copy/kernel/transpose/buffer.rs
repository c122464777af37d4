//! The buffer that the blocks of a transpose go through.

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use crate::copy::kernel::cache::LINE;
use crate::copy::region::Target;
use crate::view::signed;

/// Bytes of the buffer of a copy that exceeds the cache: it stays in the second-level cache. It
/// is on the heap, because a thread's whole stack may be no larger.
pub(crate) const LARGE: usize = 160 << 10;

/// Bytes of the buffer of a smaller copy; on the stack.
const SMALL: usize = 16 << 10;

/// Uninitialised memory that starts at a cache line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Buffer {
    pub(crate) start: *mut u8,
    pub(crate) bytes: usize,
}

/// A cache line.
#[repr(align(64))]
struct Line {
    _bytes: [u8; LINE],
}

/// The memory of a large buffer, from the first plane of a copy that needs one.
#[derive(Default)]
pub(crate) struct Memory {
    lines: Vec<MaybeUninit<Line>>,
}

impl Memory {
    /// Runs a copy with a large buffer, or a small one if memory is short.
    pub(crate) fn large(&mut self, run: impl FnOnce(Buffer)) {
        match self.lines.try_reserve_exact(LARGE / LINE) {
            Ok(()) => run(Buffer { start: self.lines.as_mut_ptr().cast(), bytes: LARGE }),
            Err(_) => Buffer::small(run),
        }
    }
}

impl Buffer {
    /// The place where it begins.
    #[inline(always)]
    pub(super) fn target(&self) -> Target {
        Target::within(self.start, || 0..signed(self.bytes))
    }

    /// Runs a copy with a small buffer. Not inlined, so that other copies need no stack space for
    /// it.
    #[inline(never)]
    pub(crate) fn small(run: impl FnOnce(Self)) {
        let mut lines = [const { MaybeUninit::<Line>::uninit() }; SMALL / LINE];
        run(Self { start: lines.as_mut_ptr().cast(), bytes: SMALL });
    }
}
