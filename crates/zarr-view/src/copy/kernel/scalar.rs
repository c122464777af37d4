//! One element at a time, for steps and sizes without a vector kernel.

use super::super::one_loop::Loop;
use super::super::region::{Source, Target};
use super::cache::Apart;
use super::swap;
use crate::view::signed;

/// Bytes of an element from which on lines of the destination are prefetched.
const SHORTEST: usize = 20;

/// Moves one element of `N` bytes, or of `size` if `N` is 0.
///
/// # Safety
/// `src` is valid for reads of its size, `dst` for writes, they do not overlap, and `unit` divides
/// the size.
#[inline(always)]
unsafe fn element<const N: usize>(src: *const u8, dst: *mut u8, size: usize, unit: usize) {
    // SAFETY: the caller guarantees that `src` is valid for reads of an element and `dst` for
    // writes, that they do not overlap, and that `unit` divides the element.
    unsafe {
        if N == 0 && unit == 1 {
            short(src, dst, size);
        } else if N == 0 {
            swap::copy(src, dst, size, unit);
        } else {
            core::ptr::copy_nonoverlapping(src, dst, N);
            swap::in_place(dst, N, unit);
        }
    }
}

/// Copies `size` bytes, without a call if they are few: two moves that overlap.
///
/// # Safety
/// They are valid for reads from `src` and for writes from `dst`, and do not overlap.
#[inline(always)]
pub(super) unsafe fn short(src: *const u8, dst: *mut u8, size: usize) {
    macro_rules! twice {
        ($bytes:literal) => {{
            // SAFETY: the first and the last bytes of the element, of which it has at least that
            // many; both are read before the first is written.
            unsafe {
                let at = size - $bytes;
                let first = src.cast::<[u8; $bytes]>().read();
                let last = src.add(at).cast::<[u8; $bytes]>().read();
                dst.cast::<[u8; $bytes]>().write(first);
                dst.add(at).cast::<[u8; $bytes]>().write(last);
            }
        }};
    }
    match size {
        // SAFETY: the caller guarantees a byte on both sides.
        1 => unsafe { dst.write(src.read()) },
        2..=4 => twice!(2),
        5..=8 => twice!(4),
        9..=16 => twice!(8),
        17..=32 => twice!(16),
        // SAFETY: the caller guarantees that `size` bytes are valid for reads from `src` and for
        // writes from `dst`, and that the two do not overlap.
        _ => unsafe { core::ptr::copy_nonoverlapping(src, dst, size) },
    }
}

/// Moves the elements of one loop.
///
/// # Safety
/// They are valid for reads from `src` and for writes from `dst`; `unit` divides their size.
#[inline]
pub(super) unsafe fn line<const N: usize>(
    line: Loop,
    src: Source,
    dst: Target,
    size: usize,
    unit: usize,
) {
    // SAFETY: the caller guarantees that the elements of the loop are valid for reads from `src`
    // and for writes from `dst`, and that `unit` divides their size; in the first case the
    // destination is contiguous, and the source is one element, and in the third it is contiguous.
    unsafe {
        if line.src == 0 && line.dst == signed(size) {
            repeat::<N>(src, dst, size, unit, line.count);
        } else if unit > 1 {
            swapped::<N>(line, src, dst, size, unit);
        } else if N > 0 && line.dst == signed(N) {
            row::<N>(line, src, dst);
        } else {
            each::<N>(line, src, dst, size, 1);
        }
    }
}

/// # Safety
/// As [`line`]. Not inlined, so that a short loop without a swap needs few registers.
#[inline(never)]
unsafe fn swapped<const N: usize>(line: Loop, src: Source, dst: Target, size: usize, unit: usize) {
    // SAFETY: the caller guarantees that the elements of the loop are valid for reads from `src`
    // and for writes from `dst`, and that `unit` divides their size.
    unsafe { each::<N>(line, src, dst, size, unit) };
}

/// # Safety
/// As [`line`].
#[inline(always)]
unsafe fn each<const N: usize>(
    line: Loop,
    mut src: Source,
    mut dst: Target,
    size: usize,
    unit: usize,
) {
    // Shorter elements share a line with the elements that the next copy writes.
    let bytes = if N > 0 { N } else { size };
    let apart = if bytes >= SHORTEST { Apart::new(bytes, line.dst) } else { None };
    for _ in 0..line.count {
        if let Some(apart) = apart {
            apart.ahead(dst.hint());
        }
        // SAFETY: an element of the loop. Behind the last one the pointers are not used.
        unsafe { element::<N>(src.bytes(bytes), dst.bytes(bytes), size, unit) };
        (src, dst) = (src.offset(line.src), dst.offset(line.dst));
    }
}

/// Moves the elements of one loop to a row, four at a time.
///
/// # Safety
/// They are valid for reads from `src`, and as many elements of `N` bytes for writes from `dst`.
#[inline(always)]
unsafe fn row<const N: usize>(line: Loop, mut src: Source, mut dst: Target) {
    let step = |src: Source, steps: isize| src.offset(steps * line.src);
    let moved = |src: Source, dst: Target| {
        // SAFETY: an element of the loop on both sides.
        unsafe { dst.bytes(N).cast::<[u8; N]>().write(src.bytes(N).cast::<[u8; N]>().read()) };
    };
    for _ in 0..line.count / 4 {
        for i in 0..4 {
            moved(step(src, signed(i)), dst.add(i * N));
        }
        (src, dst) = (step(src, 4), dst.add(4 * N));
    }
    for _ in 0..line.count % 4 {
        moved(src, dst);
        (src, dst) = (step(src, 1), dst.add(N));
    }
}

/// Writes one element `count` times in sequence.
///
/// # Safety
/// `src` is valid for reads of one element, `dst` for writes of `count`; `unit` divides their size.
#[inline(never)]
unsafe fn repeat<const N: usize>(src: Source, dst: Target, size: usize, unit: usize, count: usize) {
    /// Bytes at the start that are copied repeatedly, so that they stay in the cache.
    const PART: usize = 4096;
    if size == 1 {
        // SAFETY: the caller guarantees that a byte is valid for reads and `count` bytes for
        // writes.
        return unsafe { dst.bytes(count).write_bytes(src.bytes(1).read(), count) };
    }
    // SAFETY: the caller guarantees that one element is valid for reads, and `count` for writes.
    unsafe { element::<N>(src.bytes(size), dst.bytes(size), size, unit) };
    let mut done = 1;
    while done < count {
        let more = done.min(count - done).min((PART / size).max(1));
        // SAFETY: the first `more` elements are written, and the next ones follow them.
        unsafe {
            let next = dst.add(done * size).bytes(more * size);
            core::ptr::copy_nonoverlapping(dst.bytes(more * size), next, more * size);
        }
        done += more;
    }
}

/// Moves the elements of two loops, in blocks that reuse the lines in the cache.
///
/// # Safety
/// They are valid for reads from `src` and for writes from `dst`.
pub(super) unsafe fn plane<const N: usize>(
    across: Loop,
    along: Loop,
    src: Source,
    dst: Target,
    size: usize,
    unit: usize,
) {
    // Long elements are read in the order in which they lie; short ones use all of each line on
    // both sides.
    let side = (768 / if N > 0 { N } else { size }).clamp(1, 64);
    let mut q = 0;
    while q < along.count {
        let columns = side.min(along.count - q);
        let (mut from, mut to) =
            (src.offset(signed(q) * along.src), dst.offset(signed(q) * along.dst));
        for _ in 0..across.count {
            let part = Loop { count: columns, ..along };
            // SAFETY: a part of a row of the plane. Behind the last one the pointers are not used.
            unsafe { line::<N>(part, from, to, size, unit) };
            (from, to) = (from.offset(across.src), to.offset(across.dst));
        }
        q += side;
    }
}

/// Moves the elements of two loops. The last has few.
///
/// # Safety
/// They are valid for reads from `src` and for writes from `dst`; `unit` divides `N`.
pub(super) unsafe fn weave<const N: usize>(
    [long, short]: [Loop; 2],
    src: Source,
    dst: Target,
    unit: usize,
) {
    // SAFETY: the caller guarantees that the elements of both loops are valid for reads from `src`
    // and for writes from `dst`, and that `unit` divides `N`; `R` is the number of elements of the
    // short loop, or 0.
    unsafe {
        match short.count {
            1 => line::<N>(long, src, dst, N, unit),
            2 => rows::<N, 2>([long, short], src, dst, unit),
            3 => rows::<N, 3>([long, short], src, dst, unit),
            4 => rows::<N, 4>([long, short], src, dst, unit),
            _ => rows::<N, 0>([long, short], src, dst, unit),
        }
    }
}

/// # Safety
/// As [`weave`]; `R` is the number of elements of the short loop, or 0.
unsafe fn rows<const N: usize, const R: usize>(
    [long, short]: [Loop; 2],
    src: Source,
    dst: Target,
    unit: usize,
) {
    let rows = if R > 0 { R } else { short.count };
    for i in 0..signed(long.count) {
        for row in 0..signed(rows) {
            let (from, to) = (i * long.src + row * short.src, i * long.dst + row * short.dst);
            // SAFETY: an element of both loops.
            unsafe {
                element::<N>(src.offset(from).bytes(N), dst.offset(to).bytes(N), N, unit);
            }
        }
    }
}
