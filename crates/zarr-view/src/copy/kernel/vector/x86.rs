//! Vectors of SSE2, SSSE3, AVX2 and AVX-512, streaming stores and prefetches.
//!
//! Compiled only for targets that have SSE2: all of x86-64 except targets of operating system
//! kernels, such as `x86_64-unknown-none`.

use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _MM_HINT_T0, _mm_castsi128_pd, _mm_loadl_epi64, _mm_loadu_si128,
    _mm_or_si128, _mm_prefetch, _mm_sfence, _mm_shuffle_epi8, _mm_storeh_pd, _mm_storel_epi64,
    _mm_storeu_si128, _mm_stream_si128, _mm_unpackhi_epi8, _mm_unpackhi_epi16, _mm_unpackhi_epi32,
    _mm_unpackhi_epi64, _mm_unpacklo_epi8, _mm_unpacklo_epi16, _mm_unpacklo_epi32,
    _mm_unpacklo_epi64, _mm256_broadcastsi128_si256, _mm256_castsi128_si256,
    _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_inserti128_si256, _mm256_loadu_si256,
    _mm256_or_si256, _mm256_permute2x128_si256, _mm256_shuffle_epi8, _mm256_storeu_si256,
    _mm256_stream_si256, _mm256_unpackhi_epi8, _mm256_unpackhi_epi16, _mm256_unpackhi_epi32,
    _mm256_unpackhi_epi64, _mm256_unpacklo_epi8, _mm256_unpacklo_epi16, _mm256_unpacklo_epi32,
    _mm256_unpacklo_epi64, _mm512_broadcast_i32x4, _mm512_castsi128_si512, _mm512_castsi512_si128,
    _mm512_extracti32x4_epi32, _mm512_inserti32x4, _mm512_loadu_si512, _mm512_or_si512,
    _mm512_shuffle_epi8, _mm512_shuffle_i32x4, _mm512_storeu_si512, _mm512_stream_si512,
    _mm512_unpackhi_epi8, _mm512_unpackhi_epi16, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64,
    _mm512_unpacklo_epi8, _mm512_unpacklo_epi16, _mm512_unpacklo_epi32, _mm512_unpacklo_epi64,
};

use super::{Halves, Interleave, LANE, Shuffle, Vector};

/// Interleaving by the instructions of one width.
macro_rules! interleave {
    ($lo8:ident $hi8:ident $lo16:ident $hi16:ident $lo32:ident $hi32:ident $lo64:ident $hi64:ident) => {
        #[inline(always)]
        unsafe fn interleave<const N: usize>(self, other: Self) -> (Self, Self) {
            // SAFETY: the caller guarantees that the processor has the instructions.
            unsafe {
                match N {
                    1 => ($lo8(self, other), $hi8(self, other)),
                    2 => ($lo16(self, other), $hi16(self, other)),
                    4 => ($lo32(self, other), $hi32(self, other)),
                    _ => ($lo64(self, other), $hi64(self, other)),
                }
            }
        }
    };
}

/// SSE2, which every x86-64 processor has.
impl Vector for __m128i {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn gather(lane: impl Fn(usize) -> *const u8) -> Self {
        // SAFETY: the caller guarantees that each `lane(i)` is valid for reads of 16 bytes and
        // that the processor has the instructions; no load needs alignment.
        unsafe { _mm_loadu_si128(lane(0).cast()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller guarantees that `from` is valid for reads of a vector and that the
        // processor has the instructions; the load needs no alignment.
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    #[inline(always)]
    unsafe fn scatter(self, lane: impl Fn(usize) -> *mut u8) {
        // SAFETY: the caller guarantees that each `lane(i)` is valid for writes of 16 bytes and
        // that the processor has the instructions; no store needs alignment.
        unsafe { self.store(lane(0)) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller guarantees that `to` is valid for writes of a vector and that the
        // processor has the instructions; the store needs no alignment.
        unsafe { _mm_storeu_si128(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: as in `store`, and the caller guarantees the alignment.
        unsafe { _mm_stream_si128(to.cast(), self) }
    }
}

impl Interleave for __m128i {
    interleave! {
        _mm_unpacklo_epi8 _mm_unpackhi_epi8 _mm_unpacklo_epi16 _mm_unpackhi_epi16
        _mm_unpacklo_epi32 _mm_unpackhi_epi32 _mm_unpacklo_epi64 _mm_unpackhi_epi64
    }

    #[inline(always)]
    unsafe fn cross(_: &mut [Self]) {}
}

impl Halves for __m128i {
    #[inline(always)]
    unsafe fn half(from: *const u8) -> Self {
        // SAFETY: the caller guarantees that `from` is valid for reads of 8 bytes; the load needs
        // no alignment.
        unsafe { _mm_loadl_epi64(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store_halves(self, low: *mut u8, high: *mut u8) {
        // SAFETY: the caller guarantees that both are valid for writes of 8 bytes; no store needs
        // alignment.
        unsafe {
            _mm_storel_epi64(low.cast(), self);
            _mm_storeh_pd(high.cast(), _mm_castsi128_pd(self));
        }
    }
}

/// AVX2.
impl Vector for __m256i {
    const LANES: usize = 2;

    #[inline(always)]
    unsafe fn gather(lane: impl Fn(usize) -> *const u8) -> Self {
        // SAFETY: the caller guarantees that each `lane(i)` is valid for reads of 16 bytes and
        // that the processor has the instructions; no load needs alignment.
        unsafe {
            let load = |i| _mm_loadu_si128(lane(i).cast());
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(load(0)), load(1))
        }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller guarantees that `from` is valid for reads of a vector and that the
        // processor has the instructions; the load needs no alignment.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn scatter(self, lane: impl Fn(usize) -> *mut u8) {
        // SAFETY: the caller guarantees that each `lane(i)` is valid for writes of 16 bytes and
        // that the processor has the instructions; no store needs alignment.
        unsafe {
            _mm_storeu_si128(lane(0).cast(), _mm256_castsi256_si128(self));
            _mm_storeu_si128(lane(1).cast(), _mm256_extracti128_si256::<1>(self));
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller guarantees that `to` is valid for writes of a vector and that the
        // processor has the instructions; the store needs no alignment.
        unsafe { _mm256_storeu_si256(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: as in `store`, and the caller guarantees the alignment.
        unsafe { _mm256_stream_si256(to.cast(), self) }
    }
}

impl Interleave for __m256i {
    interleave! {
        _mm256_unpacklo_epi8 _mm256_unpackhi_epi8 _mm256_unpacklo_epi16 _mm256_unpackhi_epi16
        _mm256_unpacklo_epi32 _mm256_unpackhi_epi32 _mm256_unpacklo_epi64 _mm256_unpackhi_epi64
    }

    #[inline(always)]
    unsafe fn cross(vectors: &mut [Self]) {
        let [a, b] = vectors else { return };
        // SAFETY: the caller guarantees that the processor has the instructions.
        unsafe {
            (*a, *b) = (
                _mm256_permute2x128_si256::<0x20>(*a, *b),
                _mm256_permute2x128_si256::<0x31>(*a, *b),
            );
        }
    }
}

/// AVX-512 F and BW.
impl Vector for __m512i {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn gather(lane: impl Fn(usize) -> *const u8) -> Self {
        // SAFETY: the caller guarantees that each `lane(i)` is valid for reads of 16 bytes and
        // that the processor has the instructions; no load needs alignment.
        unsafe {
            let load = |i| _mm_loadu_si128(lane(i).cast());
            let all = _mm512_castsi128_si512(load(0));
            let all = _mm512_inserti32x4::<1>(all, load(1));
            let all = _mm512_inserti32x4::<2>(all, load(2));
            _mm512_inserti32x4::<3>(all, load(3))
        }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller guarantees that `from` is valid for reads of a vector and that the
        // processor has the instructions; the load needs no alignment.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn scatter(self, lane: impl Fn(usize) -> *mut u8) {
        // SAFETY: the caller guarantees that each `lane(i)` is valid for writes of 16 bytes and
        // that the processor has the instructions; no store needs alignment.
        unsafe {
            _mm_storeu_si128(lane(0).cast(), _mm512_castsi512_si128(self));
            _mm_storeu_si128(lane(1).cast(), _mm512_extracti32x4_epi32::<1>(self));
            _mm_storeu_si128(lane(2).cast(), _mm512_extracti32x4_epi32::<2>(self));
            _mm_storeu_si128(lane(3).cast(), _mm512_extracti32x4_epi32::<3>(self));
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller guarantees that `to` is valid for writes of a vector and that the
        // processor has the instructions; the store needs no alignment.
        unsafe { _mm512_storeu_si512(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: as in `store`, and the caller guarantees the alignment.
        unsafe { _mm512_stream_si512(to.cast(), self) }
    }
}

impl Interleave for __m512i {
    interleave! {
        _mm512_unpacklo_epi8 _mm512_unpackhi_epi8 _mm512_unpacklo_epi16 _mm512_unpackhi_epi16
        _mm512_unpacklo_epi32 _mm512_unpackhi_epi32 _mm512_unpacklo_epi64 _mm512_unpackhi_epi64
    }

    #[inline(always)]
    unsafe fn cross(vectors: &mut [Self]) {
        let [a, b, c, d] = vectors else { return };
        // SAFETY: the caller guarantees that the processor has the instructions.
        unsafe {
            // Lanes 0 and 2, then 1 and 3, of each pair.
            let odd = [_mm512_shuffle_i32x4::<0xdd>(*a, *b), _mm512_shuffle_i32x4::<0xdd>(*c, *d)];
            let (ab, cd) =
                (_mm512_shuffle_i32x4::<0x88>(*a, *b), _mm512_shuffle_i32x4::<0x88>(*c, *d));
            (*a, *c) = (_mm512_shuffle_i32x4::<0x88>(ab, cd), _mm512_shuffle_i32x4::<0xdd>(ab, cd));
            let (ab, cd) = (odd[0], odd[1]);
            (*b, *d) = (_mm512_shuffle_i32x4::<0x88>(ab, cd), _mm512_shuffle_i32x4::<0xdd>(ab, cd));
        }
    }
}

/// Shuffles by the instructions of one width.
macro_rules! shuffle {
    ($vector:ident $load:expr, $shuffle:ident $or:ident) => {
        impl Shuffle for $vector {
            const LANE: usize = LANE;

            #[inline(always)]
            unsafe fn table(table: *const u8) -> Self {
                // SAFETY: the caller guarantees that `table` is valid for reads of 16 bytes and
                // that the processor has the instructions; the load needs no alignment.
                unsafe { $load(_mm_loadu_si128(table.cast())) }
            }

            #[inline(always)]
            unsafe fn shuffle(self, table: Self) -> Self {
                // SAFETY: the caller guarantees that the processor has the instructions.
                unsafe { $shuffle(self, table) }
            }

            #[inline(always)]
            unsafe fn blend(self, other: Self, table: Self) -> Self {
                // SAFETY: as in `shuffle`, whose result is 0 where the table has 0x80.
                unsafe { $or(self, other.shuffle(table)) }
            }
        }
    };
}

shuffle!(__m128i core::convert::identity, _mm_shuffle_epi8 _mm_or_si128);
shuffle!(__m256i _mm256_broadcastsi128_si256, _mm256_shuffle_epi8 _mm256_or_si256);
shuffle!(__m512i _mm512_broadcast_i32x4, _mm512_shuffle_epi8 _mm512_or_si512);

/// Copies whole cache lines with streaming stores, past the cache.
///
/// # Safety
/// `bytes` is a multiple of 64 and `dst` is aligned to 64; both are valid for that many bytes and
/// do not overlap. [`fence`] is called before another thread reads these bytes.
#[inline(always)]
pub(crate) unsafe fn stream(src: *const u8, dst: *mut u8, bytes: usize) {
    for at in (0..bytes).step_by(64) {
        // SAFETY: four rows of 16 bytes within both buffers, aligned in the destination.
        unsafe {
            let (from, to) = (src.add(at).cast::<__m128i>(), dst.add(at).cast::<__m128i>());
            let line: [__m128i; 4] = core::array::from_fn(|i| _mm_loadu_si128(from.add(i)));
            for (i, row) in line.into_iter().enumerate() {
                _mm_stream_si128(to.add(i), row);
            }
        }
    }
}

/// Copies lanes with streaming stores, past the cache.
///
/// # Safety
/// As [`stream`], with lanes of 16 bytes in place of lines.
#[inline(always)]
pub(crate) unsafe fn stream_lanes(src: *const u8, dst: *mut u8, bytes: usize) {
    for at in (0..bytes).step_by(16) {
        // SAFETY: 16 bytes within both buffers, aligned in the destination.
        unsafe { _mm_stream_si128(dst.add(at).cast(), _mm_loadu_si128(src.add(at).cast())) };
    }
}

/// Orders streaming stores before all later stores.
pub(crate) fn fence() {
    // SAFETY: this module is compiled only for targets with SSE2, which includes SSE.
    unsafe { _mm_sfence() };
}

/// Prefetches the cache line at `at`, which need not be valid.
#[inline(always)]
pub(crate) fn prefetch(at: *const u8) {
    // SAFETY: as in `fence`, and a prefetch never faults.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
}
