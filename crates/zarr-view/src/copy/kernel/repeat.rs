//! One element many times: the rows of a column that is broadcast.

use super::super::instructions::Detected;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::super::instructions::{Avx2, Avx512};
use super::super::one_loop::Loop;
use super::super::region::{Source, Target};
use super::steps::starts;
use super::swap;
use super::vector::WORD;
use crate::view::signed;

/// Bytes of a constant number of elements, which fit registers.
const WHOLE: usize = 64;

/// From this many bytes on, the C library fills a row of bytes as fast or faster.
const LONG: usize = 4096;

/// A copy with an innermost loop that repeats one element.
#[derive(Clone, Copy)]
pub(super) struct Repeat {
    /// Bytes of an element, and the unit of the swap within it.
    pub(super) size: usize,
    pub(super) unit: usize,
    pub(super) instructions: Detected,
}

/// Rows of one element each.
#[derive(Clone, Copy)]
struct Rows {
    /// From one row to the next.
    rows: Loop,
    /// Elements of a row.
    count: usize,
    unit: usize,
}

/// Whether a loop repeats one element, in a row that fills the registers.
pub(super) fn is_repeated(line: &Loop, size: usize) -> bool {
    matches!(size, 1 | 2 | 4 | 8 | 16)
        && line.src == 0
        && line.dst == signed(size)
        && line.count >= WHOLE / size
}

impl Repeat {
    /// Runs all loops. The last one [`is_repeated`].
    ///
    /// # Safety
    /// The elements of the loops are valid for reads from `src` and for writes from `dst`.
    pub(super) unsafe fn run(&self, loops: &[Loop], src: Source, dst: Target) {
        // SAFETY: the caller guarantees the elements of all loops, and so those of each step.
        unsafe {
            match *loops {
                [line] => self.rows(Loop { count: 1, src: 0, dst: 0 }, line.count, src, dst),
                [rows, line] => self.rows(rows, line.count, src, dst),
                [Loop { count, src: src_step, dst: dst_step }, ref inner @ ..] => {
                    for i in 0..signed(count) {
                        self.run(inner, src.offset(i * src_step), dst.offset(i * dst_step));
                    }
                }
                [] => {}
            }
        }
    }

    /// # Safety
    /// An element is valid for reads from `src` at each step of `rows`, and a row of `count`, at
    /// least [`WHOLE`] bytes, for writes from `dst`.
    unsafe fn rows(&self, rows: Loop, count: usize, src: Source, dst: Target) {
        let rows = Rows { rows, count, unit: self.unit };
        // SAFETY: the caller guarantees the elements and the rows; `N` is the size of an element.
        unsafe {
            match self.size {
                1 => rows.run::<1>(self.instructions, src, dst),
                2 => rows.run::<2>(self.instructions, src, dst),
                4 => rows.run::<4>(self.instructions, src, dst),
                8 => rows.run::<8>(self.instructions, src, dst),
                _ => rows.run::<16>(self.instructions, src, dst),
            }
        }
    }
}

impl Rows {
    /// Writes all rows, of elements of `N` bytes, which divide [`WHOLE`].
    ///
    /// # Safety
    /// As [`Repeat::rows`]; `unit` divides `N`.
    unsafe fn run<const N: usize>(&self, instructions: Detected, src: Source, dst: Target) {
        // SAFETY: the caller guarantees the elements and the rows; the tokens prove that the
        // processor has the instructions.
        unsafe {
            match instructions {
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Vbmi(token) => self.avx512::<N>(token.avx512(), src, dst),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Avx512(token) => self.avx512::<N>(token, src, dst),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Avx2(token) => self.avx2::<N>(token, src, dst),
                _ => self.every::<N>(src, dst),
            }
        }
    }

    /// # Safety
    /// As [`run`](Self::run).
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn avx512<const N: usize>(&self, _: Avx512, src: Source, dst: Target) {
        // SAFETY: the caller guarantees the elements and the rows.
        unsafe { self.every::<N>(src, dst) }
    }

    /// # Safety
    /// As [`run`](Self::run).
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[target_feature(enable = "avx2")]
    unsafe fn avx2<const N: usize>(&self, _: Avx2, src: Source, dst: Target) {
        // SAFETY: the caller guarantees the elements and the rows.
        unsafe { self.every::<N>(src, dst) }
    }

    /// # Safety
    /// As [`run`](Self::run).
    #[inline(always)]
    unsafe fn every<const N: usize>(&self, mut src: Source, mut dst: Target) {
        for _ in 0..self.rows.count {
            // SAFETY: the caller guarantees an element and a row of at least `WHOLE` bytes at each
            // step. Behind the last one the pointers are not used.
            unsafe {
                if N == 1 && self.count >= LONG {
                    dst.bytes(self.count).write_bytes(src.bytes(1).read(), self.count);
                } else {
                    let whole = self.whole::<N>(src);
                    for at in starts(self.count * N, WHOLE) {
                        let to = dst.add(at).bytes(WHOLE).cast::<[u64; WHOLE / WORD]>();
                        to.write_unaligned(whole);
                    }
                }
            }
            src = src.offset(self.rows.src);
            dst = dst.offset(self.rows.dst);
        }
    }

    /// The element at `src` as often as it fits [`WHOLE`] bytes. In words, which the compiler keeps
    /// in vectors.
    ///
    /// # Safety
    /// It is valid for reads, and `unit` divides `N`.
    #[inline(always)]
    unsafe fn whole<const N: usize>(&self, src: Source) -> [u64; WHOLE / WORD] {
        let mut element = [0; N];
        // SAFETY: the caller guarantees that the element is valid for reads, and the unit.
        unsafe {
            core::ptr::copy_nonoverlapping(src.bytes(N), element.as_mut_ptr(), N);
            swap::in_place(element.as_mut_ptr(), N, self.unit);
        }
        let word = |at: usize| {
            // Written in the order in which they are read, on every machine.
            u64::from_le_bytes(core::array::from_fn(|byte| element[(at * WORD + byte) % N])).to_le()
        };
        core::array::from_fn(word)
    }
}
