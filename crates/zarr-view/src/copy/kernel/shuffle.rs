//! Short axes, reversed axes and steps: elements change places within a few vectors.
//!
//! A block is as many elements as one lane holds, from each of some rows. It is read as whole
//! lanes, and each lane that it writes is the union of bytes picked from those that it read:
//!
//! ```text
//! planes to pixels              pixels to planes              every second, reversed
//!
//! r0 r1 r2 r3    r0 g0 b0 r1    r0 g0 b0 r1    r0 r1 r2 r3    a0 a1 a2 a3
//! g0 g1 g2 g3 -> g1 b1 r2 g2    g1 b1 r2 g2 -> g0 g1 g2 g3    a4 a5 a6 a7 -> a6 a4 a2 a0
//! b0 b1 b2 b3    b2 r3 g3 b3    b2 r3 g3 b3    b0 b1 b2 b3
//! ```
//!
//! A table per pair of lanes says which byte goes where, so one loop does all of these, for
//! elements of 1, 2, 4 and 8 bytes, and swaps the bytes of elements on the way. Vectors of several
//! lanes hold the same lane of several blocks.

use core::mem::MaybeUninit;

use super::super::instructions::Detected;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::super::instructions::{Avx2, Avx512, Ssse3};
use super::super::nest::Loop;
use super::block::starts;
use super::scalar;
use super::vector::{LANE, Shuffle};
use crate::view::{Dims, signed};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use core::arch::x86_64::{__m128i, __m256i, __m512i};

/// The most lanes that a block reads or writes.
const MOST: usize = 15;

/// Elements from one row to several, or from several to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weave {
    /// The innermost loop steps over elements in the source, which other rows of the destination
    /// get, or none.
    Apart,
    /// The innermost loop takes an element of each of some rows of the source.
    Together,
}

impl Weave {
    /// Whether the loops are of this kind; if so, moves the two that are woven to the end.
    pub(super) fn choose(loops: &mut Dims<Loop>, size: usize) -> Option<Self> {
        let &along = loops.last().filter(|_| matches!(size, 1 | 2 | 4 | 8))?;
        if along.dst != signed(size) {
            return None;
        }
        let (inner, elements) = (loops.len() - 1, LANE / size);
        // Where tiles fit without waste, a transpose needs fewer shuffles.
        let few = |count: usize| {
            (1..=MOST).contains(&count)
                && (count < elements || (count < 2 * elements && count > elements))
        };
        let one = |each: &Loop| each.src.unsigned_abs() == size && each.count >= elements;
        let row = signed(size).wrapping_mul(signed(along.count));
        if few(along.count)
            && let Some(axis) = loops.iter().position(|each| one(each) && each.dst == row)
        {
            let across = loops.remove(axis);
            loops.insert(inner - 1, across);
            return Some(Self::Together);
        }
        let step = along.src.unsigned_abs();
        if !step.is_multiple_of(size) || along.count < elements || step == 0 {
            return None;
        }
        // A loop whose elements all lie between two neighbours of the innermost one.
        let between = |each: &Loop| {
            let last = each.src.unsigned_abs().saturating_mul(each.count - 1);
            each.src != 0 && each.src.unsigned_abs().is_multiple_of(size) && last < step
        };
        match loops[..inner].iter().position(between) {
            Some(axis) if few(step / size) => {
                let across = loops.remove(axis);
                loops.insert(inner - 1, across);
            }
            // For few elements of each lane it is faster to move them one by one.
            None if step / size <= elements.min(MOST) => {
                loops.insert(inner, Loop { count: 1, src: 0, dst: 0 });
            }
            _ => return None,
        }
        Some(Self::Apart)
    }
}

/// The tables of a copy, and its steps in bytes.
pub(super) struct Shuffles {
    instructions: Detected,
    weave: Weave,
    size: usize,
    unit: usize,
    /// Elements of a lane.
    elements: usize,
    /// Lanes that a block reads and writes, and the distances between them.
    inputs: usize,
    outputs: usize,
    input: isize,
    output: isize,
    /// From an element of the loop that is split into blocks to the next one.
    src: isize,
    dst: isize,
    /// From the first element of a block to its first lane.
    first: (isize, isize),
    /// Bytes of the source from a block's first lane that a block reads.
    reads: isize,
    /// For lane `i` that is written and lane `j` that is read, at `i * inputs + j`: the byte of
    /// lane `j` for each byte of lane `i`, or [`NONE`].
    tables: [MaybeUninit<[u8; LANE]>; MOST * MOST],
}

/// No byte: the result has a zero there.
const NONE: u8 = 0x80;

impl Shuffles {
    /// For the two innermost loops, which [`Weave::choose`] has chosen for elements of `size` bytes.
    pub(super) fn new(
        weave: Weave,
        [across, along]: [Loop; 2],
        size: usize,
        unit: usize,
        instructions: Detected,
    ) -> Self {
        let elements = LANE / size;
        let (lane, last) = (signed(LANE), signed(elements - 1));
        // The place of element `e` of a block, if the source is read backwards.
        let turned = |back: bool, e: usize| if back { elements - 1 - e } else { e };
        let mut all = Self {
            instructions,
            weave,
            size,
            unit,
            elements,
            inputs: along.count,
            outputs: along.count,
            input: along.src,
            output: lane,
            src: across.src,
            dst: across.dst,
            first: (if across.src < 0 { across.src * last } else { 0 }, 0),
            reads: lane,
            tables: [const { MaybeUninit::uninit() }; MOST * MOST],
        };
        if weave == Weave::Together {
            all.clear();
            for place in 0..elements * along.count {
                let (e, row) = (place / along.count, place % along.count);
                all.set(place, row * elements + turned(across.src < 0, e));
            }
            return all;
        }
        all.inputs = along.src.unsigned_abs() / size;
        all.outputs = across.count;
        (all.input, all.output) = (lane, across.dst);
        (all.src, all.dst) = (along.src, along.dst);
        // Rows that lie backwards are numbered from the other end.
        let low = if across.src < 0 { signed(across.count - 1) } else { 0 };
        all.first = (low * across.src, low * across.dst);
        if across.src < 0 {
            all.output = -across.dst;
        }
        if along.src < 0 {
            all.first.0 += along.src * last;
        }
        all.reads = lane * signed(all.inputs);
        all.clear();
        let between = across.src.unsigned_abs() / size;
        for row in 0..all.outputs {
            for e in 0..elements {
                let from = turned(along.src < 0, e) * all.inputs + row * between;
                all.set(row * elements + e, from);
            }
        }
        all
    }

    /// Sets all tables to [`NONE`].
    fn clear(&mut self) {
        for table in &mut self.tables[..self.inputs * self.outputs] {
            table.write([NONE; LANE]);
        }
    }

    /// Element `from` of the lanes that are read becomes element `to` of those that are written.
    fn set(&mut self, to: usize, from: usize) {
        let (input, output) = (from / self.elements, to / self.elements);
        let (from, to) = (from % self.elements * self.size, to % self.elements * self.size);
        // SAFETY: `clear` has written the tables of all lanes.
        let table = unsafe { self.tables[output * self.inputs + input].assume_init_mut() };
        for byte in 0..self.size {
            let unit = byte / self.unit * self.unit;
            let swapped = unit + (self.unit - 1 - (byte - unit));
            table[to + byte] = (from + swapped) as u8;
        }
    }

    /// Runs the loops outside the two that are woven, and these.
    ///
    /// # Safety
    /// The elements of all loops are valid for reads from `src` and for writes from `dst`. The loops
    /// are those of which the tables were made, and loops outside of them. Every byte before `end`
    /// that lies behind an element of the source is valid for reads, too.
    pub(super) unsafe fn run(&self, loops: &[Loop], src: *const u8, dst: *mut u8, end: *const u8) {
        match *loops {
            // SAFETY: the elements of the last two loops.
            [across, along] => unsafe { self.rows([across, along], src, dst, end) },
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
        [across, along]: [Loop; 2],
        mut src: *const u8,
        mut dst: *mut u8,
        end: *const u8,
    ) {
        let split = if self.weave == Weave::Together { across } else { along };
        let mut count = split.count;
        // Lanes may hold bytes behind the last element that is read. Where they would end behind
        // the source, the element that is last in memory is moved on its own.
        let highest = if split.src < 0 { 0 } else { count - self.elements };
        let highest = src.wrapping_offset(signed(highest) * self.src + self.first.0 + self.reads);
        if self.weave == Weave::Apart && highest > end {
            count -= 1;
            let (at, rest) = if split.src < 0 { (0, 1) } else { (signed(count), 0) };
            // SAFETY: the elements of all rows at `at`, and the loops without them.
            unsafe {
                let one = Loop { count: 1, ..along };
                let (from, to) = (src.offset(at * self.src), dst.offset(at * self.dst));
                self.plain([across, one], from, to);
                src = src.offset(rest * self.src);
                dst = dst.offset(rest * self.dst);
            }
        }
        // SAFETY: the caller guarantees that the elements are valid; the lanes of a block hold
        // its elements, and what lies between them, or before `end`.
        unsafe {
            let small = match self.weave {
                Weave::Apart => [across, Loop { count, ..along }],
                Weave::Together => [Loop { count, ..across }, along],
            };
            if count < self.elements {
                return self.plain(small, src, dst);
            }
            match self.instructions {
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Avx512(token) => self.avx512(token, count, src, dst),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Avx2(token) => self.avx2(token, count, src, dst),
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                Detected::Ssse3(token) => self.ssse3(token, count, src, dst),
                _ => self.plain(small, src, dst),
            }
        }
    }

    /// # Safety
    /// As [`blocks`](Self::blocks), except for the instructions.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn avx512(&self, _: Avx512, count: usize, src: *const u8, dst: *mut u8) {
        // SAFETY: the caller guarantees the lanes; the token proves that the processor has
        // AVX-512, which includes the others.
        unsafe {
            match count / self.elements {
                4.. => self.inputs::<__m512i>(count, src, dst),
                2.. => self.inputs::<__m256i>(count, src, dst),
                _ => self.inputs::<__m128i>(count, src, dst),
            }
        }
    }

    /// # Safety
    /// As [`blocks`](Self::blocks), except for the instructions.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[target_feature(enable = "avx2")]
    unsafe fn avx2(&self, _: Avx2, count: usize, src: *const u8, dst: *mut u8) {
        // SAFETY: the caller guarantees the lanes; the token proves that the processor has AVX2.
        unsafe {
            match count / self.elements {
                2.. => self.inputs::<__m256i>(count, src, dst),
                _ => self.inputs::<__m128i>(count, src, dst),
            }
        }
    }

    /// # Safety
    /// As [`blocks`](Self::blocks), except for the instructions.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[target_feature(enable = "ssse3")]
    unsafe fn ssse3(&self, _: Ssse3, count: usize, src: *const u8, dst: *mut u8) {
        // SAFETY: the caller guarantees the lanes; the token proves that the processor has SSSE3.
        unsafe { self.inputs::<__m128i>(count, src, dst) }
    }

    /// # Safety
    /// As [`blocks`](Self::blocks).
    #[inline(always)]
    unsafe fn inputs<V: Shuffle>(&self, count: usize, src: *const u8, dst: *mut u8) {
        // SAFETY: the caller guarantees the lanes and the instructions; the constant is the number
        // of lanes that a block reads, or an upper bound.
        unsafe {
            match self.inputs {
                1 => self.blocks::<V, 1>(count, src, dst),
                2 => self.blocks::<V, 2>(count, src, dst),
                3 => self.blocks::<V, 3>(count, src, dst),
                4 => self.blocks::<V, 4>(count, src, dst),
                _ => self.blocks::<V, MOST>(count, src, dst),
            }
        }
    }

    /// Moves `count` elements of each row. `J` is the number of lanes that a block reads, or
    /// [`MOST`].
    ///
    /// # Safety
    /// The lanes of each block are valid for reads and for writes, `count` is at least the number of
    /// elements in the lanes of a vector, and the processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn blocks<V: Shuffle, const J: usize>(
        &self,
        count: usize,
        src: *const u8,
        dst: *mut u8,
    ) {
        let inputs = if J < MOST { J } else { self.inputs };
        let between = (self.src * signed(self.elements), self.dst * signed(self.elements));
        let whole = (between.0 == signed(LANE), between.1 == signed(LANE));
        for start in starts(count, V::LANES * self.elements) {
            let from = src.wrapping_offset(signed(start) * self.src + self.first.0);
            let to = dst.wrapping_offset(signed(start) * self.dst + self.first.1);
            // SAFETY: the caller guarantees that the lanes of the blocks from `start` are valid on
            // both sides and that the processor has the instructions; the first `inputs` lanes
            // are initialised before they are used, and so are the tables.
            unsafe {
                let mut lanes = [const { MaybeUninit::<V>::uninit() }; J];
                for (j, lane) in lanes[..inputs].iter_mut().enumerate() {
                    let at = from.wrapping_offset(signed(j) * self.input);
                    lane.write(if whole.0 {
                        V::load(at)
                    } else {
                        V::gather(|lane| at.wrapping_offset(signed(lane) * between.0))
                    });
                }
                for i in 0..self.outputs {
                    let table =
                        |j: usize| V::repeat(self.tables.as_ptr().add(i * inputs + j).cast());
                    let mut row = lanes[0].assume_init().shuffle(table(0));
                    for (j, lane) in lanes[..inputs].iter().enumerate().skip(1) {
                        row = row.or(lane.assume_init().shuffle(table(j)));
                    }
                    let at = to.wrapping_offset(signed(i) * self.output);
                    if whole.1 {
                        row.store(at);
                    } else {
                        row.scatter(|lane| at.wrapping_offset(signed(lane) * between.1));
                    }
                }
            }
        }
    }

    /// Without vectors.
    ///
    /// # Safety
    /// The elements of both loops are valid for reads from `src` and for writes from `dst`.
    unsafe fn plain(&self, loops: [Loop; 2], src: *const u8, dst: *mut u8) {
        // SAFETY: as the caller guarantees.
        unsafe {
            match self.size {
                1 => scalar::weave::<1>(loops, src, dst, self.unit),
                2 => scalar::weave::<2>(loops, src, dst, self.unit),
                4 => scalar::weave::<4>(loops, src, dst, self.unit),
                _ => scalar::weave::<8>(loops, src, dst, self.unit),
            }
        }
    }
}
