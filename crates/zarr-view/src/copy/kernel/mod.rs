//! The innermost loops.

#![expect(unsafe_code, reason = "moves bytes through pointers whose bounds the plan has proved")]

mod scalar;
mod swap;
mod tile;
mod transpose;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::Element;
use super::nest::Loop;
use crate::view::{Dims, signed};

/// From how many bytes on a copy is taken to exceed the cache.
const STREAMED: usize = 4 << 20;

/// The longest stretch, contiguous on both sides, that is moved as one element of a plane. Beyond
/// a page the order of the loops does not matter.
const LONGEST: usize = 4096;

/// How the innermost loops of a nest are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kernel {
    way: Way,
    /// Bytes that stay together on both sides, and the unit of the swap within them.
    size: usize,
    unit: usize,
    /// Whether to write past the cache.
    stream: bool,
}

/// The loops that a kernel runs itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// None: one stretch, contiguous on both sides.
    Stretch,
    /// The last one, with any steps.
    Line,
    /// The last two, transposed in blocks.
    Plane,
}

impl Kernel {
    /// Picks the kernel for sorted and merged loops, and puts the loops it runs last.
    pub(super) fn choose(loops: &mut Dims<Loop>, element: Element) -> Self {
        let mut kernel =
            Self { way: Way::Stretch, size: element.size(), unit: element.unit(), stream: false };
        // What is contiguous on both sides stays together.
        if let Some(&Loop { count, src, dst }) = loops.last()
            && src == signed(kernel.size)
            && dst == src
        {
            kernel.size *= count;
            loops.pop();
        }
        let total = loops.iter().fold(kernel.size, |all, each| all.saturating_mul(each.count));
        kernel.stream = total >= STREAMED && kernel.size < STREAMED;
        let Some(inner) = loops.len().checked_sub(1) else { return kernel };
        if kernel.size > LONGEST {
            return kernel;
        }
        kernel.way = Way::Line;
        // The loop that goes slowest through the source belongs to the plane, too.
        let step = |axis: &usize| loops[*axis].src.unsigned_abs();
        let slowest = (0..=inner).filter(|axis| step(axis) > 0).min_by_key(step);
        if let Some(across) = slowest
            && across != inner
        {
            kernel.way = Way::Plane;
            let plane = loops.remove(across);
            loops.insert(inner - 1, plane);
        }
        kernel
    }

    /// The bytes that a run writes.
    #[cfg(feature = "count")]
    pub(super) fn bytes(&self, loops: &[Loop]) -> usize {
        loops.iter().map(|each| each.count).product::<usize>() * self.size
    }

    /// Runs all loops.
    ///
    /// # Safety
    /// As [`Nest::run`](super::nest::Nest::run), from the first element on both sides.
    pub(super) unsafe fn run(&self, loops: &[Loop], src: *const u8, dst: *mut u8) {
        // SAFETY: the caller's. With a constant size the moves are single instructions.
        unsafe {
            match self.size {
                1 => self.sized::<1>(loops, src, dst),
                2 => self.sized::<2>(loops, src, dst),
                4 => self.sized::<4>(loops, src, dst),
                8 => self.sized::<8>(loops, src, dst),
                16 => self.sized::<16>(loops, src, dst),
                32 => self.sized::<32>(loops, src, dst),
                64 => self.sized::<64>(loops, src, dst),
                128 => self.sized::<128>(loops, src, dst),
                _ => self.sized::<0>(loops, src, dst),
            }
            #[cfg(target_arch = "x86_64")]
            if self.stream {
                x86::fence();
            }
        }
    }

    /// Runs all loops over elements of `N` bytes, or of any other size if `N` is 0.
    ///
    /// # Safety
    /// As [`run`](Self::run).
    unsafe fn sized<const N: usize>(&self, loops: &[Loop], src: *const u8, dst: *mut u8) {
        match (self.way, loops) {
            // SAFETY: one stretch of `size` bytes on both sides.
            (_, []) => unsafe { swap::copy(src, dst, self.size, self.unit) },
            // SAFETY: the elements of the last loop.
            (Way::Line, &[line]) => unsafe {
                scalar::line::<N>(line, src, dst, self.size, self.unit);
            },
            (Way::Plane, &[across, along]) => {
                // SAFETY: the elements of the last two loops.
                unsafe { self.plane::<N>(across, along, src, dst) };
            }
            (_, &[Loop { count, src: src_step, dst: dst_step }, ref inner @ ..]) => {
                for i in 0..signed(count) {
                    // SAFETY: step i of the loop is within both buffers.
                    unsafe {
                        self.sized::<N>(inner, src.offset(i * src_step), dst.offset(i * dst_step));
                    };
                }
            }
        }
    }

    /// # Safety
    /// The elements of both loops are valid for reads from `src` and for writes from `dst`.
    unsafe fn plane<const N: usize>(
        &self,
        mut across: Loop,
        along: Loop,
        mut src: *const u8,
        mut dst: *mut u8,
    ) {
        let blocks = N != 0 && across.src.unsigned_abs() == N && along.dst == signed(N);
        // SAFETY: reversing a loop on both sides reaches the same elements.
        unsafe {
            if !blocks {
                return scalar::plane::<N>(across, along, src, dst, self.size, self.unit);
            }
            if across.src < 0 {
                src = src.offset(across.src * signed(across.count - 1));
                dst = dst.offset(across.dst * signed(across.count - 1));
                across = Loop { src: -across.src, dst: -across.dst, ..across };
            }
            let plane = transpose::Plane { across, along, unit: self.unit, stream: self.stream };
            match N {
                1 => transpose::run::<1>(&plane, src, dst),
                2 => transpose::run::<2>(&plane, src, dst),
                4 => transpose::run::<4>(&plane, src, dst),
                8 => transpose::run::<8>(&plane, src, dst),
                16 => transpose::run::<16>(&plane, src, dst),
                32 => transpose::run::<32>(&plane, src, dst),
                64 => transpose::run::<64>(&plane, src, dst),
                _ => transpose::run::<128>(&plane, src, dst),
            }
        }
    }
}

/// Copies a row past the cache: whole lines by streaming stores, the ends as usual.
///
/// # Safety
/// `bytes` bytes are valid for reads from `src`, for writes from `dst`, and do not overlap.
unsafe fn stream(src: *const u8, dst: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: head, lines and tail divide the row; `stream` is fenced at the end of `run`.
    unsafe {
        let head = dst.align_offset(64).min(bytes);
        let lines = (bytes - head) & !63;
        if head > 0 {
            core::ptr::copy_nonoverlapping(src, dst, head);
        }
        x86::stream(src.add(head), dst.add(head), lines);
        let tail = head + lines;
        if tail < bytes {
            core::ptr::copy_nonoverlapping(src.add(tail), dst.add(tail), bytes - tail);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller's.
    unsafe {
        core::ptr::copy_nonoverlapping(src, dst, bytes);
    }
}

/// Asks for `bytes` bytes of each of `rows` rows that will be read soon.
#[inline(always)]
fn prefetch(start: *const u8, pitch: isize, rows: usize, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for row in 0..rows {
        let start = start.wrapping_offset(signed(row) * pitch);
        for at in (0..bytes).step_by(64) {
            x86::prefetch(start.wrapping_add(at));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (start, pitch, rows, bytes);
}
