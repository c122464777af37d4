//! Vectors of AVX-512 VBMI: any of the 64 bytes can move to any place.

use core::arch::x86_64::{
    __m512i, _mm512_loadu_si512, _mm512_mask_permutexvar_epi8, _mm512_movepi8_mask,
    _mm512_permutexvar_epi8, _mm512_storeu_si512,
};

use super::{Shuffle, Vector};

/// One lane of 64 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Wide(__m512i);

impl Vector for Wide {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn gather(lane: impl Fn(usize) -> *const u8) -> Self {
        // SAFETY: the caller guarantees that `lane(0)` is valid for reads of a lane and that the
        // processor has the instructions.
        unsafe { Self::load(lane(0)) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller guarantees that `from` is valid for reads of a vector and that the
        // processor has the instructions; the load needs no alignment.
        Self(unsafe { _mm512_loadu_si512(from.cast()) })
    }

    #[inline(always)]
    unsafe fn scatter(self, lane: impl Fn(usize) -> *mut u8) {
        // SAFETY: the caller guarantees that `lane(0)` is valid for writes of a lane and that the
        // processor has the instructions.
        unsafe { self.store(lane(0)) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller guarantees that `to` is valid for writes of a vector and that the
        // processor has the instructions; the store needs no alignment.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }
}

impl Shuffle for Wide {
    const LANE: usize = 64;

    #[inline(always)]
    unsafe fn table(table: *const u8) -> Self {
        // SAFETY: the caller guarantees that `table` is valid for reads of 64 bytes and that the
        // processor has the instructions.
        unsafe { Self::load(table) }
    }

    #[inline(always)]
    unsafe fn shuffle(self, table: Self) -> Self {
        // SAFETY: the caller guarantees that the processor has the instructions.
        unsafe { Self(_mm512_permutexvar_epi8(table.0, self.0)) }
    }

    #[inline(always)]
    unsafe fn blend(self, other: Self, table: Self) -> Self {
        // SAFETY: as in `shuffle`.
        unsafe {
            let named = !_mm512_movepi8_mask(table.0);
            Self(_mm512_mask_permutexvar_epi8(self.0, named, table.0, other.0))
        }
    }
}
