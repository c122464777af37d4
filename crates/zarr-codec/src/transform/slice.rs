//! Regions of chunks: one slice per axis.

use std::ops::Range;

use zarr_view::{CopyError, Output, View, ViewError};

use crate::per_axis::PerAxis;

/// Some indices of one axis of a chunk: `count` indices `start`, `start + step`, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The first index.
    pub start: usize,
    /// The number of indices.
    pub count: usize,
    /// The distance between indices, at least 1.
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

/// Refuses an output if its shape differs from its region's.
pub(crate) fn check_shape(region: &[Slice], out: &Output<'_>) -> Result<(), CopyError> {
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

/// The number of indices before and after a box on each axis of a chunk of this shape.
/// [`View::pad`] takes them to make the box a view of the chunk. The slices must have no steps.
#[must_use]
pub fn margins(region: &[Slice], shape: &[usize]) -> Vec<(usize, usize)> {
    let end = |slice: &Slice| slice.start.saturating_add(slice.count);
    let sizes = region.iter().zip(shape);
    sizes.map(|(slice, size)| (slice.start, size.saturating_sub(end(slice)))).collect()
}

/// The view of `region`, one slice per axis, within a view of a whole chunk.
///
/// # Errors
/// [`CopyError::View`] if a slice is not within the view, or there are more slices than axes.
pub fn sliced(view: &View, region: &[Slice]) -> Result<View, CopyError> {
    if is_box(region) && region.len() == view.rank() {
        let ranges: PerAxis<Range<usize>> = region
            .iter()
            .map(|slice| slice.start..slice.start.saturating_add(slice.count))
            .collect();
        return Ok(view.shrink(&ranges)?);
    }
    let sliced = region.iter().enumerate().try_fold(view.clone(), |view, (axis, slice)| {
        let step = isize::try_from(slice.step).map_err(|_| ViewError::Offset)?;
        view.slice(axis, slice.start, step, slice.count)
    });
    Ok(sliced?)
}
