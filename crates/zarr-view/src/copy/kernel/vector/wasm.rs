//! Vectors of WebAssembly's `simd128`, in builds that have it.

use core::arch::wasm32::{
    i8x16_shuffle, i16x8_shuffle, i32x4_shuffle, i64x2_shuffle, u8x16_swizzle, v128, v128_load,
    v128_load64_zero, v128_or, v128_store, v128_store64_lane,
};

use super::{Halves, Interleave, LANE, Shuffle, Vector};

impl Vector for v128 {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn gather(lane: impl Fn(usize) -> *const u8) -> Self {
        // SAFETY: the caller guarantees that `lane(0)` is valid for reads of 16 bytes; the load
        // needs no alignment.
        unsafe { v128_load(lane(0).cast()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller guarantees that `from` is valid for reads of 16 bytes; the load needs
        // no alignment.
        unsafe { v128_load(from.cast()) }
    }

    #[inline(always)]
    unsafe fn scatter(self, lane: impl Fn(usize) -> *mut u8) {
        // SAFETY: the caller guarantees that `lane(0)` is valid for writes of 16 bytes; the store
        // needs no alignment.
        unsafe { v128_store(lane(0).cast(), self) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller guarantees that `to` is valid for writes of 16 bytes; the store needs
        // no alignment.
        unsafe { v128_store(to.cast(), self) }
    }
}

impl Interleave for v128 {
    #[inline(always)]
    unsafe fn interleave<const N: usize>(self, other: Self) -> (Self, Self) {
        match N {
            1 => (
                i8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(
                    self, other,
                ),
                i8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(
                    self, other,
                ),
            ),
            2 => (
                i16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(self, other),
                i16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(self, other),
            ),
            4 => {
                (i32x4_shuffle::<0, 4, 1, 5>(self, other), i32x4_shuffle::<2, 6, 3, 7>(self, other))
            }
            _ => (i64x2_shuffle::<0, 2>(self, other), i64x2_shuffle::<1, 3>(self, other)),
        }
    }

    #[inline(always)]
    unsafe fn cross(_: &mut [Self]) {}
}

impl Halves for v128 {
    #[inline(always)]
    unsafe fn half(from: *const u8) -> Self {
        // SAFETY: the caller guarantees that `from` is valid for reads of 8 bytes; the load needs
        // no alignment.
        unsafe { v128_load64_zero(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store_halves(self, low: *mut u8, high: *mut u8) {
        // SAFETY: the caller guarantees that both are valid for writes of 8 bytes; no store needs
        // alignment.
        unsafe {
            v128_store64_lane::<0>(self, low.cast());
            v128_store64_lane::<1>(self, high.cast());
        }
    }
}

impl Shuffle for v128 {
    const LANE: usize = LANE;

    #[inline(always)]
    unsafe fn table(table: *const u8) -> Self {
        // SAFETY: the caller guarantees that `table` is valid for reads of 16 bytes.
        unsafe { v128_load(table.cast()) }
    }

    #[inline(always)]
    unsafe fn shuffle(self, table: Self) -> Self {
        u8x16_swizzle(self, table)
    }

    #[inline(always)]
    unsafe fn blend(self, other: Self, table: Self) -> Self {
        // A swizzle gives 0 where the table has 0x80.
        v128_or(self, u8x16_swizzle(other, table))
    }
}
