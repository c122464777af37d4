//! Stores that go past the caches.
//!
//! An ordinary store reads the line it is going to overwrite. Where whole lines are written that
//! nobody reads soon, a streaming store saves that read, a third of the traffic of a copy.

use core::arch::x86_64::*;

/// A cache line. Its alignment is what streaming stores require.
#[repr(C, align(64))]
pub(in crate::arch) struct Line([u8; 64]);

impl Line {
    pub(in crate::arch) fn bytes(&mut self) -> &mut [u8; 64] {
        &mut self.0
    }
}

/// The part of a slice that is whole lines, with what comes before and after.
pub(in crate::arch) fn lines(bytes: &mut [u8]) -> (&mut [u8], &mut [Line], &mut [u8]) {
    // SAFETY: a `Line` is 64 bytes without padding, of which every value is valid, and so is every
    // value of it as bytes.
    unsafe { bytes.align_to_mut() }
}

/// Writes a line. [`fence`] has to follow before anything reads it, on any thread.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::arch) fn store(line: &mut Line, vector: __m512i) {
    // SAFETY: an exclusive reference is valid for writes of its 64 bytes, and aligned to 64. The only
    // caller that streams borrows the lines until it has fenced, and cannot panic in between.
    unsafe { _mm512_stream_si512(line.0.as_mut_ptr().cast(), vector) }
}

/// Makes streaming stores come before every later store, as ordinary ones do.
#[inline]
#[target_feature(enable = "sse")]
pub(in crate::arch) fn fence() {
    _mm_sfence();
}
