//! AVX-512 with VBMI: any width in four or five instructions for 64 unpacked bytes.
//!
//! The unit is one vector: 64 bytes of unpacked components, and `8 * b / size` packed bytes,
//! which is a whole number for every width. Everything that depends on the width is in tables in
//! registers, so one loop serves all widths, first bits and bit orders. 10 bits to 16:
//!
//! ```text
//! packed bytes   0        1        2        3        4      (the lane's other bytes are masked)
//! gather         lane 0 gets bytes 0 to 7, lane 1 bytes 5 to 12, lane 2 bytes 10 to 17 ...
//! multishift     from bit   0   8 | 10  18 | 20  28 | 30  38
//! mask           & 0x03ff in every component: clears the bits of the next field
//! sign           (x ^ sign) - sign, where signed
//! ```
//!
//! **Unpacking.** `vpermb` brings to every 64-bit lane the packed bytes that contain the lane's
//! fields; `vpmultishiftqb` takes, for every byte of the lane, eight bits from any position of
//! those; a mask drops the neighbours' bits. The start within a byte and the first bit only
//! change the positions. If a lane's fields span nine bytes (59 bits and more of 64, 31 of 32,
//! some starts), the *wide* loop instead combines two overlapping gathers by variable shifts.
//!
//! **Packing.** A packed byte has bits of at most two fields (for the widths 2, 3 and 5, a
//! multiply-add first joins pairs). `vpmultishiftqb` takes eight bits at the right position of the
//! first field, and again of the second. A bitwise select keeps the bits of each that belong in the
//! byte; `vpermb` closes the gaps between lanes.
//!
//! Ends need no separate code: masked loads and stores touch nothing outside the slices. Only a
//! vector that would extend into another page goes through a buffer; see [`near_page_end`].

mod pack;
mod unpack;

use core::arch::x86_64::*;

use crate::{
    field::Field,
    used_bits::{NOTHING, PLAIN, UsedBits, Watch},
};

pub(super) use pack::pack;
pub(super) use unpack::{can_unpack, unpack};

/// Vectors per iteration of a loop. With four, a loop is faster within the first-level cache, and
/// slower beyond it (`docs/bench/packbits.md`).
const TURN: usize = 2;

/// Bytes of a vector.
const VECTOR: usize = 64;

/// From this many unpacked bytes on, aligning to cache lines pays off: a vector store across
/// lines takes twice as long.
const ALIGN_FROM: usize = 1024;

/// Bytes of the smallest page.
const PAGE: usize = 4096;

/// Whether a vector that starts within the slice may extend into the page after it.
///
/// A masked load or store never faults on bytes that its mask excludes. But such bytes may be in a
/// page that is absent: beyond a mapped file, before a guard page, or not yet touched. The
/// processor resolves that in microcode, which takes more than a hundred nanoseconds per vector.
#[inline]
fn near_page_end(bytes: &[u8]) -> bool {
    bytes.as_ptr_range().end.addr().wrapping_neg() % PAGE < VECTOR
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load(bytes: &[u8; VECTOR]) -> __m512i {
    // SAFETY: an array reference is valid for reads of its 64 bytes; the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn store(bytes: &mut [u8; VECTOR], vector: __m512i) {
    // SAFETY: an exclusive array reference is valid for writes of its 64 bytes; the store needs no
    // alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), vector) }
}

/// A mask of the lowest `len` of 64 bytes.
#[inline]
fn prefix(len: usize) -> u64 {
    if len >= VECTOR { u64::MAX } else { (1 << len) - 1 }
}

/// The first bytes of a slice, with zeros after its end.
#[cold]
#[inline(never)]
fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut padded = [0; N];
    let len = bytes.len().min(N);
    padded[..len].copy_from_slice(&bytes[..len]);
    padded
}

/// Loads the first bytes of a slice, at most a vector; zeros after its end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_prefix(bytes: &[u8]) -> __m512i {
    if near_page_end(bytes) {
        return load_padded(bytes);
    }
    // SAFETY: a masked load reads no byte whose mask bit is 0, and the mask has ones at most for
    // the first `bytes.len()` bytes, for which the slice is valid.
    unsafe { _mm512_maskz_loadu_epi8(prefix(bytes.len()), bytes.as_ptr().cast()) }
}

/// Stores the first bytes of a vector, as many as the slice has.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn store_prefix(bytes: &mut [u8], vector: __m512i) {
    if near_page_end(bytes) {
        return store_part(bytes, vector);
    }
    // SAFETY: a masked store writes no byte whose mask bit is 0, and the mask has ones at most
    // for the first `bytes.len()` bytes, for which the slice is valid.
    unsafe {
        _mm512_mask_storeu_epi8(bytes.as_mut_ptr().cast(), prefix(bytes.len()), vector);
    }
}

/// As [`load_prefix`], by a copy. Out of line, so that loops keep their registers.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_padded(bytes: &[u8]) -> __m512i {
    load(&padded(bytes))
}

/// As [`store_prefix`], by a copy. Out of line, so that loops keep their registers.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw")]
fn store_part(bytes: &mut [u8], vector: __m512i) {
    let mut whole = [0; VECTOR];
    store(&mut whole, vector);
    let len = bytes.len().min(VECTOR);
    bytes[..len].copy_from_slice(&whole[..len]);
}

/// Loads a vector from byte `at`, or the remaining bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_at(bytes: &[u8], at: usize) -> __m512i {
    let rest = &bytes[at..];
    match rest.first_chunk() {
        Some(chunk) => load(chunk),
        None => load_prefix(rest),
    }
}

/// Stores a vector from byte `at`, or as much of it as there is room for.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn store_at(bytes: &mut [u8], at: usize, vector: __m512i) {
    let rest = &mut bytes[at..];
    match rest.first_chunk_mut() {
        Some(chunk) => store(chunk, vector),
        None => store_prefix(rest, vector),
    }
}

/// [`UsedBits`] of components of `SIZE` bytes, in every lane.
struct Gathered<const SIZE: usize, const WATCH: Watch> {
    sign: __m512i,
    all: __m512i,
}

impl<const SIZE: usize, const WATCH: Watch> Gathered<SIZE, WATCH> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn new(field: &Field) -> Self {
        Self { sign: splat::<SIZE>(field.sign()), all: _mm512_setzero_si512() }
    }

    /// Looks at the components in a vector, and returns it.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn vector(&mut self, components: __m512i) -> __m512i {
        let seen = match (WATCH, SIZE) {
            (NOTHING, _) => return components,
            (PLAIN, _) => components,
            (_, 1) => _mm512_add_epi8(components, self.sign),
            (_, 2) => _mm512_add_epi16(components, self.sign),
            (_, 4) => _mm512_add_epi32(components, self.sign),
            _ => _mm512_add_epi64(components, self.sign),
        };
        self.all = _mm512_or_si512(self.all, seen);
        components
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
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
#[target_feature(enable = "avx512f,avx512bw")]
fn splat<const SIZE: usize>(value: u64) -> __m512i {
    match SIZE {
        1 => _mm512_set1_epi8(value as i8),
        2 => _mm512_set1_epi16(value as i16),
        4 => _mm512_set1_epi32(value as i32),
        _ => _mm512_set1_epi64(value as i64),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn sub<const SIZE: usize>(a: __m512i, b: __m512i) -> __m512i {
    match SIZE {
        1 => _mm512_sub_epi8(a, b),
        2 => _mm512_sub_epi16(a, b),
        4 => _mm512_sub_epi32(a, b),
        _ => _mm512_sub_epi64(a, b),
    }
}

/// Shifts every component left by its own count; for components of 2, 4 and 8 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn shift_left<const SIZE: usize>(a: __m512i, count: __m512i) -> __m512i {
    match SIZE {
        2 => _mm512_sllv_epi16(a, count),
        4 => _mm512_sllv_epi32(a, count),
        _ => _mm512_sllv_epi64(a, count),
    }
}

/// Shifts every component right by its own count; for components of 2, 4 and 8 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn shift_right<const SIZE: usize>(a: __m512i, count: __m512i) -> __m512i {
    match SIZE {
        2 => _mm512_srlv_epi16(a, count),
        4 => _mm512_srlv_epi32(a, count),
        _ => _mm512_srlv_epi64(a, count),
    }
}
