//! Transposes in blocks: the loop with the smallest step in the destination, and the loop with the
//! smallest step in the source.
//!
//! Following either loop alone touches a new cache line on the other side at every element. A block
//! has long runs on both sides and uses each line in full while it is in the cache. If the copy
//! exceeds the cache, a block is transposed into a buffer, and streaming stores write its runs. The
//! processor then does not read the destination's lines before they are overwritten.

use super::block::{Block, Pointers};
use super::block_layout::{BlockBuffer, extents};
use super::buffer::{Buffer, Memory};
use crate::copy::instructions::Detected;
use crate::copy::kernel::cache::{Apart, LINE, prefetch, stream};
use crate::copy::kernel::swap;
use crate::copy::kernel::vector::LANE;
use crate::copy::one_loop::Loop;
use crate::copy::region::{Source, Target};
use crate::view::signed;

/// The loops of a transpose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plane {
    /// All elements.
    pub(crate) all: Block,
    /// The unit of the byte swap.
    pub(crate) unit: usize,
    /// Whether to write with streaming stores, past the cache.
    pub(crate) stream: bool,
    pub(crate) instructions: Detected,
}

/// How many runs ahead the lines that a run writes only in part are prefetched.
const EDGES: usize = 16;

/// The most rows that are written past the cache without a buffer, and the most bytes of them in the
/// source: each row is a stream of its own.
const ROWS: usize = 32;
const COLUMN: usize = 384;

/// The fewest bytes of such rows: the lines at their ends are written in part.
const LONG: usize = 256;

impl Plane {
    /// Moves all elements. `N` is their size, or 0 if the size is not a constant.
    ///
    /// # Safety
    /// Each element of the plane is valid for reads from `src` and for writes from `dst`.
    pub(crate) unsafe fn run<const N: usize>(&self, src: Source, dst: Target, memory: &mut Memory) {
        // SAFETY: the caller guarantees that each element is valid for reads from `src` and for
        // writes from `dst`.
        let through = |buffer: Buffer| unsafe { self.buffered::<N>(src, dst, &buffer) };
        // SAFETY: as above.
        unsafe {
            if self.has_lines::<N>(dst) {
                self.lines::<N>(src, dst);
            } else if self.stream {
                memory.large(through);
            } else if self.unit > 1 {
                Buffer::small(through);
            } else {
                self.direct::<N>(src, dst);
            }
        }
    }

    /// Whether the rows are few and have whole lines at the same columns. They are then written past
    /// the cache as they are transposed: through a buffer they take twice as long.
    fn has_lines<const N: usize>(&self, dst: Target) -> bool {
        // The rows of a tile. Vectors shorter than a line write each line in parts, and the processor
        // keeps few lines open.
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        let most = match self.instructions {
            Detected::Avx512(_) | Detected::Vbmi(_) => LANE,
            Detected::Avx2(_) => 8,
            Detected::Sse2 | Detected::Ssse3(_) => 1,
            Detected::Portable => 0,
        };
        #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
        let most = 0;
        if !self.stream || self.unit > 1 || !matches!(N, 1 | 2 | 4 | 8 | 16) || LANE / N > most {
            return false;
        }
        let Block { across, mid, along, .. } = self.all;
        // The last tile may write rows again, which costs less if a vector is a whole line.
        let written = across.count.next_multiple_of(LANE / N);
        let is_few_again = written * 3 <= across.count * 4 || most == LANE;
        across.src == signed(N)
            && (LANE / N..=ROWS.min(COLUMN / N)).contains(&across.count)
            && is_few_again
            && along.count * N >= LONG
            && across.dst.unsigned_abs().is_multiple_of(LINE)
            && (dst.addr() | mid.dst.unsigned_abs()).is_multiple_of(N)
    }

    /// Moves past the cache without a buffer.
    ///
    /// # Safety
    /// As [`run`](Self::run), and [`has_lines`](Self::has_lines).
    unsafe fn lines<const N: usize>(&self, src: Source, dst: Target) {
        let Block { across, mid, along, size } = self.all;
        for m in 0..signed(mid.count) {
            let (src, dst) = (src.offset(m * mid.src), dst.offset(m * mid.dst));
            let columns = |from: usize, to: usize| {
                let along = Loop { count: to - from, ..along };
                let block = Block { across, mid: Loop { count: 1, ..mid }, along, size };
                let src = src.offset(signed(from) * along.src);
                (block, Pointers { src, dst: dst.add(from * size), next: None })
            };
            let head = (dst.addr().wrapping_neg() % LINE / size).min(along.count);
            let tail = along.count - (along.count - head) % (LINE / size);
            for (from, to) in [(0, head), (tail, along.count)] {
                let (block, at) = columns(from, to);
                if from < to {
                    // SAFETY: the block lies within the plane.
                    unsafe { block.run::<N>(self.instructions, at) };
                }
            }
            let (block, at) = columns(head, tail);
            // SAFETY: the block lies within the plane. Its rows are whole lines, because they lie
            // lines apart.
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            unsafe {
                block.stream::<N>(self.instructions, at);
            }
            // SAFETY: the block lies within the plane.
            #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
            unsafe {
                block.run::<N>(self.instructions, at);
            }
        }
    }

    /// Moves directly to the destination, in blocks that stay in the innermost cache.
    ///
    /// # Safety
    /// Each element of the plane is valid for reads from `src` and for writes from `dst`.
    unsafe fn direct<const N: usize>(&self, src: Source, dst: Target) {
        let Block { across, mid, along, size } = self.all;
        // A division by a constant, except for odd sizes.
        let size = if N > 0 { N } else { size };
        let (rows, columns) = extents(size, across, along);
        let is_apart = Apart::new(along.count * size, across.dst).is_some();
        let mut q = 0;
        while q < along.count {
            for m in 0..signed(mid.count) {
                let mut p = 0;
                while p < across.count {
                    let block = Block {
                        across: Loop { count: rows.min(across.count - p), ..across },
                        mid: Loop { count: 1, ..mid },
                        along: Loop { count: columns.min(along.count - q), ..along },
                        size,
                    };
                    let from = signed(p) * across.src + m * mid.src + signed(q) * along.src;
                    let to = signed(p) * across.dst + m * mid.dst + signed(q) * along.dst;
                    let (src, dst) = (src.offset(from), dst.offset(to));
                    if is_apart {
                        block.ask_for_destination(dst);
                    }
                    // SAFETY: the block lies within the plane.
                    unsafe { block.run::<N>(self.instructions, Pointers { src, dst, next: None }) };
                    p += rows;
                }
            }
            q += columns;
        }
    }

    /// Moves through the buffer.
    ///
    /// # Safety
    /// As [`run`](Self::run), and the buffer is valid for reads and writes.
    unsafe fn buffered<const N: usize>(&self, src: Source, dst: Target, buffer: &Buffer) {
        let Block { across, mid, along, size } = self.all;
        let layout = BlockBuffer::new(&self.all, buffer.bytes);
        let through = buffer.target();
        let parts = (across.count.div_ceil(layout.rows), mid.count.div_ceil(layout.mids));
        let blocks = parts.0 * parts.1 * along.count.div_ceil(layout.columns);
        let place = |i: usize| {
            let (p, m, q) = (i % parts.0, i / parts.0 % parts.1, i / parts.0 / parts.1);
            (p * layout.rows, m * layout.mids, q * layout.columns)
        };
        let from = |(p, m, q): (usize, usize, usize)| {
            let at = signed(p) * across.src + signed(m) * mid.src + signed(q) * along.src;
            src.offset(at)
        };
        for i in 0..blocks {
            let (p, m, q) = place(i);
            let block = Block {
                across: Loop { count: layout.rows.min(across.count - p), ..across },
                mid: Loop { count: layout.mids.min(mid.count - m), ..mid },
                along: Loop { count: layout.columns.min(along.count - q), ..along },
                size,
            };
            let to = signed(p) * across.dst + signed(m) * mid.dst + signed(q) * along.dst;
            let next = self.stream.then(|| from(place((i + 1).min(blocks - 1))));
            // SAFETY: the block lies within the plane, and the buffer holds its layout.
            unsafe {
                let at = Pointers { src: from((p, m, q)), dst: through, next };
                layout.buffered(&block).run::<N>(self.instructions, at);
            }
            // SAFETY: as above, and the block is in the buffer.
            unsafe { self.leave(&layout, &block, through, dst.offset(to)) };
        }
    }

    /// Writes a block from the buffer to the destination.
    ///
    /// # Safety
    /// The block lies in `buffer` as the layout says, and is valid for writes from `dst`.
    unsafe fn leave(&self, layout: &BlockBuffer, block: &Block, buffer: Target, dst: Target) {
        let (rows, mids, bytes) = layout.runs(block);
        let start = |run: usize| {
            let (row, mid) = (signed(run / mids), signed(run % mids));
            dst.offset(row * block.across.dst + mid * block.mid.dst)
        };
        // A line that is written in part must be read first, and later stores wait for it.
        let ask = |run: usize| {
            if !self.stream || run >= rows * mids {
                return;
            }
            for edge in [start(run), start(run).add(bytes)] {
                if !edge.addr().is_multiple_of(LINE) {
                    prefetch(edge.hint());
                }
            }
        };
        (0..EDGES).for_each(ask);
        for run in 0..rows * mids {
            ask(run + EDGES);
            let line = buffer.add(run / mids * layout.row + run % mids * layout.mid);
            let to = start(run);
            // SAFETY: a run of the block, contiguous on both sides, of whole units.
            unsafe {
                let (line, to) = (line.bytes(bytes), to.bytes(bytes));
                swap::in_place(line, bytes, self.unit);
                if self.stream {
                    stream(line, to, bytes);
                } else {
                    core::ptr::copy_nonoverlapping(line, to, bytes);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::super::buffer::LARGE;
    use super::{
        Block, BlockBuffer, Buffer, Detected, Loop, Memory, Plane, Source, Target, signed,
    };
    use crate::InstructionSet;

    /// A layout of the test: pitches in bytes, with room for `skip` bytes before.
    struct Case {
        counts: [usize; 3],
        src: [isize; 3],
        dst: [isize; 3],
        skip: usize,
    }

    /// Runs a case with every instruction set and buffer; compares each byte of the destination
    /// and around it.
    fn check<const N: usize>(case: &Case, size: usize, unit: usize, stream: bool) {
        let Case { counts, src: from, dst: to, skip } = *case;
        let reach = |steps: [isize; 3]| {
            let ends = counts.iter().zip(steps).map(|(&n, step)| step * signed(n - 1));
            ends.fold((0, 0), |(lo, hi), end| (lo + end.min(0), hi + end.max(0)))
        };
        let (src_reach, dst_reach) = (reach(from), reach(to));
        let bytes = |reach: (isize, isize)| (reach.1 - reach.0).unsigned_abs() + size + skip;
        let src: Vec<u8> = (0..bytes(src_reach)).map(|i| (i * 31 + i / 253) as u8).collect();
        let before = vec![0xee; bytes(dst_reach) + 64];
        let (src_first, dst_first) =
            (skip + src_reach.0.unsigned_abs(), skip + dst_reach.0.unsigned_abs());
        let mut wanted = before.clone();
        for i in 0..counts.iter().product() {
            let index = [i / counts[2] / counts[1], i / counts[2] % counts[1], i % counts[2]];
            let at = |first: usize, steps: [isize; 3]| {
                let moved: isize = index.iter().zip(steps).map(|(&i, step)| signed(i) * step).sum();
                first.checked_add_signed(moved).unwrap()
            };
            let to = &mut wanted[at(dst_first, to)..][..size];
            to.copy_from_slice(&src[at(src_first, from)..][..size]);
            if unit > 1 {
                to.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
            }
        }
        let [across, mid, along] =
            core::array::from_fn(|d| Loop { count: counts[d], src: from[d], dst: to[d] });
        for instructions in InstructionSet::ALL.iter().copied().filter_map(Detected::new) {
            let all = Block { across, mid, along, size };
            let plane = Plane { all, unit, stream, instructions };
            let compare = |run: &dyn Fn(Source, Target)| {
                let mut dst = before.clone();
                let loops = [across, mid, along];
                // SAFETY: the first elements lie within the buffers.
                let (src, to) =
                    unsafe { (src.as_ptr().add(src_first), dst.as_mut_ptr().add(dst_first)) };
                run(Source::first(src, &loops, size), Target::first(to, &loops, size));
                assert!(dst == wanted, "{size} bytes, {plane:?}");
            };
            // SAFETY: the buffers hold the reach of all loops.
            compare(&|src, dst| unsafe { plane.run::<N>(src, dst, &mut Memory::default()) });
            if stream {
                compare(&|src, dst| {
                    // SAFETY: as above.
                    Buffer::small(|buffer| unsafe { plane.buffered::<N>(src, dst, &buffer) });
                });
            }
        }
    }

    /// A transpose of `counts` with rows that are `margin` bytes longer than needed.
    fn case(counts: [usize; 3], size: usize, margin: usize, skip: usize, down: bool) -> Case {
        let [across, mid, along] = counts;
        let row = signed(along * size + margin);
        let src = [signed(size), signed(across * size + margin), 0];
        let src = [src[0], src[1], src[1] * signed(mid) + signed(margin)];
        let outer = row * signed(mid);
        let dst = [if down { -outer } else { outer }, row, signed(size)];
        Case { counts, src, dst, skip }
    }

    /// All small shapes, at every kind of start.
    fn small<const N: usize>(size: usize, unit: usize) {
        let side = (16 / size).max(1);
        let mut sides = vec![1, 2, 3, side, side + 1, 2 * side + 1, 4 * side, 4 * side + 3];
        sides.extend([5 * side - 1, 8 * side + 5]);
        sides.sort_unstable();
        sides.dedup();
        for (i, &across) in sides.iter().enumerate() {
            for (j, &along) in sides.iter().enumerate() {
                let mid = 1 + (i + j) % 3;
                let counts = [across, mid, along];
                let (margin, skip) = ([0, 1, 64][(i * 3 + j) % 3], [0, 5, 64, 9][(i + j) % 4]);
                let down = j % 2 == 1;
                for stream in [false, true] {
                    check::<N>(&case(counts, size, margin, skip, down), size, unit, stream);
                }
            }
        }
    }

    #[test]
    fn small_planes_transpose() {
        small::<1>(1, 1);
        small::<2>(2, 1);
        small::<2>(2, 2);
        small::<4>(4, 1);
        small::<4>(4, 4);
        small::<8>(8, 1);
        small::<8>(8, 4);
        small::<16>(16, 1);
        small::<16>(16, 8);
        small::<32>(32, 1);
        small::<64>(64, 4);
        small::<128>(128, 1);
        small::<0>(3, 1);
        small::<0>(12, 4);
        small::<0>(257, 1);
    }

    /// Few rows whose lines begin at the same columns, with any start and end.
    fn lined<const N: usize>() {
        for few in [1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33] {
            for (mid, skip) in [(1, 0), (2, 16), (1, 48), (3, 0)] {
                for columns in [256 / N - 1, 256 / N, 256 / N + 37, 3000 / N] {
                    // Pitches of whole lines.
                    let margin = (columns * N).next_multiple_of(64) - columns * N;
                    check::<N>(&case([few, mid, columns], N, margin, skip, false), N, 1, true);
                    check::<N>(&case([few, mid, columns], N, margin + 16, skip, true), N, 1, true);
                }
            }
        }
    }

    #[test]
    fn few_rows_with_lines_transpose() {
        lined::<1>();
        lined::<2>();
        lined::<4>();
        lined::<8>();
        lined::<16>();
        // Parts of rows that begin within an element.
        check::<8>(&case([8, 16, 130], 8, 4, 0, false), 8, 1, true);
        check::<16>(&case([8, 8, 130], 16, 8, 0, false), 16, 1, true);
    }

    #[test]
    fn few_rows_are_written_in_lines_if_they_begin_alike() {
        let mut to = vec![0_u8; 1 << 17];
        let start = to.as_ptr().align_offset(64);
        let to = &mut to[start..];
        let mut has = |count: usize, pitch: isize, skip: usize, stream: bool| {
            let across = Loop { count, src: 4, dst: pitch };
            let mid = Loop { count: 1, src: 0, dst: 0 };
            let along = Loop { count: 512, src: signed(4 * count), dst: 4 };
            let all = Block { across, mid, along, size: 4 };
            let dst = Target::first(to[skip..].as_mut_ptr(), &[across, along], 4);
            let of =
                |instructions| Plane { all, unit: 1, stream, instructions }.has_lines::<4>(dst);
            InstructionSet::ALL.iter().copied().filter_map(Detected::new).any(of)
        };
        let wide = InstructionSet::Avx2.is_available() || InstructionSet::Avx512.is_available();
        assert_eq!(has(8, 2048, 0, true), wide);
        assert_eq!(has(8, 2048, 12, true), wide);
        // Rows that begin apart, or within an element; too many; a copy within the cache.
        for (count, pitch, skip, stream) in
            [(8, 2064, 0, true), (8, 2048, 2, true), (33, 2048, 0, true), (8, 2048, 0, false)]
        {
            assert!(!has(count, pitch, skip, stream), "{count} rows, {pitch} bytes apart");
        }
    }

    /// Planes that are short in one direction and take several blocks in the other, with lines that
    /// stay in the cache and with lines that map to the same sets.
    fn short<const N: usize>(size: usize) {
        let long = 3 * 32_768 / size / size;
        for few in [1, 2, 3, 4, 7, 16, 17, 33] {
            for margin in [0, 3] {
                check::<N>(&case([few, 1, long / few], size, margin, 0, false), size, 1, false);
                check::<N>(&case([long / few, 2, few], size, margin, 5, true), size, 1, false);
            }
            // Columns a page apart.
            let Case { counts, mut src, dst, skip } = case([few, 1, 70], size, 0, 0, false);
            src[2] = 4096;
            check::<N>(&Case { counts, src, dst, skip }, size, 1, false);
        }
    }

    #[test]
    fn short_planes_transpose() {
        short::<1>(1);
        short::<2>(2);
        short::<4>(4);
        short::<8>(8);
        short::<16>(16);
        short::<0>(12);
    }

    /// Several blocks along each loop, whole and cut, from aliased and other sources.
    fn large<const N: usize>(size: usize) {
        let layout = |counts: [usize; 3]| {
            let Case { src, dst, .. } = case(counts, size, 0, 0, false);
            let [across, mid, along] =
                core::array::from_fn(|d| Loop { count: counts[d], src: src[d], dst: dst[d] });
            BlockBuffer::new(&Block { across, mid, along, size }, LARGE)
        };
        let whole = layout([1 << 20, 1, 1 << 20]);
        let (rows, columns) = (whole.rows, whole.columns);
        for (across, along) in
            [(rows, columns), (rows + 1, 2 * columns + 3), (2 * rows + 5, columns - 1)]
        {
            check::<N>(&case([across, 1, along], size, 0, 0, false), size, 1, true);
            check::<N>(&case([across, 1, along], size, 3, 1, true), size, 1, true);
        }
        // Short rows; their blocks extend into the middle loop.
        for (across, along) in [(16, 16), (17, 31)] {
            let mid = layout([across, 1 << 20, along]).mids * 2 + 1;
            check::<N>(&case([across, mid, along], size, 0, 0, false), size, 1, true);
            check::<N>(&case([across, mid, along], size, 0, 3, false), size, 1, true);
        }
        // Rows that follow their columns in the destination, like rows of pixels.
        for (across, along, margin) in [(64, 16, 0), (37, 5, 3), (200, 3, 64)] {
            let mid = layout([across, 1 << 20, along]).mids * 2 + 1;
            let pixels = |mid: usize, skip| {
                let [planes, pixel] = [across * mid + margin, along * size].map(signed);
                let src = [signed(size), signed(across * size), planes * signed(size)];
                let row = pixel * signed(across) + signed(margin);
                Case { counts: [across, mid, along], src, dst: [pixel, row, signed(size)], skip }
            };
            check::<N>(&pixels(mid, 0), size, 1, true);
            check::<N>(&pixels(7, 5), size, 1, true);
        }
        // Source rows of whole pages.
        let across = 4096 / size;
        check::<N>(&case([across, 1, 67], size, 0, 0, false), size, 1, true);
    }

    #[test]
    fn large_planes_transpose() {
        large::<1>(1);
        large::<2>(2);
        large::<4>(4);
        large::<8>(8);
        large::<16>(16);
        large::<0>(24);
    }
}
