//! One block of a transpose, small enough for the cache.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use core::arch::x86_64::{__m128i, __m256i, __m512i};

#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
use super::tile::EightLanes;
use super::tile::{Eight, Gather, Scatter, Square, Tile};
use crate::copy::instructions::Detected;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::copy::instructions::{Avx2, Avx512};
use crate::copy::kernel::cache::{Apart, LINE, PAGE, WAYS, apart, prefetch};
use crate::copy::kernel::scalar;
use crate::copy::kernel::steps::starts;
#[cfg(any(
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
use crate::copy::kernel::vector::OneLane;
use crate::copy::kernel::vector::{Interleave, LANE, Plain};
use crate::copy::one_loop::Loop;
use crate::copy::region::{Source, Target};
use crate::view::signed;

/// How many bytes ahead a block prefetches its source.
const AHEAD: usize = 4096;

/// A box of elements of `size` bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    /// The loop with the smallest step in the source.
    pub(crate) across: Loop,
    /// A loop with any steps.
    pub(crate) mid: Loop,
    /// `size` bytes per step in the destination.
    pub(crate) along: Loop,
    pub(crate) size: usize,
}

/// The pointers of one block's transpose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pointers {
    pub(crate) src: Source,
    pub(crate) dst: Target,
    /// Start of the source of the next block, if neither block is in the cache yet. It need not
    /// be valid.
    pub(crate) next: Option<Source>,
}

/// Whether a tile of elements of `size` bytes fits.
#[inline(always)]
pub(crate) fn has_tiles(across: Loop, along: Loop, size: usize) -> bool {
    let side = if size == 1 { Eight::ROWS } else { LANE / size.max(1) };
    matches!(size, 1 | 2 | 4 | 8 | 16)
        && across.src == signed(size)
        && across.count.min(along.count) >= side
}

impl Block {
    /// Moves all elements. `N` is their size, or 0 if the size is not a constant.
    ///
    /// # Safety
    /// All elements are valid for reads from the source and for writes from the destination.
    pub(crate) unsafe fn run<const N: usize>(&self, instructions: Detected, at: Pointers) {
        // Copies that stream read each line once: tiles of elements that fill a lane save nothing.
        // Others read it again for each element, if columns a power of two apart share its set.
        let tiles = has_tiles(self.across, self.along, N) && (N < LANE || at.next.is_none());
        let eight = N == 1 && self.across.count.min(self.along.count) < LANE;
        // SAFETY: the caller guarantees that all elements are valid on both sides; if there are
        // tiles, one lane fits both ways, or eight bytes; the tokens prove that the processor has
        // AVX-512 and AVX2, and every processor for which this is compiled has SSE2.
        unsafe {
            if !tiles {
                return self.elements::<N>(at);
            }
            if eight {
                return self.eight(instructions, at);
            }
            match instructions {
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Avx512(token) => self.avx512::<N>(token, at),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Vbmi(token) => self.avx512::<N>(token.avx512(), at),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Avx2(token) => self.avx2::<N>(token, at),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Sse2 | Detected::Ssse3(_) => self.vectors::<__m128i, N, 1>(at),
                #[cfg(any(
                    all(
                        target_arch = "aarch64",
                        target_feature = "neon",
                        target_endian = "little"
                    ),
                    all(target_arch = "wasm32", target_feature = "simd128")
                ))]
                Detected::OneLane => self.vectors::<OneLane, N, 1>(at),
                Detected::Portable => self.vectors::<Plain, N, 1>(at),
            }
        }
    }

    /// Moves all elements past the cache, a line of each row at a time.
    ///
    /// # Safety
    /// As [`run`](Self::run). A lane fits in each column, all rows start at a line of the
    /// destination and end with a line, and there is no loop between.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    pub(crate) unsafe fn stream<const N: usize>(&self, instructions: Detected, at: Pointers) {
        // SAFETY: the caller guarantees the elements, the lanes and the lines; the tokens prove that
        // the processor has AVX-512 and AVX2.
        unsafe {
            match instructions {
                Detected::Avx512(token) => self.stream_avx512::<N>(token, at),
                Detected::Vbmi(token) => self.stream_avx512::<N>(token.avx512(), at),
                Detected::Avx2(token) => self.stream_avx2::<N>(token, at),
                _ => self.stream_tiles::<__m128i, N>(at),
            }
        }
    }

    /// # Safety
    /// As [`stream`](Self::stream).
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn stream_avx512<const N: usize>(&self, _: Avx512, at: Pointers) {
        // SAFETY: the caller guarantees the elements, the lanes and the lines, and the token the
        // instructions.
        unsafe { self.stream_tiles::<__m512i, N>(at) }
    }

    /// # Safety
    /// As [`stream`](Self::stream).
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[target_feature(enable = "avx2")]
    unsafe fn stream_avx2<const N: usize>(&self, _: Avx2, at: Pointers) {
        // SAFETY: the caller guarantees the elements, the lanes and the lines, and the token the
        // instructions.
        unsafe { self.stream_tiles::<__m256i, N>(at) }
    }

    /// # Safety
    /// As [`stream`](Self::stream), and the processor has the instructions of `V`.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[inline(always)]
    unsafe fn stream_tiles<V: Interleave, const N: usize>(&self, at: Pointers) {
        // SAFETY: the caller guarantees the elements, the lanes, the lines and the instructions.
        unsafe {
            match N {
                1 => self.line_by_line::<Gather<V, 1, 16, true>>(at),
                2 => self.line_by_line::<Gather<V, 2, 8, true>>(at),
                4 => self.line_by_line::<Gather<V, 4, 4, true>>(at),
                8 => self.line_by_line::<Gather<V, 8, 2, true>>(at),
                _ => self.line_by_line::<Gather<V, 16, 1, true>>(at),
            }
        }
    }

    /// Writes one line of each row, then the next: stores past the cache write whole lines at once.
    ///
    /// # Safety
    /// As [`stream`](Self::stream); a tile fits, and the processor has its instructions.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[inline(always)]
    unsafe fn line_by_line<T: Tile>(&self, Pointers { src, dst, .. }: Pointers) {
        let line = LINE / self.size;
        for column in (0..self.along.count).step_by(line) {
            // SAFETY: the caller guarantees that a tile fits.
            for row in unsafe { starts(self.across.count, T::ROWS) } {
                for column in (column..column + line).step_by(T::COLUMNS) {
                    let from = signed(column) * self.along.src + signed(row * self.size);
                    let to = signed(row) * self.across.dst + signed(column * self.size);
                    let (from, to) = (src.offset(from), dst.offset(to));
                    // SAFETY: the tile lies within the block, whose elements are valid on both
                    // sides, and whose rows start at lines. This thread writes rows of the last
                    // two tiles twice, with the same bytes.
                    unsafe { T::transpose(from, self.along.src, to, self.across.dst) };
                }
            }
        }
    }

    /// Bytes. Eight fit both ways, but no lane does.
    ///
    /// # Safety
    /// As [`run`](Self::run), and eight bytes fit both ways.
    #[inline(always)]
    unsafe fn eight(&self, instructions: Detected, at: Pointers) {
        // SAFETY: the caller guarantees that all elements are valid on both sides and that a tile
        // fits; every processor for which they are compiled has SSE2 or NEON.
        unsafe {
            match instructions {
                Detected::Portable => self.tiles::<Eight>(at),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                _ => self.tiles::<EightLanes<__m128i>>(at),
                #[cfg(any(
                    all(
                        target_arch = "aarch64",
                        target_feature = "neon",
                        target_endian = "little"
                    ),
                    all(target_arch = "wasm32", target_feature = "simd128")
                ))]
                Detected::OneLane => self.tiles::<EightLanes<OneLane>>(at),
            }
        }
    }

    /// # Safety
    /// As [`run`](Self::run), and one lane fits both ways.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn avx512<const N: usize>(&self, _: Avx512, at: Pointers) {
        // SAFETY: the caller guarantees that all elements are valid on both sides and that one
        // lane fits both ways; the token proves that the processor has AVX-512, which includes
        // the others.
        unsafe {
            match self.lanes::<N>(at) {
                4.. => self.vectors::<__m512i, N, 4>(at),
                2.. => self.vectors::<__m256i, N, 2>(at),
                _ => self.vectors::<__m128i, N, 1>(at),
            }
        }
    }

    /// # Safety
    /// As [`avx512`](Self::avx512).
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[target_feature(enable = "avx2")]
    unsafe fn avx2<const N: usize>(&self, _: Avx2, at: Pointers) {
        // SAFETY: the caller guarantees that all elements are valid on both sides and that one
        // lane fits both ways; the token proves that the processor has AVX2.
        unsafe {
            match self.lanes::<N>(at) {
                2.. => self.vectors::<__m256i, N, 2>(at),
                _ => self.vectors::<__m128i, N, 1>(at),
            }
        }
    }

    /// How many lanes fit, in the direction in which tiles are wide.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[inline(always)]
    fn lanes<const N: usize>(&self, at: Pointers) -> usize {
        let wide = if self.aliased::<N>(at) { self.across.count } else { self.along.count };
        wide * N / LANE
    }

    /// Whether the lines of a tile map to the same few sets of the innermost cache. Then each
    /// line should be read once and as a whole.
    #[inline(always)]
    fn aliased<const N: usize>(&self, at: Pointers) -> bool {
        N < 4 && at.next.is_some() && self.along.src.unsigned_abs().is_multiple_of(4096)
    }

    /// # Safety
    /// As [`run`](Self::run). `L` lanes of `V` fit in the direction in which tiles are wide, and one
    /// in the other; the processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn vectors<V: Interleave, const N: usize, const L: usize>(&self, at: Pointers) {
        let aliased = self.aliased::<N>(at);
        // Two lanes: to load them apart takes less than to exchange them, if only loads wait.
        let square = self.across.count * N >= L * LANE && (L != 2 || self.is_resident(at));
        // SAFETY: the caller guarantees that all elements are valid on both sides, that the lanes
        // fit and that the processor has the instructions; a square fits where one is used.
        unsafe {
            match N {
                1 if aliased => self.tiles::<Scatter<V, 1, 16>>(at),
                1 => self.tiles::<Gather<V, 1, 16>>(at),
                2 if aliased => self.tiles::<Scatter<V, 2, 8>>(at),
                2 => self.tiles::<Gather<V, 2, 8>>(at),
                4 if square => self.tiles::<Square<V, 4, 4, L>>(at),
                4 => self.tiles::<Gather<V, 4, 4>>(at),
                8 if square => self.tiles::<Square<V, 8, 2, L>>(at),
                8 => self.tiles::<Gather<V, 8, 2>>(at),
                _ if square => self.tiles::<Square<V, 16, 1, L>>(at),
                _ => self.tiles::<Gather<V, 16, 1>>(at),
            }
        }
    }

    /// Whether the lines of the source stay in the innermost cache until all rows are moved.
    #[inline(always)]
    fn is_resident(&self, at: Pointers) -> bool {
        let column = apart(self.along.src).max(self.across.count * self.size);
        at.next.is_none() && self.along.count * self.mid.count * column <= WAYS * PAGE
    }

    /// # Safety
    /// As [`run`](Self::run); a tile fits, and the processor has its instructions.
    #[inline(always)]
    unsafe fn tiles<T: Tile>(&self, at: Pointers) {
        // SAFETY: the caller guarantees that all elements are valid on both sides, that a tile fits,
        // and the instructions.
        unsafe {
            if self.is_resident(at) {
                self.row_by_row::<T>(at);
            } else {
                self.column_by_column::<T>(at);
            }
        }
    }

    /// Writes straight through each row of the destination.
    ///
    /// # Safety
    /// As [`tiles`](Self::tiles).
    #[inline(always)]
    unsafe fn row_by_row<T: Tile>(&self, Pointers { src, dst, .. }: Pointers) {
        for mid in 0..signed(self.mid.count) {
            // SAFETY: the caller guarantees that a tile fits.
            for row in unsafe { starts(self.across.count, T::ROWS) } {
                let from = src.offset(mid * self.mid.src + signed(row * self.size));
                let to = dst.offset(mid * self.mid.dst + signed(row) * self.across.dst);
                // SAFETY: as above.
                for column in unsafe { starts(self.along.count, T::COLUMNS) } {
                    let from = from.offset(signed(column) * self.along.src);
                    let to = to.add(column * self.size);
                    // SAFETY: the tile lies within the block, whose elements are valid on both sides.
                    unsafe { T::transpose(from, self.along.src, to, self.across.dst) };
                }
            }
        }
    }

    /// Reads straight through each column of the source, so that each of its lines is needed once.
    ///
    /// # Safety
    /// As [`tiles`](Self::tiles).
    #[inline(always)]
    unsafe fn column_by_column<T: Tile>(&self, Pointers { src, dst, next }: Pointers) {
        // SAFETY: the caller guarantees that a tile fits.
        for column in unsafe { starts(self.along.count, T::COLUMNS) } {
            let ahead = self.ahead(src, column, T::COLUMNS, next);
            let src = src.offset(signed(column) * self.along.src);
            let dst = dst.add(column * self.size);
            for mid in 0..signed(self.mid.count) {
                // SAFETY: as above.
                for row in unsafe { starts(self.across.count, T::ROWS) } {
                    let from = mid * self.mid.src + signed(row * self.size);
                    let to = mid * self.mid.dst + signed(row) * self.across.dst;
                    if let Some(ahead) = ahead {
                        self.ask(ahead, from, T::ROWS * self.size, T::COLUMNS);
                    } else if T::ROWS < T::COLUMNS {
                        // Stores wait for each other's lines, so these are prefetched, too.
                        for row in 0..signed(T::ROWS) {
                            let to = to + (signed(T::ROWS) + row) * self.across.dst;
                            prefetch(dst.offset(to).hint());
                        }
                    }
                    let (from, to) = (src.offset(from), dst.offset(to));
                    // SAFETY: the tile lies within the block, whose elements are valid on both sides.
                    unsafe { T::transpose(from, self.along.src, to, self.across.dst) };
                }
            }
        }
    }

    /// Element by element.
    ///
    /// # Safety
    /// As [`run`](Self::run).
    unsafe fn elements<const N: usize>(&self, Pointers { src, dst, next }: Pointers) {
        let Self { across, mid, along, size } = *self;
        // Whole lines of the destination, but no more columns than needed: the source's lines may
        // map to the same sets of the cache.
        let wide = (AHEAD / size / across.count / mid.count).max(LINE / size).clamp(1, 64);
        for column in (0..along.count).step_by(wide) {
            let ahead = self.ahead(src, column, wide, next);
            let columns = column..along.count.min(column + wide);
            for m in 0..signed(mid.count) {
                for row in 0..signed(across.count) {
                    let from = m * mid.src + row * across.src;
                    let to = m * mid.dst + row * across.dst;
                    if let Some(ahead) = ahead {
                        self.ask(ahead, from, size, wide);
                    }
                    for column in columns.clone() {
                        let from = src.offset(from + signed(column) * along.src);
                        let to = dst.offset(to + signed(column * size));
                        let (from, to) = (from.bytes(size), to.bytes(size));
                        // SAFETY: one element of the block.
                        unsafe {
                            if N > 0 {
                                core::ptr::copy_nonoverlapping(from, to, N);
                            } else {
                                scalar::short(from, to, size);
                            }
                        };
                    }
                }
            }
        }
    }

    /// Prefetches the destination of a block that is moved directly, if its rows lie apart.
    #[inline(always)]
    pub(crate) fn ask_for_destination(&self, dst: Target) {
        let Some(apart) = Apart::new(self.along.count * self.size, self.across.dst) else { return };
        for mid in 0..signed(self.mid.count) {
            let mut dst = dst.offset(mid * self.mid.dst);
            for _ in 0..self.across.count {
                apart.row(dst.hint());
                dst = dst.offset(self.across.dst);
            }
        }
    }

    /// Where the columns lie that are prefetched while those at `column` are moved: a whole
    /// number of steps further on, in this block or the next.
    #[inline(always)]
    fn ahead(
        &self,
        src: Source,
        column: usize,
        wide: usize,
        next: Option<Source>,
    ) -> Option<Source> {
        let next = next?;
        let step = wide * self.across.count * self.mid.count * self.size;
        let ahead = column + wide * AHEAD.div_ceil(step);
        Some(match ahead.checked_sub(self.along.count) {
            None => src.offset(signed(ahead) * self.along.src),
            Some(over) => next.offset(signed(over).wrapping_mul(self.along.src)),
        })
    }

    /// Prefetches `bytes` bytes from `start + at` in each of `columns` columns, unless the lines
    /// of the bytes before already covered them.
    #[inline(always)]
    fn ask(&self, start: Source, at: isize, bytes: usize, columns: usize) {
        if at & signed(LINE - 1) >= signed(bytes) {
            return;
        }
        // Columns that share a line are prefetched once.
        let step = (LINE / self.along.src.unsigned_abs().max(1)).max(1);
        for column in (0..columns).step_by(step) {
            let start = start.offset(at + signed(column) * self.along.src);
            if at == 0 {
                prefetch(start.hint());
            }
            // The last byte of each line's length: rows need not start at a line.
            for line in (LINE - 1..bytes + LINE - 1).step_by(LINE) {
                prefetch(start.add(line).hint());
            }
        }
    }
}
