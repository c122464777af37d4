//! The part of a selection along one axis that lies in each chunk.

use alloc::vec::Vec;
use core::ops::Range;

use crate::axis::Axis;
use crate::error::{GridError, GridErrorKind};
use crate::num::{to_u64, to_usize};
use crate::selection::axis_part::AxisPart;
use crate::selection::indices::Listed;
use crate::selection::strided::Strided;
use crate::selection::{AxisSelection, selected};

/// The selection along one axis, sorted by chunk; see [`Axis::select`].
#[derive(Debug, Clone)]
pub struct SelectedAxis<'g>(Sorted<'g>);

#[derive(Debug, Clone)]
enum Sorted<'g> {
    Strided(Strided<'g>),
    Listed(Listed),
}

impl Axis {
    /// The first position after `position` with an index in another chunk; if there is none, it
    /// lies past the end of the selection. `None` if the selection has no such position, or its
    /// index there lies outside of the axis.
    ///
    /// Takes one look-up, and a pass over the indices of a list that are in the chunk, or over a mask.
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::{Axis, AxisSelection};
    ///
    /// let months = Axis::from_edges(90, [31, 28, 31])?;
    /// let days = AxisSelection::Step { range: 0..90, step: 10 }; // 0, 10, 20, 30, 40, ...
    /// assert_eq!(months.next_chunk_position(&days, 1), Some(4)); // the position of 40
    /// let listed = AxisSelection::from([58, 31, 30, 59]);
    /// assert_eq!(months.next_chunk_position(&listed, 0), Some(2)); // the position of 30
    /// assert_eq!(months.next_chunk_position(&listed, 4), None);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    #[must_use]
    pub fn next_chunk_position(&self, selection: &AxisSelection, position: u64) -> Option<u64> {
        let index = selection.get(position)?;
        let chunk = self.clipped(self.chunk_of(index)?.0)?;
        let step = match selection {
            AxisSelection::Indices(list) => {
                let rest = list.get(usize::try_from(position).ok()?..)?;
                let within = rest.iter().take_while(|index| chunk.contains(index)).count();
                return position.checked_add(to_u64(within));
            }
            AxisSelection::Mask(mask) => {
                let end = to_usize(chunk.end).min(mask.len());
                let rest = mask.get(to_usize(index)..end)?;
                return position.checked_add(to_u64(selected(rest).count()));
            }
            AxisSelection::Step { step, .. } => *step,
            AxisSelection::Index(_) | AxisSelection::Range(_) => 1,
        };
        let ahead = match step < 0 {
            true => index.checked_sub(chunk.start)?,
            false => chunk.end.checked_sub(index)?.checked_sub(1)?,
        };
        position.checked_add(ahead.checked_div(step.unsigned_abs())?)?.checked_add(1)
    }

    /// The chunks that a selection touches, each with its selected part. Other chunks are skipped
    /// without a visit.
    ///
    /// A range is found by two look-ups; counting the chunks of a stepped one takes a step for
    /// each run of edges in it. A list of indices is sorted by chunk.
    ///
    /// # Errors
    /// [`ZeroStep`](GridErrorKind::ZeroStep);
    /// [`RangeOutOfBounds`](GridErrorKind::RangeOutOfBounds) unless `start <= end <= extent`;
    /// [`IndexOutOfBounds`](GridErrorKind::IndexOutOfBounds);
    /// [`Length`](GridErrorKind::Length) of a mask that is not as long as the axis.
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::{Axis, AxisSelection};
    ///
    /// let axis = Axis::from_edges(10, [4, 1, 5])?;
    /// let selected = axis.select(&AxisSelection::Step { range: 1..10, step: 3 })?; // 1, 4, 7
    /// let parts: Vec<_> = selected.parts().map(|part| (part.chunk, part.in_chunk())).collect();
    /// assert_eq!(parts, [(0, 1..2), (1, 0..1), (2, 2..3)]);
    ///
    /// let selected = axis.select(&[8, 1, 5].into())?;
    /// let last = selected.parts().nth(1).ok_or("a part")?;
    /// assert!(last.iter().eq([(3, 0), (0, 2)])); // 8 and 5, first and last of the list
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn select(&self, selection: &AxisSelection) -> Result<SelectedAxis<'_>, GridError> {
        let strided = |range, step| Ok(Sorted::Strided(Strided::new(self, range, step)?));
        let sorted = match selection {
            AxisSelection::Index(index) => {
                let (index, extent) = (*index, self.extent());
                if index >= extent {
                    return Err(GridErrorKind::IndexOutOfBounds { index, extent }.into());
                }
                strided(index..index.saturating_add(1), 1)
            }
            AxisSelection::Range(range) => strided(range.clone(), 1),
            AxisSelection::Step { range, step } => strided(range.clone(), *step),
            AxisSelection::Indices(indices) => Listed::new(self, indices).map(Sorted::Listed),
            AxisSelection::Mask(mask) => {
                if to_u64(mask.len()) != self.extent() {
                    let (found, expected) = (mask.len(), to_usize(self.extent()));
                    return Err(
                        GridErrorKind::Length { what: "mask entries", found, expected }.into()
                    );
                }
                let indices: Vec<u64> = selected(mask).collect();
                Listed::new(self, &indices).map(Sorted::Listed)
            }
        };
        sorted.map(SelectedAxis)
    }

    /// The chunks that a range touches, in order.
    pub(crate) fn range_parts(&self, range: Range<u64>) -> Result<AxisParts<'_>, GridError> {
        Ok(AxisParts(Rest::Strided(Strided::new(self, range, 1)?)))
    }
}

impl SelectedAxis<'_> {
    /// Number of selected indices.
    #[must_use]
    pub fn len(&self) -> u64 {
        match &self.0 {
            Sorted::Strided(strided) => strided.selected(),
            Sorted::Listed(listed) => listed.selected(),
        }
    }

    /// Whether no index is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether positions in the selection descend as indices ascend: a negative step.
    #[must_use]
    pub fn is_reversed(&self) -> bool {
        matches!(&self.0, Sorted::Strided(strided) if strided.is_reversed())
    }

    /// The selection in each chunk, in order of the chunks.
    pub fn parts(&self) -> AxisParts<'_> {
        AxisParts(match &self.0 {
            Sorted::Strided(strided) => Rest::Strided(strided.clone()),
            Sorted::Listed(listed) => Rest::Listed { listed, at: 0 },
        })
    }
}

/// The selections in the chunks along one axis, in order of the chunks; see
/// [`SelectedAxis::parts`].
///
/// A step takes constant time. Skipping ahead with `nth` takes a look-up or, if the step is not 1,
/// a step for each run of edges.
#[derive(Debug, Clone)]
#[must_use = "parts are worked out as they are asked for"]
pub struct AxisParts<'s>(Rest<'s>);

#[derive(Debug, Clone)]
enum Rest<'s> {
    Strided(Strided<'s>),
    Listed { listed: &'s Listed, at: usize },
}

impl AxisParts<'_> {
    /// Number of remaining parts.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        match &self.0 {
            Rest::Strided(strided) => strided.remaining(),
            Rest::Listed { listed, at } => to_u64(listed.chunks().saturating_sub(*at)),
        }
    }

    /// Skips the next `count` parts, or all that remain.
    pub(crate) fn skip_parts(&mut self, count: u64) {
        match &mut self.0 {
            Rest::Strided(strided) => strided.skip_chunks(count),
            Rest::Listed { at, .. } => *at = at.saturating_add(to_usize(count)),
        }
    }
}

impl<'s> Iterator for AxisParts<'s> {
    type Item = AxisPart<'s>;

    // Always, so that a part, which is eight words long, is written where it is kept.
    #[inline(always)]
    fn next(&mut self) -> Option<AxisPart<'s>> {
        match &mut self.0 {
            Rest::Strided(strided) => strided.next(),
            Rest::Listed { listed, at } => {
                let part = listed.part(*at)?;
                *at = at.saturating_add(1);
                Some(part)
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.remaining()).ok();
        (left.unwrap_or(usize::MAX), left)
    }

    fn nth(&mut self, n: usize) -> Option<AxisPart<'s>> {
        self.skip_parts(to_u64(n));
        self.next()
    }
}

impl core::iter::FusedIterator for AxisParts<'_> {}
