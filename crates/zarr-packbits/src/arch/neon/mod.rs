//! NEON: any width by byte shuffles and shifts, 16 unpacked bytes at a time.
//!
//! As with AVX2, the width is in tables in registers. A shuffle takes any bytes of a vector, and
//! components of every size can be shifted by separate counts, up or down, so all sizes share the
//! code.
//!
//! **Unpacking.** A shuffle brings to every component the packed bytes that contain its field, and
//! a shift moves the field to the top. A shift with a common count moves it down to its place; if
//! that shift is arithmetic, it extends the sign. Fields that span one byte more than a component
//! (*wide*) take a second shuffle and shift.
//!
//! **Packing.** Neighbours are joined until a 64-bit word holds the bits of its components without
//! gaps: the lower one moves up to the end of its half, the upper one down to the start of its own.
//! If such a word is not a whole number of bytes, the two words of a vector are joined too. Then a
//! shuffle closes the gaps. If the result is still not a whole number of bytes (odd widths in 32
//! bits, and most widths in 64), the portable kernel does the work.

mod pack;
mod unpack;

use core::arch::aarch64::*;

use crate::{
    field::Field,
    used_bits::{NOTHING, PLAIN, UsedBits, Watch},
};

pub(super) use pack::pack;
pub(super) use unpack::unpack;

/// Bytes of a vector.
const VECTOR: usize = 16;

#[inline]
#[target_feature(enable = "neon")]
fn load(bytes: &[u8; VECTOR]) -> uint8x16_t {
    // SAFETY: an array reference is valid for reads of its 16 bytes; the load needs no alignment.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store(bytes: &mut [u8; VECTOR], vector: uint8x16_t) {
    // SAFETY: an exclusive array reference is valid for writes of its 16 bytes; the store needs no
    // alignment.
    unsafe { vst1q_u8(bytes.as_mut_ptr(), vector) }
}

/// A vector of components of `SIZE` bytes, computed from their index.
#[inline]
#[target_feature(enable = "neon")]
fn components<const SIZE: usize>(component: impl Fn(usize) -> u64) -> uint8x16_t {
    let mut bytes = [0; VECTOR];
    for (i, out) in bytes.chunks_exact_mut(SIZE).enumerate() {
        out.copy_from_slice(&component(i).to_le_bytes()[..SIZE]);
    }
    load(&bytes)
}

/// Shifts every component up by its count, or down if that is negative; by its size or more, it
/// becomes 0.
#[inline]
#[target_feature(enable = "neon")]
fn shift<const SIZE: usize>(x: uint8x16_t, by: uint8x16_t) -> uint8x16_t {
    match SIZE {
        1 => vshlq_u8(x, vreinterpretq_s8_u8(by)),
        2 => vreinterpretq_u8_u16(vshlq_u16(vreinterpretq_u16_u8(x), vreinterpretq_s16_u8(by))),
        4 => vreinterpretq_u8_u32(vshlq_u32(vreinterpretq_u32_u8(x), vreinterpretq_s32_u8(by))),
        _ => vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8(x), vreinterpretq_s64_u8(by))),
    }
}

/// As [`shift`], with sign extension.
#[inline]
#[target_feature(enable = "neon")]
fn shift_signed<const SIZE: usize>(x: uint8x16_t, by: uint8x16_t) -> uint8x16_t {
    match SIZE {
        1 => vreinterpretq_u8_s8(vshlq_s8(vreinterpretq_s8_u8(x), vreinterpretq_s8_u8(by))),
        2 => vreinterpretq_u8_s16(vshlq_s16(vreinterpretq_s16_u8(x), vreinterpretq_s16_u8(by))),
        4 => vreinterpretq_u8_s32(vshlq_s32(vreinterpretq_s32_u8(x), vreinterpretq_s32_u8(by))),
        _ => vreinterpretq_u8_s64(vshlq_s64(vreinterpretq_s64_u8(x), vreinterpretq_s64_u8(by))),
    }
}

/// [`UsedBits`] of components of `SIZE` bytes.
struct Gathered<const SIZE: usize, const WATCH: Watch> {
    sign: uint8x16_t,
    all: uint8x16_t,
}

impl<const SIZE: usize, const WATCH: Watch> Gathered<SIZE, WATCH> {
    #[inline]
    #[target_feature(enable = "neon")]
    fn new(field: &Field) -> Self {
        Self { sign: components::<SIZE>(|_| field.sign()), all: vdupq_n_u8(0) }
    }

    /// Looks at the components in a vector, and returns it.
    #[inline]
    #[target_feature(enable = "neon")]
    fn vector(&mut self, x: uint8x16_t) -> uint8x16_t {
        let sign = self.sign;
        let seen = match (WATCH, SIZE) {
            (NOTHING, _) => return x,
            (PLAIN, _) => x,
            (_, 1) => vaddq_u8(x, sign),
            (_, 2) => {
                vreinterpretq_u8_u16(vaddq_u16(vreinterpretq_u16_u8(x), vreinterpretq_u16_u8(sign)))
            }
            (_, 4) => {
                vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(x), vreinterpretq_u32_u8(sign)))
            }
            _ => {
                vreinterpretq_u8_u64(vaddq_u64(vreinterpretq_u64_u8(x), vreinterpretq_u64_u8(sign)))
            }
        };
        self.all = vorrq_u8(self.all, seen);
        x
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn add_to(&self, seen: &mut UsedBits<WATCH>) {
        if WATCH > NOTHING {
            let mut bytes = [0; VECTOR];
            store(&mut bytes, self.all);
            for word in bytes.as_chunks().0 {
                seen.0 |= u64::from_le_bytes(*word);
            }
        }
    }
}
