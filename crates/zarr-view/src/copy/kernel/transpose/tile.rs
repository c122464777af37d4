//! The smallest transposes, in registers.
//!
//! A lane holds `S` elements of `N` bytes. `S` vectors are transposed within their lanes in log2(S)
//! stages. A stage interleaves row `i` with row `i + D`, for all `i` in which the bit of `D` is
//! clear. This swaps one bit of the row number with one bit of the element number.
//!
//! ```text
//! a0 a1 a2 a3      a0 c0 a1 c1      a0 b0 c0 d0
//! b0 b1 b2 b3  ->  b0 d0 b1 d1  ->  a1 b1 c1 d1
//! c0 c1 c2 c3      a2 c2 a3 c3      a2 b2 c2 d2
//! d0 d1 d2 d3      b2 d2 b3 d3      a3 b3 c3 d3
//! ```
//!
//! With vectors of several lanes there are three ways to fill the lanes. [`Gather`] reads from as
//! many source rows as there are lanes, and writes whole lines. [`Scatter`] reads whole lines, and
//! writes to as many destination rows. [`Square`] does both, with more vectors in use.

use crate::copy::kernel::vector::{Halves, Interleave, LANE, WORD};
use crate::copy::region::{Source, Target};
use crate::view::signed;

/// A transpose of some source rows into destination rows.
pub(super) trait Tile {
    /// The number of destination rows; each source row has this many elements.
    const ROWS: usize;
    /// The number of source rows; each destination row has this many elements.
    const COLUMNS: usize;

    /// Moves the tile: element `i` of source row `j` becomes element `j` of destination row `i`.
    ///
    /// # Safety
    /// The elements are valid for reads from `src`, in rows that are `src_pitch` bytes apart, and
    /// for writes from `dst`, likewise; the processor has the instructions.
    unsafe fn transpose(src: Source, src_pitch: isize, dst: Target, dst_pitch: isize);
}

/// Each lane is part of a different source row. With `PAST`, rows are written past the cache: each
/// destination row starts at a multiple of the vector's length.
pub(super) struct Gather<V, const N: usize, const S: usize, const PAST: bool = false>(V);

/// Each lane becomes part of a different destination row.
pub(super) struct Scatter<V, const N: usize, const S: usize>(V);

/// `L` lanes in both directions.
pub(super) struct Square<V, const N: usize, const S: usize, const L: usize>(V);

/// Bytes, eight in both directions, in words: without vectors, where fewer than 16 fit.
pub(super) struct Eight;

/// The same in halves of a lane.
pub(super) struct EightLanes<V>(V);

impl Tile for Eight {
    const ROWS: usize = 8;
    const COLUMNS: usize = 8;

    #[inline(always)]
    unsafe fn transpose(mut src: Source, src_pitch: isize, mut dst: Target, dst_pitch: isize) {
        // SAFETY: word i is source row i of the tile; afterwards it is destination row i.
        unsafe {
            let mut rows: [u64; 8] = core::array::from_fn(|_| {
                let row = u64::from_le_bytes(src.bytes(WORD).cast::<[u8; WORD]>().read());
                src = src.offset(src_pitch);
                row
            });
            // The bytes of one word whose number lacks a bit change places with the bytes of the
            // other word whose number has it.
            for (apart, mask) in
                [(4, 0xffff_ffff), (2, 0x0000_ffff_0000_ffff), (1, 0x00ff_00ff_00ff_00ff)]
            {
                for i in (0..8).filter(|i| i & apart == 0) {
                    let by = 8 * apart;
                    let differ = (rows[i] >> by ^ rows[i + apart]) & mask;
                    rows[i] ^= differ << by;
                    rows[i + apart] ^= differ;
                }
            }
            for row in rows {
                dst.bytes(WORD).cast::<[u8; WORD]>().write(row.to_le_bytes());
                dst = dst.offset(dst_pitch);
            }
        }
    }
}

impl<V: Halves> Tile for EightLanes<V> {
    const ROWS: usize = 8;
    const COLUMNS: usize = 8;

    #[inline(always)]
    unsafe fn transpose(mut src: Source, src_pitch: isize, mut dst: Target, dst_pitch: isize) {
        // SAFETY: half a lane is a source row of the tile; afterwards each lane is two destination
        // rows.
        unsafe {
            let mut pair = || {
                let rows = [V::half(src.bytes(WORD)), V::half(src.offset(src_pitch).bytes(WORD))];
                src = src.offset(2 * src_pitch);
                rows[0].interleave::<1>(rows[1]).0
            };
            let pairs = [pair(), pair(), pair(), pair()];
            let (left, right) = pairs[0].interleave::<2>(pairs[1]);
            let (lower_left, lower_right) = pairs[2].interleave::<2>(pairs[3]);
            let (first, second) = left.interleave::<4>(lower_left);
            let (third, fourth) = right.interleave::<4>(lower_right);
            for rows in [first, second, third, fourth] {
                rows.store_halves(dst.bytes(WORD), dst.offset(dst_pitch).bytes(WORD));
                dst = dst.offset(2 * dst_pitch);
            }
        }
    }
}

// Each of them advances pointers row by row. That takes one register per pointer, while offsets
// would take one per row.

impl<V: Interleave, const N: usize, const S: usize, const PAST: bool> Tile
    for Gather<V, N, S, PAST>
{
    const ROWS: usize = S;
    const COLUMNS: usize = V::LANES * S;

    #[inline(always)]
    unsafe fn transpose(mut src: Source, src_pitch: isize, mut dst: Target, dst_pitch: isize) {
        // SAFETY: lane l of vector i is source row l S + i of the tile; afterwards vector i is
        // destination row i.
        unsafe {
            let mut rows: [V; S] = each(|| {
                let row = V::gather(|lane| src.offset(signed(lane * S) * src_pitch).bytes(LANE));
                src = src.offset(src_pitch);
                row
            });
            lanes::<V, N, S>(&mut rows);
            for row in rows {
                let to = dst.bytes(V::LANES * LANE);
                debug_assert!(!PAST || to.addr().is_multiple_of(V::LANES * LANE));
                if PAST {
                    row.stream(to);
                } else {
                    row.store(to);
                }
                dst = dst.offset(dst_pitch);
            }
        }
    }
}

impl<V: Interleave, const N: usize, const S: usize> Tile for Scatter<V, N, S> {
    const ROWS: usize = V::LANES * S;
    const COLUMNS: usize = S;

    #[inline(always)]
    unsafe fn transpose(mut src: Source, src_pitch: isize, mut dst: Target, dst_pitch: isize) {
        // SAFETY: vector i is source row i of the tile; afterwards its lane l is destination row
        // l S + i.
        unsafe {
            let mut rows: [V; S] = each(|| {
                let row = V::load(src.bytes(V::LANES * LANE));
                src = src.offset(src_pitch);
                row
            });
            lanes::<V, N, S>(&mut rows);
            for row in rows {
                row.scatter(|lane| dst.offset(signed(lane * S) * dst_pitch).bytes(LANE));
                dst = dst.offset(dst_pitch);
            }
        }
    }
}

impl<V: Interleave, const N: usize, const S: usize, const L: usize> Tile for Square<V, N, S, L> {
    const ROWS: usize = L * S;
    const COLUMNS: usize = L * S;

    #[inline(always)]
    unsafe fn transpose(mut src: Source, src_pitch: isize, mut dst: Target, dst_pitch: isize) {
        const { assert!(L == V::LANES, "a square has as many groups as lanes") };
        // SAFETY: vector i of group l is source row l S + i of the tile; it is destination row l
        // S + i after lanes and groups have been exchanged.
        unsafe {
            let mut groups: [[V; S]; L] = each(|| {
                each(|| {
                    let row = V::load(src.bytes(V::LANES * LANE));
                    src = src.offset(src_pitch);
                    row
                })
            });
            for group in &mut groups {
                lanes::<V, N, S>(group);
            }
            for i in 0..S {
                let mut across: [V; L] = core::array::from_fn(|l| groups[l][i]);
                V::cross(&mut across);
                for (group, vector) in groups.iter_mut().zip(&across) {
                    group[i] = *vector;
                }
            }
            // By reference, in nested loops: code that moves arrays would keep them in memory.
            for group in &groups {
                for row in group {
                    row.store(dst.bytes(V::LANES * LANE));
                    dst = dst.offset(dst_pitch);
                }
            }
        }
    }
}

/// The values of `next`, one after the other. Always inlined, unlike `core::array::from_fn`, which
/// keeps the vectors in memory and calls a function for each where it is not.
#[inline(always)]
fn each<T: Copy, const S: usize>(mut next: impl FnMut() -> T) -> [T; S] {
    let mut all = [next(); S];
    for value in &mut all[1..] {
        *value = next();
    }
    all
}

/// Transposes within each lane.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn lanes<V: Interleave, const N: usize, const S: usize>(rows: &mut [V; S]) {
    // SAFETY: the caller guarantees that the processor has the instructions of `V`.
    unsafe {
        if S > 8 {
            stage::<V, N, S, 8>(rows);
        }
        if S > 4 {
            stage::<V, N, S, 4>(rows);
        }
        if S > 2 {
            stage::<V, N, S, 2>(rows);
        }
        stage::<V, N, S, 1>(rows);
    }
}

/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn stage<V: Interleave, const N: usize, const S: usize, const D: usize>(rows: &mut [V; S]) {
    // Written out, because a loop here is unrolled too late and keeps the rows in memory.
    macro_rules! pairs {
        ($($i:literal)*) => {$(
            if ($i / D).is_multiple_of(2) && $i + D < S {
                // SAFETY: the caller guarantees that the processor has the instructions of `V`.
                (rows[$i], rows[$i + D]) = unsafe { rows[$i].interleave::<N>(rows[$i + D]) };
            }
        )*};
    }
    pairs!(0_usize 1 2 3 4 5 6 7 8 9 10 11 12 13 14);
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    #[cfg(any(
        all(target_arch = "x86_64", target_feature = "sse2"),
        all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    ))]
    use super::EightLanes;
    use super::{Eight, Gather, Scatter, Source, Square, Target, Tile, signed};
    use crate::InstructionSet;
    use crate::copy::kernel::vector::Plain;

    /// Checks every byte of a transposed tile, at unaligned starts and odd pitches, and every
    /// byte around.
    fn check<T: Tile>(size: usize) {
        for (skip, pitch) in [(0, 0), (1, 0), (3, 5), (17, 64), (63, 1)] {
            let (from, to) = (T::ROWS * size + pitch, T::COLUMNS * size + pitch);
            let src: Vec<u8> =
                (0..skip + T::COLUMNS * from).map(|i| (i * 31 + i / 251) as u8).collect();
            let mut dst = vec![0xee; skip + T::ROWS * to + 64];
            let mut wanted = dst.clone();
            for row in 0..T::ROWS {
                for column in 0..T::COLUMNS {
                    wanted[skip + row * to + column * size..][..size]
                        .copy_from_slice(&src[skip + column * from + row * size..][..size]);
                }
            }
            // SAFETY: the pitches hold one row each, and both buffers all rows; the caller has
            // checked for the instructions.
            unsafe {
                let (rows, columns) = (signed(T::ROWS), signed(T::COLUMNS));
                let src = Source::within(src.as_ptr().add(skip), || {
                    0..signed(from) * (columns - 1) + signed(T::ROWS * size)
                });
                let dst = Target::within(dst.as_mut_ptr().add(skip), || {
                    0..signed(to) * (rows - 1) + signed(T::COLUMNS * size)
                });
                T::transpose(src, signed(from), dst, signed(to));
            }
            assert!(dst == wanted, "{} x {} of {size} bytes", T::ROWS, T::COLUMNS);
        }
    }

    macro_rules! check {
        ($set:ident, $vector:ty, $lanes:literal) => {
            if InstructionSet::$set.is_available() {
                check::<Gather<$vector, 1, 16>>(1);
                check::<Gather<$vector, 2, 8>>(2);
                check::<Gather<$vector, 4, 4>>(4);
                check::<Gather<$vector, 8, 2>>(8);
                check::<Scatter<$vector, 1, 16>>(1);
                check::<Scatter<$vector, 2, 8>>(2);
                check::<Scatter<$vector, 4, 4>>(4);
                check::<Scatter<$vector, 8, 2>>(8);
                check::<Square<$vector, 1, 16, $lanes>>(1);
                check::<Square<$vector, 2, 8, $lanes>>(2);
                check::<Square<$vector, 4, 4, $lanes>>(4);
                check::<Square<$vector, 8, 2, $lanes>>(8);
                check::<Gather<$vector, 16, 1>>(16);
                check::<Square<$vector, 16, 1, $lanes>>(16);
            }
        };
    }

    #[test]
    fn tiles_transpose() {
        check::<Eight>(1);
        check!(Portable, Plain, 1);
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        {
            use core::arch::x86_64::{__m128i, __m256i, __m512i};
            check::<EightLanes<__m128i>>(1);
            check!(Sse2, __m128i, 1);
            check!(Avx2, __m256i, 2);
            check!(Avx512, __m512i, 4);
        }
        #[cfg(any(
            all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
            all(target_arch = "wasm32", target_feature = "simd128")
        ))]
        {
            use crate::copy::kernel::vector::OneLane;
            check::<EightLanes<OneLane>>(1);
            #[cfg(target_arch = "aarch64")]
            check!(Neon, OneLane, 1);
            #[cfg(target_arch = "wasm32")]
            check!(Simd128, OneLane, 1);
        }
    }
}
