//! Whether components keep what packing drops, at the speed of the first cache.

use core::arch::x86_64::*;

use super::{VECTOR, load, load_prefix, splat};
use crate::survive::LostBits;

/// As [`LostBits::any`], for components of any size.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(in crate::arch) fn any_lost(bits: &LostBits, bytes: &[u8]) -> bool {
    match (bits.sign, bits.size) {
        (0, _) => any::<0>(bits, bytes),
        (_, 1) => any::<1>(bits, bytes),
        (_, 2) => any::<2>(bits, bytes),
        (_, 4) => any::<4>(bits, bytes),
        _ => any::<8>(bits, bytes),
    }
}

/// `SIGNED_SIZE`: the size of signed components, 0 for others.
///
/// The sum of a signed component and its sign bit has no bit above that one exactly if all of those
/// are equal to it; below, the sum changes nothing. So two instructions find what would be lost, and
/// one of them is enough without a sign.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn any<const SIGNED_SIZE: usize>(bits: &LostBits, bytes: &[u8]) -> bool {
    let outside = _mm512_set1_epi64(bits.outside.cast_signed());
    let sign = splat::<SIGNED_SIZE>(bits.sign);
    let see = |lost, components| {
        let moved = match SIGNED_SIZE {
            0 => components,
            1 => _mm512_add_epi8(components, sign),
            2 => _mm512_add_epi16(components, sign),
            4 => _mm512_add_epi32(components, sign),
            _ => _mm512_add_epi64(components, sign),
        };
        // lost | moved & outside
        _mm512_ternarylogic_epi64::<0xf8>(lost, moved, outside)
    };
    let (vectors, rest) = bytes.as_chunks::<VECTOR>();
    let mut lost = _mm512_setzero_si512();
    for vector in vectors {
        lost = see(lost, load(vector));
    }
    if !rest.is_empty() {
        // Zeros, which fill up the last vector, would count as bits above a sign of theirs.
        let last = see(_mm512_setzero_si512(), load_prefix(rest));
        lost = _mm512_or_si512(lost, _mm512_maskz_mov_epi8(super::prefix(rest.len()), last));
    }
    _mm512_test_epi64_mask(lost, lost) != 0
}
