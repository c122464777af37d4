//! Short axes, reversed axes and steps: elements change places within a few vectors.
//!
//! A block is as many elements as one lane holds, from each of some rows. It is read as whole
//! lanes. Each lane written is the union of bytes picked from the lanes read:
//!
//! ```text
//! planes to pixels              pixels to planes              every second, reversed
//!
//! r0 r1 r2 r3    r0 g0 b0 r1    r0 g0 b0 r1    r0 r1 r2 r3    a0 a1 a2 a3
//! g0 g1 g2 g3 -> g1 b1 r2 g2    g1 b1 r2 g2 -> g0 g1 g2 g3    a4 a5 a6 a7 -> a6 a4 a2 a0
//! b0 b1 b2 b3    b2 r3 g3 b3    b2 r3 g3 b3    b0 b1 b2 b3
//! ```
//!
//! A table for each pair of lanes says which byte goes where. So one loop does all of these for
//! elements of 1, 2, 4 and 8 bytes, and swaps their bytes on the way. Vectors of several lanes hold
//! the same lane of several blocks. With instructions that pick from all 64 bytes of a vector, a
//! lane is a vector.

pub(super) mod weave;

use core::mem::MaybeUninit;

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use self::weave::WIDE;
use self::weave::{Blocks, MOST, Weave};
use super::super::instructions::Detected;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::super::instructions::{Avx2, Avx512, Ssse3, Vbmi};
use super::super::one_loop::Loop;
use super::super::region::{Source, Target};
use super::scalar;
use super::steps::starts;
#[cfg(any(
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
use super::vector::OneLane;
use super::vector::Shuffle;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::vector::vbmi::Wide;
use crate::view::signed;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use core::arch::x86_64::{__m128i, __m256i, __m512i};

/// A copy of woven loops.
pub(super) struct Shuffles {
    pub(super) blocks: Blocks,
    pub(super) instructions: Detected,
}

impl Shuffles {
    /// Runs the loops outside the two that are woven, and these.
    ///
    /// # Safety
    /// The elements of all loops are valid for reads from `src` and for writes from `dst`. The
    /// loops are those for which the tables were made, and loops outside them. Every byte before
    /// `end` that lies behind an element of the source is valid for reads, too.
    pub(super) unsafe fn run(&self, loops: &[Loop], src: Source, dst: Target, end: Source) {
        let once = Loop { count: 1, src: 0, dst: 0 };
        match *loops {
            // SAFETY: the elements of the last two loops.
            [across, along] => unsafe { self.rows(once, [across, along], src, dst, end) },
            // SAFETY: the elements of the last three loops.
            [outer, across, along] => unsafe { self.rows(outer, [across, along], src, dst, end) },
            [Loop { count, src: src_step, dst: dst_step }, ref inner @ ..] => {
                for i in 0..signed(count) {
                    // SAFETY: step i of the loop is within both buffers.
                    unsafe {
                        let (src, dst) = (src.offset(i * src_step), dst.offset(i * dst_step));
                        self.run(inner, src, dst, end);
                    }
                }
            }
            [] => {}
        }
    }

    /// # Safety
    /// As [`run`](Self::run).
    unsafe fn rows(
        &self,
        outer: Loop,
        [across, along]: [Loop; 2],
        src: Source,
        dst: Target,
        end: Source,
    ) {
        let split = if self.blocks.weave == Weave::Interleave { across } else { along };
        if split.count < self.blocks.elements {
            // SAFETY: the caller guarantees that the elements of the three loops are valid for
            // reads from `src` and for writes from `dst`.
            return unsafe { self.plain(outer, [across, along], src, dst) };
        }
        // Lanes may hold bytes behind the last element that is read. Where they would end behind
        // the source, the element that is last in memory is moved on its own: it is the last in
        // memory of the row that is last in memory.
        let place = if split.src < 0 { 0 } else { signed(split.count - self.blocks.elements) };
        let row = if outer.src < 0 { 0 } else { signed(outer.count - 1) };
        let highest =
            row * outer.src + place * self.blocks.src + self.blocks.first.0 + self.blocks.reads;
        if self.blocks.weave == Weave::Interleave || src.offset(highest).addr() <= end.addr() {
            // SAFETY: the caller guarantees that the elements are valid; the lanes of a block hold
            // its elements, and what lies between them, or before `end`.
            return unsafe { self.vectors(outer, [across, along], src, dst) };
        }
        // The loop without its first or last step, where the others begin, and that step.
        let split_off = |each: Loop| {
            let (one, rest) = if each.src < 0 { (0, 1) } else { (signed(each.count - 1), 0) };
            let start = |at: isize| (at * each.src, at * each.dst);
            (Loop { count: each.count - 1, ..each }, start(rest), start(one))
        };
        let once = |each: Loop| Loop { count: 1, ..each };
        let ((rest, others, last), one, all) = if outer.count > 1 && outer.src != 0 {
            (split_off(outer), (once(outer), along), true)
        } else {
            (split_off(along), (outer, once(along)), false)
        };
        // SAFETY: both parts are steps of the loops, and together they are all of them.
        unsafe {
            let (from, to) = (src.offset(others.0), dst.offset(others.1));
            let (last_from, last_to) = (src.offset(last.0), dst.offset(last.1));
            if all {
                self.rows(rest, [across, along], from, to, end);
                self.rows(one.0, [across, along], last_from, last_to, end);
            } else {
                self.rows(outer, [across, rest], from, to, end);
                self.plain(outer, [across, one.1], last_from, last_to);
            }
        }
    }

    /// # Safety
    /// As [`every`](Self::every), except for the instructions.
    unsafe fn vectors(&self, outer: Loop, woven: [Loop; 2], src: Source, dst: Target) {
        let [across, along] = woven;
        let count = if self.blocks.weave == Weave::Interleave { across.count } else { along.count };
        let rows = Rows { outer, count, src, dst };
        // SAFETY: the caller guarantees that the lanes of each block, which hold all its elements,
        // are valid for reads and for writes, and that the elements fill a lane; the tokens prove
        // that the processor has the instructions, and every one for which NEON is compiled has it.
        unsafe {
            match self.instructions {
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Vbmi(token) if self.blocks.lane == WIDE => self.vbmi(token, rows),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Vbmi(token) => self.avx512(token.avx512(), rows),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Avx512(token) => self.avx512(token, rows),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Avx2(token) => self.avx2(token, rows),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Ssse3(token) => self.ssse3(token, rows),
                #[cfg(any(
                    all(
                        target_arch = "aarch64",
                        target_feature = "neon",
                        target_endian = "little"
                    ),
                    all(target_arch = "wasm32", target_feature = "simd128")
                ))]
                Detected::OneLane => self.inputs::<OneLane>(rows),
                _ => self.plain(outer, woven, src, dst),
            }
        }
    }

    /// # Safety
    /// As [`every`](Self::every), except for the instructions.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn vbmi(&self, _: Vbmi, rows: Rows) {
        // SAFETY: the caller guarantees the lanes; the token proves that the processor has the
        // instructions.
        unsafe { self.inputs::<Wide>(rows) }
    }

    /// # Safety
    /// As [`every`](Self::every), except for the instructions.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn avx512(&self, _: Avx512, rows: Rows) {
        // SAFETY: the caller guarantees the lanes; the token proves that the processor has
        // AVX-512, which includes the others.
        unsafe {
            match rows.count / self.blocks.elements {
                4.. => self.inputs::<__m512i>(rows),
                2.. => self.inputs::<__m256i>(rows),
                _ => self.inputs::<__m128i>(rows),
            }
        }
    }

    /// # Safety
    /// As [`every`](Self::every), except for the instructions.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[target_feature(enable = "avx2")]
    unsafe fn avx2(&self, _: Avx2, rows: Rows) {
        // SAFETY: the caller guarantees the lanes; the token proves that the processor has AVX2.
        unsafe {
            match rows.count / self.blocks.elements {
                2.. => self.inputs::<__m256i>(rows),
                _ => self.inputs::<__m128i>(rows),
            }
        }
    }

    /// # Safety
    /// As [`every`](Self::every), except for the instructions.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[target_feature(enable = "ssse3")]
    unsafe fn ssse3(&self, _: Ssse3, rows: Rows) {
        // SAFETY: the caller guarantees the lanes; the token proves that the processor has SSSE3.
        unsafe { self.inputs::<__m128i>(rows) }
    }

    /// # Safety
    /// As [`every`](Self::every).
    #[inline(always)]
    unsafe fn inputs<V: Shuffle>(&self, rows: Rows) {
        // SAFETY: the caller guarantees the lanes and the instructions; the constant is the number
        // of lanes that a block reads, or an upper bound.
        unsafe {
            match self.blocks.inputs {
                1 => self.every::<V, 1>(rows),
                2 => self.every::<V, 2>(rows),
                3 => self.every::<V, 3>(rows),
                4 => self.every::<V, 4>(rows),
                5 => self.every::<V, 5>(rows),
                6 => self.every::<V, 6>(rows),
                7 => self.every::<V, 7>(rows),
                8 => self.every::<V, 8>(rows),
                _ => self.every::<V, MOST>(rows),
            }
        }
    }

    /// Moves all elements. `J` is the number of lanes that a block reads, or
    /// [`MOST`].
    ///
    /// # Safety
    /// The lanes of each block are valid for reads and for writes, there are at least as many elements as the
    /// lanes of a vector hold, and the processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn every<V: Shuffle, const J: usize>(&self, rows: Rows) {
        for row in 0..signed(rows.outer.count) {
            let src = rows.src.offset(row * rows.outer.src);
            let dst = rows.dst.offset(row * rows.outer.dst);
            // SAFETY: the caller guarantees for all rows that the lanes of each block are valid for
            // reads and for writes, that the elements fill a vector and that the processor has
            // the instructions of `V`; where `J` is below the bound of all, it is the number of
            // lanes that a block reads.
            unsafe {
                if J < MOST && self.blocks.outputs == 1 {
                    self.lane::<V, J>(rows.count, src, dst);
                } else {
                    self.row::<V, J>(rows.count, src, dst);
                }
            };
        }
    }

    /// As [`row`](Self::row), for blocks that write one lane: the tables stay in registers.
    ///
    /// # Safety
    /// As [`every`](Self::every), for one step of the outer loop; blocks read `J` lanes.
    #[inline(always)]
    unsafe fn lane<V: Shuffle, const J: usize>(&self, count: usize, src: Source, dst: Target) {
        let Blocks { elements, size, .. } = self.blocks;
        let (src, dst) = (src.offset(self.blocks.first.0), dst.offset(self.blocks.first.1));
        // A power of two.
        let step = V::LANES * elements;
        let (whole, rest) = (count >> step.trailing_zeros(), count & (step - 1));
        // SAFETY: the caller guarantees that the lanes of the blocks are valid on both sides, that
        // the processor has the instructions and that a block has `J` tables.
        unsafe {
            let tables: [V; J] = core::array::from_fn(|j| V::table(self.blocks.table(0, j)));
            let (mut from, mut to) = (src, dst);
            for _ in 0..whole {
                self.vector(&tables, from, to);
                from = from.offset(self.blocks.src * signed(step));
                to = to.add(step * size);
            }
            if rest > 0 {
                // Moved back to end with the row.
                let last = count - step;
                let from = src.offset(signed(last) * self.blocks.src);
                self.vector(&tables, from, dst.add(last * size));
            }
        }
    }

    /// Moves the blocks of one vector. Each writes one lane.
    ///
    /// # Safety
    /// The lanes of the blocks are valid for reads from `from` and for writes from `to`, and the
    /// processor has the instructions.
    #[inline(always)]
    unsafe fn vector<V: Shuffle, const J: usize>(&self, tables: &[V; J], from: Source, to: Target) {
        let between = self.blocks.src * signed(self.blocks.elements);
        // SAFETY: the caller guarantees that the lanes of the blocks are valid for reads from
        // `from` and for writes from `to`, and that the processor has the instructions of `V`.
        unsafe {
            let load = |j: usize| {
                let at = from.offset(signed(j) * self.blocks.input);
                if between == signed(V::LANE) {
                    V::load(at.bytes(V::LANES * V::LANE))
                } else {
                    V::gather(|lane| at.offset(signed(lane) * between).bytes(V::LANE))
                }
            };
            let mut row = load(0).shuffle(tables[0]);
            for (j, table) in tables.iter().enumerate().skip(1) {
                row = row.blend(load(j), *table);
            }
            row.store(to.bytes(V::LANES * V::LANE));
        }
    }

    /// # Safety
    /// As [`every`](Self::every), for one step of the outer loop.
    #[inline(always)]
    unsafe fn row<V: Shuffle, const J: usize>(&self, count: usize, src: Source, dst: Target) {
        let Blocks { elements, outputs, .. } = self.blocks;
        let inputs = if J < MOST { J } else { self.blocks.inputs };
        let lane = signed(V::LANE);
        let between = (self.blocks.src * signed(elements), self.blocks.dst * signed(elements));
        let whole = (between.0 == lane, between.1 == lane);
        // SAFETY: the caller guarantees that the elements fill a vector.
        for start in unsafe { starts(count, V::LANES * elements) } {
            let from = src.offset(signed(start) * self.blocks.src + self.blocks.first.0);
            let to = dst.offset(signed(start) * self.blocks.dst + self.blocks.first.1);
            // SAFETY: the caller guarantees that the lanes of the blocks from `start` are valid on
            // both sides and that the processor has the instructions; the first `inputs` lanes
            // are initialised before they are used, and so are the tables.
            unsafe {
                let mut lanes = [const { MaybeUninit::<V>::uninit() }; J];
                for (j, lane) in lanes[..inputs].iter_mut().enumerate() {
                    let at = from.offset(signed(j) * self.blocks.input);
                    lane.write(if whole.0 {
                        V::load(at.bytes(V::LANES * V::LANE))
                    } else {
                        V::gather(|lane| at.offset(signed(lane) * between.0).bytes(V::LANE))
                    });
                }
                for i in 0..outputs {
                    let mut row = lanes[0].assume_init().shuffle(V::table(self.blocks.table(i, 0)));
                    for (j, lane) in lanes[..inputs].iter().enumerate().skip(1) {
                        row = row.blend(lane.assume_init(), V::table(self.blocks.table(i, j)));
                    }
                    let at = to.offset(signed(i) * self.blocks.output);
                    if whole.1 {
                        row.store(at.bytes(V::LANES * V::LANE));
                    } else {
                        row.scatter(|lane| at.offset(signed(lane) * between.1).bytes(V::LANE));
                    }
                }
            }
        }
    }

    /// Without vectors.
    ///
    /// # Safety
    /// The elements of the loops are valid for reads from `src` and for writes from `dst`.
    unsafe fn plain(&self, outer: Loop, woven: [Loop; 2], src: Source, dst: Target) {
        let [across, along] = woven;
        let loops = if self.blocks.weave == Weave::Interleave { woven } else { [along, across] };
        for row in 0..signed(outer.count) {
            // SAFETY: the caller guarantees that the elements of all loops are valid for reads from
            // `src` and for writes from `dst`, and so are those of each step of the outer one; the
            // constant is their size, which `unit` divides.
            unsafe {
                let (src, dst) = (src.offset(row * outer.src), dst.offset(row * outer.dst));
                match self.blocks.size {
                    1 => scalar::weave::<1>(loops, src, dst, self.blocks.unit),
                    2 => scalar::weave::<2>(loops, src, dst, self.blocks.unit),
                    4 => scalar::weave::<4>(loops, src, dst, self.blocks.unit),
                    _ => scalar::weave::<8>(loops, src, dst, self.blocks.unit),
                }
            }
        }
    }
}

/// The elements that are split into blocks: `count` elements at each step of an outer loop.
#[derive(Clone, Copy)]
struct Rows {
    outer: Loop,
    count: usize,
    src: Source,
    dst: Target,
}
