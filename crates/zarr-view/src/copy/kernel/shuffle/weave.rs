//! Which loops are woven, and the tables that say which byte goes where.

use core::mem::MaybeUninit;

use crate::copy::kernel::vector::{LANE, WORD};
use crate::copy::one_loop::Loop;
use crate::view::{Dims, signed};

/// The most lanes that a block reads or writes.
pub(crate) const MOST: usize = 15;

/// The most lanes of 64 bytes.
const MOST_WIDE: usize = 8;

/// Elements of a copy from which on tables for reversed axes and steps take less time than they
/// save.
pub(crate) const FEWEST: usize = 512;

/// Bytes of a wide lane.
pub(crate) const WIDE: usize = 64;

/// Elements from one row to several, or from several to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weave {
    /// The innermost loop steps over elements in the source: other rows of the destination get
    /// them, or no row.
    Deinterleave,
    /// The innermost loop takes an element of each of some rows of the source.
    Interleave,
}

impl Weave {
    /// Whether the loops, over `total` bytes, are of this kind; if so, moves the two that are woven to the end.
    pub(crate) fn choose(loops: &mut Dims<Loop>, size: usize, total: usize) -> Option<Self> {
        let &along = loops.last().filter(|_| matches!(size, 1 | 2 | 4 | 8))?;
        if along.dst != signed(size) {
            return None;
        }
        let (inner, elements) = (loops.len() - 1, LANE / size);
        // Where tiles fit, a transpose needs fewer shuffles.
        let few = |count: usize| (1..elements).contains(&count);
        let one = |each: &Loop| each.src.unsigned_abs() == size && each.count >= elements;
        let row = signed(size).wrapping_mul(signed(along.count));
        // Three words to a row: of four rows that tiles move, two would be the same one.
        if (few(along.count) || (size == WORD && along.count == 3))
            && let Some(axis) = loops.iter().position(|each| one(each) && each.dst == row)
        {
            let across = loops.remove(axis);
            loops.insert(inner - 1, across);
            return Some(Self::Interleave);
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
            Some(axis) if few(loops[axis].count) && step / size <= MOST.min(2 * elements - 1) => {
                let across = loops.remove(axis);
                loops.insert(inner - 1, across);
            }
            // If a lane has few elements, moving them one by one is faster; if there are few in
            // total, it is faster than making tables.
            None if step / size <= elements.min(MOST) && total >= FEWEST * size => {
                loops.insert(inner, Loop { count: 1, src: 0, dst: 0 });
            }
            _ => return None,
        }
        Some(Self::Deinterleave)
    }
}

/// No byte of this lane.
const NONE: u8 = 0x80;

/// Bytes of all tables: `MOST * MOST` of 16 bytes, or `MOST_WIDE * MOST_WIDE` of 64.
const BYTES: usize = 4096;

/// Blocks of a copy: the steps between them and their lanes, in bytes, and their tables.
pub(crate) struct Blocks {
    pub(crate) weave: Weave,
    pub(crate) size: usize,
    pub(crate) unit: usize,
    /// Bytes of a lane, and elements.
    pub(crate) lane: usize,
    pub(crate) elements: usize,
    /// Lanes that a block reads and writes, and the distances between them.
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) input: isize,
    pub(crate) output: isize,
    /// From an element of the loop that is split into blocks to the next one.
    pub(crate) src: isize,
    pub(crate) dst: isize,
    /// From the first element of a block to its first lane.
    pub(crate) first: (isize, isize),
    /// Bytes of the source from a block's first lane that a block reads.
    pub(crate) reads: isize,
    /// Entry `i * inputs + j` is for written lane `i` and read lane `j`: the byte of lane `j` for
    /// each byte of lane `i`, or [`NONE`].
    tables: Tables,
}

/// Each table of 64 bytes is a cache line.
#[repr(align(64))]
struct Tables([MaybeUninit<u8>; BYTES]);

impl Blocks {
    /// For the two innermost loops, which [`Weave::choose`] has chosen for elements of `size` bytes.
    /// Lanes have 16 bytes, or 64 if `wide` and that many fit.
    pub(crate) fn new(
        weave: Weave,
        [across, along]: [Loop; 2],
        size: usize,
        unit: usize,
        wide: bool,
    ) -> Self {
        let (split, inputs, outputs) = match weave {
            Weave::Interleave => (across, along.count, along.count),
            Weave::Deinterleave => (along, along.src.unsigned_abs() / size, across.count),
        };
        let wide = wide && inputs <= MOST_WIDE && split.count >= WIDE / size;
        let lane = if wide { WIDE } else { LANE };
        let elements = lane / size;
        let mut all = Self {
            weave,
            size,
            unit,
            lane,
            elements,
            inputs,
            outputs,
            input: signed(lane),
            output: signed(lane),
            src: split.src,
            dst: split.dst,
            first: (split.src.min(0) * signed(elements - 1), 0),
            reads: signed(lane),
            tables: Tables([const { MaybeUninit::uninit() }; BYTES]),
        };
        match weave {
            Weave::Interleave => all.input = along.src,
            Weave::Deinterleave => {
                // Rows that lie backwards are numbered from the other end.
                let low = if across.src < 0 { signed(across.count - 1) } else { 0 };
                all.first.0 += low * across.src;
                all.first.1 = low * across.dst;
                all.output = if across.src < 0 { -across.dst } else { across.dst };
                all.reads *= signed(inputs);
            }
        }
        all.fill(across.src.unsigned_abs() / size);
        all
    }

    /// Makes the tables. Rows that are woven apart are `between` elements apart.
    ///
    /// Without divisions: in a small copy they would take longer than everything else.
    fn fill(&mut self, between: usize) {
        let Self { size, lane, elements, inputs, outputs, .. } = *self;
        self.tables.0[..inputs * outputs * lane].fill(MaybeUninit::new(NONE));
        // The place of element `e` of a block, if the source is read backwards.
        let back = self.src < 0;
        let turned = |e: usize| if back { elements - 1 - e } else { e };
        match self.weave {
            Weave::Interleave => {
                let (mut i, mut to) = (0, 0);
                for e in 0..elements {
                    for row in 0..inputs {
                        self.set(i * inputs + row, to, turned(e) * size);
                        to += size;
                        if to == lane {
                            (i, to) = (i + 1, 0);
                        }
                    }
                }
            }
            Weave::Deinterleave => {
                // Lanes have 16 or 64 bytes.
                let (shift, mask) = (lane.trailing_zeros(), lane - 1);
                for row in 0..outputs {
                    for e in 0..elements {
                        let from = (turned(e) * inputs + row * between) * size;
                        self.set(row * inputs + (from >> shift), e * size, from & mask);
                    }
                }
            }
        }
    }

    /// The element at byte `from` of a lane that is read is the one at byte `to` of the lane that
    /// is written.
    #[inline(always)]
    fn set(&mut self, table: usize, to: usize, from: usize) {
        let at = table * self.lane + to;
        for (byte, place) in self.tables.0[at..at + self.size].iter_mut().enumerate() {
            // The unit of the swap is a power of two, since it divides 1, 2, 4 or 8.
            place.write((from + (byte ^ (self.unit - 1))) as u8);
        }
    }

    /// The table for lane `i` that is written and lane `j` that is read.
    #[inline(always)]
    pub(crate) fn table(&self, i: usize, j: usize) -> *const u8 {
        self.tables.0.as_ptr().wrapping_add((i * self.inputs + j) * self.lane).cast()
    }
}
