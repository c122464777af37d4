//! Tiles and streaming stores with SSE2, which every x86-64 processor has.

use core::arch::x86_64::{
    __m128i, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm_sfence, _mm_storeu_si128,
    _mm_stream_si128, _mm_unpackhi_epi8, _mm_unpackhi_epi16, _mm_unpackhi_epi32,
    _mm_unpackhi_epi64, _mm_unpacklo_epi8, _mm_unpacklo_epi16, _mm_unpacklo_epi32,
    _mm_unpacklo_epi64,
};

/// Interleaves two rows in units of `N` bytes.
#[inline(always)]
fn interleave<const N: usize>(a: __m128i, b: __m128i) -> (__m128i, __m128i) {
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        match N {
            1 => (_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)),
            2 => (_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)),
            4 => (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)),
            _ => (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)),
        }
    }
}

/// Transposes a square of `S` rows of 16 bytes in elements of `N` bytes.
///
/// Interleaving row `i` with row `i + S/2`, for all `i`, moves one bit of the row number into the
/// element number. After log2(S) rounds all bits have changed places.
///
/// ```text
/// a0 a1 a2 a3      a0 c0 a1 c1      a0 b0 c0 d0
/// b0 b1 b2 b3  ->  a2 c2 a3 c3  ->  a1 b1 c1 d1
/// c0 c1 c2 c3      b0 d0 b1 d1      a2 b2 c2 d2
/// d0 d1 d2 d3      b2 d2 b3 d3      a3 b3 c3 d3
/// ```
#[inline(always)]
fn square<const N: usize, const S: usize>(mut rows: [__m128i; S]) -> [__m128i; S] {
    let mut round = 1;
    while round < S {
        let before = rows;
        let mut i = 0;
        while i < S / 2 {
            (rows[2 * i], rows[2 * i + 1]) = interleave::<N>(before[i], before[i + S / 2]);
            i += 1;
        }
        round *= 2;
    }
    rows
}

/// # Safety
/// As [`transpose`], for a tile of `S` rows.
#[inline(always)]
unsafe fn tile<const N: usize, const S: usize>(
    src: *const u8,
    src_pitch: isize,
    dst: *mut u8,
    dst_pitch: isize,
) {
    // SAFETY: row i of the tile is valid for reads of 16 bytes.
    let load = |i| unsafe { _mm_loadu_si128(src.offset(i as isize * src_pitch).cast()) };
    let rows = square::<N, S>(core::array::from_fn(load));
    for (i, row) in rows.into_iter().enumerate() {
        // SAFETY: row i of the tile is valid for writes of 16 bytes.
        unsafe { _mm_storeu_si128(dst.offset(i as isize * dst_pitch).cast(), row) };
    }
}

/// See [`tile::transpose`](super::tile::transpose).
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn transpose<const N: usize>(
    src: *const u8,
    src_pitch: isize,
    dst: *mut u8,
    dst_pitch: isize,
) {
    // SAFETY: the caller's.
    unsafe {
        match N {
            1 => tile::<1, 16>(src, src_pitch, dst, dst_pitch),
            2 => tile::<2, 8>(src, src_pitch, dst, dst_pitch),
            4 => tile::<4, 4>(src, src_pitch, dst, dst_pitch),
            8 => tile::<8, 2>(src, src_pitch, dst, dst_pitch),
            _ => core::ptr::copy_nonoverlapping(src, dst, 16),
        }
    }
}

/// Copies whole cache lines past the cache.
///
/// # Safety
/// `bytes` is a multiple of 64, `src` is aligned to 16 and `dst` to 64; both are valid for that
/// many bytes and do not overlap. [`fence`] is called before another thread may see what was
/// written.
#[inline(always)]
pub(super) unsafe fn stream(src: *const u8, dst: *mut u8, bytes: usize) {
    for at in (0..bytes).step_by(64) {
        // SAFETY: four aligned rows of 16 bytes within both buffers.
        unsafe {
            let (from, to) = (src.add(at).cast::<__m128i>(), dst.add(at).cast::<__m128i>());
            let line: [__m128i; 4] = core::array::from_fn(|i| _mm_loadu_si128(from.add(i)));
            for (i, row) in line.into_iter().enumerate() {
                _mm_stream_si128(to.add(i), row);
            }
        }
    }
}

/// Orders streaming stores before all later stores.
pub(super) fn fence() {
    // SAFETY: SSE is part of x86-64.
    unsafe { _mm_sfence() };
}

/// Asks for the cache line at `at`, which need not be valid.
#[inline(always)]
pub(super) fn prefetch(at: *const u8) {
    // SAFETY: SSE is part of x86-64, and a prefetch never faults.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
}
