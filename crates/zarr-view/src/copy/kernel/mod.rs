//! The innermost loops.

#![expect(unsafe_code, reason = "moves bytes through pointers whose bounds the plan has proved")]
#![cfg_attr(
    not(any(
        all(target_arch = "x86_64", target_feature = "sse2"),
        all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    )),
    expect(dead_code, unused_variables, reason = "without vectors nothing is woven")
)]

mod cache;
mod repeat;
mod rows;
mod scalar;
mod shuffle;
mod steps;
mod swap;
mod transpose;
mod vector;

use super::CopyElement;
use super::instructions::Detected;
use super::one_loop::Loop;
use super::region::{Source, Target};
use crate::copy::kernel::shuffle::weave;
use crate::copy::kernel::transpose::block;
use crate::copy::kernel::transpose::block_layout;
use crate::copy::kernel::transpose::plane;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::copy::kernel::vector::x86;
use crate::view::{Dims, signed};
use cache::{HAS_STREAMING, LINE, REACHING, STREAMED, is_part, prefetch, stream_stretch};
use repeat::{Repeat, is_repeated};
use rows::Rows;
use shuffle::Shuffles;
use shuffle::weave::{Blocks, Weave};
use transpose::buffer::Memory;
use vector::{LANE, WORD};

/// Copies of words also stream from [`REACHING`] bytes on. The exception: more than so many
/// columns, a multiple of so many bytes apart, map to the same sets of the cache.
const ALIASED: (usize, usize) = (2048, 16);

/// The longest stretch, contiguous on both sides, that is moved as one element of a plane. Longer
/// ones are copied one by one: for them the order of the loops matters little, and a buffer costs
/// more than it saves.
const LONGEST: usize = 512;

/// The longest stretches that go through a buffer if the copy exceeds the cache: of any length, and
/// of whole lanes. Longer stretches of whole lanes are streamed separately, with their source
/// prefetched. Others are written through the cache, because streaming would write their lines in
/// part.
const BUFFERED: usize = 256;
const BUFFERED_LANES: usize = 128;

/// Copies of up to this many bytes are moved element by element: setting up blocks and tables would
/// take longer.
const FEW: usize = 64;

/// A plane of words or lanes with at most so many in one direction is read and written in few runs.
/// The processor predicts them, so stores through the cache are faster than a buffer.
const RUNS: usize = 3;

/// Fewer elements of a lane than this are few in one direction of a plane.
const SHORT: usize = 64;

/// How many bytes ahead a copy of stretches prefetches its source.
const AHEAD: usize = 4096;

/// A run of at least this many bytes through the source, or the destination, is long enough.
const RUN_IN: usize = 1024;
const RUN_OUT: usize = 4096;

/// How the innermost loops of a nest run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kernel {
    instructions: Detected,
    pattern: Pattern,
    /// Bytes that are adjacent on both sides, and the unit of the swap within them.
    size: usize,
    unit: usize,
    /// Whether to write with streaming stores, past the cache.
    stream: bool,
    /// Whether the plane has a third loop.
    mid: bool,
}

/// The loops that a kernel runs itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pattern {
    /// No loop: one stretch that is contiguous on both sides.
    Stretch,
    /// The last one or two, with a short stretch at each step.
    Rows,
    /// The last one, with any steps.
    Line,
    /// The last one or two: the last repeats one element.
    Repeat,
    /// The last two, with any steps, in a copy of few elements, or of few in one direction.
    Few,
    /// The last two or three, transposed in blocks.
    Plane,
    /// The last two, transposed in one block.
    Block,
    /// The last two loops. One is short.
    Weave(Weave),
}

impl Kernel {
    /// Picks the kernel for sorted and merged loops, and moves the loops that it runs to the end.
    ///
    /// The bytes of all loops, and of the element, must fit an `isize`.
    pub(super) fn choose(
        loops: &mut Dims<Loop>,
        element: CopyElement,
        instructions: Detected,
    ) -> Self {
        let mut kernel = Self {
            instructions,
            pattern: Pattern::Stretch,
            size: element.size(),
            unit: element.unit(),
            stream: false,
            mid: false,
        };
        // A stretch that is contiguous on both sides is moved as a whole.
        if let Some(&Loop { count, src, dst }) = loops.last()
            && src == signed(kernel.size)
            && dst == src
        {
            kernel.size *= count;
            loops.truncate(loops.len() - 1);
        }
        let total = loops.iter().fold(kernel.size, |all, each| all.saturating_mul(each.count));
        let cache = if kernel.size >= LANE { REACHING } else { STREAMED };
        kernel.stream = total >= cache && kernel.size < STREAMED;
        let Some(inner) = loops.len().checked_sub(1) else { return kernel };
        let is_lanes = kernel.size.is_multiple_of(LANE);
        // Two lanes are moved as an element of constant size.
        let fits = (rows::SHORTEST..=rows::LONGEST).contains(&kernel.size)
            && kernel.size != 2 * LANE
            && kernel.unit == 1
            && (!kernel.stream || !is_lanes && (BUFFERED + 1..=LONGEST).contains(&kernel.size));
        if fits {
            let stream = HAS_STREAMING && is_part(loops, kernel.size, total);
            return Self { pattern: Pattern::Rows, stream, ..kernel };
        }
        let is_streamed = kernel.stream && kernel.unit == 1 && is_lanes;
        if kernel.size > if is_streamed { BUFFERED_LANES } else { LONGEST } {
            return kernel;
        }
        if total <= FEW && inner > 0 && !kernel.is_block(&loops[inner - 1..]) {
            return Self { pattern: Pattern::Few, ..kernel };
        }
        if is_repeated(&loops[inner], kernel.size) {
            return Self { pattern: Pattern::Repeat, stream: false, ..kernel };
        }
        if let Some(weave) = Weave::choose(loops, kernel.size, total) {
            return Self { pattern: Pattern::Weave(weave), stream: false, ..kernel };
        }
        kernel.pattern = Pattern::Line;
        // One element many times: from some length on this is faster than a transpose.
        if loops[inner].src == 0
            && (kernel.size >= LANE || kernel.size * loops[inner].count >= RUN_OUT)
        {
            return kernel;
        }
        // The loop with the smallest step in the source belongs to the plane, too.
        let step = |axis: &usize| loops[*axis].src.unsigned_abs();
        let nearest = (0..=inner).filter(|axis| step(axis) > 0).min_by_key(step);
        if let Some(across) = nearest
            && across != inner
        {
            kernel.pattern = Pattern::Plane;
            let columns = loops[inner];
            let is_aliased =
                columns.count > ALIASED.1 && columns.src.unsigned_abs().is_multiple_of(ALIASED.0);
            let is_cached = kernel.size == WORD && total < REACHING && !is_aliased;
            let is_runs = matches!(kernel.size, WORD | LANE)
                && kernel.unit == 1
                && columns.count.min(loops[across].count) <= RUNS;
            if is_cached || is_runs {
                kernel.stream = false;
            }
            let between = kernel.between(loops, across, inner);
            let plane = loops.remove(across);
            loops.insert(inner - 1, plane);
            // The position after the other loops have moved.
            if let Some(mid) = between {
                let mid = loops.remove(if mid > across { mid - 1 } else { mid });
                loops.insert(inner - 2, mid);
                kernel.mid = true;
            } else if kernel.is_short(&loops[inner - 1..]) {
                kernel.pattern = Pattern::Few;
                // The processor completes stores that are adjacent in pairs. Fewer than four of them
                // save less than the start of a loop takes.
                if loops[inner].count < 4 {
                    let across = loops.remove(inner - 1);
                    loops.insert(inner, across);
                }
            } else if kernel.is_block(&loops[inner - 1..]) {
                kernel.pattern = Pattern::Block;
            }
        } else if inner > 0 && total < weave::FEWEST * kernel.size {
            kernel.pattern = Pattern::Few;
        }
        kernel
    }

    /// Whether the plane is one block of tiles, so that nothing needs to be split.
    fn is_block(&self, loops: &[Loop]) -> bool {
        let &[across, along] = loops else { return false };
        let (rows, columns) = block_layout::extents(self.size, across, along);
        !self.stream
            && self.unit == 1
            && along.dst == signed(self.size)
            && across.count <= rows
            && along.count <= columns
            && block::has_tiles(across, along, self.size)
    }

    /// Whether a plane of words or lanes has few in one direction: setting up a block then takes
    /// longer than its tiles save.
    fn is_short(&self, loops: &[Loop]) -> bool {
        let &[across, along] = loops else { return false };
        let few = match self.size {
            LANE => across.count.min(along.count) < SHORT,
            WORD => across.count <= RUNS,
            _ => false,
        };
        few && self.unit == 1 && !self.stream
    }

    /// A loop that makes the runs of a plane longer: it continues the innermost loop in the
    /// destination, or has the next largest step in the source.
    fn between(&self, loops: &[Loop], across: usize, inner: usize) -> Option<usize> {
        let (rows, along) = (loops[across], loops[inner]);
        let others = (0..inner).filter(|&axis| axis != across);
        let run = signed(along.count).wrapping_mul(along.dst);
        if run < signed(RUN_OUT)
            && let Some(axis) = others.clone().find(|&axis| loops[axis].dst == run)
        {
            return Some(axis);
        }
        let step = |axis: &usize| loops[*axis].src.unsigned_abs();
        if step(&across).saturating_mul(rows.count) >= RUN_IN {
            return None;
        }
        others.filter(|axis| (1..step(&inner)).contains(&step(axis))).min_by_key(step)
    }

    /// Uses other instructions.
    pub(super) const fn set(&mut self, instructions: Detected) {
        self.instructions = instructions;
    }

    /// The number of bytes that a run writes.
    #[cfg(feature = "count")]
    pub(super) fn bytes(&self, loops: &[Loop]) -> usize {
        // If indices of the destination share positions, they may number more than memory has
        // bytes.
        loops.iter().fold(self.size, |bytes, each| bytes.saturating_mul(each.count))
    }

    /// The bytes that the loops reach from their first element in the source.
    #[inline(always)]
    pub(super) fn source(&self, loops: &[Loop], first: *const u8) -> Source {
        Source::first(first, loops, self.size)
    }

    /// As [`source`](Self::source), in the destination.
    #[inline(always)]
    pub(super) fn target(&self, loops: &[Loop], first: *mut u8) -> Target {
        Target::first(first, loops, self.size)
    }

    /// Runs all loops.
    ///
    /// # Safety
    /// `src` and `dst` point to the first element of the loops. For every element that the loops
    /// reach, its bytes are valid for reads from `src` and for writes from `dst`. All bytes of the
    /// source between the lowest and the highest of them are valid for reads, too. The two sides do
    /// not overlap, and nothing else accesses the written bytes meanwhile.
    pub(super) unsafe fn run(&self, loops: &[Loop], src: Source, dst: Target) {
        if let (Pattern::Weave(weave), &[.., across, along]) = (self.pattern, loops) {
            // SAFETY: the caller guarantees that every element of the loops is valid for reads from
            // `src` and for writes from `dst`, that all bytes between those of the source are valid
            // for reads, and that the two sides do not overlap.
            return unsafe { self.weave(weave, [across, along], loops, src, dst) };
        }
        if self.pattern == Pattern::Repeat {
            let Self { size, unit, instructions, .. } = *self;
            let repeat = Repeat { size, unit, instructions };
            // SAFETY: the caller guarantees the elements of the loops.
            return unsafe { repeat.run(loops, src, dst) };
        }
        let memory = &mut Memory::default();
        // With a constant size each move is a single instruction.
        // SAFETY: the caller guarantees that every element of the loops is valid for reads from
        // `src` and for writes from `dst`; `N` is the size of an element, or 0.
        unsafe {
            match self.size {
                1 => self.sized::<1>(loops, src, dst, memory),
                2 => self.sized::<2>(loops, src, dst, memory),
                4 => self.sized::<4>(loops, src, dst, memory),
                8 => self.sized::<8>(loops, src, dst, memory),
                16 => self.sized::<16>(loops, src, dst, memory),
                32 => self.sized::<32>(loops, src, dst, memory),
                64 => self.sized::<64>(loops, src, dst, memory),
                128 => self.sized::<128>(loops, src, dst, memory),
                _ => self.sized::<0>(loops, src, dst, memory),
            }
        }
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        if self.stream {
            x86::fence();
        }
    }

    /// Runs all loops and weaves the last two. Not inlined: the tables are kilobytes, and
    /// other copies need no stack space for them.
    ///
    /// # Safety
    /// As [`run`](Self::run).
    #[inline(never)]
    unsafe fn weave(
        &self,
        weave: Weave,
        woven: [Loop; 2],
        loops: &[Loop],
        src: Source,
        dst: Target,
    ) {
        let Self { size, unit, instructions, .. } = *self;
        let last = |each: &Loop| each.src.max(0) * signed(each.count - 1);
        let end = src.offset(loops.iter().map(last).sum()).add(size);
        let blocks = Blocks::new(weave, woven, size, unit, instructions.wide());
        let shuffles = Shuffles { blocks, instructions };
        // SAFETY: the caller guarantees the elements of all loops, and every byte between the
        // first and the last of the source; `end` is where that one ends.
        unsafe { shuffles.run(loops, src, dst, end) };
    }

    /// Runs all loops over elements of `N` bytes, or of `self.size` bytes if `N` is 0.
    ///
    /// # Safety
    /// As [`run`](Self::run); `N` is the size of an element or 0.
    unsafe fn sized<const N: usize>(
        &self,
        loops: &[Loop],
        src: Source,
        dst: Target,
        memory: &mut Memory,
    ) {
        match (self.pattern, loops) {
            // SAFETY: one stretch of `size` bytes on both sides.
            (_, []) => unsafe {
                swap::copy(src.bytes(self.size), dst.bytes(self.size), self.size, self.unit);
            },
            // SAFETY: a stretch at each step of the last loop.
            (Pattern::Rows, &[line]) => unsafe {
                self.rows([Loop { count: 1, src: 0, dst: 0 }, line], src, dst);
            },
            // SAFETY: a stretch at each step of the last two loops.
            (Pattern::Rows, &[outer, inner]) => unsafe { self.rows([outer, inner], src, dst) },
            // SAFETY: a stretch at each step of the last loop.
            (Pattern::Stretch, &[line]) => unsafe { self.stretches(line, src, dst) },
            // SAFETY: the elements of the last loop.
            (Pattern::Line, &[line]) => unsafe {
                scalar::line::<N>(line, src, dst, self.size, self.unit);
            },
            // SAFETY: the elements of the last two loops.
            (Pattern::Few, &[across, along]) => unsafe {
                scalar::plane::<N>(across, along, src, dst, self.size, self.unit);
            },
            // SAFETY: the elements of the last two loops.
            (Pattern::Block, &[across, along]) => unsafe {
                let mid = Loop { count: 1, src: 0, dst: 0 };
                let block = block::Block { across, mid, along, size: self.size };
                block.ask_for_destination(dst);
                block.run::<N>(self.instructions, block::Pointers { src, dst, next: None });
            },
            // SAFETY: the elements of the last two loops.
            (Pattern::Plane, &[across, along]) if !self.mid => unsafe {
                self.plane::<N>(
                    [Loop { count: 1, src: 0, dst: 0 }, across, along],
                    src,
                    dst,
                    memory,
                );
            },
            // SAFETY: the elements of the last three loops.
            (Pattern::Plane, &[mid, across, along]) if self.mid => unsafe {
                self.plane::<N>([mid, across, along], src, dst, memory);
            },
            (_, &[Loop { count, src: src_step, dst: dst_step }, ref inner @ ..]) => {
                for i in 0..signed(count) {
                    // SAFETY: step i of the loop is within both buffers.
                    unsafe {
                        let (src, dst) = (src.offset(i * src_step), dst.offset(i * dst_step));
                        self.sized::<N>(inner, src, dst, memory);
                    };
                }
            }
        }
    }

    /// # Safety
    /// At each step of the two loops a stretch of `size` bytes is valid for reads from `src` and for
    /// writes from `dst`.
    unsafe fn rows(&self, loops: [Loop; 2], src: Source, dst: Target) {
        let rows = Rows { loops, size: self.size, stream: self.stream };
        // SAFETY: the caller guarantees the stretches.
        unsafe { rows.run(self.instructions, src, dst) };
    }

    /// Copies stretches. If the copy exceeds the cache, short ones are prefetched: the processor
    /// predicts how a stretch continues, but not where the next one starts.
    ///
    /// # Safety
    /// At each step of the loop `size` bytes are valid for reads from `src`, and for writes from
    /// `dst`.
    unsafe fn stretches(&self, line: Loop, src: Source, dst: Target) {
        let Loop { count, src: src_step, dst: dst_step } = line;
        // Streaming stores pay only if the source is read straight through, or if rows are short.
        let past = self.stream && (self.size < AHEAD || src_step == signed(self.size));
        let ahead = signed((AHEAD / self.size).max(1)).wrapping_mul(src_step);
        let asked = if past && src_step != signed(self.size) { self.size } else { 0 };
        for i in 0..signed(count) {
            let from = src.offset(i * src_step);
            for at in (0..asked).step_by(LINE) {
                prefetch(from.offset(ahead).add(at).hint());
            }
            // SAFETY: step i of the loop is within both buffers.
            unsafe {
                let to = dst.offset(i * dst_step).bytes(self.size);
                let from = from.bytes(self.size);
                if past && self.unit <= 1 {
                    stream_stretch(from, to, self.size);
                } else {
                    swap::copy(from, to, self.size, self.unit);
                }
            }
        }
    }

    /// # Safety
    /// The elements of the three loops are valid for reads from `src` and for writes from `dst`.
    unsafe fn plane<const N: usize>(
        &self,
        [mid, mut across, along]: [Loop; 3],
        mut src: Source,
        mut dst: Target,
        memory: &mut Memory,
    ) {
        // SAFETY: reversing a loop on both sides reaches the same elements.
        unsafe {
            if along.dst != signed(self.size) {
                for i in 0..signed(mid.count) {
                    let (src, dst) = (src.offset(i * mid.src), dst.offset(i * mid.dst));
                    scalar::plane::<N>(across, along, src, dst, self.size, self.unit);
                }
                return;
            }
            if across.src < 0 {
                src = src.offset(across.src * signed(across.count - 1));
                dst = dst.offset(across.dst * signed(across.count - 1));
                across = Loop { src: -across.src, dst: -across.dst, ..across };
            }
            let all = block::Block { across, mid, along, size: self.size };
            let Self { unit, stream, instructions, .. } = *self;
            plane::Plane { all, unit, stream, instructions }.run::<N>(src, dst, memory);
        }
    }
}
