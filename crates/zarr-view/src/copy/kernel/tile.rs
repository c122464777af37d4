//! The smallest transposes: rows of 16 bytes to rows of 16 bytes.

/// Bytes in a row of a tile.
pub(super) const ROW: usize = 16;

/// Elements of `N` bytes along each side of a tile.
pub(super) const fn side<const N: usize>() -> usize {
    // Never called for larger elements, which no tile holds.
    if N > ROW { 1 } else { ROW / N }
}

/// Transposes one tile of elements of `N` bytes, 1, 2, 4, 8 or 16: element `i` of source row `j`
/// becomes element `j` of destination row `i`.
///
/// # Safety
/// [`side`] rows of [`ROW`] bytes, `src_pitch` and `dst_pitch` bytes apart, are valid for reads
/// from `src` and for writes from `dst`.
#[inline(always)]
pub(super) unsafe fn transpose<const N: usize>(
    src: *const u8,
    src_pitch: isize,
    dst: *mut u8,
    dst_pitch: isize,
) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's; SSE2 is part of x86-64.
    unsafe {
        super::x86::transpose::<N>(src, src_pitch, dst, dst_pitch);
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller's.
    unsafe {
        portable::<N>(src, src_pitch, dst, dst_pitch);
    }
}

/// The same without intrinsics.
///
/// # Safety
/// As [`transpose`].
#[cfg_attr(target_arch = "x86_64", cfg(test))]
pub(super) unsafe fn portable<const N: usize>(
    src: *const u8,
    src_pitch: isize,
    dst: *mut u8,
    dst_pitch: isize,
) {
    let side = crate::view::signed(side::<N>());
    for i in 0..side {
        for j in 0..side {
            // SAFETY: both are within a row of the tile.
            unsafe {
                let from = src.offset(j * src_pitch + i * crate::view::signed(N));
                let to = dst.offset(i * dst_pitch + j * crate::view::signed(N));
                core::ptr::copy_nonoverlapping(from, to, N);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ROW, portable, side, transpose};

    fn check<const N: usize>() {
        let side = side::<N>();
        let src: Vec<u8> = (0..side * 24).map(|i| (i * 7 % 251) as u8).collect();
        let (mut fast, mut plain) = (vec![0; side * 21], vec![0; side * 21]);
        // SAFETY: pitches of 24 and 21 bytes hold rows of 16, and both buffers all of them.
        unsafe {
            transpose::<N>(src.as_ptr(), 24, fast.as_mut_ptr(), 21);
            portable::<N>(src.as_ptr(), 24, plain.as_mut_ptr(), 21);
        }
        assert_eq!(fast, plain, "elements of {N} bytes");
        for i in 0..side {
            for j in 0..side {
                assert_eq!(plain[i * 21 + j * N..][..N], src[j * 24 + i * N..][..N]);
            }
        }
        assert_eq!(side * N, ROW);
    }

    #[test]
    fn tiles_transpose() {
        check::<1>();
        check::<2>();
        check::<4>();
        check::<8>();
        check::<16>();
    }
}
