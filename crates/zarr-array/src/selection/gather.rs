//! Buffers for elements that are not a box of their chunk, and the boxes around them.

use zarr_codec::Slice;
use zarr_grid::AxisSelection;
use zarr_view::CopyError;

use crate::counts::{narrow, room};

/// Buffers for elements before they are moved to their places.
#[derive(Default)]
pub(crate) struct GatherBuffers {
    around: Vec<u8>,
    /// All elements of a part, if its place in the caller's memory has gaps.
    part: Vec<u8>,
    /// The bytes of several ranges.
    pub(crate) ranges: Vec<u8>,
}

impl GatherBuffers {
    /// Memory for a box of this many bytes, with unspecified content.
    pub(crate) fn room(&mut self, length: usize) -> Result<&mut [u8], CopyError> {
        room(&mut self.around, length)
    }

    /// As [`room`](Self::room), for a box and for the part that it belongs to.
    pub(crate) fn rooms(
        &mut self,
        around: usize,
        part: usize,
    ) -> Result<(&mut [u8], &mut [u8]), CopyError> {
        Ok((room(&mut self.around, around)?, room(&mut self.part, part)?))
    }
}

/// The indices of a list, if they ascend with a constant step.
pub(crate) fn as_slice(list: &[u64]) -> Option<Slice> {
    let step = match list {
        [first, second, ..] => second.checked_sub(*first).filter(|step| *step > 0)?,
        _ => 1,
    };
    let is_even =
        list.windows(2).all(|pair| matches!(pair, [a, b] if a.checked_add(step) == Some(*b)));
    let start = narrow(*list.first()?);
    is_even.then_some(Slice { start, count: list.len(), step: narrow(step) })
}

/// The indices of a chunk around a list: the listed indices if they ascend with a constant
/// step, otherwise all from the first to the last.
pub(crate) fn slice_around(list: &[u64]) -> Slice {
    as_slice(list).unwrap_or_else(|| {
        let start = list.iter().min().copied().unwrap_or(0);
        let end = list.iter().max().map_or(0, |last| last + 1);
        (narrow(start)..narrow(end)).into()
    })
}

/// The indices of a chunk to read for the selection along an axis.
pub(crate) fn slice_of(selection: &AxisSelection) -> Slice {
    if let AxisSelection::Indices(list) = selection {
        return slice_around(list);
    }
    let bounds = selection.bounds();
    let step = match selection {
        AxisSelection::Step { step, .. } => narrow(step.unsigned_abs()),
        _ => 1,
    };
    match selection {
        AxisSelection::Mask(_) => (narrow(bounds.start)..narrow(bounds.end)).into(),
        _ => Slice { start: narrow(bounds.start), count: narrow(selection.len()), step },
    }
}
