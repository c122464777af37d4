//! The instructions of WebAssembly's `simd128`, which only builds have that enable them.

use core::arch::wasm32::*;

use super::{VECTOR, Vectors, pack, unpack};
use crate::field::Field;
use crate::used_bits::{UsedBits, Watch};

/// The kernel with these instructions.
#[derive(Clone, Copy)]
pub(crate) struct Simd128(());

impl Simd128 {
    /// Always: this is compiled only for builds that enable `simd128`.
    pub(crate) fn new() -> Option<Self> {
        Some(Self(()))
    }

    /// Unpacks a multiple of eight fields from the start of `packed`, and returns their number.
    pub(crate) fn unpack(self, field: &Field, packed: &[u8], dst: &mut [u8]) -> usize {
        unpack::unpack(self, field, packed, dst)
    }

    /// Packs a multiple of eight fields to the start of `dst`, and returns their number.
    pub(crate) fn pack<const WATCH: Watch>(
        self,
        field: &Field,
        src: &[u8],
        dst: &mut [u8],
        seen: &mut UsedBits<WATCH>,
    ) -> usize {
        pack::pack_small(self, field, src, dst, seen)
    }
}

/// Methods that are one instruction.
macro_rules! instructions {
    ($($method:ident($x:ident, $y:ident) = $instruction:ident;)+) => {$(
        #[inline(always)]
        fn $method(self, $x: v128, $y: v128) -> v128 {
            $instruction($x, $y)
        }
    )+};
}

/// Methods that are one instruction per size; further sizes take the last.
macro_rules! sizes {
    ($($method:ident($y:ident: $type:ty) = $($size:tt $instruction:ident),+;)+) => {$(
        #[inline(always)]
        fn $method<const SIZE: usize>(self, x: v128, $y: $type) -> v128 {
            match SIZE { $($size => $instruction(x, $y)),+ }
        }
    )+};
}

impl Vectors for Simd128 {
    type Vector = v128;

    #[inline(always)]
    fn load(self, bytes: &[u8; VECTOR]) -> v128 {
        // SAFETY: an array reference is valid for reads of its 16 bytes; the load needs no
        // alignment.
        unsafe { v128_load(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8; VECTOR], x: v128) {
        // SAFETY: an exclusive array reference is valid for writes of its 16 bytes; the store
        // needs no alignment.
        unsafe { v128_store(bytes.as_mut_ptr().cast(), x) }
    }

    #[inline(always)]
    fn interleave(self, x: v128, y: v128) -> [v128; 2] {
        [
            i8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(x, y),
            i8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(x, y),
        ]
    }

    #[inline(always)]
    fn factor(by: u32) -> u16 {
        1 << (8 - by)
    }

    // There are no upper halves of products: the bits go to the upper byte of the lower half.
    #[inline(always)]
    fn down_each(self, x: v128, factors: v128) -> v128 {
        u16x8_shr(i16x8_mul(x, factors), 8)
    }

    // There is no multiply-add of bytes. The factors are the same in all lanes.
    #[inline(always)]
    fn join_bytes(self, x: v128, factors: v128) -> v128 {
        let second = i16x8_mul(u16x8_shr(x, 8), u16x8_shr(factors, 8));
        v128_or(v128_and(x, u16x8_splat(0x00ff)), second)
    }

    #[inline(always)]
    fn top_bits(self, x: v128) -> u16 {
        i8x16_bitmask(x)
    }

    instructions! {
        shuffle(x, table) = u8x16_swizzle;
        and(x, y) = v128_and;
        or(x, y) = v128_or;
        xor(x, y) = v128_xor;
        equal(x, y) = i8x16_eq;
        multiply(x, factors) = i16x8_mul;
        join_pairs(x, factors) = i32x4_dot_i16x8;
    }

    sizes! {
        add(y: v128) = 1 i8x16_add, 2 i16x8_add, 4 i32x4_add, _ i64x2_add;
        sub(y: v128) = 1 i8x16_sub, 2 i16x8_sub, 4 i32x4_sub, _ i64x2_sub;
        up(by: u32) = 2 i16x8_shl, 4 i32x4_shl, _ i64x2_shl;
        down(by: u32) = 2 u16x8_shr, 4 u32x4_shr, _ u64x2_shr;
        down_signed(by: u32) = 2 i16x8_shr, _ i32x4_shr;
    }
}
