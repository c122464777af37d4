//! Elements of a chunk that are not a box: the box around them is read, then they are gathered from it.

use zarr_codec::Slice;
use zarr_grid::{AxisPart, AxisSelection, PartIndices};
use zarr_view::{CopyError, Output, View};

use crate::counts::{bytes_of, narrow, room};
use crate::selection::index_moves::{IndexMoves, Pair};

/// The moves of a part's elements from the box around them to their place.
pub(crate) struct Gather {
    moves: IndexMoves,
    around: View,
    part: View,
    /// Bytes of each.
    around_len: usize,
    part_len: usize,
}

impl Gather {
    /// Compares the selection along each axis with the box that is read for it; `None` if they
    /// are equal.
    pub(crate) fn new(
        axes: &[AxisPart<'_>],
        slices: &[Slice],
        element_size: usize,
    ) -> Result<Option<Self>, CopyError> {
        let mut same = true;
        let pairs: Vec<Vec<Pair>> = axes
            .iter()
            .zip(slices)
            .map(|(axis, slice)| {
                let pairs: Vec<Pair> = match axis.indices {
                    PartIndices::List { in_chunk, .. } => {
                        let in_box = |index: &u64| {
                            let distance = narrow(*index).saturating_sub(slice.start);
                            distance.checked_div(slice.step).unwrap_or(0)
                        };
                        in_chunk.iter().map(in_box).zip(0..).collect()
                    }
                    PartIndices::Step { .. } => (0..slice.count).map(|at| (at, at)).collect(),
                };
                same &= pairs.len() == slice.count && pairs.iter().all(|(from, to)| from == to);
                pairs
            })
            .collect();
        if same {
            return Ok(None);
        }
        let around: Vec<usize> = slices.iter().map(|slice| slice.count).collect();
        let part: Vec<usize> = pairs.iter().map(Vec::len).collect();
        let bytes = |shape: &[usize]| {
            let too_large = CopyError::Memory { bytes: usize::MAX };
            bytes_of(shape, element_size).ok_or(too_large)
        };
        Ok(Some(Self {
            moves: IndexMoves::new(&pairs, &around, &part, element_size),
            around_len: bytes(&around)?,
            part_len: bytes(&part)?,
            around: View::contiguous(&around)?,
            part: View::contiguous(&part)?,
        }))
    }

    /// The view of the box that is to be read.
    #[cfg(feature = "async")]
    pub(crate) fn view(&self) -> &View {
        &self.around
    }

    /// The box to read, in reused memory.
    pub(crate) fn around<'o>(
        &self,
        memory: &'o mut GatherBuffers,
        element_size: usize,
    ) -> Result<Output<'o>, CopyError> {
        Output::new(room(&mut memory.around, self.around_len)?, &self.around, element_size)
    }

    /// Moves the elements from the box to their place.
    pub(crate) fn finish(
        &self,
        memory: &mut GatherBuffers,
        place: &mut Output<'_>,
    ) -> Result<(), CopyError> {
        let around = room(&mut memory.around, self.around_len)?;
        let part = room(&mut memory.part, self.part_len)?;
        self.moves.run(around, part);
        place.copy_from(&self.part, part, place.element(), &[])
    }
}

/// A buffer for elements before they are gathered.
#[derive(Default)]
pub(crate) struct GatherBuffers {
    around: Vec<u8>,
    part: Vec<u8>,
}

impl GatherBuffers {
    /// Memory for a box of this many bytes, with unspecified content.
    pub(crate) fn room(&mut self, length: usize) -> Result<&mut [u8], CopyError> {
        room(&mut self.around, length)
    }
}

/// The indices of a chunk to read for a list: the listed indices if they ascend with a constant
/// step, otherwise all from the first to the last.
pub(crate) fn slice_around(list: &[u64]) -> Slice {
    let start = list.iter().min().copied().unwrap_or(0);
    let end = list.iter().max().map_or(0, |last| last.saturating_add(1));
    let step = match list {
        [first, second, ..] => second.checked_sub(*first).filter(|step| *step > 0),
        _ => Some(1),
    };
    let even = |step: &u64| {
        list.windows(2).all(|pair| matches!(pair, [a, b] if a.checked_add(*step) == Some(*b)))
    };
    match step.filter(even) {
        Some(step) => Slice { start: narrow(start), count: list.len(), step: narrow(step) },
        None => (narrow(start)..narrow(end)).into(),
    }
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
