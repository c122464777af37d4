//! The extents of the blocks of a transpose, and their layout in the buffer between its two sides.

use super::block::{Block, has_tiles};
use crate::copy::kernel::cache::{LINE, PAGE, WAYS, apart};
use crate::copy::kernel::vector::{LANE, WORD};
use crate::copy::one_loop::Loop;
use crate::view::signed;

/// The most rows of a block whose columns are read straight through.
const TALL: usize = 128;

/// The rows and columns of a block without a buffer, which stays in the innermost cache. A block takes
/// time to start, so in a plane that is short in one direction it is longer in the other.
#[inline(always)]
pub(crate) fn extents(size: usize, across: Loop, along: Loop) -> (usize, usize) {
    let is_aliased = size < LANE && across.dst.unsigned_abs().is_multiple_of(PAGE);
    if size >= 4 && !is_aliased && has_tiles(across, along, size) {
        // Columns are read straight through: as many as their sets hold, in half of the cache. Lines
        // of the rows are written as a whole.
        let (line, column) = (LINE / size, across.count.min(TALL) * size);
        let held = WAYS * PAGE / apart(along.src).max(2 * column);
        let columns = (held & !(line - 1)).max(line);
        return (WAYS * PAGE / 2 / (columns.min(along.count) * size), columns);
    }
    // Words of rows in separate pages are written in fewer and longer parts.
    let row = if size == WORD && across.dst.unsigned_abs() >= PAGE { 512 } else { 256 };
    let (rows, columns) = ((128 / size).max(4), (row / size).max(4));
    // Whole tiles, unless the end comes first.
    let beside = |short: usize| (rows * columns / short.max(1)) & !(LANE - 1);
    if along.count < columns {
        (rows.max(beside(along.count)), columns)
    } else if across.count < rows {
        (rows, columns.max(beside(across.count)))
    } else {
        (rows, columns)
    }
}

/// The extents of a block, and its offsets in the buffer. They are the offsets in the destination
/// if that is contiguous. Otherwise runs lie an odd number of lines apart, so that they do not all
/// map to the same few sets of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockBuffer {
    /// Elements of a block along each loop.
    pub(super) rows: usize,
    pub(super) mids: usize,
    pub(super) columns: usize,
    /// Bytes between them in the buffer.
    pub(super) row: usize,
    pub(super) mid: usize,
    joined: Joined,
}

/// The part of a block that is one run in the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joined {
    /// The columns of a row.
    Columns,
    /// The columns of all mids of a row.
    Mids,
    /// The columns of all rows of a mid.
    Across,
    /// The whole block.
    Rows,
}

/// Target length in bytes of a block's runs on both sides. Measured: with longer runs fewer of
/// them fit in the buffer; shorter ones have more partial lines.
const RUN: usize = 512;

impl BlockBuffer {
    /// Chooses blocks that fit `room` bytes, which must hold an element and two lines.
    pub(super) fn new(all: &Block, room: usize) -> Self {
        let Block { across, mid, along, size } = *all;
        // As many as wanted, or all if there are no more; whole lines if not all.
        let cut = |wanted: usize, count: usize| {
            let line = (LINE / size).max(1);
            let whole = (wanted - wanted % line).max(line);
            if wanted < count { whole.min(count) } else { count }
        };
        let (room, run) = (room / 5 * 4, RUN.min(room / 128));
        let mut rows = cut(run / size, across.count);
        let mut columns = cut(run / size, along.count);
        if mid.count > 1 {
            columns = columns.max(cut(room / rows / size, along.count));
        }
        let mids = (room / (rows * columns * size)).clamp(1, mid.count);
        // A block that is short along one loop is longer along the others.
        if mids == mid.count {
            columns = columns.max(cut(room / (rows * mids * size), along.count));
        }
        if columns == along.count {
            rows = rows.max(cut(room / (columns * mids * size), across.count));
        }
        let mut layout = Self { rows, mids, columns, row: 0, mid: 0, joined: Joined::Columns };
        loop {
            layout.place(all);
            if layout.bytes() <= room / 4 * 5 {
                return layout;
            }
            // Rows that are padded may need more room than their elements.
            if layout.rows > 1 {
                layout.rows -= layout.rows.div_ceil(16);
            } else if layout.mids > 1 {
                layout.mids -= layout.mids.div_ceil(16);
            } else {
                layout.columns = layout.columns.div_ceil(2);
            }
        }
    }

    /// Computes the distances for the extents.
    fn place(&mut self, all: &Block) {
        let Block { across, mid, along, size } = *all;
        let odd = |bytes: usize| (bytes.div_ceil(LINE) | 1) * LINE;
        let run = self.columns * size;
        let mids_join = self.columns == along.count && mid.dst == signed(run);
        let rows_join = self.columns == along.count
            && (mids_join || mid.count == 1)
            && self.mids == mid.count
            && across.dst == signed(run * self.mids);
        let across_join = self.columns == along.count && across.dst == signed(run);
        self.joined = if rows_join && !(run * self.mids).is_multiple_of(256) {
            Joined::Rows
        } else if mids_join {
            Joined::Mids
        } else if across_join && mid.count > 1 {
            Joined::Across
        } else {
            Joined::Columns
        };
        (self.row, self.mid) = match self.joined {
            Joined::Rows => (run * self.mids, run),
            Joined::Mids => (odd(run * self.mids), run),
            Joined::Across => (run, odd(run * self.rows)),
            Joined::Columns => (odd(odd(run) * self.mids), odd(run)),
        };
    }

    /// The bytes that a block takes in the buffer.
    const fn bytes(&self) -> usize {
        match self.joined {
            Joined::Across => self.mids * self.mid,
            Joined::Rows | Joined::Mids | Joined::Columns => self.rows * self.row,
        }
    }

    /// A block as it lies in the buffer.
    pub(super) const fn buffered(&self, block: &Block) -> Block {
        let mut block = *block;
        block.across.dst = self.row.cast_signed();
        block.mid.dst = self.mid.cast_signed();
        block
    }

    /// The runs of a block: the numbers of rows and mids, and the bytes of a run.
    pub(super) const fn runs(&self, block: &Block) -> (usize, usize, usize) {
        let (rows, mids) = (block.across.count, block.mid.count);
        let columns = block.along.count * block.size;
        match self.joined {
            Joined::Rows => (1, 1, columns * mids * rows),
            Joined::Mids => (rows, 1, columns * mids),
            Joined::Across => (1, mids, columns * rows),
            Joined::Columns => (rows, mids, columns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box whose destination has rows of columns, for each mid or within them, and `margin` bytes
    /// after each run of columns.
    fn block(counts: [usize; 3], size: usize, mids_within: bool, margin: usize) -> Block {
        let [across, mid, along] = counts;
        let run = along * size + margin;
        let (row, between) = if mids_within { (run * mid, run) } else { (run, run * across) };
        Block {
            across: Loop { count: across, src: 0, dst: signed(row) },
            mid: Loop { count: mid, src: 0, dst: signed(between) },
            along: Loop { count: along, src: 0, dst: signed(size) },
            size,
        }
    }

    /// Each byte of a block has its own place in the buffer, and runs are the same on both sides.
    fn check(block: &Block, layout: &BlockBuffer, room: usize) {
        let (rows, mids, bytes) = layout.runs(block);
        let buffered = layout.buffered(block);
        let mut moved = vec![false; room];
        for row in 0..signed(rows) {
            for mid in 0..signed(mids) {
                let at = row * buffered.across.dst + mid * buffered.mid.dst;
                let run = &mut moved[at.cast_unsigned()..][..bytes];
                assert!(run.iter().all(|moved| !moved), "runs overlap: {block:?} {layout:?}");
                run.fill(true);
            }
        }
        let (counts, size) = ([block.across.count, block.mid.count, block.along.count], block.size);
        assert_eq!(rows * mids * bytes, counts.iter().product::<usize>() * size);
        for row in 0..signed(counts[0]) {
            for mid in 0..signed(counts[1]) {
                let (r, m) = (row.min(signed(rows) - 1), mid.min(signed(mids) - 1));
                let place = |block: &Block, row, mid| row * block.across.dst + mid * block.mid.dst;
                assert_eq!(
                    place(&buffered, row, mid) - place(&buffered, r, m),
                    place(block, row, mid) - place(block, r, m),
                    "row {row}, mid {mid}: {block:?} {layout:?}"
                );
                let at = place(&buffered, row, mid).cast_unsigned();
                assert!(moved[at..][..counts[2] * size].iter().all(|moved| *moved));
            }
        }
    }

    #[test]
    fn blocks_fit_their_room_and_runs_lie_apart() {
        let room = 2048;
        let counts = [1, 3, 16, 70, 300];
        for (across, mid) in counts.into_iter().flat_map(|n| counts.map(|m| (n, m))) {
            for along in counts {
                for (size, mids_within, margin) in [1, 4, 24].into_iter().flat_map(|size| {
                    [(true, 0), (false, 0), (false, 3)].map(|(mids, margin)| (size, mids, margin))
                }) {
                    let all = block([across, mid, along], size, mids_within, margin);
                    let layout = BlockBuffer::new(&all, room);
                    let part = |each: Loop, count: usize| Loop { count, ..each };
                    let whole = Block {
                        across: part(all.across, layout.rows),
                        mid: part(all.mid, layout.mids),
                        along: part(all.along, layout.columns),
                        size,
                    };
                    check(&whole, &layout, room);
                    // The last block may be cut along each loop.
                    let last = |count: usize, of: usize| (of - 1) % count + 1;
                    let cut = Block {
                        across: part(all.across, last(layout.rows, across)),
                        mid: part(all.mid, last(layout.mids, mid)),
                        along: part(all.along, last(layout.columns, along)),
                        size,
                    };
                    check(&cut, &layout, room);
                }
            }
        }
    }

    #[test]
    fn blocks_that_are_contiguous_in_the_destination_are_one_run() {
        for (counts, mids_within, margin, runs) in [
            ([5, 1, 10], true, 0, (1, 1, 200)),
            ([5, 3, 10], true, 0, (1, 1, 600)),
            // The columns of all mids, all rows, or one row and mid.
            ([4, 4, 16], true, 0, (4, 1, 256)),
            ([5, 3, 10], false, 0, (1, 3, 200)),
            ([5, 3, 10], true, 4, (5, 3, 40)),
            // A power of two of bytes would map to few sets of the cache.
            ([4, 1, 64], true, 0, (4, 1, 256)),
        ] {
            let all = block(counts, 4, mids_within, margin);
            assert_eq!(BlockBuffer::new(&all, 4096).runs(&all), runs, "{counts:?} {margin}");
        }
    }
}
