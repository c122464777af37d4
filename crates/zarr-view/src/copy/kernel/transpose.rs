//! Blocked transposes: a loop contiguous in the source across one contiguous in the destination.
//!
//! Going along either loop alone touches a new cache line on the other side at every element. A
//! block of whole lines on both sides uses each line in full while it is in the cache. Where the
//! copy exceeds the cache, a block is transposed into a small buffer and its rows leave by
//! streaming stores: the destination's lines are then not read before they are overwritten.

use super::super::nest::Loop;
use super::swap;
use super::tile;
use crate::view::signed;

/// The two loops of a transpose of elements of `N` bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plane {
    /// `N` bytes a step in the source.
    pub(super) across: Loop,
    /// `N` bytes a step in the destination.
    pub(super) along: Loop,
    /// The unit of the byte swap.
    pub(super) unit: usize,
    /// Whether to write past the cache.
    pub(super) stream: bool,
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// Bytes of a block's rows in the source and in the destination, as measured.
const fn block_rows<const N: usize>() -> (usize, usize) {
    match N {
        8 | 16 => (256, 256),
        32.. => (1024, 512),
        _ => (64, 512),
    }
}

/// Bytes between rows of the buffer: a block's row and what it reads ahead, and not a power of two,
/// so that the rows do not all meet in the same few sets of the cache.
const PITCH: usize = 512 + 2 * LINE;

/// The buffer of a block, aligned to a cache line.
#[repr(align(64))]
struct Buffer {
    _rows: [u8; 64 * PITCH],
}

/// Transposes a plane.
///
/// # Safety
/// Each element of the plane is valid for reads from `src` and for writes from `dst`.
pub(super) unsafe fn run<const N: usize>(plane: &Plane, src: *const u8, dst: *mut u8) {
    // SAFETY: the caller's.
    unsafe {
        if plane.stream || plane.unit > 1 {
            buffered::<N>(plane, src, dst);
        } else {
            direct::<N>(plane, src, dst);
        }
    }
}

/// Whether every row of the destination starts with a line.
fn aligned(plane: &Plane, dst: *mut u8) -> bool {
    dst.align_offset(LINE) == 0 && plane.across.dst.unsigned_abs().is_multiple_of(LINE)
}

/// Through a buffer.
///
/// A destination row may start anywhere in a cache line, and each row elsewhere. So that blocks
/// still write whole lines only, a block reads a line's worth of columns more than its own, and
/// each of its rows ends where a line does.
///
/// # Safety
/// As [`run`].
unsafe fn buffered<const N: usize>(plane: &Plane, src: *const u8, dst: *mut u8) {
    let Plane { across, along, unit, stream } = *plane;
    let (rows, columns) = const { (block_rows::<N>().0 / N, block_rows::<N>().1 / N) };
    let mut buffer = core::mem::MaybeUninit::<Buffer>::uninit();
    let buffer = buffer.as_mut_ptr().cast::<u8>();
    // What is narrow on one side is taken the longer on the other.
    let columns = if across.count < rows { columns.max(512 / N) } else { columns };
    // Where every row starts with a line, every block does, and nothing need be read ahead.
    let ahead = if aligned(plane, dst) { 0 } else { LINE.div_ceil(N) };
    for q in (0..along.count).step_by(columns) {
        let last = along.count - q <= columns;
        let read = (columns + ahead).min(along.count - q);
        for p in (0..across.count).step_by(rows) {
            let rows = rows.min(across.count - p);
            let from = src.wrapping_offset(signed(p) * across.src + signed(q) * along.src);
            let to = dst.wrapping_offset(signed(p) * across.dst + signed(q) * along.dst);
            if p + rows < across.count {
                super::prefetch(from.wrapping_add(rows * N), along.src, columns, rows * N);
            } else if !last {
                let next = src.wrapping_offset(signed(q + columns) * along.src);
                super::prefetch(next, along.src, columns.min(along.count - q - columns), rows * N);
            }
            // SAFETY: the columns read lie within the plane.
            unsafe { block::<N>(from, along.src, rows, read, buffer, signed(PITCH)) };
            for row in 0..rows {
                let to = to.wrapping_offset(signed(row) * across.dst);
                let start = if q == 0 { 0 } else { to.align_offset(LINE) };
                let end = if last {
                    read * N
                } else {
                    columns * N + to.wrapping_add(columns * N).align_offset(LINE)
                };
                // SAFETY: `start..end` are bytes of this row of the plane: without a last block,
                // `end` exceeds the block by less than the line that was read ahead, unless fewer
                // columns are left, and then it is cut to them. The buffer's row holds as many.
                unsafe {
                    let line = buffer.add(row * PITCH);
                    swap::in_place(line, read * N, unit);
                    let end = end.min(read * N);
                    if start >= end {
                        continue;
                    }
                    let (line, to, bytes) = (line.add(start), to.add(start), end - start);
                    if stream {
                        super::stream(line, to, bytes);
                    } else {
                        core::ptr::copy_nonoverlapping(line, to, bytes);
                    }
                }
            }
        }
    }
}

/// Straight to the destination, in blocks that stay in the innermost cache.
///
/// # Safety
/// As [`run`].
unsafe fn direct<const N: usize>(plane: &Plane, src: *const u8, dst: *mut u8) {
    let Plane { across, along, .. } = *plane;
    let side = (128 / N).max(4);
    for q in (0..along.count).step_by(side) {
        let columns = side.min(along.count - q);
        for p in (0..across.count).step_by(side) {
            let rows = side.min(across.count - p);
            // SAFETY: the block lies within the plane.
            unsafe {
                let from = src.offset(signed(p) * across.src + signed(q) * along.src);
                let to = dst.offset(signed(p) * across.dst + signed(q) * along.dst);
                block::<N>(from, along.src, rows, columns, to, across.dst);
            }
        }
    }
}

/// Transposes `columns` source rows of `rows` elements to `rows` destination rows of `columns`
/// elements.
///
/// # Safety
/// They are valid for reads from `src`, `src_pitch` bytes apart, and for writes from `dst`,
/// `dst_pitch` bytes apart.
#[inline(always)]
unsafe fn block<const N: usize>(
    src: *const u8,
    src_pitch: isize,
    rows: usize,
    columns: usize,
    dst: *mut u8,
    dst_pitch: isize,
) {
    // Elements larger than a row of a tile are moved one by one.
    let side = tile::side::<N>();
    let at = |row: usize, column: usize| {
        let from = src.wrapping_offset(signed(column) * src_pitch + signed(row * N));
        (from, dst.wrapping_offset(signed(row) * dst_pitch + signed(column * N)))
    };
    let whole = |n: usize| if N > tile::ROW { 0 } else { n - n % side };
    let (whole_rows, whole_columns) = (whole(rows), whole(columns));
    for column in (0..whole_columns).step_by(side) {
        for row in (0..whole_rows).step_by(side) {
            let (from, to) = at(row, column);
            // SAFETY: the tile lies within the block.
            unsafe { tile::transpose::<N>(from, src_pitch, to, dst_pitch) };
        }
    }
    // What is left below, then to the right.
    for row in whole_rows..rows {
        for column in 0..columns {
            let (from, to) = at(row, column);
            // SAFETY: one element within the block.
            unsafe { core::ptr::copy_nonoverlapping(from, to, N) };
        }
    }
    for column in whole_columns..columns {
        for row in 0..whole_rows {
            let (from, to) = at(row, column);
            // SAFETY: one element within the block.
            unsafe { core::ptr::copy_nonoverlapping(from, to, N) };
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::{Loop, Plane, run, signed};

    /// Every mixture of whole and cut blocks, of aligned and unaligned rows, both ways.
    fn check<const N: usize>(unit: usize) {
        let (rows, columns) = (super::block_rows::<N>().0 / N, super::block_rows::<N>().1 / N);
        let some = [1, 3, rows - 1, rows, rows + 1, 2 * rows + 5];
        let more = [
            1,
            2,
            columns - 1,
            columns,
            columns + 1,
            columns + 64_usize.div_ceil(N),
            2 * columns + 7,
        ];
        for (at, &across) in some.iter().enumerate() {
            for (skip, &along) in more.iter().enumerate() {
                let margin = [0, 1, 64 - across * N % 64][skip % 3];
                let (src_pitch, dst_pitch) = (across * N + margin, along * N + margin + at % 2);
                let src: Vec<u8> = (0..along * src_pitch).map(|i| (i * 31 % 253) as u8).collect();
                for (stream, skip, down) in [(true, 0, false), (true, 5, true), (false, 9, false)] {
                    let mut dst = vec![0xee; skip + across * dst_pitch];
                    let mut wanted = dst.clone();
                    let first = if down { (across - 1) * dst_pitch } else { 0 };
                    let step = if down { -signed(dst_pitch) } else { signed(dst_pitch) };
                    for i in 0..across {
                        for j in 0..along {
                            let row = if down { across - 1 - i } else { i };
                            let to = &mut wanted[skip + row * dst_pitch + j * N..][..N];
                            to.copy_from_slice(&src[j * src_pitch + i * N..][..N]);
                            to.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
                        }
                    }
                    let across = Loop { count: across, src: signed(N), dst: step };
                    let along = Loop { count: along, src: signed(src_pitch), dst: signed(N) };
                    let plane = Plane { across, along, unit, stream };
                    // SAFETY: the pitches hold a row each, and the buffers all rows.
                    unsafe {
                        run::<N>(&plane, src.as_ptr(), dst.as_mut_ptr().add(skip + first));
                    }
                    assert!(dst == wanted, "{N} bytes, {plane:?}");
                }
            }
        }
    }

    #[test]
    fn planes_transpose() {
        check::<1>(1);
        check::<2>(1);
        check::<2>(2);
        check::<4>(1);
        check::<4>(4);
        check::<8>(1);
        check::<8>(4);
        check::<16>(1);
        check::<16>(8);
        check::<32>(1);
        check::<64>(4);
        check::<128>(1);
    }
}
