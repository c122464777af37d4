//! The boxes in which two arrays are read, and their elements.

use std::ops::Range;

use zarr_array::{ArrayError, ByteStrings};
use zarr_grid::{Grid, GridError};

use super::sums::carry;

/// The elements of a piece of an array.
#[derive(Clone)]
pub(super) enum Piece {
    Fixed(Vec<u8>, usize),
    Variable(ByteStrings),
}

impl Piece {
    /// The elements of a part of the box that this piece is of.
    pub(super) fn part(&self, of: &[Range<u64>], part: &[Range<u64>]) -> Self {
        if of == part {
            return self.clone();
        }
        match self {
            Self::Fixed(bytes, size) => {
                let mut found = Vec::new();
                lines(of, part, |line| {
                    let line = line.start * size..line.end * size;
                    found.extend_from_slice(&bytes[line]);
                });
                Self::Fixed(found, *size)
            }
            Self::Variable(elements) => {
                let mut found = ByteStrings::new();
                lines(of, part, |line| {
                    line.filter_map(|at| elements.get(at)).for_each(|element| found.push(element));
                });
                Self::Variable(found)
            }
        }
    }

    pub(super) fn elements(&self) -> Box<dyn Iterator<Item = &[u8]> + '_> {
        match self {
            Self::Fixed(bytes, size) => Box::new(bytes.chunks_exact(*size)),
            Self::Variable(elements) => Box::new(elements.iter()),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        let bytes = match self {
            Self::Fixed(bytes, _) => bytes.len(),
            Self::Variable(elements) => elements.iter().map(<[u8]>::len).sum(),
        };
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// The positions in a box of the elements of a part of it, line by line.
fn lines(of: &[Range<u64>], part: &[Range<u64>], mut line: impl FnMut(Range<usize>)) {
    let mut index: Vec<u64> = part.iter().map(|axis| axis.start).collect();
    let length = part.last().map_or(1, |axis| axis.end - axis.start);
    loop {
        let axes = of.iter().zip(&index);
        let start = axes.fold(0, |sum: u64, (axis, at)| {
            let length = axis.end - axis.start;
            sum * length + (at - axis.start)
        });
        let position = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        line(position(start)..position(start + length));
        index.last_mut().zip(part.last()).into_iter().for_each(|(at, axis)| *at = axis.end);
        if !carry(&mut index, part) {
            return;
        }
    }
}

/// Whether an error concerns one chunk, so that others can still be read.
pub(super) fn is_of_one_chunk(error: &ArrayError) -> bool {
    match error {
        ArrayError::Chunk { .. }
        | ArrayError::Changing { .. }
        | ArrayError::Member { .. }
        | ArrayError::MemberChanged { .. } => true,
        ArrayError::Store(error) => error.is_of_one_object(),
        _ => false,
    }
}

/// The elements of a box.
pub(super) fn count(region: &[Range<u64>]) -> u64 {
    let lengths = region.iter().map(|axis| axis.end - axis.start);
    lengths.fold(1, u64::saturating_mul)
}

/// The elements that two boxes share.
pub(super) fn common(one: &[Range<u64>], other: &[Range<u64>]) -> Option<Vec<Range<u64>>> {
    let axes = one.iter().zip(other).map(|(a, b)| a.start.max(b.start)..a.end.min(b.end));
    let axes: Vec<Range<u64>> = axes.collect();
    axes.iter().all(|axis| axis.start < axis.end).then_some(axes)
}

/// The smallest box around two.
pub(super) fn around(one: &[Range<u64>], other: &[Range<u64>]) -> Vec<Range<u64>> {
    let axes = one.iter().zip(other);
    axes.map(|(a, b)| a.start.min(b.start)..a.end.max(b.end)).collect()
}

/// Whether two boxes share an element.
pub(super) fn overlap(one: &[Range<u64>], other: &[Range<u64>]) -> bool {
    one.iter().zip(other).all(|(a, b)| a.start < b.end && b.start < a.end)
}

/// The parts of a box in the chunks of a grid, in C order.
pub(super) fn cut(grid: &Grid, region: &[Range<u64>]) -> Result<Vec<Vec<Range<u64>>>, GridError> {
    let mut parts = grid.chunks(region)?;
    let mut found = Vec::new();
    while let Some(part) = parts.next_part() {
        let axes = part.axes().iter().zip(region).map(|(part, axis)| {
            let part = part.in_selection();
            axis.start + part.start..axis.start + part.end
        });
        found.push(axes.collect());
    }
    Ok(found)
}

/// How many chunks of `read` the tasks touch in all.
pub(super) fn visits(tasks: &Grid, read: &Grid) -> u64 {
    let axes = tasks.axes().iter().zip(read.axes());
    let visits = axes.map(|(tasks, read)| {
        let touched = (0..tasks.occupied()).filter_map(|task| {
            let range = tasks.clipped(task)?;
            let first = read.chunk_of(range.start)?.0;
            let last = read.chunk_of(range.end.checked_sub(1)?)?.0;
            Some(last - first + 1)
        });
        touched.fold(0, u64::saturating_add)
    });
    visits.fold(1, u64::saturating_mul)
}
