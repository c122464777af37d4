//! Stores that bypass the caches.
//!
//! An ordinary store reads the line that it overwrites. If whole lines are written that are not
//! read soon, a streaming store saves that read, which is a third of the traffic of a copy.

use core::arch::x86_64::*;

/// A cache line. Streaming stores require its alignment.
#[repr(C, align(64))]
pub(in crate::arch) struct Line([u8; 64]);

impl Line {
    pub(in crate::arch) fn bytes(&mut self) -> &mut [u8; 64] {
        &mut self.0
    }
}

/// The part of a slice that is whole lines, and the bytes before and after it.
pub(in crate::arch) fn lines(bytes: &mut [u8]) -> (&mut [u8], &mut [Line], &mut [u8]) {
    // SAFETY: a `Line` is 64 bytes without padding, every value of which is valid, and every line
    // is valid as bytes.
    unsafe { bytes.align_to_mut() }
}

/// Writes a line. [`fence`] must follow before any thread reads it.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::arch) fn store(line: &mut Line, vector: __m512i) {
    // SAFETY: an exclusive reference is valid for writes of its 64 bytes, and aligned to 64. The
    // only caller that streams keeps the lines borrowed until after the fence, and cannot panic
    // in between.
    unsafe { _mm512_stream_si512(line.0.as_mut_ptr().cast(), vector) }
}

/// Orders streaming stores before every later store, as ordinary stores are.
#[inline]
#[target_feature(enable = "sse")]
pub(in crate::arch) fn fence() {
    _mm_sfence();
}
