//! Vectors of NEON, which every little-endian AArch64 processor has.

use core::arch::aarch64::{
    uint8x16_t, vcombine_u8, vdup_n_u8, vget_high_u8, vget_low_u8, vld1_u8, vld1q_u8, vorrq_u8,
    vqtbl1q_u8, vreinterpretq_u8_u16, vreinterpretq_u8_u32, vreinterpretq_u8_u64,
    vreinterpretq_u16_u8, vreinterpretq_u32_u8, vreinterpretq_u64_u8, vst1_u8, vst1q_u8, vzip1q_u8,
    vzip1q_u16, vzip1q_u32, vzip1q_u64, vzip2q_u8, vzip2q_u16, vzip2q_u32, vzip2q_u64,
};

use super::{Halves, Interleave, LANE, Shuffle, Vector};

impl Vector for uint8x16_t {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn gather(lane: impl Fn(usize) -> *const u8) -> Self {
        // SAFETY: the caller guarantees that `lane(0)` is valid for reads of 16 bytes; the load
        // needs no alignment.
        unsafe { vld1q_u8(lane(0)) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller guarantees that `from` is valid for reads of 16 bytes; the load needs
        // no alignment.
        unsafe { vld1q_u8(from) }
    }

    #[inline(always)]
    unsafe fn scatter(self, lane: impl Fn(usize) -> *mut u8) {
        // SAFETY: the caller guarantees that `lane(0)` is valid for writes of 16 bytes; the store
        // needs no alignment.
        unsafe { vst1q_u8(lane(0), self) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller guarantees that `to` is valid for writes of 16 bytes; the store needs
        // no alignment.
        unsafe { vst1q_u8(to, self) }
    }
}

impl Interleave for uint8x16_t {
    #[inline(always)]
    unsafe fn interleave<const N: usize>(self, other: Self) -> (Self, Self) {
        macro_rules! zip {
            ($to:ident $from:ident $low:ident $high:ident) => {{
                // SAFETY: this is compiled only for targets with NEON.
                unsafe {
                    let (a, b) = ($to(self), $to(other));
                    ($from($low(a, b)), $from($high(a, b)))
                }
            }};
        }
        match N {
            // SAFETY: this is compiled only for targets with NEON.
            1 => unsafe { (vzip1q_u8(self, other), vzip2q_u8(self, other)) },
            2 => zip!(vreinterpretq_u16_u8 vreinterpretq_u8_u16 vzip1q_u16 vzip2q_u16),
            4 => zip!(vreinterpretq_u32_u8 vreinterpretq_u8_u32 vzip1q_u32 vzip2q_u32),
            _ => zip!(vreinterpretq_u64_u8 vreinterpretq_u8_u64 vzip1q_u64 vzip2q_u64),
        }
    }

    #[inline(always)]
    unsafe fn cross(_: &mut [Self]) {}
}

impl Halves for uint8x16_t {
    #[inline(always)]
    unsafe fn half(from: *const u8) -> Self {
        // SAFETY: the caller guarantees that `from` is valid for reads of 8 bytes; the load needs
        // no alignment.
        unsafe { vcombine_u8(vld1_u8(from), vdup_n_u8(0)) }
    }

    #[inline(always)]
    unsafe fn store_halves(self, low: *mut u8, high: *mut u8) {
        // SAFETY: the caller guarantees that both are valid for writes of 8 bytes; no store needs
        // alignment.
        unsafe {
            vst1_u8(low, vget_low_u8(self));
            vst1_u8(high, vget_high_u8(self));
        }
    }
}

impl Shuffle for uint8x16_t {
    const LANE: usize = LANE;

    #[inline(always)]
    unsafe fn table(table: *const u8) -> Self {
        // SAFETY: the caller guarantees that `table` is valid for reads of 16 bytes.
        unsafe { vld1q_u8(table) }
    }

    #[inline(always)]
    unsafe fn shuffle(self, table: Self) -> Self {
        // SAFETY: this is compiled only for targets with NEON.
        unsafe { vqtbl1q_u8(self, table) }
    }

    #[inline(always)]
    unsafe fn blend(self, other: Self, table: Self) -> Self {
        // SAFETY: as in `shuffle`, whose result is 0 where the table has 0x80.
        unsafe { vorrq_u8(self, other.shuffle(table)) }
    }
}
