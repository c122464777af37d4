//! AVX2: any width by byte shuffles and shifts, 32 unpacked bytes at a time.
//!
//! A vector is two 128-bit lanes, and a byte shuffle stays in its lane. So every lane is loaded
//! from the place where its own fields start. As with AVX-512, the width is in tables in registers.
//!
//! **Unpacking.** A shuffle brings to every component the packed bytes that contain its field. A
//! shift with a separate count per component moves the field to the top. One shift with a common
//! count moves it down to its place; if that shift is arithmetic, it extends the sign. 16-bit
//! components cannot be shifted by separate counts, but can be multiplied by powers of two. Bytes
//! are processed as the even and the odd halves of 16-bit components. Fields that span one byte
//! more than a component (*wide*) take a second shuffle and shift.
//!
//! **Packing.** Neighbours are joined until a 64-bit word holds the bits of its components without
//! gaps: bytes and 16-bit components by multiply-add, larger ones by shifting the lower half and
//! then the whole. If such a word is not a whole number of bytes, the two words of a lane are
//! joined too. Then a shuffle closes the gaps. If the result is still not a whole number of bytes
//! (odd widths in 32 bits, most widths in 64), vectors of 16 bytes do the work.

mod pack;
mod unpack;

use core::arch::x86_64::*;

use crate::{
    field::Field,
    used_bits::{NOTHING, PLAIN, UsedBits, Watch},
};

pub(super) use pack::{can_pack, pack};
pub(super) use unpack::{can_unpack, unpack};

/// Bytes of a vector, and of a lane of it.
const VECTOR: usize = 32;
const LANE: usize = 16;

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; VECTOR]) -> __m256i {
    // SAFETY: an array reference is valid for reads of its 32 bytes; the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(bytes: &mut [u8; VECTOR], vector: __m256i) {
    // SAFETY: an exclusive array reference is valid for writes of its 32 bytes; the store needs no
    // alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_lane(bytes: &[u8; LANE]) -> __m128i {
    // SAFETY: an array reference is valid for reads of its 16 bytes; the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_lane(bytes: &mut [u8; LANE], lane: __m128i) {
    // SAFETY: an exclusive array reference is valid for writes of its 16 bytes; the store needs no
    // alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), lane) }
}

/// A vector of bytes, computed from their index. Closures of a function with a target feature
/// have the feature too, and are inlined into functions that have it; `core::array::from_fn` is
/// not.
#[inline]
#[target_feature(enable = "avx2")]
fn vector(byte: impl Fn(usize) -> u8) -> __m256i {
    let mut bytes = [0; VECTOR];
    for (i, out) in bytes.iter_mut().enumerate() {
        *out = byte(i);
    }
    load(&bytes)
}

/// Loads one lane from each of two places.
#[inline]
#[target_feature(enable = "avx2")]
fn load_lanes(bytes: &[u8], first: usize, second: usize) -> __m256i {
    let first = load_lane(&bytes[first..first + LANE].as_chunks().0[0]);
    let second = load_lane(&bytes[second..second + LANE].as_chunks().0[0]);
    _mm256_set_m128i(second, first)
}

/// As [`UsedBits::look`], compiled with these instructions.
#[target_feature(enable = "avx2")]
pub(super) fn look<const WATCH: Watch>(
    seen: &mut UsedBits<WATCH>,
    field: &Field,
    components: &[u8],
) {
    seen.look(field, components);
}

/// [`UsedBits`] of components of `SIZE` bytes, in every lane.
struct Gathered<const SIZE: usize, const WATCH: Watch> {
    sign: __m256i,
    all: __m256i,
}

impl<const SIZE: usize, const WATCH: Watch> Gathered<SIZE, WATCH> {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(field: &Field) -> Self {
        Self { sign: splat::<SIZE>(field.sign()), all: _mm256_setzero_si256() }
    }

    /// Looks at the components in a vector, and returns it.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn vector(&mut self, components: __m256i) -> __m256i {
        let seen = match (WATCH, SIZE) {
            (NOTHING, _) => return components,
            (PLAIN, _) => components,
            (_, 1) => _mm256_add_epi8(components, self.sign),
            (_, 2) => _mm256_add_epi16(components, self.sign),
            (_, 4) => _mm256_add_epi32(components, self.sign),
            _ => _mm256_add_epi64(components, self.sign),
        };
        self.all = _mm256_or_si256(self.all, seen);
        components
    }

    #[inline]
    #[target_feature(enable = "avx2")]
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

/// The same value in every component of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn splat<const SIZE: usize>(value: u64) -> __m256i {
    match SIZE {
        1 => _mm256_set1_epi8(value as i8),
        2 => _mm256_set1_epi16(value as i16),
        4 => _mm256_set1_epi32(value as i32),
        _ => _mm256_set1_epi64x(value as i64),
    }
}

/// A common count for shifts of all components.
#[inline]
#[target_feature(enable = "avx2")]
fn count(bits: usize) -> __m128i {
    _mm_cvtsi64_si128(bits as i64)
}
