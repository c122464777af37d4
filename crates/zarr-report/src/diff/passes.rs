//! The pieces in which two arrays are read, so that each chunk is read once or twice.

use std::ops::{ControlFlow, Range};

use super::node::DiffError;
use super::picked::Picked;
use super::spool::Spool;
use super::sums::Tiles;
use super::tasks::{Piece, around, common, count, overlap, visits};
use super::values::{Comparison, Side};
use crate::{PIECE, ReportError};

/// Elements of variable length count as so many bytes.
const VARIABLE: usize = 64;

/// How often chunks of an array may be read so that each piece is compared at once; otherwise each
/// array is read for sums first, and once more.
const READS: u64 = 2;

/// The most bytes that are kept in a temporary file. Where more differs, the first array is read once
/// for each batch of the other's.
const KEPT: u64 = 4 << 30;

/// How many of the first boxes have together at most so many bytes, at least one.
fn batch(boxes: &[Vec<Range<u64>>], size: u64, most: u64) -> usize {
    let mut bytes = 0_u64;
    let fits = |region: &&Vec<Range<u64>>| {
        bytes = bytes.saturating_add(count(region).saturating_mul(size));
        bytes <= most
    };
    boxes.iter().take_while(fits).count().max(1)
}

/// A box and its elements.
type ReadBox = (Vec<Range<u64>>, Piece);

impl<'a> Comparison<'a, '_> {
    /// Compares all elements, of which there are so many.
    pub(super) fn all(&mut self, all: u64) -> Result<ControlFlow<()>, DiffError> {
        let (one, other) = (self.one, self.other);
        let size = u64::try_from(self.size().unwrap_or(VARIABLE)).unwrap_or(u64::MAX);
        // Small arrays have several pieces in tests.
        let piece = if cfg!(test) { PIECE.min(1 << 16) } else { PIECE };
        let most = (piece / size).max(1);
        let whole: Vec<Range<u64>> = one.shape().iter().map(|length| 0..*length).collect();
        // Tasks of whole chunks of one of the two.
        for (by, read) in [(one, other), (other, one)] {
            let tasks = by.tasks(most, Some(read))?;
            if visits(&tasks, read.grid()) <= read.chunks().saturating_mul(READS) {
                return self.in_turn(&by.cut(&tasks, &whole)?);
            }
        }
        let boxes = |of: &Picked<'_>| of.cut(&of.tasks(most, None)?, &whole);
        let boxes = [boxes(one)?, boxes(other)?];
        let tiles = Tiles::new(one.shape(), most);
        let mut sums = [tiles.sums(), tiles.sums()];
        for ((side, boxes), sums) in [Side::One, Side::Other].into_iter().zip(&boxes).zip(&mut sums)
        {
            for region in boxes {
                match self.read(side, region)? {
                    Some(piece) => {
                        tiles.add(sums, region, piece.elements());
                        self.bytes += piece.bytes();
                    }
                    None => tiles.skip(sums, region),
                }
                if (self.progress)(self.bytes).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        let [ours, theirs] = &sums;
        let different = tiles.different(ours, theirs);
        // The smallest box of each piece that holds what differs in it.
        let [mine, theirs] = boxes.map(|boxes| {
            let of_piece = |piece: &Vec<Range<u64>>| {
                let parts = different.iter().filter_map(|tile| common(piece, tile));
                parts.reduce(|one, other| around(&one, &other))
            };
            boxes.iter().filter_map(of_piece).collect::<Vec<_>>()
        });
        self.values.elements = all;
        let mut rest = theirs.as_slice();
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(batch(rest, size, KEPT));
            if self.again(&mine, batch)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            rest = after;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Compares the elements that boxes of one array share with boxes of the other: each box is read
    /// once. They have been counted.
    fn again(
        &mut self,
        mine: &[Vec<Range<u64>>],
        theirs: &[Vec<Range<u64>>],
    ) -> Result<ControlFlow<()>, DiffError> {
        let (one, size) = (self.one, self.size());
        let kept = |cause| one.failed(ReportError::Temporary(cause));
        let mut spool = Spool::new(theirs.len());
        for region in mine.iter().filter(|region| theirs.iter().any(|their| overlap(region, their)))
        {
            for their in theirs {
                let both = common(region, their).map_or(0, |both| count(&both));
                self.values.elements = self.values.elements.saturating_sub(both);
            }
            for (region, piece) in self.undamaged(Side::One, region)? {
                for (at, their) in theirs.iter().enumerate() {
                    if let Some(part) = common(&region, their) {
                        let elements = piece.part(&region, &part);
                        spool.keep(at, part, &elements).map_err(kept)?;
                    }
                }
                self.bytes += piece.bytes();
                if (self.progress)(self.bytes).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        for (at, region) in theirs.iter().enumerate() {
            let parts = spool.take(at);
            for (region, piece) in self.undamaged(Side::Other, region)? {
                for part in &parts {
                    if let Some(both) = common(&region, &part.region) {
                        let mine = spool.read(part, size).map_err(kept)?;
                        let mine = mine.part(&part.region, &both);
                        self.pieces(&both, &mine, &piece.part(&region, &both))?;
                    }
                }
                self.bytes += piece.bytes();
                if (self.progress)(self.bytes).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reads a box but for its chunks that cannot be read.
    fn undamaged(&mut self, side: Side, region: &[Range<u64>]) -> Result<Vec<ReadBox>, DiffError> {
        let (mut found, mut next) = (Vec::new(), vec![region.to_vec()]);
        while let Some(region) = next.pop() {
            let damaged = |damaged: &(Side, Vec<Range<u64>>), region: &[Range<u64>]| {
                damaged.0 == side && overlap(&damaged.1, region)
            };
            if self.damaged.iter().any(|other| damaged(other, &region)) {
                let of = self.side(side);
                let mut parts = of.cut(of.grid(), &region)?;
                parts.retain(|part| !self.damaged.iter().any(|other| damaged(other, part)));
                next.append(&mut parts);
            } else if let Some(piece) = self.read(side, &region)? {
                found.push((region, piece));
            } else {
                next.push(region);
            }
        }
        Ok(found)
    }

    /// The bytes of an element; `None` of variable length.
    fn size(&self) -> Option<usize> {
        let array = self.one.array;
        (!array.data_type().is_variable_length()).then(|| array.element_size().max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::batch;

    #[test]
    fn batches_have_the_boxes_that_fit_and_at_least_one() {
        let boxes = [vec![0..4, 0..2], vec![0..1, 0..2], vec![0..9, 0..9]];
        for (most, expected) in [(0, 1), (15, 1), (16, 1), (20, 2), (181, 2), (182, 3)] {
            assert_eq!(batch(&boxes, 2, most), expected, "{most}");
        }
        assert_eq!(batch(&[vec![0..u64::MAX, 0..9]], 8, 64), 1);
    }
}
