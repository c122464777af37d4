//! Regions of chunks: one slice an axis.

use std::ops::Range;

use zarr_view::{CopyError, Output, View, ViewError};

/// Some indices of one axis of a chunk: `start`, `start + step`, ..., `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The first index.
    pub start: usize,
    /// How many indices.
    pub count: usize,
    /// From one index to the next, at least 1.
    pub step: usize,
}

impl From<Range<usize>> for Slice {
    fn from(range: Range<usize>) -> Self {
        Self { start: range.start, count: range.end.saturating_sub(range.start), step: 1 }
    }
}

/// Whether a region has no steps.
pub(super) fn is_box(region: &[Slice]) -> bool {
    region.iter().all(|slice| slice.step == 1 || slice.count <= 1)
}

/// Refuses an output that has not the shape of its region.
pub(super) fn check_shape(region: &[Slice], out: &Output<'_>) -> Result<(), CopyError> {
    let found = out.view().shape();
    if found.len() != region.len() {
        let (expected, found) = (region.len(), found.len());
        return Err(ViewError::Rank { expected, found }.into());
    }
    for (axis, (slice, &dst)) in region.iter().zip(found).enumerate() {
        if slice.count != dst {
            return Err(CopyError::Shape { axis, src: slice.count, dst });
        }
    }
    Ok(())
}

/// How many indices of each axis of a chunk of this shape are before and after a box, whose slices
/// have no steps: what [`View::pad`] takes to make the box a view of the chunk.
#[must_use]
pub fn margins(region: &[Slice], shape: &[usize]) -> Vec<(usize, usize)> {
    let end = |slice: &Slice| slice.start.saturating_add(slice.count);
    let sizes = region.iter().zip(shape);
    sizes.map(|(slice, size)| (slice.start, size.saturating_sub(end(slice)))).collect()
}

/// The indices of `region`, one slice an axis, of a view of a whole chunk.
///
/// # Errors
/// [`CopyError::View`] if a slice is not within the view, or they are more than it has axes.
pub fn sliced(view: &View, region: &[Slice]) -> Result<View, CopyError> {
    let sliced = region.iter().enumerate().try_fold(view.clone(), |view, (axis, slice)| {
        let step = isize::try_from(slice.step).map_err(|_| ViewError::Offset)?;
        view.slice(axis, slice.start, step, slice.count)
    });
    Ok(sliced?)
}
