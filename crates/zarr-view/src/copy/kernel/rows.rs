//! Short stretches that are contiguous on both sides, in a copy that fits the cache.
//!
//! A call of the C library's copy takes longer than the move of some hundred bytes. Here a stretch
//! is a few vectors; the last is moved back to end with the stretch.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use core::arch::x86_64::{__m128i, __m256i, __m512i};

use super::super::instructions::Detected;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::super::instructions::{Avx2, Avx512};
use super::super::one_loop::Loop;
use super::super::region::{Source, Target};
use super::cache::{Apart, PAGE, stream_lanes};
#[cfg(any(
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
use super::vector::OneLane;
use super::vector::{LANE, Plain, Vector};
use crate::view::signed;

/// The shortest stretch: shorter ones are moved by one instruction, as an element of a plane.
pub(super) const SHORTEST: usize = LANE + 1;

/// The shortest stretch that is moved by the vectors of every instruction set. Shorter ones are a
/// few lanes, for which a call of the C library would take longer than the move.
const WIDE: usize = 64;

/// The longest stretch: from here on a call of the C library's copy takes no longer.
pub(super) const LONGEST: usize = 1024;

/// From this length on, aligned stores save more than their start takes.
const ALIGNED: usize = 256;

/// How many streams of the source are read at a time.
const STREAMS: usize = 8;

/// Stretches of `size` bytes, at least [`SHORTEST`], at each step of two loops.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) loops: [Loop; 2],
    pub(super) size: usize,
    /// Whether the destination is in no cache.
    pub(super) stream: bool,
}

impl Rows {
    /// Moves all stretches.
    ///
    /// # Safety
    /// Each is valid for reads from `src` and for writes from `dst`, and the two do not overlap.
    pub(super) unsafe fn run(&self, instructions: Detected, src: Source, dst: Target) {
        // SAFETY: the caller guarantees the stretches, which are lanes if they are whole.
        unsafe {
            if self.stream && self.is_whole(dst) {
                return self.past(src, dst);
            }
            if self.is_scattered() {
                return self.interleaved(instructions, src, dst);
            }
            self.through(instructions, src, dst);
        }
    }

    /// Moves all stretches through the cache.
    ///
    /// # Safety
    /// As [`run`](Self::run).
    unsafe fn through(&self, instructions: Detected, src: Source, dst: Target) {
        // SAFETY: the caller guarantees the stretches; the tokens prove that the processor has
        // the instructions, and every processor for which this is compiled has SSE2 or NEON.
        unsafe {
            match instructions {
                _ if self.size < WIDE => self.vectors::<Plain>(src, dst),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Vbmi(token) => self.avx512(token.avx512(), src, dst),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Avx512(token) => self.avx512(token, src, dst),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Avx2(token) => self.avx2(token, src, dst),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Sse2 | Detected::Ssse3(_) => self.vectors::<__m128i>(src, dst),
                #[cfg(any(
                    all(
                        target_arch = "aarch64",
                        target_feature = "neon",
                        target_endian = "little"
                    ),
                    all(target_arch = "wasm32", target_feature = "simd128")
                ))]
                Detected::OneLane => self.vectors::<OneLane>(src, dst),
                Detected::Portable => self.vectors::<Plain>(src, dst),
            }
        }
    }

    /// Whether stretches of the source follow each other in the outer loop, but lie in separate
    /// pages in the inner loop, where the processor does not prefetch.
    const fn is_scattered(&self) -> bool {
        let [outer, inner] = self.loops;
        inner.src.unsigned_abs() >= PAGE
            && inner.count > STREAMS
            && outer.src.unsigned_abs() == self.size
    }

    /// Moves some steps of the inner loop for each of the outer one, which read as many streams.
    ///
    /// # Safety
    /// As [`run`](Self::run).
    #[inline(never)]
    unsafe fn interleaved(&self, instructions: Detected, src: Source, dst: Target) {
        let [outer, inner] = self.loops;
        for first in (0..inner.count).step_by(STREAMS) {
            let some = Loop { count: STREAMS.min(inner.count - first), ..inner };
            let first = signed(first);
            let (src, dst) = (src.offset(first * inner.src), dst.offset(first * inner.dst));
            // SAFETY: the stretches at these steps.
            unsafe { Self { loops: [outer, some], ..*self }.through(instructions, src, dst) };
        }
    }

    /// Whether all stretches are whole aligned lanes, and follow each other.
    fn is_whole(&self, dst: Target) -> bool {
        let [outer, inner] = self.loops;
        let whole = [self.size, dst.addr(), outer.dst.unsigned_abs()];
        inner.dst == signed(self.size) && whole.into_iter().all(|bytes| bytes.is_multiple_of(LANE))
    }

    /// Moves all stretches past the cache.
    ///
    /// # Safety
    /// As [`run`](Self::run), and [`is_whole`](Self::is_whole).
    #[inline(never)]
    unsafe fn past(&self, src: Source, dst: Target) {
        let [outer, inner] = self.loops;
        for i in 0..signed(outer.count) {
            let (mut src, mut dst) = (src.offset(i * outer.src), dst.offset(i * outer.dst));
            for _ in 0..inner.count {
                // SAFETY: whole lanes of the stretch at this step of both loops, aligned in the
                // destination.
                unsafe { stream_lanes(src.bytes(self.size), dst.bytes(self.size), self.size) };
                src = src.offset(inner.src);
                dst = dst.offset(inner.dst);
            }
        }
    }

    /// # Safety
    /// As [`run`](Self::run).
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn avx512(&self, _: Avx512, src: Source, dst: Target) {
        // SAFETY: the caller guarantees that each stretch is valid for reads from `src` and for
        // writes from `dst`; the token proves that the processor has AVX-512.
        unsafe { self.vectors::<__m512i>(src, dst) }
    }

    /// # Safety
    /// As [`run`](Self::run).
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[target_feature(enable = "avx2")]
    unsafe fn avx2(&self, _: Avx2, src: Source, dst: Target) {
        // SAFETY: the caller guarantees that each stretch is valid for reads from `src` and for
        // writes from `dst`; the token proves that the processor has AVX2.
        unsafe { self.vectors::<__m256i>(src, dst) }
    }

    /// # Safety
    /// As [`run`](Self::run); the processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn vectors<V: Vector>(&self, src: Source, dst: Target) {
        const { assert!(V::LANES * LANE <= WIDE, "a stretch holds a vector") };
        let [outer, inner] = self.loops;
        let apart = Apart::new(self.size, inner.dst);
        let (wide, last) = (V::LANES * LANE, self.size - V::LANES * LANE);
        for i in 0..signed(outer.count) {
            let (mut src, mut dst) = (src.offset(i * outer.src), dst.offset(i * outer.dst));
            for _ in 0..inner.count {
                if let Some(apart) = apart {
                    apart.ahead(dst.hint());
                }
                // Vectors between the first and the last one are aligned in the destination: most
                // would write two lines each otherwise.
                let skip = if self.size < ALIGNED { 0 } else { dst.addr() & (wide - 1) };
                let (mut at, mut step) = (0, wide - skip);
                while at < last {
                    // SAFETY: a vector within the stretch at this step of both loops.
                    unsafe { V::load(src.add(at).bytes(wide)).store(dst.add(at).bytes(wide)) };
                    (at, step) = (at + step, wide);
                }
                // SAFETY: the last vector of the stretch.
                unsafe { V::load(src.add(last).bytes(wide)).store(dst.add(last).bytes(wide)) };
                src = src.offset(inner.src);
                dst = dst.offset(inner.dst);
            }
        }
    }
}
