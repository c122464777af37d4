//! The instructions of SSSE3.

use core::arch::{asm, x86_64::*};

use super::words::{self, Products};
use super::{VECTOR, Vectors, unpack};
use crate::field::Field;
use crate::used_bits::{UsedBits, Watch};

/// The kernel with these instructions.
#[derive(Clone, Copy)]
pub(crate) struct Ssse3(());

impl Ssse3 {
    /// # Safety
    /// The processor has SSSE3.
    pub(in crate::arch) unsafe fn assume() -> Self {
        Self(())
    }

    /// Unpacks a multiple of eight fields from the start of `packed`, and returns their number.
    pub(crate) fn unpack(self, field: &Field, packed: &[u8], dst: &mut [u8]) -> usize {
        #[target_feature(enable = "ssse3")]
        fn compiled(vectors: Ssse3, field: &Field, packed: &[u8], dst: &mut [u8]) -> usize {
            unpack::unpack(vectors, field, packed, dst)
        }
        // SAFETY: a value of this type exists only on processors with these instructions.
        unsafe { compiled(self, field, packed, dst) }
    }

    /// Packs a multiple of eight fields to the start of `dst`, and returns their number.
    pub(crate) fn pack<const WATCH: Watch>(
        self,
        field: &Field,
        src: &[u8],
        dst: &mut [u8],
        seen: &mut UsedBits<WATCH>,
    ) -> usize {
        #[target_feature(enable = "ssse3")]
        fn compiled<const WATCH: Watch>(
            vectors: Ssse3,
            field: &Field,
            src: &[u8],
            dst: &mut [u8],
            seen: &mut UsedBits<WATCH>,
        ) -> usize {
            words::pack(vectors, field, src, dst, seen)
        }
        // SAFETY: a value of this type exists only on processors with these instructions.
        unsafe { compiled(self, field, src, dst, seen) }
    }
}

/// Methods that are one instruction.
macro_rules! instructions {
    ($($method:ident($($x:ident),+) = $instruction:ident($($argument:ident),+);)+) => {$(
        #[inline(always)]
        fn $method(self, $($x: __m128i),+) -> __m128i {
            // SAFETY: a value of this type exists only on processors with these instructions.
            unsafe { $instruction($($argument),+) }
        }
    )+};
}

/// Methods that are one instruction per size; further sizes take the last.
macro_rules! sizes {
    ($($method:ident = $($size:tt $instruction:ident),+;)+) => {$(
        #[inline(always)]
        fn $method<const SIZE: usize>(self, x: __m128i, y: __m128i) -> __m128i {
            // SAFETY: a value of this type exists only on processors with these instructions.
            unsafe { match SIZE { $($size => $instruction(x, y)),+ } }
        }
    )+};
}

/// Shifts, likewise. The count is in a register, too.
macro_rules! shifts {
    ($($method:ident = $($size:tt $instruction:ident),+;)+) => {$(
        #[inline(always)]
        fn $method<const SIZE: usize>(self, x: __m128i, by: u32) -> __m128i {
            // SAFETY: a value of this type exists only on processors with these instructions.
            unsafe {
                let by = _mm_cvtsi32_si128(by as i32);
                match SIZE { $($size => $instruction(x, by)),+ }
            }
        }
    )+};
}

impl Vectors for Ssse3 {
    type Vector = __m128i;

    #[inline(always)]
    fn load(self, bytes: &[u8; VECTOR]) -> __m128i {
        // SAFETY: an array reference is valid for reads of its 16 bytes; the load needs no
        // alignment.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8; VECTOR], x: __m128i) {
        // SAFETY: an exclusive array reference is valid for writes of its 16 bytes; the store
        // needs no alignment.
        unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), x) }
    }

    #[inline(always)]
    fn interleave(self, x: __m128i, y: __m128i) -> [__m128i; 2] {
        // SAFETY: a value of this type exists only on processors with these instructions.
        unsafe { [_mm_unpacklo_epi8(x, y), _mm_unpackhi_epi8(x, y)] }
    }

    #[inline(always)]
    fn factor(by: u32) -> u16 {
        1 << (16 - by)
    }

    #[inline(always)]
    fn top_bits(self, x: __m128i) -> u16 {
        // SAFETY: a value of this type exists only on processors with these instructions.
        unsafe { _mm_movemask_epi8(x) as u16 }
    }

    instructions! {
        shuffle(x, table) = _mm_shuffle_epi8(x, table);
        and(x, y) = _mm_and_si128(x, y);
        or(x, y) = _mm_or_si128(x, y);
        xor(x, y) = _mm_xor_si128(x, y);
        equal(x, y) = _mm_cmpeq_epi8(x, y);
        down_each(x, factors) = _mm_mulhi_epu16(x, factors);
        multiply(x, factors) = _mm_mullo_epi16(x, factors);
        join_bytes(x, factors) = _mm_maddubs_epi16(factors, x);
        join_pairs(x, factors) = _mm_madd_epi16(x, factors);
    }

    sizes! {
        add = 1 _mm_add_epi8, 2 _mm_add_epi16, 4 _mm_add_epi32, _ _mm_add_epi64;
        sub = 1 _mm_sub_epi8, 2 _mm_sub_epi16, 4 _mm_sub_epi32, _ _mm_sub_epi64;
    }

    shifts! {
        up = 2 _mm_sll_epi16, 4 _mm_sll_epi32, _ _mm_sll_epi64;
        down = 2 _mm_srl_epi16, 4 _mm_srl_epi32, _ _mm_srl_epi64;
        down_signed = 2 _mm_sra_epi16, _ _mm_sra_epi32;
    }
}

impl Products for Ssse3 {
    #[inline(always)]
    fn multiply_words(self, x: __m128i, factors: __m128i) -> __m128i {
        let mut words = x;
        // The compiler would merge the mask of `x` with the mask that the instruction implies,
        // forget that the upper halves are zero, and multiply these, too, with four instructions.
        // SAFETY: this is no instruction; it only hides where `words` comes from.
        unsafe {
            asm!("/* {} */", inout(xmm_reg) words, options(pure, nomem, nostack, preserves_flags));
        }
        // SAFETY: a value of this type exists only on processors with these instructions.
        unsafe { _mm_mul_epu32(words, factors) }
    }
}
